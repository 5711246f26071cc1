"""A count in letters said again in words is the same number; what only looks like it is left alone."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit


def wrong_numbers(text: str) -> list[str]:
    return [claim.text for claim in audit(text).claims if claim.verdict == "wrong"]


WRONG = {
    "- 7B模型 = 80亿参数": "80亿",
    "“13B”表示这个模型约有 150 亿个参数。": "150 亿",
    "The suffix 70B means that it has 80 billion parameters.": "80 billion",
    "参数规模约为 6000万（70M），适合边缘设备。": "70M",
    "**8B**：表示模型包含约90亿个参数": "90亿",
    "7B 就是 7亿参数": "7亿",
    "Here 7B stands for 8,000,000,000 parameters.": "8,000,000,000",
    "1B = 20亿个参数": "20亿",
    "1.17亿（127M）参数": "127M",
}  # fmt: skip


@pytest.mark.parametrize(("text", "number"), WRONG.items())
def test_another_number_is_wrong(text: str, number: str) -> None:
    assert set(wrong_numbers(text)) == {number}


TRUE = (
    "- 7B模型 = 70亿参数",
    "“13B”表示这个模型约有 130 亿个参数。",
    "Qwen2.5-7B (7.6 billion parameters) is small.",
    "A 7B model (8.03 billion parameters in truth) is what they ship.",
    "LLaMA-7B（67亿参数）",
    "Llama 2 70B means that it has 69 billion parameters, since names round.",
    "8B 模型：训练用了 150 亿 token。",
    "The 7B model: 14 billion bytes in half precision.",
    "7B = 28 GB in fp32, 14 GB in fp16.",
    "Mixtral 8x7B 总参数 467亿（46.7B），激活 129亿（12.9B）",
    "6000万（60M）",
    "GPT-2 XL: 1.5B（15亿）",
    "175B（1750亿）",
    "1.17亿（117M）参数",
    "3B（实际 34 亿参数）",
    "7B 需要约 140 亿字节的显存",
    "Phi-2 2.7B（27亿）",
    "405B 是 4050 亿",
    "1T（1万亿）参数",
    "0.5B（5亿）",
)  # fmt: skip


@pytest.mark.parametrize("text", TRUE)
def test_no_alarm_on_what_is_true(text: str) -> None:
    assert wrong_numbers(text) == []
