"""Arithmetic by the customs of others, held to figures that their own tools printed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from weighbridge import UsageError, model
from weighbridge.accounts.inputs import inputs
from weighbridge.cli import main
from weighbridge.conventions.arithmetic import CUSTOMS, FORWARD, MULTIPLY_ADDS, default_pass
from weighbridge.conventions.reconcile_flops import OF_CONVOLUTIONS, _flops_conventions

FVCORE = [("vit-base-patch16-224", 17_582_740_224), ("convnext-tiny-224", 4_470_399_744), ("swin-tiny-patch4-window7-224", 4_509_194_496)]
"""fvcore 0.1.5 on the class of transformers 4.57, attention eager, one image of 224 × 224."""


@pytest.mark.parametrize(("name", "number"), FVCORE)
def test_fvcore_prints_it(name: str, number: int) -> None:
    assert model(name).arithmetic("fvcore", images=1).value == number


MMCV = [
    ({"model_type": "swin", "image_size": 256, "window_size": 8, "depths": [1, 2, 1], "num_heads": [2, 4, 8]}, 1_988_002_560),
    ({"model_type": "vit", "hidden_size": 192, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 400}, 207_393_024),
    ({"model_type": "deit", "num_hidden_layers": 2}, 2_920_121_856),
    ({"model_type": "beit", "num_hidden_layers": 2, "image_size": 224}, 2_905_657_344),
    ({"model_type": "dinov2", "num_hidden_layers": 2, "image_size": 224}, 3_755_813_376),
    ({"model_type": "segformer"}, 418_261_376),
]
"""``get_model_complexity_info`` of mmcv-lite 2.2.0 on the classifiers of transformers 5.23.0, one image."""


@pytest.mark.parametrize(("config", "number"), MMCV)
def test_mmcv_prints_it(config: dict[str, Any], number: int) -> None:
    names = {"swin": "Swin", "vit": "ViT", "deit": "DeiT", "beit": "Beit", "dinov2": "Dinov2", "segformer": "Segformer"}
    found = model(config, names[config["model_type"]] + "ForImageClassification")
    assert found.arithmetic("mmcv", images=1).value == number


def test_mmcv_is_refused_where_it_counts_what_is_not_described() -> None:
    with pytest.raises(UsageError, match="mmcv counts ReLUs and pools as well"):
        model("resnet-50").arithmetic("mmcv", images=1)


def test_a_tower_of_images_takes_one_with_each_text() -> None:
    assert model("open_clip/EVA02-B-16").flops(images=1).forward == model("open_clip/EVA02-B-16").flops().forward
    with pytest.raises(UsageError, match="takes one image with each text"):
        model("open_clip/EVA02-B-16").flops(images=2)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"model_type": "levit"}, "LevitForImageClassification"),
        ({"model_type": "beit"}, "BeitForMaskedImageModeling"),
        ({"model_type": "hiera", "out_features": ["stage1", "stage4"]}, "HieraBackbone"),
        ({"model_type": "data2vec-vision"}, "Data2VecVisionForSemanticSegmentation"),
        ({"model_type": "mask2former"}, "Mask2FormerModel"),
        ({"model_type": "seggpt"}, "SegGptForImageSegmentation"),
        ({"model_type": "videomae", "use_mean_pooling": True}, "VideoMAEForVideoClassification"),
    ],
)
def test_norms_of_image_models_see_no_text(config: dict[str, Any], name: str) -> None:
    found = model(config, name)
    counts = {found.arithmetic("fvcore", seq=seq).value for seq in (64, 96)}
    assert len(counts) == 1


def test_fvcore_counts_a_resnet_but_for_its_pooling() -> None:
    """4,111,512,576 with 100,352 for ``adaptive_avg_pool2d``, which has no weights and stands in no tree."""
    assert model("resnet-50").arithmetic("fvcore", images=1).value == 4_111_512_576 - 100_352


def test_vit_tiny_as_an_issue_of_fvcore_has_it() -> None:
    """github.com/facebookresearch/fvcore/issues/129: vit_tiny_patch16_224 with two classes."""
    config = {
        "model_type": "vit",
        "architectures": ["ViTForImageClassification"],
        "hidden_size": 192,
        "num_attention_heads": 3,
        "intermediate_size": 768,
        "num_labels": 2,
    }
    assert model(config).arithmetic("timm", images=1).value == 1_258_219_584


@pytest.mark.parametrize(
    ("name", "convention", "seq", "each", "number"),
    [
        ("gpt-oss-120b", "torchtitan", 4096, True, 34_534_221_696),
        ("gpt2", "torch", 1024, False, 291_648_307_200),
        ("llama-7b", "calflops", 128, False, 850_000_871_424),
        ("baichuan-7b", "calflops", 128, False, 866_778_087_424),
    ],
)
def test_published_language_models(name: str, convention: str, seq: int, each: bool, number: int) -> None:
    """torchtitan's pull request 4300; nanoGPT's transformer_sizing.ipynb; calflops' README (850.0 and 866.78 GMACs)."""
    found = model(name).arithmetic(convention, seq=seq)
    assert found.value // (seq if each else 1) == number
    assert sum(piece.amount for piece in found.pieces) == found.value


