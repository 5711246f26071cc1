"""Committed truth: what the live classes have, written once and checked for ever without them.

One file per model type, ``tests/truth/<model_type>.json``: the command and versions it was made
with, the configs, and for each class and config every tensor, the totals and the forward FLOPs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from truth import forward, live
from truth.check import TOUCHES, classes
from truth.draw import draw
from truth.fold import Folded, fold, unfold
from truth.forward import Pass
from truth.listing import Listing
from truth.live import RefusedError

FOLDER = Path(__file__).parents[1] / "tests" / "truth"
RANDOM = 3


class Case(NamedTuple):
    """One class on one config, as recorded.

    Attributes:
        listing: Its tensors.
        unique, buffered: The totals that PyTorch counted.
        flops: Forward FLOPs by the lengths of the pass.
    """

    model_type: str
    class_name: str
    raw: dict[str, Any]
    listing: Listing
    unique: int
    buffered: int
    flops: dict[Pass, int]


def record(model_type: str, seed: str = "truth") -> Path:
    """Write the truth of one model type: its classes on the default and on random configs."""
    bodies: list[Folded] = []
    configs = [{"model_type": model_type}, *_draw_configs(model_type, seed)]
    cases = [case for name in classes(model_type) for case in _cases(model_type, name, configs, bodies)]
    content = {
        "model_type": model_type,
        "command": f"python -m truth record {model_type} --seed {seed}",
        "versions": live.versions(),
        "configs": configs,
        "bodies": bodies,
        "cases": cases,
    }
    path = FOLDER / f"{model_type}.json"
    path.write_text(_text(content), "utf-8")
    return path


def read(path: Path) -> Iterator[Case]:
    """Yield what a file holds, its listings unfolded."""
    content = json.loads(path.read_text("utf-8"))
    bodies = content["bodies"]
    for case in content["cases"]:
        listing = Listing(tuple(unfold(case["tensors"], bodies)), tuple(unfold(case["buffers"], bodies)))
        passes = {_pass(lengths): count for *lengths, count in case["flops"]}
        raw = content["configs"][case["config"]]
        yield Case(content["model_type"], case["class"], raw, listing, case["unique"], case["buffered"], passes)


def _pass(lengths: list[Any]) -> Pass:
    given: list[Any] = [tuple(part) if isinstance(part, list) else part for part in lengths]
    return Pass(*given)


def _draw_configs(model_type: str, seed: str) -> list[dict[str, Any]]:
    """Draw random configs that all classes of the type build, or else as many as may be; then one more for each class that builds none."""
    names = classes(model_type)
    drawn: list[dict[str, Any]] = []
    for index in range(RANDOM):
        best: tuple[int, dict[str, Any]] | None = None
        for attempt, touch in enumerate(TOUCHES):
            raw = draw(f"{seed}/{index}/{attempt}", model_type, touch)
            able = sum(_builds(model_type, name, raw) for name in names)
            if able > (best[0] if best else 0):
                best = (able, raw)
            if able == len(names):
                break
        drawn += [best[1]] if best else []
    for name in names:
        tried = [{"model_type": model_type}, *drawn]
        if not any(_builds(model_type, name, raw) for raw in tried):
            further = (draw(f"{seed}/{name}/{attempt}", model_type, touch) for attempt, touch in enumerate(TOUCHES * 4))
            drawn += [raw for raw in further if _builds(model_type, name, raw)][:1]
    return drawn


def _builds(model_type: str, class_name: str, raw: dict[str, Any]) -> bool:
    try:
        live.build(model_type, class_name, raw)
    except RefusedError:
        return False
    return True


def _cases(model_type: str, class_name: str, configs: list[dict[str, Any]], bodies: list[Folded]) -> Iterator[dict[str, Any]]:
    for number, raw in enumerate(configs):
        try:
            model = live.build(model_type, class_name, raw)
        except RefusedError:
            continue
        found = live.listing(model)
        yield {
            "class": class_name,
            "config": number,
            "unique": sum(tensor.numel() for tensor in model.parameters()),
            "buffered": found.buffered,
            "flops": [[*lengths, count] for lengths, count in _passes(model, partial(live.build, model_type, class_name, raw, "cpu"))],
            "tensors": fold(found.parameters, bodies),
            "buffers": fold(found.buffers, bodies),
        }


def _passes(model: Any, valued: Callable[[], Any]) -> Iterator[tuple[Pass, int]]:
    models = forward.runners(model, valued)
    for lengths in forward.passes(model, few=len(models) == 1):
        try:
            yield lengths, forward.count_first(models, lengths)[""]
        except RefusedError:
            continue


def _text(content: dict[str, Any]) -> str:
    """Write JSON with one config, body and case a line: small, and still to be read as a diff."""
    lines = []
    for key, value in content.items():
        if key in ("configs", "bodies", "cases"):
            inner = ",\n".join("  " + json.dumps(item, ensure_ascii=False) for item in value)
            lines.append(f'"{key}": [\n{inner}\n]' if value else f'"{key}": []')
        else:
            lines.append(f'"{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"
