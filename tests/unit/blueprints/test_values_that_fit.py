"""Values that fit together where a class wants them to, and those that it builds all the same: figures of live classes on the meta device."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import count, model
from weighbridge.blueprints.modules.stage_fields import scale_width
from weighbridge.columns.column import column, values_of
from weighbridge.core.errors import ConfigError, UsageError

BUILT: list[tuple[str, dict[str, Any], int]] = [
    ("SwitchTransformersForConditionalGeneration", {"num_hidden_layers": 2, "num_decoder_layers": None}, 218_194_176),
    ("SwitchTransformersForConditionalGeneration", {"num_layers": 2, "num_decoder_layers": None}, 51_422_976),
    ("Phi4MultimodalAudioModel", {"head_dim": 13}, 360_979_328),
    ("MobileViTModel", {"hidden_sizes": [72, 96, 120, 120]}, 2_680_120),
    ("MobileViTForSemanticSegmentation", {"neck_hidden_sizes": [16, 32, 64, 96, 128, 160, 640, 700]}, 9_916_578),
    ("MobileViTV2ForSemanticSegmentation", {"conv_kernel_size": 4, "patch_size": [2, 2]}, 13_316_971),
    ("WhisperModel", {"num_key_value_heads": 4, "decoder_attention_heads": 4, "hidden_size": 128}, 10_923_904),
    ("SwiftFormerModel", {"depths": [3, 3, 3, 1, 2], "embed_dims": [8, 8, 24, 48, 48]}, 144_536),
    ("ViTMAEModel", {"patch_size": [16, 8]}, 85_654_272),
    ("SwinModel", {"mlp_ratio": 2.7}, 21_900_678),
    ("SwinModel", {"mlp_ratio": 0.0}, 10_249_338),
    ("RTDetrModel", {"hidden_expansion": 0.65}, 37_172_358),
    ("JanusModel", {"vq_config": {"base_channels": 64}}, 6_978_124_363),
    ("MimiModel", {"hidden_size": 64, "upsample_groups": 64}, 27_309_697),
    ("SpeechT5ForTextToSpeech", {"num_conv_pos_embedding_groups": 7}, 144_431_684),
    ("Lfm2Model", {"block_ffn_dim_multiplier": 0.78, "num_hidden_layers": 2}, 298_857_280),
    ("Sapiens2Model", {"num_hidden_layers": 2, "num_key_value_heads_per_layer": [16, 16, 16]}, 34_385_152),
    ("Sam2HieraDetModel", {"blocks_per_stage": [3, 1, 1]}, 2_395_584),
    ("TextNetForImageClassification", {"hidden_sizes": [16, 16, 32, 64, 128, 128]}, 675_682),
    (
        "MixtralModel",
        {"num_hidden_layers": 1, "head_dim": 64, "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}},
        1_561_374_720,
    ),
    ("MptModel", {"attn_config": {"attn_pdrop": 0}, "n_layers": 1}, 153_491_456),
    ("ZambaModel", {"num_hidden_layers": 3, "tie_word_embeddings": False}, 750_421_632),
    ("LlavaModel", {"vision_config": {"model_type": "swin", "hidden_size": 32}}, 6_651_779_450),
    ("Mistral3Model", {"vision_config": {"patch_size": [14, 14]}}, 23_340_272_640),
    ("VoxtralModel", {"text_config": {"num_attention_heads": 3}}, 3_589_422_080),
    ("XCLIPModel", {"text_config": {"num_attention_heads": 3}}, 196_585_729),
    ("RadioModel", {"num_attention_heads": 3}, 651_399_488),
    ("OneFormerModel", {"backbone_config": {"model_type": "dinat", "out_features": ["stage1", "stage2", "stage3", "stage4"]}}, 42_526_857),
    ("Qwen4ExpTextModel", {"num_hidden_layers": 2}, 3_832_000_896),
    (
        "MixtralModel",
        {
            "num_hidden_layers": 1,
            "rope_scaling": {
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            },
        },
        1_582_346_240,
    ),
    ("BeitModel", {"hidden_size": 32}, 2_461_376),
    ("Dinov2Model", {"hidden_size": 32}, 167_840),
]
"""What transformers 5.23.0 builds."""

REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("MimiModel", {"hidden_size": 64}),
    ("JanusModel", {"vq_config": {"base_channels": 16}}),
    ("Wav2Vec2Model", {"hidden_size": 24, "num_attention_heads": 2}),
    ("Wav2Vec2ForSequenceClassification", {"add_adapter": True}),
    ("Wav2Vec2BertModel", {"conv_depthwise_kernel_size": 32}),
    ("SpeechT5ForSpeechToText", {"num_conv_pos_embedding_groups": 7}),
    ("ViTMAEForPreTraining", {"image_size": [64, 32]}),
    ("RTDetrV2ForObjectDetection", {"decoder_layers": 1}),
    ("XLMForMultipleChoice", {"summary_type": "attn"}),
    ("XLNetModel", {"num_attention_heads": 4}),
    ("Llama4TextModel", {"num_hidden_layers": 2, "no_rope_layers": [1, 1, 1]}),
    ("MllamaTextModel", {"vocab_size": 1000}),
    ("Molmo2Model", {"vision_config": {"num_hidden_layers": 3}}),
    ("PvtModel", {"image_size": [8, 8]}),
    ("ModernBertModel", {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}}),
    ("PeAudioModel", {"text_config": {"vocab_size": 503}}),
    ("MptModel", {"attn_config": {"attn_pdrop": 0.0}}),
    ("T5Model", {"feed_forward_proj": "gated-selu"}),
    ("MobileBertModel", {"normalization_type": "batch_norm"}),
    ("MixtralModel", {"num_hidden_layers": 1, "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}}),
    ("ZambaModel", {"num_hidden_layers": 3}),
    ("OlmoHybridModel", {"num_hidden_layers": 1}),
    ("Sam2Model", {"mask_decoder_config": {"hidden_size": 12}}),
    ("VideoMAEForPreTraining", {"patch_size": [16, 16]}),
    ("NemotronH_Omni_Reasoning_V3", {"vision_config": {"num_hidden_layers": 2}}),
    ("MoshiModel", {"depth_decoder_config": {"num_hidden_layers": 2}}),
    ("Qwen2Model", {"hidden_size": 16}),
    ("MT5Model", {"hidden_size": None}),
    ("Qwen2VLTextModel", {"num_attention_heads": 3}),
    ("MoonshineStreamingModel", {"num_hidden_layers": 2}),
    ("XCLIPVisionModel", {"hidden_size": 8}),
]
"""What it refuses, in the config's class or in that of the model."""


@pytest.mark.parametrize(("name", "config", "expected"), BUILT)
def test_what_a_class_builds_is_counted(name: str, config: dict[str, Any], expected: int) -> None:
    assert count({"architectures": [name], **config}).unique == expected


@pytest.mark.parametrize(("name", "config"), REFUSED)
def test_what_a_class_refuses_is_refused(name: str, config: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        model({"architectures": [name], **config})


def test_a_kernel_that_leaves_another_map_has_no_flops() -> None:
    with pytest.raises(UsageError, match="an even kernel leaves a map of another size"):
        model({"model_type": "mobilevit", "conv_kernel_size": 4}).flops(images=1)


def test_a_ratio_in_decimals_is_multiplied_as_floats_do_it_or_refused() -> None:
    assert [scale_width(width, (29, 100)) for width in (99, 101)] == [int(width * 0.29) for width in (99, 101)]
    widths = scale_width(column([99, 101]), (29, 100))
    assert values_of(widths, 2).tolist() == [28, 29]
    for width in (100, column([99, 100])):
        with pytest.raises(ConfigError, match=r"100 times 0\.29 is rounded"):
            scale_width(width, (29, 100))
