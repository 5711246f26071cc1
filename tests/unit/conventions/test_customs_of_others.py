"""What other libraries count beside a class, from the numbers of data sets, images and vocabularies that people use."""

from __future__ import annotations

from functools import cache

import pytest

from weighbridge import Model, model
from weighbridge.conventions.atoms import Atom
from weighbridge.conventions.published_otherwise import t5gemma2


@cache
def weigh(name: str, class_name: str | None = None) -> Model:
    """Weigh a preset; its conventions are worked out once for each model."""
    return model(name, class_name)


DATA_SETS = {
    "STS-B": 1, "AG News": 4, "SST-5": 5, "TREC, coarse": 6, "FER": 7, "ABO": 8, "CoNLL-2003": 9, "VOC": 20, "GoEmotions": 28, "Speech Commands": 35,
    "Oxford pets": 37, "COCO with background": 81, "COCO, to its last number": 90, "COCO, with gaps and nothing": 92, "COCO-Stuff": 171, "Tiny ImageNet": 200,
    "SUN": 397, "ImageNet-21k-P": 11221, "GLUE, two sentences": 2, "MNLI": 3, "CIFAR-10": 10, "Cityscapes": 19, "VOC with background": 21, "COCO": 80, "COCO, with gaps": 91,
    "CIFAR-100": 100, "Oxford flowers and nothing": 101, "ADE20k": 150, "ADE20k with background": 151, "Places": 365, "Kinetics-400": 400,
    "AudioSet": 527, "Kinetics-600": 600, "Kinetics-700": 700, "ImageNet with background": 1001, "ImageNet-22k": 21841, "ImageNet-21k": 21843,
}  # fmt: skip


def unique(weighed: Model) -> int:
    found = weighed.count().unique
    assert isinstance(found, int)
    return found


def words(weighed: Model, number: int) -> list[str]:
    return [match.convention for match in weighed.reconcile(number).matches]


@pytest.mark.parametrize("labels", DATA_SETS.values(), ids=list(DATA_SETS))
def test_a_head_for_another_data_set(labels: int) -> None:
    """ViT-base's classifier has 768 weights and a bias for each label."""
    vit = weigh("vit-base-patch16-224")
    other = model("vit-base-patch16-224", overrides={"num_labels": labels})
    assert unique(other) == unique(vit) + (labels - 1000) * 769
    assert words(vit, unique(other))[0] == f"ViTForImageClassification, with {labels:,} labels instead of 1,000"


def test_labels_that_no_data_set_has_explain_nothing() -> None:
    vit = weigh("vit-base-patch16-224")
    assert not [text for text in words(vit, unique(vit) + 769 * 531) if "labels" in text]


def test_a_head_of_a_language_model_is_no_classifier() -> None:
    """Its outputs are words: a head of 1,000 words is no used by anybody."""
    llama = weigh("llama-2-7b")
    assert not [text for text in words(llama, unique(llama) + (1000 - 32000) * 4096) if "labels" in text]


@pytest.mark.parametrize("side", [7, 14, 16, 24, 32, 37, 64])
def test_positions_resized_to_other_images(side: int) -> None:
    """ViT-base has 196 patches and a class token; a table for another image has a row for each of its patches."""
    vit = weigh("vit-base-patch16-224", "ViTModel")
    rows = side * side + 1
    if rows == 197:
        return
    assert f"ViTModel, with a position table of {rows:,} rows instead of 197" in words(vit, unique(vit) + (rows - 197) * 768)
    assert not [text for text in words(vit, unique(vit) + (rows + 2 - 197) * 768) if f"table of {rows + 2:,} rows" in text]


@pytest.mark.parametrize("side", [6, 65])
def test_images_that_nobody_has_explain_nothing(side: int) -> None:
    vit = weigh("vit-base-patch16-224", "ViTModel")
    rows = side * side + 1
    assert not [text for text in words(vit, unique(vit) + (rows - 197) * 768) if f"table of {rows:,} rows" in text]


