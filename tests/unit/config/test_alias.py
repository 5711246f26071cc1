"""Published names of types and classes: followed where they mean the same code, refused where other code may be meant."""

from __future__ import annotations

from typing import Any

import pytest

import weighbridge
from weighbridge.core.errors import UnknownArchitecture
from weighbridge.core.suggestions import did_you_mean

FALCON = {"hidden_size": 4544, "n_layer": 32, "n_head": 71, "multi_query": True, "parallel_attn": True, "bias": False, "alibi": False}
FALCON_40B = {"hidden_size": 8192, "n_layer": 60, "n_head": 128, "n_head_kv": 8, "parallel_attn": True, "bias": False, "alibi": False}


@pytest.mark.parametrize(
    ("raw", "class_name", "parameters"),
    [
        ({"model_type": "RefinedWebModel", "architectures": ["RWForCausalLM"], **FALCON}, "FalconForCausalLM", 6_921_720_704),
        ({"model_type": "RefinedWeb", "architectures": ["RWForCausalLM"], **FALCON_40B}, "FalconForCausalLM", 41_303_293_952),
        ({"model_type": "t5", "architectures": ["T5WithLMHeadModel"]}, "T5ForConditionalGeneration", 60_506_624),
        ({"model_type": "llama", "architectures": ["LLaMAForCausalLM"]}, "LlamaForCausalLM", 6_738_415_616),
        ({"model_type": "mpt", "architectures": ["MPTForCausalLM"]}, "MptForCausalLM", None),
        ({"model_type": "kimi_k25", "architectures": ["KimiK25ForConditionalGeneration"]}, "Kimi_K25ForConditionalGeneration", None),
        ({"model_type": "new", "architectures": ["NewModel"]}, "GteModel", None),
        ({"model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"]}, "DeepseekV3ForCausalLM", None),
    ],
)
def test_published_names_mean_the_library_s(raw: dict[str, Any], class_name: str, parameters: int | None) -> None:
    found = weighbridge.model(raw)
    assert found.class_name == class_name
    assert parameters is None or found.count().unique == parameters


def test_a_sub_config_may_be_of_a_published_type() -> None:
    inner = {"model_type": "kimi_k2", "num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 99}
    ours = weighbridge.model({"model_type": "kimi_k25", "text_config": inner}).count()
    assert ours == weighbridge.model({"model_type": "kimi_k25", "text_config": {**inner, "model_type": "deepseek_v3"}}).count()


def test_a_class_of_a_sub_config_is_found_in_the_whole() -> None:
    found = weighbridge.model("clip-vit-large-patch14", "CLIPTextModel")
    assert found.count().unique == 123_060_480
    assert "text_config" in found.notes[-1]


def test_code_beside_a_config_is_not_taken_for_the_nearest_class() -> None:
    raw = {
        "model_type": "bert",
        "architectures": ["MosaicBertForMaskedLM"],
        "auto_map": {"AutoModel": "mosaic--modeling_bert.MosaicBertModel"},
    }
    with pytest.raises(UnknownArchitecture, match="code of its own") as caught:
        weighbridge.model(raw)
    assert "did you mean" not in str(caught.value)
    without = {key: value for key, value in raw.items() if key != "auto_map"}
    with pytest.raises(UnknownArchitecture) as caught:
        weighbridge.model(without)
    assert "did you mean" not in str(caught.value)


def test_code_beside_a_config_of_a_known_class_is_noted() -> None:
    found = weighbridge.model({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "auto_map": {"AutoModel": "modeling.Model"}})
    assert any("auto_map" in note for note in found.notes)


@pytest.mark.parametrize(("name", "known"), [("minimax_m3", "minimax_m2"), ("deepseek_ref", "deepseek"), ("mimo", "mimi")])
def test_another_model_is_no_slip_of_the_keyboard(name: str, known: str) -> None:
    assert did_you_mean(name, [known], typos=True) == ""
