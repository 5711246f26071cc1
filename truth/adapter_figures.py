"""Published figures of adapters beside ours: the runs of the PEFT library, pages and issues, peaks of training."""

from __future__ import annotations

from ast import literal_eval
from typing import Any

from truth import adapter_rows
from weighbridge import model
from weighbridge.conventions.loading import loading_of
from weighbridge.core.errors import WeighbridgeError

RUNS = {"adapter trainable params": "trainable", "adapter total params": "total", "adapter file size": "saved_bytes"}
"""From what the library's comparison of its methods published to our name of it."""


def run_rows(rows: list[dict[str, Any]]) -> tuple[list[str], int]:
    """Ask the library's own runs on Llama-3.2-3B, a line for each method; and how many figures were asked."""
    found: dict[str, list[str]] = {}
    asked = 0
    for row in rows:
        if row["what"] not in RUNS or "peft_type=" not in row["setting"]:
            continue
        adapter = {key: _read(value) for key, _, value in (entry.partition("=") for entry in row["setting"].split("; "))}
        name = str(row["model"]).partition(" + ")[2]
        try:
            figures = model("llama-3.2-3b").adapters(adapter)
        except WeighbridgeError as error:
            found.setdefault(name, []).append(f"refused: {error}"[:90])
            continue
        ours, asked = getattr(figures, RUNS[row["what"]]), asked + 1
        apart = 100 * (ours / row["value"] - 1)
        found.setdefault(name, []).append(f"{row['value']:,} / {ours:,} ({apart:+.2f}%)")
    return [f"| {name} | {' | '.join((*entries, '', '')[:3])} |" for name, entries in found.items()], asked


def documentation_rows(rows: list[dict[str, Any]]) -> tuple[list[str], int]:
    """Ask the figures that documentation, notebooks and issues have of adapters, a line for each; and how many were asked."""
    lines, asked = [], 0
    for row in rows:
        if row["group"] != "adapters" or "peft_type=" in row["setting"]:
            continue
        start, question = f"| {row['model']} | {row['what']}: {row['setting'][:70]} | {row['value']:,}", adapter_rows.question(row)
        if question is None:
            lines.append(f"{start} | | not asked: {adapter_rows.UNASKED.get(row['model'], 'no question of ours fits')} |")
            continue
        ours, asked = adapter_rows.figures(question)[row["what"]], asked + 1
        why = adapter_rows.WHY.get((row["model"], row["value"]))
        lines.append(f"{start} | {ours:,} | {100 * (ours / row['value'] - 1):+.2f}%{f' ({why})' if why else ''} |")
    return lines, asked


NOTEBOOK = 1_229_863_936
"""All parameters of mt0-large with IA3 (282,624 of them trained), as the PEFT library's notebook prints them: examples/conditional_generation/peft_ia3_seq2seq.ipynb."""


def untied_head() -> tuple[str, ...]:
    """Explain the total of mt0-large with IA3: a file with a head of its own unties it, so that its class has more parameters than the config builds."""
    base = model("mt5-large", "MT5ForConditionalGeneration")
    total = base.adapters({"peft_type": "IA3", "feedforward_modules": []}).total
    loaded = loading_of(base)
    assert loaded is not None
    head = loaded.loaded - loaded.built
    vocabulary, width = base.tensors()[0].shape
    assert head == vocabulary * width
    return (
        "",
        f"The notebook of mt0-large with IA3 prints {NOTEBOOK:,} parameters in all: ours as built from the config, {total:,}, and"
        f" {vocabulary:,} × {width:,} = {head:,} for the head, which is tied as built and untied by the loaded file, are {total + head:,}"
        f" ({100 * ((total + head) / NOTEBOOK - 1):+.2f}%).",
    )


DOCUMENTATION_HEAD = (
    "",
    "## Adapters in documentation, notebooks and issues",
    "",
    "| model | figure | published | ours | difference |",
    "|---|---|---|---|---|",
)


def _read(value: str) -> Any:
    try:
        return literal_eval(value)
    except (ValueError, SyntaxError):
        return value


RUNS_HEAD = (
    "",
    "## Published runs of adapters",
    "",
    "The PEFT library's comparison on Llama-3.2-3B: published / ours. A file has a header of its own beside what is saved. Otherwise the figures are"
    " equal, but: the optimizer of LoRA-FA trains B alone; AdaLoRA's file is written after ranks were given up; the adaption prompt and LN tuning were"
    " saved in 16 bits, as their base is; GLoRA's release saved no empty paths. AdaMSS' file has 65 tensors a module in its header.",
    "",
    "| run | trainable | total | file, bytes |",
    "|---|---|---|---|",
)

PEAKS_HEAD = (
    "",
    "## Peaks of training with adapters",
    "",
    "The same library's runs: what its allocator reserved at most on one GPU (bfloat16 base, batch 4, texts of up to 768 tokens). Ours has base, adapter"
    " (in the base's type at least), gradients and AdamW's states, and neither activations, whose lengths the run does not tell, nor what an allocator holds: a lower bound.",
    "",
    "| run | published, bytes | ours, bytes | share |",
    "|---|---|---|---|",
)


def peaks(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    """Ask for what training with an adapter takes at least, beside the most that a run reserved."""
    found = []
    for row in rows:
        if row["what"] != "training peak reserved memory":
            continue
        settings = row["setting"].partition("; measured on")[0]
        try:
            ours = _at_least(settings)
        except WeighbridgeError as error:
            found.append((row, f"| {str(row['model']).partition(' + ')[2]} | {row['value']:,} | refused: {str(error)[:70]} | |"))
            continue
        bound = "" if ours <= row["value"] else " (**a lower bound that does not hold**)"
        found.append(
            (row, f"| {str(row['model']).partition(' + ')[2]} | {row['value']:,} | {ours:,} | {100 * ours / row['value']:.1f}%{bound} |")
        )
    return found


def _at_least(settings: str) -> int:
    whole = model("llama-3.2-3b")
    if settings == "no adapter":
        found = whole.memory(training=True, dtype="bfloat16")
        return found.weights + found.gradients + found.optimizer
    adapter = {key: _read(value) for key, _, value in (entry.partition("=") for entry in settings.split("; "))}
    if adapter["peft_type"] == "OFT":
        adapter.setdefault("oft_block_size", 0)  # what the run says is its rank, and one of the two is nothing
    return whole.adapter_costs(adapter, dtype="bfloat16", autocast=False).total
