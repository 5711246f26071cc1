"""Over a hundred small texts in the shapes people write: what is marked wrong is found, and nothing else is called wrong."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from weighbridge.auditing import audit

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
