"""Classes of other packages, held to what their own classes wrote down (``truth/*.py``), and nanoGPT's to its published count."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.shares import groups
from truth.packages import digest, tensors_of
from weighbridge import WeighbridgeError, model
from weighbridge.blueprints import MODULES
from weighbridge.blueprints.describe import PACKAGES

RECORDS = Path(__file__).parents[2] / "truth" / "packages"
RECORD: dict[str, Any] = json.loads((RECORDS / "litgpt.json").read_text())
MEGATRON: dict[str, Any] = json.loads((RECORDS / "megatron.json").read_text())
TIMM: dict[str, Any] = json.loads((RECORDS / "timm.json").read_text())
DIFFUSERS: dict[str, Any] = json.loads((RECORDS / "diffusers.json").read_text())
OPEN_CLIP: dict[str, Any] = json.loads((RECORDS / "open_clip.json").read_text())
MLX: dict[str, Any] = json.loads((RECORDS / "mlx.json").read_text())


@pytest.mark.parametrize("case", MLX["cases"], ids=lambda case: str(case["config"]["model_type"]))
def test_mlx_names_and_shapes(case: dict[str, Any]) -> None:
    """Of models whose code stands beside their files; their files hold what is tied once."""
    found = model(case["config"])
    left_out = {row.name for row in found.tensors() if row.tied_to is not None or row.name.startswith(tuple(case["lacking"]))}
    assert {name: shape for name, shape in tensors_of(found).items() if name not in left_out} == case["tensors"]


@pytest.mark.parametrize("case", OPEN_CLIP["cases"], ids=lambda case: str(case["config"]["embed_dim"]))
def test_open_clip_names_and_shapes(case: dict[str, Any]) -> None:
    assert list(tensors_of(model(case["config"])).items()) == list(case["tensors"].items())


@pytest.mark.parametrize("names", groups(OPEN_CLIP["published"]))
def test_open_clip_model_configs(names: list[str]) -> None:
    for name in names:
        published = OPEN_CLIP["published"][name]
        found = model(published["config"])
        assert [found.count().unique, digest(tensors_of(found))] == [published["total"], published["digest"]], name


@pytest.mark.parametrize("case", MEGATRON["cases"], ids=lambda case: "experts" if case["config"].get("num_experts") else "dense")
def test_megatron_names_and_shapes(case: dict[str, Any]) -> None:
    rows = [row for row in model(case["config"]).tensors() if row.role != "buffer" and row.tied_to is None]
    assert [(row.name, list(row.shape)) for row in rows] == list(case["tensors"].items())


SCRIPT = """#!/bin/bash
# --num-layers 1 in a comment says nothing
HIDDEN=12288
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size ${HIDDEN}
    --num-attention-heads 96
    --max-position-embeddings 2048   # GPT-3's
)
DATA_ARGS="--data-path $DATA --vocab-size=50257 \\
    --tensor-model-parallel-size 8"
torchrun pretrain_gpt.py ${GPT_MODEL_ARGS[@]} $DATA_ARGS
"""


def test_the_arguments_of_a_training_script(tmp_path: Path) -> None:
    """GPT-3 175B as NVIDIA's example trains it: 50,257 words padded to 51,200, eight times 128."""
    (tmp_path / "pretrain.sh").write_text(SCRIPT)
    found = model(tmp_path / "pretrain.sh")
    assert (found.class_name, found.count().unique) == ("megatron.GPTModel", 174_615_846_912)
    same = {"num_layers": 96, "hidden_size": 12288, "num_attention_heads": 96, "max_position_embeddings": 2048, "padded_vocab_size": 51200}
    assert model(same).count().unique == found.count().unique
    assert found.count().unique - (51200 - 50257) * 12288 == model("gpt3-175b").count().unique


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "padded_vocab_size: missing, and the tokenizer is not at hand (add it, or vocab_size)"),
        ("--vocab-size $V", "vocab_size: expected a whole number from 1 up, found '$V'"),
        ("--vocab-size 9 --num-layers 5", "num_layers: 2 and 5 (keep one)"),
        ("--vocab-size 9 --multi-latent-attention", "multi_latent_attention: latent attention is not described"),
        ("--vocab-size 9 --num-experts 2 --moe-layer-freq [0]*3", "moe_layer_freq: expected 0 or 1 for each of 2 layers"),
        ("--vocab-size 9 --num-experts 2 --moe-layer-freq [0]*99999*99999", "moe_layer_freq: expected a list, such as [0]*3+[1]*58, found"),
        ("--vocab-size 9", "max_position_embeddings: missing, and learned positions need it"),
    ],
)
def test_arguments_that_do_not_make_a_model(more: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "train.sh").write_text(f"pretrain_gpt.py --num-layers 2 --hidden-size 8 --num-attention-heads 2 {more}\n")
    with pytest.raises(WeighbridgeError) as caught:
        model(tmp_path / "train.sh")
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("case", TIMM["cases"], ids=lambda case: case["config"]["architecture"])
def test_timm_names_and_shapes(case: dict[str, Any]) -> None:
    assert list(tensors_of(model(case["config"])).items()) == list(case["tensors"].items())


