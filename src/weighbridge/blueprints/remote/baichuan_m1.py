"""Baichuan-M1 (2025): layers with a window and other heads than those without, and keys and values mixed with their predecessors; its code stands beside its files.

Source: arXiv 2502.12671; modeling_baichuan.py of baichuan-inc/Baichuan-M1-14B-Instruct. Held tensor by tensor to the class of mlx-lm 0.32.2, models/baichuan_m1.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.mixture_of_experts import required_field
from weighbridge.blueprints.modules.words import read_none
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, KV_HEADS, LAYERS, MLP, VOCAB, Config, constant, optional, sequence, size, variant
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, part, rms_norm, stack
from weighbridge.core.sizes import exact, layer_range
from weighbridge.core.tree import Node, Part, State, Tensor

REACH = 2
"""How many tokens a convolution of keys and values sees; the code has no other."""


def baichuan_m1(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds of attention, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        return (attention(c, kind), gated_mlp("mlp", H, c.mlp), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def attention(c: Config, kind: str) -> Part:
    """Describe attention whose keys and values are mixed with those of the token before, by two numbers a head."""
    limited = kind == "sliding_attention"
    H, A, K = c.hidden, c.near_heads if limited else c.heads, c.near_kv_heads if limited else c.kv_heads
    D = exact(H, A)
    return part(
        "self_attn",
        linear("W_pack", H, H + 2 * K * D, bias=False),
        linear("o_proj", A * D, H, bias=False),
        *(Tensor(f"conv_{name}", (1, 1, K, 1, REACH), "gain") for name in "kv"),
        State("conv_state", 2 * K * D),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.reach if limited else None),
        kind="self_attention",
    )


def _kinds(c: Config) -> list[str]:
    return ["sliding_attention" if index in c.limited_layers else "full_attention" for index in layer_range(c.layers)]


M1 = variant(
    FIELDS,
    sequence("limited_layers", "sliding_window_layers", []),
    size(
        "near_heads", "num_swa_attention_heads", lambda c: c.heads, "B", "attention heads of a layer with a window", null=lambda c: c.heads
    ),
    size(
        "near_kv_heads",
        "num_swa_key_value_heads",
        lambda c: c.kv_heads,
        "N",
        "key-value heads of a layer with a window",
        null=lambda c: c.kv_heads,
    ),
    optional("reach", "sliding_window", None, "W", "attention window"),
    read_none("conv_window", REACH),
    constant("kinds", _kinds),
    head_dim=HEAD_DIM,
    **{field.word: required_field(field) for field in (VOCAB, HIDDEN, MLP, LAYERS, HEADS, KV_HEADS)},
)
FAMILIES = {
    "baichuan_m1": Family(
        "baichuan_m1", M1, with_heads("BaichuanM1", baichuan_m1, "lm"), "BaichuanM1ForCausalLM", IGNORED_KEYS - {"sliding_window"}
    )
}
