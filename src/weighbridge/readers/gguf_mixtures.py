"""Further architectures of llama.cpp: keys and values through one narrow matrix, linear attention beside full, and tables for each layer.

Source: ggml-org/llama.cpp, gguf-py/gguf/constants.py, gguf-py/gguf/tensor_mapping.py, conversion/ (one file a family: ``llama.py``, ``qwen.py``,
``minicpm.py``, ``gemma.py``, ``glm.py``, ``nemotron.py``, ``apertus.py``, ``mimo.py``, ``kimi_linear.py``, ``bailing.py``, ``bert.py``)
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from weighbridge.readers.gguf_architectures import (
    ATTENTION_BIAS,
    FIELDS,
    GROUPED,
    LATENT,
    LATENT_FIELDS,
    LLAMA,
    SHARED,
    SPARSE,
    SPARSE_FIELDS,
    Architecture,
    Shapes,
    latent_sizes,
    whole_heads,
)
from weighbridge.readers.gguf_hybrids import layer_kinds, layers_of, layers_with, per_head
from weighbridge.readers.gguf_mixture_names import (
    APERTUS,
    CHATGLM,
    GEMMA3N,
    GEMMA4,
    GLM,
    GLM_DSA,
    JINA3,
    KIMI,
    LLAMA4,
    NEMOTRON_H,
    QWEN,
    QWEN35,
    SINKS,
)

MOST_EXPERTS = 4_096
"""Experts of a layer that are named one by one; a file's metadata may claim any number."""


LLAMA4_FIELDS = {
    **FIELDS,
    **GROUPED,
    "feed_forward_length": "intermediate_size_mlp",
    "expert_feed_forward_length": "intermediate_size",
    "expert_count": "num_local_experts",
    "expert_used_count": "num_experts_per_tok",
    "interleave_moe_layer_step": "interleave_moe_layer_step",
}
QWEN35_FIELDS = {
    **SPARSE_FIELDS,
    "ssm.conv_kernel": "linear_conv_kernel_dim",
    "ssm.state_size": "linear_key_head_dim",
    "ssm.group_count": "linear_num_key_heads",
    "ssm.time_step_rank": "linear_num_value_heads",
}
GEMMA3N_FIELDS = {
    **{key: field for key, field in FIELDS.items() if key != "feed_forward_length"},
    **GROUPED,
    "embedding_length_per_layer_input": "hidden_size_per_layer_input",
    "attention.shared_kv_layers": "num_kv_shared_layers",
    "altup.num_inputs": "altup_num_inputs",
}
GLM_DSA_FIELDS = {**LATENT_FIELDS, "attention.indexer.head_count": "index_n_heads", "attention.indexer.key_length": "index_head_dim"}
NEMOTRON_FIELDS = {
    "embedding_length": "hidden_size",
    "attention.key_length": "head_dim",
    "context_length": "max_position_embeddings",
    "ssm.conv_kernel": "conv_kernel",
    "ssm.state_size": "ssm_state_size",
    "ssm.group_count": "n_groups",
    "ssm.time_step_rank": "mamba_num_heads",
    "expert_count": "n_routed_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_feed_forward_length": "moe_shared_expert_intermediate_size",
    "moe_latent_size": "moe_latent_size",
}
MIMO_FIELDS = {
    **FIELDS,
    "attention.key_length": "head_dim",
    "attention.value_length": "v_head_dim",
    "expert_count": "n_routed_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
    "nextn_predict_layers": "num_nextn_predict_layers",
}
KIMI_FIELDS = {
    **LATENT_FIELDS,
    "expert_count": "num_experts",
    "expert_shared_count": "num_shared_experts",
    "kda.head_dim": "linear_head_dim",
    "ssm.conv_kernel": "linear_conv_kernel_dim",
}
MIXTURE_FIELDS = {
    **FIELDS,
    **GROUPED,
    "expert_count": "n_routed_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_shared_count": "n_shared_experts",
    "expert_feed_forward_length": "moe_intermediate_size",
    "leading_dense_block_count": "first_k_dense_replace",
}