def test_a_position_table_twice() -> None:
    vit = weigh("vit-base-patch16-224", "ViTModel")
    assert words(vit, unique(vit) + 197 * 768)[0] == "ViTModel, with the position table a second time, resized"


@pytest.mark.parametrize("rows", [30_521, 30_523, 30_400, 30_464, 30_528])
def test_a_vocabulary_with_more_or_fewer_spare_rows(rows: int) -> None:
    """Either one token more or less, or a multiple of 64 near it."""
    bert = weigh("bert-base-uncased")
    assert rows in (30_522 - 1, 30_522 + 1) or rows % 64 == 0
    found = words(bert, unique(bert) + (rows - 30_522) * 768)
    assert f"BertModel, with a vocabulary of {rows:,} instead of 30,522" in found or f"BertModel, with vocab_size {rows:,}" in found


def test_other_vocabularies_explain_nothing() -> None:
    bert = weigh("bert-base-uncased")
    for rows in (30_500, 30_524, 30_656 + 64):
        assert not [text for text in words(bert, unique(bert) + (rows - 30_522) * 768) if "vocabulary of" in text]


def test_position_ids_of_both_towers() -> None:
    clip = weigh("clip-vit-base-patch32")
    assert "CLIPModel, with position ids" in words(clip, unique(clip) + 77 + 50)
    assert "CLIPModel, with position ids of the text tower" in words(clip, unique(clip) + 77)
    assert "CLIPModel, with position ids of the image tower" in words(clip, unique(clip) + 50)
    bert = weigh("bert-base-uncased")
    assert words(bert, unique(bert) + 512)[0] == "BertModel, with position ids"


def test_a_pooler_for_an_encoder_that_has_none() -> None:
    electra = weigh("electra-base-discriminator", "ElectraModel")
    assert words(electra, unique(electra) + 768 * 768 + 768)[0] == "ElectraModel, with a pooler of H² + H"
    bert = weigh("bert-base-uncased")
    assert not [text for text in words(bert, unique(bert) + 768 * 768 + 768) if "a pooler of" in text]


def test_dense_layers_of_sentence_transformers() -> None:
    """GTR has one map of H²; EmbeddingGemma two, there and back; LaBSE-like models go down to 768."""
    t5 = weigh("t5-base", "T5EncoderModel")
    assert "T5EncoderModel, with a dense layer after pooling, H²" in words(t5, unique(t5) + 768 * 768)
    assert "T5EncoderModel, with two dense layers after pooling, H to 4H to H" in words(t5, unique(t5) + 8 * 768 * 768)
    large = weigh("t5-large", "T5EncoderModel")
    assert "T5EncoderModel, with a dense layer after pooling, H × 768" in words(large, unique(large) + 1024 * 768)


def test_int8_scales_are_one_for_each_output_and_row() -> None:
    """Keras's ``quantize("int8")``; Llama's outputs by hand: q, k, v, o, gate, up, down in 32 layers, the head; a row of words each."""
    outputs = 32 * (4096 * 4 + 11008 * 2 + 4096) + 32000
    llama = weigh("llama-2-7b")
    assert words(llama, unique(llama) + outputs + 32000)[0] == "LlamaForCausalLM, with int8 scales, one per output and per row"


