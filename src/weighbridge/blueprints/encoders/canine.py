"""CANINE: an encoder of characters, which are hashed and not looked up, and shortened for the deep layers (Clark et al., 2021).

Source: arXiv 2103.06874; class and tensor names as in transformers 5.23.0, models/canine/modeling_canine.py. ``seq`` counts characters;
the first layer sees blocks of them, the deep ones a molecule for every few.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.bert_family import BERT_TASKS, POOLED, Worn, bert_fields, bert_layer, dressed, pooler
from weighbridge.config.family import Family
from weighbridge.config.fields import Sizes, fact, size, variant
from weighbridge.core.parts import attend, embedding, layer_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Op, Part, Span, Stream, Tensor, Together

FIELDS = (
    *(field for field in variant(bert_fields(types=16), tied=fact("tied", False)) if field.word not in ("vocab", "positions")),
    size("rate", "downsampling_rate", 4, "R", "characters in a molecule"),
    size("kernel", "upsampling_kernel_size", 4, "K", "kernel of the convolution back to characters"),
    size("hashes", "num_hash_functions", 8, "N", "hash functions"),
    size("buckets", "num_hash_buckets", 16384, "B", "hash buckets"),
    size("block", "local_transformer_stride", 128, "W", "characters in a block"),
    fact("crossed", False),
    POOLED,
)
NEUTRAL = frozenset({"max_position_embeddings"})


def characters(c: Sizes) -> Part:
    """Describe the embeddings: a slice of each character from every hash function, and positions by their hash."""
    H = c.hidden
    return Part("char_embeddings", (
        embedding("HashBucketCodepointEmbedder_", c.buckets, exact(H, c.hashes))._replace(repeat=c.hashes),
        embedding("char_position_embeddings", c.buckets, H),
        embedding("token_type_embeddings", c.types, H),
        layer_norm("LayerNorm", H),
    ), "embeddings")  # fmt: skip


def convolution(c: Sizes, name: str, inputs: Size, kernel: Size, stream: Stream) -> Part:
    """Describe a convolution to the hidden size and its norm."""
    conv = Part("conv", (Tensor("weight", (c.hidden, inputs, kernel), "weight"), Tensor("bias", (c.hidden,), "bias")), "convolution")
    return Part(name, (conv, layer_norm("LayerNorm", c.hidden)), "convolution", stream=stream)


def local(c: Sizes, part: Part) -> Part:
    """Let the attention in *part* see whole blocks, and in the last block what is left."""
    whole = Span("seq", over=c.block)
    left = Together(("seq", Span(whole, times=-1 * c.block)))
    blocks = (
        attend(heads=c.heads, head_dim=c.head_dim, queries=c.block, keys=c.block, groups=whole),
        attend(heads=c.heads, head_dim=c.head_dim, queries=left, keys=left),
    )
    children = tuple(local(c, node) if isinstance(node, Part) else node for node in part.children)
    if not isinstance(children[-1], Op):
        return part._replace(children=children)
    return part._replace(children=(*children[:-1], *blocks))


def canine(c: Sizes, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe a layer over blocks of characters, the deep layers over molecules, and a layer over characters again."""
    one = bert_layer(c)._replace(repeat=1)
    molecules = Span("seq", over=c.rate)
    return (
        characters(c),
        Part("initial_char_encoder", (local(c, one),), "encoder"),
        convolution(c, "chars_to_molecules", c.hidden, c.rate, molecules),
        Part("encoder", (bert_layer(c),), "encoder", stream=molecules),
        convolution(c, "projection", 2 * c.hidden, c.kernel, "seq"),
        Part("final_char_encoder", (one,), "encoder"),
        *((pooler(c),) if pooled else ()),
    )


HEADS = {name: Worn(worn.head, True) for name, worn in BERT_TASKS.items()}

FAMILIES = {"canine": Family("canine", FIELDS, dressed("Canine", "canine", canine, HEADS), "CanineModel", NEUTRAL)}
