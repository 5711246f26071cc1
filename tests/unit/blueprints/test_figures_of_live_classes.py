"""Figures of live classes on the meta device: heads that do not divide the hidden size, and networks under a neck."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import count, model
from weighbridge.core.errors import ConfigError

SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 96, "vocab_size": 99}
LIVE: list[tuple[str, dict[str, Any], int]] = [
    ("vit", {"num_attention_heads": 5}, 122_792),
    ("albert", {"num_attention_heads": 5, "embedding_size": 16}, 43_652),
    ("electra", {"num_attention_heads": 5}, 144_104),
    ("qwen2_5_vl_vision", {"num_heads": 5, "depth": 2, "out_hidden_size": 32}, 220_256),
    ("sam_vision_model", {"num_attention_heads": 5, "mlp_dim": 256}, 1_019_856),
    ("llama4_vision_model", {"num_attention_heads": 5, "intermediate_size": 256, "vision_output_dim": 32}, 18_027_240),
]
"""What the classes of transformers 5.23.0 have on the meta device."""


@pytest.mark.parametrize(("model_type", "own", "expected"), LIVE, ids=[case[0] for case in LIVE])
def test_what_heads_leave_over_is_dropped_as_the_class_drops_it(model_type: str, own: dict[str, Any], expected: int) -> None:
    assert count({"model_type": model_type, **SMALL, **own}).unique == expected


@pytest.mark.parametrize("model_type", ["bert", "clip_vision_model", "opt"])
def test_a_class_that_refuses_such_heads_is_refused(model_type: str) -> None:
    with pytest.raises(ConfigError, match="not divisible by"):
        count({"model_type": model_type, **SMALL, "num_attention_heads": 5})


def test_esm_has_a_formula_where_its_config_states_the_width_of_a_head() -> None:
    config = {"model_type": "esm", "hidden_size": 48, "num_attention_heads": 4, "head_dim": 15, "vocab_size": 33, "num_hidden_layers": 1}
    assert model(config).formula().value == count(config).unique


def test_deimv2_over_a_dinov3_has_the_network_beside_it() -> None:
    config = {"model_type": "deimv2", "backbone_config": {"model_type": "dinov3_vit", "out_features": ["stage10", "stage11", "stage12"]}}
    assert count(config, "Deimv2ForObjectDetection").unique == 37_333_894


MAPS = {"in_chans": 3, "out_indices": [1, 2, 3, 4]}
NAMED: list[tuple[str, str, dict[str, Any] | None, int]] = [
    ("detr", "DetrForObjectDetection", {**MAPS, "in_chans": 4, "output_stride": 16}, 41_501_895),
    ("d_fine", "DFineModel", MAPS, 39_576_210),
    ("rt_detr", "RTDetrModel", None, 41_518_982),
    ("grounding-dino", "GroundingDinoForObjectDetection", {"num_channels": 4, "out_indices": [3, 4]}, 172_167_944),
    ("maskformer", "MaskFormerModel", MAPS, 41_071_680),
]
"""What transformers 5.23.0 builds, with timm 1.0.31, of configs that name timm's ResNet-50 by the keys of older releases."""


@pytest.mark.parametrize(("model_type", "name", "arguments", "expected"), NAMED, ids=[case[0] for case in NAMED])
def test_a_backbone_is_named_by_older_keys(model_type: str, name: str, arguments: dict[str, Any] | None, expected: int) -> None:
    config = {"model_type": model_type, "backbone": "resnet50", "backbone_kwargs": arguments, "backbone_config": None}
    assert count(config, name).unique == expected


DEPTHS = [({"num_encoder_blocks": 3}, 1694919), ({"head_in_index": 5}, 3664839), ({"hidden_sizes": [32, 64, 160, 256, 256]}, 3774313)]


@pytest.mark.parametrize(("own", "expected"), DEPTHS)
def test_a_depth_decoder_has_a_stage_for_each_width(own: dict[str, Any], expected: int) -> None:
    assert count({"model_type": "glpn", **own}, "GLPNForDepthEstimation").unique == expected


TIMM_SWIN = {"model_type": "timm_backbone", "backbone": "swin_tiny_patch4_window7_224"}
WRAPPED = {
    "dab-detr": ("DabDetrModel", "backbone.conv_encoder.model._backbone"),
    "grounding-dino": ("GroundingDinoModel", "backbone.conv_encoder.model._backbone"),
    "rt_detr": ("RTDetrModel", "backbone.model._backbone"),
    "maskformer": ("MaskFormerModel", "pixel_level_module.encoder._backbone"),
    "oneformer": ("OneFormerModel", "pixel_level_module.encoder._backbone"),
    "upernet": ("UperNetForSemanticSegmentation", "backbone._backbone"),
    "detr": ("DetrModel", "backbone.model"),
    "table-transformer": ("TableTransformerModel", "backbone.conv_encoder.model"),
}
"""Where transformers 5.23.0 has timm's network: in its wrapper, except where the class takes it out."""


