"""A count that is one digit off the model's own, in a text about that model: ``allows the 217B parameter model to run`` of gpt-oss-120b (117B).

The other checks say *wrong* where a sentence leaves no doubt of which model it speaks. Here the number itself tells: as many digits as the model's
own figure has, all but one of them the same, and no model that is known has so many.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.brought_in import is_brought_in
from weighbridge.auditing.checks.count_doubts import is_hedged, is_of_a_part
from weighbridge.auditing.checks.count_subjects import is_setting_or_bytes
from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.names import UNKNOWN
from weighbridge.auditing.checks.nominal_sizes import nominal_sizes, sizes_of_generation
from weighbridge.auditing.checks.own_counts import own_count, preset_model
from weighbridge.auditing.checks.scene import Scene, words_of
from weighbridge.auditing.checks.sentence_subjects import only_model
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.sister_models import sisters
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.wrong_counts import WORDED, total_claim
from weighbridge.auditing.claims import Claim, Sentence, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, significant_digits, write_like
from weighbridge.auditing.thresholds import SLIP_FAR
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_SENTENCE = pattern(r"[。;；!！?？|]|\.(?!\d)")
_REACH = 300
_COUNTED_BEHIND = pattern(
    r"[*_`]{0,2}[- ]?(?:(?:total |active |activated |trainable |learnable )?(?:param(?:eter)?s?\b|weights\b)|total\b|in total\b|(?:are )?(?:active|activated)\b|models?\b(?! parallel)|scale\b)"
    r"|[*_]{0,2}\s?个?的?(?:总|激活|活跃)?(?:参数|參數|规模|大?模型)",
    re.IGNORECASE,
)
_COUNTED_AHEAD = pattern(r"(?:param(?:eter)?s?\b|参数|參數|激活|activates?\b)[^\d,，、()（）]{0,12}$", re.IGNORECASE)
"""Words right about a number by which it counts parameters."""
_ELSEWHERE = pattern(
    r"\bthan\b|\bvs\b|\bversus\b|compar|\bunlike\b|\bother\b|\banother\b|similar|equivalent|\bif\b|suppose|imagine|say,|\be\.g\.|for example|for instance|such as|would\b|could be|difference|"
    r"\bas (?:much|fast|slow\w*|large|big|cheap\w*|many|well|good|expensive) as\b|\b(?:as|to be) an?\b|\bexpect|\bsuggest|\bimpl(?:y|ies)|\bguess|\bnaiv|\bbeliev|\bthink|\bthought|\bassum|\bmislead|\bmore\b|\bextra\b|\badd|\bless\b|fewer|saves?\b|reduc|prun|distil|adapter|lora|embedding|vision(?! transformer)|encoder(?!-only)|decoder(?!-only)|per layer|each layer|every|\bno\b|\bnot\b|n['’]t\b|"
    r"比|相当于|类似|同等|其他|别的|另一|如果|假设|假如|例如|比如|譬如|误以为|看似|听起来|顾名思义|以为|猜|多出|增加|减少|节省|剪枝|蒸馏|压缩|嵌入|视觉|编码器|解码器|每层|单层|级别?的|不是|并非|而非|没有",
    re.IGNORECASE,
)
"""Words in a clause by which a count may be another's, a part's or a difference."""
MADE = pattern(
    r"\bours?\b|\bmy\b|\bwe (?:train|build|built|design|distil|shr[iau]nk|prun)|student|teacher|distil|ablat|\bprun|from scratch|tiny|\bmini\b|\bscaled?[- ]down|toy\b|custom|\bpca\b|concat|"
    r"\bnew (?:words|tokens)|\b(?:added|adding|extra|additional|extended|expanded|extending|expanding)\b|学生|教师|蒸馏|消融|剪枝|裁剪|从[头零](?:开始)?训|我们(?:的|自己|训练|构建|设计|实现)|自己(?:的|训练|搭)|自定义|拼接|加入|新增|添加|扩充|扩展(?:了|到|至|词)|扩[到至]|变[为成]|降维",
    re.IGNORECASE,
)
"""Words in a sentence by which its numbers may be those of a model that somebody made of the one that is named."""
_CLAUSE = pattern(r"[,，;；:：()（）]")
_OF_DATA = pattern(r"[- ]?(?:tokens?|words|images|pairs|samples|examples|users|downloads|词元|条|张|个?样本)", re.IGNORECASE)


def check(scene: Scene, tabled: Collection[int], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check the counts that no other check has settled.

    Args:
        tabled: The lines of tables whose rows or columns are models.
        claims: What has been judged.
    """
    if not scene.has_models:
        return
    covered = ClaimSpans([one for one in claims if one.verdict != "unsettled"])
    for figure in scene.sorted_figures.plain_counts:
        token = figure.token
        line = scene.lines[token.line]
        if token.line in tabled or not _is_telling(token) or scene.is_in_name(token):
            continue
        place = line.at[token.start] if token.start < len(line.at) else 0
        if not covered.holds(line.number, place, place + 1):
            yield from _judge(scene, token)


