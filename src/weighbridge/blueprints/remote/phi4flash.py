"""Phi-4-mini-flash: SambaY, a decoder of state spaces and attention, and a second one that reads the first one's memory, keys and values.

Source: arXiv 2507.06607; modeling_phi4flash.py of microsoft/Phi-4-mini-flash-reasoning, whose code stands beside its files. Held to the total of the published
file (3,852,562,944), not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, with_heads
from weighbridge.blueprints.state_space.mamba import MIXER, mixer
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, switch, variant
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, layer_norm, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

MIXED = unknown("the arithmetic of differential attention and of gated memories is not held to a live class")


def phi4flash(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of four kinds, and a last norm."""
    H = c.hidden
    mixers = {"state_space": state_space, "memory": memory, "attention": attention, "cross_attention": cross_attention}

    def layer(kind: str) -> tuple[Node, ...]:
        up = linear("fc1", H, 2 * c.mlp, bias=c.mlp_bias)
        mlp = part("mlp", up, linear("fc2", c.mlp, H, bias=c.mlp_bias), kind="feed_forward")
        return (mlp, mixers[kind](c), layer_norm("input_layernorm", H), layer_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), layer_norm("final_layernorm", H))


def attention(c: Config) -> Part:
    """Describe differential attention over keys and values of its own."""
    return differential(c, (c.heads + 2 * c.kv_heads) * c.head_dim, "self_attention")


def cross_attention(c: Config) -> Part:
    """Describe differential attention over the keys and values that the first decoder's last layer made."""
    return differential(c, c.heads * c.head_dim, "cross_attention")


def differential(c: Config, width: Size, kind: str) -> Part:
    """Describe attention whose first map has this width, what weighs one half of its heads against the other, and the norm behind them."""
    weighed = (Tensor(f"lambda_{name}{half}", (c.head_dim,), "gain") for half in (1, 2) for name in "qk")
    inner = part("inner_cross_attn", *weighed, rms_norm("subln", 2 * c.head_dim))
    return part("attn", linear("Wqkv", c.hidden, width), linear("out_proj", c.heads * c.head_dim, c.hidden), inner, kind=kind, stream=MIXED)


def state_space(c: Config) -> Part:
    """Describe Mamba."""
    return replace(mixer(c, "attn"), stream=MIXED)


def memory(c: Config) -> Part:
    """Describe a gate over what the first decoder's last state space put out."""
    maps = linear("in_proj", c.hidden, c.inner, bias=c.bias), linear("out_proj", c.inner, c.hidden, bias=c.bias)
    return part("attn", *maps, kind="gate", stream=MIXED)


def _kinds(c: Config) -> list[str]:
    """Return each layer's kind: the second decoder begins two layers behind the middle."""
    turn = c.layers // 2 + 2
    return [_kind(index % c.period == 0, index >= turn) for index in layer_range(c.layers)]


def _kind(recurrent: bool, second: bool) -> str:
    if recurrent:
        return "memory" if second else "state_space"
    return "cross_attention" if second else "attention"


PHI4FLASH = variant(
    FIELDS,
    Field("period", "mb_per_layer", 2, "choice"),
    *MIXER,
    constant("kinds", _kinds),
    head_bias=switch("head_bias", "lm_head_bias", False),
    head_dim=HEAD_DIM,
    vocab=200064,
    hidden=2560,
    mlp=10240,
    heads=40,
    kv_heads=20,
    tied=True,
)
KEYS = IGNORED_KEYS | frozenset("interpolate_factor layer_norm_eps embd_pdrop resid_pdrop attention_bias".split())
FAMILIES = {"phi4flash": Family("phi4flash", PHI4FLASH, with_heads("Phi4Flash", phi4flash, "lm"), "Phi4FlashForCausalLM", KEYS)}
