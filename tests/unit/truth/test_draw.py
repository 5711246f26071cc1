"""Random configs: reproducible, consistent, and off their defaults."""

from __future__ import annotations

import pytest

from tests.kinds import KINDS, types_of
from tests.shares import share
from truth.draw import draw, fields
from weighbridge import model


@pytest.mark.parametrize("index", range(20))
def test_a_draw_is_weighed_and_hidden_sizes_divide(index: int) -> None:
    raw = draw(str(index), "bert")
    assert raw == draw(str(index), "bert")
    assert raw["hidden_size"] % raw["num_attention_heads"] == 0
    assert isinstance(model(raw).count().unique, int)


def test_draws_differ_and_leave_the_defaults() -> None:
    drawn = [draw(str(index), "bert") for index in range(20)]
    assert len({str(raw) for raw in drawn}) == 20
    assert all(raw["vocab_size"] != 30522 for raw in drawn)


def test_nothing_is_touched_when_nothing_may_be() -> None:
    import random

    from weighbridge.blueprints.encoders.bert import FIELDS

    assert set(fields(random.Random(0), FIELDS, touch=0.0)) <= {"num_labels", "id2label"}


STATED = {"baichuan_m1"}
"""Types of whose six sizes none has a default to draw around; ``truth/mlx_text_draws`` draws their configs."""


@pytest.mark.parametrize("kind", share(KINDS, 4))
def test_most_draws_are_configs_to_us(kind: str) -> None:
    accepted = {
        model_type: sum(is_config(model_type, index) for index in range(6)) for model_type in types_of(kind) if model_type not in STATED
    }
    assert {model_type: number for model_type, number in accepted.items() if number < 2} == {}


def is_config(model_type: str, index: int) -> bool:
    try:
        return isinstance(model(draw(str(index), model_type, 0.5)).count().unique, int)
    except ValueError:
        return False
