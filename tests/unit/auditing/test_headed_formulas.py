"""Columns headed by a formula, cells that list sizes, families that come in sizes, and prints whose widths must fit."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

_FORMULA = """
| 名称 | 宽度 h | 层数 n | 估算 12nh^2 |
| --- | --- | --- | --- |
| 甲 | 1024 | 24 | {} |
| 乙 | 2048 | 24 | 1,207,959,552 |
"""


def test_a_column_is_what_its_head_works_out() -> None:
    assert audit(_FORMULA.format("301,989,888")).wrong == ()
    assert [claim.value for claim in audit(_FORMULA.format("301,899,888")).wrong] == [301_899_888]


def test_a_letter_may_stand_right_behind_its_word() -> None:
    text = _FORMULA.replace("宽度 h", "宽度h").replace("层数 n", "层数n")
    assert [len(audit(text.format(said)).wrong) for said in ("301,989,888", "301,899,888")] == [0, 1]


def test_a_column_of_other_numbers_is_left_alone() -> None:
    assert audit(_FORMULA.format("301,899,888").replace("1,207,959,552", "1,300,000,000")).wrong == ()


@pytest.mark.parametrize(("cell", "wrong"), [("L=12,H=768,A=12", []), ("L=12,H=758,A=12", ["758"]), ("L=6,H=312,A=12", [])])
def test_a_cell_that_lists_sizes_is_its_rows_model(cell: str, wrong: list[str]) -> None:
    found = audit(f"| 模型 | 参数 |\n| --- | --- |\n| roberta-base | {cell} |\n| bert-large-uncased | L=24,H=1024,A=16 |\n")
    assert [claim.text[-3:] for claim in found.wrong] == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Llama 2 开源了三个尺寸:70亿、130亿和700亿参数。", []),
        ("Llama 2 开源了三个尺寸:70亿、180亿和700亿参数。", ["180亿"]),
        ("Llama 2 之后又有了 30亿、90亿和 1800亿参数的模型。", []),
        ("GPT-3 的最大版本有 1750 亿参数、86 层。", ["86"]),
    ],
)
def test_a_family_comes_in_its_own_sizes(text: str, wrong: list[str]) -> None:
    assert [claim.text for claim in audit(text).wrong] == wrong


_PRINTED = """MyModel(
  (word_embeddings): Embedding({words}, 2048)
  (query_key_value): Linear(in_features=2048, out_features=6144, bias=True)
  (dense): Linear(in_features={inner}, out_features=2048, bias=False)
  (dense_h_to_4h): Linear(in_features=2048, out_features=11008, bias=False)
  (dense_4h_to_h): Linear(in_features=5504, out_features=2048, bias=False)
  (output_layer): Linear(in_features=2048, out_features=64000, bias=False)
)
"""


@pytest.mark.parametrize(
    ("changed", "wrong"), [({}, 0), ({"words": 64300}, 1), ({"inner": 2058}, 1), ({"words": 65024}, 0), ({"inner": 1024}, 0)]
)
def test_the_modules_of_a_print_fit_each_other(changed: dict[str, int], wrong: int) -> None:
    assert len(audit(_PRINTED.format(**{"words": 64000, "inner": 2048, **changed})).wrong) == wrong


_PARTS = """| 组件 | 参数量 |
|---|---|
| Q | 16.8M |
| K | 4.2M |
| O | 16.8M |
| 注意力小计 | {} |
| gate | 50.3M |
| up | 50.3M |
| 前馈小计 | 100.6M |
| norm | 8K |
| head | 3M |
| 总计 | 180M |
"""


@pytest.mark.parametrize(("said", "wrong"), [("37.8M", []), ("37.9M", []), ("38M", []), ("57M", ["57M"]), ("30M", ["30M"])])
def test_a_subtotal_is_the_sum_of_its_group_where_another_is(said: str, wrong: list[str]) -> None:
    assert [claim.text for claim in audit(_PARTS.format(said)).wrong] == wrong
    neither = audit(_PARTS.replace("100.6M", "151M").format(said)).wrong
    assert [claim.text for claim in neither] == ([] if wrong else ["151M"])


@pytest.mark.parametrize(("said", "wrong"), [("23.8", []), ("23.79", []), ("24", []), ("24.8", ["24.8M"]), ("31.2", [])])
def test_a_subtotal_below_a_list_is_its_sum(said: str, wrong: list[str]) -> None:
    text = f"- 嵌入:\n  - 词 ≈ 23.4M\n  - 位置 ≈ 0.39M\n  - 句子 ≈ 0.0015M\n  - 小计 ≈ **{said}M**\n"
    assert [claim.text for claim in audit(text).wrong] == wrong
