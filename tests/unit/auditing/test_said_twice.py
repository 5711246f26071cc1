"""Numbers that a Chinese text says twice, in another unit or as a setting and in words, and letters that results are given."""

from __future__ import annotations

import pytest

from weighbridge import audit
from weighbridge.auditing.text import component_words, described_sizes
from weighbridge.auditing.text.phrases import as_trie

TRUE = """\
每层的参数为 (30522+512+2)*768=23835648=A,其中 768+768=1536=H
32000 × 4096 ≈ 131M (1.31亿)
BERT-large 的参数量为 340M (3.3亿)
7B = 70亿参数
具有 70亿参数(如 Gemma-7B)
DeepSeek-V3 以 671B总参数/37B激活参数 著称
[BERT-Base](https://example.com/files/bert-tiny-x.zip) | 12-layer, 768-hidden, 12-heads, 110M parameters
"""


@pytest.mark.parametrize("text", TRUE.splitlines())
def test_what_is_true_is_no_alarm(text: str) -> None:
    assert not [claim for claim in audit(text).claims if claim.verdict == "wrong"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("7B = 20亿参数", "7B = 20亿"),
        ("32000 × 4096 ≈ 131M (1.91亿)", "1.91亿"),
        ("DeepSeek-V3 以 671B总参数/31B激活参数 著称", "31B"),
        (
            "GPT-2 Large:\n- 1380维隐藏状态(hidden_size=1280)\n- 20个注意力头(n_head=20)\n- 36层(n_layer=36)\n- 词表(vocab_size=50257)",
            "1380",
        ),
        (
            "# Qwen3-0.6B\n\n- **num_hidden_layers**: `28`\n   模型有 38 层。\n- **num_attention_heads**: `16`\n- **hidden_size**: `1024`",
            "38",
        ),
    ],
)
def test_a_slip_is_found_where_it_stands(text: str, said: str) -> None:
    assert [claim.text for claim in audit(text).claims if claim.verdict == "wrong"] == [said]


def test_a_link_leads_to_no_other_model() -> None:
    text = "模型 | 介绍\n---|---\n[BERT-Base, Uncased](https://example.com/bert-tiny-x.zip) | 12-layer, 768-hidden, 12-heads, 110M parameters\n"
    assert {claim.verdict for claim in audit(text).claims} <= {"exact", "rounded"}
    assert len(audit(text).claims) == 4


def test_phrases_are_matched_whole_and_the_longest_first() -> None:
    assert as_trie(["kv heads", "kv head", "k"], "[ _]") == "k(?:v[ _]head(?:s)?)?"
    for phrase in described_sizes._OWN_WORDS:
        assert described_sizes._LABEL(phrase).fullmatch(phrase), phrase


def test_every_name_of_a_component_has_one_of_its_pieces() -> None:
    for text in (
        "token embedding",
        "wpe",
        "Position Embedding",
        "词向量",
        "层归一化",
        "每一层",
        "w_gate",
        "qkv",
        "q, k and v",
        "o proj",
        "总计",
        "fc2",
        "第一层线性",
    ):
        found = {name for name, pattern in component_words._ALL if pattern.search(text.lower())}
        assert found <= {name for name, _, pieces in component_words._SOUGHT if any(piece in text.lower() for piece in pieces)}
        assert found, text
