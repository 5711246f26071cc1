"""A model as a value: its tree, and where it comes from.

Readers and blueprints make it, every account takes it; ``api.Model`` only adds methods to it.
"""

from __future__ import annotations

from weighbridge.config.check import missing_fields
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.tree import Part, list_rows, refuse_too_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Final, Self

    from weighbridge.core.tree import Row


class Description(NamedTuple):
    """What a model from a config has beside its tree.

    Attributes:
        family: Its model type's fields and classes.
        raw: The config as given, overrides put in.
        sizes: The sizes and switches bound from it.
    """

    family: Family
    raw: dict[str, Any]
    sizes: Config


class ModelValue:
    """One model, from a config, a checkpoint's header or a live module; never changed once it is made.

    Two of them are equal only if they are the same object, so that one can be the key of a cache.

    Attributes:
        source: What it was made from, in words.
        kind: ``config``, ``checkpoint`` or ``module``.
        tree: The tree of parts. A reader gives a function in its place, called when the tree is asked for, and one that lists the tensors:
            of a file of very many, most commands need one of the two.
        class_name: The class that is counted, or the empty string if a file does not tell.
        notes: What a reader should know about how the source was understood.
        description: The family, config and sizes, if it was made from a config.
        stored: Elements in the file, if it was made from a checkpoint and they are not the tree's.
        unknown: Key paths in the config that no field names; they were not taken into account.
    """

    __slots__ = ("_rows", "_tree", "class_name", "description", "kind", "notes", "source", "stored", "unknown")

    def __init__(
        self,
        source: str,
        kind: str,
        tree: Part | Callable[[], Part],
        *,
        rows: Sequence[Row] | Callable[[], Sequence[Row]] | None = None,
        class_name: str = "",
        notes: tuple[str, ...] = (),
        description: Description | None = None,
        stored: int | None = None,
        unknown: Sequence[str] = (),
    ) -> None:
        self.source: Final = source
        self.kind: Final = kind
        self._tree = tree
        self._rows = rows
        self.class_name: Final = class_name
        self.notes: Final = notes
        self.description: Final = description
        self.stored: Final = stored
        self.unknown: Final = list(unknown)

    def replace(self, **changes: Any) -> Self:
        """Return the same model but for *changes*.

        >>> ModelValue("a file", "checkpoint", Part("")).replace(source="mine").source
        'mine'
        """
        return type(self)(**self.fields() | changes)

    def fields(self) -> dict[str, Any]:
        """Return what it was made of, by the names of the constructor's parameters.

        >>> ModelValue("a file", "checkpoint", Part("")).fields()["kind"]
        'checkpoint'
        """
        return {name.removeprefix("_"): getattr(self, name) for name in ModelValue.__slots__}

    @property
    def tree(self) -> Part:
        """The tree of parts, made now if nobody asked for it before."""
        if not isinstance(self._tree, Part):
            self._tree = self._tree()
        return self._tree

    @property
    def listed(self) -> Sequence[Row] | None:
        """Every tensor in the tree's order, if it was made from a listing of them; no tree is made for it."""
        if callable(self._rows):
            self._rows = self._rows()
        return self._rows

    def list_tensors(self) -> Sequence[Row]:
        """List every tensor in the tree's order, repeats unrolled.

        Raises:
            UsageError: There are more than are listed by name.

        >>> from weighbridge.core.tree import Tensor
        >>> [row.name for row in ModelValue("a file", "checkpoint", Part("", (Tensor("weight", (2,)),))).list_tensors()]
        ['weight']
        """
        if self.listed is None:
            return list_rows(self.tree)
        refuse_too_many(len(self.listed))
        return self.listed

    @property
    def model_type(self) -> str | None:
        """The model type, if a config tells."""
        return self.description.family.model_type if self.description else None

    @property
    def defaulted(self) -> list[str]:
        """Key paths of the fields this class reads that were taken from the reference's defaults."""
        if self.description is None:
            return []
        known, raw, sizes = self.description
        read: set[str] = set()
        known.classes[self.class_name](_WatchedConfig(sizes, read, ""))
        return list(dict.fromkeys(key for word, key in missing_fields(known.fields, raw).items() if word in read))


class _WatchedConfig(Config):
    """Sizes as a blueprint sees them, which note in *read* each word that is asked for."""

    def __init__(self, sizes: Config, read: set[str], path: str) -> None:
        self.__dict__[_WATCHED] = sizes, read, path

    def __getattr__(self, word: str) -> Any:
        sizes, read, path = self.__dict__[_WATCHED]
        value = getattr(sizes, word)
        read.add(path + word)
        return _WatchedConfig(value, read, f"{path}{word}.") if isinstance(value, Config) else value


_WATCHED = " watched"
"""Where they stand in such a config: no word has a space."""
