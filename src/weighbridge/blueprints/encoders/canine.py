"""CANINE: a character encoder with hashed embeddings, downsampled before its deep layers (Clark et al., 2021).

Source: arXiv 2103.06874; class and tensor names as in transformers 5.23.0, models/canine/modeling_canine.py. ``seq`` counts characters;
the first layer sees blocks of them, the deep ones a molecule for every few.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.encoders.bert import layer as bert_layer
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, HeadSpec, bert_fields, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, size, variant
from weighbridge.core.length import Stream, length, sum_of
from weighbridge.core.parts import attend, embedding, layer_norm, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Operation, Part, Tensor

FIELDS = (
    *(field for field in variant(bert_fields(types=16), tied=constant("tied", False)) if field.word not in ("vocab", "positions")),
    size("rate", "downsampling_rate", 4, "R", "characters in a molecule"),
    size("kernel", "upsampling_kernel_size", 4, "K", "kernel size of the convolution back to characters"),
    size("hashes", "num_hash_functions", 8, "N", "hash functions"),
    size("buckets", "num_hash_buckets", 16384, "B", "hash buckets"),
    size("block", "local_transformer_stride", 128, "W", "characters in a block"),
    constant("crossed", False),
    POOLED,
)
IGNORED_KEYS = frozenset({"max_position_embeddings"})


def characters(c: Config) -> Part:
    """Describe the embeddings: a slice of each character from every hash function, and positions by their hash."""
    H = c.hidden
    return part(
        "char_embeddings",
        embedding("HashBucketCodepointEmbedder_", c.buckets, H // c.hashes, repeat=c.hashes),
        embedding("char_position_embeddings", c.buckets, H),
        embedding("token_type_embeddings", c.types, H),
        layer_norm("LayerNorm", H),
        kind="embeddings",
    )


def convolution(c: Config, name: str, inputs: Size, kernel: Size, stream: Stream) -> Part:
    """Describe a convolution to the hidden size and its norm."""
    conv = part("conv", Tensor("weight", (c.hidden, inputs, kernel), "weight"), Tensor("bias", (c.hidden,), "bias"), kind="convolution")
    return part(name, conv, layer_norm("LayerNorm", c.hidden), kind="convolution", stream=stream)


def attend_locally(c: Config, module: Part) -> Part:
    """Let the attention in *part* see whole blocks, and in the last block what is left."""
    whole = length("seq") // c.block
    left = sum_of("seq", length(whole) * (-1 * c.block))
    blocks = (
        attend(heads=c.heads, head_dim=c.head_dim, queries=c.block, keys=c.block, groups=whole),
        attend(heads=c.heads, head_dim=c.head_dim, queries=left, keys=left),
    )
    children = tuple(attend_locally(c, node) if isinstance(node, Part) else node for node in module.children)
    if not isinstance(children[-1], Operation):
        return replace(module, children=children)
    return replace(module, children=(*children[:-1], *blocks))


def canine(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe a layer over blocks of characters, the deep layers over molecules, and a layer over characters again."""
    one = replace(bert_layer(c), repeat=1)
    molecules = length("seq") // c.rate
    return (
        characters(c),
        part("initial_char_encoder", attend_locally(c, one), kind="encoder"),
        convolution(c, "chars_to_molecules", c.hidden, c.rate, molecules),
        part("encoder", bert_layer(c), kind="encoder", stream=molecules),
        convolution(c, "projection", 2 * c.hidden, c.kernel, "seq"),
        part("final_char_encoder", one, kind="encoder"),
        *((pooler(c),) if pooled else ()),
    )


HEADS = {name: HeadSpec(worn.head, True) for name, worn in BERT_TASKS.items()}

FAMILIES = {"canine": Family("canine", FIELDS, with_heads("Canine", "canine", canine, HEADS), "CanineModel", IGNORED_KEYS)}
