"""``NamedTuple`` without the cost of ``typing``: for everything that stands on the path of a plain count.

Importing ``typing`` takes a tenth of the whole time of a count, and ``typing.NamedTuple`` compiles
every annotation. This one makes the same classes with ``collections.namedtuple``; type checkers
see the standard one.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""Type checkers take this name for true; it spares the import of the constant of the same name."""

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Maker(type):
        """Turns the body of a class into a named tuple: annotations are its fields, the rest its methods."""

        def __new__(cls, name, bases, body):
            fields = body.get("__annotations__", {})
            made = namedtuple(name, fields, defaults=[body[field] for field in fields if field in body], module=body["__module__"])
            for key, value in body.items():
                if key not in fields and key not in ("__module__", "__qualname__"):
                    setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {"__doc__": "Base of frozen records; write fields as annotations."})
