"""Lists of layers that torchinfo 1.8.0, torchsummary 1.5.1 and Keras 3 printed of freshly built models: their rows add up, and a slip is found in its row."""

import re
from pathlib import Path

import pytest

from weighbridge.auditing import audit

PRINTED = sorted((Path(__file__).parents[2] / "corpus" / "layer_summaries").glob("*.txt"))
assert len(PRINTED) == 7


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.stem)
def test_what_a_program_printed_is_right_and_judged(path: Path) -> None:
    found = audit(path.read_text("utf-8"), name=path.name)
    assert found.wrong == ()
    text = path.read_text("utf-8")
    printed = [
        number
        for line in text.splitlines()
        if not re.search("recursive|[Mm]ult-adds", line)
        for number in re.findall(r"\b\d{1,3}(?:,\d{3})+\b", line)
    ]
    judged = [claim.text for claim in found.claims if claim.verdict == "exact"]
    assert len(printed) > 3 and not set(printed) - set(judged)


def test_a_slip_is_found_in_its_row() -> None:
    """Every digit of the tables; the twelve layers are one row twelve times, and each of them has its slip at another digit."""
    text = (PRINTED[0].parent / "bert_d3.txt").read_text("utf-8")
    lines = text.split("\n")
    slips = 0
    for index, line in enumerate(lines):
        places = [match.start() for match in re.finditer(r"\d(?=[\d,]*$)", line)]
        layer = re.search(r"BertLayer: 3-(\d+)", line)
        for place in [places[int(layer[1]) % len(places)]] if layer else places if "Embedding: " in line else []:
            digit = "7" if line[place] != "7" else "4"
            slipped = "\n".join([*lines[:index], line[:place] + digit + line[place + 1 :], *lines[index + 1 :]])
            assert index + 1 in {claim.line for claim in audit(slipped, name="a.txt").wrong}, slipped.split("\n")[index]
            slips += 1
    assert slips == 8 + 6 + 4 + 12


def test_rows_that_do_not_add_up_without_a_like_are_not_called_wrong() -> None:
    text = (PRINTED[0].parent / "keras_seq.txt").read_text("utf-8")
    assert audit(text.replace("100,480", "100,490"), name="a.txt").wrong == ()


def test_a_list_without_its_total_is_left_alone() -> None:
    text = (PRINTED[0].parent / "bert_d3.txt").read_text("utf-8")
    assert audit(text[: text.index("Total params")].replace("7,087,872", "7,087,871", 1), name="a.txt").wrong == ()
