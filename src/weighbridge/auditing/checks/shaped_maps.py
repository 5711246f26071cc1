"""Maps written as arrows: ``gate_proj: 2304 → 9216``; both numbers are the sizes of the model's module of that name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod

from weighbridge.auditing.checks.modules import find_meant_shape, is_mistyped, shapes_by_module
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import LEAST_MODULES
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_MAP = pattern(
    r"(?<![A-Za-z_])(?P<name>[A-Za-z]\w{0,24}(?: (?:proj(?:ection)?|layer|map))?)`?\*{0,2} ?[:：=(] ?(?P<inner>\d{1,3}(?:,\d{3})+|\d{1,6}) ?(?:→|->|⟶|=>) ?"
    r"(?:[\d·×*x ]{3,20}= ?)?(?P<outer>\d{1,3}(?:,\d{3})+|\d{1,6})(?![\w.,]*\d|\s?[·×*x/^]\s?\d)"
)
_CALLED = {
    "q": ("q_proj", "query", "q", "q_lin"),
    "k": ("k_proj", "key", "k", "k_lin"),
    "v": ("v_proj", "value", "v", "v_lin"),
    "o": ("o_proj", "out_proj", "o", "out_lin"),
    "visual": ("visual_projection",),
    "text": ("text_projection",),
    "gate": ("gate_proj", "w1", "wi_0"),
    "up": ("up_proj", "w3", "wi_1", "fc1", "c_fc"),
    "down": ("down_proj", "w2", "wo", "fc2"),
}
"""What modules are called in models, by how a text may call them."""


class _StatedMap(NamedTuple):
    """A map of a line: the model's shapes of that name, and the two numbers with their places."""

    line: int
    known: frozenset[tuple[int, ...]]
    numbers: tuple[tuple[int, int, int], ...]


def check(scene: Scene) -> Iterator[Claim]:
    """Hold maps against the modules of the model that the text names; one is wrong where most others are right."""
    yield from _sized_tensors(scene)
    if scene.main is None or not (scene.given or scene.main.named):
        return
    found: dict[int, list[_StatedMap]] = {}
    models: dict[int, ModelValue] = {}
    for index, line in enumerate(scene.lines):
        for match in _MAP.finditer(line.text) if "→" in line.text or ">" in line.text else ():
            model = scene.model_at(index, match.start())
            known = _known_shapes(shapes_by_module(model), match["name"]) if model is not None else frozenset()
            if model is not None and known:
                models[id(model)] = model
                numbers = tuple((int(match[key].replace(",", "")), *match.span(key)) for key in ("inner", "outer"))
                found.setdefault(id(model), []).append(_StatedMap(index, known, numbers))
    for maps in found.values():
        right = sum(_sizes(one) in one.known for one in maps)
        for one in maps:
            mistyped = right >= 1 and any(is_mistyped(_sizes(one), shape) for shape in one.known)
            yield from _claims(scene, one, sure=right * 2 > len(maps) - 1 and (right >= LEAST_MODULES or mistyped))


def _sized_tensors(scene: Scene) -> Iterator[Claim]:
    """Hold the elements that code prints behind a shape against it: ``shape=torch.Size([128, 2048]), numel=262,144``."""
    for index, line in enumerate(scene.lines):
        for match in _NUMEL.finditer(line.text) if "numel" in line.text else ():
            right, said = prod(map(int, re.findall(r"\d+", match["shape"]))), int(match["count"].replace(",", ""))
            token = Token("num", "", index, *match.span("count"))
            facts: dict[str, object] = {"value": said, "expected": right, "difference": said - right}
            reason = () if said == right else because(mark("a tensor of that shape has {right}"), right=right)
            yield claim(scene.lines, token, token, "component", "exact" if said == right else "wrong", **facts, reason=reason)


_NUMEL = pattern(
    r"shape ?[=:] ?(?:torch\.Size)?[\[(]{1,2}(?P<shape>\d{1,9}(?:, ?\d{1,9}){0,4}),?[\])]{1,2},? numel(?:\(\))? ?[=:] ?(?P<count>\d{1,3}(?:,\d{3})+|\d{1,15})(?![\d.])"
)


def _known_shapes(own: Mapping[str, frozenset[tuple[int, ...]]], name: str) -> frozenset[tuple[int, ...]]:
    plain = re.sub(r"[ _](?:proj(?:ection)?|layer|map)$", "", name.lower())
    names = {name.lower(), *_CALLED.get(plain, ())}
    return frozenset(shape for one in names for shape in own.get(one, ()))


def _sizes(one: _StatedMap) -> tuple[int, ...]:
    return tuple(sorted(number for number, _, _ in one.numbers))


def _claims(scene: Scene, one: _StatedMap, *, sure: bool) -> Iterator[Claim]:
    sizes = _sizes(one)
    shape = sizes if sizes in one.known else find_meant_shape(sizes, one.known) if sure else None
    if shape is None:
        return
    left = list(shape)
    for number, start, end in one.numbers:
        token = Token("num", "", one.line, start, end)
        if number in left:
            left.remove(number)
            yield claim(scene.lines, token, token, "component", "exact", value=number, expected=number, difference=0)
        elif sizes != shape:
            other = next((size for size in left if size not in sizes), left[0])
            facts: dict[str, object] = {"value": number, "expected": other, "difference": number - other}
            yield claim(scene.lines, token, token, "component", "wrong", **facts, reason=because(mark("should be {right}"), right=other))