@pytest.mark.parametrize("model_type", WRAPPED)
def test_a_network_of_timms_stands_in_the_librarys_wrapper(model_type: str) -> None:
    name, expected = WRAPPED[model_type]
    config = {"model_type": model_type, "backbone": "resnet50", "backbone_kwargs": MAPS, "backbone_config": None}
    first = next(row.name for row in model(config, name).tensors() if row.name.endswith("conv1.weight"))
    assert first == f"{expected}.conv1.weight"


SWINS: list[tuple[str, dict[str, Any], int]] = [
    ("OmDetTurboForObjectDetection", {"model_type": "omdet-turbo"}, 115_406_806),
    ("OmDetTurboForObjectDetection", {"model_type": "omdet-turbo", "backbone": "swin_small_patch4_window7_224"}, 136_724_710),
    ("Mask2FormerModel", {"model_type": "mask2former", "backbone_config": {**TIMM_SWIN, "out_indices": [0, 1, 2, 3]}}, 47_397_946),
    ("DabDetrModel", {"model_type": "dab-detr", "backbone_config": {**TIMM_SWIN, "out_indices": [3]}}, 47_250_744),
]


@pytest.mark.parametrize(("name", "config", "expected"), SWINS, ids=lambda value: value if isinstance(value, str) else "")
def test_timms_swin_is_a_backbone(name: str, config: dict[str, Any], expected: int) -> None:
    assert count(config, name).unique == expected


def test_omdet_turbo_gives_its_network_the_side_of_the_image() -> None:
    with pytest.raises(ConfigError, match=r"^backbone: the class gives its network the side of the image, which this one does not take"):
        count({"model_type": "omdet-turbo", "backbone": "resnet50"}, "OmDetTurboForObjectDetection")


@pytest.mark.parametrize("model_type", "depth_anything prompt_depth_anything chmv2 zoedepth vitpose vitmatte lw_detr tvp".split())
def test_a_backbone_that_is_only_named_is_not_passed_over(model_type: str) -> None:
    with pytest.raises(ConfigError, match=r"^backbone: .* \(state backbone_config\)$"):
        count({"model_type": model_type, "backbone": "resnet50"})


UNUSUAL: list[tuple[str, dict[str, Any], int]] = [
    ("DeepseekV3ForSequenceClassification", {"model_type": "deepseek_v3", "hidden_act": "prelu"}, 670_099_739_767),
    ("VideoPrismClipModel", {"model_type": "videoprism", "vision_config": {"hidden_act": "xielu"}}, 247_623_460),
    (
        "Cohere2VisionModel",
        {"model_type": "cohere2_vision", "vision_config": {"model_type": "swin"}, "text_config": {"num_hidden_layers": 1}},
        3_211_057_530,
    ),
    (
        "GlmAsrModel",
        {"model_type": "glmasr", "text_config": {"model_type": "xlstm"}, "audio_config": {"num_hidden_layers": 1}},
        1_593_545_152,
    ),
]


@pytest.mark.parametrize(("name", "config", "expected"), UNUSUAL, ids=[case[0] for case in UNUSUAL])
def test_sub_configs_of_other_types_are_what_the_auto_class_makes_of_them(name: str, config: dict[str, Any], expected: int) -> None:
    assert count(config, name).unique == expected


