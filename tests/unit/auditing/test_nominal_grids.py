"""Tables of bytes of models that are only called by their counts: where nearly all is exactly so many bytes for each parameter, the cell that is not is wrong."""

import pytest

from weighbridge.auditing import audit

BY_DTYPE = """| Size | FP32 | FP16 | INT8 |
|---|---|---|---|
| 9B | 36 GB | 18 GB | 9 GB |
| 11B | 44 GB | 22 GB | 11 GB |
| 40B | 160 GB | 80 GB | 40 GB |
"""
OF_STATES = """| 部分 | 每参数字节 | 9B | 11B |
|---|---|---|---|
| 权重（bf16） | 2 | 18GB | 22GB |
| 梯度 | 4 | 36GB | 44GB |
| 优化器状态 | 12 | 108GB | 132GB |
"""
IN_HEADS = """| | 9B (GB) | 11B (GB) | 40B (GB) |
|---|---|---|---|
| fp16 | 18 | 22 | 80 |
| int8 | 9 | 11 | 40 |
"""


def _wrong(text: str) -> list[str]:
    return [claim.text for claim in audit(text.encode(), name="x.md").wrong]


@pytest.mark.parametrize("text", [BY_DTYPE, OF_STATES, IN_HEADS])
def test_a_table_that_agrees_with_itself_is_right(text: str) -> None:
    assert _wrong(text) == []


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (BY_DTYPE, "22 GB", "24 GB"),
        (BY_DTYPE, "| 9 GB", "| 7 GB"),
        (BY_DTYPE, "160 GB", "180 GB"),
        (OF_STATES, "44GB", "54GB"),
        (OF_STATES, "| 12 |", "| 14 |"),
        (OF_STATES, "108GB", "118GB"),
        (IN_HEADS, "| 80 |", "| 88 |"),
    ],
)
def test_the_cell_that_does_not_is_wrong(text: str, right: str, wrong: str) -> None:
    assert _wrong(text.replace(right, wrong)) == [wrong.strip("| ")]


@pytest.mark.parametrize(
    "text",
    [
        BY_DTYPE.replace("| Size |", "| Training |").replace("22 GB", "24 GB"),
        BY_DTYPE.replace("36 GB", "33.5 GB").replace("44 GB", "41.0 GB").replace("160 GB", "149 GB"),  # powers of two
        BY_DTYPE.replace("INT8 |", "KV cache |").replace("| 9 GB", "| 3 GB"),
        BY_DTYPE.replace("FP32", "Recommended card").replace("36 GB", "24 GB"),
        "| Size | FP16 |\n|---|---|\n| 9B | 18 GB |\n| 11B | 24 GB |\n",  # too little to tell
        BY_DTYPE.replace("| 9B", "| 9.2B").replace("| 11B", "| 11.3B"),
    ],
)
def test_a_table_of_something_else_settles_nothing(text: str) -> None:
    assert _wrong(text) == []
