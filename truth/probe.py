"""Every key of a config, changed one at a time: what changes tensors there must change ours the same way, or be refused.

Random configs vary the fields that a blueprint declares; this looks at all the others too, the keys called neutral among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from truth import compare, live
from truth.check import TOUCHES, classes
from truth.draw import draw
from truth.live import RefusedError
from weighbridge import model
from weighbridge.errors import WeighbridgeError

IDLE = frozenset(
    """_name_or_path architectures chunk_size_feed_forward dtype id2label label2id model_type problem_type return_dict
    torch_dtype transformers_version use_cache""".split()
)
"""Keys of every config that say nothing of its tensors, or that are not to be set by hand."""


class Probed(NamedTuple):
    """What one changed key came to.

    Attributes:
        path, value: The key, and what it was set to.
        verdict: ``agrees``, ``differs``, or ``refused`` by us where the live class builds.
        detail: The difference, or our reason.
    """

    class_name: str
    raw: dict[str, Any]
    path: tuple[str, ...]
    value: object
    verdict: str
    detail: str


def probe(model_type: str, seed: str) -> Iterator[Probed]:
    """Change every key of one small config of a type, in its base class and the one with the most to hold.

    Yields:
        One outcome for each change that the live class accepts.
    """
    names = classes(model_type)
    for class_name in dict.fromkeys((names[0], names[-1])):
        raw = _small(model_type, class_name, seed)
        if raw is None:
            continue
        whole = live.config_class(model_type)(**{key: value for key, value in raw.items() if key != "model_type"}).to_dict()
        for path, value in _changes(whole):
            changed = _set(raw, path, value)
            try:
                theirs = live.build(model_type, class_name, changed)
            except RefusedError:
                continue
            try:
                found = compare.tensors(model(changed, class_name), live.listing(theirs))
            except WeighbridgeError as error:
                yield Probed(class_name, changed, path, value, "refused", str(error))
                continue
            yield Probed(class_name, changed, path, value, "differs" if found else "agrees", str(found or ""))


def _small(model_type: str, class_name: str, seed: str) -> dict[str, Any] | None:
    """Draw a config that both sides build and agree on."""
    for index, touch in enumerate((*TOUCHES, *TOUCHES)):
        raw = draw(f"{seed}/{index}", model_type, touch)
        try:
            if compare.tensors(model(raw, class_name), live.listing(live.build(model_type, class_name, raw))) is None:
                return raw
        except (RefusedError, WeighbridgeError):
            continue
    return None


def _changes(whole: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every key with the values to try."""
    for key, value in whole.items():
        path = (*above, key)
        if key in IDLE or key.startswith(("_", "output_")) or key.endswith(("token_id", "token_ids", "token_index")):
            continue
        if isinstance(value, Mapping):
            if key.endswith("config") or key in ("encoder", "decoder"):
                yield from _changes(value, path)
        else:
            yield from ((path, other) for other in _others(value))


def _others(value: object) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, 2 * value, None)
    if value is None:
        return (True, 8)
    return ()


def _set(raw: Mapping[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    """Return *raw* with one key set, sub-configs made where they are absent.

    >>> _set({"a": 1}, ("b", "c"), 2)
    {'a': 1, 'b': {'c': 2}}
    """
    if len(path) == 1:
        return {**raw, path[0]: value}
    inner = raw.get(path[0])
    return {**raw, path[0]: _set(inner if isinstance(inner, Mapping) else {}, path[1:], value)}