def test_two_weights_to_a_byte() -> None:
    """bitsandbytes packs the maps of the layers: 32 × (4·4096² + 3·4096·11008) weights become half as many bytes."""
    packed = 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008)
    llama = weigh("llama-2-7b")
    assert words(llama, unique(llama) - packed // 2)[0] == "LlamaForCausalLM, with linear maps packed two weights to a byte"


def test_other_labels_in_another_class_than_the_config_names() -> None:
    """Published by torchvision 0.29.1: 632,045,800 parameters of ViT-H/14 with a head of 1,000 labels."""
    assert words(weigh("vit-huge-patch14-224-in21k"), 632045800)[0] == "ViTForImageClassification, with 1,000 labels instead of 2"


def test_biases_of_keys_that_are_kept_at_zero() -> None:
    """Published by torchvision 0.29.1 for its Swin V2."""
    for size, published in (("tiny", 28351570), ("small", 49737442), ("base", 87930848)):
        assert words(weigh(f"swinv2-{size}-patch4-window8-256"), published)[0].endswith("with biases of keys, kept at zero")


@pytest.mark.parametrize(
    ("name", "number", "beside"),
    [
        ("gemma-3n-e2b", 5439595456, "keys and values of layers that take another's and biases of convolutions before norms"),
        ("gemma-3n-e4b", 7850135376, "keys and values of layers that take another's and biases of convolutions before norms"),
        ("t5gemma-2-270m-270m", 953800816, "a word table of the decoder's own, no vector for the end of an image"),
        ("t5gemma-2-1b-1b", 2417966192, "a word table of the decoder's own, no vector for the end of an image"),
        ("jina-embeddings-v3", 572310396, "five adapters of rank 4"),
        ("qwen2.5-omni-7b", 10732225440, "rotary frequencies of the transformer that makes spectrograms"),
        ("Qwen/Qwen3.5-0.8B", 873438784, "a layer for multi-token prediction, its tables shared"),
        ("Qwen/Qwen3.6-27B", 27781427952, "a layer for multi-token prediction, its tables shared"),
        ("Qwen/Qwen3.6-35B-A3B", 35951822704, "a layer for multi-token prediction, its tables shared"),
        ("xlm-roberta-base", 278885778, "a pooler of H² + H"),
        ("xlm-roberta-large", 561192082, "a pooler of H² + H"),
        ("phi-4-multimodal-instruct", 5574460224, "vision adapter of rank 256 and speech adapter of rank 320"),
        ("phi-4-multimodal-instruct", 5574460384, "vision adapter of rank 256, speech adapter of rank 320 and saved buffers"),
    ],
)
def test_what_files_and_other_libraries_hold_beside(name: str, number: int, beside: str) -> None:
    """The header of the published file, and the figures of keras_hub 0.32.0 (gemma3n_presets.py, t5gemma2_presets.py) and mteb 2.26.24 (jina_models.py)."""
    assert words(weigh(name), number)[0].endswith(f", with {beside}")


def test_a_value_of_a_sibling_is_no_resized_table_without_biases() -> None:
    """KerasHub's figure for PaliGemma 2 at 448 pixels is that of 224: two conventions from within a model once gave it by chance."""
    nearest = weigh("paligemma2-28b-448").reconcile(27650192112).nearest
    assert nearest is not None and "paligemma2-28b-224" in nearest.hints[0]


def test_a_dense_layer_behind_the_pooling_may_lead_to_768() -> None:
    """As in sentence-transformers/gtr-t5-large: 2_Dense/config.json has in_features 1024, out_features 768."""
    sizes = {"d_model": 1024, "num_layers": 1, "num_heads": 16, "vocab_size": 100, "d_ff": 64}
    encoder = model({"model_type": "t5", **sizes}, "T5EncoderModel")
    assert words(encoder, unique(encoder) + 1024 * 768)[0] == "T5EncoderModel, with a dense layer after pooling, H × 768"


def test_the_word_table_is_found_by_its_component_and_rows() -> None:
    """Not the first table, which holds positions, nor the first that is for words, which is a map without rows."""
    first = Atom("position", "embedding", "positions", "", 40, 1, 8, False, "", 0, 0)
    no_table = first._replace(component="word", path="projection", rows=0)
    words_of = first._replace(component="word", path="words", each=500, rows=100)
    assert [pieces[0].amount for pieces in t5gemma2((first, no_table, words_of))] == [495]
    assert not list(t5gemma2((first, no_table)))
