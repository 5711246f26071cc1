"""No value of a config makes a tensor of less than nothing, or of half an element: each of these once did, and was counted."""

import pytest

import weighbridge
from weighbridge.core.errors import ConfigError, WeighbridgeError


@pytest.mark.parametrize(
    ("model_type", "key", "value"),
    [
        ("cvt", "mlp_ratio", [-1, -1, -1, -1]),
        ("encodec", "target_bandwidths", [-1]),
        ("funnel", "block_sizes", [-1]),
        ("gemma3n_audio", "sscp_conv_channel_size", [-1, -1, -1, -1]),
        ("groupvit_vision_model", "assign_mlp_ratio", -1),
        ("lfm2", "block_ffn_dim_multiplier", -1),
        ("mimi", "frame_rate", -1),
        ("moonshine_streaming_encoder", "frame_ms", -1),
        ("speech_to_text", "conv_kernel_sizes", [-1]),
        ("timm_vit", "reg_tokens", -1),
        ("vits", "window_size", -1),
        ("vits", "num_speakers", 1.5),
        ("xcodec", "codebook_size", 1.5),
        ("diffusers_unet", "conv_in_kernel", [-1]),
        ("fastspeech2_conformer", "speaker_embed_dim", float("-inf")),
        ("fastspeech2_conformer", "speaker_embed_dim", -1),
        ("cosmos3_edge_text", "rope_parameters", -1),
        ("funnel", "block_sizes", [[[[]]]]),
    ],
)
def test_no_tensor_has_less_than_nothing(model_type: str, key: str, value: object) -> None:
    with pytest.raises(ConfigError):
        weighbridge.model({"model_type": model_type, key: value})


@pytest.mark.parametrize(
    "model_type",
    [
        "led",
        "granitemoehybrid",
        "laguna",
        "mellum",
        "step3p5",
        "muse_spark_text",
        "lw_detr_vit",
        "rf_detr_dinov2",
        "inkling_vision",
        "rwkv5",
    ],
)
def test_a_thousand_million_layers_are_not_listed(model_type: str) -> None:
    """A list of their kinds takes eight gigabytes."""
    with pytest.raises(WeighbridgeError, match="layers, which are looked at one by one"):
        weighbridge.model({"model_type": model_type, "num_hidden_layers": 10**9})
