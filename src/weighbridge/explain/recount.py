"""What a config has with other sizes: counted, not read off a formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weighbridge.accounts.parameters import tally
from weighbridge.blueprints.describe import with_sizes
from weighbridge.config.symbols import bind_symbols
from weighbridge.core.errors import ConfigError
from weighbridge.core.formula import Symbol
from weighbridge.core.sizes import UndecidedError, as_int
from weighbridge.explain.sensitivity import Recount, Recounter
from weighbridge.explain.symbolic import letters

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def recounter(model: ModelValue, table: Mapping[str, Symbol], several: bool) -> Recounter | None:
    """Return what counts *model* with other sizes, as ``--set`` does; None for a checkpoint.

    Where a list in the config says the kind of each layer, one more layer makes no model: with *several* kinds nothing is said of it,
    with one kind what the formula has told holds. So it does for the sizes of a sub-config that the config leaves out.

    >>> from weighbridge import model
    >>> from weighbridge.explain.symbolic import symbolic
    >>> jamba = model("jamba-v0.1")
    >>> recounter(jamba, symbolic(jamba)[1], True)({"num_hidden_layers": 33}, 0).more
    281477408
    """
    if model.description is None:
        return None
    description = model.description
    known, raw, sizes = description
    lettered = bind_symbols(known.fields, raw, sizes)
    before = letters(lettered, sizes)[1]
    unique = tally(model.tree).unique
    layers = set() if several else {symbol.key for symbol in table.values() if symbol.word.endswith("layers")}

    def recount(changed: Mapping[str, int], told: int) -> Recount | None:
        if not all(is_written(raw, key) for key in changed):
            return Recount(told)
        try:
            tree, config = with_sizes(description, model.class_name, changed)
            more = as_int(tally(tree).unique - unique)
        except (ConfigError, UndecidedError, AssertionError, TypeError, ValueError, LookupError, ArithmeticError):
            return Recount(told) if layers.issuperset(changed) else None
        after = letters(lettered, config)[1]
        moved = (symbol.key for letter, symbol in table.items() if after.get(letter) != before.get(letter) and symbol.key not in changed)
        return Recount(more, tuple(moved))

    return recount


def is_written(raw: Mapping[str, Any], key: str) -> bool:
    """Tell whether a config has the sub-config in which a dotted key stands.

    >>> is_written({"text_config": {}}, "text_config.hidden_size"), is_written({}, "text_config.hidden_size")
    (True, False)
    """
    *parents, _ = key.split(".")
    for parent in parents:
        inner = raw.get(parent)
        if not isinstance(inner, Mapping):
            return False
        raw = inner
    return True
