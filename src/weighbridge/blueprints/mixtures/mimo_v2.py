"""MiMo-V2-Flash: full attention interleaved with sliding-window attention that has twice the key-value heads, and attention sinks.

Source: Xiaomi, MiMo-V2-Flash (December 2025); class and tensor names as in transformers 5.23.0,
models/mimo_v2_flash/modeling_mimo_v2_flash.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds, dense_before, listed_or
from weighbridge.blueprints.modules.mixture_of_experts import EXPERT_MLP, EXPERTS, MIXTURE, mlp
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, optional, size, variant
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor


def mimo(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds of attention and of MLP, and a last norm."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        return (attention(c, kinds[0]), mlp(c, kinds[1]), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    kinds = list(zip(c.mixers, c.kinds, strict=True))
    return (embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("norm", H))


def attention(c: Config, kind: str) -> Part:
    """Describe attention whose values are narrower than its keys."""
    H, A, D = c.hidden, c.heads, c.head_dim
    limited = kind == "sliding_attention"
    K = 2 * c.kv_heads if limited else c.kv_heads
    return part(
        "self_attn",
        *((Tensor("sinks", (A,), "bias"),) if limited else ()),
        linear("q_proj", H, A * D, bias=c.qkv_bias),
        linear("k_proj", H, K * D, bias=c.qkv_bias),
        linear("v_proj", H, K * c.value_dim, bias=c.qkv_bias),
        linear("o_proj", A * c.value_dim, H, bias=False),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, value_dim=c.value_dim, window=c.window if limited else None),
        kind="self_attention",
    )


def _mixers(c: Config) -> list[str]:
    return ["sliding_attention" if index and (index + 1) % 6 else "full_attention" for index in layer_range(c.layers)]


MIMO = variant(
    (*FIELDS, *(field for field in MIXTURE if field.word != "kinds")),
    size("value_dim", "v_head_dim", 128, "U", "value head dimension"),
    Field("stated_mixers", "layer_types", _mixers, "choice"),
    constant("mixers", lambda c: checked_kinds(c, c.stated_mixers, "layer_types", ("full_attention", "sliding_attention"))),
    *listed_or(lambda c: dense_before(c, 1)),
    NO_MLP_BIAS,
    vocab=152576,
    mlp=16384,
    layers=48,
    heads=64,
    kv_heads=4,
    head_dim=192,
    experts=EXPERTS.with_default(256),
    active=8,
    expert_mlp=EXPERT_MLP.with_default(2048),
    block="experts corrected_gate",
    window=optional("window", "sliding_window", 129, "W", "attention window"),
)

MORE_IGNORED_KEYS = IGNORED_KEYS | {"attention_value_scale", "sliding_window_size"}
FAMILIES = {"mimo_v2_flash": Family("mimo_v2_flash", MIMO, with_heads("MiMoV2Flash", mimo, "lm"), "MiMoV2FlashModel", MORE_IGNORED_KEYS)}
