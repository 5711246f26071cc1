"""Published estimates of what ZeRO needs on each device and machine, beside our account of DeepSpeed's own."""

from __future__ import annotations

from typing import Any

from truth.memory_figures import UNITS
from weighbridge import model
from weighbridge.accounts.parallel.deepspeed import estimate, largest_module

HEAD = (
    "",
    "## Many devices",
    "",
    "The tables of DeepSpeed's documentation beside its estimates as `weigh parallel` makes them (`documented` in the JSON): rounded to two digits behind the point, or to MiB.",
    "",
    "| model | figure | published | ours | difference |",
    "|---|---|---|---|---|",
)


def lines(rows: list[dict[str, Any]]) -> list[str]:
    """Ask all rows, a line for each."""
    return [_line(row) for row in rows]


def _line(row: dict[str, Any]) -> str:
    setting, weighed = row["setting"], model(row["model"], "T5Model")
    offloaded = "offload_param=cpu" in setting or "both offloaded" in setting, "offload_optimizer=cpu" in setting
    found = estimate(
        int(weighed.count().unique),  # type: ignore[arg-type]
        largest_module(weighed.tree),
        2 if "ZeRO-2" in setting else 3,
        4 if "4 GPUs" in setting else 8,
        offload="both" if offloaded[0] else "optimizer" if offloaded[1] else "none",
    )
    ours = (found.host if row["what"] == "ZeRO host memory" else found.documented) / UNITS[row["unit"]]
    apart = 100 * (ours / row["value"] - 1)
    return f"| {row['model']} | {row['what']}: {setting} | {row['value']:,} {row['unit']} | {ours:,.2f} | {apart:+.2f}% |"