def _is_telling(token: Token) -> bool:
    """Tell whether a count has digits enough that one of them can be off: two with a unit, or all of a large number; one digit tells of the model that its sentence names."""
    return significant_digits(token) >= (1 if token.unit else _IN_FULL)


_IN_FULL = 6
"""Digits of a count that is given in full: one that has all but one of a model's own is of that model."""


def _judge(scene: Scene, token: Token) -> Iterator[Claim]:
    """Check one count against the models that its sentence may be about: of all their figures it must be nearly one, and none."""
    text = scene.lines[token.line].text
    if not (_COUNTED_BEHIND.match(text, token.end) or _COUNTED_AHEAD.search(text, max(0, token.start - _REACH), token.start)):
        return
    first, last = max(0, token.start - _REACH), min(len(text), token.end + _REACH)
    start = max((found.end() for found in _SENTENCE.finditer(text, first, token.start)), default=first)
    stop = next((found.start() for found in _SENTENCE.finditer(text, token.end, last)), last)
    before, after = text[start : token.start], text[token.end : stop]
    if MADE.search(text, start, stop) or _ENDS_RANGE.search(before) or _BEGINS_RANGE.match(after):
        return
    if _ELSEWHERE.search(_CLAUSE.split(before)[-1] + "|" + _CLAUSE.split(after)[0]) or _OF_DATA.match(after) or is_of_a_part(before, after):
        return
    if is_setting_or_bytes(scene, token) or is_of_their_own(scene, token.line) or scene.is_at_other_sizes(token.line):
        return
    hedged, models = is_hedged(before), models_of_sentence(scene, token, start, stop)
    if not models and not token.unit and not scene.mentions.get(token.line):
        models = {model.source: model for model in sisters(scene)[:_MOST_SISTERS]}
    if any(settle(token, (model,), kind, hedged=hedged) is not None for model in models.values() for kind in _KINDS):
        return
    slips = {
        (what, right): (name, model)
        for name, model in models.items()
        for what in ("total", "active")
        if (right := own_count(model, what)) is not None and _is_one_digit_off(token, right)
    }
    if len({right for _, right in slips}) == 1:
        (what, right), held = next(iter(slips.items()))
        if _is_said_beside(scene, token, held[1], what):
            return  # ``GPT-3 has 175B parameters, and AI21 followed with a 178B parameter model``
        named = _is_said_of(scene, token, held[0], start)
        if significant_digits(token) == 1 and (not named or _INDEFINITE.search(text, start, token.start)):
            return  # any other digit is one digit off
        yield from _report(scene, token, held, (what, right), hedged=hedged, named=named)


_ENDS_RANGE = pattern(r"\d\s?(?:[KMBT]|million|billion)?\s?(?:-|–|—|~|to|through|up to|至|到)\s?$", re.IGNORECASE)
_BEGINS_RANGE = pattern(r"\s?(?:-|–|—|~|to|through|up to|至|到)\s?\d", re.IGNORECASE)
"""About a count that is an end of a range: ``MPT models from 125M - 70B parameters``."""
_MOST_SISTERS = 24


def _is_said_of(scene: Scene, token: Token, name: str, start: int) -> bool:
    """Tell whether a sentence names the model in front of the count, or the text names no other: then it may not be one that is called so."""
    named = [one for one in scene.mentions.get(token.line, ()) if start <= one.column and one.end <= token.start]
    if named and not _INDEFINITE.search(scene.lines[token.line].text, start, token.start):
        return all(one.kind == MODEL and one.name == name for one in named)
    return (
        not named
        and only_model(scene) == name
        and _is_headed(scene, token.line, name)
        and _INDEFINITE.search(scene.lines[token.line].text, 0, token.start) is None
    )


def _is_headed(scene: Scene, line: int, name: str) -> bool:
    """Tell whether a line stands below a heading that names a model, or, without headings, in a text that begins with it."""
    heading = scene.headings[line] if scene.headings else -1
    while heading > 0 and not scene.mentions.get(heading):
        heading = scene.headings[heading - 1]
    opening = heading if heading >= 0 else next((index for index, text in enumerate(scene.texts) if text.strip()), 0)
    return any(one.name == name for one in scene.mentions.get(opening, ()))


_INDEFINITE = pattern(
    r"(?<!\bis )(?<!\bwas )\b(?:an?|any|every|each|some|most|for|like)\s(?:[\w-]+\s){0,2}[~≈*_]*$|(?:一个|某个?|任何)\s?$", re.IGNORECASE
)
"""Before a count, what makes it that of any model of its size: ``a 7B model needs``."""


