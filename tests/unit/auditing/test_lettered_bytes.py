"""Formulas in letters whose letters have values above, and how many times the weights' bytes they come to."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

_TEXT = """设模型的层数为 l=24,隐藏维度为 h=2048,注意力头数为 a=16,模型参数占用的显存为 2.6GB。

序列长度 s 为 1024 时:

当 b=1 时,中间激活占用 $(34bsh+5bs^2 a)*l$ byte ≈ {one} ,大约是模型参数显存的{times}倍。

当 b=8 时,中间激活占用 $(34bsh+5bs^2 a)*l = {eight}$ byte。
"""
_EIGHT = 24 * (34 * 8 * 1024 * 2048 + 5 * 8 * 1024**2 * 16)
_ONE = _EIGHT / 8 / 1e9


def test_the_values_are_the_formulas() -> None:
    right = {"one": f"{_ONE:.1f}GB", "times": f"{_ONE / 2.6:.1f}", "eight": f"{_EIGHT:,}"}
    assert audit(_TEXT.format(**right)).wrong == ()
    for name, slip in (("one", "7.3GB"), ("times", "4.1"), ("eight", f"{_EIGHT + 300_000:,}")):
        assert [claim.text[: len(slip)] for claim in audit(_TEXT.format(**{**right, name: slip})).wrong] == [slip]


@pytest.mark.parametrize(
    "text",
    [
        "激活为 $34bsh$ byte ≈ 9GB。",
        "当 b=1、s=512 时,激活为 $34bsh$ byte ≈ 9GB。",
        "设 h=768,s=512,b=1,则 $34bsh + x$ = 5GB。",
        "设 h=768,s=512,b=4,批次变大后 $bsh$ 约为 900GB。",
    ],
)
def test_letters_without_values_and_other_formulas_are_left_alone(text: str) -> None:
    assert audit(text).wrong == ()