@pytest.mark.parametrize("names", groups(TIMM["published"]))
def test_timm_models(names: list[str]) -> None:
    for name in names:
        found = model({"architecture": name, "num_features": 1})
        assert [found.count().unique, digest(tensors_of(found))] == TIMM["published"][name], name


def test_what_a_hybrid_cannot_be_is_refused() -> None:
    """ViTamin's convolutions put out its width; another network in front is not described."""
    for changed, key in (({"embed_dim": 512}, "embed_dim"), ({"embed_layer": {"kind": "ResNet"}}, "embed_layer")):
        with pytest.raises(WeighbridgeError) as caught:
            model({"architecture": "vitamin_small_224", "num_features": 1, "model_args": changed})
        assert getattr(caught.value, "key", "") == key


def test_unpooled_labels_every_token() -> None:
    """``global_pool: ""`` leaves the classifier all tokens, as timm's class does (9,600 = 2 × 15 × 32 × 10)."""
    said = {"architecture": "vit_relpos_medium_patch16_rpn_224", "num_features": 1, "num_classes": 10}
    sizes = {"depth": 2, "num_heads": 2, "embed_dim": 32, "img_size": 32, "patch_size": 8, "rel_pos_type": "bias"}
    unpooled, pooled = (model({**said, "model_args": {**sizes, "global_pool": pool}}).flops().forward_matmul for pool in ("", "avg"))
    assert unpooled - pooled == 9_600


def test_timm_config_of_the_hub() -> None:
    config = {"architecture": "vit_base_patch16_224", "num_classes": 1000, "num_features": 768, "pretrained_cfg": {"tag": "augreg_in21k"}}
    assert model(config).count().unique == 86_567_656
    assert model({**config, "num_classes": 0}).count().unique == 86_567_656 - 769 * 1000
    wider = {**config, "pretrained_cfg": {"input_size": [3, 384, 384]}}
    assert model(wider).count().unique == 86_567_656 + (24 * 24 - 14 * 14) * 768


def test_open_clip_config_of_a_directory(tmp_path: Path) -> None:
    config = OPEN_CLIP["published"]["ViT-B-32"]["config"]
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": {"mean": [0.5]}}))
    found = model(tmp_path)
    assert (found.class_name, found.count().unique) == ("open_clip.CLIP", 151_277_313)


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"vision_cfg": {"timm_model_name": "no_such_net"}}, "vision_cfg.timm_model_name"),
        ({"text_cfg": {"hf_model_name": "no/such"}}, "text_cfg.hf_model_name"),
        ({"vision_cfg": {"mlp_ratio": "four"}}, "mlp_ratio"),
        ({"vision_cfg": {"attentional_pool": "sideways"}}, "attentional_pool"),
        ({"text_cfg": {"block_type": "other"}}, "block_type"),
        ({"text_cfg": {"qk_norm": True, "scaled_cosine_attn": True}}, "qk_norm"),
    ],
)
def test_what_open_clip_has_otherwise_is_refused(more: dict[str, Any], key: str) -> None:
    with pytest.raises(WeighbridgeError) as caught:
        model({"embed_dim": 64, "vision_cfg": {}, "text_cfg": {}, **more})
    assert str(getattr(caught.value, "key", "")).endswith(key)


@pytest.mark.parametrize("case", RECORD["cases"], ids=lambda case: case["config"]["mlp_class_name"])
def test_litgpt_names_and_shapes(case: dict[str, Any]) -> None:
    assert list(tensors_of(model(case["config"])).items()) == list(case["tensors"].items())


