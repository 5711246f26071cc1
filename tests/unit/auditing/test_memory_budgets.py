"""Figures that a text reckons itself, memory, shapes and shares: the one that breaks the reckoning, and what is no such slip."""

from pathlib import Path

import pytest

from weighbridge.auditing import audit

CORPUS = Path(__file__).parents[2] / "corpus"
TRUE = dict(entry.split("\n", 1) for entry in (CORPUS / "audit_true_reckonings.txt").read_text("utf-8").split("\n=== ")[1:])
assert len(TRUE) >= 40
SLIPS = (
    ("Storing a 9B network takes 36 GB in single precision; half precision brings that to {}.", "18 GB", "13 GB"),
    ("To tune all of a 5B model you hold the weights ({} in BF16), the gradients (10 GB) and Adam's states (40 GB).", "10 GB", "16 GB"),
    ("The weights of a 5B model are 10 GB in bf16, the gradients 10 GB and the optimizer 60 GB. Total: {}.", "80 GB", "88 GB"),
    ("34B 模型:\n- 单精度要 136GB\n- 半精度要 {}\n- 8 位要 34GB", "68GB", "69GB"),
    ("权重 18GB(bf16),梯度 18GB,优化器状态 {},都是 9B 模型的。", "108GB", "128GB"),
    ("这三部分:3B 模型的参数 6GB(fp16)、梯度 6GB、优化器 36GB,合计 {}。", "48GB", "58GB"),
    ("| 规模 | 全量训练 |\n|---|---|\n| 2B | 32 GB |\n| 9B | {} |\n| 27B | 432 GB |", "144 GB", "154 GB"),
    ("| Precision | 30B |\n|---|---|\n| FP32 | 120 GB |\n| BF16 | {} |\n| INT8 | 30 GB |", "60 GB", "70 GB"),
    ("It has 48.5 million parameters: {} in fp32, 97 MB in fp16.", "194 MB", "294 MB"),
    ("K: 640 × 80\nV: (640, 80) → {}", "51,200", "51,300"),
    ("Rank 4 on a 2048 × 640 matrix trains {} parameters.", "10,752", "10,952"),
    ("A∈R^{{4×640}}、B∈R^{{640×4}},共 {} 个参数。", "5,120", "5,720"),
    ("nn.Linear(640, 80) holds {} parameters, bias included.", "51,280", "51,380"),
    ("The 21B network works with 3.6B on each token, roughly {} of its parameters.", "17.1%", "19.1%"),
    ("嵌入层 52.4M({}),主干 155M(72.1%),输出头 7.5M(3.5%),总参数 214.9M。", "24.4%", "26.4%"),
    ("从 409,600 个参数减少到 5,120 个,减少了 {}。", "98.75%", "93.75%"),
    ("Instead of 409,600 weights it trains 5,120 parameters, an {} reduction.", "80x", "90x"),
    ("trainable params: {} || all params: 215,122,880 || trainable%: 0.3809", "819,200", "919,200"),
    ("A decoder of 24 layers with 4 KV heads of dimension 64 in fp16 caches {} bytes per token.", "24,576", "24,976"),
    ("The cache grows by 96 KB per token; a prompt of 2,048 tokens fills {}.", "192 MB", "142 MB"),
    ("KV cache:\n- 1K tokens: 24 MB\n- 4K tokens: {}\n- 16K tokens: 384 MB\n- 64K tokens: 1.5 GB", "96 MB", "86 MB"),
    ("KV 缓存每个 token 占 96 KB,2048 个 token 是 192 MB,并发 10 路就是 {}。", "1.92 GB", "1.52 GB"),
    ("- Support: a 2B model (4 GB)\n- Sales: a 2B model ({})\n- Legal: a 2B model (4 GB)", "4 GB", "9 GB"),
)


@pytest.mark.parametrize("text", TRUE.values(), ids=TRUE)
def test_a_true_reckoning_is_not_called_wrong(text: str) -> None:
    assert [claim.text for claim in audit(text).wrong] == []


@pytest.mark.parametrize(("text", "right", "slip"), SLIPS)
def test_the_figure_that_breaks_the_reckoning_is_wrong(text: str, right: str, slip: str) -> None:
    assert audit(text.format(right)).wrong == ()
    assert [claim.text.split()[0].rstrip("KMGBkmgb") for claim in audit(text.format(slip)).wrong] == [slip.split()[0].rstrip("KMGB")]


def test_a_row_is_confirmed_by_the_digits_that_it_shows() -> None:
    text = "| Context | KV cache |\n|---|---|\n| 4K | 1.00 GB |\n| 8K | 2.00 GB |\n| 16K | 4.10 GB |\n| 32K | 8.00 GB |\n"
    assert [claim.text for claim in audit(text).judged if claim.verdict == "rounded"] == ["1.00 GB", "2.00 GB", "8.00 GB"]
