"""Models that a text describes itself: a count is right in some reading of the sizes, or one digit from one."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit
from weighbridge.auditing.checks.own_readings import OwnSizes, any_of, readings, whole_counts
from weighbridge.auditing.text.own_sizes import plain_sizes_of

_PLAIN = """Our decoder stacks 10 layers of width 640 with 10 heads and an FFN of 2560; the vocabulary has 20,000 entries.

Each attention block holds 1.64M parameters, each FFN 3.28M, so one layer holds 4.92M and the 10 layers 49.2M.
The embedding adds 12.8M, so the total is about 62.0M parameters. Every head has 64 dimensions.
"""
_CHINESE = """| 超参数 | 值 |
|---|---|
| d_model | 384 |
| n_heads | 6 |
| n_layers | 5 |
| d_ff | 1536 |
| vocab_size | 8000 |

每层注意力（含偏置）有 591,360 个参数，每层前馈（含偏置）有 1,181,568 个参数。
一层合计 1,774,464，五层合计 8,872,320。词嵌入有 3,072,000 个参数。每个头的维度是 64。
"""


@pytest.mark.parametrize("text", [_PLAIN, _CHINESE])
def test_counts_that_follow_from_the_sizes_are_right(text: str) -> None:
    found = audit(text)
    assert found.wrong == ()
    assert len([claim for claim in found.judged if claim.kind in ("component", "total", "arithmetic")]) >= 5


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (_PLAIN, "1.64M", "1.46M"),
        (_PLAIN, "3.28M", "3.82M"),
        (_PLAIN, "49.2M", "42.9M"),
        (_PLAIN, "12.8M", "18.8M"),
        (_PLAIN, "62.0M", "72.0M"),
        (_PLAIN, "has 64 dim", "has 46 dim"),
        (_CHINESE, "591,360", "591,630"),
        (_CHINESE, "1,181,568", "1,181,658"),
        (_CHINESE, "1,774,464", "1,777,464"),
        (_CHINESE, "8,872,320", "8,827,320"),
        (_CHINESE, "3,072,000", "3,702,000"),
        (_CHINESE, "维度是 64", "维度是 46"),
    ],
)
def test_a_slip_of_one_is_wrong(text: str, right: str, wrong: str) -> None:
    assert text.count(right) == 1
    assert len(audit(text.replace(right, wrong)).wrong) >= 1


@pytest.mark.parametrize(
    "text",
    [
        _PLAIN + "With an adapter in it, a layer has 5.92M parameters.",
        _PLAIN + "Its gated variant (three matrices) has 4.92M in each FFN and 65.5M in its layers.",
        _PLAIN + "With biases and norms a layer has 4,923,520 parameters.",
        _PLAIN + "At width 720 the layers would take 62.2M, at 800 76.8M.",
        _PLAIN
        + "After a bottleneck was put into it, a layer has 1.92M parameters, without its FFN 1.46M, with a wider one 4.29M and with a narrower one 2.94M.",
        _PLAIN + "A small sister has 4 layers of width 256 with 4 heads and an FFN of 1024: 0.79M in each layer.",
        _PLAIN + "A mixture of 4 experts has 11.5M parameters in a layer.",
        _PLAIN + "Its activations take 4.29M values, a forward pass 98.4M FLOPs a token, and it saw 4.12M sentences.",
        "例如 d_model = 4、2 个头、词表 10：词嵌入 40 个参数，每个头 2 维。",
        "某模型 8 层、宽 512、8 个头、FFN 2048。学生回答一层有 3.51M 参数，对吗？",
    ],
)
def test_what_no_size_refutes_is_left_alone(text: str) -> None:
    assert audit(text).wrong == ()


def test_what_a_count_lies_in_may_stand_behind_it() -> None:
    text = "With d_model 512, 8 layers, 8 heads, d_ff 2048 and vocab_size 8000, {} are in the layers and 4.10M in the embedding, 29.3M in total."
    assert audit(text.format("25.2M")).wrong == ()
    assert [claim.text for claim in audit(text.format("22.5M")).wrong] == ["22.5M"]


def test_millions_of_two_to_the_twentieth_are_a_text_s_or_none() -> None:
    text = "We use 8 layers, d_model = 512, 8 heads, d_ff = 2048. Each attention holds {} parameters, each FFN {}, a layer {}."
    assert audit(text.format("1.05M", "2.10M", "3.15M")).wrong == ()
    assert audit(text.format("1.00M", "2.00M", "3.00M")).wrong == ()
    assert [claim.text for claim in audit(text.format("1.05M", "2.00M", "3.15M")).wrong] == ["2.00M"]


def test_one_count_alone_is_no_proof() -> None:
    assert (
        audit("A decoder of 10 layers, width 640, 10 heads and an FFN of 2560. The attention has 1.46M parameters in each layer.").wrong
        == ()
    )


_CACHE = "模型有 20 层、8 个 KV 头，head_dim = 128，fp16。每个 token 的 KV 缓存为 {}，长度 4096 时为 {}。"


def test_caches_of_a_described_model() -> None:
    assert audit(_CACHE.format("80 KB", "320 MB")).wrong == ()
    assert [claim.text for claim in audit(_CACHE.format("60 KB", "320 MB")).wrong] == ["60 KB", "320 MB"]  # the length makes 240 MB of that
    assert [claim.text for claim in audit(_CACHE.format("80 KB", "230 MB")).wrong] == ["230 MB"]
    assert audit(_CACHE.format("80 KB", "320 MB") + "只存 K 时为 40 KB，一层为 4 KB。").wrong == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d_model = 768，12 个头，所以每个头 64 维。", []),
        ("d_model = 768，12 个头，所以每个头分到 62 维。", [64]),
        ("With d_model = 1024 and 16 heads, each head gets 65 dimensions.", [64]),
        ("With d_model = 1024 and 16 heads, each head has 128 dimensions, as head_dim is set apart.", []),
        ("d_model = 512, 8 heads. A toy of 3 heads and d_model = 12 has heads of 4 dimensions.", []),
        ("dim = 256\nn_heads = 8\nhead_dim = dim // n_heads  # 23", [32]),
    ],
)
def test_the_width_of_a_head_is_a_quotient(text: str, expected: list[int]) -> None:
    assert [claim.expected for claim in audit(text).wrong] == expected


_COLUMNS = """| 配置 | 小 | 中 | 大 |
|---|---|---|---|
| d_model | 384 | 512 | 768 |
| n_layers | 4 | 8 | 10 |
| n_heads | 6 | 8 | 12 |
| head_dim | 64 | {} | 64 |
| d_ff | 1536 | 2048 | 3072 |
| 非嵌入参数量 | 7.08M | 25.2M | {} |
"""
_ROWS = """| run | layers | d_model | heads | d_ff | vocab | params |
|---|---|---|---|---|---|---|
| a | 4 | 256 | 4 | 1024 | 8000 | 5.20M |
| b | 6 | 384 | 6 | 1536 | 8000 | {} |
| c | 8 | 512 | 8 | 2048 | 8000 | 29.3M |
"""


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (_COLUMNS.format("64", "70.8M"), []),
        (_COLUMNS.format("62", "70.8M"), ["62"]),
        (_COLUMNS.format("64", "78.8M"), ["78.8M"]),
        (_COLUMNS.format("128", "70.8M"), []),  # a head may be set apart
        (_ROWS.format("13.7M"), []),
        (_ROWS.format("18.7M"), ["18.7M"]),
        (_ROWS.format("18.7M") + "\nRun b has adapters in each layer.", []),
    ],
)
def test_tables_whose_models_are_nobody_s(text: str, wrong: list[str]) -> None:
    assert [claim.text for claim in audit(text).wrong] == wrong


def test_parts_of_the_original_transformer() -> None:
    text = "原始 Transformer（d_model=512，h=8，d_ff=2048，N=6）的一个多头注意力共有 {} 个参数，编码器一层共 3,145,728 个参数。"
    assert audit(text.format("1,048,576")).wrong == ()
    assert [claim.text for claim in audit(text.format("1,084,576")).wrong] == ["1,084,576"]


def test_what_somebody_got_wrong_is_no_claim() -> None:
    assert audit(_PLAIN + "A student wrote 1.46M for the attention.").wrong == ()


def test_readings_have_biases_or_not_and_two_matrices_or_three() -> None:
    own = readings(OwnSizes(512, layers=8, heads=8, kv_heads=2, mlp=1408, vocab=6400))
    assert any_of(own, ("attention",), 655_360, 655_360) == 655_360
    assert any_of(own, ("ffn",), 2_162_688, 2_162_688) == 2_162_688
    assert whole_counts(OwnSizes(512, layers=8, heads=8, kv_heads=2, mlp=1408, vocab=6400), 25_829_888, 25_829_888) == 25_829_888
    assert "ffn" not in readings(OwnSizes(512, heads=8))


def test_sizes_that_people_give_their_models() -> None:
    assert dict(plain_sizes_of("a 4-layer, 4-head model with 384 feature channels and a vocabulary of 65")) == {
        "layers": 4,
        "heads": 4,
        "hidden": 384,
        "vocab": 65,
    }
    assert plain_sizes_of("- per layer: 995,904") == ()


def test_sizes_of_everybody_name_no_model() -> None:
    found = audit("The model has 6 layers, d_model = 512, 8 heads, d_ff = 2048 and 32,000 words: 16.4M parameters in its embedding.")
    assert found.model == ""
    assert found.wrong == ()
