"""When a count of a whole model is wrong: near enough to be about this model at all, or surely said of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.names import UNKNOWN
from weighbridge.auditing.checks.nominal_sizes import nominal_sizes
from weighbridge.auditing.checks.own_counts import is_hand_count, list_named_counts, own_count, tied_tables
from weighbridge.auditing.checks.plain_totals import is_plain
from weighbridge.auditing.checks.published_figures import figures
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.claims import Claim, Sentence, because, should_be
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, likeliest_value, scales, significant_digits, whole, write_like
from weighbridge.auditing.text.size_words import COUNTING
from weighbridge.auditing.thresholds import ACTIVE_NEAR, LARGE_MODEL, LARGE_NEAR, SAME_COUNT, SHIFTED_DIGITS, WITHOUT_TABLES_NEAR
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark
from weighbridge.presets import preset

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def report_wrong_count(scene: Scene, token: Token, subject: Subject, what: str, *, sure: bool = False) -> Iterator[Claim]:
    """Say that a count is wrong, if it is near enough to be about this model at all, or surely is."""
    right, number = own_count(subject.models[0], what), likeliest_value(token)
    if right is None or number is None or _is_of_another(scene, token, right, number):
        return
    if subject.models[0].description is not None and _IMAGES & set(subject.models[0].description.raw) and abs(number - right) * 50 < right:
        return  # tables of positions grow with the image: ViT-H/14 at 518 pixels has 633.5M
    if what == "total" and settle(token, subject.models[:1], "active") is not None:
        return  # what works on a token, and which of the two is meant was misread
    if what == "total" and not token.unit and is_hand_count(subject.models[0], int(number)):
        return  # untied and without biases, positions or the last norm: more is left out than a convention of ours does
    sentence = WORDED.get(what)
    if what == "non_embedding":
        choices = list(_without_tables(subject.models[0], right))
        round_figure = bool(token.unit) and any(abs(number - one) * 50 <= one for _, one in list_named_counts(subject.models[0], what))
        table = own_count(subject.models[0], "embedding") or 0
        if round_figure or any(abs(number - one) <= WITHOUT_TABLES_NEAR * one for one in (right, right - table)):
            return  # with one of two tables or without both, and as authors round it: ``31.0B`` of Qwen2.5-32B's 31.2
        right, sentence = min(choices, key=lambda choice: abs(number - choice[0]))
    large = right >= LARGE_MODEL and token.unit and abs(number - right) <= LARGE_NEAR * right
    if large and not (what == "total" and _mistypes_published(scene, token, subject.models[0], number)):
        return  # of models so large, published totals count more or less than the class: layers for speculation, scales
    if what == "active" and _is_another_share(subject.models[0], number):
        return
    swapped = what == "active" and settle(token, subject.models[:1]) is not None  # the total, said to be active
    near = right < number * SAME_COUNT and number < right * SAME_COUNT
    if not (sure or near or swapped or (what == "total" and is_plain(scene, token, subject)) or _is_power_off(token, subject, what)):
        return
    name = subject.models[0].class_name or subject.name
    if sentence is None:
        return
    direction = should_be(is_higher=number > right)
    about = write_like(token, Exact(right)) if token.unit else right
    away = write_like(token, abs(number - right)) if token.unit else abs(number - right)
    reason = because(direction, right=about, number=away) + because(
        sentence, name=Sentence(f"{name} ({subject.name})") if subject.name else name, right=right
    )
    yield total_claim(scene, token, "wrong", Exact(right), reason)


def _mistypes_published(scene: Scene, token: Token, model: ModelValue, number: Fraction) -> bool:
    """Tell whether a count is the one that everybody repeats of a large model, but for one digit: ``177B`` of GPT-3's 175.

    Only of plain models: of others, more is counted or less, as layers that draft, scales and towers.
    """
    known = preset(model.source)
    if known is None or model.description is None or number in nominal_sizes():
        return False
    raw = model.description.raw
    if any(isinstance(value, dict) or "expert" in key or "nextn" in key for key, value in raw.items()):
        return False
    scale = scales(token)[0]
    said = [figure / scale for figure, _ in figures(known)]
    slip = any(one.denominator == 1 and token.value and is_slip(str(token.value), str(one)) for one in said)
    return slip and not any(_is_said_near(scene, token.line, int(one)) for one in said if one.denominator == 1)


_OF_A_TOWER = pattern(
    r"(?:(?<!\w)(?:vision|visual|image|text|audio|speech|video)[ -](?:encoder|tower|backbone|transformer|model|part)\b|(?:视觉|图像|文本|语音|音频|视频)(?:侧的?)?(?:编码器|塔|主干|骨干|模型|部分))(?:(?!\. )[^。!?！？;；|])*$",
    re.IGNORECASE,
)
"""One tower of several, that the sentence up to a count is about: ``Qwen2-VL-7B 的视觉编码器有 32 层，约 6.75 亿参数``."""
_DENIED = pattern(r"有人(?:说|认为|以为)|误(?:以为|认为|传)|(?:这|说法|答案)[^。;；\d]{0,4}(?:是错|不对|有误|不准确)")
"""Words by which a text says itself that a count is wrong: ``有人说 BERT-base 有 1.5 亿参数，这是错的``."""


def _is_said_near(scene: Scene, line: int, number: int) -> bool:
    """Tell whether a number stands on one of the lines around another."""
    return any(re.search(rf"(?<![\d,.]){number}(?![\d.])", text.replace(",", "")) for text in scene.texts[max(0, line - 4) : line + 5])


_OF_SOME_LAYERS = pattern(r"(?:前|后|最[后上下]|末尾?|[顶底]部?)\s?[\d一二两三四五六七八九十]+\s?(?:层|个)[^,，。;；]*$")
"""Some layers of a model, which the words right before a count are about: ``前 6 层参数 42,527,232``."""


def _is_of_another(scene: Scene, token: Token, right: int, number: Fraction) -> bool:
    """Tell whether the words about a count say that it is another model's, a part's, or none at all."""
    text, first = scene.lines[token.line].text, max(0, token.start - _SENTENCE)
    words = (_NO, _OF_SOME_LAYERS, _OF_A_TOWER)
    if any(one.search(text, first, token.start) for one in words) or _DENIED.search(text, first, token.end + _SENTENCE):
        return True
    if token.unit and number in nominal_sizes() and _A.search(text, 0, token.start) and _MODEL_BEHIND.match(text, token.end):
        return True  # ``after GPT-3 came a 137B parameter dialog model``
    if token.unit == "k" and number * _THOUSANDS < right:
        return True  # ``8K`` of context
    if not token.unit and number > right and _is_said_near(scene, token.line, int(number) - right):
        return True  # with the parameters of an adapter, which the text counts too
    return (not token.unit and _UNIT_AHEAD.match(text, token.end) is not None) or _is_a_made_model(scene, token)


def _is_a_made_model(scene: Scene, token: Token) -> bool:
    """Tell whether a name that is not known is said to be made of the one behind it: ``LLaVA-1.5 on Vicuna-7B is a 7.06B parameter model``."""
    text = scene.lines[token.line].text
    named = [one for one in scene.mentions.get(token.line, ()) if token.start - _SENTENCE <= one.column and one.end <= token.start]
    return any(first.kind == UNKNOWN and _MADE_OF.fullmatch(text, first.end, second.column) for first, second in pairwise(named))


_MADE_OF = pattern(r"[^.。;；]{0,40}(?:\b(?:on|upon|from)\b|基于)\W*", re.IGNORECASE)
_NO = pattern(r"(?:\bno|\bnot an?|n['’]t an?|不是|并非|而非)\s?$", re.IGNORECASE)
_A = pattern(r"\ban?\s?$", re.IGNORECASE)
_MODEL_BEHIND = pattern(r"[- ]?param(?:eter)?s? (?:[\w-]+ ){0,2}models?\b", re.IGNORECASE)
_SENTENCE = 160
_THOUSANDS = 100
"""How many times smaller than a model a figure in thousands is a length."""
_UNIT_AHEAD = pattern(r"\s?(?:,|/|and\b|or\b|to\b|[-–])\s?[~≈]?\d[\d.]*\s?(?:million|billion|[MB]\b)", re.IGNORECASE)
"""Behind the first of two counts that have one unit: ``149 and 395 million, respectively``."""


def _is_another_share(model: ModelValue, number: Fraction) -> bool:
    """Tell whether a count lies among those of what works on a token, with or without tables, head and routers: authors leave out this and that."""
    counts = [count for _, count in list_named_counts(model, "active")]
    return bool(min(counts) * (1 - ACTIVE_NEAR) <= number <= max(counts) * (1 + ACTIVE_NEAR))


def _without_tables(model: ModelValue, right: int) -> Iterator[tuple[int, str]]:
    """Yield a model's count without its table of words, and without the head of its size too where that is a table of its own."""
    yield right, WORDED["non_embedding"]
    table = own_count(model, "embedding") or 0
    if table and not tied_tables(model):
        yield right - table, mark("without its embeddings and its head, {name} has {right}")


