"""A tree set into another: what it sees and needs there."""

from __future__ import annotations

import pytest

from weighbridge.blueprints.modules.reroot import moved, redirected
from weighbridge.core.parts import depthwise
from weighbridge.core.tree import Filled, Least, Once, Part, Span, Squares, Stream, Times, Together, Within

STREAMS: dict[str, Stream] = {"seq": "decoder", "encoder": 197}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, None),
        (12, 12),
        ("rows", "rows"),
        (Together((Once("seq"), Least("seq", 3))), Together((Once("decoder"), Least("decoder", 3)))),
        (Within(Span("seq", 1), 4, "limit"), Within(Span("decoder", 1), 4, "limit")),
        (Span(Filled("seq", 4), 3), Span(Filled("decoder", 4), 3)),
        (Times(("encoder", Squares("seq", 2))), Times((197, Squares("decoder", 2)))),
    ],
)
def test_named_streams_are_replaced_however_deep_they_stand(before: Stream | None, after: Stream | None) -> None:
    assert redirected(before, STREAMS) == after


def test_a_causal_convolution_sees_the_tokens_of_its_new_place() -> None:
    inner = moved(Part("", (depthwise("conv1d", 8, 4),)), "", {"seq": "decoder"}).children[0]
    assert isinstance(inner, Part) and inner.stream == Span(Filled("decoder", 4), add=3)


@pytest.mark.parametrize(
    ("stream", "given"),
    [("seq", "seq"), (Span("images", 1), "images"), (Filled("seq", 4), "seq"), (Squares("seq", 2), "seq"), (197, None)],
)
def test_what_a_part_needs_is_what_its_stream_became(stream: Stream, given: str | None) -> None:
    crossed = Part("cross", given="encoder")
    assert moved(Part("", (crossed,)), "", {"encoder": stream}).children[0] == crossed._replace(given=given)
