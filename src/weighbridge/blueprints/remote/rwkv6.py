"""RWKV-6, "Finch" (Peng et al., 2024): RWKV-5 whose mixing and decay depend on the token; its code stands beside its files.

Source: arXiv 2404.05892, section 4.2; modeling_rwkv6.py of RWKV/rwkv-6-world-1b6. Held to the parameters that the paper states,
13 D^2 L + 464 D L + 4 D + 2 D V, and to the shapes for which llama.cpp's loader asks, not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.remote import rwkv5
from weighbridge.blueprints.state_space import rwkv
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, size
from weighbridge.core.length import unknown
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.tree import Node, Part, State, Tensor


def rwkv6(c: Config) -> tuple[Node, ...]:
    """Describe embeddings and layers, as RWKV-5 has them."""
    return rwkv5.layers(c, time_mixing, channel_mixing)


def mixes(c: Config, *names: str) -> tuple[Tensor, ...]:
    """Describe how much of the previous token is mixed in, one number per channel."""
    return tuple(Tensor(f"time_maa_{name}", (1, 1, c.hidden), "gain") for name in names)


def time_mixing(c: Config) -> Part:
    """Describe the recurrence; two narrow pairs of matrices make of each token how much is mixed in, and how fast the state decays."""
    H, wide, A, D = c.hidden, c.attended, c.heads, c.head_dim
    return part(
        "attention",
        *mixes(c, *"xwkvrg"),
        Tensor("time_maa_w1", (H, 5 * c.mixing), "weight"),
        Tensor("time_maa_w2", (5, c.mixing, H), "weight"),
        Tensor("time_decay", (1, 1, wide), "gain"),
        Tensor("time_decay_w1", (H, c.decaying), "weight"),
        Tensor("time_decay_w2", (c.decaying, wide), "weight"),
        Tensor("time_faaaa", (A, D), "gain"),
        *(linear(name, H, wide, bias=False) for name in ("receptance", "key", "value")),
        linear("output", wide, H, bias=False),
        linear("gate", H, wide, bias=False),
        replace(layer_norm("ln_x", wide), kind="group_norm"),
        State("last_token", H),
        State("recurrent_state", A * D * D, "float32"),
        kind="recurrence",
        stream=unknown("the arithmetic of this recurrence is not held to a live class"),
    )


def channel_mixing(c: Config) -> Part:
    """Describe the MLP, gated by the receptance."""
    return rwkv.channel_mixing(c, mixes(c, "k", "r"))


def causal_lm(c: Config) -> Part:
    """Describe Rwkv6ForCausalLM."""
    return rwkv.causal_lm(c, rwkv6)


FIELDS = (
    *rwkv5.FIELDS,
    constant("large", lambda c: c.hidden == 4096),
    size("mixing", "time_mix_extra_dim", lambda c: 64 if c.large else 32, "M", "rank of the mixing"),
    size("decaying", "time_decay_extra_dim", lambda c: 128 if c.large else 64, "R", "rank of the decay"),
)
CLASSES = {"Rwkv6Model": lambda c: part("", *rwkv6(c), kind="model"), "Rwkv6ForCausalLM": causal_lm}
FAMILIES = {"rwkv6": Family("rwkv6", FIELDS, CLASSES, "Rwkv6ForCausalLM", rwkv5.MORE_IGNORED_KEYS)}
