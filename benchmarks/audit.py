"""How well the audit judges the corpus (precision and recall), and how long a long text takes.

usage: python benchmarks/audit.py
"""

from __future__ import annotations

import json
import random
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from weighbridge.auditing import audit  # noqa: E402
from weighbridge.auditing.text.reading import read_lines  # noqa: E402

CORPUS = ROOT / "tests" / "corpus" / "audit"


def judge_slips() -> tuple[int, int, int, int]:
    """Return how many slips were found rightly, wrongly and not at all, and how many claims were checked."""
    hits = false = missed = claims = 0
    for path in sorted(CORPUS.iterdir()):
        if path.suffix == ".json":
            continue
        expected = json.loads(path.with_suffix(".json").read_text("utf-8"))
        found = audit(path.read_bytes(), name=path.name)
        said = {(claim.line, str(claim.value)) for claim in found.wrong}
        meant = {(slip["line"], str(slip["value"])) for slip in expected["wrong"]}
        hits, false, missed, claims = (
            hits + len(said & meant),
            false + len(said - meant),
            missed + len(meant - said),
            claims + len(found.claims),
        )
        for what, where in (("false alarm", said - meant), ("missed", meant - said)):
            for line, value in sorted(where):
                print(f"{what}: {path.name}, line {line}: {value}")
    return hits, false, missed, claims