@pytest.mark.parametrize(
    ("rope", "scales"),
    [
        ({"partial_rotary_factor": 8}, 256),
        ({"rope_scaling": {"rope_type": "proportional", "partial_rotary_factor": 0.25}}, 32),
        ({"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}}, 32),
    ],
)
def test_mistral_large_4_learns_a_scale_for_each_frequency(rope: dict[str, Any], scales: int) -> None:
    assert count({"model_type": "mistral_large4_text", "num_hidden_layers": 1, **rope}).buffers == scales


def test_a_tower_that_nothing_around_it_is_described_for_is_refused() -> None:
    with pytest.raises(ConfigError, match="only gemma4_vision is described here"):
        count({"model_type": "embedding_gemma2", "vision_config": {"model_type": "siglip_vision_model"}})


def test_a_tower_without_what_the_whole_asks_for_is_refused() -> None:
    with pytest.raises(ConfigError, match="the outer model reads its image"):
        count({"model_type": "gemma3", "vision_config": {"model_type": "bert"}})


NOTHING: list[tuple[dict[str, Any], int]] = [
    ({"model_type": "bert", "intermediate_size": 0}, 52_822_272),
    ({"model_type": "deepseek_v3", "num_hidden_layers": 2, "n_shared_experts": 0}, 2_093_652_992),
]


@pytest.mark.parametrize(("config", "expected"), NOTHING, ids=[case[0]["model_type"] for case in NOTHING])
def test_a_width_of_nothing_is_built_as_the_class_builds_it(config: dict[str, Any], expected: int) -> None:
    assert count(config).unique == expected == model(config).formula().value


def test_a_nothing_that_the_class_takes_for_something_else_is_refused() -> None:
    with pytest.raises(ConfigError, match="num_shared_experts: 0 is not possible"):
        count({"model_type": "hy_v3", "num_shared_experts": 0})


def test_heads_that_do_not_divide_are_refused_only_where_the_class_has_them() -> None:
    config = {"model_type": "prophetnet", "hidden_size": 32, "num_encoder_attention_heads": 9, "num_decoder_attention_heads": 4}
    assert count(config, "ProphetNetDecoder").unique
    with pytest.raises(ConfigError, match="not divisible by"):
        count(config, "ProphetNetEncoder")


SEGMENTATION = [
    ("Mask2FormerForUniversalSegmentation", "mask2former", 68_722_322),
    ("MaskFormerForInstanceSegmentation", "maskformer", 101_794_688),
    ("OneFormerForUniversalSegmentation", "oneformer", 50_701_187),
]
"""With seven labels; the classes ask for scipy, of which their tensors need nothing."""


@pytest.mark.parametrize(("name", "model_type", "expected"), SEGMENTATION, ids=[case[0] for case in SEGMENTATION])
def test_heads_of_segmentation_count_a_class_for_nothing(name: str, model_type: str, expected: int) -> None:
    found = model({"model_type": model_type, "num_labels": 7, "architectures": [name]})
    assert found.count().unique == expected
    assert [row.shape for row in found.tensors() if row.name == "criterion.empty_weight"] == [(8,)]


STEPS: list[tuple[dict[str, Any], int]] = [
    ({"down_ops": [["Subsample", 16, 4, 2, 1, 2], ["Subsample", 8, 16, 4, 0, 3]]}, 7_157_952),
    ({"down_ops": [["Subsample", 16, 8, 4, 2, 2], [""]]}, 7_060_800),
    ({"depths": [1, 1]}, 2_556_760),
    ({"depths": [1, 0, 1]}, 3_131_536),
]
"""LevitModel of transformers 5.23.0 on the meta device: steps between stages that a config states, and fewer stages than there are widths."""


@pytest.mark.parametrize(("own", "expected"), STEPS, ids=["stated", "one left out", "two stages", "an empty stage"])
def test_levit_takes_the_steps_of_its_config(own: dict[str, Any], expected: int) -> None:
    assert count({"model_type": "levit", **own}).unique == expected


WRONG_STEPS = [
    None,
    [["Subsample", 16, 8]],
    [["Subsample", 0, 8, 4, 2, 2], [""]],
    [[], [""]],
    [3],
    [["Subsample", 16, 8, 4, 2, 2]] * 3,
    [[""]],
]


@pytest.mark.parametrize("steps", WRONG_STEPS, ids=repr)
def test_steps_with_which_the_class_does_not_build_are_refused(steps: object) -> None:
    with pytest.raises(ConfigError, match=r"down_ops|depths"):
        count({"model_type": "levit", "down_ops": steps})


MADE: dict[str, list[Any]] = {
    "stage_block_stride": [[2], [1, 1]],
    "stage_block_out_channels": [[8], [16, 16]],
    "stage_block_in_channels": [[1], [8, 16]],
    "fine_fusion_dims": [16],
}
MATCHER = {"model_type": "efficientloftr", "stage_num_blocks": [1, 2], "out_features": [8, 16], "stage_stride": [2, 1], "hidden_size": 16}


def test_lists_that_a_config_class_writes_into_its_files_are_read() -> None:
    """As ``EfficientLoFTRConfig(...).to_dict()`` of transformers 5.23.0 has them; the class would build what another list says."""
    assert count({**MATCHER, **MADE}).unique == count(MATCHER).unique
    for key, value in MADE.items():
        with pytest.raises(ConfigError, match=key):
            count({**MATCHER, **MADE, key: [*value[:-1], [3]]})
