"""The check of one class: default config and random ones, each held to the live class."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

from truth import caches, compare, forward, live
from truth.compare import Difference
from truth.draw import draw
from truth.live import RefusedError
from weighbridge import model
from weighbridge.api.model import Model
from weighbridge.blueprints import family
from weighbridge.core.errors import UsageError, WeighbridgeError

CACHED = forward.Pass(2, 7, 5)
"""The prompt after which caches are compared."""

TOUCHES = (1.0, 1.0, 0.8, 0.6, 0.6, 0.4, 0.3, 0.2, 0.15, 0.1)
"""How much of a config a draw changes, from try to try: a refused draw is followed by a tamer one."""


class Failure(NamedTuple):
    """A config on which ours and theirs differ, as drawn and as small as it gets."""

    model_type: str
    class_name: str
    raw: dict[str, Any]
    smallest: dict[str, Any]
    difference: Difference

    @property
    def repro(self) -> str:
        """The one command that repeats it."""
        return f"python -m truth one {self.class_name} '{json.dumps(self.smallest)}'"


class Outcome(NamedTuple):
    """What came of checking one class.

    Attributes:
        configs: How many configs were compared.
        passes: How many forward passes were compared.
        refused: For each draw that the live class refused, why.
        unbuilt: Why the live class does not build from its default, if so.
        unrun: Why the forward does not run on the meta device, if so.
        failure: The first difference, shrunk.
        seconds: How long it took.
    """

    model_type: str
    class_name: str
    configs: int
    passes: int
    refused: tuple[str, ...]
    unbuilt: str
    unrun: str
    failure: Failure | None
    seconds: float

    def partly(self, *, flops: bool) -> str:
        """Say why an agreement is worth less than it looks, or nothing: no pass was compared, or most draws were refused.

        >>> Outcome("bert", "BertModel", 3, 0, (), "", "no input", None, 1.0).partly(flops=True)
        'no forward pass was compared'
        """
        if flops and not self.passes:
            return "no forward pass was compared"
        if len(self.refused) > self.configs:
            return "most draws were refused: the type needs a recipe"
        return ""


def check(model_type: str, class_name: str, *, n: int, seed: str, flops: bool = True, due: float | None = None) -> Outcome:
    """Hold one class to the live one on its default config and *n* random ones.

    A class whose turn comes late is held to one random config, without its forward passes, so that all get their turn in time.

    Args:
        n: Random configs.
        seed: What they are drawn from.
        flops: Whether forward passes are compared too, on every second config.
        due: When it is to be done, by the monotonic clock.
    """
    started = monotonic()
    late = due is not None and started > due
    configs = passes = 0
    refused: list[str] = []
    unbuilt = unrun = ""
    for index, (raw, theirs) in enumerate(_configs(model_type, class_name, n, seed, default=not late)):
        if isinstance(theirs, RefusedError):
            if index or late:
                refused.append(str(theirs))
            else:
                unbuilt = str(theirs)
            continue
        if configs > (0 if late else 1) and due is not None and monotonic() > due:
            break
        found, ran, reason = compare_config(class_name, raw, theirs, flops=flops and not late and (configs % 2 == 0 or n < 5))
        configs, passes, unrun = configs + 1, passes + ran, unrun or reason
        if found:
            failure = _shrunk(model_type, class_name, raw, found)
            return Outcome(model_type, class_name, configs, passes, tuple(refused), unbuilt, unrun, failure, monotonic() - started)
    return Outcome(model_type, class_name, configs, passes, tuple(refused), unbuilt, unrun, None, monotonic() - started)


def _configs(model_type: str, class_name: str, n: int, seed: str, *, default: bool = True) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the default, if it is asked for or nothing else builds, and *n* random configs, each with its live model; a refusal stands in its place."""
    plain = {"model_type": model_type}
    if default:
        yield plain, _try_build(model_type, class_name, plain)
    for index in range(n):
        for attempt, touch in enumerate(TOUCHES):
            raw = draw(f"{seed}/{index}/{attempt}", model_type, touch)
            if index % 2 and "QuestionAnswering" in class_name:
                raw = {key: value for key, value in raw.items() if key not in ("id2label", "num_labels")}  # some run with two labels alone
            theirs = _try_build(model_type, class_name, raw)
            yield raw, theirs
            if not isinstance(theirs, RefusedError):
                default = True
                break
    if not default:
        yield plain, _try_build(model_type, class_name, plain)


def _try_build(model_type: str, class_name: str, raw: dict[str, Any]) -> Any:
    try:
        return live.build(model_type, class_name, raw)
    except RefusedError as error:
        return error


def compare_config(class_name: str, raw: dict[str, Any], theirs: Any, *, flops: bool = True) -> tuple[Difference | None, int, str]:
    """Hold one config to its live model: the difference, how many passes were compared, why one did not run.

    With forward passes, the cache that one leaves is compared too: attention that looks back alone keeps its keys and values.
    """
    try:
        ours = model(raw, class_name)
        found = compare.tensors(ours, live.listing(theirs))
    except WeighbridgeError as error:
        return Difference("refused", class_name, f"{type(error).__name__}: {error}", "builds"), 0, ""
    if found or not flops:
        return found, 0, ""
    ran, unrun = 0, ""
    models = forward.runners(theirs, partial(live.build, ours.model_type or "", class_name, raw, "cpu"))
    for lengths in forward.passes(theirs, few=len(models) == 1):
        try:
            counted = forward.count_first(models, lengths)
        except RefusedError as error:
            unrun = unrun or str(error)
            continue
        try:
            found = compare.flops(ours, lengths, counted[""], counted)
        except UsageError as error:
            unrun = unrun or f"ours: {error}"
            continue
        ran += 1
        if found:
            return found, ran, unrun
    return _compare_cache(ours, models[0]) if len(models) > 1 else None, ran, unrun


def _compare_cache(ours: Model, theirs: Any) -> Difference | None:
    """Hold what generation keeps to the cache of a live model with values, where it returns one and we tell its size."""
    try:
        kept = caches.cached_tensors(theirs, CACHED)
    except RefusedError:
        return None
    try:
        return compare.cache(ours, CACHED, sum(tensor.bytes for tensor in kept))
    except UsageError:  # a cache that is not described, and says so
        return None


def build_and_compare(model_type: str, class_name: str, raw: dict[str, Any], flops: bool = True) -> tuple[Difference | None, int, str]:
    """Build the live class for one config and hold ours to it, as :func:`compare_config` does."""
    return compare_config(class_name, raw, live.build(model_type, class_name, raw), flops=flops)


def _shrunk(model_type: str, class_name: str, raw: dict[str, Any], found: Difference) -> Failure:
    """Shrink a failing config to the fewest keys that still make the same kind of difference."""

    def fails(trial: dict[str, Any]) -> bool:
        try:
            again, _, _ = build_and_compare(model_type, class_name, trial, found.what in ("flops", "cache"))
        except RefusedError:
            return False
        return again is not None and again.what == found.what

    smallest = compare.shrink(raw, fails)
    final, _, _ = build_and_compare(model_type, class_name, smallest, found.what in ("flops", "cache"))
    return Failure(model_type, class_name, raw, smallest, final or found)


def classes(model_type: str, only: str | None = None) -> list[str]:
    """Return the classes of ours to check for a type: all that the reference library knows."""
    known = family(model_type)
    return [name for name in known.classes if only in (None, name) and name not in known.remote]
