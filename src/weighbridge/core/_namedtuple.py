"""``NamedTuple`` without the cost of ``typing`` and of ``collections``: for everything that stands on the path of a plain count.

Importing ``typing`` takes a tenth of the whole time of a count, ``typing.NamedTuple`` compiles every annotation, and ``collections.namedtuple``
compiles a constructor for every class, where most classes of a command are never instantiated. This one makes the same classes, and a class's
constructor when it is first called; type checkers see the standard one.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""Type checkers take this name for true; it spares the import of the constant of the same name."""

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
    from typing import final as final
else:
    from _collections import _tuplegetter
    from sys import intern

    class _Signature:
        """The signature of a record's constructor, for ``help`` and whoever else asks ``inspect``."""

        def __get__(self, instance, owner):
            from inspect import signature

            whole = signature(_constructor(owner))
            return whole.replace(parameters=list(whole.parameters.values())[1:])

    class _Record(tuple):
        """What all named tuples have in common."""

        __slots__ = ()
        __signature__ = _Signature()
        _fields = ()
        _field_defaults = {}

        @classmethod
        def _make(cls, iterable):
            made = tuple.__new__(cls, iterable)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changed):
            made = self._make(map(changed.pop, self._fields, self))
            if changed:
                raise ValueError(f"Got unexpected field names: {list(changed)!r}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join([f'{name}={value!r}' for name, value in zip(self._fields, self, strict=True)])})"

        def __getnewargs__(self):
            return tuple(self)

    def _constructor(cls):
        """Compile the constructor of a record."""
        names = ", ".join(cls._fields)
        space = {"_new": tuple.__new__, "__builtins__": {}, "__name__": f"namedtuple_{cls.__name__}"}
        made = eval(f"lambda _cls, {names}: _new(_cls, ({names}{',' if len(cls._fields) == 1 else ''}))", space)
        made.__name__, made.__qualname__ = "__new__", f"{cls.__name__}.__new__"
        made.__defaults__ = tuple(cls._field_defaults.values()) or None
        return made

    _GETTERS = {}
    """The getters of fields, by their place: one serves every record, since it knows no more than the place."""

    class _Maker(type):
        """Turns the body of a class into a named tuple: annotations are its fields, the rest its methods."""

        def __new__(cls, name, bases, body):
            fields = tuple([intern(field) for field in body.get("__annotations__", ())])

            def __new__(_cls, *given, **named):
                compiled = _constructor(made)  # from now on this one is called
                made.__new__ = staticmethod(compiled)
                return compiled(_cls, *given, **named)

            __new__.__qualname__ = f"{name}.__new__"
            space = {"__new__": __new__, "__doc__": f"{name}({', '.join(fields)})", **body}
            space.update(__slots__=(), _fields=fields, __match_args__=fields)
            space["_field_defaults"] = {field: body[field] for field in fields if field in body}
            for place, field in enumerate(fields):
                space[field] = _GETTERS.get(place) or _GETTERS.setdefault(place, _tuplegetter(place, f"Alias for field number {place}"))
            made = type(name, (_Record,), space)
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {"__doc__": "Base of frozen records; write fields as annotations."})

    def final(made):
        """Say to type checkers that nothing is derived from a class."""
        return made