def test_palm_as_nanogpt_has_it() -> None:
    """6N + 12LHQT is 859,272,192 a token for a GPT-2 without biases, N = 124,337,664."""
    found = model("gpt2").arithmetic("palm", seq=1024)
    assert found.value - 6 * 1024 * (124_439_808 - 124_337_664) == 879_894_724_608


def test_megatron_is_three_forwards() -> None:
    layers, hidden, vocab, seq = 12, 768, 50257, 1024
    formula = 72 * seq * layers * hidden**2 + 12 * layers * seq**2 * hidden + 6 * seq * hidden * vocab
    assert model("gpt2").arithmetic("megatron", seq=seq).value == formula


@pytest.mark.parametrize(
    ("name", "number", "inputs", "key", "fit"),
    [
        ("vit-base-patch16-224", 17_581_972_224, {"images": 1}, "fvcore", "exact"),
        ("levit-192", 667_860_704, {"images": 1}, "fvcore", "exact"),  # mmpretrain, configs/levit/metafile.yml: in training mode
        ("levit-256", 1_141_625_216, {"images": 1}, "fvcore", "exact"),
        ("swin-base-patch4-window12-384", "44.49G", {"images": 1}, "mmcv", "rounded"),  # mmpretrain, configs/swin_transformer/metafile.yml
        ("open_clip/mt5-xl-ViT-H-14", "514.04G", {"images": 1}, "torch", "rounded"),  # open_clip, docs/model_profile.csv
        ("open_clip/EVA02-B-16", "41.09G", {"images": 1}, "torch", "rounded"),
        ("xcit_nano_12_p16_224", 557_074_560, {"images": 1}, "fvcore", "exact"),  # mmpretrain, configs/xcit/metafile.yml
        ("xcit_large_24_p16_384", 105_345_095_424, {"images": 1}, "fvcore", "exact"),
        ("beit-base-patch16-224", 17_581_219_584, {"images": 1}, "fvcore", "exact"),
        ("convnext-tiny-224", 4_457_472_768, {"images": 1}, "fvcore", "exact"),
        ("convnext-large-224", 34_368_026_112, {"images": 1}, "fvcore", "exact"),
        ("deit-base-distilled-patch16-384", 55_645_294_080, {"images": 1}, "fvcore", "exact"),
        ("deit3_large_patch16_384", 191_210_034_176, {"images": 1}, "fvcore", "exact"),
        ("vit_medium_patch16_gap_240", "9.22G", {"images": 1}, "fvcore", "rounded"),
        ("vit-base-patch16-224", "17.58G", {"images": 1}, "fvcore", "rounded"),
        ("gpt-oss-120b", 34_534_221_696, {"seq": 4096}, "torchtitan", "exact"),
        ("bert-base-uncased", 22_348_431_360, {"seq": 128}, "torch", "exact"),
    ],
)
def test_a_published_figure_is_explained(name: str, number: int | str, inputs: dict[str, int], key: str, fit: str) -> None:
    answer = model(name).reconcile_flops(number, **inputs)
    first = answer.matches[0]
    assert (first.key, first.how) == (key, fit)
    assert sum(step.amount for step in first.steps) == first.value


def test_a_number_that_nothing_gives_has_a_nearest() -> None:
    answer = model("bert-base-uncased").reconcile_flops(1)
    assert answer.matches == ()
    assert answer.nearest is not None and answer.nearest.value + answer.residual == 1


