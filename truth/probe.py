"""Every key of a config, changed alone and in pairs: what changes tensors there must change ours the same way, or be refused.

Random configs vary the fields that a blueprint declares; this looks at all the others too, the keys called neutral among them.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from time import monotonic
from typing import Any, NamedTuple

from truth import compare, live
from truth.changes import Change, apply_change, changes
from truth.check import TOUCHES, classes
from truth.draw import draw
from truth.live import RefusedError
from weighbridge import model
from weighbridge.blueprints import family
from weighbridge.core.errors import WeighbridgeError

PATIENCE = 40
"""Seconds after which a live class that is still being built counts as refused."""


class Probed(NamedTuple):
    """What one changed config came to.

    Attributes:
        class_name, raw: The class, and the whole config.
        changes: The keys changed, and what they were set to.
        verdict: ``agrees``, ``differs``, ``refused`` by us where the live class builds, or ``crashed``, which is a bug as well.
        detail: The difference, or our reason.
    """

    class_name: str
    raw: dict[str, Any]
    changes: tuple[Change, ...]
    verdict: str
    detail: str

    @property
    def wrong(self) -> bool:
        """Whether it is neither equal nor refused."""
        return self.verdict in ("differs", "crashed")


def probe(model_type: str, seed: str, seconds: float) -> Iterator[Probed]:
    """Change the keys of small configs of a type, each alone and then in pairs, until the time is up.

    Yields:
        One outcome for each change that the live class accepts.
    """
    rng = random.Random(f"{seed} {model_type}")
    names = classes(model_type)
    bases = _bases(model_type, names[0], seed)
    if not bases:
        return
    stated = [key for field in family(model_type).fields for key in (field.key, *field.aliases)]
    config = live.config_class(model_type)(**{key: value for key, value in bases[0].items() if key != "model_type"})
    single = list(changes(config, bases[0], stated))
    rng.shuffle(single)
    started = monotonic()
    for todo in _rounds(rng, single):
        if monotonic() - started > seconds:
            return
        found = _try_change(model_type, rng.choice((names[0], names[-1], rng.choice(names))), rng.choice(bases), todo)
        if found is not None:
            yield found


def _rounds(rng: random.Random, single: list[Change]) -> Iterator[tuple[Change, ...]]:
    """Yield every change once, then pairs of them without end."""
    yield from ((change,) for change in single)
    while single:
        first, second = rng.choice(single), rng.choice(single)
        if first.path != second.path:
            yield first, second


def _try_change(model_type: str, class_name: str, raw: dict[str, Any], todo: tuple[Change, ...]) -> Probed | None:
    for change in todo:
        raw = apply_change(raw, change)
    try:
        with hurry():
            theirs = live.listing(live.build(model_type, class_name, raw))
    except (RefusedError, TimeoutError):
        return None
    try:
        found = compare.tensors(model(raw, class_name), theirs)
    except WeighbridgeError as error:
        return Probed(class_name, raw, todo, "refused", str(error))
    except Exception as error:  # whatever it is, it should have been a refusal
        return Probed(class_name, raw, todo, "crashed", f"{type(error).__name__}: {error}")
    return Probed(class_name, raw, todo, "differs" if found else "agrees", str(found or ""))


def _bases(model_type: str, class_name: str, seed: str) -> list[dict[str, Any]]:
    """Draw a few configs that both sides build and agree on."""
    found: list[dict[str, Any]] = []
    with suppress(RefusedError):  # what is imported on first use takes its time
        live.build(model_type, class_name, draw(seed, model_type, TOUCHES[-1]))
    for index, touch in enumerate((*TOUCHES, *TOUCHES)):
        raw = draw(f"{seed}/{index}", model_type, touch)
        started = monotonic()
        outcome = _try_change(model_type, class_name, raw, ())
        slow = monotonic() - started > 0.5
        if outcome is not None and outcome.verdict == "agrees" and (not slow or not found):
            found.append(raw)
        if len(found) == 4:
            break
    return found


@contextmanager
def hurry(seconds: int = PATIENCE) -> Iterator[None]:
    """Leave the values of weights out, which nobody looks at, and give up after a while."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError

    with_values = import_module("torch").nn.init
    kept = {name: getattr(with_values, name) for name in dir(with_values) if name.endswith("_") and not name.startswith("_")}
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        vars(with_values).update(dict.fromkeys(kept, lambda tensor, *arguments, **keywords: tensor))
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        vars(with_values).update(kept)
