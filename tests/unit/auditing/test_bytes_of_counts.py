"""Bytes of weights beside the count that they are of: the one that is not where the others are is wrong."""

import pytest

from weighbridge.auditing import audit

FILES = """| Model | Params | File size |
|---|---|---|
| one | 86.6M | 346 MB |
| two | 88.2M | 353 MB |
| three | 304.3M | 1.22 GB |
| four | 306.5M | 1.23 GB |
"""
CARD = """| Property | Details |
|---|---|
| Number of parameters | 222.93 million |
| Memory | 891.72 MB (fp32) / 445.86 MB (fp16) |
"""


@pytest.mark.parametrize("text", [FILES, CARD], ids=["files", "card"])
def test_bytes_of_their_counts_are_no_slips(text: str) -> None:
    assert audit(text.encode(), name="x.md").wrong == ()


@pytest.mark.parametrize(
    ("text", "right", "wrong", "said"),
    [
        (FILES, "346 MB", "376 MB", "346 MB"),
        (FILES, "1.23 GB", "1.32 GB", "1.23 GB"),
        (CARD, "891.72 MB", "801.72 MB", "891.72 MB"),
        (CARD, "445.86 MB", "454.86 MB", "445.86 MB"),
    ],
)
def test_the_figure_that_is_not_of_its_count_is_found(text: str, right: str, wrong: str, said: str) -> None:
    (found,) = audit(text.replace(right, wrong).encode(), name="x.md").wrong
    assert found.text == wrong
    assert dict(found.reason[0].values)["right"] == said


def test_bytes_in_another_dtype_or_of_two_rows_settle_nothing() -> None:
    two = "\n".join(FILES.splitlines()[:4]).replace("353 MB", "453 MB")
    mixed = FILES.replace("346 MB", "173 MB").replace("1.23 GB", "613 MB")
    assert audit(two.encode(), name="x.md").wrong == ()
    assert audit(mixed.encode(), name="x.md").wrong == ()
