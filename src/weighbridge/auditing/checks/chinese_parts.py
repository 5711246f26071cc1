"""Counts that Chinese clauses give to a part of a model, where each clause was read word for word, held against all that the part may hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction

from weighbridge.auditing.checks.own_counts import is_whole
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.sentence_doubts import SUPPOSED
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.claims import Claim, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.part_clauses import SaidCount, counts_of_parts
from weighbridge.auditing.text.rounding import fit, likeliest_value, whole, write_like
from weighbridge.auditing.text.tokens import tokens
from weighbridge.presets.aliases import MODEL

_CHINESE = pattern(r"[\u4e00-\u9fff]")
_OTHERWISE = pattern(
    r"lora|低秩|适配|梯度|显存|flop|计算量|每个头|单头|剩|减少|节省|增加|冻结|可训练|自己|我们|kv\s?cache|缓存|token|GB|MB|字节",
    re.IGNORECASE,
)
_RESIZED = pattern(r"(?:如果|假设|若|把|将)[^。;；]{0,40}(?:改[为成]|换成|变[为成]|增加到|减[少小]到|减半|翻倍|加倍)")
"""Words of the lines above by which a count is that of other sizes."""
_TIMES = (1, 2, 3, 4, 6, 7)
"""How many matrices of one size a clause may count together."""
_PLAIN = frozenset(("word", "position", "type", "embeddings", "qkv", "out", "ffn", "attention", "norm", "pooler"))
"""Parts that are called so of no other part, and of nothing beside the model."""
_NEAR = 20
"""How many times a count may be another before it is taken to be of something else."""


def check(scene: Scene, held: Mapping[str, ReferenceCounts], tabled: Collection[int], *, firm: bool) -> Iterator[Claim]:
    """Hold the counts of parts against the model that their place is about.

    Args:
        tabled: The lines of tables whose rows or columns are models.
        firm: Whether the main model is sure enough to call a number wrong.
    """
    for index in scene.counted_lines if scene.has_models else ():
        text = scene.lines[index].text
        if index in tabled or "|" in text or len(text) > LONGEST or not _CHINESE.search(text) or _OTHERWISE.search(text):
            continue
        found = counts_of_parts(text, [(m.column, m.end) for m in scene.mentions.get(index, ())])
        figures = {token.start: token for token in tokens(text, index) if token.kind == "num"} if found else {}
        doubtful = not firm or SUPPOSED.search(text) is not None or is_of_their_own(scene, index) or scene.is_at_other_sizes(index)
        doubtful = doubtful or any(_RESIZED.search(above) for above in scene.texts[max(0, index - 3) : index])
        for said in found:
            token = figures.get(said.start)
            context = scene.context(index, said.start)
            own = held.get(context) if context is not None else None
            doubtful = doubtful or _is_near_another(scene, index, context)
            if token is not None and token.value is not None and own is not None:
                yield from _hold(scene, token, said, own, doubtful=doubtful)


def _is_near_another(scene: Scene, index: int, context: str | None) -> bool:
    """Tell whether another model than that of a line's context is named right above it, as code does it."""
    own = context or (scene.main.name if scene.main is not None else "")
    return any(one.kind == MODEL and own not in one.names for line in scene.naming_lines(index, _ABOVE) for one in scene.mentions[line])


_ABOVE = 4


def _hold(scene: Scene, token: Token, said: SaidCount, own: ReferenceCounts, *, doubtful: bool) -> Iterator[Claim]:
    choices = [(holding.number, holding.convention) for holding in own.components.get(said.part, ())] if said.part else []
    for right, convention in choices:
        agreed = fit(token, right)
        if agreed is not None and agreed.verdict != "note":
            yield _claim(scene, token, right, "exact" if agreed.verdict == "exact" else "rounded", agreed.reason + convention)
            return
    model = scene.model_at(token.line, token.start)
    number = likeliest_value(token)
    if number is None or model is None or doubtful or said.part not in _PLAIN or not choices or not number:
        return
    layers = own.components.get("layer", ())
    repeats = {round(all_.number / layers[0].number) for all_ in layers} if layers else set()
    products = [Fraction(product * times) for product in said.products for times in {*_TIMES, *repeats}]
    others = [holding.number * times for name in own.components for holding in own.components[name] for times in (1, 2)]
    if any(fit(token, one) is not None for one in (*products, *others)) or settle(token, (model,)) is not None:
        return
    if number.denominator == 1 and is_whole(model, int(number)):
        return
    right, convention = min(choices, key=lambda choice: max(choice[0] / number, number / choice[0]))
    if right <= number * _NEAR and number <= right * _NEAR:
        yield _claim(scene, token, right, "wrong", ())


def _claim(scene: Scene, token: Token, right: Fraction, verdict: str, reason: tuple[object, ...]) -> Claim:
    number = likeliest_value(token) or Fraction(0)
    facts: dict[str, object] = {"value": whole(number), "expected": whole(right), "difference": whole(number - right)}
    if verdict == "wrong":
        direction = should_be(is_higher=number > right)
        away = abs(number - right)
        facts["reason"] = because(direction, right=write_like(token, right) if token.unit else whole(right), number=write_like(token, away) if token.unit else whole(away))  # fmt: skip
    elif reason:
        facts["reason"] = reason
    return claim(scene.lines, token, token, "component", verdict, **facts)
