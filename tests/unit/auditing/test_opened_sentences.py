"""Sentences that open with a model's name, products with their result in parentheses, patches and tokens: the one number that is wrong."""

import pytest

from weighbridge.auditing import audit

SLIPS = (
    ("BERT base has a total of {} attention heads (lets each token attend to all others) and 110 million parameters.", "12", "11"),
    ("BERT base has a total of 12 attention heads (lets each token attend to all others) and {} million parameters.", "110", "310"),
    ("The Mistral 7B model employs {} layers and rotary positions, and it was trained on many tokens.", "32", "34"),
    ("The query matrix W has 4096 × 4096 ({}M parameters) entries.", "16.8", "18.8"),
    ("A: 4096 × 16 ({}K parameters)", "65", "85"),
    ("ViT-B/16 cuts a 224×224 image into 14 × 14 = {} patches of 16×16 pixels.", "196", "186"),
    ("A 224×224 image in 16×16 patches makes {} tokens with the class token.", "197", "217"),
    ("ViT-L/14 at 336 pixels has {} patches.", "576", "676"),
)
FAIR = (
    "A BERT-base with 6 layers has fewer heads. BERT-base has its first 6 layers frozen.",
    "BERT-base uses only the last 4 layers for this probe.",
    "Our BERT-base has 10 layers and 110M parameters.",
    "Gemma 7B has 28 layers, d_model 3072 and feedforward hidden dims 49152 (2 x 24576).",
    "BERT-base has 85M parameters without its embeddings, and 110M with them.",
    "Qwen2-VL merges the 16×16 patches of a 224×224 image by four into 64 tokens.",
    "A 224×224 image in 16×16 patches gives 196 patches; DINOv2 adds [CLS] and four registers: 201 tokens.",
    "RoBERTa-base has a 50K vocabulary of byte pairs; if BERT-base had 50,000 words it would have 125M parameters.",
    "Swin takes 4×4 patches of a 224×224 image and attends in 7×7 windows of 49 tokens.",
)


@pytest.mark.parametrize(("text", "right", "slip"), SLIPS)
def test_the_number_that_is_wrong_is_found(text: str, right: str, slip: str) -> None:
    assert audit(text.format(right)).wrong == ()
    assert [str(claim.value).startswith(slip.replace(".", "")) or slip in claim.text for claim in audit(text.format(slip)).wrong] == [True]


@pytest.mark.parametrize("text", FAIR)
def test_what_is_said_of_less_or_of_another_is_no_slip(text: str) -> None:
    assert audit(text).wrong == ()
