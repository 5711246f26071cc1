"""From what a torch file's pickle holds to named tensors: state dicts, training checkpoints, whole modules, TorchScript."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.listing import LONGEST_PATH, MOST_TENSORS, Listing, Stored
from weighbridge.readers.pickles import Global, Stub
from weighbridge.readers.text import shown
from weighbridge.readers.torch_storages import BYTES, View

MODELS = ("state_dict", "model_state_dict", "model", "module", "model_state", "net", "network", "params", "weights", "generator")
"""Keys under which training scripts keep the model."""

ASIDE = re.compile(r".*(optim|sched|scaler|rng|ema|swa|averag|loss|callback|amp|grad|random|sampler|hyper).*", re.I)
"""Keys of a training checkpoint that hold state of the training, not the model."""

DEEPEST = 60
_HOLDERS = (View, dict, list, tuple, Stub)
MOST_VISITS = 250_000


class Found(NamedTuple):
    """One tensor, its path, and whether the file says that it is a buffer."""

    path: tuple[str, ...]
    view: View
    buffer: bool | None


def listing_of(root: object, buffers: Mapping[str, frozenset[str]]) -> Listing:
    """Name the tensors in what a pickle holds.

    Args:
        root: The unpickled object, of views, dicts, lists and stubs.
        buffers: For TorchScript, which attributes of each class are buffers.
    """
    walked = list(_walk(root, buffers))
    model, aside = _model_and_rest(root, walked)
    if not walked:
        raise ReadError("the pickle holds no tensors")
    tensors = _ties(model, aside)
    notes = [f"{key}: {sum(tensor.stored for tensor in group):,} elements in {len(group):,} tensors are of the training, no parameters"
             for key, group in _by_key(tensors, aside).items()]  # fmt: skip
    return Listing("torch", tuple(tensors), notes=tuple(notes))


def views_of(root: object) -> dict[str, View]:
    """Return the tensors of the model in what a pickle holds, by the names that :func:`listing_of` gives them."""
    model, _ = _model_and_rest(root, list(_walk(root, {})))
    return {name: found.view for name, found in model}


def _walk(root: object, buffers: Mapping[str, frozenset[str]]) -> Iterator[Found]:
    """Yield the tensors under *root* with their paths, depth first, in order; shared and cyclic objects cannot make it run away."""
    pending: list[tuple[tuple[str, ...], Any, bool | None]] = [((), root, None)]
    visits = 0
    while pending:
        path, node, buffer = pending.pop()
        visits += 1
        if visits > MOST_VISITS:
            raise ReadError("the pickle refers to its own parts without end")
        if isinstance(node, View):
            yield Found(path, node, False if node.parameter else buffer)
        elif node and len(path) < DEEPEST:
            visits += _length(node) // 8
            if sum(map(len, path)) > LONGEST_PATH:
                raise ReadError(
                    Text(
                        "a name of {path:,} letters, the longest accepted is {longest_path:,}",
                        path=sum(map(len, path)),
                        longest_path=LONGEST_PATH,
                    )
                )
            inner = [held for held in _inside(node, buffers) if isinstance(held[1], _HOLDERS)]
            pending += [((*path, *key), value, flag if flag is not None else buffer) for key, value, flag in reversed(inner)]


def _length(node: object) -> int:
    return len(node) if isinstance(node, (dict, list, tuple)) else 0


def _inside(node: object, buffers: Mapping[str, frozenset[str]]) -> Iterator[tuple[tuple[str, ...], Any, bool | None]]:
    """Yield what an object holds: how it is called there, the thing, and whether it is a buffer."""
    if isinstance(node, dict):
        yield from (((str(key),), value, None) for key, value in node.items() if isinstance(key, str | int))
    elif isinstance(node, (list, tuple)) and not isinstance(node, Global):
        yield from (
            ((str(number),), value, None) for number, value in enumerate(node) if isinstance(value, View | dict | list | tuple | Stub)
        )
    elif isinstance(node, Stub):
        state = node.state if isinstance(node.state, dict) else {}
        if isinstance(state.get("_parameters"), dict) and isinstance(state.get("_modules"), dict):
            yield from _module(state)
        else:
            held = buffers.get(node.maker.name.rpartition(".")[2], frozenset()) if isinstance(node.maker, Global) else frozenset()
            known = isinstance(node.maker, Global) and node.maker.module.startswith("__torch__")
            yield from (((str(key),), value, key in held if known and isinstance(value, View) else None) for key, value in state.items())
            yield from (((str(key),), value, None) for key, value in node.items.items() if isinstance(key, str | int))


def _module(state: dict[Any, Any]) -> Iterator[tuple[tuple[str, ...], Any, bool | None]]:
    """Yield what a pickled ``torch.nn.Module`` holds: parameters, buffers that are saved, modules."""
    hidden = state.get("_non_persistent_buffers_set")
    items = hidden.args[0] if isinstance(hidden, Stub) and isinstance(hidden.args, tuple) and hidden.args else hidden
    left_out = {item for item in items if isinstance(item, str)} if isinstance(items, list | tuple) else set()
    yield from (((str(key),), value, False) for key, value in state["_parameters"].items())
    buffers = state.get("_buffers")
    if isinstance(buffers, dict):
        yield from (((str(key),), value, True) for key, value in buffers.items() if key not in left_out)
    yield from (((str(key),), value, None) for key, value in state["_modules"].items())


def _model_and_rest(root: object, walked: list[Found]) -> tuple[list[tuple[str, Found]], list[tuple[str, str, Found]]]:
    """Tell the model of a training checkpoint from what else is saved with it."""
    keys = dict.fromkeys(found.path[0] for found in walked if len(found.path) > 1)
    if not isinstance(root, dict) or any(len(found.path) == 1 for found in walked):
        return [(".".join(found.path), found) for found in walked], []
    main = next((key for key in MODELS if key in keys), None)
    if main is None and len(keys) == 1 and not isinstance(root.get(next(iter(keys))), Stub):
        main = next(iter(keys))
    model: list[tuple[str, Found]] = []
    aside: list[tuple[str, str, Found]] = []
    for found in walked:
        key = found.path[0]
        if key == main:
            model.append((".".join(found.path[1:]), found))
        elif main is not None or ASIDE.fullmatch(key):
            aside.append((key, ".".join(found.path), found))
        else:
            model.append((".".join(found.path), found))
    return model, aside


def _by_key(tensors: list[Stored], aside: list[tuple[str, str, Found]]) -> dict[str, list[Stored]]:
    keys = {name: key for key, name, _ in aside}
    groups: dict[str, list[Stored]] = {}
    for tensor in tensors:
        if tensor.note and tensor.name in keys:
            groups.setdefault(shown(keys[tensor.name]), []).append(tensor)
    return groups


def _ties(model: list[tuple[str, Found]], aside: list[tuple[str, str, Found]]) -> list[Stored]:
    """Give every tensor its name; one that looks into what another holds is tied to it."""
    if len(model) + len(aside) > MOST_TENSORS:
        raise ReadError(Text("the pickle names more than {most_tensors:,} tensors", most_tensors=MOST_TENSORS))
    named = [(name, found, "") for name, found in model] + [(name, found, "state of the training") for _, name, found in aside]
    owners = _owners([(name, found.view) for name, found, _ in named])
    tensors, seen = [], set()
    for name, (_, view, buffer), note in named:
        if name in seen:
            raise ReadError(Text("the name {shown} stands twice", shown=shown(name)))
        seen.add(name)
        owner = owners.get(name)
        count = prod(view.shape)
        own = 0 if owner else min(count, view.extent) if view.storage is not None else 0
        role = "buffer" if note or buffer else None
        kept = own if own != count and not (owner and own == 0) else None
        tensors.append(Stored(name, view.dtype, view.shape, own * BYTES[view.dtype], role, owner, kept, note))
    return tensors


def _owners(named: list[tuple[str, View]]) -> dict[str, str]:
    """Return, for each tensor whose elements are all another's, that other's name: the first that holds them."""
    owners: dict[str, str] = {}
    by_storage: dict[str, list[tuple[int, int, str]]] = {}
    for name, view in named:
        if view.storage is None or not view.extent:
            continue
        size = BYTES[view.dtype]
        begin = view.storage.begin + view.offset * size
        by_storage.setdefault(view.storage.key, []).append((begin, begin + view.extent * size, name))
    for spans in by_storage.values():
        if len(spans) > 1:
            owners |= _contained(spans)
    return owners


def _contained(spans: list[tuple[int, int, str]]) -> dict[str, str]:
    """Return which spans lie within another, and in which; of equal ones the first in the file is the owner."""
    order = sorted(range(len(spans)), key=lambda n: (spans[n][0], -spans[n][1], n))
    inside: dict[str, str] = {}
    holder: tuple[int, int, str] | None = None
    for n in order:
        begin, end, name = spans[n]
        if holder is not None and end <= holder[1] and begin >= holder[0]:
            inside[name] = holder[2]
        else:
            holder = (begin, end, name)
    return inside
