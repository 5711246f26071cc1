"""A tree set into another: what it sees and needs there."""

from __future__ import annotations

import pytest

from weighbridge.blueprints.modules.reroot import reroot
from weighbridge.core.length import (
    Stream,
    at_least,
    at_most,
    length,
    per_batch,
    product_of,
    sum_of,
    sum_of_squares,
    valid_up_to,
    with_names,
)
from weighbridge.core.parts import depthwise
from weighbridge.core.tree import Part

STREAMS: dict[str, Stream] = {"seq": "decoder", "encoder": 197}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (12, 12),
        ("rows", "rows"),
        (sum_of(per_batch("seq"), at_most("seq", 3)), sum_of(per_batch("decoder"), at_most("decoder", 3))),
        (valid_up_to(length("seq") + 1, 4, "limit"), valid_up_to(length("decoder") + 1, 4, "limit")),
        (length(at_least("seq", 4)) + 3, length(at_least("decoder", 4)) + 3),
        (product_of("encoder", sum_of_squares("seq", 2)), product_of(197, sum_of_squares("decoder", 2))),
    ],
)
def test_named_streams_are_replaced_however_deep_they_stand(before: Stream, after: Stream) -> None:
    assert with_names(before, STREAMS) == after


def test_a_causal_convolution_sees_the_tokens_of_its_new_place() -> None:
    inner = reroot(Part("", (depthwise("conv1d", 8, 4),)), "", {"seq": "decoder"}).children[0]
    assert isinstance(inner, Part) and inner.stream == length(at_least("decoder", 4)) + 3


@pytest.mark.parametrize(
    ("stream", "requires"),
    [("seq", "seq"), (length("images") + 1, "images"), (at_least("seq", 4), "seq"), (sum_of_squares("seq", 2), "seq"), (197, None)],
)
def test_what_a_part_needs_is_what_its_stream_became(stream: Stream, requires: str | None) -> None:
    crossed = Part("cross", requires="encoder")
    assert reroot(Part("", (crossed,)), "", {"encoder": stream}).children[0] == crossed._replace(requires=requires)
