"""PLaMo 3 (Preferred Networks and NICT, 2025): layers with a window and without one, with norms around both halves; its code stands beside its files.

Source: modeling_plamo.py of pfnet/plamo-3-nict-8b-base. Held tensor by tensor to the class of mlx-lm 0.32.2, models/plamo3.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_BIAS, qk_norms, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, optional, variant
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part


def plamo3(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        up = linear("gate_up_proj", H, 2 * c.mlp, bias=False)
        mlp = part("mlp", up, linear("down_proj", c.mlp, H, bias=False), kind="feed_forward")
        norms = (f"{side}_{half}_norm" for half in ("mixer", "mlp") for side in ("pre", "post"))
        return (attention(c, kind), mlp, *(rms_norm(name, H) for name in norms))

    layers = part("layers", *stack("layers", c.kinds, c.layers, layer))
    return (embedding("embed_tokens", c.vocab, H), layers, rms_norm("norm", H))


def attention(c: Config, kind: str) -> Part:
    """Describe attention whose queries, keys and values are one map, with norms over a head."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        "mixer",
        linear("qkv_proj", H, (A + 2 * K) * D, bias=False),
        linear("o_proj", A * D, H, bias=False),
        *qk_norms(c),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.reach if kind == "sliding_attention" else None),
        kind="self_attention",
    )


def _kinds(c: Config) -> list[str]:
    """Return each layer's kind: every so many-th attends to everything."""
    return ["sliding_attention" if (index + 1) % c.period else "full_attention" for index in layer_range(c.layers)]


PLAMO3 = variant(
    FIELDS,
    *NO_BIAS,
    Field("period", "sliding_window_pattern", 8, "choice", report_default=False),
    optional("reach", "sliding_window", 2048, "W", "attention window", "window_size"),
    constant("kinds", _kinds),
    mlp=13312,
    kv_heads=4,
    head_dim=128,
    qk_norm="head",
    tied=True,
)
KEYS = IGNORED_KEYS - {"sliding_window", "sliding_window_pattern"} | frozenset(
    "initial_context_length interleaved_sliding_window linear_type rope_local_theta rope_scaling_factor image_feature_size image_proj_type image_token_id".split()
)
FAMILIES = {"plamo3": Family("plamo3", PLAMO3, with_heads("Plamo3", plamo3, "lm"), "Plamo3ForCausalLM", KEYS)}
