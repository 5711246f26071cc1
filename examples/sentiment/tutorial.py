"""The tutorial: a template in either language, filled with the figures of a run and with what ``weigh`` prints. No figure is typed by hand.

``scripts/sentiment tutorial`` writes docs/tutorial-sentiment.md, .zh.md and .png; ``tutorial.json`` beside this file is the run that they tell of.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from weighbridge.cli import main

HERE = Path(__file__).parent
PAGES = HERE.parents[1] / "docs"
RECORD = HERE / "tutorial.json"


def write(folder: Path) -> None:
    """Write the pages and the picture from the runs in a folder; without runs, from the record of earlier ones."""
    if (folder / "run.json").exists():
        record = {name: json.loads((folder / f"{name}.json").read_text("utf-8")) for name in ("run", "english", "heads")}
        RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
        shutil.copyfile(folder / "run.png", PAGES / "tutorial-sentiment.png")
    for lang in ("", ".zh"):
        (PAGES / f"tutorial-sentiment{lang}.md").write_text(page(json.loads(RECORD.read_text("utf-8")), lang), "utf-8")


def page(record: dict[str, Any], lang: str) -> str:
    """Return the tutorial in English ("") or Chinese (".zh")."""
    template = (HERE / f"tutorial{lang}.md").read_text("utf-8")
    return re.sub(r"(?<=^\$ )weigh .*$", lambda found: with_output(found[0]), template.format_map(figures(record)), flags=re.M)


def with_output(command: str) -> str:
    """Return a command with what it prints behind it."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        main(shlex.split(command)[1:])
    return "\n".join([command, *(line.rstrip() for line in shown.getvalue().rstrip().splitlines())])


def figures(record: dict[str, Any]) -> dict[str, str]:
    """Return every figure of a run by its name in the templates."""
    run, config = record["run"], record["run"]["config"]
    predicted = run["predicted"]
    (tn, fp), (fn, tp) = run["test"]["table"]
    seconds = sum(epoch["cpu_seconds"] for epoch in (*run["pretraining"], *run["tuning"]))
    better = run["test"]["accuracy"] >= run["baseline"]["accuracy"]
    found = {
        **{f"config_{name}": str(value) for name, value in config.items()},
        **{name: f"{count:,}" for name, count in zip(("train", "validation", "test"), run["parts"], strict=True)},
        **{f"predicted_{name}": f"{value:,.0f}" for name, value in predicted.items()},
        **{f"{who}_{name}": f"{run[who][name]:.4f}" for who in ("test", "baseline") for name in ("accuracy", "precision", "recall", "f1")},
        "options": " ".join(f"--set {name}={value}" for name, value in config.items() if name not in ("model_type", "id2label", "type_vocab_size")),
        "config": json.dumps({name: value for name, value in config.items() if name != "id2label"}),
        "batch": str(run["batch"][0]),
        "tokens": str(run["batch"][1]),
        "rate": f"{predicted['matmul_rate'] / 1e9:.0f}",
        "pretraining_epochs": str(len(run["pretraining"])),
        "tuning_epochs": str(len(run["tuning"])),
        "pretraining_losses": ", ".join(f"{epoch['loss']:.2f}" for epoch in run["pretraining"]),
        "tuning_scores": ", ".join(f"{epoch['score']:.4f}" for epoch in run["tuning"]),
        "cpu_seconds": f"{seconds:.0f}",
        "load": f"{run['machine']['load']:.0f}",
        "threads": str(run["machine"]["threads"]),
        "torch": run["machine"]["torch"],
        "negative": str(tn + fp), "negative_found": str(tn), "positive": str(fn + tp), "positive_found": str(tp),
        "rows": "\n".join(row(one) for one in run["rows"]),
        "rows_zh": "\n".join(row(one, CHINESE) for one in run["rows"]),
        "heads": "\n".join(head(one) for one in record["heads"]),
        "verdict": VERDICTS[better][0],
        "verdict_zh": VERDICTS[better][1],
        "english_train": f"{record['english']['parts'][0]:,}", "english_test": f"{record['english']['parts'][2]:,}",
        "english_bag": f"{record['english']['bag']:.3f}",
    }  # fmt: skip
    for one in record["english"]["ways"]:
        found |= {f"{one['name']}_learned": f"{one['learned']:,}", f"{one['name']}_accuracy": f"{one['accuracy']:.3f}"}
    return found


VERDICTS = {
    True: (
        "With pre-training the BERT is at least as good as the bag of words, which ignores order.",
        "经过预训练，BERT 不输给不知道词序的词袋。",
    ),
    False: (
        "The bag of words is better: on so few reviews, with so few minutes of pre-training, word order is not worth its arithmetic.",
        "词袋更好：评论这么少，预训练只有几分钟，词序还不值得这些计算。",
    ),
}
"""What is said of the comparison, by whether it holds."""

CHINESE = {
    "parameters": "参数个数",
    "bytes of the saved weights": "保存的权重（字节）",
    "bytes kept for backward": "为反向传播保留的激活（字节）",
    "FLOPs of a forward pass": "一次前向的 FLOPs",
    "FLOPs of a backward pass": "一次反向的 FLOPs",
    "bytes of the optimizer's states": "优化器状态（字节）",
    "peak bytes of a training step": "一步训练的峰值（字节）",
    "seconds of training": "训练的秒数",
    "equal": "相等",
    "at least": "下界",
    "within 5%": "相差不超过 5%",
}


def row(one: dict[str, Any], words: dict[str, str] | None = None) -> str:
    """Return a row of the table of predictions and measurements."""
    places = 1 if one["within"] is None else 0
    how = "at least" if one["within"] is None else "within 5%" if one["within"] else "equal"
    name, how = ((words or {}).get(word, word) for word in (one["name"], how))
    return f"| {name} | {one['predicted']:,.{places}f} | {one['measured']:,.{places}f} | {how} |"


def head(one: dict[str, Any]) -> str:
    """Return a row of the table of classes."""
    return f"| {one['class']} | {one['predicted']:,} | {one['parameters']:,} | {one['accuracy']:.3f} | {one['constant']:.3f} |"
