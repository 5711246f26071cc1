"""Customs of other libraries, each held to a figure that they publish."""

from __future__ import annotations

import pytest

from weighbridge import model
from weighbridge.conventions.additions import additions
from weighbridge.conventions.atoms import parts

KERAS_HUB = "keras_hub 0.32.0"
PUBLISHED = [
    ("clip-vit-base-patch32", 151_277_363, "CLIPModel, with position ids of the image tower"),
    ("siglip-base-patch16-384", 203_448_450, "SiglipModel, with position ids"),
    ("dinov2-base", 87_632_640, "Dinov2Model, with the position table a second time, resized"),
    ("gemma-3-4b-it", 4_299_915_632, "Gemma3ForConditionalGeneration, with a vocabulary of 262,144 instead of 262,208"),
    (
        "gemma-3-4b-it",
        3_880_099_328,
        "model.language_model of Gemma3ForConditionalGeneration, with a vocabulary of 262,144 instead of 262,208",
    ),
    ("mit-b0", 3_321_962, "SegformerForImageClassification, with 10 labels instead of 1,000"),
    ("resnet-50", 23_561_152, "ResNetModel, with running means and variances of batch norms"),
    ("llama-2-7b", 6_739_839_488, "LlamaForCausalLM, with int8 scales, one per output and per row"),
    ("llama-3-8b", 8_031_894_016, "LlamaForCausalLM, with int8 scales, one per output and per row"),
    ("whisper-base", 71_825_920, "WhisperForConditionalGeneration without fixed position tables"),
    ("vit-base-patch16-224", 86_859_496, "ViTForImageClassification, with a position table of 577 rows instead of 197"),
    ("paligemma-3b-224", 2_923_335_408, "PaliGemmaForConditionalGeneration, with a vocabulary of 257,152 instead of 257,216"),
    ("llama-3-8b", 4_540_600_320, "LlamaForCausalLM, with linear maps packed two weights to a byte"),
    ("llama-2-7b", 3_500_412_928, "LlamaForCausalLM, with linear maps packed two weights to a byte"),
    ("llama-2-7b", 6_738_417_664, "LlamaForCausalLM, with rotary frequencies of every layer"),
    ("qwen3.5-35b-a3b", 34_660_610_688, "Qwen3_5MoeForConditionalGeneration without the image tower"),
    ("t5-base", 247_577_856, "T5ForConditionalGeneration, with a head of its own"),
    ("gpt2", 124_412_160, "GPT2LMHeadModel without query, key and value biases"),
    ("embeddinggemma-300m", 307_581_696, "Gemma3TextModel, with two dense layers after pooling, H to 4H to H"),
    ("roberta-base", 124_052_736, "RobertaModel without two spare rows of the position table, pooler and token type embeddings"),
]


@pytest.mark.parametrize(("name", "number", "words"), PUBLISHED)
def test_published_figures(name: str, number: int, words: str) -> None:
    answer = model(name).reconcile(number)
    first = answer.matches[0]
    assert first.convention == words
    assert first.class_count - sum(p.amount for p in first.leaves_out) + sum(p.amount for p in first.adds) == first.value
    assert answer.reference - sum(piece.amount for piece in first.from_reference) == first.value


def test_how_far_a_published_figure_is_from_the_count_and_whose_it_is() -> None:
    hints = model("bert-base-chinese").reconcile("1.1亿").hints
    assert hints[:2] == ("It is 7.6% more than the 102,267,648 counted.", "BertModel of bert-base-uncased has 109,482,240")
    assert model("deepseek-v2-lite").reconcile("2.4B").hints == ("It is 9.8% less than the 2,661,150,208 counted.",)


@pytest.mark.parametrize(("name", "number"), [("qwen2.5-1.5b", 1_543_434_240), ("sam-vit-huge", 312_343_088)])
def test_slips_of_others_are_not_explained_away(name: str, number: int) -> None:
    assert model(name).reconcile(number).matches == ()


@pytest.mark.parametrize(
    ("name", "number", "words"),
    [
        ("sam-vit-huge", 312_343_088, "SamModel of sam-vit-large has 312,343,088"),
        ("whisper-base", 124_439_808, "it is the number of gpt2: GPT2LMHeadModel"),
        ("siglip2-base-patch16-384", 376_856_194, "it is the number of siglip2-base-patch32-256: SiglipModel, with position ids"),
        (
            "segformer_b5_ade20k_640",
            81_974_227,
            "with decoder_hidden_size 256, as segformer-b0-finetuned-ade-512-512 has it, it is SegformerForSemanticSegmentation, with 19 labels",
        ),
    ],
)
def test_slips_of_others_are_shown(name: str, number: int, words: str) -> None:
    """KerasHub 0.32.0: SAM's sizes exchanged, GPT-2's total for Whisper, a twin's for SigLIP 2, one decoder for every SegFormer."""
    nearest = model(name).reconcile(number).nearest
    assert nearest is not None and nearest.hints[0].startswith(words)


