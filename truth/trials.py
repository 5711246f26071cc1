"""Single keys of a config changed, one at a time, against the live class: aliases, and every boolean and null.

What :mod:`truth.aliases` and :mod:`truth.flips` list is run here, and written down small: for each config the digest of the
live class's tensors, so that the ordinary tests hold every key without torch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from truth import live
from truth.changes import ABSENT, Change, apply_change
from truth.check import TOUCHES, classes
from truth.draw import draw
from truth.listing import Listing
from truth.live import RefusedError
from truth.probe import hurry
from weighbridge import model
from weighbridge.api.model import Model
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.sizes import Size, product

FOLDER = Path(__file__).parents[1] / "tests" / "truth" / "keys"
SLOW = 0.25
"""Seconds after which a base config is too large to change every key of."""


class Trial(NamedTuple):
    """A config of a class, and what is changed in it.

    Attributes:
        base: Its number among the type's base configs.
    """

    class_name: str
    base: int
    changes: tuple[Change, ...]


class Result(NamedTuple):
    """What a trial came to.

    Attributes:
        live: The digest of the live class's tensors.
        verdict: ``agrees``, ``differs``, ``refused`` by us where the live class builds, or ``crashed``.
        detail: Both counts, or our reason.
    """

    trial: Trial
    raw: dict[str, Any]
    live: str
    verdict: str
    detail: str = ""


def digest(listing: Listing) -> str:
    """Return the count of a listing and a short hash of all its names, shapes, order and ties.

    >>> digest(Listing((), ()))
    '0:a6830960'
    """
    return _digest(listing.unique, listing.parameters, sorted(listing.buffers))


def _digest(unique: Size, parameters: Sequence[tuple[object, ...]], buffers: Sequence[tuple[object, ...]]) -> str:
    return f"{unique}:{sha256(json.dumps([parameters, buffers]).encode()).hexdigest()[:8]}"


def own(found: Model) -> str:
    """Return the digest of a model of ours, without the :class:`Listing` of it: hundreds of thousands of tensors are held to recorded digests.

    >>> from truth.listing import of_rows
    >>> found = model("bert-tiny")
    >>> own(found) == digest(of_rows(found.tensors()))
    True
    """
    unique: Size = 0
    parameters, buffers = [], []
    for name, shape, role, tied_to, _, frozen in found.tensors():
        if role == "buffer":
            buffers.append((name, shape, tied_to, frozen))
        else:
            parameters.append((name, shape, tied_to, frozen))
            unique = unique + (0 if tied_to is not None else product(shape))
    return _digest(unique, parameters, sorted(buffers))


def bases(model_type: str, seed: str) -> list[dict[str, Any]]:
    """Return the configs that keys are changed in: one that says nothing, where it is small enough, and a drawn one that both sides agree on."""
    plain: dict[str, Any] = {"model_type": model_type}
    first = classes(model_type)[0]
    found = []
    with suppress(RefusedError, TimeoutError):
        live.build(model_type, first, draw(seed, model_type, TOUCHES[-1]))  # what is imported on first use takes its time
    started = monotonic()
    if _live(model_type, first, plain) is not None and monotonic() - started < SLOW:
        found.append(plain)
    for index, touch in enumerate((*TOUCHES, *TOUCHES)):
        raw = draw(f"{seed}/{index}", model_type, touch)
        expected = _live(model_type, first, raw)
        if expected is not None and _ours(first, raw)[1] == expected:
            return [*found, raw]
    return found or [plain]


def run(model_type: str, configs: list[dict[str, Any]], trials: Iterable[Trial]) -> Iterator[Result]:
    """Yield what comes of each trial that the live class accepts, and of its base config before."""
    listed = list(trials)
    unchanged = (Trial(*where, ()) for where in dict.fromkeys((trial.class_name, trial.base) for trial in listed))
    for trial in (*unchanged, *listed):
        raw = configs[trial.base]
        for change in trial.changes:
            raw = apply_change(raw, change)
        found = try_trial(model_type, trial, raw)
        if found is not None:
            yield found


def try_trial(model_type: str, trial: Trial, raw: dict[str, Any]) -> Result | None:
    """Hold one config to the live class; None if that refuses it."""
    expected = _live(model_type, trial.class_name, raw)
    if expected is None:
        return None
    verdict, value = _ours(trial.class_name, raw)
    if verdict == "counted":
        verdict = "agrees" if value == expected else "differs"
    detail = "" if verdict == "agrees" else f"ours {value}, live {expected}" if verdict == "differs" else value
    return Result(trial, raw, expected, verdict, detail)


def _live(model_type: str, class_name: str, raw: dict[str, Any]) -> str | None:
    try:
        with hurry():
            return digest(live.listing(live.build(model_type, class_name, raw)))
    except (RefusedError, TimeoutError):
        return None


def _ours(class_name: str, raw: dict[str, Any]) -> tuple[str, str]:
    try:
        return "counted", own(model(raw, class_name))
    except WeighbridgeError as error:
        return "refused", str(error)
    except Exception as error:  # whatever it is, it should have been a refusal
        return "crashed", f"{type(error).__name__}: {error}"


def record(name: str, model_type: str, configs: list[dict[str, Any]], results: Iterable[Result]) -> None:
    """Write the results of one type into its line of a file, in place of what stood there."""
    path = FOLDER / f"{name}.jsonl"
    entries = {entry["type"]: entry for entry in read(name)} if path.exists() else {}
    found: dict[str, dict[str, list[str]]] = {}
    refused = []
    for result in results:
        where = f"{result.trial.class_name} {result.trial.base}"
        found.setdefault(where, {}).setdefault(result.live, []).append(write_changes(result.trial))
        if result.verdict == "refused":
            refused.append(f"{where} {write_changes(result.trial)}")
    entries[model_type] = {"type": model_type, "bases": configs, **_factor_out(found), "refused": refused}
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(entries[key], separators=(",", ":")) + "\n" for key in sorted(entries)), "utf-8")


def _factor_out(found: dict[str, dict[str, list[str]]]) -> dict[str, Any]:
    """Take together the changes that change nothing: those which leave every class as its base config has it."""
    plain = {where: next((digest for digest, texts in digests.items() if "" in texts), "") for where, digests in found.items()}
    idle: dict[str, list[str]] = {}
    for base in {where.split()[1] for where in found}:
        alike = [set(found[where].get(plain[where], ())) for where in found if where.split()[1] == base]
        idle[base] = sorted(set.intersection(*alike) - {""})
    for where, digests in found.items():
        gone = set(idle[where.split()[1]])
        found[where] = {digest: kept for digest, texts in digests.items() if (kept := [text for text in texts if text not in gone])}
    return {"idle": idle, "live": found}


def read(name: str) -> list[dict[str, Any]]:
    """Read a file of recorded trials, one entry a type."""
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def recorded_trials(entry: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], str, bool]]:
    """Yield, for each trial of an entry, the class, the config, the live digest, and whether we refused it when it was recorded."""
    refused = set(entry["refused"])
    for where, digests in entry["live"].items():
        class_name, base = where.split()
        for expected, texts in digests.items():
            for text in (*texts, *(entry["idle"][base] if "" in texts else ())):
                raw = entry["bases"][int(base)]
                for change in read_changes(text) if text else ():
                    raw = apply_change(raw, change)
                yield class_name, raw, expected, f"{where} {text}" in refused


def write_changes(trial: Trial) -> str:
    """Write the changes of a trial in a line.

    >>> write_changes(Trial("T5Model", 0, (Change(("num_layers",), ABSENT), Change(("text_config", "n_layer"), 3))))
    '-num_layers; text_config.n_layer=3'
    """
    return "; ".join(f"-{'.'.join(path)}" if value is ABSENT else f"{'.'.join(path)}={json.dumps(value)}" for path, value in trial.changes)


def read_changes(text: str) -> tuple[Change, ...]:
    """Read changes that were written in a line.

    >>> read_changes("-num_layers; text_config.n_layer=3")
    (Change(path=('num_layers',), value=absent), Change(path=('text_config', 'n_layer'), value=3))
    """
    found = []
    for part in text.split("; "):
        path, equals, value = part.partition("=")
        found.append(Change(tuple(path.split(".")), json.loads(value)) if equals else Change(tuple(path[1:].split(".")), ABSENT))
    return tuple(found)
