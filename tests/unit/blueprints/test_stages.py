"""Lists of stages that are not equally long: the classes index them by the stages they build, and so do we.

Every count was taken from the live class of transformers 5.23.0 for that config.
"""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import ConfigError, model

COUNTS: list[tuple[dict[str, Any], int]] = [
    ({"model_type": "swin", "depths": [2, 2, 6]}, 12152010),
    ({"model_type": "swinv2", "num_heads": [3, 6, 12, 24, 24]}, 27578154),
    ({"model_type": "swin2sr", "num_heads": [6, 6, 6, 6, 6, 6, 6]}, 11838384),
    ({"model_type": "donut-swin", "depths": [2, 2]}, 1195842),
    ({"model_type": "pvt", "num_encoder_blocks": 3}, 5729152),
    ({"model_type": "pvt_v2", "num_encoder_blocks": 2, "image_size": 64}, 509760),
    ({"model_type": "poolformer", "num_encoder_blocks": 3}, 5720512),
    ({"model_type": "cvt", "depth": [1, 2]}, 1075264),
    ({"model_type": "focalnet", "depths": [2, 2]}, 1214316),
    ({"model_type": "swiftformer", "depths": [3, 3, 6]}, 953040),
    ({"model_type": "efficientnet", "in_channels": [32, 16]}, 394200),
    ({"model_type": "resnet", "depths": [3, 4, 6]}, 8543296),
    ({"model_type": "resnet", "hidden_sizes": [256, 512]}, 1444928),
    ({"model_type": "regnet", "depths": [2, 6]}, 1449432),
    ({"model_type": "levit", "num_attention_heads": [4, 8, 12, 16]}, 8442400),
    ({"model_type": "groupvit_vision_model", "depths": [6, 3]}, 23513744),
]


@pytest.mark.parametrize(("raw", "live"), COUNTS, ids=lambda value: value["model_type"] if isinstance(value, dict) else "")
def test_more_entries_than_stages_are_left_out(raw: dict[str, Any], live: int) -> None:
    assert model(raw).count().unique == live


def test_it_is_said() -> None:
    notes = model({"model_type": "swin", "num_heads": [3, 6, 12, 24, 48]}).notes
    assert "num_heads: 5 entries for 4 stages; those beyond are left out" in notes


def test_fewer_entries_than_stages_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^num_heads: 3 entries, but depths is 4 \(one for each stage\)$"):
        model({"model_type": "swin", "num_heads": [3, 6, 12]})
