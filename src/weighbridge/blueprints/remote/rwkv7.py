"""RWKV-7, "Goose" (Peng et al., 2025): a state that is corrected by the delta rule, with five narrow pairs of matrices a layer.

Source: arXiv 2503.14456, section 4; names and keys as in flash-linear-attention, fla/models/rwkv7 (the files of RWKV/RWKV7-Goose and
fla-hub have them). Held to that package's live class, tensor by tensor, and to the published totals.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, HIDDEN, LAYERS, MLP, TIED, VOCAB, Config, Field, constant, derived, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, layer_norm, linear, part, replace, stack
from weighbridge.core.sizes import Size, exact, layer_range
from weighbridge.core.tree import Node, Part, State, Tensor


def rwkv7(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of time mixing and channel mixing, and a last norm; the first layer norms the embeddings too."""
    H = c.hidden

    def layer(first: bool) -> tuple[Node, ...]:
        before = (layer_norm("pre_norm", H, bias=c.norm_bias),) if first and c.norm_first else ()
        norms = (layer_norm("attn_norm", H, bias=c.norm_bias), layer_norm("ffn_norm", H, bias=c.norm_bias))
        return (*before, norms[0], time_mixing(c, first=first), norms[1], channel_mixing(c))

    kinds = [index == 0 for index in layer_range(c.depth)]
    return (embedding("embeddings", c.vocab, H), *stack("layers", kinds, c.layers, layer), layer_norm("norm", H, bias=c.norm_bias))


def time_mixing(c: Config, *, first: bool) -> Part:
    """Describe the recurrence; the first layer's values are those that all others mix into theirs."""
    H, A, D = c.hidden, c.heads, c.head_dim
    return part(
        "attn",
        *(Tensor(f"x_{name}", (1, 1, H), "gain") for name in "rwkvag"),
        Tensor("k_k", (H,), "gain"),
        Tensor("k_a", (H,), "gain"),
        Tensor("r_k", (A, D), "gain"),
        *(linear(f"{name}_proj", H, H, bias=False) for name in "rkvo"),
        narrow("w_lora", H, c.decaying),
        *(() if first else (narrow("v_lora", H, c.valued),)),
        narrow("a_lora", H, c.learning),
        narrow("g_lora", H, c.gating, bias=False),
        replace(layer_norm("g_norm", H), kind="group_norm"),
        State("last_token", H),
        State("recurrent_state", A * D * D, "float32"),
        kind="recurrence",
        stream=unknown("the arithmetic of this recurrence is not held to a live class"),
    )


def narrow(name: str, width: Size, rank: Size, *, bias: bool = True) -> Part:
    """Describe two linear layers through a narrow middle, numbered as they stand in a sequence."""
    return part(name, part("lora", linear("0", width, rank, bias=False), linear("2", rank, width, bias=bias)), kind="low_rank")


def channel_mixing(c: Config) -> Part:
    """Describe the MLP, which mixes in the token before."""
    up, down = linear("key", c.hidden, c.mlp, bias=False), linear("value", c.mlp, c.hidden, bias=False)
    return part("ffn", Tensor("x_k", (c.hidden,), "gain"), up, down, State("last_token", c.hidden), kind="feed_forward")


def causal_lm(c: Config) -> Part:
    """Describe RWKV7ForCausalLM."""
    tied = "model.embeddings.weight" if c.tied else None
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=tied)
    return part("", part("model", *rwkv7(c), kind="backbone"), head, kind="model")


def _refuse_other_widths(c: Config) -> bool:
    """Refuse values that are wider than the hidden size, and layers of attention."""
    if c.stated_values not in (None, c.hidden) and any(width != c.hidden for width in c.stated_values):
        raise ConfigError("values wider than the hidden size are not described", key="value_dim", value=c.stated_values)
    if c.hybrid:
        raise ConfigError("layers of attention among those of RWKV are not described", key="attn", value=c.hybrid)
    return True


FIELDS = (
    VOCAB.with_default(32000),
    HIDDEN.with_default(2048),
    size("ratio", "hidden_ratio", 4, "X", "ratio of inner width to hidden size"),
    MLP.with_default(lambda c: (c.hidden * c.ratio + 31) // 32 * 32),
    LAYERS.with_default(24),
    HEAD_DIM.with_default(64),
    derived("heads", lambda c: exact(c.hidden, c.head_dim), "hidden_size", "head_dim"),
    size("decaying", "decay_low_rank_dim", 64, "R", "rank of the decay"),
    size("gating", "gate_low_rank_dim", 128, "G", "rank of the gate"),
    size("learning", "a_low_rank_dim", 64, "B", "rank of the learning rate"),
    size("valued", "v_low_rank_dim", 16, "U", "rank of the values' mixing"),
    switch("norm_first", "norm_first", True),
    switch("norm_bias", "norm_bias", True),
    Field("stated_values", "value_dim", None, "choice", report_default=False, read=lambda value: [value] if type(value) is int else value),
    Field("hybrid", "attn", None, "choice", report_default=False),
    constant("usual", _refuse_other_widths),
    constant("depth", lambda c: c.layers),
    TIED.with_default(False),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    "attn_mode fuse_cross_entropy fuse_linear_cross_entropy fuse_norm norm_eps num_heads use_l2warp".split()
)
CLASSES = {"RWKV7Model": lambda c: part("", *rwkv7(c), kind="model"), "RWKV7ForCausalLM": causal_lm}
FAMILIES = {"rwkv7": Family("rwkv7", FIELDS, CLASSES, "RWKV7ForCausalLM", MORE_IGNORED_KEYS)}
