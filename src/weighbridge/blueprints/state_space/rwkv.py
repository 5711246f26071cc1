"""RWKV-4: a linear recurrence with token shift that trains in parallel like attention.

Source: arXiv 2305.13048; names as in transformers 5.23.0, models/rwkv/modeling_rwkv.py. The recurrence is elementwise.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, LAYERS, MLP, TIED, VOCAB, Config, size
from weighbridge.core.parts import embedding, layer_norm, linear, part
from weighbridge.core.sizes import is_some
from weighbridge.core.tree import Every, Node, Part, State, Tensor


def mixes(c: Config, *names: str) -> tuple[Tensor, ...]:
    """Describe how much of the previous token is mixed in, one number per channel."""
    return tuple(Tensor(f"time_mix_{name}", (1, 1, c.hidden), "gain") for name in names)


def block(c: Config, *before: Part) -> tuple[Part, ...]:
    """Describe a block: time mixing, then channel mixing."""
    H, W = c.hidden, c.attention_hidden
    time = part(
        "attention",
        Tensor("time_decay", (W,), "gain"),
        Tensor("time_first", (W,), "gain"),
        *mixes(c, "key", "value", "receptance"),
        linear("key", H, W, bias=False),
        linear("value", H, W, bias=False),
        linear("receptance", H, W, bias=False),
        linear("output", W, H, bias=False),
        State("last_token", H),
        State("recurrent_state", 3 * H, "float32"),
        kind="time_mixing",
    )
    return (*before, layer_norm("ln1", H), layer_norm("ln2", H), time, channel_mixing(c))


def channel_mixing(c: Config, mixed: tuple[Tensor, ...] = ()) -> Part:
    """Describe the MLP, gated by the receptance, with the numbers by which the token before is *mixed* in."""
    H = c.hidden
    return part(
        "feed_forward",
        *(mixed or mixes(c, "key", "receptance")),
        linear("key", H, c.mlp, bias=False),
        linear("receptance", H, H, bias=False),
        linear("value", c.mlp, H, bias=False),
        State("last_token", H),
        kind="feed_forward",
    )


def backbone(c: Config) -> tuple[Part, ...]:
    """Describe embeddings, blocks, of which the first has one norm more, and a last norm."""
    first = part("blocks", *block(c, layer_norm("pre_ln", c.hidden)), kind="layer", repeat=1)
    others = part("blocks", *block(c), kind="layer", repeat=c.layers - 1, indices=Every(1))
    return (embedding("embeddings", c.vocab, c.hidden), *((first, others) if is_some(c.layers) else ()), layer_norm("ln_out", c.hidden))


def rwkv(c: Config) -> Part:
    """Describe RwkvModel."""
    return part("", *backbone(c), kind="model")


def causal_lm(c: Config, body: Callable[[Config], tuple[Node, ...]] = backbone) -> Part:
    """Describe RwkvForCausalLM: a head that is tied only if the config says so."""
    head = linear("head", c.hidden, c.vocab, bias=False, tied_to="rwkv.embeddings.weight" if c.tied else None)
    return part("", part("rwkv", *body(c), kind="backbone"), head, kind="model")


FIELDS = (
    VOCAB.with_default(50277),
    HIDDEN.with_default(4096),
    LAYERS.with_default(32),
    size("attention_hidden", "attention_hidden_size", lambda c: c.hidden, "W", "width of time mixing"),
    MLP.with_default(lambda c: 4 * c.hidden),
    TIED.with_default(False),
)
IGNORED_KEYS = frozenset({"context_length", "max_position_embeddings", "rescale_every"})

FAMILIES = {"rwkv": Family("rwkv", FIELDS, {"RwkvModel": rwkv, "RwkvForCausalLM": causal_lm}, "RwkvModel", IGNORED_KEYS)}