NANOGPT = {"n_layer": 12, "n_head": 12, "n_embd": 768, "block_size": 1024, "vocab_size": 50257, "bias": False, "dropout": 0.0}


def test_nanogpt_is_known_by_its_keys() -> None:
    found = model(NANOGPT)
    assert (found.class_name, found.count().unique) == ("nanogpt.GPT", 124_337_664)
    assert found.count().unique - 1024 * 768 == 123_551_232  # "number of parameters: 123.55M", as the repository prints it
    assert model({**NANOGPT, "bias": True}).count().unique == model("gpt2").count().unique


@pytest.mark.parametrize("more", [{"latent_attention": {"q_lora_rank": 8}}, {"mlp_class_name": "Mine"}, {"mlp_class_name": "LLaMAMLP"}])
def test_what_litgpt_has_otherwise_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(WeighbridgeError):
        model({"n_layer": 2, "n_embd": 64, "n_head": 2, "norm_class_name": "RMSNorm", **more})


PROFILED = [
    ("ViT-B-32-quickgelu", "151.28M", "14.78G"),
    ("ViT-M-16-alt", "78.98M", "19.36G"),
    ("RN50x4", "178.3M", "51.82G"),
    ("EVA02-L-14-336", "428.08M", "395.16G"),
    ("xlm-roberta-base-ViT-B-32", "366.12M", "105.87G"),
    ("ViT-B-16-SigLIP", "203.16M", "46.44G"),
    ("convnext_large_d", "351.77M", "107.5G"),
    ("ViT-L-14-CLIPA", "414.21M", "167.5G"),
    ("ViT-e-14", "4581.09M", "2091.45G"),
]


@pytest.mark.parametrize(("name", "parameters", "flops"), PROFILED)
def test_open_clip_names_and_what_its_profile_says(name: str, parameters: str, flops: str) -> None:
    """docs/model_profile.csv of mlfoundations/open_clip: M parameters, and GFLOPs of one image and one text."""
    found = model(f"open_clip/{name}")
    assert found.reconcile(parameters).matches[0].convention == found.class_name
    assert found.reconcile_flops(flops).matches[0].key == "torch"


@pytest.mark.parametrize(
    ("name", "parameters"), [("nllb-clip-large", "1399.22M"), ("EVA01-g-14", "1136.44M"), ("EVA02-E-14-plus", "5044.89M")]
)
def test_open_clip_totals_of_its_profile(name: str, parameters: str) -> None:
    assert model(f"open_clip/{name}").reconcile(parameters).matches[0].how == "rounded"


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("xcit-nano-12-p16_3rdparty-dist_in1k", 3_053_224),
        ("xcit-large-24-p8_3rdparty-dist_in1k-384px", 188_932_648),
        ("deit3-base-p16_in21k-pre_3rdparty_in1k-384px", 86_877_160),
        ("vit-base-p32_in21k-pre_3rdparty_in1k-384px", 88_297_192),
        ("poolformer-m48_3rdparty_32xb128_in1k", 73_473_448),
        ("efficientnet-b6_3rdparty-ra-noisystudent_in1k", 43_040_704),
        ("convnext-v2-atto_3rdparty-fcmae_in1k", 3_708_400),
        ("deit-small-distilled_3rdparty_in1k", 22_436_432),
        ("convnext-tiny_32xb128-noema_in1k", 28_589_128),
    ],
)
def test_names_of_mmpretrain(name: str, total: int) -> None:
    """The totals that MMPretrain's model index gives."""
    assert model(name).count().unique == total


@pytest.mark.parametrize(
    "name", ["resnet50_8xb16-mixup_cifar10", "convnext-base_3rdparty_in21k", "vit-base-p16_eva-mae-style-pre_8xb128_in1k"]
)
def test_names_of_mmpretrain_with_other_labels_or_pooling_are_not_guessed(name: str) -> None:
    with pytest.raises(WeighbridgeError):
        model(name)


