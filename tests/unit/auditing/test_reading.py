"""Lines as they come in files: long ones are read in pieces, so that time grows with their length and no faster."""

from weighbridge.auditing import audit
from weighbridge.auditing.text.reading import LONGEST, read_lines


def test_a_long_line_is_read_in_pieces_that_know_their_columns() -> None:
    line = "one word. " * 300 + "2 + 3 = 6"
    pieces = read_lines(line.encode())
    assert len(pieces) > 2
    assert all(len(piece.text) <= LONGEST and piece.number == 1 for piece in pieces)
    assert "".join(piece.text for piece in pieces).rstrip() == line
    (claim,) = audit(line).wrong
    assert line[claim.start : claim.end] == "2 + 3 = 6"


def test_a_line_without_spaces_is_cut_where_it_must_be() -> None:
    assert [len(piece.text) for piece in read_lines(b"x" * (2 * LONGEST + 1))] == [LONGEST, LONGEST, 1]
