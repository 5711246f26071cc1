"""The tensors in what a pickle holds, each with its path: through dicts, sequences, sets, named tuples, modules and any other object.

An object that was made by a call is walked by the arguments of the call, its state, and what was put into it. What is reached twice is
listed twice, as torch would have it, but for an object with attributes, of which any graph may be made: it is walked where it is met first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.arrays import array_of
from weighbridge.readers.listing import LONGEST_PATH
from weighbridge.readers.pickle_values import AttributedDict, Global, Opaque, Stub
from weighbridge.readers.torch_storages import BYTES, Storage, View, views_in

MOST_VISITS = 500_000
LONGEST_KEY = 80
"""Letters of a key that is no text: one that takes more is named by its number."""

_HOLDERS = (View, Storage, dict, list, tuple, Stub)
Entry: TypeAlias = tuple[str, Any, "Kind"]


class Kind(NamedTuple):
    """What is known of a tensor by where it was found.

    Attributes:
        buffer: Whether the file says that it is a buffer; None if it does not say.
        note: Why it is no parameter, if that is more than that it is a buffer.
    """

    buffer: bool | None = None
    note: str = ""


UNKNOWN = Kind()
TRAINING = "state of the training"
OPTIMIZER = Kind(True, TRAINING)
ATTRIBUTE = "attribute of a tensor"


class FoundTensor(NamedTuple):
    """One tensor, its path, and what is known of it."""

    path: tuple[str, ...]
    view: View
    kind: Kind


class _Place(NamedTuple):
    outer: _Place | None
    key: str


def walk(root: object, buffers: Mapping[str, frozenset[str]]) -> Iterator[FoundTensor]:
    """Yield the tensors under *root* with their paths, depth first, in order; shared and cyclic objects cannot make it run away.

    Args:
        root: The unpickled object, of views, dicts, lists and stubs.
        buffers: For TorchScript, which attributes of each class are buffers.

    Raises:
        ReadError: More than can be walked, or a tensor whose name would be too long.
    """
    pending: list[tuple[_Place | None, Any, Kind, bool]] = [(None, root, UNKNOWN, False)]
    around, once = set[int](), set[int]()
    visits = 0
    while pending:
        place, node, kind, done = pending.pop()
        if done:
            around.discard(id(node))
            continue
        visits += 1 + (len(node) // 8 if isinstance(node, dict | list) else 0)
        if visits > MOST_VISITS:
            raise ReadError("the pickle refers to its own parts without end")
        view = _tensor(node)
        if view is not None:
            path = _path(place)
            visits += len(path) // 16  # a path is written out for each tensor: deep ones are work too
            yield FoundTensor(path, view, kind if view.parameter is None or kind.note else Kind(not view.parameter))
            node, kind = view.attributes, Kind(True, ATTRIBUTE)
        if not node or id(node) in around or id(node) in once:
            continue
        around.add(id(node))
        if isinstance(node, Stub) and node.state is not None and not _is_module(node) and array_of(node) is None:
            once.add(id(node))
        pending.append((place, node, kind, True))
        inner = list(islice((held for held in walk_object(node, buffers) if isinstance(held[1], _HOLDERS) and held[1]), MOST_VISITS))
        if visits + len(inner) > MOST_VISITS:
            raise ReadError("the pickle refers to its own parts without end")
        pending += [(_Place(place, key), value, flag if kind is UNKNOWN else kind, False) for key, value, flag in reversed(inner)]


def _tensor(node: object) -> View | None:
    if isinstance(node, View):
        return node
    if isinstance(node, Storage):
        dtype = node.dtype or "U8"
        return View(node, dtype, 0, (node.size_bytes // BYTES[dtype],), (1,), note="a bare storage")
    found = array_of(node) if isinstance(node, Stub) else None
    return found if isinstance(found, View) else None


def _path(place: _Place | None) -> tuple[str, ...]:
    keys = []
    while place is not None:
        keys.append(place.key)
        place = place.outer
    letters = sum(map(len, keys))
    if letters > LONGEST_PATH:
        raise ReadError(
            Text("a name of {path:,} letters, the longest accepted is {longest_path:,}", path=letters, longest_path=LONGEST_PATH)
        )
    return tuple(reversed(keys))


def walk_object(node: object, buffers: Mapping[str, frozenset[str]] | None = None) -> Iterator[Entry]:
    """Yield what an object holds: how it is called there, the thing, and what it is known to be."""
    if isinstance(node, dict):
        kind = OPTIMIZER if is_optimizer(node) else UNKNOWN
        yield from ((key, value, kind) for key, value in _items(node))
        if isinstance(node, AttributedDict) and node.state:
            yield from ((key, value, kind) for key, value, _ in walk_object(node.state))
    elif isinstance(node, list | tuple) and not isinstance(node, Global | View | Storage):
        yield from ((str(number), value, UNKNOWN) for number, value in enumerate(node))
    elif isinstance(node, Stub):
        yield from _object(node, buffers or {})


def _items(node: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a dict by name, and the keys that are tensors or hold some."""
    for number, (key, value) in enumerate(node.items()):
        yield _piece_of_name(key, number), value
        if isinstance(key, Opaque) and views_in(key.value):
            yield f"key {number}", key.value


