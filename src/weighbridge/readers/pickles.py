"""A pickle, read without running it: an interpreter of its own in which nothing can be called.

Every global is a name and no more. Calling one makes a :class:`Stub` that remembers the call; only the few in the
table that the caller passes are understood, and those are functions of ours. Python's ``pickle`` is not used at all: even
with ``find_class`` closed it allocates what a hostile file asks for and hashes without end.

Source: CPython 3.13, Lib/pickletools.py (the opcodes and their arguments).
"""

from __future__ import annotations

import struct
from codecs import escape_decode
from collections.abc import Callable
from typing import Any, cast

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.pickle_values import AttributedDict, Global, LongText, Makers, Opaque, Persistent, Raw, Source, Stub

MOST_STEPS = 2_000_000
"""A pickle of more operations is refused: about 40,000 tensors, and two seconds."""


LONGEST_TEXT = 1 << 16
"""Bytes of a text beyond which it is no name, and only its length is kept."""

LONGEST_LINE = 100_000
"""Bytes of a value that is written as a line."""

_CONTINUED = bytes(range(0x80, 0xC0))
"""In UTF-8 the bytes of a letter after its first."""

LARGEST_KEY = 1 << 60
"""Beyond it whole numbers share their hashes (``sys.hash_info.modulus``)."""


class _State:
    __slots__ = ("data", "makers", "memo", "outer", "persistent", "position", "stack", "steps")

    def __init__(self, data: Source, position: int, makers: Makers, persistent: Persistent) -> None:
        self.data, self.position, self.makers, self.persistent = data, position, makers, persistent
        self.stack: list[Any] = []
        self.outer: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.steps = 0


def load(data: Source, makers: Makers, persistent: Persistent, position: int = 0, *, most: int = MOST_STEPS) -> tuple[Any, int]:
    """Read one pickle, from *position*; returns what it holds and where it ends.

    Args:
        data: The bytes, or a file page by page.
        makers: What to put in place of a call of each known global: a function of its arguments.
        persistent: Makes an object of a persistent id.
        position: Where the pickle begins.
        most: Steps that it may take.

    Raises:
        ReadError: It is damaged, asks for more than *most* steps, or a maker refuses its arguments.

    >>> import pickle
    >>> load(pickle.dumps({"a": (1, 2.5)}), {}, lambda key: key)[0]
    {'a': (1, 2.5)}
    """
    state = _State(data, position, makers, persistent)
    while True:
        at = state.position
        if at >= len(data):
            raise ReadError("the pickle is cut off", offset=at)
        code = data[at : at + 1][0]
        state.position = at + 1
        if code == 0x2E:
            if not state.stack:
                raise ReadError("the pickle ends without a value", offset=at)
            return state.stack[-1], state.position
        state.steps += 1
        operation = _OPERATIONS.get(code)
        if operation is None or state.steps > most:
            absent = Text("the pickle has no operation {code:#04x}", code=code)
            raise ReadError(absent if operation is None else Text("the pickle takes more than {most:,} steps", most=most), offset=at)
        try:
            operation(state)
        except ReadError as error:
            raise error if error.offset is not None else ReadError(error.message, offset=at) from None
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, struct.error):
            raise ReadError("the pickle is damaged", offset=at) from None


def _take(s: _State, count: int) -> bytes:
    end = s.position + count
    if count < 0 or end > len(s.data):
        raise ReadError("the pickle is cut off", offset=s.position)
    found = s.data[s.position : end]
    s.position = end
    return found


def _number(size: int, *, signed: bool = False) -> Callable[[_State], int]:
    return lambda s: int.from_bytes(_take(s, size), "little", signed=signed)


def _line(s: _State) -> str:
    return _line_bytes(s).decode("utf-8")


def _line_bytes(s: _State) -> bytes:
    end = s.data.find(b"\n", s.position, s.position + LONGEST_LINE)
    if end < 0:
        if s.position + LONGEST_LINE < len(s.data):
            raise ReadError(
                Text(
                    "a value of more than {most:,} bytes in a line, as protocol 0 writes arrays; save it with protocol 2 or later",
                    most=LONGEST_LINE,
                )
            )
        raise ReadError("the pickle is cut off", offset=s.position)
    return _take(s, end - s.position + 1)[:-1]


def _unescape(s: _State) -> str:
    """Read a line of text as protocol 0 writes it."""
    return _line_bytes(s).decode("raw_unicode_escape")


def _push(make: Callable[[_State], Any]) -> Callable[[_State], None]:
    return lambda s: s.stack.append(make(s))


