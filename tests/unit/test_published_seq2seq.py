"""Published totals of encoder-decoders, state spaces and speech models, each with the source that states it.

Figures are compared as they are written: an exact one exactly, a rounded one after rounding (or cutting) to its digits.
"""

from __future__ import annotations

import pytest

from weighbridge import model

EXACT = [
    ("t5-small", 60_506_624, "sum of model.parameters() in transformers 5.23.0"),
    ("mamba-codestral-7b", 7_285_403_648, "model card of mistralai/Mamba-Codestral-7B-v0.1"),
    ("lfm2-350m", 354_483_968, "model card of LiquidAI/LFM2-350M"),
    ("lfm2-700m", 742_489_344, "model card of LiquidAI/LFM2-700M"),
    ("lfm2-1.2b", 1_170_340_608, "model card of LiquidAI/LFM2-1.2B"),
]

ROUNDED = [
    ("t5-11b", "11", 10**9, "arXiv 1910.10683, section 3.7"),
    ("bart-base", "0.14", 10**9, "fairseq, examples/bart/README.md (140M)"),
    ("mbart-large-cc25", "0.61", 10**9, "fairseq, examples/mbart/README.md (610M)"),
    ("m2m100-1.2b", "1.2", 10**9, "arXiv 2010.11125"),
    ("nllb-200-3.3b", "3.3", 10**9, "arXiv 2207.04672"),
    ("blenderbot-3b", "2.7", 10**9, "arXiv 2004.13637, table 2"),
    ("mamba-1.4b", "1.4", 10**9, "arXiv 2312.00752, table 3"),
    ("mamba-2.8b", "2.8", 10**9, "arXiv 2312.00752, table 3"),
    ("falcon-mamba-7b", "7.27", 10**9, "model card of tiiuae/falcon-mamba-7b"),
    ("jamba-v0.1", "52", 10**9, "arXiv 2403.19887"),
    ("recurrentgemma-2b", "2.68", 10**9, "arXiv 2404.07839, table 1"),
    ("rwkv-4-169m-pile", "1.693", 10**8, "arXiv 2305.13048, table 2"),
    ("rwkv-4-430m-pile", "4.304", 10**8, "arXiv 2305.13048, table 2"),
    ("rwkv-4-1b5-pile", "1.515", 10**9, "arXiv 2305.13048, table 2"),
    ("rwkv-4-3b-pile", "2.985", 10**9, "arXiv 2305.13048, table 2"),
    ("rwkv-4-7b-pile", "7.393", 10**9, "arXiv 2305.13048, table 2"),
    ("rwkv-4-14b-pile", "1.415", 10**10, "arXiv 2305.13048, table 2"),
    ("whisper-large-v3-turbo", "809", 10**6, "openai/whisper, README.md"),
    ("seamless-m4t-v2-large", "2.3", 10**9, "facebookresearch/seamless_communication, README.md"),
    ("dia-1.6b", "1.6", 10**9, "nari-labs/Dia-1.6B, README.md"),
    ("distil-large-v3", "756", 10**6, "huggingface/distil-whisper, README.md"),
    ("wav2vec2-xls-r-300m", "317", 10**6, "arXiv 2111.09296, table 2"),
    ("ast-finetuned-audioset", "87", 10**6, "arXiv 2104.01778, section 2"),
]

CUT = [
    ("wav2vec2-xls-r-1b", 965, 10**6, "arXiv 2111.09296, table 2"),
    ("wav2vec2-xls-r-2b", 2162, 10**6, "arXiv 2111.09296, table 2"),
]

UNTIED = [
    ("mt5-small", 300_176_768, "file of google/mt5-small: 300M, arXiv 2010.11934"),
    ("mt5-base", 582_401_280, "file of google/mt5-base: 580M, arXiv 2010.11934"),
    ("mt5-large", 1_229_581_312, "file of google/mt5-large: 1.2B, arXiv 2010.11934"),
    ("mt5-xl", 3_742_619_648, "file of google/mt5-xl: 3.7B, arXiv 2010.11934"),
    ("mt5-xxl", 12_921_057_280, "file of google/mt5-xxl: 13B, arXiv 2010.11934"),
    ("byt5-small", 299_637_760, "file of google/byt5-small: 300M, arXiv 2105.13626, table 1"),
    ("byt5-base", 581_653_248, "file of google/byt5-base: 582M, arXiv 2105.13626, table 1"),
    ("flan-t5-base", 247_577_856, "file of google/flan-t5-base: 250M, arXiv 2210.11416"),
    ("flan-t5-large", 783_150_080, "file of google/flan-t5-large: 780M, arXiv 2210.11416"),
    ("flan-t5-xl", 2_849_757_184, "file of google/flan-t5-xl: 3B, arXiv 2210.11416"),
    ("flan-t5-xxl", 11_135_332_352, "file of google/flan-t5-xxl: 11B, arXiv 2210.11416"),
]
"""T5 v1.1 and its kin are published with a head of their own, which the class ties when it is built."""


def whole(size: object) -> int:
    assert isinstance(size, int)
    return size


@pytest.mark.parametrize(("name", "published", "source"), EXACT)
def test_exact_figures(name: str, published: int, source: str) -> None:
    assert model(name).count().unique == published, source


@pytest.mark.parametrize(("name", "published", "unit", "source"), ROUNDED)
def test_rounded_figures(name: str, published: str, unit: int, source: str) -> None:
    digits = len(published.partition(".")[2])
    assert f"{whole(model(name).count().unique) / unit:.{digits}f}" == published, source


@pytest.mark.parametrize(("name", "published", "unit", "source"), CUT)
def test_figures_that_are_cut_and_not_rounded(name: str, published: int, unit: int, source: str) -> None:
    assert model(name).count().unique // unit == published, source


@pytest.mark.parametrize(("name", "published", "source"), UNTIED)
def test_figures_of_files_with_a_head_of_their_own(name: str, published: int, source: str) -> None:
    weighed = model(name)
    head = next(row for row in weighed.tensors() if row.name == "lm_head.weight")
    assert head.tied_to == "shared.weight"
    assert whole(weighed.count().unique) + whole(head.count) == published, source


def test_pegasus_counts_its_sinusoids_and_its_authors_do_not() -> None:
    """arXiv 1912.08777 states 568M; the frozen tables of positions are 2 x 512 x 1,024 more."""
    counts = model("pegasus-xsum").count()
    assert counts.trainable // 10**6 == 568
    assert counts.unique - counts.trainable == 2 * 512 * 1024


def test_jamba_works_on_a_token_with_twelve_billion() -> None:
    """arXiv 2403.19887 states 12B active parameters."""
    assert round(whole(model("jamba-v0.1").count().active) / 10**9) == 12
