"""Swin's decoder of masked images, whose width follows ``num_layers``, not the depths: counts of the live classes."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model
from weighbridge.core.errors import ConfigError


@pytest.mark.parametrize(
    ("model_type", "raw", "built"),
    [
        ("swin", {}, 29_881_818),
        ("swin", {"num_layers": 0}, 27_669_978),
        ("swin", {"num_layers": 6, "num_hidden_layers": 2}, 28_112_346),
        ("swin", {"num_layers": 0, "embed_dim": 45, "num_heads": [3, 3, 3, 3]}, 6_135_630),
        ("swinv2", {"num_layers": 2}, 28_171_146),
    ],
)
def test_the_decoder_is_as_wide_as_num_layers_makes_it(model_type: str, raw: dict[str, Any], built: int) -> None:
    found = model({"model_type": model_type, **raw}, f"{model_type.capitalize()}ForMaskedImageModeling")
    assert found.count().unique == found.explain().total == built


def test_a_width_that_no_model_has_is_refused() -> None:
    with pytest.raises(ConfigError, match="num_layers: the width doubles with each stage"):
        model({"model_type": "swin", "num_layers": 10**12}, "SwinForMaskedImageModeling")