def test_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reconcile", "--flops", "17581972224", "vit-base-patch16-224", "--json"]) == 0
    (match,) = json.loads(capsys.readouterr().out)["matches"]
    assert match["convention"] == "fvcore"
    assert main(["reconcile", "--flops", "12345", "bert-base-uncased"]) == 1
    assert "the nearest is off by" in capsys.readouterr().out
    for custom in CUSTOMS:
        source = "vit-base-patch16-224" if custom.key == "mmcv" else "bert-base-uncased"
        assert main(["flops", source, "--convention", custom.key, "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["value"] == sum(piece["count"] for piece in answer["pieces"]) > 0
    assert main(["flops", "vit-base-patch16-224", "--images", "1"]) == 0
    assert "35,127,656,448 FLOPs forward" in capsys.readouterr().out


def test_an_unknown_convention() -> None:
    with pytest.raises(UsageError, match="convention 'thop': expected one of torch, fvcore, timm"):
        model("bert-base-uncased").arithmetic("thop")


def test_six_for_each_parameter_and_token() -> None:
    assert model("gpt2").arithmetic("6n", batch=3, seq=100).value == 6 * 300 * 124_439_808


@pytest.mark.parametrize("name", ["bert-base-uncased", "mixtral-8x7b", "t5-small"])
def test_what_an_answer_is_held_against_is_torch_s_figure(name: str) -> None:
    weighed = model(name)
    lengths: dict[str, Any] = {"decoder_seq": 128} if name == "t5-small" else {}
    assert weighed.reconcile_flops("1", **lengths).forward_matmul == weighed.flops(seq=128, **lengths).forward_matmul


@pytest.mark.parametrize("seq", [64, 4096, 8192])
def test_a_window_bounds_the_keys_that_torchtitan_counts(seq: int) -> None:
    """12 L H Q T with T of 4,096 at most; 6 for each parameter outside the table of words."""
    found = model("mistral-7b-v0.1").arithmetic("torchtitan", seq=seq)
    unique = model("mistral-7b-v0.1").count().unique
    assert isinstance(unique, int)
    dense, attention = (piece.amount for piece in found.pieces)
    assert dense == 6 * seq * (unique - 32_000 * 4096)
    assert attention == 12 * 32 * 4096 * seq * min(seq, 4096)


def test_every_custom_by_the_products_of_bert() -> None:
    """Weights 12 (4 H² + 2 H I) S + pooler; attention 2 L S² H; layer norms 5 an element; 6 a parameter and token."""
    layers, hidden, inner, seq = 12, 768, 3072, 128
    dense = layers * (4 * hidden * hidden + 2 * hidden * inner) * seq + hidden * hidden
    attention = 2 * layers * seq * seq * hidden
    norms = 5 * (2 * layers + 1) * hidden * seq
    expected = {
        "torch": 2 * (dense + attention),
        "fvcore": dense + attention + norms,
        "timm": dense + attention + norms,
        "deepspeed": dense + attention,
        "calflops": dense + attention,
        "palm": 6 * seq * 109_482_240 + 6 * attention,
        "megatron": 6 * (dense + attention),
        "torchtitan": 6 * seq * (109_482_240 - 30_522 * hidden) + 6 * attention,
        "6n": 6 * seq * 109_482_240,
    }
    bert = model("bert-base-uncased")
    assert {custom.key: bert.arithmetic(custom.key, seq=seq).value for custom in CUSTOMS if custom.key != "mmcv"} == expected


@pytest.mark.parametrize(
    ("number", "keys", "left_out"),
    [
        (2 * 123_532_032 * 1024, "torch", "attention, left out"),  # 12 · 12 H² and the head of 50,257 rows: 2 for each weight and token
        (2 * 84_934_656 * 1024, "torch", "output head, left out"),
        (6 * 124_439_808, "6n", None),
        ((6 * 1024 * 124_439_808 + 12 * 12 * 768 * 1024 * 1024) // 1024, "palm", None),
    ],
)
def test_what_is_left_out_or_given_for_each_token(number: int, keys: str, left_out: str | None) -> None:
    found = [match for match in model("gpt2").reconcile_flops(number, seq=1024).matches if match.key == keys]
    assert found and found[0].value == number == sum(step.amount for step in found[0].steps)
    assert left_out is None or left_out in [step.what for step in found[0].steps]


@pytest.mark.parametrize("name", ["gpt2", "llama-3.2-1b", "bert-base-uncased", "t5-small", "vit-base-patch16-224", "convnext-tiny-224"])
def test_what_is_left_out_or_doubled_makes_a_count_far_fetched(name: str) -> None:
    """One for each thing left out, and one for FLOPs of a tool that counts multiply-adds; fvcore's mmpretrain way (its classifier goes by itself) is two."""
    weighed = model(name)
    taken = default_pass(
        weighed, inputs({"images": 1} if "224" in name else {"seq": 64, **({"decoder_seq": 64} if name == "t5-small" else {})})
    )
    units = {custom.key: custom.unit for custom in CUSTOMS}
    assert taken.tokens
    for way in _flops_conventions(taken):
        left_out = sum(piece.amount < 0 for piece in way.steps)
        of_others = any(piece.what == OF_CONVOLUTIONS for piece in way.steps)
        doubled = units[way.key] == MULTIPLY_ADDS and way.unit == FORWARD
        assert way.cost == (2 if of_others else left_out) + doubled, way
        assert way.value == sum(piece.amount for piece in way.steps)


def test_efficientnets_of_mmpretrain_are_counted_in_training_mode() -> None:
    """Published by mmpretrain (configs/efficientnet/metafile.yml): 5 an element of a batch norm, 1 of a mean, without the classifier."""
    for name, published in (("efficientnet-b0", 420592480), ("efficientnet-b1", 744059920), ("efficientnet-b6", 19971777560)):
        first = model(name).reconcile_flops(published, images=1).matches[0]
        assert (first.key, first.how) == ("fvcore", "exact")


def test_efficientnets_pad_as_their_files_say() -> None:
    """Published by torchvision 0.29.1 in the metadata of its weights (``_ops``, 10^9 multiply-adds)."""
    for name, published in (("efficientnet-b1", "0.687G"), ("efficientnet-b3", "1.827G"), ("efficientnet-b7", "37.746G")):
        assert model(name).reconcile_flops(published, images=1).matches[0].cost == 0
