"""The Transformer of 2017: its sizes and totals are those of its paper, and nobody else's are held against them."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

_RIGHT = [
    "论文《Attention Is All You Need》里 N=6，d_model=512，h=8，d_k=d_v=64，d_ff=2048。",
    "原始 Transformer 用了 6 层编码器和 6 层解码器，模型维度 512，8 个头，前馈层升到 2048 维。",
    "The vanilla Transformer stacks 6 encoder layers and 6 decoder layers with d_model = 512, 8 heads and d_ff = 2048.",
    "Attention Is All You Need 的作者取 h 为 8，d_model 为 512，d_k 和 d_v 都是 64，Feed Forward 层的隐藏单元数是 2048。",
    "Transformer (base): N = 6, d_model = 512, d_ff = 2048, h = 8, about 65M parameters; big: d_model = 1024, d_ff = 4096, h = 16, about 213M parameters.",
]


_TABLE = """Transformer 的两个配置：

| 超参数 | base | big |
|---|---|---|
| N | 6 | 6 |
| d_model | 512 | {} |
| d_ff | 2048 | 4096 |
| h | 8 | 16 |
| 参数量 | {} | 213M |
"""


@pytest.mark.parametrize("text", _RIGHT)
def test_what_the_paper_says_is_right(text: str) -> None:
    found = audit(text).claims
    assert len(found) >= 4
    assert {claim.verdict for claim in found} <= {"exact", "rounded"}


@pytest.mark.parametrize(
    ("text", "right", "wrong", "expected"),
    [
        (_RIGHT[0], "N=6", "N=8", 6),
        (_RIGHT[0], "d_v=64", "d_v=46", 64),
        (_RIGHT[1], "8 个头", "6 个头", 8),
        (_RIGHT[1], "维度 512", "维度 521", 512),
        (_RIGHT[2], "6 decoder", "8 decoder", 6),
        (_RIGHT[2], "2048", "2084", 2048),
        (_RIGHT[3], "h 为 8", "h 为 6", 8),
        (_RIGHT[3], "都是 64", "都是 46", 64),
        (_RIGHT[3], "2048", "2408", 2048),
        (_RIGHT[4], "65M", "56M", 65_000_000),
        (_RIGHT[4], "1024", "1204", 1024),
        (_RIGHT[4], "213M", "231M", 213_000_000),
    ],
)
def test_a_slip_of_it_is_wrong(text: str, right: str, wrong: str, expected: int) -> None:
    assert text.count(right) == 1
    assert [claim.expected for claim in audit(text.replace(right, wrong)).wrong] == [expected]


def test_a_table_with_a_column_for_each_of_its_models() -> None:
    assert audit(_TABLE.format("1024", "65M")).wrong == ()
    assert [claim.expected for claim in audit(_TABLE.format("1042", "65M")).wrong] == [1024]
    assert [claim.expected for claim in audit(_TABLE.format("1024", "85M")).wrong] == [65_000_000]


@pytest.mark.parametrize(
    "text",
    [
        _RIGHT[0] + "\n为了省显存，我们取 N=2，d_model=128，h=4。",
        _RIGHT[2] + "\nTo fit a laptop we shrink it to 3 layers with d_model = 256, 4 heads and d_ff = 1024.",
        _RIGHT[2] + "\nWith h = 32 in an ablation the score drops; a variant with 4 layers has 50M parameters.",
        _RIGHT[1] + "\n图中只画了 2 层编码器，第 3 层与第 4 层略去。",
        _RIGHT[1] + "\nDeepMind 的 Chinchilla-like 模型有 80 层，DETR 的编码器有 6 层、宽度 256。",
        _RIGHT[0] + "\n\n作业：实现层数 4、d_model=256、h=4 的编码器。",
        _RIGHT[4] + "\nWithout tied tables the base model has 101M parameters, and its layers alone 44M parameters.",
        "Our system uses the configuration of Vaswani et al. (d_model = 512, d_ff = 2048, 8 heads) with 12 encoder layers and 2 decoder layers.",
        "We compare with a vanilla Transformer with 4 layers, d_model = 512, 8 heads and d_ff = 2048.",
        "标准 Transformer 编码器共 4 层，d_model=512，8 个头，d_ff=2048，接一个 3 层的解码器。",
        "采用 Transformer big（d_model=1024，d_ff=4096，16 头），编码器加深到 20 层，解码器 6 层，约 300M 参数。",
        "Graph Transformer 原论文中使用 4 层、d_model=512、8 个头、d_ff=2048 的编码器。",
        "原论文的 Transformer 消融：N=2 时 36M，N=4 时 50M；base 为 d_model=512、h=8、d_ff=2048、N=6，单头与 32 头都差一些。",
        "- transformer_base (Attention Is All You Need): 6 layers, d_model 512, 8 heads, d_ff 2048\n- transformer_deep: 25 layers, d_model 512, 8 heads, d_ff 2048",
        _TABLE.format("1024", "65M").replace("| N | 6 | 6 |", "| N | 4 | 6 |") + "\n我们的 base 只有 4 层，原始 Transformer 有 6 层。",
        "nn.Transformer follows Attention Is All You Need: d_model=512, nhead=8, num_encoder_layers=6, dim_feedforward=2048. It has 44,140,544 parameters without embeddings; with 10,000 words in source and target and a head it has about 59.5M parameters.",
        "Unlike BERT-base with its 12 layers, the original Transformer has 6 layers, d_model = 512 and 8 heads.",
    ],
)
def test_other_models_beside_it_are_not_held_against_the_paper(text: str) -> None:
    assert audit(text).wrong == ()


def test_a_figure_of_two_digits_near_the_published_one_is_left_alone() -> None:
    text = "The original Transformer has 6 layers, d_model = 512, 8 heads and {} parameters."
    assert audit(text.format("64M")).wrong == ()
    assert [claim.text for claim in audit(text.format("85M")).wrong] == ["85M"]


def test_which_of_the_two_may_stand_behind_a_count() -> None:
    text = _RIGHT[2] + " The paper reports 65M parameters for the base model and {} parameters for the big one."
    assert audit(text.format("213M")).wrong == ()
    assert [claim.expected for claim in audit(text.format("231M")).wrong] == [213_000_000]


def test_sizes_of_nobody_do_not_make_it_a_small_bert() -> None:
    found = audit("原始 Transformer：d_model = 512，6 层，8 个头，d_ff = 2048，词表 37000。")
    assert found.model == ""
