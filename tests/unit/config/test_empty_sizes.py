"""Configs without any layer or any label: the class builds them, and so they are weighed."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model

# sum(p.numel() for p in model.parameters()) of the classes of transformers 5.23.0
BUILT = [
    ("bert", "BertModel", {"num_hidden_layers": 0}, 24_427_776),
    ("gpt2", "GPT2LMHeadModel", {"n_layer": 0}, 39_385_344),
    ("mixtral", "MixtralForCausalLM", {"num_hidden_layers": 0}, 262_148_096),
    ("gemma3_text", "Gemma3ForCausalLM", {"num_hidden_layers": 0}, 604_129_536),
    ("t5", "T5ForConditionalGeneration", {"num_decoder_layers": 0}, 35_331_328),
    ("zaya", "ZayaModel", {"num_hidden_layers": 0}, 537_139_200),
    ("swin", "SwinForImageClassification", {"num_labels": 0}, 27_519_354),
    ("levit", "LevitForImageClassification", {"id2label": {}}, 8_442_400),
    ("xlm", "XLMForSequenceClassification", {"num_labels": 0}, 671_285_248),
    ("llama", "LlamaForSequenceClassification", {"num_hidden_layers": 0, "num_labels": 0}, 131_076_096),
    ("clip", "CLIPModel", {"text_config": {"num_hidden_layers": 0}}, 113_448_705),
]


@pytest.mark.parametrize(("model_type", "name", "raw", "built"), BUILT)
def test_a_model_without_layers_or_labels_is_what_the_class_builds(model_type: str, name: str, raw: dict[str, Any], built: int) -> None:
    weighed = model({"model_type": model_type, **raw}, name)
    assert weighed.count().unique == built
    assert weighed.explain().total == built
