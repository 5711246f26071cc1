"""DeBERTa-v2 and v3: bucketed relative positions, keys shared with them, and an optional convolution (He et al., 2021).

Source: arXiv 2006.03654, 2111.09543; class and tensor names as in transformers 5.23.0, models/deberta_v2/modeling_deberta_v2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import feed_forward, output_block
from weighbridge.blueprints.encoders.deberta import HEADS, IGNORED_KEYS, embeddings, fields, multiple_choice, reach
from weighbridge.blueprints.modules.bert_family import HeadSpec, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, size, switch
from weighbridge.core.length import Stream, per_batch
from weighbridge.core.parts import attend, embedding, layer_norm, linear, matmul, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor


def has_embedding_norm(value: object) -> bool:
    """Read whether the relative embeddings are normed."""
    return isinstance(value, str) and "layer_norm" in [name.strip() for name in value.lower().split("|")]


FIELDS = (
    *(field for field in fields(vocab=128100, hidden=1536, mlp=6144, layers=24, heads=24) if field.word != "head_dim"),
    size("head_dim", "attention_head_size", lambda c: exact(c.hidden, c.heads), "D", "head dimension"),
    size("buckets", "position_buckets", -1, "B", "relative position buckets, each way", minimum=-1),
    computed("bucketed", lambda c: c.buckets > 0),
    switch("shared", "share_att_key", False),
    choice("normed", "norm_rel_ebd", "none", read=has_embedding_norm),
    size("kernel", "conv_kernel_size", 0, "K", "kernel size of the convolution", minimum=0),
    computed("convolved", lambda c: c.kernel > 0),
    size("conv_groups", "conv_groups", 1, "G", "groups of the convolution"),
)


def span(c: Config) -> Size:
    """Return how many embeddings of relative positions there are, each way."""
    found: Size = c.buckets if c.bucketed else reach(c)
    return found


def deberta_v2(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder."""
    return (embeddings(c), layers(c))


def layers(c: Config, tokens: Stream = "seq") -> Part:
    """Describe the layers over *tokens*, and what stands after them; the convolution works once, after the first layer."""
    H = c.hidden
    attention = part("attention", disentangled_attention(c, tokens), output_block(H, H), kind="self_attention")
    layer = part("layer", attention, *feed_forward(c), kind="layer", repeat=c.layers)
    table = (embedding("rel_embeddings", 2 * span(c), H),) if c.relative else ()
    norm = (layer_norm("LayerNorm", H, stream=per_batch(2 * span(c))),) if c.normed else ()
    return encoder_stack(layer, *table, *norm, *((convolution(c),) if c.convolved else ()))


def disentangled_attention(c: Config, tokens: Stream) -> Part:
    """Describe attention, and its products with the embeddings of relative positions, which are mapped once for all examples."""
    H, A, d, positions = c.hidden, c.heads, c.head_dim, 2 * span(c)
    wide = A * d
    nodes: list[Node] = [linear("query_proj", H, wide), linear("key_proj", H, wide), linear("value_proj", H, wide)]
    if c.relative and c.shared:
        nodes += [part("", matmul("map_positions", (2, positions, H, wide)), kind="attention", stream=per_batch(tokens))]
    for kind, name in (("c2p", "pos_key_proj"), ("p2c", "pos_query_proj")):
        if c.relative and kind in c.kinds:
            nodes += [] if c.shared else [linear(name, H, wide, stream=per_batch(positions))]
            nodes += [matmul(f"{kind}_scores", (A, tokens, positions, d))]
    return part("self", *nodes, attend(heads=A, head_dim=d), kind="attention")


def convolution(c: Config) -> Part:
    """Describe the convolution over neighbouring tokens."""
    H = c.hidden
    kernel = part("conv", Tensor("weight", (H, exact(H, c.conv_groups), c.kernel)), Tensor("bias", (H,), "bias"), kind="convolution")
    return part("conv", kernel, layer_norm("LayerNorm", H), kind="convolution")


FAMILIES = {
    "deberta-v2": Family(
        "deberta-v2",
        FIELDS,
        with_heads("DebertaV2", "deberta", deberta_v2, {**HEADS, "ForMultipleChoice": HeadSpec(multiple_choice)}),
        "DebertaV2Model",
        ignored_keys=IGNORED_KEYS | {"conv_act"},
    )
}