WORDED = {
    "total": mark("{name} has {right}"),
    "active": mark("of {name}, {right} are active on a token"),
    "non_embedding": mark("without its embeddings, {name} has {right}"),
}


def _is_power_off(token: Token, subject: Subject, what: str) -> bool:
    """Tell whether a figure has the digits of the model's count and another unit: ``BERT-base has 110 billion parameters``."""
    right = own_count(subject.models[0])
    if what != "total" or right is None or own_count(subject.models[0], "active") != right or token.unit not in COUNTING or not token.value:
        return False
    fits = (fit(token._replace(value=token.value * power), Exact(right)) for power in _POWERS)
    return significant_digits(token) >= SHIFTED_DIGITS and any(found is not None and found.verdict == "rounded" for found in fits)


_POWERS = (Exact(10), Exact(100), Exact(1000), Exact(1, 10), Exact(1, 100), Exact(1, 1000))
_IMAGES = frozenset(("image_size", "patch_size"))


def total_claim(scene: Scene, token: Token, verdict: str, expected: Fraction, reason: tuple[Sentence, ...]) -> Claim:
    """Make the claim of a total."""
    number = likeliest_value(token)
    assert number is not None
    facts = {"value": whole(number), "expected": whole(expected), "difference": whole(number - expected), "reason": reason}
    return claim(scene.lines, token, token, "total", verdict, **facts)
