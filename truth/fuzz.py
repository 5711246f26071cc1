"""Configs that nobody wrote: a few keys of one that is known changed at once, and what ours and the live class make of it.

A trial takes the default of a type, a random config, a recorded or a published one, and sets 1 to 4 of its keys to something else
(:mod:`truth.fuzz_changes`). Both sides build a class from it, and four things may come of that: both count the same tensors, both refuse, one alone refuses
(a gap), or they differ, which is the one fault that must not be. What is neither equal nor refused by both is made as small as it gets.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from copy import deepcopy
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from truth import live, trials
from truth.aliases import CODE_BESIDE
from truth.changes import Change, apply_change, source
from truth.check import TOUCHES, classes
from truth.compare import shrink
from truth.draw import draw
from truth.fuzz_changes import Place, draw_changes, places
from truth.listing import of_rows
from truth.live import RefusedError
from truth.probe import hurry
from weighbridge import model
from weighbridge.blueprints import family
from weighbridge.core.errors import WeighbridgeError
from weighbridge.presets import presets

SECONDS = 20
"""What either side may take for a config; a trial that takes longer is not compared."""
GIGABYTES = 12
"""The address space that a run may take."""
SHRINKING = 12
"""Seconds for making a config small."""

NO_SIZE = re.compile(r" -[\d.]+ is not possible|found -\d+$|found (true|false) \(|, found (True|False)$")
"""What ours says of a negative size, and of true for a number: no model has one, whatever a class that does not read it makes of it."""

AGREES, BOTH_REFUSE, DIFFERS, CRASHED = "agrees", "refused by both", "differs", "crashed"
REFUSED_HERE, BUILT_HERE, UNKNOWN = "refused here alone", "built here alone", "not compared"
IMPOSSIBLE = "no size, refused here alone"
FAULTS = (DIFFERS, CRASHED, REFUSED_HERE, IMPOSSIBLE, BUILT_HERE)
"""What is shown, the worst first."""


class Trial(NamedTuple):
    """What came of a config.

    Attributes:
        verdict: One of the above.
        ours, theirs: A count and a digest of all tensors, or why it was refused.
    """

    model_type: str
    class_name: str
    raw: dict[str, Any]
    verdict: str
    ours: str = ""
    theirs: str = ""

    @property
    def cause(self) -> str:
        """Why the side that refuses does so, without the values in hand: what has one cause is mended at once.

        >>> Trial("bert", "BertModel", {}, "refused here alone", "hidden_size (12) is not divisible by heads (5)").cause
        'hidden_size (N) is not divisible by heads (N)'
        """
        text = self.theirs if self.verdict == BUILT_HERE else self.ours
        return re.sub(r"\d+(\.\d+)?", "N", re.sub(r"'[^']*'|\[[^\[\]]*\]", "…", text))[:110]

    @property
    def command(self) -> str:
        """What repeats it."""
        return f"python -m truth one {self.class_name} '{json.dumps(self.raw)}'"


def fuzz(types: Iterable[str], seed: str, n: int, published: Mapping[str, list[dict[str, Any]]]) -> Iterator[Trial]:
    """Yield *n* trials of each type, each the same for the same seed; those at fault are as small as they get.

    Args:
        published: By type: further configs to change.
    """
    for model_type in types:
        if model_type in CODE_BESIDE:  # whose files other code reads than the library's own class
            continue
        found = [base for base in bases(model_type, seed, published.get(model_type, ())) if base.sorts]
        for number in range(n if found else 0):
            rng = random.Random(f"fuzz {seed} {number} {model_type}")
            yield shrunk(_try_one(rng, model_type, rng.choice(found)))


class Base(NamedTuple):
    """A config that both sides agree on, and its places."""

    raw: dict[str, Any]
    sorts: dict[str, list[Place]]
    text: str


def bases(model_type: str, seed: str, published: Iterable[dict[str, Any]] = ()) -> Iterator[Base]:
    """Yield the configs of a type that are changed, each one that both sides build: the default counts twice."""
    with suppress(Exception):
        live.modules(model_type)  # imported before the clock runs, which would leave half of them
    plain: dict[str, Any] = {"model_type": model_type}
    recorded: list[dict[str, Any]] = next((entry["bases"][-1:] for entry in _records() if entry["type"] == model_type), [])
    drawn = [draw(f"fuzz {seed} {touch}", model_type, touch) for touch in TOUCHES[2::2]]
    rng = random.Random(f"bases {seed} {model_type}")
    given = sorted(published, key=str)
    for raw in (plain, *recorded, *drawn[:2], *rng.sample(given, min(2, len(given)))):
        if judge(model_type, classes(model_type)[0], raw).verdict != AGREES:
            continue
        with suppress(Exception):  # a config that no class makes places of
            config = live.config_class(model_type)(**{key: deepcopy(value) for key, value in raw.items() if key != "model_type"})
            base = Base(raw, places(config, family(model_type).fields, raw), source(config))
            yield base
            if raw is plain:
                yield base


@cache
def _records() -> tuple[dict[str, Any], ...]:
    return tuple(trials.read("flips"))


def published_configs(folder: str | None) -> dict[str, list[dict[str, Any]]]:
    """Return the configs of the presets, and those in a folder, by type."""
    found: dict[str, list[dict[str, Any]]] = {}
    read = [json.loads(path.read_text("utf-8")) for path in sorted(Path(folder).glob("*.json"))] if folder else []
    for raw in (*(entry.config for entry in presets()), *read):
        found.setdefault(str(raw.get("model_type")), []).append(raw)
    return found


def _try_one(rng: random.Random, model_type: str, base: Base) -> tuple[Trial, tuple[Change, ...]]:
    changes = draw_changes(rng, base.sorts, base.text)
    names = classes(model_type)
    return judge(model_type, rng.choice((names[0], rng.choice(names))), _with_changes(base.raw, changes)), changes


def _with_changes(raw: Mapping[str, Any], changes: Iterable[Change]) -> dict[str, Any]:
    changed = dict(raw)
    for change in changes:
        changed = apply_change(changed, change)
    return changed


def judge(model_type: str, class_name: str, raw: dict[str, Any]) -> Trial:
    """Hold a config to the live class."""
    built, theirs = _ask(lambda: _live_digest(model_type, class_name, raw), RefusedError)
    counted, ours = _ask(lambda: _own_digest(class_name, raw), WeighbridgeError)
    verdict = _verdict(counted, built, same=ours == theirs)
    if verdict == REFUSED_HERE and NO_SIZE.search(ours):
        verdict = IMPOSSIBLE
    return Trial(model_type, class_name, raw, verdict, ours, theirs)


def _verdict(counted: str, built: str, *, same: bool) -> str:
    """Put together what became of a config here and there.

    >>> _verdict("refused", "yes", same=False), _verdict("yes", "yes", same=False), _verdict("yes", "refused", same=False)
    ('refused here alone', 'differs', 'built here alone')
    """
    if counted == CRASHED:
        return CRASHED
    if UNKNOWN in (counted, built):
        return UNKNOWN
    if "refused" in (counted, built):
        return BOTH_REFUSE if counted == built else REFUSED_HERE if counted == "refused" else BUILT_HERE
    return AGREES if same else DIFFERS


def _ask(build: Callable[[], str], refusal: type[Exception]) -> tuple[str, str]:
    """Say whether a side builds, refuses, crashes or takes too long, and what it says."""
    try:
        with hurry(SECONDS):
            return "yes", build()
    except (TimeoutError, MemoryError):
        return UNKNOWN, ""
    except refusal as error:
        bound = str(error).startswith(("TimeoutError", "MemoryError", "ImportError", "ModuleNotFoundError", "RuntimeError: [enforce fail"))
        bound |= "required positional argument" in str(error)  # no config says what such a class is given beside it
        return (UNKNOWN, "") if bound else ("refused", str(error))
    except Exception as error:  # whatever it is, it should have been a refusal
        return CRASHED, f"{type(error).__name__}: {error}"


def _live_digest(model_type: str, class_name: str, raw: dict[str, Any]) -> str:
    return trials.digest(live.listing(live.build(model_type, class_name, raw)))


def _own_digest(class_name: str, raw: dict[str, Any]) -> str:
    return trials.digest(of_rows(model(raw, class_name).tensors()))


def shrunk(tried: tuple[Trial, tuple[Change, ...]]) -> Trial:
    """Return a trial with the fewest keys that still come to the same; of one that is no fault, itself."""
    trial, changes = tried
    if trial.verdict not in FAULTS:
        return trial
    due = monotonic() + SHRINKING

    def fails(raw: dict[str, Any]) -> bool:
        return monotonic() < due and judge(trial.model_type, trial.class_name, raw).verdict == trial.verdict

    plain = _with_changes({"model_type": trial.model_type}, changes)
    raw = plain if plain == trial.raw or fails(plain) else trial.raw
    return judge(trial.model_type, trial.class_name, shrink(raw, fails))


def summarize(found: Iterable[Trial]) -> Iterator[str]:
    """Yield the lines that say what trials came to: how many of each verdict, and each cause with its smallest config, the most frequent first.

    >>> for line in summarize([Trial("bert", "BertModel", {}, "agrees"), Trial("bert", "BertModel", {"a": 1}, "built here alone", "7:a", "KeyError: 3")]):
    ...     print(line)
    2 trials: 1 agrees, 1 built here alone
    built here alone: 1 of bert: KeyError: N
        ours 7:a, live KeyError: 3
        python -m truth one BertModel '{"a": 1}'
    """
    listed = list(found)
    counts = {verdict: sum(trial.verdict == verdict for trial in listed) for verdict in (AGREES, BOTH_REFUSE, *FAULTS, UNKNOWN)}
    yield f"{len(listed):,} trials: " + ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items() if count)
    for verdict in FAULTS:
        causes: dict[str, list[Trial]] = {}
        for trial in listed:
            if trial.verdict == verdict:
                causes.setdefault(trial.model_type if verdict in (DIFFERS, CRASHED) else trial.cause, []).append(trial)
        if verdict == IMPOSSIBLE:  # meant so
            continue
        for cause, members in sorted(causes.items(), key=lambda entry: -len(entry[1])):
            smallest = min(members, key=lambda trial: len(json.dumps(trial.raw)))
            types = sorted({trial.model_type for trial in members})
            yield f"{verdict}: {len(members)} of {', '.join(types[:6])}{' ...' if len(types) > 6 else ''}: {cause}"
            yield f"    ours {smallest.ours[:200]}, live {smallest.theirs[:200]}"
            yield f"    {smallest.command}"


def main(types: Iterable[str], seed: str, n: int, *, folder: str | None = None, log: str | None = None) -> int:
    """Run the trials and print what they came to; the exit code is 1 if a count differs or ours crashes."""
    _bound_memory()
    found = []
    with open(log, "a", encoding="utf-8") if log else nullcontext() as file:
        for trial in fuzz(types, seed, n, published_configs(folder)):
            found.append(trial)
            if trial.verdict in (DIFFERS, CRASHED):
                print(f"{trial.verdict}: {trial.command}", flush=True)
            if file is not None:
                file.write(json.dumps(trial if trial.verdict in FAULTS else trial._replace(raw={})) + "\n")
                file.flush()
    print(*summarize(found), sep="\n")
    return int(any(trial.verdict in (DIFFERS, CRASHED) for trial in found))


def _bound_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
