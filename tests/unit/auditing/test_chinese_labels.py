"""Tables and lists of labelled Chinese quantities, of one of several models that a text names."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

_TABLE = """Kimi K2 与 DeepSeek-R1 相比更大。

配置 | 说明 |
---|---|
总参数量 | 1.03万亿 |
层数(含稠密层) | {layers} |
稠密层数量 | 1 |
注意力隐藏层维度 | {hidden} |
MoE隐藏层维度(单专家) | 2048 |
注意力头数量 | {heads} |
专家数量 | {experts} |
每token选择的专家数 | {active} |
"""
_RIGHT = {"layers": 61, "hidden": 7168, "heads": 64, "experts": 384, "active": 8}


def test_the_sizes_of_a_list_tell_whose_it_is() -> None:
    found = audit(_TABLE.format(**_RIGHT))
    assert found.wrong == ()
    assert {claim.text for claim in found.judged if claim.kind == "configuration"} >= {"384", "8", "2048"}


@pytest.mark.parametrize(("size", "slip"), [("hidden", 7618), ("heads", 46), ("experts", 348), ("active", 3)])
def test_the_one_that_is_not_the_models_is_wrong(size: str, slip: int) -> None:
    assert [claim.text[-len(str(slip)) :] for claim in audit(_TABLE.format(**{**_RIGHT, size: slip})).wrong] == [str(slip)]


def test_two_that_are_not_leave_it_open_whose_the_list_is() -> None:
    assert audit(_TABLE.format(**{**_RIGHT, "heads": 46, "experts": 348})).wrong == ()


def test_a_list_of_items_is_read_as_a_table_is() -> None:
    listed = "## Qwen2.5-7B\n\n- 总参数量:76.1亿\n- 层数:28\n- 隐藏层维度:{}\n- 查询头数:28\n- 键值头数:4\n"
    assert audit(listed.format(3584)).wrong == ()
    assert [claim.value for claim in audit(listed.format(3854)).wrong] == [3854]


def test_a_length_in_tokens_is_no_number_of_layers() -> None:
    assert audit("以 GPT-2（L=1024 tokens, 12 heads, 12 layers）为例。").wrong == ()
