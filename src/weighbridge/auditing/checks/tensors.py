"""Check lines that print a tensor: its name, its shape and how many elements it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import prod

from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import MOST_MEMBERS
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.auditing.thresholds import MOST_COPIES
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark
from weighbridge.core.tree import list_rows
from weighbridge.presets.aliases import FAMILY

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_BETWEEN = pattern(
    r"参数个数为|参数量|参数个数|参数|个数|元素|为|有|共|params?|parameters?|num|numel|number|counts?|elements?|of|total|size|is|has|with|true|false|torch|float\d*"
)


def check(scene: Scene) -> Iterator[Claim]:
    """Check every shape that a count follows, against the shape and against the model's tensor of that name."""
    guessed = scene.main is not None and not scene.main.firm
    shaped = [
        (statement, places[0])
        for statement in scene.statements
        if len(places := [index for index, token in enumerate(statement) if token.kind == "shape"]) == 1
    ]
    cached = cache(lambda context: _shapes(scene.models[context]))
    listed: Mapping[str, tuple[int, ...]] | None = None
    for statement, place in shaped:
        context = scene.context(statement[place].line, statement[place].start)
        known: Mapping[str, tuple[int, ...]] = cached(context) if context in scene.models and (context or not guessed) else {}
        if not known:
            listed = _shapes_of_family(scene, shaped) if listed is None else listed
            known = listed
        found = _check(scene, statement, place, known)
        if found is not None and not (found.verdict == "wrong" and _is_slice(scene, statement[place], known, statement)):
            yield found


def _shapes_of_family(scene: Scene, shaped: Sequence[tuple[Sequence[Token], int]]) -> Mapping[str, tuple[int, ...]]:
    """Return the tensors of the one member of the families of a text that has all tensors which it lists, but one at most."""
    names = dict.fromkeys(name for found in scene.mentions.values() for m in found if m.kind == FAMILY for name in m.names[:MOST_MEMBERS])
    said = {(_stem(_name_of(statement, place)), _sizes_of(statement[place])) for statement, place in shaped}
    said = {(name, sizes) for name, sizes in said if name and sizes}
    models = [model for name in names if (model := preset_model(name)) is not None] if len(said) >= _LEAST_LISTED else []
    for shapes in map(_shapes, models):
        agreed = sum(_known_shape(shapes, name) in (sizes, sizes[::-1]) for name, sizes in said)
        if agreed >= _LEAST_LISTED and agreed + 1 >= len(said):
            return shapes
    return {}


_LEAST_LISTED = 3
"""Tensors of a list that are a member's before it is taken for the one that is listed."""


def _is_slice(scene: Scene, shape: Token, known: Mapping[str, tuple[int, ...]], statement: Sequence[Token]) -> bool:
    """Tell whether a shape is a part of the model's along one side, in a text that speaks of parts: a rank's slice under tensor parallelism."""
    whole_shape = _known_shape(known, _stem(_name_of(statement, statement.index(shape)))) or ()
    sizes = _sizes_of(shape)
    pairs = [(full, part) for full, part in zip(whole_shape, sizes, strict=False) if full != part]
    divided = len(whole_shape) == len(sizes) and len(pairs) == 1 and pairs[0][1] > 0 and pairs[0][0] % pairs[0][1] == 0
    first = max(0, shape.line - _NEAR_SLICES)
    return divided and any(_OF_SLICES.search(text) for text in (*scene.texts[first : shape.line + 1], *scene.texts[:1]))


_NEAR_SLICES = 12
_OF_SLICES = pattern(
    r"\b(?:ranks?|shards?|shard(?:ed|ing)|slices?|tensor[- ]parallel\w*|tp ?=? ?\d*|split|partition\w*|gpus|devices)\b|切分|切片|分片|并行|每张|每块|单卡|多卡",
    re.IGNORECASE,
)


def _name_of(statement: Sequence[Token], place: int) -> str:
    return next((t.text for t in statement[:place] if t.kind == "word" and "." in t.text and not t.text.lower().endswith("size")), "")


def _sizes_of(shape: Token) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d{1,15}", shape.text))


def _shapes(model: ModelValue) -> dict[str, tuple[int, ...]]:
    return {_stem(row.name): tuple(int(size) for size in row.shape) for row in list_rows(model.tree)}  # type: ignore[arg-type]


def _stem(name: str) -> str:
    return name.removeprefix("bert.").removeprefix("model.").replace("gamma", "weight").replace("beta", "bias").lower()


