"""How many of all classes that the reference library can build agree with us, tensor for tensor."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from truth import census
from truth.check import Outcome, check
from weighbridge.blueprints import MODULES, family
from weighbridge.blueprints.class_index import CLASSES
from weighbridge.blueprints.refused_classes import REASONS

ROOT = Path(__file__).parents[1]
PATH = ROOT / "src" / "weighbridge" / "blueprints" / "coverage.json"
PAGE = ROOT / "docs" / "coverage.md"


def buildable() -> dict[str, list[str]]:
    """Return the classes of each type that the last census could build."""
    return {name: built for name, found in census.read().items() if (built := [cls for cls, reason in found.items() if not reason])}


def work(seed: str, n: int, types: Iterable[str] = ()) -> list[tuple[str, str, str, int]]:
    """Return what is to be checked: every buildable class that a blueprint claims, of *types* or of all."""
    only = set(types)
    known = {name: built for name, built in buildable().items() if not only or name in only}
    claimed = {name: set(family(name).classes) for name in MODULES}
    return [(name, cls, seed, n) for name, names in known.items() for cls in names if cls in claimed.get(name, ())]


def one(model_type: str, class_name: str, seed: str, n: int) -> Outcome:
    """Check the tensors of one class, on its default and on random configs."""
    return check(model_type, class_name, n=n, seed=seed, flops=False)


def summary(outcomes: Sequence[Outcome], *, seed: str, n: int, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """Count agreeing classes and types against all that can be built; the rows of types not checked are kept as they were *before*."""
    known = buildable()
    exact: dict[str, list[str]] = {}
    differ: dict[str, str] = {}
    if before is not None:
        renewed = {outcome.model_type for outcome in outcomes}
        exact = {
            name: _exact_before(before, name, known) for name, (count, _) in before["by_type"].items() if count and name not in renewed
        }
        differ = {name: why for name, why in before["differ"].items() if name.split()[0] not in renewed}
    for outcome in outcomes:
        if outcome.class_name not in known.get(outcome.model_type, ()):
            continue
        if outcome.failure is None and outcome.configs:
            exact.setdefault(outcome.model_type, []).append(outcome.class_name)
        else:
            reason = str(outcome.failure.difference) if outcome.failure else "no config of ours builds"
            differ[f"{outcome.model_type} {outcome.class_name}"] = reason
    whole = [name for name, names in known.items() if len(exact.get(name, ())) == len(names)]
    return {
        "library": "transformers 5.23.0",
        "command": before["command"] if before else f"python -m truth coverage --n {n} --seed {seed}",
        "configs": f"the default of each class and {n} random ones",
        "classes": sum(map(len, known.values())),
        "classes_exact": sum(map(len, exact.values())),
        "types": len(known),
        "types_exact": len(whole),
        "types_begun": len(exact),
        "by_type": {name: [len(exact.get(name, ())), len(names)] for name, names in known.items()},
        "missing": {name: [cls for cls in known[name] if cls not in found] for name, found in exact.items() if name not in whole},
        "differ": differ,
    }


def _exact_before(before: dict[str, Any], name: str, known: dict[str, list[str]]) -> list[str]:
    missing = before["missing"].get(name, ())
    return [cls for cls in known.get(name, ()) if cls not in missing]


def write(found: dict[str, Any]) -> None:
    """Write the summary for ``weigh models --coverage``, and the page of the docs."""
    lines = []
    for key, value in found.items():
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items())
            lines.append(f'"{key}": {{\n{inner}\n}}')
        else:
            lines.append(f'"{key}": {json.dumps(value)}')
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    PAGE.write_text(page(found), "utf-8")


def page(found: dict[str, Any]) -> str:
    """Write the page of the docs: the figures, then every type."""
    begun = found["types_begun"] - found["types_exact"]
    some_more = f"; of {begun} more types some do" if begun else ""
    share = 1000 * found["classes_exact"] // found["classes"] / 10
    rows = sorted(found["by_type"].items())
    some = [f"| {name} | {exact} | {total} |" for name, (exact, total) in rows if exact]
    none = ", ".join(name for name, (exact, _) in rows if not exact)
    return "\n".join(
        (
            "# Coverage",
            "",
            f"Of the {found['classes']:,} classes of {found['types']} model types that {found['library']} can build,",
            f"Weighbridge agrees with {found['classes_exact']:,} ({share:.1f}%) tensor for tensor: names, shapes, order, ties and buffers, on",
            f"{found['configs']}. All classes of {found['types_exact']} types agree{some_more}.",
            "",
            "A class counts if the library builds it on the meta device: from its default config, with one of a few overrides where a",
            "field has no default, or from a random config of a type that is described; inner classes such as `BartEncoder`, which no config",
            "names, are among them. `truth/census.json` lists every class, and why one cannot be built. `scripts/truth --coverage` takes the",
            "figures anew; these come from",
            "",
            f"    {found['command']}",
            "",
            "| model type | classes that agree | classes that can be built |",
            "|---|---:|---:|",
            *some,
            "",
            *(("## Not described", "", f"{none}.", "", "These are refused by name; no number is guessed.", "") if none else ()),
            *_outside(),
        )
    )


def _outside() -> list[str]:
    """Say which classes the figures leave out: their default config does not build, or they need a library that is not at hand."""
    left = {name: [cls for cls, reason in classes.items() if reason] for name, classes in census.read().items()}
    described = {name: family(name).classes if name in MODULES else () for name in left}
    refused = {name: [cls for cls in classes if cls not in described[name] and cls not in CLASSES] for name, classes in left.items()}
    number, missing = sum(map(len, left.values())), sum(map(len, refused.values()))
    listed = "; ".join(f"{name} ({', '.join(classes)})" for name, classes in sorted(refused.items()) if classes)
    return [
        "## Outside these figures",
        "",
        f"{number} more classes do not build from their default config, or need a library that is not at hand where the figures are taken (timm, SciPy,",
        f"Pillow, natten, detectron2); a published config may build them. {number - missing} of them are described, from such configs or under another type; these {missing} are not, and are refused by name:",
        f"{listed}.",
        "",
        *(f"- {name}: {REASONS[name]}." for name in sorted(REASONS)),
        "",
    ]


def read() -> dict[str, Any]:
    """Read the summary that was last written."""
    found: dict[str, Any] = json.loads(PATH.read_text("utf-8"))
    return found
