"""RWKV-5, "Eagle" (Peng et al., 2024): RWKV with a matrix-valued state per head; its code stands beside its files on the Hub.

Source: arXiv 2404.05892, sections 4 and 5; modeling_rwkv5.py of RWKV/rwkv-5-world-1b5. Held to the parameters that the paper states,
13 D^2 L + 14 D L + 4 D + 2 D V, not to a live class.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.blueprints.state_space import rwkv
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, LAYERS, MLP, TIED, VOCAB, Config, constant, derived, size
from weighbridge.core.parts import embedding, layer_norm, linear, matmul, part, replace, stack
from weighbridge.core.sizes import exact, layer_range
from weighbridge.core.tree import Node, Part, State, Tensor


def layers(c: Config, time: Callable[[Config], Part], channel: Callable[[Config], Part]) -> tuple[Node, ...]:
    """Describe embeddings, layers of *time* mixing and *channel* mixing, and a last norm; the first layer norms the embeddings too."""
    H = c.hidden

    def layer(first: bool) -> tuple[Node, ...]:
        before = (layer_norm("pre_ln", H),) if first else ()
        return (*before, layer_norm("ln1", H), layer_norm("ln2", H), time(c), channel(c))

    kinds = [index == 0 for index in layer_range(c.depth)]
    return (embedding("embeddings", c.vocab, H), *stack("blocks", kinds, c.layers, layer), layer_norm("ln_out", H))


def rwkv5(c: Config) -> tuple[Node, ...]:
    """Describe embeddings and layers."""
    return layers(c, time_mixing, rwkv.channel_mixing)


def time_mixing(c: Config) -> Part:
    """Describe the recurrence: each token adds the product of its key and value to a state that decays."""
    H, wide, A, D = c.hidden, c.attended, c.heads, c.head_dim
    return part(
        "attention",
        Tensor("time_decay", (A, D), "gain"),
        Tensor("time_faaaa", (A, D), "gain"),
        *rwkv.mixes(c, "gate", "key", "value", "receptance"),
        *(linear(name, H, wide, bias=False) for name in ("key", "value", "receptance", "gate")),
        linear("output", wide, H, bias=False),
        replace(layer_norm("ln_x", wide), kind="group_norm"),
        matmul("state", (2, "seq", A, D, D)),
        State("last_token", H),
        State("recurrent_state", A * D * D, "float32"),
        kind="recurrence",
    )


def causal_lm(c: Config) -> Part:
    """Describe Rwkv5ForCausalLM."""
    return rwkv.causal_lm(c, rwkv5)


FIELDS = (
    VOCAB.with_default(65536),
    HIDDEN.with_default(768),
    size("attended", "attention_hidden_size", lambda c: c.hidden, "F", "width of time mixing"),
    MLP.with_default(lambda c: 7 * c.hidden // 64 * 32),
    LAYERS.with_default(24),
    size("head_dim", "head_size", 64, "D", "head dimension"),
    derived("heads", lambda c: exact(c.attended, c.head_dim), "attention_hidden_size", "head_size"),
    constant("depth", lambda c: c.layers),
    TIED.with_default(False),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {"context_length", "head_size_divisor", "model_version", "num_attention_heads", "rescale_every"}
CLASSES = {"Rwkv5Model": lambda c: part("", *rwkv5(c), kind="model"), "Rwkv5ForCausalLM": causal_lm}
FAMILIES = {"rwkv5": Family("rwkv5", FIELDS, CLASSES, "Rwkv5ForCausalLM", MORE_IGNORED_KEYS)}
