"""The first published census: how many parameters packages say that models have, against what the models' configs make.

    python -m benchmarks.claims [WHEEL ...] -o docs/census-report.md

Without wheels, those of :data:`PACKAGES` are fetched by pip. Their sources are read, never run. Each claim about a model whose config
is among the presets (or comes with the package) becomes a record of a table; ``weigh census`` holds the table's claims against the
true counts, and the report is written from its Parquet. Facts with their package and version; no text is copied.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from weighbridge.inventory.items import OTHER_CONFIGS
from weighbridge.inventory.run import census
from weighbridge.presets import preset, preset_like

PACKAGES = (
    "mteb==2.26.24",
    "keras-hub==0.32.0",
    "xinference==4.1.0",
    "aiconfigurator==0.7.0",
    "aiconfigurator-core==0.12.0",
    "open-clip-torch==3.3.0",
    "llm-analysis==0.2.2",
)
SAYS = {
    "mteb": "`n_parameters` of each `ModelMeta`",
    "keras-hub": "`params` in the metadata of each preset",
    "xinference": "`model_size_in_billions` of each specification",
    "aiconfigurator": "the size in the name of each config that it carries",
    "aiconfigurator-core": "the size in the name of each config that it carries",
    "open-clip-torch": "its model configs, which state no totals",
    "llm-analysis": "its model configs, which state no totals",
}
CARRIED = {
    "aiconfigurator": r"aiconfigurator/model_configs/.+\.json",
    "aiconfigurator-core": r"aiconfigurator_core/model_configs/.+\.json",
    "open-clip-torch": r"open_clip/model_configs/.+\.json",
    "llm-analysis": r"llm_analysis/model_configs/.+\.json",
}
"""Where a package carries configs: each is a row, whether a total is stated for it or not."""


class Claim(NamedTuple):
    """What a package says of one model.

    Attributes:
        package: Its name and version.
        model: The model's name there.
        stated: Parameters.
        config: The model's config.
    """

    package: str
    model: str
    stated: int
    config: dict[str, Any]


class Wheel:
    """A wheel that is read and not installed."""

    def __init__(self, path: Path) -> None:
        self.name, self.version = path.name.split("-")[:2]
        self.name = self.name.replace("_", "-")
        self.archive = zipfile.ZipFile(path)

    def sources(self, pattern: str) -> Iterator[ast.Module]:
        """Yield the syntax trees of the modules whose path matches."""
        for name in sorted(self.archive.namelist()):
            if re.fullmatch(pattern, name):
                yield ast.parse(self.archive.read(name))

    def tables(self, pattern: str) -> Iterator[tuple[str, Any]]:
        """Yield the JSON files whose path matches."""
        for name in sorted(self.archive.namelist()):
            if re.fullmatch(pattern, name):
                yield name, json.loads(self.archive.read(name))


def of_mteb(wheel: Wheel) -> Iterator[tuple[str, int]]:
    """Yield the models of MTEB with their stated totals."""
    for tree in wheel.sources(r"mteb/models/model_implementations/\w+\.py"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ModelMeta":
                given = {word.arg: value(word.value) for word in node.keywords}
                if isinstance(given.get("name"), str) and type(given.get("n_parameters")) in (int, float):
                    yield str(given["name"]), int(given["n_parameters"])  # type: ignore[call-overload]


def of_keras_hub(wheel: Wheel) -> Iterator[tuple[str, int]]:
    """Yield the presets of KerasHub with their stated totals."""
    for tree in wheel.sources(r"keras_hub/src/models/\w+/\w+_presets\.py"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
                for key, entry in zip(node.value.keys, node.value.values, strict=True):
                    params = _at(_at(entry, "metadata"), "params")
                    if key is not None and isinstance(value(key), str) and type(value(params)) is int:
                        yield str(value(key)), int(value(params))  # type: ignore[call-overload]


def of_xinference(wheel: Wheel) -> Iterator[tuple[str, int]]:
    """Yield the models of Xinference with the billions that it states."""
    for _, found in wheel.tables(r"xinference/model/llm/models/[^/]+\.json"):
        for entry in found if isinstance(found, list) else [found]:
            for spec in entry.get("model_specs", []):
                names = [source.get("model_id") for source in (spec.get("model_src") or {}).values() if isinstance(source, dict)]
                billions = str(spec.get("model_size_in_billions", "")).replace("_", ".")
                if spec.get("model_format") == "pytorch" and names and names[0] and re.fullmatch(r"\d+(\.\d+)?", billions):
                    yield str(names[0]), round(float(billions) * 10**9)


def of_aiconfigurator(wheel: Wheel) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield the configs that the planner carries, with the size that their names state."""
    for path, config in wheel.tables(r"aiconfigurator(_core)?/model_configs/.+config\.json"):
        name = Path(path).name.removesuffix("_config.json").replace("--", "/")
        size = re.search(r"-(\d+(?:\.\d+)?)([BM])(?=-|$)", name)
        if size and not path.endswith(OTHER_CONFIGS):
            yield name, round(float(size[1]) * {"B": 10**9, "M": 10**6}[size[2]]), config


