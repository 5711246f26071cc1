"""Mixtures of experts with gated attention: AFMoE (four norms), Beam (a gate with a bias per head), Laguna (heads set per layer).

Source: Arcee, Trinity (December 2025); class and tensor names as in transformers 5.23.0, models/afmoe, models/beam, models/laguna.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.decoders.gemma import SANDWICH
from weighbridge.blueprints.mixtures.mixtral import MIXTRAL, expert_count, expert_width, families, with_layer_kinds
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS, attention
from weighbridge.blueprints.modules.layer_types import dense_before, first_dense, listed_or, one_per_layer
from weighbridge.blueprints.modules.mixture_of_experts import SHARED, mlp
from weighbridge.blueprints.modules.sliding_window import window, windowed_layers
from weighbridge.config.fields import SHARED_EXPERT_MLP, Config, Field, constant, with_changes
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import embedding, fused_experts, gated_mlp, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

NORMS = ("input_layernorm", "post_attention_layernorm", "pre_mlp_layernorm", "post_mlp_layernorm")


def afmoe(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers with four norms, the first few without experts, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        gate = linear("gate_proj", H, c.heads * c.head_dim, bias=False)
        half = mixture(c) if kind == "sparse" else gated_mlp("mlp", H, c.mlp)
        return (attention(c, gate), *(rms_norm(name, H) for name in NORMS), half)

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def mixture(c: Config) -> Part:
    """Describe router, shared experts and experts; the bias that balances them is not learned by gradient."""
    return part(
        "mlp",
        Tensor("expert_bias", (c.experts,), "bias", frozen=True),
        part("router", linear("gate", c.hidden, c.experts, bias=False), kind="router"),
        gated_mlp("shared_experts", c.hidden, c.shared_mlp),
        fused_experts(c.experts, c.active, c.hidden, c.expert_mlp),
        kind="mixture",
    )


def beam(c: Config) -> tuple[Node, ...]:
    """Describe Beam: each half normalized before and after, attention gated with a bias for each head."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        gate = linear("gate_proj", H, c.heads * c.head_dim, bias=False)
        attended = attention(c, gate, before=(Tensor("gate_bias", (c.heads,), "bias"),))
        return (attended, mlp(c, kind), *(rms_norm(name, H) for name in SANDWICH))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def laguna(c: Config) -> tuple[Node, ...]:
    """Describe Laguna: a gate on each head, and as many heads as the layer's entry in a list says."""
    H = c.hidden

    def layer(kinds: tuple[str, int | None]) -> tuple[Node, ...]:
        own = c if kinds[1] is None else with_changes(c, heads=kinds[1], heads_divide=False)
        gate = linear("g_proj", H, own.heads if c.by_head else own.heads * c.head_dim, bias=False)
        halves = (attention(own, gate), expert_layer(c) if kinds[0] == "sparse" else gated_mlp("mlp", H, c.mlp))
        return (*halves, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    kinds = list(zip(c.kinds, c.heads_by_layer, strict=True))
    return (embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("norm", H))


def expert_layer(c: Config) -> Part:
    """Describe experts, a router whose correction is a parameter, and an MLP that every token goes through."""
    frozen = Tensor("e_score_correction_bias", (c.experts,), "bias", frozen=True)
    return part(
        "mlp",
        fused_experts(c.experts, c.active, c.hidden, c.expert_mlp),
        part("gate", Tensor("weight", (c.experts, c.hidden)), frozen, kind="linear"),
        gated_mlp("shared_experts", c.hidden, c.shared_mlp),
        kind="mixture",
    )


def _heads(c: Config) -> list[int | None]:
    if c.stated_heads is None:
        return [None] * len(layer_range(c.layers))
    listed: list[int | None] = one_per_layer(c, c.stated_heads, "num_attention_heads_per_layer")  # type: ignore[assignment]
    strange = next((number for number in listed if type(number) is not int or number < 1), None)
    if strange is not None:
        raise ConfigError("expected the number of heads of each layer", key="num_attention_heads_per_layer", value=strange)
    return listed


def _first_dense(number: int) -> Callable[[Config], list[str]]:
    return lambda c: dense_before(c, number)


def _beam_windows(c: Config) -> int:
    return sum(1 for index in layer_range(c.layers - 1) if (index + 1) % 6)


def _sliding_layers(c: Config) -> int:
    return sum(1 for index in layer_range(c.layers) if (index + 1) % c.period)


AFMOE = with_layer_kinds(
    (Field("period", "global_attn_every_n_layers", 4, "choice"), *MIXTRAL),
    first_dense(1, "num_dense_layers"),
    NO_MLP_BIAS,
    vocab=200192,
    hidden=2048,
    mlp=6144,
    heads=16,
    head_dim=128,
    qk_norm="head",
    experts=expert_count(64),
    active=6,
    expert_mlp=expert_width(1408),
    shared_experts=replace(SHARED, key="num_shared_experts", default=2),
    window=window(default=1024),
    windowed=windowed_layers(_sliding_layers),
)
BEAM = with_layer_kinds(
    MIXTRAL,
    listed_or(_first_dense(3)),
    NO_MLP_BIAS,
    vocab=151936,
    hidden=5120,
    mlp=20480,
    layers=52,
    heads=48,
    kv_heads=8,
    head_dim=128,
    qk_norm="head",
    experts=expert_count(256),
    active=8,
    expert_mlp=expert_width(2560),
    block="experts corrected_gate",
    window=window(default=512),
    windowed=windowed_layers(_beam_windows),
)
LAGUNA = with_layer_kinds(
    MIXTRAL,
    (
        Field("by_head", "gating", True, "choice", read=lambda value: value is True or value == "per-head"),
        Field("stated_heads", "num_attention_heads_per_layer", None, "choice"),
        constant("heads_by_layer", _heads),
        *listed_or(_first_dense(1)),
    ),
    NO_MLP_BIAS,
    vocab=100352,
    hidden=2048,
    mlp=8192,
    layers=40,
    heads=48,
    kv_heads=8,
    head_dim=128,
    qk_norm="head",
    experts=expert_count(256),
    active=8,
    expert_mlp=expert_width(512),
    window=window(default=512),
    windowed=windowed_layers(lambda c: 0),
    shared_mlp=SHARED_EXPERT_MLP.with_default(512),
)

MORE_IGNORED_KEYS = frozenset(
    "mup_enabled route_scale moe_routed_scaling_factor moe_apply_router_weight_on_input moe_router_logit_softcapping".split()
)
MADE = (
    families({"afmoe": ("Afmoe", "lm", AFMOE)}, afmoe)
    | families({"beam": ("Beam", "lm", BEAM)}, beam)
    | families({"laguna": ("Laguna", "lm", LAGUNA)}, laguna)
)
FAMILIES = {name: replace(family, ignored_keys=family.ignored_keys | MORE_IGNORED_KEYS) for name, family in MADE.items()}