def _is_said_beside(scene: Scene, token: Token, model: ModelValue, what: str) -> bool:
    """Tell whether the line says a model's own count as well: one that is nearly it is then another's."""
    others = (one.token for one in scene.sorted_figures.plain_counts if one.token.line == token.line and one.token is not token)
    return any(significant_digits(one) > 1 and settle(one, (model,), what, whole=True) is not None for one in others)


_KINDS = ("total", "active", "non_embedding", "embedding")


def models_of_sentence(scene: Scene, token: Token, start: int, stop: int) -> Mapping[str, ModelValue]:
    """Return the models that a count's sentence names, a small family's members too, or the one that its place is about; none if it has a name that is not known."""
    text = scene.lines[token.line].text
    named = [one for one in scene.mentions.get(token.line, ()) if start <= one.column < stop and not is_brought_in(text, one)]
    before = [one for one in named if one.end <= token.start]
    if any(one.kind == UNKNOWN and not _COMPANY.search(text, one.column, one.end) for one in named):
        return {}
    names = [
        str(name) for one in named for name in ((one.name,) if one.kind == MODEL else one.names if len(one.names) <= _SMALL_FAMILY else ())
    ]
    found = {name: model for name in dict.fromkeys(names) if (model := preset_model(name)) is not None}
    context = scene.context(token.line, token.start)
    if before or (named and not found) or context is None or (not context and (scene.main is None or not scene.main.firm)):
        return found
    model = scene.models.get(context)
    return found if model is None else found | {str(context or (scene.main.name if scene.main is not None else "")): model}


_COMPANY = pattern(r"\bAI$", re.IGNORECASE)
_SMALL_FAMILY = 8
"""Members of a family that are few enough for one digit to tell of which a count is meant."""


def _report(
    scene: Scene, token: Token, held: tuple[str, ModelValue], counted: tuple[str, int], *, hedged: bool, named: bool
) -> Iterator[Claim]:
    """Say that a count is wrong, unless a known model is called so or authors count so."""
    (name, model), (what, right), number = held, counted, likeliest_value(token)
    if number is None or (what == "total" and number in (_called_in_text(scene, name) if named else nominal_sizes())):
        return
    more = number - right
    if abs(more) <= SLIP_FAR * right and (hedged or _predicts_ahead(model, more) or (what == "active" and more <= _draft(model, right))):
        return  # authors leave out this and that of what works on a token, or count layers that draft
    direction = should_be(is_higher=number > right)
    called = Sentence(f"{model.class_name} ({name})") if name else model.class_name
    reason = because(direction, right=write_like(token, Fraction(right)), number=write_like(token, abs(number - right)))
    yield total_claim(scene, token, "wrong", Exact(right), reason + because(WORDED[what], name=called, right=right))


def _called_in_text(scene: Scene, name: str) -> frozenset[Fraction]:
    """Return the counts by which the models of the text are called, and those of the named one's generation."""
    names = {str(one) for found in scene.mentions.values() for mention in found for one in mention.names[:_SMALL_FAMILY]}
    experts = {Fraction(found[1]) * Fraction(found[2]) * 10**9 for one in {name, *names} if (found := _EXPERTS.search(one)) is not None}
    return frozenset(number for one in {name, *names} for number in sizes_of_generation(one)) | experts


_EXPERTS = pattern(r"(\d+)x(\d+(?:\.\d+)?)b")
"""A name that seems to say how much all experts hold: ``8x7b``."""


def _draft(model: ModelValue, right: int) -> Fraction:
    """Return how much more may work on a token where a layer that drafts is counted, with half of what it is rounded by."""
    return Fraction(3 * right, 2 * max(1, words_of(model).get("layers", 1)))


def _predicts_ahead(model: ModelValue, more: Fraction) -> bool:
    """Tell whether a model's files may hold as much more as a figure says, in layers that draft the tokens to come: ``358B`` of GLM-4.5 (352.8)."""
    layers, right = words_of(model).get("layers", 1), own_count(model) or 0
    raw = model.description.raw if model.description is not None else {}
    return any(_DRAFTS.search(key) for key in raw) and more * 2 * layers >= right


_DRAFTS = pattern("nextn|mtp")


def _is_one_digit_off(token: Token, right: int) -> bool:
    """Tell whether a figure is the right one, written to as many digits, but for one of them."""
    number = likeliest_value(token)
    if number is None or not token.value:
        return False
    scale = number / token.value
    unit = 10**token.places
    written, exact = str(int(token.value * unit)), Fraction(right * unit) / scale
    filler = 10 ** (len(written) - len(written.rstrip("0")))  # of ``1760 亿`` the last digit says nothing
    ways = {str(round(exact / step) * step) for step in (1, filler)} | {str(int(exact)), str(int(exact) + 1)}
    return any(len(way) == len(written) and sum(a != b for a, b in zip(way, written, strict=True)) == 1 for way in ways)