def _piece_of_name(key: object, number: int) -> str:
    """Return a key as a piece of a name; one that is no text as Python shows it, if it is short.

    >>> _piece_of_name((1, "a"), 0), _piece_of_name(None, 1), _piece_of_name("weight", 2)
    ("(1, 'a')", 'None', 'weight')
    """
    value = key.value if isinstance(key, Opaque) else key
    if isinstance(value, tuple) and len(value) <= LONGEST_KEY and all(isinstance(piece, str | int | float | None) for piece in value):
        value = str(value) if sum(len(piece) for piece in value if isinstance(piece, str)) <= LONGEST_KEY else ""
    if isinstance(value, str):
        return value if isinstance(key, str) or 0 < len(value) <= LONGEST_KEY else f"key {number}"
    simple = isinstance(value, int | float | bytes | None) and not (isinstance(value, bytes) and len(value) > LONGEST_KEY)
    huge = isinstance(value, int) and value.bit_length() > 200
    return str(value) if simple and not huge else f"key {number}"


def _object(node: Stub, buffers: Mapping[str, frozenset[str]]) -> Iterator[Entry]:
    """Yield what an object holds that was made by a call."""
    maker = node.maker if isinstance(node.maker, Global) else Global("", "")
    if maker.name.startswith("Uninitialized") and maker.module.startswith("torch"):
        raise ReadError("a parameter of a lazy module, which has no shape yet; run the module once and save it again")
    array = array_of(node)
    if isinstance(array, list):
        yield from walk_object(array)
    elif _is_module(node):
        yield from _module(_state(node))
    else:
        kind = OPTIMIZER if maker.module.startswith(("torch.optim", "torch.amp", "torch.cuda.amp")) else UNKNOWN
        scripted = maker.module.startswith("__torch__")
        held = buffers.get(maker.name.rpartition(".")[2], frozenset())
        for key, value in _state(node).items():
            name = _piece_of_name(key, 0)
            yield name, value, Kind(name in held) if scripted and isinstance(value, View) else kind
        yield from ((key, value, kind) for key, value in _items(node.items))
        yield from ((key, value, kind) for key, value, _ in walk_object(_arguments(node)))
        if isinstance(node.maker, Stub):  # protocol 2 has what is made with keyword arguments called by a function that holds them
            yield from ((key, value, kind) for key, value, _ in walk_object(node.maker))


def _arguments(node: Stub) -> object:
    """Return what an object is made from; of a tuple of a class of the user's own, which is made from one tuple, what is in that."""
    args = node.args
    return args[0] if isinstance(args, list | tuple) and len(args) == 1 and type(args[0]) is tuple else args


def _state(node: Stub) -> dict[Any, Any]:
    """Return an object's attributes; a state of another kind under a name of its own."""
    state = node.state
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict) and isinstance(state[0], dict | None):
        return {**(state[0] or {}), **state[1]}
    return state if isinstance(state, dict) else {} if state is None else {"state": state}


def _is_module(node: object) -> bool:
    """Tell whether an object is a pickled ``torch.nn.Module``."""
    state = node.state if isinstance(node, Stub) else None
    return isinstance(state, dict) and isinstance(state.get("_parameters"), dict) and isinstance(state.get("_modules"), dict)


def _module(state: dict[Any, Any]) -> Iterator[Entry]:
    """Yield what a module holds: parameters, buffers, modules, and tensors that are plain attributes."""
    hidden = state.get("_non_persistent_buffers_set")
    unsaved = {item for item in hidden if isinstance(item, str)} if isinstance(hidden, list | tuple) else set()
    yield from ((key, value, Kind(False)) for key, value in _items(state["_parameters"]))
    if isinstance(state.get("_buffers"), dict):
        for key, value in _items(state["_buffers"]):
            yield key, value, Kind(True, "a buffer that is in no state dict") if key in unsaved else Kind(True)
    yield from ((key, value, UNKNOWN) for key, value in _items(state["_modules"]))
    own = {key: value for key, value in state.items() if key not in ("_parameters", "_buffers", "_modules")}
    yield from ((key, value, Kind(True, "an attribute, neither parameter nor buffer")) for key, value in _items(own))


def is_optimizer(node: object) -> bool:
    """Tell whether a dict is the state of an optimizer of torch: its state, and its groups of parameters."""
    return isinstance(node, dict) and isinstance(node.get("param_groups"), list | tuple) and "state" in node


def is_plain(node: object) -> bool:
    """Tell whether an object was made by a class of the user's own, which may hold a model among other things, and is none itself."""
    return (
        isinstance(node, Stub) and isinstance(node.maker, Global) and not node.maker.module.startswith("__torch__") and not _is_module(node)
    )
