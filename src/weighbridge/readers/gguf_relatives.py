"""Further architectures of llama.cpp: layers each of their own size, experts in one matrix, and relatives of other families.

Source: ggml-org/llama.cpp, gguf-py/gguf/constants.py, gguf-py/gguf/tensor_mapping.py, conversion/ (one file a family: ``dbrx.py``, ``chameleon.py``,
``codeshell.py``, ``deci.py``, ``bert.py``, ``plamo.py``, ``step3.py``), src/models/ (what the loader asks for: shapes)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.readers.gguf_architectures import (
    ATTENTION_AND_MLP_BIAS,
    FIELDS,
    LLAMA,
    NORMED,
    SHARED,
    Architecture,
    Shapes,
)
from weighbridge.readers.gguf_hybrids import MOST_LAYERS, layers_of, layers_with
from weighbridge.readers.gguf_mixtures import of_kind, window_pattern

DBRX = {
    "token_embd": "transformer.wte",
    "output_norm": "transformer.norm_f",
    "output": "lm_head",
    "blk": "transformer.blocks",
    "attn_norm": "norm_attn_norm.norm_1",
    "attn_qkv": "norm_attn_norm.attn.Wqkv",
    "attn_output": "norm_attn_norm.attn.out_proj",
    "attn_output_norm": "norm_attn_norm.norm_2",
    "ffn_gate_inp": "ffn.router.layer",
    "ffn_gate_exps.weight": "ffn.experts.mlp.w1",
    "ffn_up_exps.weight": "ffn.experts.mlp.v1",
    "ffn_down_exps.weight": "ffn.experts.mlp.w2",
}
CODESHELL = {**LLAMA, "attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}
FUSED = {**LLAMA, "attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"}
"""Of queries, keys and values in one matrix, and a gate and what it opens in another."""

NEO_BERT = {**{piece: name.removeprefix("model.") for piece, name in FUSED.items()}, "enc.output_norm": "norm"}
PLAMO3 = {**FUSED, **NORMED}
STEP35 = {**SHARED, "attn_gate": "self_attn.g_proj"}
DBRX_FIELDS = {
    "embedding_length": "d_model",
    "block_count": "n_layers",
    "attention.head_count": "n_heads",
    "context_length": "max_seq_len",
}
STEP35_FIELDS = {
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "attention.key_length": "head_dim",
    "attention.sliding_window": "sliding_window",
    "expert_count": "moe_num_experts",
    "expert_used_count": "moe_top_k",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_feed_forward_length": "share_expert_dim",
    "nextn_predict_layers": "num_nextn_predict_layers",
}


def _dbrx(stated: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    """Put the sizes of attention and of the experts where the config has them."""
    experts = {"ffn_hidden_size": "feed_forward_length", "moe_num_experts": "expert_count", "moe_top_k": "expert_used_count"}
    return {
        "attn_config": {
            "kv_n_heads": stated.get("attention.head_count_kv"),
            "rope_theta": stated.get("rope.freq_base"),
            "clip_qkv": stated.get("attention.clamp_kqv"),
        },
        "ffn_config": {field: stated.get(key) for field, key in experts.items()},
    }


def _by_layer(stated: Mapping[str, Any], key: str) -> tuple[Any, ...]:
    """Return a value for each layer, which a file may give once for all."""
    value = stated.get(key)
    return value if isinstance(value, tuple) else (value,) * layers_of(stated)


def _deci(stated: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    """Tell what the search left of each layer: no attention, one matrix in its place, or groups of heads; and the MLP's width."""
    hidden = stated.get("embedding_length")
    keys = ("attention.head_count", "attention.head_count_kv", "feed_forward_length")
    blocks = list(zip(*(_by_layer(stated, key) for key in keys), strict=False))
    heads = max((own for own, _, _ in blocks if isinstance(own, int)), default=None)
    known = {"num_attention_heads": heads, "num_hidden_layers": layers_of(stated) or stated.get("block_count")}
    if not isinstance(hidden, int) or hidden <= 0 or not all(type(size) is int and size >= 0 for block in blocks for size in block):
        return known
    return {**known, "block_configs": [_deci_block(block, hidden) for block in blocks]}


def _deci_block(block: tuple[int, int, int], hidden: int) -> dict[str, Any]:
    heads, kv_heads, width = block
    attention: dict[str, Any] = (
        {"n_heads_in_group": heads // kv_heads} if kv_heads else {"no_op": not heads, "replace_with_linear": heads > 0}
    )
    return {"attention": attention, "ffn": {"ffn_mult": 3 * width / (2 * hidden)} if width else {"no_op": True}}


def _deci_matrices(stated: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Name the matrices that stand in attention's place."""
    layers = zip(*(_by_layer(stated, f"attention.head_count{ending}") for ending in ("", "_kv")), strict=False)
    return {
        f"blk.{number}.attn_output.weight": (f"model.layers.{number}.self_attn.linear_attn.weight",)
        for number, (heads, kv_heads) in enumerate(layers)
        if number < MOST_LAYERS and heads and kv_heads == 0
    }


def _step35(stated: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    """Tell the two kinds of attention apart, whose numbers of heads differ, and which layers hold experts."""
    held = layers_with(stated, shapes, "ffn_gate_inp.weight")
    limited = of_kind(stated, "attention.head_count", "sliding_attention")
    return {
        **window_pattern(stated),
        "num_hidden_layers": layers_of(stated),
        "num_attention_heads": of_kind(stated, "attention.head_count", "full_attention"),
        "num_attention_groups": of_kind(stated, "attention.head_count_kv", "full_attention"),
        **({} if limited is None else {"num_sliding_attention_heads": limited}),
        "mlp_layer_types": ["sparse" if here else "dense" for here in held],
    }


RELATIVES = {
    "dbrx": Architecture("dbrx", "DbrxForCausalLM", DBRX, DBRX_FIELDS, ties=False, settled=_dbrx),
    "chameleon": Architecture(
        "chameleon",
        "ChameleonForConditionalGeneration",
        biased=ATTENTION_AND_MLP_BIAS,
        left_out=("model.vqmodel.",),
        settled=lambda stated, shapes: {"vocabulary_map": {}},  # the class wants one, and the file has the words elsewhere
    ),
    "deci": Architecture(
        "nemotron-nas",
        "DeciLMForCausalLM",
        fields={key: field for key, field in FIELDS.items() if key in ("embedding_length", "context_length")},
        biased=ATTENTION_AND_MLP_BIAS,
        settled=_deci,
        apart=_deci_matrices,
    ),
    "step35": Architecture("step3p5", "Step3p5ForCausalLM", STEP35, STEP35_FIELDS, ties=False, settled=_step35),
    "codeshell": Architecture("starcoder2", "Starcoder2ForCausalLM", CODESHELL, biased=(("use_bias", "attn_qkv.bias"),)),
    "neo-bert": Architecture("eurobert", "EuroBertModel", NEO_BERT, ties=False),
    "plamo": Architecture("cohere", "CohereForCausalLM"),
    "plamo3": Architecture("gemma3_text", "Gemma3ForCausalLM", PLAMO3),
}
"""By ``general.architecture``."""

FAMILY = frozenset(("codeshell", "neo-bert", "plamo", "plamo3"))
"""Those of them whose tensors are another family's, name by name; no description of their own stands behind them."""
