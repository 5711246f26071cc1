"""Encoders: heads on backbones, who owns what is tied, and what their accounts refuse to guess."""

from __future__ import annotations

import pytest

from weighbridge import model
from weighbridge.config.bind import bind
from weighbridge.config.fields import computed, size
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.formula import Symbol

SMALL = {"hidden_size": 48, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 64, "vocab_size": 101}


def test_a_head_built_first_owns_the_word_embeddings() -> None:
    weighed = model({**SMALL, "model_type": "xlm-roberta"}, "XLMRobertaForMaskedLM")
    ties = {row.name: row.tied_to for row in weighed.tensors() if row.tied_to}
    assert ties == {
        "lm_head.decoder.bias": "lm_head.bias",
        "roberta.embeddings.word_embeddings.weight": "lm_head.decoder.weight",
    }


def test_who_owns_the_word_embeddings_changes_no_account() -> None:
    first = model({**SMALL, "model_type": "xlm-roberta"}, "XLMRobertaForMaskedLM")
    last = model({**SMALL, "model_type": "roberta"}, "RobertaForMaskedLM")
    assert first.count() == last.count()
    assert first.flops(batch=3, seq=9).forward_matmul == last.flops(batch=3, seq=9).forward_matmul


def test_albert_stores_one_layer_and_runs_all() -> None:
    def weighed(layers: int) -> tuple[object, object]:
        found = model({**SMALL, "model_type": "albert", "num_hidden_layers": layers})
        return found.count().unique, found.flops(seq=8).forward_matmul

    one, six = weighed(1), weighed(6)
    assert one[0] == six[0]
    assert one[1] != six[1]


def test_big_bird_counts_no_blocks_it_does_not_describe() -> None:
    weighed = model({**SMALL, "model_type": "big_bird", "block_size": 4, "num_random_blocks": 3})
    assert weighed.flops(seq=44).forward_matmul
    with pytest.raises(UsageError, match="45 tokens: this is described up to 44, the tokens BigBird attends in full"):
        weighed.flops(seq=45)


def test_a_question_of_unknown_length_is_refused() -> None:
    weighed = model({**SMALL, "model_type": "longformer", "attention_window": 4}, "LongformerForQuestionAnswering")
    with pytest.raises(UsageError, match="a stream 'question' whose length is not given"):
        weighed.flops(seq=8)


def test_deberta_sees_no_further_than_its_relative_positions() -> None:
    raw = {**SMALL, "model_type": "deberta", "relative_attention": True, "pos_att_type": "c2p", "max_relative_positions": 8}
    near = [model(raw).flops(seq=seq).forward_matmul for seq in (8, 9)]
    wide = [model({**raw, "max_relative_positions": 9}).flops(seq=seq).forward_matmul for seq in (8, 9)]
    assert near[0] == wide[0]
    assert near[1] != wide[1]


def test_esm_has_no_default_vocabulary() -> None:
    with pytest.raises(ConfigError, match=r"vocab_size: ESM has no default vocabulary \(33 in all published ESM-2 models\)"):
        model({"model_type": "esm"})


def test_an_adaptive_softmax_is_refused() -> None:
    with pytest.raises(ConfigError, match="asm: the adaptive softmax is not described"):
        model({"model_type": "xlm", "asm": True}, "XLMWithLMHeadModel")


def test_a_fact_can_be_told_only_from_numbers() -> None:
    fields = (size("a", "a", 1, "a", ""), computed("large", lambda c: c.a > 1))
    assert bind(fields, {"a": 2}).large is True
    with pytest.raises(AssertionError, match="large can be computed only from numbers"):
        bind(fields, {"a": Symbol("a")})
