"""The same model with symbols in place of its sizes: what formulas and derivations are made from."""

from __future__ import annotations

from weighbridge.config.fields import Config
from weighbridge.config.symbols import bind_symbols
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
    bound = bind_symbols(known.fields, raw, sizes)
    return known.classes[model.class_name](bound), *letters(bound, sizes)


def letters(lettered: Config, sizes: Config) -> tuple[dict[str, Symbol], dict[str, int]]:
    """Return the symbols of a config that was bound with them, by letter, and what each stands for in *sizes*.

    >>> letters(Config(hidden=Symbol("H"), eps=1e-6), Config(hidden=768, eps=1e-6))[1]
    {'H': 768}
    """
    table: dict[str, Symbol] = {}
    values: dict[str, int] = {}
    for word, value in vars(lettered).items():
        if isinstance(value, Config):
            inner, numbers = letters(value, getattr(sizes, word))
            table |= inner
            values |= numbers
        elif isinstance(value, Symbol):
            table[value.letter] = value
            values[value.letter] = getattr(sizes, word)
    return table, values
