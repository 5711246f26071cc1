"""Lines as they come in files: long ones are read in pieces, so that time grows with their length and no faster."""

import re

from weighbridge.auditing import audit
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.openings import opens_with_another
from weighbridge.auditing.text.reading import LONGEST, read_lines


def test_a_long_line_is_read_in_pieces_that_know_their_columns() -> None:
    line = "one word. " * 1_000 + "2 + 3 = 6"
    pieces = read_lines(line.encode())
    assert len(pieces) > 2
    assert all(len(piece.text) <= LONGEST and piece.number == 1 for piece in pieces)
    assert "".join(piece.text for piece in pieces).rstrip() == line
    (claim,) = audit(line).wrong
    assert line[claim.start : claim.end] == "2 + 3 = 6"


def test_half_an_equation_is_not_read() -> None:
    sum_of_many = " + ".join(["1,000"] * 1_000) + " = 1,000,000"
    assert [len(piece.text) for piece in read_lines(sum_of_many.encode())[:-1]] == [0, 0]
    assert not audit(sum_of_many).wrong


def test_dates_are_no_subtractions() -> None:
    assert not audit("- 2026-01: MagpieTTS was released.\n- 2026: This repo has pivoted to speech.").claims
    assert audit("2400 - 100\n2301").wrong


def test_commands_of_tex_are_no_words_of_a_sentence() -> None:
    assert not opens_with_another(r"\section*{\raggedright 2 Encoder $\times$ 12\hfill 85,054,464", 44)


def test_a_pattern_is_compiled_once_it_is_used() -> None:
    found = pattern("(?P<number>[0-9]+)", re.IGNORECASE)
    assert "search" not in vars(found)
    assert [match["number"] for match in found.finditer("12 layers of 768")] == ["12", "768"]
    assert "search" in vars(found)
    assert found.groupindex == {"number": 1}
