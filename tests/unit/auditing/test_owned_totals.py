"""Counts of the one model of a text, however long the sentence between its name and its count."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

_SENTENCES = (
    "其中,Qwen2.5-7B是该系列中兼顾性能与效率的中等规模模型,拥有{}亿总参数65.3亿非嵌入参数,适用于本地部署。",
    "其中,Qwen2.5-7B作为该系列中参数量为 {} 亿的中等规模模型,在性能、效率与可部署性之间取得了平衡。",
)


@pytest.mark.parametrize("sentence", _SENTENCES)
def test_a_count_is_the_one_models(sentence: str) -> None:
    assert [claim.text for claim in audit(sentence.format("76.1")).wrong] == []
    assert [claim.value for claim in audit(sentence.format("70.1")).wrong] == [7_010_000_000]


@pytest.mark.parametrize("sentence", _SENTENCES)
def test_it_is_not_where_it_is_the_authors_own(sentence: str) -> None:
    assert audit("我们自己的模型参考了它。\n" + sentence.format("70.1")).wrong == ()


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("Gemma 7B actually has 8.94B parameters: 28 layers, d_model 3072, 16 heads of size 256.", ["wrong"]),
        ("Gemma 7B actually has 8.54B parameters: 28 layers, d_model 3072, 16 heads of size 256.", ["rounded"]),
        ("Llama 2 7B has 32 layers, a width of 4096, 32 heads and 6.94B parameters in each of its copies.", ["wrong"]),
        ("Llama 2 7B has 32 layers, a width of 4096, 32 heads and about 6.94B parameters in each of its copies.", ["note"]),
    ],
)
def test_a_figure_is_approximate_only_where_it_is_said_to_be(text: str, verdicts: list[str]) -> None:
    assert [claim.verdict for claim in audit(text).claims if claim.kind == "total"] == verdicts