def judge_marked_lines() -> tuple[int, int, int]:
    """Return how many of the lines marked as wrong in the small texts were found, wrongly called so, and missed."""
    hits = false = missed = 0
    for entry in re.split(r"^=== ", (CORPUS.parent / "audit_shapes.txt").read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, _, text = entry.partition("\n")
        meant = {number for number, line in enumerate(text.split("\n"), 1) if "«" in line}
        said = {claim.line for claim in audit(text.replace("«", "").replace("»", "").encode(), name=head.split()[0]).wrong}
        hits, false, missed = hits + len(said & meant), false + len(said - meant), missed + len(meant - said)
    return hits, false, missed


def readme(size: int = 140_000) -> float:
    """Return the processor seconds that a README of that many characters takes, made of the corpus over and over."""
    texts = [path.read_text("utf-8") for path in sorted(CORPUS.glob("*_en*.md"))]
    text = "\n".join(texts * (size // sum(map(len, texts)) + 1))[:size]
    start = time.process_time()
    audit(text, name="README.md")
    return time.process_time() - start


def single_line() -> float:
    """Return the processor seconds of a whole process that audits one line: the least of five."""
    command = [sys.executable, "-m", "weighbridge", "audit", "-", "--json"]
    spent = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            command, input=b"BERT-base has 110M parameters, 12 layers and hidden size 768.", stdout=subprocess.DEVNULL, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def time_formulas(lines: int = 10_000) -> float:
    """Return the processor seconds that a text of that many lines takes, nearly all of them with a formula."""
    texts = [path.read_text("utf-8").splitlines() for path in sorted(CORPUS.glob("*_en*.md"))]
    pool = [line for text in texts for line in text]
    text = "\n".join(pool[i % len(pool)] for i in range(lines))
    start = time.process_time()
    audit(text, name="long.md")
    return time.process_time() - start


def long_texts(lines: int = 10_000) -> dict[str, str]:
    """Return texts of that many lines, each of one kind: equations, formulas in letters, bullets, tables, names, the project's own pages."""
    docs = [line for path in sorted((ROOT / "docs").glob("*.md")) for line in path.read_text("utf-8").splitlines()]
    head = ["| model | layers | hidden | params | fp16 weights |", "|---|---|---|---|---|"]
    draw = random.Random(1)
    names = ["BERT-base", "GPT-2 medium", "Llama 2 7B", "Mixtral 8x7B", "ViT-B/16", "T5-large", "Whisper large-v3", "DeepSeek-V3"]
    words = "the model is trained on a corpus of text with attention and feed forward layers then evaluated on many tasks".split()
    prose = [" ".join(draw.choice(words) for _ in range(20)).capitalize() + "." for _ in range(lines)]
    return {
        "plain prose": "\n".join(prose),
        "prose with sizes": "\n".join(
            f"{draw.choice(names)} has {draw.randrange(1, 999)}M parameters and {draw.randrange(2, 90)} layers; {said}" for said in prose
        ),
        "equations": "\n".join(f"layer {i}: {12 + i % 4096} × 768 + 768 = {(12 + i % 4096) * 768 + 768:,}" for i in range(lines)),
        "symbols": "\n".join(
            f"第{i}层: $4H^2 + 4H$, $8H^2 + 5H = {i % 9}H^2 + 13H$, so $12H^2 + 13H$ with $H = 768$" for i in range(lines)
        ),
        "bullets": "\n".join(
            f"- layer {i} attention: 4 × 768 × 768 = 2,359,296, mlp: {4_718_592 + 768 * (i % 9):,} parameters ({i % 99}.{i % 9}M)"
            for i in range(lines)
        ),
        "tables": "\n".join(
            head + [f"| {name} | {i % 40} | 768 | 110M | 0.2 GB |" for i in range(lines // 2) for name in ("bert-base-uncased", "gpt2")]
        ),
        "twenty models": "\n".join(
            head[i % 24]
            if i % 24 < 2
            else f"| {names[i % len(names)]} | {draw.randrange(2, 90)} | 1024 | {draw.randrange(1, 999)}M | {i % 40}.5 GB |"
            if i % 24 < 22
            else ""
            for i in range(lines)
        ),
        "Chinese prose": "\n".join(
            f"第{i}个模型共有{draw.randrange(2, 96)}层，隐藏层维度为{64 * draw.randrange(4, 90)}，参数量约为{draw.randrange(1, 900)}M，训练需要大量语料。"
            for i in range(lines)
        ),
        "equal blocks": "\n".join(
            (*head[:1], "BERT-base has 12 layers and 110M parameters.", "- 2 × 768 × 3072 = 4,718,592", "")[i % 4] for i in range(lines)
        ),
        "pages": "\n".join(docs[i % len(docs)] for i in range(lines)),
    }


def marked_texts(lines: int = 10_000) -> dict[str, str]:
    """Return texts of that many lines by the names of their files: a notebook of cells that print, a page of headings, sentences and tables."""
    cells: list[dict[str, object]] = []
    for i in range(lines // 5):
        source = [f"hidden = {768 + i}\n", "attention = 4 * hidden ** 2\n", "print(attention)"]
        output = {"output_type": "stream", "text": [f"{4 * (768 + i) ** 2}\n"]}
        cells.append({"cell_type": "markdown", "source": [f"The model has {i % 48} layers and {i} million parameters."]})
        cells.append({"cell_type": "code", "source": source, "outputs": [output]})
    part = "<h2>Part {0}</h2><p>BERT-base has <b>12</b> layers of {1} units.</p>\n<table><tr><td>attention</td><td>{2}</td></tr></table>\n"
    page = "".join(part.format(i, 768 + i % 3, 2_362_368 + i % 5) for i in range(lines // 2))
    return {"long.ipynb": json.dumps({"cells": cells, "nbformat": 4}, indent=1), "long.html": f"<html><body>{page}</body></html>"}


def stretched_texts(size: int) -> dict[str, str]:
    """Return texts that are long in one way each: a single line, a wide table, a deep list, many definitions, many names, many marks of HTML."""
    draw = random.Random(size)
    names = ["BERT-base", "GPT-2 medium", "Llama 2 7B", "ViT-B/16", "T5-large", "DeepSeek-V3"]
    words = ["the model has", "768 × 3072 = 2,359,296,", "110M parameters.", "attention with", *names]
    row = "| bert-base-uncased |" + "".join(f" {i % 999}M |" for i in range(size // 10))
    return {
        "one line": " ".join(draw.choice(words) for _ in range(size * 4)),
        "a table as wide as that": "\n".join(["| model |" + " m |" * (size // 10), "|---|" + "---|" * (size // 10), *[row] * 10]),
        "nested lists": "\n".join(f"{' ' * (i % 200)}- item {i}: hidden size {i % 900}, {i % 99}M parameters" for i in range(size)),
        "definitions": "\n".join(f"H = {i}\nattention = 4 * H^2 = {4 * i * i}" for i in range(1, size // 2)),
        "names": "\n".join(f"{draw.choice(names)}-v{i} and {draw.choice(names)} have {i % 900}M parameters" for i in range(size)),
        "a breakdown in a table": "\n".join(
            ["| part | params | share |", "|---|---|---|", *(f"| layer {i} | {i * 7919:,} | {i % 99}% |" for i in range(size))]
        ),
        "a table of memory": "\n".join(
            ["| model | fp16 | int8 | int4 |", "|---|---|---|---|"]
            + [f"| {i % 97 + 1}B | {(i % 97 + 1) * 2 + (i % 5 == 0)} GB | {i % 97 + 1} GB | {(i % 97 + 1) / 2} GB |" for i in range(size)]
        ),
        "memory by name": "\n".join(
            ["| model | layers | params | fp16 weights |", "|---|---|---|---|"]
            + [f"| {draw.choice(names)} | {i % 48} | {i % 99}M | {draw.randrange(1, 900)}.{i % 10} GB |" for i in range(size)]
        ),
        "sizes of many models": "\n".join(
            f"With {i % 90 + 4} layers and a hidden size of {64 * (i % 90 + 4)}, {draw.choice(names)} counts {i % 900}M parameters."
            for i in range(size)
        ),
        "spans": "<html><p>" + " ".join(f"<span><b>{i}</b> × <i>768</i> = {i * 768}</span>" for i in range(size)) + "</p></html>",
    }


def time_reading(text: str) -> float:
    """Return the processor seconds that undoing a text's typesetting takes: what every reader of it has to do."""
    start = time.process_time()
    read_lines(text.encode(), "long.md")
    return time.process_time() - start


def time_of(text: str, name: str = "long.md") -> float:
    """Return the processor seconds that the audit of a text takes."""
    start = time.process_time()
    audit(text, name=name)
    return time.process_time() - start


if __name__ == "__main__":
    hits, false, missed, claims = judge_slips()
    extra = judge_marked_lines()
    hits, false, missed = hits + extra[0], false + extra[1], missed + extra[2]
    print(f"slips in the corpus: {hits + missed}; claims checked: {claims}")
    print(f"precision {100 * hits / max(1, hits + false):.1f} %, recall {100 * hits / max(1, hits + missed):.1f} %")
    print(f"a single line, the whole process: {single_line():.2f} s")
    print(f"a README of 140 kB: {readme():.2f} s")
    print(f"a text of 10,000 lines: {time_formulas():.2f} s")
    for name, text in long_texts().items():
        whole, tenth = time_of(text), time_of("\n".join(text.splitlines()[: text.count("\n") // 10]))
        print(
            f"10,000 lines of {name}: {whole:.2f} s, {whole / time_reading(text):.0f} times reading them, {whole / tenth:.1f} times a tenth"
        )
    for name, text in marked_texts().items():
        print(f"10,000 lines in {name}: {time_of(text, name):.2f} s")
    once, twice = stretched_texts(2_000), stretched_texts(4_000)
    for name, text in once.items():
        ending = "long.html" if name == "spans" else "long.md"
        single = time_of(text, ending)
        print(f"{name}: {single:.2f} s; twice as much takes {time_of(twice[name], ending) / single:.1f} times that")
    sys.exit(bool(false or missed))