def test_timm_names_and_tags() -> None:
    assert model("deit3_large_patch16_224").count().unique == TIMM["published"]["deit3_large_patch16_224"][0]
    assert model("timm/vit_base_patch16_224.augreg_in21k").count().unique == 85_798_656 + 769 * 21_843
    with pytest.raises(WeighbridgeError):
        model("vit_base_patch16_224.no_such_weights")
    assert model("deit3_large_patch16_224").reconcile_flops("61.6G", images=1).matches[0].key == "fvcore"


def test_a_timm_convnext_sees_images_of_the_side_that_its_weights_were_made_for() -> None:
    """results/benchmark-infer-amp-nchw-pt240-cu124-rtx3090.csv: 7.39 GMACs at 288 pixels; mmpretrain's 13,135,236,864 at 384."""
    assert model("timm/convnext_tiny", overrides={"img_size": 288}).reconcile_flops("7.39G", images=1).matches[0].key == "fvcore"
    hub = {"architecture": "convnext_tiny", "pretrained_cfg": {"input_size": [3, 384, 384], "num_classes": 1000}}
    assert model(hub).reconcile_flops(13_135_236_864, images=1).matches[0].key == "fvcore"


@pytest.mark.parametrize("name", DIFFUSERS["published"])
def test_diffusers_published_configs(name: str) -> None:
    found = model(DIFFUSERS["published"][name]["config"])
    assert found.count().unique == DIFFUSERS["published"][name]["total"]
    assert digest(tensors_of(found)) == DIFFUSERS["published"][name]["digest"]


@pytest.mark.parametrize("case", DIFFUSERS["cases"], ids=lambda case: case["config"]["_class_name"])
def test_diffusers_names_and_shapes(case: dict[str, Any]) -> None:
    assert list(tensors_of(model(case["config"])).items()) == list(case["tensors"].items())


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"_class_name": "UNet3DConditionModel"}, "diffusers' 'UNet3DConditionModel' is not described"),
        ({"_class_name": "Kandinsky3UNet", "block_out_channels": [8, 16]}, "block_out_channels: expected one entry for each of 4 stages"),
        (
            {"_class_name": "MotionAdapter", "motion_num_attention_heads": 3},
            "motion_num_attention_heads: 640 channels for 3 heads leave 639, and positions",
        ),
        ({"_class_name": "AutoencoderKLHunyuanVideo", "temporal_compression_ratio": 8}, "temporal_compression_ratio: only 4 is described"),
        ({"_class_name": "UNet2DConditionModel", "only_cross_attention": [True]}, "expected one entry for each of 4 stages"),
        ({"_class_name": "UNet2DConditionModel", "only_cross_attention": [1]}, "expected true or false, or one of them for each stage"),
        ({"_class_name": "UNet2DConditionModel", "encoder_hid_dim_type": "image_proj"}, "encoder_hid_dim: missing, and the class needs it"),
        ({"_class_name": "UNet2DModel", "time_embedding_type": "learned"}, "num_train_timesteps: missing, and the class needs it"),
        ({"_class_name": "UNet2DConditionModel", "dual_cross_attention": True}, "dual_cross_attention: True is not described"),
        (
            {"_class_name": "UNet2DConditionModel", "down_block_types": ["DownBlock2D"]},
            "down_block_types: expected one of DownBlock2D, CrossAttnDownBlock2D,",
        ),
        ({"_class_name": "AutoencoderKL", "block_out_channels": [8, 16]}, "down_block_types: expected 2 times DownEncoderBlock2D"),
        ({"_class_name": "UNet2DConditionModel", "attention_head_dim": 7}, "attention_head_dim: 7 heads do not divide a width of 320"),
    ],
)
def test_what_diffusers_has_and_we_do_not(config: dict[str, Any], said: str) -> None:
    with pytest.raises(WeighbridgeError, match=re.escape(said)):
        model(config)


def test_the_arithmetic_of_diffusion_is_refused_with_its_reason() -> None:
    with pytest.raises(WeighbridgeError, match="how many positions a pass of a diffusion model sees"):
        model("flux.1-dev").flops()


@pytest.mark.parametrize("model_type", [name for name, home in MODULES.items() if home.startswith("packages.")])
def test_every_class_of_a_package_says_which_package_it_is_held_to(model_type: str) -> None:
    """Otherwise it would be said that its code stands beside its files and no live class was asked."""
    assert model_type in PACKAGES
    assert ("not held" in PACKAGES[model_type]) == (model_type == "nanogpt")