def _interval(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Tell which layers of Llama 4 hold experts."""
    held = layers_with(stated, names, "ffn_gate_inp.weight")
    return {"moe_layers": [number for number, here in enumerate(held) if here]} if held else {}


def _qwen35(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    kinds = layer_kinds(stated, names, "full_attention", "linear_attention")
    return {**kinds, **per_head(stated, "linear_value_head_dim"), "num_hidden_layers": layers_of(stated)}


def _minicpm3(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Tell the width of the keys' two halves; that of the values is the hidden size shared out over the heads."""
    rope, key = stated.get("rope.dimension_count"), stated.get("attention.key_length")
    known = {"q_lora_rank": stated.get("attention.q_lora_rank"), "kv_lora_rank": stated.get("attention.kv_lora_rank")}
    if not isinstance(rope, int) or not isinstance(key, int):
        return known
    hidden, heads = stated.get("embedding_length"), stated.get("attention.head_count")
    shared = {"v_head_dim": hidden // heads} if isinstance(hidden, int) and isinstance(heads, int) and heads > 0 else {}
    return {**known, **shared, "qk_rope_head_dim": rope, "qk_nope_head_dim": key - rope}


def window_pattern(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return which layers use a sliding window, by the file's pattern, without multi-token-prediction layers."""
    pattern = stated.get("attention.sliding_window_pattern")
    if not isinstance(pattern, tuple):
        return {}
    return {"layer_types": ["sliding_attention" if limited else "full_attention" for limited in pattern[: layers_of(stated)]]}


def of_kind(stated: Mapping[str, Any], key: str, kind: str) -> Any:
    """Return the value that layers of a kind share, of a key that is given layer by layer, or None."""
    values = stated.get(key)
    if not isinstance(values, tuple):
        return values
    kinds = window_pattern(stated).get("layer_types", ())
    found = {value for value, of in zip(values, kinds, strict=False) if of == kind}
    return found.pop() if len(found) == 1 else None


def _gemma4(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Set the sizes of the two kinds of attention: full attention has another head width, and may have another number of key-value heads."""
    known = {
        "num_key_value_heads": of_kind(stated, "attention.head_count_kv", "sliding_attention"),
        "num_global_key_value_heads": of_kind(stated, "attention.head_count_kv", "full_attention"),
        "head_dim": stated.get("attention.key_length_swa", stated.get("attention.key_length")),
        "global_head_dim": stated.get("attention.key_length"),
        "hidden_size_per_layer_input": stated.get("embedding_length_per_layer_input", 0),
        "enable_moe_block": "blk.0.ffn_gate_inp.weight" in names,
        "attention_k_eq_v": not all(f"blk.{number}.attn_v.weight" in names for number in range(_own_keys(stated))),
        **_widths(stated),
        **window_pattern(stated),
    }
    return {key: value for key, value in known.items() if value is not None}


def _own_keys(stated: Mapping[str, Any]) -> int:
    """Return how many layers have keys and values of their own."""
    layers, shared = layers_of(stated), stated.get("attention.shared_kv_layers", 0)
    return layers - shared if isinstance(shared, int) and 0 <= shared <= layers else 0


def _widths(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the MLP's width; layers that take the keys of others may have one twice as wide."""
    widths = stated.get("feed_forward_length")
    if not isinstance(widths, tuple) or not widths:
        return {}
    return {"intermediate_size": min(widths), "use_double_wide_mlp": max(widths) == 2 * min(widths)}


def _gemma3n(stated: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    widths, rank = stated.get("feed_forward_length"), shapes.get("blk.0.laurel_l.weight")
    return {
        **window_pattern(stated),
        "intermediate_size": list(widths) if isinstance(widths, tuple) else widths,
        **({"laurel_rank": rank[0]} if rank else {}),
    }


def _nemotron(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Tell which of its four kinds each layer is, by what it holds."""
    holds = {
        "linear_attention": layers_with(stated, names, "ssm_in.weight"),
        "full_attention": layers_with(stated, names, "attn_q.weight"),
        "moe": layers_with(stated, names, "ffn_gate_inp.weight"),
        "mlp": layers_with(stated, names, "ffn_up.weight"),
    }
    kinds = [next((kind for kind, held in holds.items() if held[number]), "mlp") for number in range(layers_of(stated))]
    widths = {
        "intermediate_size": "feed_forward_length",
        "num_attention_heads": "attention.head_count",
        "num_key_value_heads": "attention.head_count_kv",
    }
    return {
        "layers_block_type": kinds,
        **{field: _largest_entry(stated.get(key)) for field, key in widths.items() if stated.get(key)},
        **per_head(stated, "mamba_head_dim"),
    }


def _largest_entry(value: Any) -> Any:
    """Return a value; of a per-layer list in which some layers have 0, the largest."""
    return max(value) if isinstance(value, tuple) else value


def _mimo(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    held = layers_with(stated, names, "ffn_gate_inp.weight")
    return {
        **window_pattern(stated),
        "num_hidden_layers": layers_of(stated),
        "num_key_value_heads": of_kind(stated, "attention.head_count_kv", "full_attention"),
        "mlp_layer_types": ["sparse" if here else "dense" for here in held],
    }


def _kimi(stated: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    held = layers_with(stated, names, "attn_kv_a_mqa.weight")
    return {
        **latent_sizes(stated, names),
        "layer_types": ["full_attention" if here else "linear_attention" for here in held],
        "linear_num_heads": stated.get("attention.head_count"),
        "num_key_value_heads": None,
    }


def _chatglm(stated: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    groups, heads = (stated.get(f"attention.head_count{part}") for part in ("_kv", ""))
    table = shapes.get("token_embd.weight")
    return {
        "multi_query_attention": groups != heads,
        "multi_query_group_num": groups,
        "add_qkv_bias": "blk.0.attn_qkv.bias" in shapes,
        **_head_width(stated, shapes),
        **({"padded_vocab_size": table[0]} if table else {}),
    }


def _head_width(stated: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    """Return the width of a head, which the metadata does not state."""
    heads, output = stated.get("attention.head_count"), shapes.get("blk.0.attn_output.weight", ())
    return {"kv_channels": output[1] // heads} if isinstance(heads, int) and heads > 0 and len(output) == 2 else {}


def _qwen(stated: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    """Double the MLP's width, since the config states both halves together."""
    width = stated.get("feed_forward_length")
    return {**_head_width(stated, shapes), **({"intermediate_size": 2 * width} if isinstance(width, int) else {})}


def _experts_apart(stated: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Name the experts that a file holds in one array, and the class one by one."""
    experts = stated.get("expert_count")
    if not isinstance(experts, int) or not 0 < experts <= MOST_EXPERTS:
        return {}
    return {
        f"blk.*.ffn_{part}_exps.weight": tuple(rf"model.layers.\1.mlp.experts.{number}.{part}_proj.weight" for number in range(experts))
        for part in ("gate", "up", "down")
    }


DEEPSEEK = Architecture("deepseek", "DeepseekForCausalLM", SHARED, MIXTURE_FIELDS, apart=_experts_apart)
MIXTURES = {
    "llama4": Architecture("llama4_text", "Llama4ForCausalLM", LLAMA4, LLAMA4_FIELDS, settled=_interval),
    "qwen35": Architecture("qwen3_5_text", "Qwen3_5ForCausalLM", QWEN35, QWEN35_FIELDS, biased=ATTENTION_BIAS, settled=_qwen35),
    "qwen35moe": Architecture("qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", QWEN35, QWEN35_FIELDS, biased=ATTENTION_BIAS, settled=_qwen35),
    "minicpm3": Architecture("minicpm3", "MiniCPM3ForCausalLM", LATENT, FIELDS, settled=_minicpm3),
    "gemma3n": Architecture(
        "gemma3n_text", "Gemma3nForCausalLM", GEMMA3N, GEMMA3N_FIELDS, settled=_gemma3n,
        apart=lambda stated: {
            f"altup_{short}.weight": tuple(f"model.altup_{name}.{number}.weight" for number in range(3))
            for short, name in (("proj", "projections"), ("unembd_proj", "unembed_projections"))}),
    "gemma4": Architecture(
        "gemma4_text", "Gemma4ForCausalLM", GEMMA4,
        {**{key: field for key, field in FIELDS.items() if key != "feed_forward_length"}, "attention.shared_kv_layers": "num_kv_shared_layers",
         "expert_count": "num_experts", "expert_used_count": "top_k_experts", "expert_feed_forward_length": "moe_intermediate_size"},
        settled=_gemma4),
    "chatglm": Architecture(
        "chatglm", "ChatGLMForConditionalGeneration", CHATGLM,
        {"embedding_length": "hidden_size", "block_count": "num_layers", "feed_forward_length": "ffn_hidden_size",
         "attention.head_count": "num_attention_heads"}, ties=False, settled=_chatglm),
    "chatglm with its matrices apart": Architecture("glm", "GlmForCausalLM", GLM, biased=ATTENTION_BIAS),
    "glm-dsa": Architecture("glm_moe_dsa", "GlmMoeDsaForCausalLM", GLM_DSA, GLM_DSA_FIELDS, settled=latent_sizes),
    "mistral4": Architecture("mistral4", "Mistral4ForCausalLM", LATENT, LATENT_FIELDS, settled=latent_sizes),
    "nemotron_h": Architecture("nemotron_h", "NemotronHForCausalLM", NEMOTRON_H, NEMOTRON_FIELDS, ties=False, settled=_nemotron),
    "nemotron_h_moe": Architecture("nemotron_h", "NemotronHForCausalLM", NEMOTRON_H, NEMOTRON_FIELDS, ties=False, settled=_nemotron),
    "apertus": Architecture(
        "apertus", "ApertusForCausalLM", APERTUS, biased=ATTENTION_BIAS, in_metadata=(".act_fn.alpha_p", ".act_fn.alpha_n")),
    "mimo2": Architecture("mimo_v2_flash", "MiMoV2FlashForCausalLM", {**SHARED, **SINKS}, MIMO_FIELDS, settled=_mimo),
    "kimi-linear": Architecture("kimi_linear", "KimiLinearForCausalLM", KIMI, KIMI_FIELDS, ties=False, settled=_kimi),
    "qwen": Architecture("qwen", "QWenLMHeadModel", QWEN, FIELDS, ties=False, settled=_qwen),
    "deepseek": DEEPSEEK,
    "jina-bert-v3": Architecture(
        "jina_embeddings_v3", "JinaEmbeddingsV3Model", JINA3, FIELDS, ties=False, stated=(("add_pooling_layer", False),)),
}  # fmt: skip
"""By ``general.architecture``."""

QWEN3 = Architecture("qwen3", "Qwen3ForCausalLM", biased=ATTENTION_BIAS)
PLAIN = Architecture("llama", "LlamaForCausalLM", biased=(("attention_bias", "attn_q.bias"), ("mlp_bias", "ffn_up.bias")))
QWEN3_MOE = Architecture("qwen3_moe", "Qwen3MoeForCausalLM", {**LLAMA, **SPARSE}, {**SPARSE_FIELDS}, biased=ATTENTION_BIAS)
TWINS = {
    **dict.fromkeys(("xverse", "exaone", "refact", "llada", "pangu-embedded"), PLAIN),
    "llama-embed": PLAIN._replace(
        class_name="LlamaModel", names={piece: name.removeprefix("model.") for piece, name in LLAMA.items()}, ties=False
    ),
    "maincoder": QWEN3,
    **dict.fromkeys(("rnd1", "llada-moe"), QWEN3_MOE),
    "smallthinker": Architecture(
        "mixtral",
        "MixtralForCausalLM",
        {**LLAMA, **SPARSE},
        {
            **FIELDS,
            **GROUPED,
            "expert_count": "num_local_experts",
            "expert_used_count": "num_experts_per_tok",
            "expert_feed_forward_length": "intermediate_size",
        },
    ),
    "hunyuan_vl": Architecture(
        "hunyuan_v1_dense",
        "HunYuanDenseV1ForCausalLM",
        {**LLAMA, "attn_q_norm": "self_attn.query_layernorm", "attn_k_norm": "self_attn.key_layernorm"},
        biased=ATTENTION_BIAS,
        settled=whole_heads,
    ),
    "paddleocr": Architecture("ernie4_5", "Ernie4_5ForCausalLM", biased=(("use_bias", "attn_q.bias"),)),
    "bailingmoe": DEEPSEEK,
    "deepseek2-ocr": DEEPSEEK,
    "bailingmoe2": Architecture(
        "dots1",
        "Dots1ForCausalLM",
        {**SHARED, "attn_qkv": "self_attn.qkv_proj"},
        {**MIXTURE_FIELDS, "nextn_predict_layers": "num_nextn_predict_layers"},
        settled=lambda stated, names: {"num_hidden_layers": layers_of(stated)},
    ),
}
"""By ``general.architecture``: models whose tensors are those of another family's, name by name; no description of their own stands behind them."""
