"""The count of a model as a document: total, tree, shares, notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from weighbridge.accounts.parameters import Tally, count, tally_and_ledger, tally_of
from weighbridge.conventions.loading import OLDER, RELEASE, loading_of
from weighbridge.conventions.quantized_counts import quantizer_name, stated_quantizer
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import translator
from weighbridge.core.sizes import Size
from weighbridge.core.tree import walk
from weighbridge.documents.count_json import as_json
from weighbridge.documents.document import Document
from weighbridge.documents.document import notes as noted
from weighbridge.documents.headline import headline
from weighbridge.documents.human import quantity, size
from weighbridge.documents.tree_rows import all_tensors, tree_table

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

__all__ = ["as_json", "document", "in_short", "notes"]


def document(model: ModelValue, *, depth: int | None = None, total: bool = False, lang: str = "en") -> Document:
    """Return the document of ``weigh count``: the rows of each level add up to the row above them.

    Inside a repeated part counts are of one copy, and say so; with *total* they are of all copies.
    """
    say = translator(lang)
    tally, book = tally_and_ledger(model)
    figure = say("{total} parameters").format(total=f"{book.amount:,}")
    return Document(
        headline(model, say),
        figure,
        (tree_table(book, all_tensors, depth, say, total=total), *noted([in_short(model, lang, tally), *notes(model, say, tally)])),
        lang,
    )


def in_short(model: ModelValue, lang: str = "en", counted: Tally | None = None) -> str:
    """Say the count rounded, and its bytes in float32 and bfloat16.

    >>> from weighbridge import model
    >>> in_short(model("bert-base-uncased"))
    '109.5 M parameters; 438 MB in float32, 219 MB in bfloat16.'
    """
    unique = (counted or tally_of(model)).unique
    assert isinstance(unique, int)
    say = translator(lang)
    sentence = say("{count} parameters; {float32} in float32, {bfloat16} in bfloat16.")
    return sentence.format(count=quantity(unique, lang), float32=size(4 * unique), bfloat16=size(2 * unique))


def notes(model: ModelValue, say: Callable[[str], str] = str, counted: Tally | None = None) -> Iterator[str]:
    """Yield what one should know about a count: convention, buffers, defaults, unknown fields."""
    tally = counted or tally_of(model)
    numbers = {name: f"{getattr(tally, name):,}" for name in ("buffers", "duplicated", "active", "trainable")}
    if tally.buffers:
        yield say("{buffers} elements are saved as buffers; they are not parameters.").format(**numbers)
    if tally.duplicated != tally.unique:
        yield say("Tied tensors are counted once; counted under every name they are {duplicated}.").format(**numbers)
    if tally.active != tally.unique:
        yield say("Active per token, with the chosen experts only: {active}.").format(**numbers)
    for _, part in walk(model.tree):
        if type(part.active) is int and type(part.experts) is int and part.active > part.experts:
            line = say("{active} experts are to be chosen of {experts}: the class builds, but its forward pass fails.")
            yield line.format(active=part.active, experts=part.experts)
            break
    if tally.trainable != tally.unique:
        yield say("Trainable: {trainable}; the rest is frozen.").format(**numbers)
    if model.stored is not None and model.stored != tally.stored:
        yield say("Elements stored in the file: {stored}.").format(stored=f"{model.stored:,}")
    yield from _loading_notes(model, say, tally.unique)
    yield from map(say, model.notes)
    defaulted = model.defaulted
    if defaulted:
        yield say("Taken from the class defaults: {keys}.").format(keys=", ".join(defaulted))
    if model.unknown:
        yield say("Unknown fields, ignored: {keys}.").format(keys=", ".join(model.unknown))
    siblings = list(_siblings(model, tally.unique))
    if siblings:
        others = say(", ").join(say("{name} has {count}").format(name=name, count=f"{count:,}") for name, count in siblings)
        if model.source == "config":  # an object in Python, or a text pasted: there is no name that a command could take
            yield say("This is {name}. {others}.").format(name=model.class_name, others=others)
            return
        line = say("This is {name}. {others}; see weigh counts {source}")
        # What came in on standard input has to be given again.
        yield line.format(name=model.class_name, others=others, source="-" if model.source == "standard input" else model.source)


def _loading_notes(model: ModelValue, say: Callable[[str], str], unique: Size) -> Iterator[str]:
    """Say what loading the published file, or an older release, makes of the class, where it is another number."""
    found = loading_of(model, unique)
    if found is None or not (found.differs or found.quantizer is None):
        return
    method = quantizer_name(stated_quantizer(model) or {})[:40]
    if found.quantizer is None:
        line = say(
            "Loaded with its quantization_config ({method}), packed words and scales stand in place of matrices, and numel() counts those; here every matrix counts its parameters."
        )
        yield line.format(method=method)
    if not found.differs:
        return
    built, older = f"{found.built:,}", f"{found.older:,}"
    if found.quantizer and method == "fp8":
        line = say("As loaded with its quantization_config (fp8): {loaded}, with {scales} scales; as built {built}.")
        yield line.format(loaded=f"{found.loaded:,}", scales=f"{found.quantizer:,}", built=built)
    elif found.quantizer and method in ("gptq", "awq"):
        line = say(
            "As loaded with its quantization_config ({method}): {loaded} parameters; those of the replaced modules ({packed}) are packed into buffers. As built {built}."
        )
        yield line.format(method=method, loaded=f"{found.loaded:,}", packed=f"{-found.quantizer:,}", built=built)
    elif found.quantizer:
        line = say(
            "As loaded with its quantization_config ({method}): {loaded} elements (a packed one holds several values); as built {built}."
        )
        yield line.format(method=f"{method}, 4 bits" if method == "bitsandbytes" else method, loaded=f"{found.loaded:,}", built=built)
    if found.separate:
        line = say("As loaded from its published file: {loaded}, with {tensors} of its own; as built {built}.")
        yield line.format(loaded=f"{found.loaded:,}", tensors=say(", ").join(found.separate), built=built)
        yield say(
            "The config says tie_word_embeddings: false; transformers {release} ties all the same when it builds, and unties what differs when it loads."
        ).format(release=RELEASE)
    if found.older != found.built:
        yield say("As transformers {release} builds it: {older}.").format(release=OLDER, older=older)


def _siblings(model: ModelValue, unique: Size) -> Iterator[tuple[str, Size]]:
    """Yield up to two other classes of the same config whose counts differ."""
    if model.description is None:
        return
    known, _, sizes = model.description
    seen = {unique}
    for name, blueprint in known.classes.items():
        try:
            other = count(blueprint(sizes))
        except ConfigError:
            continue  # a class that this config does not make
        if other not in seen and len(seen) < 3:
            seen.add(other)
            yield name, other
