"""UDOP: T5 that reads words, their places on a page and its picture, and writes text.

Source: Tang et al. 2022, arXiv 2212.02623; names as in transformers 5.23.0, models/udop/modeling_udop.py. The whole family shares one
embedding table, whatever ``tie_word_embeddings`` says.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.seq2seq import t5
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, sequence, sides, size, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, linear, part
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

BIASES = ("1d", "horizontal", "vertical")


def buckets(value: Any) -> list[int]:
    """Read how many buckets of distance each of the page's biases has; a prefix adds two, unless they come later.

    >>> buckets([{"type": "1d"}, {"type": "vertical", "relative_attention_num_buckets": 8, "prefix_bucket": True}])
    [32, 10]
    """
    found = []
    for entry in value:
        many = entry.get("relative_attention_num_buckets", 32)
        if entry.get("type") not in BIASES or type(many) is not int or many < 1:
            raise ConfigError(
                Text("expected a type (1d, horizontal or vertical) for each, found {value!r:.60}", value=entry), key="relative_bias_args"
            )
        found.append(many + (2 if entry.get("prefix_bucket") and not entry.get("expand") else 0))
    return found


FIELDS = (
    *variant(tuple(field for field in t5.fields(33201, 4096, 24, 16, "relu") if field.word != "labels"), hidden=1024, head_dim=t5.WIDTH),
    size("places", "max_2d_position_embeddings", 1024, "S", "positions along a side of the page"),
    *sides("image", "image_size", 224, "R", "image size"),
    *sides("patch", "patch_size", 16, "P", "patch size"),
    CHANNELS,
    sequence("biases", "relative_bias_args", [{"type": name} for name in BIASES], read=buckets),
)
OWNER = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
UNCOVERED = unknown("which patches go with which words depends on where the words are on the page")


def patches(c: Config, name: str, owner: str = "") -> Part:
    """Describe the map of an image's patches, which may be that of *owner*."""
    shape = (c.hidden, c.channels, c.patch_height, c.patch_width)
    weight = Tensor("weight", shape, "weight", f"{owner}.proj.weight" if owner else None)
    bias = Tensor("bias", (c.hidden,), "bias", f"{owner}.proj.bias" if owner else None)
    return part(name, part("proj", weight, bias, kind="convolution"), kind="embeddings", stream=UNCOVERED, requires="images")


def page(c: Config, *, decoder: bool, owner: str | None) -> tuple[Part, ...]:
    """Describe the tables of places on the page, and the biases of distances on it, of which *owner* may have the first."""
    tables = embedding("x_position_embeddings", c.places, c.hidden), embedding("y_position_embeddings", c.places, c.hidden)
    cells = () if decoder else (part("cell_2d_embedding", *tables, kind="embeddings"),)
    biases = []
    for index, many in enumerate(c.biases):
        shared = owner if index == 0 else None
        table = embedding("relative_attention_bias", c.buckets if shared else many, c.heads, tied_to=shared)
        biases.append(part(str(index), table, kind="embeddings"))
    return *cells, part("relative_bias", part("biases", *biases), kind="embeddings")


def stack(c: Config, *, decoder: bool, whole: bool = True, owner: str | None = None) -> tuple[Node, ...]:
    """Describe one side; as a part of the *whole* it has its tables from there."""
    tokens = embedding("embed_tokens", c.vocab, c.hidden, tied_to="shared.weight" if whole else None)
    layers = c.decoder_layers if decoder and whole else c.layers
    inner = t5.stack(c, layers, decoder=decoder, memory="seq" if decoder and whole else None)
    return (
        tokens,
        patches(c, "embed_patches", "patch_embed" if whole and not decoder else ""),
        *inner,
        *page(c, decoder=decoder, owner=owner),
    )


def sides_of(c: Config, *, decoder: bool = True, owner: str | None = None) -> tuple[Part, ...]:
    """Describe the shared tables, the encoder and, unless left out, the decoder."""
    shared = embedding("shared", c.vocab, c.hidden), patches(c, "patch_embed")
    writer = (part("decoder", *stack(c, decoder=True, owner=owner), kind="decoder", stream="decoder"),) if decoder else ()
    return *shared, part("encoder", *stack(c, decoder=False, owner=owner), kind="encoder"), *writer


def generation(c: Config) -> Part:
    """Describe UdopForConditionalGeneration: the words again, and one bias of distance for both sides."""
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to="shared.weight", stream="decoder")
    return part("", *sides_of(c, owner=OWNER), head, kind="model")


CLASSES = {
    "UdopModel": lambda c: part("", *sides_of(c), kind="model"),
    "UdopStack": lambda c: part("", *stack(c, decoder=c.decoder, whole=False), kind="model"),
    "UdopForConditionalGeneration": generation,
    "UdopEncoderModel": lambda c: part("", *sides_of(c, decoder=False, owner=OWNER), kind="model"),
}
FAMILIES = {"udop": Family("udop", FIELDS, CLASSES, "UdopModel", t5.IGNORED_KEYS)}
