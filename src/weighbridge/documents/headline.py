"""The first line of every answer about one model."""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weighbridge.value import ModelValue


def headline(model: ModelValue, say: Callable[[str], str] = str) -> str:
    """Return class, source and main sizes in one line."""
    pieces = [model.class_name, model.source]
    if model.description is not None:
        pieces.append(main_sizes(vars(model.description.sizes), say))
    return " · ".join(piece for piece in pieces if piece)


def main_sizes(sizes: Mapping[str, object], say: Callable[[str], str] = str) -> str:
    """Return layers, hidden size and heads in words, as far as there are any.

    >>> main_sizes({"layers": 1, "hidden": 512})
    '1 layer, hidden 512'
    """
    layers = say("1 layer") if sizes.get("layers") == 1 else say("{} layers")
    heads = say("1 head") if sizes.get("heads") == 1 else say("{} heads")
    known = [("layers", layers), ("hidden", say("hidden {}")), ("heads", heads)]
    return say(", ").join(form.format(sizes[word]) for word, form in known if isinstance(sizes.get(word), int))