def test_a_placeholder_is_a_rounded_number() -> None:
    """KerasHub states 2,700,000,000 for opt_2.7b_en: nothing but a round number."""
    (first, *others) = model("opt-2.7b").reconcile(2_700_000_000).matches
    assert (first.convention, first.how, others) == ("OPTForCausalLM", "coarse", [])


@pytest.mark.parametrize(
    ("name", "number", "words", "fit"),
    [
        ("clip-vit-base-patch16", "86.19M", "the image tower with its projection of CLIPModel", "rounded"),
        ("clip-vit-base-patch16", "63.43M", "the text tower with its projection of CLIPModel", "rounded"),
        ("deepseek-v3", "37B", "the active parameters of DeepseekV3ForCausalLM", "truncated"),
        (
            "deepseek-v3",
            "685B",
            "DeepseekV3ForCausalLM, with layers for multi-token prediction and fp8 scales, one for each 128 × 128",
            "rounded",
        ),
        ("deepseek-v2", "21B", "the active parameters of DeepseekV2ForCausalLM", "rounded"),
        ("mixtral-8x7b", "13B", "the active parameters of MixtralForCausalLM", "rounded"),
        ("gpt-oss-120b", "5.1B", "the active parameters of GptOssForCausalLM without embedding tables", "rounded"),
        ("bert-base-chinese", "1.1亿", "the whole model, published as 110M", "published"),
        ("deepseek-v2-lite", "2.4B", "what a token uses, published as 2.4B", "published"),
    ],
)
def test_active_predicted_and_published_figures(name: str, number: str, words: str, fit: str) -> None:
    answer = model(name).reconcile(number)
    first = answer.matches[0]
    assert (first.convention, first.how) == (words, fit)
    assert answer.reference - sum(piece.amount for piece in first.from_reference) == first.value


TEXTS = "bert-base-uncased electra-base-discriminator gpt2 roberta-base t5-small llama-3-8b whisper-base albert-base-v2 distilbert-base-uncased clip-vit-base-patch32"
IMAGES = "vit-base-patch16-224 dinov2-base"
WITHOUT_A_TABLE_OF_POSITIONS = ("t5-small", "llama-3-8b", "resnet-50")
OFFERED = {
    "vocabulary-rows": TEXTS,
    "scales": TEXTS,
    "packed": TEXTS,
    "dense": " ".join(name for name in TEXTS.split() if name not in ("electra-base-discriminator", "llama-3-8b")),
    "labels": "electra-base-discriminator vit-base-patch16-224 resnet-50",
    "statistics": "resnet-50",
    "position-ids": " ".join(name for name in f"{TEXTS} {IMAGES}".split() if name not in WITHOUT_A_TABLE_OF_POSITIONS),
    "positions-twice": f"gpt2 clip-vit-base-patch32 {IMAGES}",
    "positions-resized": f"gpt2 clip-vit-base-patch32 {IMAGES}",
    "pooler-added": "electra-base-discriminator",
    "key-biases": "whisper-base",
}
"""Word tables are padded and quantized, tables of a square's rows resized (1,024 positions are one too), labels exchanged in classifiers; a
dense layer goes behind a model without a head of its own, a pooler into an encoder of BERT's kind that has none."""


@pytest.mark.parametrize("key", sorted(OFFERED))
def test_which_models_an_addition_is_tried_for(key: str) -> None:
    found = []
    for name in sorted({*TEXTS.split(), *IMAGES.split(), "resnet-50"}):
        taken = parts(model(name).tree)
        offered = {addition.key for addition in additions(taken, taken.atoms, main=True)}
        assert offered <= OFFERED.keys()
        found += [name] if key in offered else []
    assert found == sorted(OFFERED[key].split())


def test_of_other_classes_only_what_is_common_is_tried() -> None:
    for name, common in (("resnet-50", {"statistics"}), ("bert-base-uncased", set())):
        taken = parts(model(name).tree)
        assert {addition.key for addition in additions(taken, taken.atoms, main=False)} == common