BILLIONS = ("xinference", "aiconfigurator", "aiconfigurator-core")
"""Packages that state sizes in billions, to as many places as they write."""


def of_none(wheel: Wheel) -> Iterator[tuple[str, int]]:
    """Yield nothing: a package that carries configs and states no totals."""
    yield from ()


GATHERERS: dict[str, Callable[[Wheel], Iterator[tuple[Any, ...]]]] = {
    "mteb": of_mteb,
    "keras-hub": of_keras_hub,
    "xinference": of_xinference,
    "aiconfigurator": of_aiconfigurator,
    "aiconfigurator-core": of_aiconfigurator,
    "open-clip-torch": of_none,
    "llm-analysis": of_none,
}


def value(node: ast.AST | None) -> object:
    """Return what an expression of constants comes to, such as ``int(1.5 * 1e9)``; None for any other."""
    match node:
        case ast.Constant():
            return node.value
        case ast.BinOp(op=ast.Mult() | ast.Pow() | ast.Add()):
            left, right = value(node.left), value(node.right)
            if isinstance(left, (int, float)) and isinstance(right, (int, float)):
                return left * right if isinstance(node.op, ast.Mult) else left + right if isinstance(node.op, ast.Add) else left**right
        case ast.Call(func=ast.Name(id="int"), args=[inner]):
            found = value(inner)
            return int(found) if isinstance(found, (int, float)) else None
    return None


def _at(node: ast.AST | None, key: str) -> ast.AST | None:
    if not isinstance(node, ast.Dict):
        return None
    return next((inner for own, inner in zip(node.keys, node.values, strict=True) if value(own) == key), None)


def claims_of(wheel: Wheel) -> tuple[int, list[Claim]]:
    """Return how many totals a wheel states, and those of models whose config is known."""
    stated = {(name, number): config for name, number, *config in GATHERERS[wheel.name](wheel)}
    known = []
    for (name, number), config in stated.items():
        found = preset(name) or preset_like(name)
        if config or found is not None:
            known.append(Claim(f"{wheel.name} {wheel.version}", name, number, config[0] if config else found.config))  # type: ignore[union-attr]
    return len(stated), known


def carried_configs(wheel: Wheel) -> list[tuple[str, Any]]:
    """Return the model configs that a wheel carries, by name; those of tokenizers and of quantization are none."""
    found = wheel.tables(CARRIED[wheel.name]) if wheel.name in CARRIED else ()
    return [
        (Path(path).stem.removesuffix("_config").replace("--", "/"), config) for path, config in found if not path.endswith(OTHER_CONFIGS)
    ]


def verdict(claim: Claim, row: dict[str, Any]) -> str:
    """Return how a row of the census judges its claim."""
    if row["status"] != "ok":
        return "not weighed"
    if row["claim_holds"]:
        return "exact"
    told = row["claim_convention"]
    if told is not None:
        return "rounded" if told.endswith(("(rounded)", "(truncated)", "(coarse)")) else "convention"
    if claim.package.split()[0] in BILLIONS:
        step = next(step for step in (10**9, 10**8, 10**7, 10**6) if claim.stated % step == 0 or step == 10**6)
        if min(abs(claim.stated - row[count]) for count in ("built", "loaded", "non_embedding")) <= step // 2:
            return "rounded"
    return "wrong"


VERDICTS = {
    "exact": "the class of the config, as built or as loaded",
    "convention": "another legitimate way of counting gives it exactly",
    "rounded": "a legitimate count, rounded",
    "wrong": "no way of counting gives it",
    "not weighed": "the config makes no model that is described",
}


