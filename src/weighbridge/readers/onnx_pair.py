"""An encoder and a decoder exported as two ONNX files, which may both hold the shared embedding.

Whether two tensors of one name are the same cannot be told without reading them: both count, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from pathlib import Path

from weighbridge.core.messages import Text
from weighbridge.readers.listing import Listing, StoredTensor
from weighbridge.readers.onnx_roles import MODULES, modules_in

SIDES = "sides"
"""Under this the metadata says how the names of each file begin, if several were put together."""

_NAME = re.compile(r"(encoder|decoder)(_model)?\.onnx")


def encoder_and_decoder(folder: Path) -> tuple[Path, Path] | None:
    """Return the two files of a directory that hold an encoder and a decoder, if there is one of each and no other ONNX file.

    Without past states and merged: ``decoder_with_past_model.onnx`` repeats the decoder, so it makes the answer None.
    """
    names = sorted(path.name for path in folder.iterdir() if path.name.endswith(".onnx"))
    if len(names) != 2 or not all(map(_NAME.fullmatch, names)) or not (names[0][0] == "d" and names[1][0] == "e"):
        return None
    return folder / names[1], folder / names[0]


def join_listings(encoder: Listing, decoder: Listing) -> Listing:
    """Put the two listings together, each under its own name; what stands in both is reported.

    >>> one = Listing("onnx", (StoredTensor("shared.weight", "F32", (8, 4), 128),))
    >>> join_listings(one, one).notes
    ('shared.weight in the encoder and shared.weight in the decoder may be one, stored twice; both are counted, 32 elements each',)
    """
    tensors = [_with_prefix("encoder", tensor) for tensor in encoder.tensors] + [
        _with_prefix("decoder", tensor) for tensor in decoder.tensors
    ]
    notes = dict.fromkeys((*encoder.notes, *decoder.notes))
    notes |= dict.fromkeys(_possible_copies(encoder, decoder))
    modules = {
        f"{side}.{name}": f"{side}.{module}"
        for side, listing in (("encoder", encoder), ("decoder", decoder))
        for name, module in modules_in(listing).items()
    }
    metadata = {**decoder.metadata, **encoder.metadata, MODULES: modules, SIDES: ("encoder.", "decoder.")}
    return Listing("onnx", tuple(tensors), metadata, tuple(notes))


def _possible_copies(encoder: Listing, decoder: Listing) -> Iterator[str]:
    """Say which tensors may be in both files: equal names, or embeddings of equal shape and type."""
    named = {(tensor.name, tensor.shape, tensor.dtype): tensor for tensor in decoder.tensors}
    pairs = [(one, named[key]) for one in encoder.tensors if (key := (one.name, one.shape, one.dtype)) in named and one.role != "buffer"]
    first, second = _table(encoder), _table(decoder)
    if first and second and first.name != second.name and (first.shape, first.dtype) == (second.shape, second.dtype):
        pairs.append((first, second))
    for one, other in pairs:
        if len(one.shape) > 1:
            yield Text(
                "{one} in the encoder and {other} in the decoder may be one, stored twice; both are counted, {elements:,} elements each",
                one=one.name,
                other=other.name,
                elements=prod(one.shape),
            )


def _table(listing: Listing) -> StoredTensor | None:
    """Return the largest embedding, which is the word embedding."""
    tables = [tensor for tensor in listing.tensors if tensor.role == "embedding"]
    return max(tables, key=lambda tensor: prod(tensor.shape), default=None)


def _with_prefix(side: str, tensor: StoredTensor) -> StoredTensor:
    return tensor._replace(name=f"{side}.{tensor.name}", tied_to=tensor.tied_to and f"{side}.{tensor.tied_to}")
