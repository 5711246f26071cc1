"""Command R (Cohere, 2024): parallel attention and MLP after one layer norm without a bias.

Source: class and tensor names as in transformers 5.23.0, models/cohere, models/cohere2,
models/cohere2_moe and models/cohere_compass.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, attention, default_head_dim, with_heads
from weighbridge.blueprints.modules.layer_types import dense_before, listed_or
from weighbridge.blueprints.modules.mixture_of_experts import MIXTURE, SHARED, sparse_mlp
from weighbridge.blueprints.modules.sliding_window import all_but_every, pattern, window, windowed_layers
from weighbridge.config.family import Family
from weighbridge.config.fields import NUM_EXPERTS, Config, Field, constant, settable, size, switch, variant
from weighbridge.core.parts import embedding, gated_mlp, layer_norm, part, replace, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor


def cohere(c: Config) -> tuple[Node, ...]:
    """Describe Command R: one norm a layer; the larger one also norms queries and keys, each head by weights of its own."""
    H = c.hidden
    norms = (by_head(c, "q_norm", c.heads), by_head(c, "k_norm", c.kv_heads)) if c.normed else ()
    layer = part(
        "layers",
        attention(c, *norms),
        gated_mlp("mlp", H, c.mlp),
        layer_norm("input_layernorm", H, bias=False),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, layer_norm("norm", H, bias=False))


def by_head(c: Config, name: str, number: Size) -> Part:
    """Describe a norm with a gain for every head."""
    return part(name, Tensor("weight", (number, c.head_dim), "gain"), kind="layer_norm")


COHERE = variant(
    FIELDS, switch("normed", "use_qk_norm", False), NO_MLP_BIAS, vocab=256000, hidden=8192, mlp=22528, layers=40, heads=64, tied=True
)
COHERE2 = variant(
    COHERE,
    head_dim=settable("head_dim", "head_dim", default_head_dim, "D", "head dimension"),
    normed=constant("normed", False),
    pattern=pattern(4),
    window=window(),
    windowed=all_but_every(4),
)

COMPASS = variant(
    COHERE,
    normed=constant("normed", False),
    head_dim=settable("head_dim", "head_dim", default_head_dim, "D", "head dimension"),
    window=window(),
    windowed=windowed_layers(lambda c: 0),
)
COMPASS_CLASSES = {
    **with_heads("CohereCompassText", cohere, "sequence"),
    "CohereCompassForCausalLM": with_heads("CohereCompass", cohere, "lm")["CohereCompassForCausalLM"],
}


def cohere_moe(c: Config) -> tuple[Node, ...]:
    """Describe Command A with experts, after a few layers without."""
    H = c.hidden

    def norm(name: str) -> Part:
        return rms_norm(name, H) if c.rms else layer_norm(name, H, bias=False)

    def layer(kind: str) -> tuple[Node, ...]:
        return (attention(c), sparse_mlp(c) if kind == "sparse" else gated_mlp("mlp", H, c.dense_mlp), norm("input_layernorm"))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), norm("norm"))


def _sliding_layers(c: Config) -> int:
    first = sum(1 for index in layer_range(c.dense) if (index + 1) % c.first_period)
    return first + sum(1 for index in layer_range(c.layers - c.dense) if (index + 1) % c.period)


MOE = variant(
    (
        Field("dense", "first_k_dense_replace", 0, "choice", report_default=False),
        Field("first_period", "prefix_dense_sliding_window_pattern", 1, "choice"),
        Field("period", "sliding_window_pattern", 4, "choice"),
        *FIELDS,
        *(field for field in MIXTURE if field.word != "kinds"),
    ),
    size("dense_mlp", "prefix_dense_intermediate_size", lambda c: c.mlp, "J", "intermediate size of the first layers"),
    Field("rms", "rms_norm_eps", None, "choice", read=lambda stated: stated is not None, report_default=False),
    *listed_or(lambda c: dense_before(c, c.dense)),
    NO_MLP_BIAS,
    vocab=256000,
    hidden=8192,
    mlp=22528,
    layers=40,
    heads=64,
    head_dim=128,
    tied=True,
    window=window(),
    windowed=windowed_layers(_sliding_layers),
    experts=NUM_EXPERTS.with_default(8),
    shared_experts=replace(SHARED, key="num_shared_experts", default=0),
    block=Field("block", "num_shared_experts", 0, "choice", read=lambda n: "gate experts" + " shared_experts" * (n > 0)),
)

FAMILIES = {
    "cohere": Family("cohere", COHERE, with_heads("Cohere", cohere, "lm"), "CohereModel", IGNORED_KEYS),
    "cohere2": Family("cohere2", COHERE2, with_heads("Cohere2", cohere, "lm"), "Cohere2Model", IGNORED_KEYS | {"sliding_window_pattern"}),
    "cohere_compass_text": Family(
        "cohere_compass_text", COMPASS, COMPASS_CLASSES, "CohereCompassTextModel", IGNORED_KEYS | {"sliding_window_pattern", "pooling"}
    ),
    "cohere2_moe": Family(
        "cohere2_moe",
        MOE,
        with_heads("Cohere2Moe", cohere_moe, "lm"),
        "Cohere2MoeModel",
        IGNORED_KEYS | {"shared_expert_combination_strategy", "expert_selection_fn"},
    ),
}
