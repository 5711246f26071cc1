"""Totals of well-known encoders, held to the figures that their authors published.

A figure such as ``125M`` is met if the exact count, rounded or cut off at its last digit, gives it.
"""

from __future__ import annotations

import pytest

from tests.unit.published import is_met
from weighbridge import count, model
from weighbridge.presets import preset, presets

TOTALS = """roberta-base roberta-large distilroberta-base xlm-roberta-xl xlm-roberta-xxl bge-m3 bge-reranker-base bge-reranker-large
    bge-reranker-v2-m3 multilingual-e5-base multilingual-e5-large camembert-base longformer-base-4096 distilbert-base-uncased
    distilbert-base-cased distilbert-base-multilingual-cased albert-base-v1 albert-base-v2 albert-large-v1 albert-large-v2
    electra-small-discriminator electra-large-discriminator conv-bert-base ModernBERT-base ModernBERT-large gte-modernbert-base
    nomic-embed-text-v1.5 flaubert_small_cased flaubert_base_uncased flaubert_base_cased flaubert_large_cased funnel-small funnel-medium
    funnel-intermediate funnel-large funnel-xlarge fnet-base layoutlm-base-uncased esm2_t36_3B_UR50D esm2_t48_15B_UR50D
    deberta-v2-xxlarge""".split()
"""Presets whose published total is that of the class they name; the source stands in the preset."""

BACKBONES = {"deberta-v3-xsmall": 22, "deberta-v3-small": 44, "deberta-v3-base": 86, "deberta-v3-large": 304, "mdeberta-v3-base": 86}
"""Millions without the word embeddings, as the README of microsoft/DeBERTa has them; its pooler is counted in."""

EXACT = {
    ("albert-base-v2", "AlbertModel"): 11_683_584,
    ("albert-base-v2", "AlbertForMaskedLM"): 11_221_680,
    ("roberta-base", "RobertaForMaskedLM"): 124_697_433,
    ("xlm-roberta-base", "XLMRobertaForMaskedLM"): 278_295_186,
    ("distilbert-base-uncased-finetuned-sst-2-english", None): 66_955_010,
    ("all-mpnet-base-v2", "MPNetModel"): 109_486_464,
}
"""Figures to the last one: the published files' elements, without the 514 position ids that some of them hold."""


@pytest.mark.parametrize("name", TOTALS)
def test_published_total(name: str) -> None:
    found = preset(name)
    assert found is not None
    exact = count(name).unique
    assert isinstance(exact, int)
    assert is_met(exact, found.published)


@pytest.mark.parametrize("name", BACKBONES)
def test_published_backbone(name: str) -> None:
    rows = model(name, "DebertaV2ForSequenceClassification").tensors()
    counts = {row.name: row.count for row in rows}
    left_out = ("deberta.embeddings.word_embeddings.weight", "classifier.weight", "classifier.bias")
    assert is_met(sum(count for row, count in counts.items() if row not in left_out and isinstance(count, int)), f"{BACKBONES[name]}M")


@pytest.mark.parametrize(("case", "expected"), EXACT.items())
def test_exact_total(case: tuple[str, str | None], expected: int) -> None:
    assert count(*case).unique == expected


def test_every_preset_counts_and_every_key_of_it_is_known() -> None:
    found = [entry for entry in presets() if entry.config["model_type"] != "bert"]
    assert len(found) >= 80
    for entry in found:
        weighed = model(entry.name)
        assert weighed.count().unique == sum(row.count for row in weighed.tensors() if row.tied_to is None and row.role != "buffer")
        assert weighed.unknown == [], entry.name
