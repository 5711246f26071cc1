"""A GGUF file's model in the reference library's terms: the config from its metadata, and the tensor names.

llama.cpp has names and keys of its own for every architecture (``readers.gguf_architectures``). Its converters permute some matrices,
transpose some, and put some together; none of that changes a count.

Source: ggml-org/llama.cpp, gguf-py/gguf/constants.py (keys, architectures), convert_hf_to_gguf.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.gguf import SkippedValue
from weighbridge.readers.gguf_architectures import VARIANTS, Architecture
from weighbridge.readers.gguf_table import KNOWN, UNJUDGED, explain_no_description
from weighbridge.readers.listing import Listing

ROWS = {"token_types.weight": "type_vocab_size", "per_layer_token_embd.weight": "vocab_size_per_layer_input"}
"""Tables whose rows the metadata does not state, and the config's key."""

LAYER = r"(\d+)"


def architecture_of(listing: Listing) -> Architecture | None:
    """Return what is known of a file's architecture, or None if it is no GGUF file, or of one that is not in the table."""
    if listing.format != "gguf":
        return None
    name = listing.metadata.get("general.architecture")
    if not isinstance(name, str):
        return None
    names = {tensor.name for tensor in listing.tensors}
    variants = (variant for variant, holds in VARIANTS.get(name, ()) if holds(listing.metadata, names))
    return KNOWN.get(next(variants, name))


def config_of(listing: Listing) -> dict[str, Any]:
    """Return the config that a GGUF file's metadata describes, with the reference library's keys.

    What the metadata leaves open is taken from the tensors: whether linear layers have biases, and whether there is an output matrix.

    Raises:
        ReadError: An architecture that is not in the table, or a layer unlike the others.
    """
    name = listing.metadata.get("general.architecture")
    known = architecture_of(listing)
    if known is None:
        if isinstance(name, str) and name in UNJUDGED:
            raise ReadError(explain_no_description(name))
        why = Text(
            "the architecture {name!r:.60} is not described; its tensors are counted, and a config named beside the file verifies them",
            name=name,
        )
        raise ReadError(why)
    names = {tensor.name: tensor.shape for tensor in listing.tensors}
    config: dict[str, Any] = {"model_type": known.model_type, "architectures": [known.class_name], **dict(known.stated)}
    for key, field in known.fields.items():
        value = listing.metadata.get(f"{name}.{key}")
        if value is not None:
            config[field] = _shared_value(f"{name}.{key}", value)
    config["vocab_size"] = _vocabulary(listing, f"{name}.vocab_size")
    padding = listing.metadata.get("tokenizer.ggml.padding_token_id")
    # The class's default may lie beyond the vocabulary of a file that names no padding token; no count depends on which row it is.
    config["pad_token_id"] = padding if type(padding) is int and padding < config["vocab_size"] else 0
    config |= {field: names[table][0] for table, field in ROWS.items() if names.get(table)}
    if known.ties:
        config["tie_word_embeddings"] = "output.weight" not in names
    config |= {key: f"blk.0.{bias}" in names for key, bias in known.biased}
    return config if known.settled is None else {**config, **known.settled(_metadata(listing), names)}


def _metadata(listing: Listing) -> dict[str, Any]:
    """Return the metadata behind the architecture's name."""
    name = f"{listing.metadata.get('general.architecture')}."
    return {key.removeprefix(name): value for key, value in listing.metadata.items() if key.startswith(name)}


def _shared_value(key: str, value: object) -> object:
    """Return a value; of a per-layer list, the value that all layers share."""
    if isinstance(value, tuple) and len(set(value)) == 1:
        return value[0]
    if isinstance(value, tuple | SkippedValue):
        raise ReadError(Text("{key} differs from layer to layer; name a config beside the file", key=key))
    return value


def _vocabulary(listing: Listing, key: str) -> object:
    stated = listing.metadata.get(key)
    tokens = listing.metadata.get("tokenizer.ggml.tokens")
    if stated is None and isinstance(tokens, SkippedValue):
        return tokens.length
    if stated is None:
        stated = next((tensor.shape[0] for tensor in listing.tensors if tensor.name == "token_embd.weight" and tensor.shape), None)
    if stated is None:
        raise ReadError(Text("neither {key} nor tokens nor token_embd.weight tells the size of its vocabulary", key=key))
    return stated


def steps_of(listing: Listing) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the renaming rules from a file's names to the reference's: patterns and replacements (several, if a tensor is fused).

    >>> steps_of(Listing("gguf", (), {"general.architecture": "gpt2"}))[0]
    ('(^|\\\\.)token_embd(?=\\\\.|$)', ('\\\\1transformer.wte',))
    """
    known = architecture_of(listing)
    return () if known is None else _steps(known, _metadata(listing))


def metadata_suffixes(listing: Listing) -> tuple[str, ...]:
    """Return the name suffixes of parameters that a file keeps in its metadata instead of its tensors."""
    known = architecture_of(listing)
    return () if known is None else known.in_metadata


def omitted_tensors(listing: Listing) -> tuple[str, ...]:
    """Return the name prefixes or suffixes of parameters that the converter omits."""
    known = architecture_of(listing)
    return () if known is None else known.left_out


def extra_tensors(listing: Listing) -> tuple[str, ...]:
    """Return the names, as patterns, of tensors that the converter adds to a file."""
    known = architecture_of(listing)
    return () if known is None else tuple(_name_pattern(name) for name in known.added)


def steps_for_names(names: Iterable[str]) -> Iterator[tuple[tuple[str, tuple[str, ...]], ...]]:
    """Yield the renaming rules of every architecture if *names* look like a GGUF file's, where no metadata is at hand.

    >>> 40 < len(list(steps_for_names(["blk.0.attn_q.weight"]))) < len(KNOWN)
    True
    """
    if any(name.startswith(("blk.", "enc.blk.", "dec.blk.")) for name in names):
        yield from dict.fromkeys(_steps(known, {}) for known in KNOWN.values())


def _steps(known: Architecture, stated: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    apart = known.apart(stated)
    several = ((_name_pattern(name), targets) for name, targets in apart.items())
    return (*several, *(_step(piece, name) for piece, name in known.names.items()))


def _name_pattern(name: str) -> str:
    """Return a pattern of a whole name, in which a star is a layer's number."""
    return f"^{name.replace('.', '[.]').replace('*', LAYER)}$"


def _step(piece: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Return a renaming of a piece of a name; of one with a star, which begins the name, the layer's number goes into the new one."""
    pattern = piece.replace(".", r"\.").replace("*", LAYER)
    if "*" in piece:
        return rf"^{pattern}(?=\.|$)", (name.replace("*", r"\1"),)
    return rf"(^|\.){pattern}(?=\.|$)", (rf"\1{name}",)
