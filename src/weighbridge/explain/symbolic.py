"""The same model with symbols in place of its sizes: what formulas and derivations are made from."""

from __future__ import annotations

from weighbridge.config.bind import bind
from weighbridge.config.fields import Config
from weighbridge.config.symbols import symbols
from weighbridge.core.errors import UsageError
from weighbridge.core.formula import Symbol
from weighbridge.core.messages import Text
from weighbridge.core.tree import Part
from weighbridge.value import ModelValue


def symbolic(model: ModelValue) -> tuple[Part, dict[str, Symbol], dict[str, int]]:
    """Return the tree with symbols for sizes, the symbols by letter, and their values.

    Raises:
        UsageError: The model was not made from a config.

    >>> from weighbridge import model
    >>> symbolic(model("bert-base-uncased"))[2]["H"]
    768
    """
    if model.description is None:
        raise UsageError(Text("{source}: a formula needs a config; a file's header has only numbers", source=model.source))
    known, raw, sizes = model.description
    lettered = symbols(known.fields, raw, sizes)
    bound = bind(known.fields, {**raw, **lettered}, like=sizes)
    table, values = _letters(bound, sizes)
    return known.classes[model.class_name](bound), table, values


def _letters(bound: Config, sizes: Config) -> tuple[dict[str, Symbol], dict[str, int]]:
    table: dict[str, Symbol] = {}
    values: dict[str, int] = {}
    for word, value in vars(bound).items():
        if isinstance(value, Config):
            inner, numbers = _letters(value, getattr(sizes, word))
            table |= inner
            values |= numbers
        elif isinstance(value, Symbol):
            table[value.letter] = value
            values[value.letter] = getattr(sizes, word)
    return table, values


def values_of(model: ModelValue, sizes: Config) -> dict[str, int]:
    """Return what each letter of *model* stands for in another config of its type."""
    if model.description is None:
        return {}
    known, raw, own = model.description
    return _letters(bind(known.fields, {**raw, **symbols(known.fields, raw, own)}, like=own), sizes)[1]
