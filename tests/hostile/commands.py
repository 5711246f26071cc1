"""Every command that takes a source, an article or an adapter, as lines to be filled in."""

from __future__ import annotations

CONFIG_COMMANDS = (
    "count {source} --json", "count {source} --total", "tensors {source} --csv", "tensors {source} --style torch", "explain {source} --lang zh", "explain {source} --format latex",
    "formula {source} --json", "formula {source} --flops", "counts {source} --markdown", "reconcile 110M {source} --json", "flops {source} --seq 4 --json", "flops {source} --seq 4 --explain",
    "cache {source} --json", "cache {source} --seq 5 --explain", "memory {source} --seq 4 --training --json", "verify {source} --json", "verify {file} {source} --json", "diff {source} bert-tiny --json",
    "diff bert-tiny {source}", "compare {source} bert-tiny --html", "adapters {source} lora:r=4,target_modules=query --json", "adapters bert-tiny {source} --json", "parallel {source} --tp 2 --json",
    "fits {source} --device a100-80gb", "solve {source} vocab_size --params 110M --json", "sweep {source} --set vocab_size=5:7 --csv", "quiz {source} --json", "design --like {source} --params 10M --limit 2 --json",
    "audit {source} --json", "audit {article} --model {source} --json", "report {source} -o {folder}/report.html", "report {source} -o {folder}/report.xlsx", "report {source} -o {folder}/report.svg", "count - --json",
)  # fmt: skip
FILE_COMMANDS = (
    "count {source} --json", "tensors {source} --csv", "tensors {source} --style keras", "verify {source} --json", "verify {source} bert-tiny", "diff {source} {file} --json", "diff {file} {source} --csv",
    "compare {source} bert-tiny --markdown", "report {source} -o {folder}/report.html", "report {source} -o {folder}/report.svg", "explain {source}", "counts {source}", "reconcile 4 {source}", "flops {source}",
    "memory {source}", "audit {article} --model {source}", "adapters bert-tiny {source}", "count {folder} --json", "verify {folder}", "count {source} --set a=1",
)  # fmt: skip


def form_of(command: str) -> str:
    """Return in which form a line asks for its answer.

    >>> form_of("count x --json"), form_of("count x")
    ('json', 'text')
    """
    return next(
        (form for form in ("json", "csv", "markdown", "html", "latex") if f"--{form}" in command or f"--format {form}" in command), "text"
    )


def fill(command: str, **places: object) -> list[str]:
    """Return the words of a line, with the places put in."""
    return [word.format(**places) for word in command.split()]
