"""A transformer in letters that no name settles: its parts, one layer and all of them are held against one another."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

_DERIVED = """## Self-attention
四个矩阵和四个偏置，这一块的参数量为 {}。

## MLP
先升到 4h，再降回 h，则参数量为 {}。

## 合计
加上两个归一化，一个 transformer 层的参数量为 {}，l 层就是 {}，再加上词嵌入，总参数量为 {}+Vh，近似为 {}。
"""
_RIGHT = ("4h^2+4h", "8h^2+5h", "12h^2+13h", "l(12h^2+13h)", "l(12h^2+13h)", "12lh^2")


@pytest.mark.parametrize(
    ("place", "formula"),
    [(0, "4h^2+6h"), (0, "7h^2+4h"), (1, "8h^2+3h"), (1, "9h^2+5h"), (2, "14h^2+13h"), (2, "12h^2+16h"), (3, "l(13h^2+13h)"), (4, "l(12h^2+31h)"), (5, "15lh^2")],
)  # fmt: skip
def test_one_number_that_the_others_contradict_is_wrong(place: int, formula: str) -> None:
    assert audit(_DERIVED.format(*_RIGHT)).wrong == ()
    changed = [*_RIGHT[:place], formula, *_RIGHT[place + 1 :]]
    wrong = audit(_DERIVED.format(*changed)).wrong
    assert [claim.text.replace(" ", "") for claim in wrong] == ([] if formula == "4h^2+6h" else [formula])


@pytest.mark.parametrize(
    "formula", ["12h^2", "12h^2+9h", "12h^2+4h", "12h^2+11h", "3h^2+3h", "h^2+h", "24h^2+13h 的显存", "16h^2 字节", "12h^2+13h^3"]
)
def test_what_counts_otherwise_is_left_alone(formula: str) -> None:
    assert audit(_DERIVED.format(*_RIGHT) + f"若不计偏置则每层为 {formula}。").wrong == ()


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("共需要 2x + 2x + (4x + 4x + 4x) = 16x 字节", 0),
        ("共需要 2x + 2x + (4x + 4x + 4x) = 18x 字节", 1),
        ("forward: (6+2+8+8)Bsh^2+(2+2)Bs^2h=24Bsh^2+4Bs^2h", 0),
        ("forward: (6+2+8+8)Bsh^2+(2+2)Bs^2h=24Bsh^2+6Bs^2h", 1),
        ("总计:23.8 + 85 ≈ 108.8M ≈ 110M", 0),
        ("总计:23.8 + 85 ≈ 108.8M ≈ 130M", 1),
    ],
)
def test_sums_of_one_letter_and_of_several(line: str, wrong: int) -> None:
    assert len(audit(line).wrong) == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("BERT-base:Embedding≈24M + 12层×7M≈85M ≈109M", 0),
        ("BERT-base:Embedding≈24M + 12层×7M≈85M ≈149M", 1),
        ("GPT2-small 有 12 层、12 个头、768 维,每层有 2个Layer Normalization。", 0),
        ("以 Qwen2.5-7B 为例:\n\nparams = 7_000_000_000  # 7B\n", 0),
        ("以 Qwen2.5-7B 为例:\n\nparams = 9_000_000_000\n", 1),
    ],
)
def test_what_a_label_a_norm_and_a_name_say(text: str, wrong: int) -> None:
    assert len(audit(text).wrong) == wrong
