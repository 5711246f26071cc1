"""What models of two towers do beside their truth: older layouts, refusals, and arithmetic that grows with the batch."""

from __future__ import annotations

import pytest

from weighbridge import model
from weighbridge.core.errors import ConfigError, UsageError

OLDER = {
    "model_type": "clip",
    "text_config": {"hidden_size": 512, "num_attention_heads": 8},
    "text_config_dict": {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12},
}


def test_the_older_sub_config_takes_the_place_of_the_other() -> None:
    present = {"model_type": "clip", "text_config": OLDER["text_config_dict"]}
    assert model(OLDER).count() == model(present).count()
    assert not model(OLDER).unknown


def test_an_override_reaches_into_the_settled_config() -> None:
    deeper = model(OLDER, overrides={"text_config.num_hidden_layers": 13})
    layer = 4 * (768 * 768 + 768) + 2 * 768 * 3072 + 3072 + 768 + 4 * 768
    assert deeper.count().unique - model(OLDER).count().unique == layer


def test_an_image_of_two_sides_is_refused_where_the_class_takes_one() -> None:
    with pytest.raises(ConfigError, match=r"vision_config\.image_size: expected a whole number, found the list \[224, 448\]"):
        model({"model_type": "clip", "vision_config": {"image_size": [224, 448]}})


def test_every_text_is_compared_with_every_image_of_a_batch() -> None:
    weighed = model({"model_type": "clip"})
    one, three = (weighed.flops(batch=batch, seq=77).forward_matmul for batch in (1, 3))
    assert three - 3 * one == 2 * 512 * (3 * 3 - 3)


def test_without_its_head_siglip_has_nothing_to_compare() -> None:
    weighed = model({"model_type": "siglip", "vision_config": {"vision_use_head": False}})
    with pytest.raises(UsageError, match="no vector that a text is compared with"):
        weighed.flops()
