"""Hold published counts of parameters and of arithmetic against the presets: ``python -m benchmarks.published FILE``.

FILE holds one JSON object a line with ``model``, ``value``, ``unit``, ``exact``, ``setting`` and ``group``. For every exact
integer whose model is known here it prints the simplest convention that gives it, and at the end how many are joined.
A model is found by its own name, or by the table in ``published_names.py``.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.published_names import preset_names
from weighbridge import WeighbridgeError, model
from weighbridge.blueprints.package_models import package_model
from weighbridge.presets import preset_like


def preset_of(name: str) -> str | None:
    """Return the preset that a catalogue's name means here, or None.

    >>> preset_of("bert_base_en_uncased")
    'bert-base-uncased'
    """
    if (
        name.startswith("open_clip/") and package_model(name) is not None
    ):  # open_clip's own names mean its own class, which fills up every text
        return name
    for known in preset_names(name):
        found = preset_like(known)
        if found is not None or package_model(known) is not None:
            return found.name if found is not None else known
    return None


def rows(path: Path, group: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one group."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["group"] == group:
                yield row


def join_convention(row: dict[str, Any], name: str) -> tuple[str, str]:
    """Return how a row is met, ``plain``, ``convention``, ``nearest`` or ``none``, and in which words."""
    answer = model(name).reconcile(row["value"])
    if not answer.matches:
        return "none", " ".join(answer.nearest.hints)[:160] if answer.nearest else ""
    first = answer.matches[0]
    plain = not first.leaves_out and not first.adds
    return "plain" if plain else "convention", f"{first.convention} (cost {first.cost})"


def explain_arithmetic(row: dict[str, Any], name: str) -> tuple[str, str]:
    """Return how a row of arithmetic is met, at the resolution or length that it states."""
    size = re.search(
        r"(\d+)(?:x\d+|px)(?!.*\d(?:x\d|px))", row["setting"] + " " + row["model"]
    )  # the last: pre-trained at 224px, run at 384px
    tokens = re.search(r"(\d+) tokens", row["setting"])
    given = {"seq": int(tokens[1])} if tokens else {"seq": LENGTHS[row["model"]]} if row["model"] in LENGTHS else {"images": 1}
    number = str(row["value"]) + ("" if row["unit"] in ("multiply-adds", "FLOP", "FLOP per token") else "G")
    sizes = [{key: int(size[1])} for key in ("image_size", "img_size")] if size and not tokens else []
    try:
        answer = model(name, overrides=next((found for found in sizes if takes(name, found)), None)).reconcile_flops(number, **given)
    except WeighbridgeError as error:
        return "refused", str(error)[:120]
    if not answer.matches:
        return "none", f"nearest off by {answer.residual:,}"
    return answer.matches[0].key, str(answer.matches[0].cost)


LENGTHS = {"gpt_oss:120b": 4096}
"""Tokens of an example, for a row that does not say how many: those with which torchtitan's own formula gives the figure."""


def takes(name: str, overrides: dict[str, int] | None) -> bool:
    """Tell whether a preset's type has the fields that are to be set."""
    try:
        return overrides is not None and bool(model(name, overrides=overrides))
    except WeighbridgeError:
        return False


def main() -> int:
    """Print each row, then the summary."""
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "measured.jsonl")
    if not path.is_file():
        print(f"{path} is not there: nothing to hold the presets against")
        return 0
    seen = Counter[str]()
    for row in rows(path, "parameters"):
        if not row["exact"] or row["unit"] != "parameters":
            continue
        name = preset_of(row["model"])
        how, words = join_convention(row, name) if name else ("unknown", "")
        seen[how] += 1
        print(f"{how:10} {row['model']} -> {name}: {row['value']:,} {words}")
    held = sum(seen.values()) - seen["unknown"]
    print(dict(seen), f"joined {held - seen['none']} of {held}")
    counted = Counter[str]()
    for row in rows(path, "arithmetic"):
        name = preset_of(row["model"])
        how, words = explain_arithmetic(row, name) if name else ("unknown", "")
        counted[how] += 1
        print(f"{how:10} {row['model']} -> {name}: {row['value']:,} {row['unit']} {words}")
    print(dict(counted))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
