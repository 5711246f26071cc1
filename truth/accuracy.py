"""Published figures beside ours: every row that can be asked is asked, and the page ``docs/accuracy.md`` is written.

    python -m truth accuracy MEASURED.jsonl

A row is asked by a table (``memory_figures``, ``adapter_rows``): its model and figure, and the question that gives ours. Rows without one are
listed with the reason. The figures of the oracles are counted from what is recorded in ``tests/costs``.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from truth import arithmetic_figures, device_figures, published_lines
from truth.adapter_figures import DOCUMENTATION_HEAD, PEAKS_HEAD, RUNS_HEAD, documentation_rows, peaks, run_rows, untied_head
from truth.costs import Case, recorded_cases
from truth.live import versions
from truth.memory_figures import QUESTIONS, UNASKED, UNITS, WHY, Question
from truth.output_figures import OUTPUTS_HEAD, outputs
from weighbridge import model
from weighbridge.accounts.memory.optimizers import LIBRARIES, OPTIMIZERS

RECORDED = Path(__file__).parent.parent / "tests" / "truth" / "adapters"
ADAPTERS: dict[str, Any] = json.loads((RECORDED / "cases.json").read_text("utf-8"))
STAGES, ZERO = (json.loads((RECORDED.parent / "parallel" / f"{name}.json").read_text("utf-8"))["cases"] for name in ("stages", "zero"))
SETTINGS, COSTS = (json.loads((RECORDED / f"{name}.json").read_text("utf-8"))["cases"] for name in ("settings", "costs"))
PACKED: list[dict[str, Any]] = json.loads((RECORDED / "packed.json").read_text("utf-8"))["cases"]
PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"


def main(path: str) -> int:
    """Ask every row of a file of published figures and write the page."""
    rows = published = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    adapters, many = run_rows(rows)
    written, more = documentation_rows(rows)
    worked, unworked = arithmetic_figures.arithmetic([row for row in rows if row["group"] == "arithmetic"])
    spread = device_figures.lines([row for row in rows if row["group"] == "parallel"])
    rows = [row for row in rows if row["group"] in ("caches", "memory", "activations")]
    asked = [(row, question) for row in rows for question in QUESTIONS if _is_of(row, question)]
    lines = [line for row, question in asked for line in (_line(row, question),)]
    put_out, reserved = outputs(rows), peaks(rows)
    done = [row for row, _ in (*asked, *put_out, *reserved)]
    runs_of_peaks = [*PEAKS_HEAD, *(line for _, line in reserved)]
    counted = [*OUTPUTS_HEAD, *(line for _, line in put_out)]
    more_lines = [*published_lines.HEAD, *published_lines.lines()]
    printed = [*published_lines.LINES_HEAD, *published_lines.adapter_lines()]
    unasked = Counter(row["group"] for row in rows if row not in done) + Counter(row["group"] for row, _ in unworked)
    unasked["adapters"] = sum(row["group"] == "adapters" for row in published) - many - more
    blocks = [
        *_head(),
        *_summary(Counter(row["group"] for row in published), unasked),
        *lines,
        *more_lines,
        *device_figures.HEAD,
        *spread,
        *arithmetic_figures.HEAD,
        *worked,
        *counted,
        *RUNS_HEAD,
        *adapters,
        *runs_of_peaks,
        *DOCUMENTATION_HEAD,
        *written,
        *untied_head(),
        *printed,
        *_rest(rows, done),
        *(_unasked(row, why) for row, why in unworked),
    ]
    PAGE.write_text("\n".join(blocks) + "\n", "utf-8")
    all_of_them = len(done) + len(worked) + len(spread)
    print("\n".join((*lines, *counted)), f"\n{all_of_them} of {all_of_them + len(unworked) + len(rows) - len(done)} rows asked,", end=" ")
    print(f"and {many + more} of adapters: {PAGE}")
    return 0


def _is_of(row: dict[str, Any], question: Question) -> bool:
    return bool(row["model"] == question.model and row["value"] == question.value and question.part in row["setting"])


def _line(row: dict[str, Any], question: Question) -> str:
    ours = question.ask(model(question.source)) / UNITS[row["unit"]]
    error = 100 * (ours / row["value"] - 1)
    source = row["source"].split("/blob/")[0]
    note = f"({WHY[row['model']]}) " if abs(error) > 1 and row["model"] in WHY else ""
    if question.bound:
        note = "(a lower bound, which holds) " if error <= 0 else "(**a lower bound that does not hold**) "
    return f"| {row['model']} | {row['what']}: {row['setting'][:70]} | {row['value']:,} {row['unit']} | {ours:,.2f} | {error:+.2f}% {note}| {source[:90]} |"


def _count(cases: list[Case]) -> str:
    return f"{len(cases):,} cases of {len({case.model_type for case in cases})} types"


def _peak_errors(what: str) -> dict[str, list[float]]:
    """Return how far our peaks are from the recorded ones, by how the model was run."""
    errors: dict[str, list[float]] = {}
    for case in recorded_cases(what):
        asked: dict[str, Any] = {**case.lengths, **case.settings}
        found = model(case.config, case.class_name).memory(training=True, **asked)
        if found.peak is not None:
            errors.setdefault(_way(case.settings), []).append(abs(found.peak / case.bytes - 1))
    return errors


def _way(how: dict[str, Any]) -> str:
    """Say in which way a model was run, by what is not as usual.

    >>> _way({"attention": "sdpa", "dtype": "float32", "dropout": False})
    'fused attention'
    """
    if how.get("checkpointing") == "full":
        return "full checkpointing"
    if how["attention"] != "eager":
        return "fused attention"
    return (
        "bfloat16" if how.get("dtype", "float32") != "float32" else "dropout" if how["dropout"] else "eager attention, float32, no dropout"
    )


def _peaks_by_way() -> list[str]:
    found = _peak_errors("peaks_ways")
    return [
        f"| peak of a training step, {way}, other configs | the same tracker, or all live storages under a dispatch mode | {len(errors)} cases, half of them within {sorted(errors)[len(errors) // 2]:.1%} | {max(errors):.1%} |"
        for way, errors in sorted(found.items())
    ]


def _ways() -> str:
    """Count the cases of other ways to run, how many are equal to the byte, and the worst error of the rest."""
    cases, errors = recorded_cases("activations_ways"), []
    for case in cases:
        asked: dict[str, Any] = {**case.lengths, **case.settings}
        found = model(case.config, case.class_name).memory(training=True, **asked)
        errors.append(abs((found.activations or 0) / case.bytes - 1))
    return f"{_count(cases)}, {errors.count(0):,} of them equal | {max(errors):.2%}"


def _lines(name: str) -> int:
    """Return how many cases a file of tests/costs has."""
    return len((Path(__file__).parents[1] / "tests" / "costs" / f"{name}.jsonl").read_text("utf-8").splitlines()) - 1


def _head() -> list[str]:
    caches, kept = recorded_cases("caches"), recorded_cases("activations")
    found = versions()
    return [
        "# Accuracy of the costs",
        "",
        f"Written by `python -m truth accuracy` on {datetime.now(UTC).date()}, with torch {found['torch']} and transformers {found['transformers']}.",
        "",
        "## Held to oracles",
        "",
        "| figure | oracle | cases | worst error |",
        "|---|---|---|---|",
        f"| caches, engine `reference` | every tensor in `past_key_values` after a forward of a small random config | {_count(caches)} | 0 bytes |",
        f"| activations, eager, float32, no dropout, with and without the loss | `saved_tensors_hooks` in a forward, each storage once | {_count(kept)} | 0 bytes |",
        f"| adapters, PEFT {ADAPTERS['libraries']['peft']} | trainable, total, saved elements and bytes of the live library on random small bases | {len(ADAPTERS['cases']) + len(SETTINGS):,} cases of {len({case['adapter']['peft_type'] for case in ADAPTERS['cases']})} methods | 0; AdaMSS of a rank above 1 is a bound, since it clusters the weights |",
        f"| adapters beside bases in float32, 16 bits, and packed by bitsandbytes in 8 and 4 bits, cast to float32 or not | trainable, total, saved elements and bytes, bytes of gradients of the live library | {len(PACKED)} cases of {len({case['adapter']['peft_type'] for case in PACKED})} methods | 0 |",
        f"| training with an adapter | bytes of parameters, of gradients and of AdamW's states after a step, in float32 and bfloat16; `FlopCounterMode` of a forward with LoRA | {len(COSTS)} cases of {len({case['adapter']['peft_type'] for case in COSTS})} methods | 0 |",
        f"| part of a model trained, the rest frozen | trainable and all parameters, gradients, AdamW's states of live models after `requires_grad_` on random modules | {_lines('frozen')} cases | 0 |",
        f"| activations with LoRA, BitFit or frozen modules, float32 and bfloat16, with and without the loss | `saved_tensors_hooks` in a forward of live models, LoRA by PEFT | {_lines('partly')} cases | 0 bytes |",
        f"| pipeline stages, expert ranks, whole-tensor ZeRO-1: parameters, gradients, AdamW's states of each device | `torch.distributed.pipelining`, DTensor and FSDP2, `ZeroRedundancyOptimizer` on four processes | {len(STAGES)} cases | 0 bytes |",
        f"| ZeRO 1 to 3, cut flat: parameters, master weights and AdamW's states of each device | DeepSpeed 0.19.8 on four processes | {len(ZERO)} cases | 0 bytes |",
        f"| files packed in several groups | bytes that compressed-tensors 0.20.0 makes of a small live Llama; 8 more are those that ModelOpt 0.47.0 writes | {_lines('groups')} random configs | 0 bytes |",
        f"| optimizer states | states after one step of small live models | {len(OPTIMIZERS)} optimizers of {', '.join(LIBRARIES)} | 0 bytes |",
        f"| activations, fused attention, dropout, loss, 16 bits, full and selective checkpointing, in all combinations | the same hooks | {_ways()} |",
        f"| activations, flash attention of a GPU, bfloat16 | the same hooks around torch's own flash call, in live classes on the meta device, which has shapes alone | {_count(recorded_cases('activations_flash'))} | 0 bytes |",
        f"| peak of a training step | torch's memory tracker under fake tensors, eager attention, float32, no dropout | {_count(recorded_cases('peaks'))} | {max(map(max, _peak_errors('peaks').values())):.1%} |",
        *_peaks_by_way(),
        "",
        "Nothing here ran on a GPU: what depends on its kernels, the flash kernel's shapes among them, is called an estimate. So are peaks: of 1,094 random cases in five ways to run, those recorded among them, nine in ten were within 1% and the worst 3.9% off.",
        "",
        "## Beside published figures",
        "",
    ]


GROUPS = ("adapters", "caches", "memory", "parallel", "arithmetic", "activations")
"""The groups of published figures that are costs."""


def _summary(published: Counter[str], unasked: Counter[str]) -> list[str]:
    """Say how many published figures of each group are asked; each of them stands below, beside ours with the error or with why it is not asked."""
    sums = [(group, published[group], published[group] - unasked[group]) for group in GROUPS]
    sums.append(("all", sum(all_of for _, all_of, _ in sums), sum(asked for _, _, asked in sums)))
    return [
        "Each row of a collection of published figures, beside ours with the error; where it is wrong at its source, the row says in which way.",
        "",
        "| figures of | rows | asked | not asked, with the reason at the end |",
        "|---|---|---|---|",
        *(f"| {group} | {all_of} | {asked} | {all_of - asked} |" for group, all_of, asked in sums),
        "",
        "| model | figure | published | ours | difference | source |",
        "|---|---|---|---|---|---|",
    ]


def _rest(rows: list[dict[str, Any]], asked: list[dict[str, Any]]) -> list[str]:
    left = [row for row in rows if row not in asked]
    reasons = (_unasked(row, UNASKED.get(row["model"], "no question of ours fits")) for row in left)
    return ["", "## Not asked", "", "| model | figure | published | why |", "|---|---|---|---|", *reasons]


def _unasked(row: dict[str, Any], why: str) -> str:
    return f"| {row['model']} | {row['what']}: {row['setting'][:70]} | {row['value']:,} {row['unit']} | {why} |"
