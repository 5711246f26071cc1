"""Classes and keys of published configs that the reference library has not."""

from __future__ import annotations

import pytest

from weighbridge import model
from weighbridge.core.errors import ConfigError

NOMIC = {
    "model_type": "nomic_bert",
    "architectures": ["NomicBertModel"],
    "activation_function": "swiglu",
    "mlp_fc1_bias": False,
    "n_embd": 768,
    "n_head": 12,
    "n_inner": 3072,
    "n_layer": 12,
    "n_positions": 2048,
    "pad_vocab_size_multiple": 64,
    "qkv_proj_bias": False,
    "type_vocab_size": 2,
    "vocab_size": 30528,
}


def test_a_published_class_has_the_tensors_of_the_reference() -> None:
    config = {"model_type": "internlm3", "num_hidden_layers": 2}
    named = model({**config, "architectures": ["InternLM3ForCausalLM"]})
    assert named.class_name == "InternLM3ForCausalLM"
    assert named.tensors() == model(config, "LlamaForCausalLM").tensors()
    assert "InternLM3ForCausalLM" in named.notes[0]


def test_nomic_configs_are_read_with_gpt2_keys() -> None:
    assert model(NOMIC).count().unique == 136_731_648
    assert model(NOMIC, overrides={"n_embd": 384}).tensors()[0].shape == (30528, 384)


def test_a_vocabulary_head_of_nomic_has_no_biases() -> None:
    head = {row.name for row in model(NOMIC, "NomicBertForPreTraining").tensors() if row.name.startswith("cls.") and row.role == "bias"}
    assert not head


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("num_experts", 8, "activation_function: 'swiglu' is not described, only 'gelu'"),
        ("qkv_proj_bias", True, "qkv_proj_bias: True is not described, only False"),
        ("activation_function", "gelu", "activation_function: 'gelu' is not described, only 'swiglu'"),
        ("n_inner", 3000, "n_inner: the published code rounds it up to a multiple of 256 (state it rounded)"),
        ("vocab_size", 30522, "vocab_size: the published code rounds it up to a multiple of 64 (state it rounded)"),
    ],
)
def test_nomic_configs_of_another_structure_are_refused(key: str, value: object, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        model(NOMIC, overrides={key: value})
    assert str(refused.value) == message


@pytest.mark.parametrize(("hidden", "layers", "total"), [(2048, 24, 1_418_270_720), (2560, 32, 2_779_683_840)])
def test_the_first_code_of_phi_has_as_many_parameters_as_the_second(hidden: int, layers: int, total: int) -> None:
    first = {
        "model_type": "phi-msft",
        "n_embd": hidden,
        "n_layer": layers,
        "n_head": 32,
        "n_head_kv": None,
        "n_inner": None,
        "vocab_size": 51200,
    }
    second = {
        "model_type": "phi",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 32,
        "intermediate_size": 4 * hidden,
        "vocab_size": 51200,
    }
    assert model(first).count().unique == model(second, "PhiForCausalLM").count().unique == total
    assert model(first).flops(2, 7).forward_matmul == model(second, "PhiForCausalLM").flops(2, 7).forward_matmul


def test_phi_4_multimodals_own_config_is_the_librarys() -> None:
    processor = {"config": {"attention_dim": 1024, "attention_heads": 16, "relative_attention_bias_args": {"t5_bias_max_distance": 500}}}
    raw = {"model_type": "phi4mm", "architectures": ["Phi4MMForCausalLM"], "audio_processor": processor, "lm_head_bias": False}
    sizes = {"num_attention_heads": 24, "num_key_value_heads": 8, "tie_word_embeddings": True, "img_processor": None}
    found = model({**raw, **sizes, "embd_layer": {"embedding_cls": "image_audio"}})
    assert (found.class_name, found.count().unique, found.unknown) == ("Phi4MultimodalForCausalLM", 4_743_988_032, [])
