"""A model type as its blueprint file declares it: fields, classes, and other names of its tensors."""

from __future__ import annotations

from weighbridge.config.fields import Config, Field
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.interfaces import Callable
from weighbridge.core.tree import Part, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeAlias

Blueprint: TypeAlias = Callable[[Config], Part]
"""An architecture as a function of what its config says."""


class Family(NamedTuple):
    """One model type: its fields, its classes, and the class its name stands for.

    Attributes:
        model_type: As in ``config.json``.
        fields: The table of fields, in the order in which symbols are to be sorted.
        classes: For each class of the reference library, the blueprint that describes it.
        base: The class meant when nothing names one.
        ignored_keys: Further keys of this type that change no tensor.
        renames: Other sets of tensor names (``tensorflow``, ``checkpoint``): from a row of ours to theirs, or
            to several where a file holds apart what we hold together.
        remote: Those of *classes* that only published configs name: their code stands beside the files, and
            not in the reference library.
        normalize_config: Brings a config's older layout into the present one, before anything is read.
    """

    model_type: str
    fields: tuple[Field, ...]
    classes: Mapping[str, Blueprint]
    base: str
    ignored_keys: frozenset[str] = frozenset()
    renames: Mapping[str, Callable[[Row], Row | Iterable[Row]]] = {}
    remote: frozenset[str] = frozenset()
    normalize_config: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