def _check(scene: Scene, statement: Sequence[Token], place: int, shapes: Mapping[str, tuple[int, ...]]) -> Claim | None:
    shape = statement[place]
    sizes = _sizes_of(shape)
    counts = [
        token
        for token in statement[place + 1 :]
        if token.kind == "num" and token.line == shape.line and not token.unit and not token.places
    ]
    if not counts and sizes and place > 0:
        return _named_shape(scene, statement, place, sizes, shapes)
    if not counts or not sizes or any(t.kind == "rel" or (t.kind == "op" and t.text != "-") for t in statement[place + 1 :]):
        return None
    count = counts[0]
    between = scene.lines[shape.line].text[shape.end : count.start].lower()
    if re.sub(r"[\W_]", "", _BETWEEN.sub("", between)):
        return None
    said_number, true = count.value, Fraction(prod(sizes) * _copies(statement, place))
    assert said_number is not None
    name = _name_of(statement, place)
    known = shapes.get(_stem(name))
    first = next((t for t in statement if t.text == name), shape)
    if true and said_number != true and (said_number / true).denominator == 1 and said_number <= true * MOST_COPIES:
        return None  # so many tensors of that shape
    if said_number != true and not _is_parameter(name, sizes, shapes):
        return None  # the shape of an output, and no tensor's
    if said_number != true:
        reason = because(mark("a tensor of that shape has {right}"), right=true)
        return _claim(scene, first, count, "wrong", said_number, true, reason)
    if known is not None and known != sizes and known != sizes[::-1]:
        written = "[" + ", ".join(map(str, known)) + "]"
        return _claim(
            scene,
            first,
            count,
            "wrong",
            said_number,
            Fraction(prod(known)),
            because(mark("in the model its shape is {shape}"), shape=written),
        )
    return _claim(scene, first, count, "exact", said_number, true, ())


def _copies(statement: Sequence[Token], place: int) -> int:
    """Return how many tensors of the shape a line counts: ``gate_proj, up_proj  2 × [18432, 7168]``."""
    if place < 2 or statement[place - 1].text != "*" or statement[place - 2].kind != "num":
        return 1
    times = statement[place - 2].value
    return int(times) if times is not None and times.denominator == 1 and 0 < times < 10**6 else 1


def _is_parameter(name: str, sizes: tuple[int, ...], known: Mapping[str, tuple[int, ...]]) -> bool:
    """Tell whether a shape is a tensor's: it has a tensor's name, or the model has a tensor of that shape."""
    return (
        name.rpartition(".")[2].lower() in ("weight", "bias", "gamma", "beta", "kernel")
        or _ADAPTED.search(name) is not None
        or sizes in known.values()
        or sizes[::-1] in known.values()
    )


_ADAPTED = pattern(r"\.lora_[AB]\.|_proj\.weigh|\.layers?\.\d+\..*\.weig")
"""The name of a tensor that a narrow column has cut, or of an adapter's."""


def _known_shape(shapes: Mapping[str, tuple[int, ...]], stem: str) -> tuple[int, ...] | None:
    """Return the shape of the tensor of a name, or that of all tensors whose names end so: ``self_attn.k_proj.weight``."""
    if stem in shapes or stem.count(".") < 1:
        return shapes.get(stem)
    ending = {shape for name, shape in shapes.items() if name.endswith(f".{stem}")}
    return ending.pop() if len(ending) == 1 else None


def _named_shape(
    scene: Scene, statement: Sequence[Token], place: int, sizes: tuple[int, ...], shapes: Mapping[str, tuple[int, ...]]
) -> Claim | None:
    """Check a shape that stands beside a tensor's full name, with no count."""
    shape = statement[place]
    name = _name_of(statement, place)
    known = _known_shape(shapes, _stem(name))
    if known is None or not name:
        return None
    first = next(t for t in statement if t.text == name)
    count = Fraction(prod(sizes))
    if known in (sizes, sizes[::-1]):
        return _claim(scene, first, shape, "exact", count, count, ())
    if prod(known) == prod(sizes) or place > 8:
        return None
    written = "[" + ", ".join(map(str, known)) + "]"
    return _claim(
        scene, first, shape, "wrong", count, Fraction(prod(known)), because(mark("in the model its shape is {shape}"), shape=written)
    )


def _claim(scene: Scene, first: Token, last: Token, verdict: str, value: Fraction, true: Fraction, reason: object) -> Claim:
    facts = {"value": whole(value), "expected": whole(true), "difference": whole(value - true), "reason": reason}
    return claim(scene.lines, first, last, "component", verdict, **facts)
