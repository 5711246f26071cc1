"""Arcee's mixtures of 2025: norms before and after each half, attention with a gate, a router with a bias of its own.

Source: Arcee, Trinity (December 2025); class and tensor names as in transformers 5.23.0, models/afmoe/modeling_afmoe.py.
"""

from __future__ import annotations

from weighbridge.blueprints.causal import UNBIASED, attention
from weighbridge.blueprints.mixtral import MIXTRAL, families, inner, only, steps
from weighbridge.blueprints.sparse import SHARED, first_dense
from weighbridge.blueprints.windows import window, windowed
from weighbridge.config import Field, Sizes
from weighbridge.parts import embedding, fused_experts, gated_mlp, linear, rms_norm, stack
from weighbridge.tree import Node, Part, Tensor

NORMS = ("input_layernorm", "post_attention_layernorm", "pre_mlp_layernorm", "post_mlp_layernorm")


def afmoe(c: Sizes) -> tuple[Node, ...]:
    """Describe embeddings, layers with four norms, the first few without experts, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        gate = linear("gate_proj", H, c.heads * c.head_dim, bias=False)
        mlp = mixture(c) if kind == "sparse" else gated_mlp("mlp", H, c.mlp)
        return (attention(c, gate), *(rms_norm(name, H) for name in NORMS), mlp)

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def mixture(c: Sizes) -> Part:
    """Describe router, shared experts and experts; the bias that balances them is not learned by gradient."""
    return Part("mlp", (
        Tensor("expert_bias", (c.experts,), "bias", frozen=True),
        Part("router", (linear("gate", c.hidden, c.experts, bias=False),), "router"),
        gated_mlp("shared_experts", c.hidden, c.shared_mlp),
        fused_experts(c.experts, c.active, c.hidden, c.expert_mlp),
    ), "mixture")  # fmt: skip


def _limited(c: Sizes) -> int:
    return sum(1 for index in range(c.layers) if (index + 1) % c.period)


AFMOE = steps(
    (Field("period", "global_attn_every_n_layers", 4, "choice"), *MIXTRAL), first_dense(1, "num_dense_layers"),
    vocab=200192, hidden=2048, mlp=6144, heads=16, head_dim=128, qk_norm="head", experts=only(64), active=6, expert_mlp=inner(1408),
    shared_experts=SHARED._replace(key="num_shared_experts", default=2), window=window(default=1024), windowed=windowed(_limited),
    mlp_bias=UNBIASED["mlp_bias"],
)  # fmt: skip

FAMILIES = {
    name: family._replace(neutral=family.neutral | {"mup_enabled", "route_scale"})
    for name, family in families({"afmoe": ("Afmoe", "lm", AFMOE)}, afmoe).items()
}