def _text(size: int) -> Callable[[_State], str]:
    length = _number(size)
    return lambda s: _letters(s, length(s))


def _letters(s: _State, length: int) -> str:
    """Read a text; one too long to be a name stands for itself by its length."""
    if length <= LONGEST_TEXT:
        return _take(s, length).decode("utf-8", "surrogatepass")
    end = s.position + length
    letters = 0
    while s.position < end:
        letters += len(_take(s, min(LONGEST_TEXT, end - s.position)).translate(None, _CONTINUED))
    return LongText(letters)


def _bytes(size: int, *, signed: bool = False) -> Callable[[_State], object]:
    length = _number(size, signed=signed)
    return lambda s: _data(s, length(s))


def _data(s: _State, length: int) -> object:
    """Read bytes; long ones are passed over."""
    if length <= LONGEST_TEXT:
        return _take(s, length)
    if s.position + length > len(s.data):
        raise ReadError("the pickle is cut off", offset=s.position)
    s.position += length
    return Raw(s.position - length, length)


def _string(size: int, *, signed: bool = False) -> Callable[[_State], str]:
    """Read a Python 2 string as text."""
    read = _bytes(size, signed=signed)

    def string(s: _State) -> str:
        data = read(s)
        return data.decode("latin-1") if isinstance(data, bytes) else LongText(cast(Raw, data).length)

    return string


def _read_long(size: int) -> Callable[[_State], int]:
    length = _number(size)
    return lambda s: int.from_bytes(_take(s, length(s))[:1024], "little", signed=True)


def _literal_int(s: _State) -> object:
    line = _line(s)
    return {"00": False, "01": True}[line] if line in ("00", "01") else int(line)


def _read_quoted(s: _State) -> str:
    line = _line(s)
    if len(line) < 2 or line[0] != line[-1] or line[0] not in "'\"":
        raise ReadError("the pickle is damaged")
    return line[1:-1] if "\\" not in line else escape_decode(line[1:-1].encode())[0].decode("latin-1")


def _mark(s: _State) -> None:
    if len(s.outer) > 100_000:
        raise ReadError("the pickle is nested too deep")
    s.outer.append(s.stack)
    s.stack = []


def _since_mark(s: _State) -> list[Any]:
    found = s.stack
    s.stack = s.outer.pop()
    return found


def _collector(make: Callable[[list[Any]], Any]) -> Callable[[_State], None]:
    def collect(s: _State) -> None:
        items = _since_mark(s)
        s.stack.append(make(items))

    return collect


def _pop(s: _State) -> None:
    if s.stack:
        s.stack.pop()
    else:
        _since_mark(s)


def _pop_mark(s: _State) -> None:
    _since_mark(s)


def _tuple(count: int) -> Callable[[_State], None]:
    def make(s: _State) -> None:
        items = s.stack[-count:]
        if len(items) < count:
            raise ReadError("the pickle is damaged")
        s.stack[-count:] = [tuple(items)]

    return make


def safe_key(key: object) -> object:
    """Return a key that is safe to hash: nested tuples could take forever, and large numbers all have one hash; they stand for themselves."""
    if isinstance(key, int) and not -LARGEST_KEY < key < LARGEST_KEY:
        return Opaque(key)
    return key if isinstance(key, str | int | float | bytes | Global | None) else Opaque(key)


def _pairs(items: list[Any]) -> dict[Any, Any]:
    if len(items) % 2:
        raise ReadError("the pickle is damaged")
    return {safe_key(key): value for key, value in zip(items[::2], items[1::2], strict=True)}


def _set_items(s: _State, items: list[Any]) -> None:
    target = s.stack[-1]
    if isinstance(target, dict):
        target.update(_pairs(items))
    elif isinstance(target, Stub):
        target.items.update(_pairs(items))
    else:
        raise ReadError("the pickle is damaged")


def _append(s: _State, items: list[Any]) -> None:
    target = s.stack[-1]
    if isinstance(target, list):
        target.extend(items)
    elif isinstance(target, Stub):
        target.items.update((len(target.items) + n, item) for n, item in enumerate(items))
    else:
        raise ReadError("the pickle is damaged")


def _call(s: _State, maker: object, args: object) -> object:
    if not isinstance(args, tuple):
        raise ReadError("the pickle is damaged")
    s.steps += sum(len(value) for value in args if isinstance(value, tuple | list | dict))
    known = s.makers.get(maker) if isinstance(maker, Global) else None
    return Stub(maker, args) if known is None else known(*args)


def _reduce(s: _State) -> None:
    args = s.stack.pop()
    s.stack[-1] = _call(s, s.stack[-1], args)


