"""Over a hundred small texts in the shapes people write: what is marked wrong is found, and nothing else is called wrong."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from weighbridge.auditing import audit
from weighbridge.auditing.checks import tally
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.text.tables import Table

SHAPES = Path(__file__).parents[2] / "corpus" / "audit_shapes.txt"


class Shape(NamedTuple):
    """One text: its name, the lines on which something is wrong, and how many claims must be judged at least."""

    name: str
    text: str
    wrong: list[int]
    least: int


def shapes() -> list[Shape]:
    """Read the corpus: ``=== NAME LEAST`` begins a text, and wrong numbers stand between « and »."""
    found = []
    for entry in re.split(r"^=== ", SHAPES.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, _, text = entry.partition("\n")
        name, least = head.split()
        wrong = [number for number, line in enumerate(text.split("\n"), 1) if "«" in line]
        found.append(Shape(name, text.replace("«", "").replace("»", ""), wrong, int(least)))
    return found


TEXTS = shapes()
assert len(TEXTS) >= 100


@pytest.mark.parametrize("shape", TEXTS, ids=lambda shape: shape.name)
def test_what_is_wrong_is_found_and_nothing_else(shape: Shape) -> None:
    found = audit(shape.text.encode(), name=shape.name)
    assert sorted({claim.line for claim in found.wrong}) == shape.wrong
    assert len(found.judged) >= shape.least


def test_a_text_whose_mark_is_forgotten_would_be_noticed() -> None:
    assert sum(bool(shape.wrong) for shape in TEXTS) >= 40


def test_one_table_is_not_the_total_of_a_text_that_counts_more() -> None:
    """A model card whose word table is near its model's whole count: what it computes of one table is no method's total."""
    from weighbridge import model

    config = {
        "model_type": "bert",
        "vocab_size": 8000,
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 256,
        "max_position_embeddings": 64,
    }
    text = "word embeddings: 8000 × 64 = 512,000\n\nposition embeddings: 64 × 64 = 4,096\n"
    assert audit(text, model=model(config)).corrected is None


def test_the_heads_of_a_table_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each of its numbers: a table of 25,000 rows took 49 seconds."""
    asked: list[Table] = []

    def heads(table: Table) -> list[str]:
        asked.append(table)
        return column_heads(table)

    monkeypatch.setattr(tally, "column_heads", heads)
    found = audit("\n".join(f"| layer{number} | {7919 * number + 10_007} |" for number in range(60)))
    assert found.summary["seen"] >= 30
    assert len(asked) == 1
