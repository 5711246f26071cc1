"""Files beside a config that are none, and configs whose sizes stand under other names: MLC LLM's, NeMo's."""

from __future__ import annotations

import json
import re
from pathlib import Path
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
            {"dim": 64, "n_layers": 2, "n_heads": 2, "norm_eps": 1e-5, "vocab_size": 9, "hidden_dim": 96, "vision_encoder": {}},
            "vision_encoder: a key of params.json that is not described (weigh the config.json of the same model)",
        ),
        (
            {"dim": 64, "n_layers": 2, "n_heads": 2, "norm_eps": 1e-5, "vocab_size": -1, "multiple_of": 256},
            "vocab_size: -1 is not possible, the smallest is 1 (the class default is 32000)",
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


ORIGINAL = {"n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "norm_eps": 1e-5, "dim": 4096}
MIXTRAL = {"head_dim": 128, "hidden_dim": 14336, "vocab_size": 32000, "moe": {"num_experts_per_tok": 2, "num_experts": 8}}


@pytest.mark.parametrize(
    ("raw", "name", "total"),
    [
        ({**ORIGINAL, "vocab_size": 128256, "multiple_of": 1024, "ffn_dim_multiplier": 1.3}, "LlamaForCausalLM", 8_030_261_248),
        ({**ORIGINAL, "n_kv_heads": None, "vocab_size": 32000, "multiple_of": 256}, "LlamaForCausalLM", 6_738_415_616),
        ({**ORIGINAL, **MIXTRAL}, "MixtralForCausalLM", 46_702_792_704),
        (
            {**ORIGINAL, "head_dim": 128, "hidden_dim": 14336, "vocab_size": 32000, "sliding_window": 4096},
            "MistralForCausalLM",
            7_241_732_096,
        ),
    ],
)
def test_params_json_of_an_original_checkpoint(raw: dict[str, object], name: str, total: int) -> None:
    found = model(raw)
    assert (found.class_name, found.count().unique) == (name, total)
    assert found.notes[0] == f"read from params.json of an original checkpoint as {name}, by whose names the tensors are called here"


GPT2 = dict.fromkeys("n_ctx n_embd n_head n_layer n_positions vocab_size".split(), 64) | {
    "layer_norm_epsilon": 1e-5,
    "initializer_range": 0.02,
}


@pytest.mark.parametrize(
    ("raw", "types"),
    [
        (GPT2, "gpt2, openai-gpt or ctrl"),
        ({**GPT2, "afn": "gelu", "n_special": 0}, "openai-gpt"),
        (
            dict.fromkeys("dim hidden_dim n_heads n_layers sinusoidal_pos_embds vocab_size max_position_embeddings".split(), 12),
            "distilbert",
        ),
        (dict.fromkeys("attn_type bi_data clamp_len d_head d_inner d_model n_head n_layer untie_r n_token".split(), 12), "xlnet"),
        (
            dict.fromkeys("hidden_size intermediate_size num_hidden_layers num_attention_heads rms_norm_eps".split(), 8),
            "llama, mistral or qwen2",
        ),
    ],
)
def test_configs_that_state_no_type_are_told_which_have_their_keys(raw: dict[str, object], types: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f'(its keys are those of {types}: add "model_type", or name a class with --class)')):
        model(raw)


def test_what_modelopt_says_beside_a_config_is_read(tmp_path: Path) -> None:
    """Its older files name the quantizer there alone; what the config itself says stands, and --set takes it away."""
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama", "hidden_size": 128, "num_attention_heads": 4}))
    beside = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(beside))

    def algorithm(source: Path, **overrides: None) -> object:
        described = model(source, overrides=overrides).description
        assert described is not None
        stated = described.raw.get("quantization_config")
        return stated and stated["quant_algo"]

    assert algorithm(tmp_path) == algorithm(tmp_path / "config.json") == "FP8"
    assert algorithm(tmp_path, quantization_config=None) is None
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama", "quantization_config": {"quant_algo": "NVFP4"}}))
    assert algorithm(tmp_path) == "NVFP4"
