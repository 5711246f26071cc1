"""OLMo Hybrid: gated DeltaNet layers interleaved with post-norm attention (three to one).

Source: Ai2, OLMo Hybrid (2026); arXiv 2412.06464; class and tensor names as in transformers 5.23.0,
models/olmo_hybrid/modeling_olmo_hybrid.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, attention, with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds
from weighbridge.blueprints.state_space.qwen3_next import chunked_delta_rule
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, size, variant
from weighbridge.core.parts import depthwise, embedding, gated_mlp, linear, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, State, Tensor


def olmo_hybrid(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds, which place their norms differently, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mlp = gated_mlp("mlp", H, c.mlp)
        if kind == "linear_attention":
            return (mlp, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H), delta_rule(c))
        return (attention(c), mlp, rms_norm("post_attention_layernorm", H), rms_norm("post_feedforward_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.mixers, c.layers, layer), rms_norm("norm", H))


def delta_rule(c: Config) -> Part:
    """Describe the gated delta rule with a matrix for everything."""
    H, keys, values, V = c.hidden, c.linear_keys * c.key_dim, c.linear_values * c.value_dim, c.linear_values
    widths = (("q", keys), ("k", keys), ("v", values), ("a", V), ("b", V), ("g", values))
    return part(
        "linear_attn",
        Tensor("A_log", (V,), "gain"),
        Tensor("dt_bias", (V,), "bias"),
        *(linear(f"{name}_proj", H, width, bias=False) for name, width in widths),
        linear("o_proj", values, H, bias=False),
        depthwise("conv1d", 2 * keys + values, c.kernel, bias=False, filled="full_attention" in c.mixers),
        rms_norm("o_norm", c.value_dim),
        chunked_delta_rule(c),
        *((State("recurrent_state", c.linear_values * c.key_dim * c.value_dim, "float32"),) if "full_attention" in c.mixers else ()),
        kind="linear_attention",
    )


def _mixers(c: Config) -> list[str]:
    kinds = ["full_attention" if index % 4 == 3 else "linear_attention" for index in layer_range(c.layers)]
    return kinds if "full_attention" in kinds else [*kinds[:-1], "full_attention"]


HYBRID = variant(
    FIELDS,
    size("kernel", "linear_conv_kernel_dim", 4, "Z", "kernel size of the convolution"),
    size("linear_keys", "linear_num_key_heads", lambda c: c.heads, "F", "key heads in linear attention"),
    size("linear_values", "linear_num_value_heads", lambda c: c.heads, "G", "value heads in linear attention"),
    size("key_dim", "linear_key_head_dim", lambda c: 3 * c.hidden // (4 * c.linear_keys), "X", "key head dimension in linear attention"),
    size("value_dim", "linear_value_head_dim", lambda c: 2 * c.key_dim, "Y", "value head dimension in linear attention"),
    Field("stated_kinds", "layer_types", _mixers, "choice"),
    constant("mixers", lambda c: checked_kinds(c, c.stated_kinds, "layer_types", ("full_attention", "linear_attention"))),
    NO_MLP_BIAS,
    vocab=100352,
    hidden=3840,
    heads=30,
    qk_norm="whole",
)

LINEAR = {f"linear_{key}" for key in "a_log_min a_log_max dt_min dt_max dt_init_floor allow_neg_eigval".split()}
FAMILIES = {
    "olmo_hybrid": Family("olmo_hybrid", HYBRID, with_heads("OlmoHybrid", olmo_hybrid, "lm"), "OlmoHybridModel", IGNORED_KEYS | LINEAR)
}
