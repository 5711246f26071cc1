"""Errors in Chinese: each text is the whole one, and what nobody has translated stays English."""

from __future__ import annotations

import pytest

import weighbridge
from weighbridge.core.errors import ReadError, UsageError, WeighbridgeError
from weighbridge.core.messages import error_text
from weighbridge.web.query import read_query


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"source": "gpt22"}, "'gpt22' 既不是预设，也不是模型类型；是不是 gpt2？"),
        ({"set.hidden_size": "769"}, "hidden_size（769）不能被 num_attention_heads（12）整除，请修改其中之一"),
        ({"set.hidden_size": "0"}, "hidden_size：不能是 0，最小为 1（类的默认值为 768）"),
        ({"set.hidden_size": "x"}, "hidden_size：应为整数，实际为：字符串 'x'（类的默认值为 768）"),
        ({"set.num_hidden_layers": "99999"}, "num_hidden_layers：本服务器最多计算 10,000 层"),
        ({"config": "{"}, "该配置 不是 JSON：第 1 行第 2 列，此处应为双引号括起的键"),
        ({"class": "X"}, "没有类 'X'"),
    ],
)
def test_what_cannot_be_weighed_is_said_in_chinese(asked: dict[str, str], text: str) -> None:
    with pytest.raises(WeighbridgeError) as caught:
        read_query(asked).model()
    assert text in error_text(caught.value, "zh") or error_text(caught.value, "zh").startswith(text)
    assert error_text(caught.value, "en") == str(caught.value)


def test_arithmetic_that_nobody_can_tell_is_said_in_chinese() -> None:
    with pytest.raises(UsageError) as caught:
        weighbridge.model({"model_type": "mra"}).flops()
    assert error_text(caught.value, "zh") == "仅凭配置无法得知运算量：MRA 在运行时才选取各块"


def test_a_place_in_a_file_is_said_with_it() -> None:
    assert (
        error_text(ReadError("the header must begin with a brace", path="a.safetensors", offset=8), "zh")
        == "a.safetensors：文件头必须以花括号开头（位于第 8 字节）"
    )


def test_what_nobody_has_translated_stays_english() -> None:
    assert error_text(UsageError("something nobody has ever said: {}"), "zh") == "something nobody has ever said: {}"
