"""Reformer: LSH and local attention in chunks, reversible residual streams, axial positions (Kitaev et al., 2020).

Source: arXiv 2001.04451; names as in transformers 5.23.0, models/reformer/modeling_reformer.py.
"""

from __future__ import annotations

from math import lcm

from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import HEADS, HIDDEN, LABELS, POSITIONS, VOCAB, AtInit, Config, Field, computed, sequence, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import at_most, length, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, stack
from weighbridge.core.tree import Node, Part, State, Tensor

if TYPE_CHECKING:
    from typing import Any

CHUNKED = unknown("tokens are padded, sorted by hashes and cut into chunks")


def kinds(value: Any) -> tuple[str, ...]:
    """Read the kind of attention of each layer.

    >>> kinds(["local", "lsh"])
    ('local', 'lsh')
    """
    if not value or any(entry not in ("local", "lsh") for entry in value):
        raise ConfigError(Text("expected a list of local and lsh, found {value!r:.60}", value=value), key="attn_layers", value=value)
    return tuple(value)


def layer_kinds(c: Config) -> tuple[str, ...]:
    """Return the kinds of the layers that are built: as many as the config says, where it says it."""
    if type(c.layers) is not int or not 1 <= c.layers <= len(c.kinds) * (LONGEST if len(set(c.kinds)) == 1 else 1):
        raise ConfigError(
            Text("{layers!r:.40} layers, but attn_layers gives the kinds of {count}", layers=c.layers, count=len(c.kinds)),
            key="num_hidden_layers",
            value=c.layers,
        )
    return (c.kinds * (1 + c.layers // len(c.kinds)))[: c.layers]


def check_axes(c: Config) -> bool:
    """Check that the widths of the axes' positions add up."""
    if c.axial and (sum(c.axis_widths) != c.hidden or len(c.axis_widths) > len(c.axis_lengths)):
        raise ConfigError(
            Text("the widths {axis_widths!r:.40} of the axes do not make {hidden}", axis_widths=c.axis_widths, hidden=c.hidden),
            key="axial_pos_embds_dim",
        )
    return True


LONGEST = 1000
"""Times that one kind of layer may be repeated where there is only one."""

FIELDS = (
    VOCAB.with_default(320),
    POSITIONS.with_default(4096),
    HIDDEN.with_default(256),
    size("mlp", "feed_forward_size", 512, "I", "intermediate size"),
    sequence("kinds", "attn_layers", ["local", "lsh"] * 3, read=kinds),
    Field("layers", "num_hidden_layers", AtInit(lambda c: len(c.kinds)), "choice", report_default=False),
    computed("built", layer_kinds),
    HEADS.with_default(12),
    size("head_dim", "attention_head_size", 64, "D", "head dimension"),
    switch("axial", "axial_pos_embds", True),
    numbers("axis_lengths", "axial_pos_shape", (64, 64)),
    numbers("axis_widths", "axial_pos_embds_dim", (64, 192)),
    computed("fitting", check_axes),
    switch("decodes", "is_decoder", False),
    Field("local_after", "local_num_chunks_after", 0, "choice", report_default=False),
    Field("lsh_after", "lsh_num_chunks_after", 0, "choice", report_default=False),
    Field("hashes", "num_hashes", 1, "choice", report_default=False),
    Field("chunk", "lsh_attn_chunk_length", 64, "choice", report_default=False),
    Field("local_chunk", "local_attn_chunk_length", 64, "choice", report_default=False),
    LABELS,
)


def positions(c: Config) -> Part:
    """Describe the positions: vectors for each axis of a grid, or one for each."""
    if not c.axial:
        return part("position_embeddings", embedding("embedding", c.positions, c.hidden), kind="embedding")
    ones = (1,) * len(c.axis_lengths)
    shapes = ((*ones[:axis], c.axis_lengths[axis], *ones[axis + 1 :], width) for axis, width in enumerate(c.axis_widths))
    weights = part("weights", *(Tensor(str(axis), shape, "embedding") for axis, shape in enumerate(shapes)), kind="embedding")
    return part("position_embeddings", weights, kind="embedding")


def chunked_from(c: Config) -> int:
    """Return the length up to which a text is one chunk, so that nothing is hashed: a longer one is filled up to whole chunks of both kinds.

    >>> chunked_from(Config(kinds=("local", "lsh"), chunk=64, local_chunk=48))
    48
    """
    if set(c.kinds) == {"lsh"}:
        return int(c.chunk)
    return int(min(c.chunk, c.local_chunk) if lcm(c.chunk, c.local_chunk) > c.chunk else c.chunk)


def layer_states(c: Config, kind: str) -> tuple[Node, ...]:
    """Describe what a layer keeps: what went into it, and where tokens are hashed, the bucket of each."""
    states = State("states", c.hidden, per_token=True)
    if kind != "lsh":
        return (states,)
    hashed = at_most((length("seq") - 1) // chunked_from(c), 1) * length("seq")
    return (states, State("buckets", c.heads * c.hashes, "int64", per_token=True, tokens=hashed))


def layer(c: Config, kind: str, *, keeps: bool = False) -> tuple[Node, ...]:
    """Describe a layer; what is hashed has one map for queries and keys."""
    H, wide = c.hidden, c.heads * c.head_dim
    maps = (linear(name, H, wide, bias=False) for name in (("query_key", "value") if kind == "lsh" else ("query", "key", "value")))
    own = part("self_attention", *maps, attend(heads=c.heads, head_dim=c.head_dim), kind="self_attention", stream=CHUNKED)
    out = part("output", linear("dense", wide, H, bias=False), kind="attention")
    return (
        part("attention", layer_norm("layer_norm", H), own, out, *(layer_states(c, kind) if keeps else ()), kind="attention"),
        part(
            "feed_forward",
            layer_norm("layer_norm", H),
            part("dense", linear("dense", H, c.mlp)),
            part("output", linear("dense", c.mlp, H)),
            kind="feed_forward",
        ),
    )


def reformer(c: Config, *, keeps: bool = False) -> tuple[Node, ...]:
    """Describe words and positions, the layers, and a norm over both streams; only a decoder *keeps* anything between tokens."""
    layers = stack("layers", c.built, len(c.built), lambda kind: layer(c, kind, keeps=keeps))
    return (
        part("embeddings", embedding("word_embeddings", c.vocab, c.hidden), positions(c), kind="embeddings"),
        part("encoder", *layers, layer_norm("layer_norm", 2 * c.hidden), kind="encoder"),
    )


def with_head(head: Blueprint, *, keeps: bool = False) -> Blueprint:
    """Return the blueprint of the backbone under a head."""
    return lambda c: part("", part("reformer", *reformer(c, keeps=keeps), kind="backbone"), head(c), kind="model")


def vocabulary(c: Config) -> Part:
    """Describe the head over the vocabulary."""
    return part("lm_head", Tensor("bias", (c.vocab,), "bias"), linear("decoder", 2 * c.hidden, c.vocab, bias=False), kind="lm_head")


def classification_head(c: Config) -> Part:
    """Describe two layers on the first token."""
    return part("classifier", linear("dense", 2 * c.hidden, c.hidden), linear("out_proj", c.hidden, c.labels), kind="head", stream="one")


def writes(c: Config) -> Part:
    """Describe ReformerModelWithLMHead, which the reference builds of a decoder alone, whose chunks see none after them."""
    if not c.decodes:
        raise ConfigError("this class has only a decoder", key="is_decoder", value=c.decodes, hint="set it to true")
    for kind, after in (("local", c.local_after), ("lsh", c.lsh_after)):
        if kind in c.kinds and after != 0:
            raise ConfigError(
                "a decoder sees no chunk behind a token's own", key=f"{kind}_num_chunks_after", value=after, hint="set it to 0"
            )
    return with_head(vocabulary, keeps=True)(c)


def fills(c: Config) -> Part:
    """Describe ReformerForMaskedLM, which the reference builds of an encoder alone."""
    if c.decodes:
        raise ConfigError("this class has only an encoder", key="is_decoder", value=c.decodes, hint="set it to false")
    return with_head(vocabulary)(c)


CLASSES = {
    "ReformerModel": lambda c: part("", *reformer(c, keeps=True), kind="model"),
    "ReformerModelWithLMHead": writes,
    "ReformerForMaskedLM": fills,
    "ReformerForSequenceClassification": with_head(classification_head),
    "ReformerForQuestionAnswering": with_head(lambda c: linear("qa_outputs", 2 * c.hidden, c.labels)),
}
IGNORED_KEYS = frozenset(
    """axial_norm_std chunk_size_lm_head hash_seed local_attention_probs_dropout_prob
    local_num_chunks_before lsh_attention_probs_dropout_prob
    lsh_num_chunks_before num_buckets tie_word_embeddings""".split()
)
FAMILIES = {"reformer": Family("reformer", FIELDS, CLASSES, "ReformerModel", IGNORED_KEYS)}
