"""What is written out one by one is bounded: a config of a few bytes asks for no gigabytes."""

from __future__ import annotations

import pytest

from weighbridge import ConfigError, model

MANY = 10**9
ASKED = [
    ({"model_type": "eomt"}, "num_upscale_blocks", MANY),
    ({"_class_name": "AutoencoderTiny"}, "num_encoder_blocks", [MANY, 3, 3, 3]),
    ({"_class_name": "AutoencoderTiny"}, "num_decoder_blocks", [3, 3, 3, MANY]),
    *(
        ({"_class_name": name}, "layers_per_block", MANY)
        for name in """AutoencoderKL AutoencoderKLTemporalDecoder ControlNetModel UNet2DConditionModel UNet2DModel
        UNetSpatioTemporalConditionModel VQModel""".split()
    ),
    *(({"_class_name": name}, "num_res_blocks", MANY) for name in ("AutoencoderKLQwenImage", "AutoencoderKLWan")),
]


@pytest.mark.parametrize(("config", "key", "value"), ASKED)
def test_a_thousand_million_blocks_are_refused(config: dict[str, object], key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=rf"^{key}: at most (64|512) are described$"):
        model({**config, key: value})


@pytest.mark.parametrize("name", ["stable-diffusion-v1-5-unet", "sd-controlnet-canny"])
def test_other_numbers_of_a_stage_are_not(name: str) -> None:
    assert model(name).count().unique
