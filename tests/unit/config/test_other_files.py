"""Files beside a config that are none, and configs whose sizes stand under other names: MLC LLM's, NeMo's."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model
from weighbridge.core.errors import ConfigError

NEMO: dict[str, Any] = {
    "num_layers": 32,
    "hidden_size": 4096,
    "ffn_hidden_size": 14336,
    "num_attention_heads": 32,
    "num_query_groups": 8,
    "max_position_embeddings": 8192,
    "position_embedding_type": "rope",
    "make_vocab_size_divisible_by": 128,
    "normalization": "rmsnorm",
    "activation": "fast-swiglu",
    "bias": False,
    "share_embeddings_and_output_weights": False,
    "override_vocab_size": 128256,
}
"""Llama 3 8B as NeMo's converter writes it."""


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (
            {"producer": {"name": "modelopt"}, "quantization": {}},
            "producer: settings of a quantizer, and no config (weigh the config.json beside it)",
        ),
        ({"bits": 4, "group_size": 128}, "bits: settings of a quantizer, and no config (weigh the config.json beside it)"),
        ({"tokenizer_class": "BertTokenizer"}, "tokenizer_class: settings of a tokenizer, and no config (weigh the config.json beside it)"),
        ({"do_sample": True, "top_p": 0.9}, "do_sample: settings of text generation, and no config (weigh the config.json beside it)"),
        (
            {"dim": 4096, "n_layers": 32, "n_heads": 32, "vocab_size": -1},
            "dim: sizes of an original checkpoint (params.json), and no config (weigh the config.json beside it)",
        ),
        (
            {"architecture": "LlamaForCausalLM", "hidden_size": 64, "mapping": {"tp_size": 1}},
            "architecture: settings of TensorRT-LLM, and no config (weigh the config.json beside it)",
        ),
        (
            {"peft_type": "LORA", "r": 8},
            "peft_type: settings of an adapter, and no config (weigh adapters BASE ADAPTER counts it on its base)",
        ),
    ],
)
def test_a_file_beside_a_config_is_named(raw: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        model(raw)
    assert str(refused.value) == message


def test_a_config_of_mlc_is_weighed_by_its_own_sizes() -> None:
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 100}
    wrapped = {"model_type": "llama", "quantization": "q4f16_1", "model_config": sizes}
    assert model(wrapped).tensors() == model({"model_type": "llama", **sizes}).tensors()


def test_nemo_writes_megatron_arguments_under_other_names() -> None:
    assert model(NEMO).count().unique == model("llama-3-8b").count().unique == 8_030_261_248


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"activation": "silu"}, "expected one of .*swiglu, found the string 'silu'"),
        ({"normalization": "groupnorm"}, "expected one of layernorm, layernorm1p, low_precision_layernorm, rmsnorm"),
        ({"transformer_block_type": "post_ln"}, "a block whose norms stand elsewhere is not described"),
        (
            {"target": "nemo.collections.nlp.models.language_modeling.megatron_bert_model.MegatronBertModel"},
            "NeMo's MegatronBertModel is not described",
        ),
    ],
)
def test_what_nemo_has_beside_it_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        model({**NEMO, **change})