def carried_table(carried: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the lines on the configs that packages carry: how many are weighed, and why the others are not."""
    yield from ("## Configs that packages carry", "", "Each is a row of the census, whether or not a total is stated for it.", "")
    yield from (
        "| package | configs | weighed | unknown type | no config of a model | smallest | largest |",
        "|---|---:|---:|---:|---:|---:|---:|",
    )
    for package, rows in carried.items():
        status, sizes = Counter(row["status"] for row in rows), [row["unique"] for row in rows if row["status"] == "ok"]
        low, high = (f"{min(sizes):,}", f"{max(sizes):,}") if sizes else ("", "")
        yield f"| {package} | {len(rows):,} | {status['ok']:,} | {status['unknown']:,} | {status['error']:,} | {low} | {high} |"
    yield from ("", "Why the others are not weighed:", "", "| package | reason | configs | for example |", "|---|---|---:|---|")
    for package, rows in carried.items():
        reasons: dict[str, list[str]] = {}
        for row in rows:
            if row["status"] != "ok":
                reasons.setdefault(re.sub(r"\s+", " ", row["error"])[:160].replace("|", "\\|"), []).append(row["path"].rpartition(" ")[2])
        for reason, names in sorted(reasons.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:12]:
            yield f"| {package} | {reason} | {len(names)} | `{names[0]}` |"
    yield ""


def report(stated: dict[str, int], claims: list[Claim], rows: list[dict[str, Any]], carried: dict[str, list[dict[str, Any]]]) -> str:
    """Write the report."""
    judged = [(claim, row, verdict(claim, row)) for claim, row in zip(claims, rows, strict=True)]
    lines = [
        "# A census of stated totals",
        "",
        "How many parameters packages say that models have, against what the models' configs make: counted by `weigh census`, reproduced by",
        "",
        "    python -m benchmarks.claims -o docs/census-report.md",
        "",
        "which fetches the wheels by pip, reads them without running them, and judges each claim about a model whose config is among the",
        "presets, or comes with the package. What is read:",
        "",
        *(f"- {package}: {SAYS[package.split()[0]]}" for package in stated),
        "",
        "| package | totals stated | of known models | " + " | ".join(VERDICTS) + " |",
        "|---|---:|---:|" + "---:|" * len(VERDICTS),
    ]
    for package, many in stated.items():
        own = Counter(kind for claim, _, kind in judged if claim.package == package)
        lines.append(f"| {package} | {many:,} | {sum(own.values()):,} | " + " | ".join(f"{own[kind]:,}" for kind in VERDICTS) + " |")
    lines += ["", *(f"- *{kind}*: {meaning}." for kind, meaning in VERDICTS.items()), "", *carried_table(carried)]
    lines += ["## Wrong", "", "Farthest first. The last column is the count of the class that the config names.", ""]
    lines += ["| package | model | stated | true | off by |", "|---|---|---:|---:|---:|"]
    wrong = [(claim, row) for claim, row, kind in judged if kind == "wrong"]
    for claim, row in sorted(wrong, key=lambda pair: -abs(pair[0].stated / pair[1]["unique"] - 1)):
        lines.append(
            f"| {claim.package} | `{claim.model}` | {claim.stated:,} | {row['unique']:,} ({row['class']}) | "
            f"{100 * (claim.stated / row['unique'] - 1):+,.1f}% |"
        )
    lines += ["", "## Conventions", "", "Which ways of counting the exact ones that are not the class itself come from:", ""]
    lines += ["| package | way of counting | claims | for example |", "|---|---|---:|---|"]
    kinds: dict[tuple[str, str], list[str]] = {}
    for claim, row, kind in judged:
        if kind == "convention":
            told = re.sub(r"\w+(?:Model|For\w+|Encoder|Decoder)\b", "the class", row["claim_convention"])
            kinds.setdefault((claim.package, told), []).append(claim.model)
    for (package, told), models in sorted(kinds.items(), key=lambda pair: -len(pair[1])):
        lines.append(f"| {package} | {told} | {len(models)} | `{models[0]}` |")
    return "\n".join(lines) + "\n"


def weigh(records: list[dict[str, Any]], table: Path) -> list[dict[str, Any]]:
    """Let ``weigh census`` weigh records, and return its rows in their order."""
    import pyarrow.parquet as pq

    table.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    census([str(table)], table.with_suffix(".census"), jobs=1)
    rows: list[dict[str, Any]] = pq.read_table(table.with_suffix(".census")).to_pylist()
    return sorted(rows, key=lambda row: int(row["path"].partition(" ")[0].rpartition(":")[2]))


def main() -> None:
    """Gather, count, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheels", nargs="*", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/census-report.md"))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheels = asked.wheels
        if not wheels:
            subprocess.run([sys.executable, "-m", "pip", "-q", "download", "--no-deps", "-d", name, *PACKAGES], check=True)
            wheels = sorted(folder.glob("*.whl"))
        stated: dict[str, int] = {}
        claims: list[Claim] = []
        carried: dict[str, list[dict[str, Any]]] = {}
        for path in wheels:
            wheel = Wheel(path)
            many, known = claims_of(wheel)
            stated[f"{wheel.name} {wheel.version}"] = many
            claims += known
            if own := carried_configs(wheel):
                records = [{"id": name.replace(" ", "_"), "config": config} for name, config in own]
                carried[f"{wheel.name} {wheel.version}"] = weigh(records, folder / f"{wheel.name}.jsonl")
        rows = weigh([{"config": claim.config, "total_parameters": claim.stated} for claim in claims], folder / "claims.jsonl")
        asked.output.write_text(report(stated, claims, rows, carried), "utf-8")
        print(f"{asked.output}: {len(claims):,} claims of {len(stated)} packages")


if __name__ == "__main__":
    main()
