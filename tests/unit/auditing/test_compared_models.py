"""Two models in a sentence, a count right behind a name, sizes that grammar ties to a name: the one number that is not its model's."""

import pytest

from weighbridge.auditing import audit

SLIPS = (
    ("Going from BERT-base to BERT-large, the hidden size grows from 768 to {}.", "1024", "1124"),
    ("Llama 2 7B → Llama 3 8B: KV heads 32 → {}, FFN size 11008 → 14336.", "8", "16"),
    ("Llama 2 7B → Llama 3 8B: KV heads 32 → 8, FFN size 11008 → {}.", "14336", "15336"),
    ("RoBERTa-base ({}M) is larger than BERT-base because of its vocabulary.", "125", "165"),
    ("We compare RoBERTa-base (125M parameters) with RoBERTa-large ({}M parameters).", "355", "255"),
    ("Mixtral 8x7B ({}B/12.9B active) is a mixture of experts.", "46.7", "56.7"),
    ("DeepSeek-V3 (671B, {}B active) is a mixture of experts.", "37", "47"),
    ("**ALBERT-large** – {}M parameters; **ALBERT-xxlarge** – 235M.", "18", "28"),
    ("There are 12 layers in BERT-base and {} in BERT-large.", "24", "26"),
    ("All {} layers of BERT-base attend in both directions.", "12", "14"),
    ("GPT-3 175B's {} layers took weeks to train.", "96", "86"),
    ("The {}-layer, 1024-dimensional BERT-large was trained on Wikipedia.", "24", "22"),
    ("The 24-layer, {}-dimensional BERT-large was trained on Wikipedia.", "1024", "1824"),
)
FAIR = (
    "Between BERT-base and BERT-large, we tried 12 to 18 layers.",
    "BERT-base and BERT-large differ; our students have 12 versus 6 layers.",
    "DistilBERT shrinks BERT-base from 12 to 6 layers.",
    "A pruned BERT-base (66M) answers faster than BERT-large (335M).",
    "The 6 layers of BERT-base that we keep are the lower ones.",
    "A 6-layer BERT-base is what people call DistilBERT.",
    "BERT-base (16 GB of text) and RoBERTa-base (160 GB of text) saw different data.",
    "GPT-2 XL and GPT-2 small have 25 and 12 heads of 64 dimensions.",
    "wav2vec2-base has 12 blocks with a width of 768 and 8 attention heads in the paper.",
)


@pytest.mark.parametrize(("text", "right", "slip"), SLIPS)
def test_the_number_that_is_not_its_models_is_wrong(text: str, right: str, slip: str) -> None:
    assert audit(text.format(right)).wrong == ()
    assert [str(claim.text).strip("MB") for claim in audit(text.format(slip)).wrong] == [slip]


@pytest.mark.parametrize("text", FAIR)
def test_what_is_said_of_another_is_no_slip(text: str) -> None:
    assert audit(text).wrong == ()
