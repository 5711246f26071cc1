"""Folders of Keras's shards with an index over them, drawn by a row of bytes: what is right, what is nearly right, what leads elsewhere.

A fuzzer that turns the bytes of an index mostly makes what is no JSON; here each byte is a choice, so that all inputs are indexes, and every
variable has a size of its own, so that the sum of what is listed tells which variables were.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

INDEX = "model.weights.json"
LAYERS = (
    "layers/dense/vars",
    "layers/a.b/vars",
    "layers/a/b/vars",
    "layers/layer_0/vars",
    "_layer_checkpoint_dependencies/é/vars",
    "vars",
    "optimizer/vars",
)
SHARDS = ("model_00000.weights.h5", "model_00001.weights.h5", "model_00002.weights.h5")
ELSEWHERE = (
    "../model_00000.weights.h5",
    "/etc/passwd",
    "model_00009.weights.h5",
    "",
    "C:x.h5",
    "a\\b.h5",
    "nul",
    "m\x1b[2J.h5",
    INDEX,
    "x" * 300,
    ".",
    "model_00000.weights.h5/",
)
VALUES: tuple[Any, ...] = (
    None,
    5,
    [],
    {},
    [5],
    [None],
    [["model_00000.weights.h5"]],
    True,
    "",
    {"a": 1},
    [SHARDS[0], SHARDS[0]],
    [SHARDS[0]] * 40,
)
CLAIMS: tuple[Any, ...] = (32, -1, "32", 1e308, None, [], 10**40, {}, True, "\x1b]0;x\x07")


class Folder(NamedTuple):
    """A folder, and what its index gives to whom.

    Attributes:
        files: Its files by name.
        elements: The elements of every variable that index and shards agree on, if the folder can be read at all.
        whole: Whether the shards are as they were written.
    """

    files: dict[str, bytes]
    elements: int
    whole: bool


def draw_folder(data: bytes) -> Folder:
    """Return the folder that the bytes choose; where they end, zeros follow.

    >>> drawn = draw_folder(bytes((1, 3, 2, 6, 0)))
    >>> sorted(drawn.files), drawn.elements > 0
    (['model.weights.json', 'model_00000.weights.h5', 'model_00001.weights.h5'], True)
    """
    left = iter(data)
    held = {SHARDS[number]: next(left, 0) % 64 for number in range(1 + next(left, 0) % len(SHARDS))}
    files = {
        name: shard_of(SHARDS.index(name), tuple(LAYERS[bit] for bit in range(6) if layers >> bit & 1)) for name, layers in held.items()
    }
    placed: dict[str, Any] = {}
    for name, layers in held.items():
        for bit in range(6):
            if layers >> bit & 1:
                placed.setdefault(LAYERS[bit], []).append(name)
    index = {_spelt(layer, next(left, 0)): _files(names, left) for layer, names in placed.items()}
    given: dict[str, list[Any]] = {}
    for layer, names in index.items():
        given.setdefault(_plain(layer), []).extend([names] if isinstance(names, str) else names if isinstance(names, list) else [])
    elements = sum(
        _elements(SHARDS.index(name), LAYERS[bit])
        for name, layers in held.items()
        for bit in range(6)
        if layers >> bit & 1 and name in given.get(_plain(LAYERS[bit]), [])
    )
    text = json.dumps(_whole(index, left), ensure_ascii=bool(next(left, 0) % 2)).encode("utf-8", "surrogatepass")
    damaged = _damage(files, left)
    return Folder({**damaged, INDEX: _twice(text, left)}, elements, damaged == files)


def _spelt(layer: str, choice: int) -> str:
    return ("/" + layer, layer, layer + "/", "//" + layer, layer.replace("/", "."), layer.upper(), layer + "\x1b[1m")[
        choice % 16 if choice % 16 < 7 else 0
    ]


def _files(names: list[str], left: Iterator[int]) -> Any:
    """Return what an index says of a layer: its files, mostly, or something else."""
    choice, which = next(left, 0) % 16, next(left, 0)
    if choice == 1:
        return VALUES[which % len(VALUES)]
    if choice == 2:
        return [*names, ELSEWHERE[which % len(ELSEWHERE)]]
    if choice == 3:
        return ELSEWHERE[which % len(ELSEWHERE)]
    if choice == 4:
        return names[:-1] or names[0]
    if choice == 5:
        return [*names, SHARDS[which % len(SHARDS)]]
    return names[0] if len(names) == 1 and choice % 2 else names


def _whole(index: dict[str, Any], left: Iterator[int]) -> Any:
    """Return an index with what stands beside its map."""
    choice, which = next(left, 0) % 16, next(left, 0)
    claims = {"total_size": CLAIMS[which % len(CLAIMS)], "total_parameters": CLAIMS[which // 16 % len(CLAIMS)]}
    odd = {
        1: [index],
        2: {"weight_map": [*index]},
        3: {"weight_map": index, "metadata": CLAIMS[which % len(CLAIMS)]},
        4: index,
        5: {"weight_map": None},
    }
    return odd.get(choice, {"metadata": claims, "weight_map": index})


def _damage(files: dict[str, bytes], left: Iterator[int]) -> dict[str, bytes]:
    """Return the shards as they are, mostly; or one cut off, turned in a byte, exchanged for another, or gone."""
    choice, which, where = next(left, 0) % 16, next(left, 0), next(left, 0)
    names = list(files)
    name = names[which % len(names)]
    data = files[name]
    at = where * len(data) // 256
    match choice:
        case 1:
            return {**files, name: data[:at]}
        case 2:
            return {**files, name: data[:at] + bytes((data[at] ^ (1 + which % 255),)) + data[at + 1 :]}
        case 3:
            return {**files, name: files[names[where % len(names)]]}
        case 4:
            return {other: held for other, held in files.items() if other != name}
        case 5:
            return {**files, "other_00000.weights.h5": data}
    return files


def _twice(text: bytes, left: Iterator[int]) -> bytes:
    """Return the index as it is, mostly; or with its map a second time, something behind it, or cut off."""
    choice, where = next(left, 0) % 16, next(left, 0)
    odd = {
        1: text[:-1] + b', "weight_map": {}}',
        2: text + text,
        3: text[: where * len(text) // 256],
        4: b"\xef\xbb\xbf" + text,
        5: b"[" * 5000,
    }
    return odd.get(choice, text)


def _plain(layer: str) -> str:
    """Return a layer as tensors are named after it: with dots, whether slashes or dots stand in the index."""
    return layer.strip("/").replace("/", ".")


def _elements(shard: int, layer: str) -> int:
    number = LAYERS.index(layer) + 6 * shard
    return (1 << number) + 8


@cache
def shard_of(shard: int, layers: tuple[str, ...]) -> bytes:
    """Return a file of Keras's with two variables in each of some layers, numbered by the shard; none of their values is written."""
    import h5py

    file = BytesIO()
    with h5py.File(file, "w", libver="latest") as opened:
        for layer in layers:
            opened.create_dataset(f"{layer}/{2 * shard}", shape=(1 << LAYERS.index(layer) + 6 * shard,), dtype="f4")
            opened.create_dataset(f"{layer}/{2 * shard + 1}", shape=(2, 4), dtype="f4")
    return file.getvalue()