def _new_with_keywords(s: _State) -> None:
    keywords = s.stack.pop()
    if keywords:
        s.stack[-1] = (*s.stack[-1], keywords)
    _reduce(s)


def _build(s: _State) -> None:
    state = s.stack.pop()
    target = s.stack[-1]
    if isinstance(target, Stub | AttributedDict):
        target.state = state


def _stack_global(s: _State) -> None:
    name = s.stack.pop()
    module = s.stack.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        raise ReadError("the pickle is damaged")
    s.stack.append(Global(module, name))


def _instance(s: _State) -> None:
    maker = Global(_line(s), _line(s))
    args = tuple(_since_mark(s))
    s.stack.append(Stub(maker, args))


def _object(s: _State) -> None:
    maker, *args = _since_mark(s)
    s.stack.append(Stub(maker, tuple(args)))


def _load_persistent(s: _State) -> None:
    s.stack[-1] = s.persistent(s.stack[-1])


def _put(number: Callable[[_State], int]) -> Callable[[_State], None]:
    def put(s: _State) -> None:
        place = number(s)
        if not 0 <= place < LARGEST_KEY:
            raise ReadError("the pickle is damaged")
        s.memo[place] = s.stack[-1]

    return put


def _memoize(s: _State) -> None:
    s.memo[len(s.memo)] = s.stack[-1]


def _get(number: Callable[[_State], int]) -> Callable[[_State], None]:
    return lambda s: s.stack.append(s.memo[number(s)])


def _skip(s: _State) -> None:
    """Skip protocol and frame markers."""


def _one_more(s: _State) -> None:
    value = s.stack.pop()
    _append(s, [value])


def _one_pair(s: _State) -> None:
    value = s.stack.pop()
    key = s.stack.pop()
    _set_items(s, [key, value])


_OPERATIONS: dict[int, Callable[[_State], None]] = {
    ord("("): _mark, ord("0"): _pop, ord("1"): _pop_mark, ord("2"): lambda s: s.stack.append(s.stack[-1]),
    ord("F"): _push(lambda s: float(_line(s))), ord("I"): _push(_literal_int), ord("J"): _push(_number(4, signed=True)),
    ord("K"): _push(_number(1)), ord("L"): _push(lambda s: int(_line(s).removesuffix("L"))), ord("M"): _push(_number(2)),
    ord("N"): _push(lambda s: None), ord("Q"): _load_persistent, ord("R"): _reduce, ord("S"): _push(_read_quoted),
    ord("T"): _push(_string(4, signed=True)), ord("U"): _push(_string(1)),
    ord("V"): _push(_unescape), ord("X"): _push(_text(4)), ord("a"): _one_more, ord("b"): _build,
    ord("c"): _push(lambda s: Global(_line(s), _line(s))), ord("d"): _collector(_pairs),
    ord("}"): _push(lambda s: {}), ord("e"): lambda s: _append(s, _since_mark(s)), ord("g"): _get(lambda s: int(_line(s))),
    ord("h"): _get(_number(1)), ord("i"): _instance, ord("j"): _get(_number(4)), ord("l"): _collector(list),
    ord("]"): _push(lambda s: []), ord("o"): _object, ord("p"): _put(lambda s: int(_line(s))), ord("q"): _put(_number(1)),
    ord("r"): _put(_number(4)), ord("s"): _one_pair, ord("t"): _collector(tuple),
    ord(")"): _push(lambda s: ()), ord("u"): lambda s: _set_items(s, _since_mark(s)),
    ord("G"): _push(lambda s: struct.unpack(">d", _take(s, 8))[0]), ord("B"): _push(_bytes(4)), ord("C"): _push(_bytes(1)),
    0x80: lambda s: _skip(s) if _take(s, 1) else None, 0x81: _reduce, 0x85: _tuple(1), 0x86: _tuple(2), 0x87: _tuple(3),
    0x88: _push(lambda s: True), 0x89: _push(lambda s: False), 0x8A: _push(_read_long(1)), 0x8B: _push(_read_long(4)), 0x8C: _push(_text(1)),
    0x8D: _push(_text(8)), 0x8E: _push(_bytes(8)), 0x8F: _push(lambda s: []), 0x90: lambda s: _append(s, _since_mark(s)),
    0x91: _collector(list), 0x92: _new_with_keywords, 0x93: _stack_global, 0x94: _memoize,
    0x95: lambda s: _skip(s) if _take(s, 8) else None, 0x96: _push(_bytes(8)),
}  # fmt: skip
"""What each opcode does. Left out: extension codes and out-of-band buffers, which no checkpoint has."""
