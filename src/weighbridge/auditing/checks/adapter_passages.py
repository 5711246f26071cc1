"""What LoRA trains where a passage says rank, modules and model in one sentence or in several: ``... with r=16. Targeting all linear layers brings it to 40.0M (0.59%)``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import TRAINED_FAR
from weighbridge.auditing.checks.lora_configs import trainable_in
from weighbridge.auditing.checks.own_counts import own_count, preset_model
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import whole
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

_LORA = pattern(r"(?<![A-Za-z])LoRA(?![A-Za-z])")
_RANK = pattern(r"(?<![A-Za-z_])(?:rank|r)(?:\s*(?:=|of|为|is|:|：|-|–)?\s*)(\d{1,3})\b(?!\s?[×x*])|秩(?:为|是|=|:|：|取|设|\s)*(\d{1,3})")
_TARGETS = pattern(r"(?<![A-Za-z_])(?:[qkvo]|gate|up|down)_proj(?![A-Za-z_])")
_QUERY_VALUE = pattern(
    r"\bquer(?:y|ies) and values?\b|(?<![A-Za-z])[Qq] ?(?:[、和与]|and) ?[Vv](?![A-Za-z_])|查询(?:矩阵|投影)?[、和与]值", re.IGNORECASE
)
_ALL = pattern(r"all(?: the)? linear (?:layers|modules|projections|maps)|all-linear|(?:全部|所有)的?线性层", re.IGNORECASE)
_KEYS = pattern(r"\bkeys?\b|output|键|输出|FFN|MLP", re.IGNORECASE)
_SENTENCE = pattern(r"[。;；!?！？]|\.(?=\s|$)")
_COUNT = pattern(
    r"(?<![\w.,])(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<unit>M(?![A-Za-z])|K(?![A-Za-z])|million|万)?(?=\s?(?:trainable|param|个?可训练|个?参数|[(（,，.。;；)）]|$))",
    re.IGNORECASE,
)
_TRAINS = pattern(r"train|brings (?:it|this) to|gives|adds|可训练|新增", re.IGNORECASE)
_SHARE = pattern(r"(?<![\d.])(?P<number>\d{1,2}(?:\.\d+)?)\s?%")
_OF_MODEL = pattern(
    r"[(（]\s?(?:about |约)?$|(?:占比|占(?:总|全部|模型|全模型)?的?(?:参数量?)?的?|比例)(?:约|仅|只有|为|是|\s)*$|(?:about|around|or|only|just|roughly|~|≈)\s?$",
    re.IGNORECASE,
)
_MORE = pattern(
    r"bias|embed|lm_head|\bper\b|\beach\b|\bevery\b|\bone\b|\bsingle\b|\balone\b|单个|一个|每|DoRA|QLoRA|modules_to_save|\bthan\b|versus|\bvs\b|original|\bfrom\b|frozen|全参|全量|相比|从|冻结|\bGB\b|\bMB\b|layers? \d|attention only",
    re.IGNORECASE,
)
"""Words by which a figure is of more, or of less, than rank, modules and model say."""
_SCALES = {"m": 10**6, "million": 10**6, "k": 10**3, "万": 10**4}
_LEAST = 10_000
_LONGEST, _ABOVE = 1_500, 3


class _Adapter(NamedTuple):
    """What a passage has said of an adapter so far."""

    name: str = ""
    rank: int = 0
    targets: tuple[str, ...] = ()

    @property
    def trainable(self) -> int | None:
        if not (self.name and self.rank and self.targets):
            return None
        return trainable_in(self.name, {"r": self.rank, "target_modules": "all-linear" if self.targets == ("all",) else list(self.targets)})


def check(scene: Scene) -> Iterator[Claim]:
    """Hold counts and shares of such passages against what the adapter has."""
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if (
            len(text) > _LONGEST
            or not (_TARGETS.search(text) or _ALL.search(text) or _QUERY_VALUE.search(text))
            or is_of_their_own(scene, index)
        ):
            continue
        if any(_LORA.search(line.text) for line in scene.lines[max(0, index - _ABOVE) : index + 1]):
            yield from _of_line(scene, index, text)


def _of_line(scene: Scene, index: int, text: str) -> Iterator[Claim]:
    adapter = _Adapter()
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    for start, stop in zip([0, *ends], [*ends, len(text)], strict=True):
        for first, last in _parts(text, start, stop):
            adapter = _learn(scene, index, adapter, (first, last))
            trained = adapter.trainable
            if trained and not _MORE.search(text, first, last):
                yield from _counts(scene, index, (first, last), trained)
                yield from _shares(scene, index, (first, last), adapter, trained)


def _parts(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    """Split a sentence that goes on with other modules: ``...; 如果作用于全部线性层，...``."""
    other = [match.start() for match in _ALL.finditer(text, start, stop) if _TARGETS.search(text, start, match.start())]
    return [(start, other[0]), (other[0], stop)] if other else [(start, stop)]


def _learn(scene: Scene, index: int, adapter: _Adapter, span: tuple[int, int]) -> _Adapter:
    text = scene.lines[index].text[span[0] : span[1]]
    names = {str(m.name) if m.kind == MODEL and m.name else "" for m in scene.mentions.get(index, ()) if span[0] <= m.column < span[1]}
    ranks = {int(match[1] or match[2]) for match in _RANK.finditer(text)}
    both = ("q_proj", "v_proj") if _QUERY_VALUE.search(text) and not _KEYS.search(text) else ()
    targets = ("all",) if _ALL.search(text) else tuple(sorted(set(_TARGETS.findall(text))))
    name = (names.pop() if len(names) == 1 else "") if names else adapter.name
    rank = (ranks.pop() if len(ranks) == 1 else 0) if ranks else adapter.rank
    return _Adapter(name, rank, targets or both or adapter.targets)


def _counts(scene: Scene, index: int, span: tuple[int, int], trained: int) -> Iterator[Claim]:
    text = scene.lines[index].text
    for found in _COUNT.finditer(text, *span):
        number = Fraction(found["number"].replace(",", "")) * _SCALES.get((found["unit"] or "").lower(), 1)
        if number < _LEAST or not _TRAINS.search(text, span[0], min(len(text), found.end() + _NEAR)):
            continue
        places = len(found["number"].partition(".")[2])
        unit = Fraction(_SCALES.get((found["unit"] or "").lower(), 1), 10**places)
        right = Fraction(trained)
        if abs(number - right) <= (unit if found["unit"] else 0) or (found["unit"] and abs(number - right) * 100 <= right):
            yield _claim(scene, index, (found.start(), found.end()), (number, right), "rounded" if found["unit"] else "exact")
        elif number > right * TRAINED_FAR or number * TRAINED_FAR < right:
            reach = number * _OTHERS < right or number > right * _OTHERS
            if not reach:  # or it is of something else
                yield _claim(scene, index, (found.start(), found.end()), (number, right), "wrong")


_NEAR = 12
_OTHERS = 12


def _shares(scene: Scene, index: int, span: tuple[int, int], adapter: _Adapter, trained: int) -> Iterator[Claim]:
    text = scene.lines[index].text
    base = (own_count(model) if (model := preset_model(adapter.name)) is not None else None) or 0
    for found in _SHARE.finditer(text, *span) if base else ():
        behind = re.match(r"\s?of (?:the |its |all )?(?:model|param|total|whole|weights)", text[found.end() :], re.IGNORECASE)
        lead = _OF_MODEL.search(text, span[0], found.start())
        bracket = lead is not None and lead[0][:1] in "(（" and re.match(r"\s?[)）]", text[found.end() :])
        chinese = lead is not None and "占" in lead[0]
        if not (behind or bracket or chinese):
            continue
        unit = Fraction(1, 10 ** len(found["number"].partition(".")[2]))
        value = Fraction(found["number"])
        called = re.search(r"(\d+(?:\.\d+)?)b\b", adapter.name)
        wholes = [base + trained, base, *([int(Fraction(called[1]) * 10**9)] if called else [])]
        truths = [Fraction(100 * trained, one) for one in wholes if one]
        if any(abs(value - one) * 4 <= unit * 3 for one in truths):
            yield _claim(scene, index, found.span(), (value, truths[0]), "rounded", kind="share")
        elif all(value * _OTHERS > one and value < one * _OTHERS for one in truths):
            yield _claim(scene, index, found.span(), (value, truths[0]), "wrong", kind="share")


def _claim(
    scene: Scene, index: int, span: tuple[int, int], numbers: tuple[Fraction, Fraction], verdict: str, *, kind: str = "total"
) -> Claim:
    number, right = numbers
    token = Token("num", scene.lines[index].text[span[0] : span[1]], index, *span)
    facts: dict[str, object] = {"value": whole(number), "expected": whole(right), "difference": whole(number - right)}
    if verdict != "wrong":
        return claim(scene.lines, token, token, kind, verdict, **facts, reason=because(mark("rounded")) if verdict == "rounded" else ())
    reason = (
        because(mark("should be {right} %"), right=f"{float(right):.3f}")
        if kind == "share"
        else because(mark("should be {right}"), right=whole(right))
    )
    return claim(scene.lines, token, token, kind, verdict, **facts, reason=reason)
