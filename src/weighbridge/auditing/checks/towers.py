"""Counts and sizes of the halves of a model: the image and the text tower of CLIP, an encoder and its decoder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from weighbridge.auditing import patterns
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.wrong_counts import total_claim
from weighbridge.auditing.claims import Claim, Reason, Sentence, because
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import fit, likeliest_value, significant_digits, write_like
from weighbridge.auditing.thresholds import SAME_COUNT
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark
from weighbridge.core.sizes import product
from weighbridge.core.tree import list_rows
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_NOUN = r"(?:encoder|tower|transformer|backbone|branch|model|stack|part)s?\b"
WORDS = {
    "vision": patterns.pattern(
        rf"\b(?:vision|visual|image|ViT)[\- ]+{_NOUN}|\bvision transformer\b|(?:图像|视觉|图片)(?:端|侧)?的?(?:编码器|塔|分支|部分|模型)",
        re.IGNORECASE,
    ),
    "text": patterns.pattern(
        rf"\b(?:text|language)[\- ]+{_NOUN}|文本(?:端|侧)?的?(?:编码器|塔|分支|部分|模型)|(?:语言|LLM)\s?(?:(?:端|侧)的?|的?(?:塔|分支|部分|骨干|主干|解码器))",
        re.IGNORECASE,
    ),
    "encoder": patterns.pattern(r"(?<![\w\-])(?:the )?encoder\b(?! layers?| blocks?|-only|-decoder)|编码器(?!层)", re.IGNORECASE),
    "decoder": patterns.pattern(r"(?<![\w\-])(?:the )?decoder\b(?! layers?| blocks?|-only)|解码器(?!层)", re.IGNORECASE),
}
_ANY = patterns.any_word(r"vi(?:sion|sual|t)|image|text|language|encoder|decoder|[\u4e00-\u9fff]")
"""What a line must have before it can name a tower."""
_PREFIXES = {"vision": ("vision", "visual"), "text": ("text",), "encoder": ("encoder",), "decoder": ("decoder",)}
_TITLES = {
    "vision": mark("the image tower"),
    "text": mark("the text tower"),
    "encoder": mark("the encoder"),
    "decoder": mark("the decoder"),
}
_SHARED = patterns.pattern(r"(?:^|\.)shared\.weight$|^lm_head\.weight$|^proj_out\.weight$")
_APART = patterns.pattern(r"projection|(?:token|word|position|patch)\w*embed|embed_(?:tokens|positions)")
"""What is counted with a tower or left out of it: tables and projections."""
_OTHER = patterns.pattern(
    r"\b(?:layers?|blocks?|heads?|per|each|every|lora|adapter|frozen|trainable|attention|embedding|without|exclud\w*|tokens?|pairs?|images|captions|gb|flops?|than|vs|lr|epochs?)\b|"
    r"每层|单层|冻结|可训练|注意力|不含|对图文|样本",
    re.IGNORECASE,
)
_BREAKS = patterns.pattern(r"[,，;；。()（）]|\.(?!\d)|\band\b|和|\bplus\b|\+|\bwhile\b|\d\s?[MBKmb]\b")
_SURE_DIGITS = 2
"""Digits that a figure must show before it can be wrong of a tower."""


class Tower(NamedTuple):
    """A half of a model: its count with all that is its own, and all counts that leave out or add what is counted apart."""

    parameters: int
    counts: frozenset[int]


def check(scene: Scene) -> Iterator[Claim]:
    """Check what is said of a tower right before or behind its name, in a row of two cells, and below a line that is its name."""
    for _, _, token in scene.sorted_figures.counts:
        found = _tower_of_count(scene, token)
        model = certain_model(scene, token) if found else None
        if found and model is not None:
            yield from _count(scene, token, model, found)


def _tower_of_count(scene: Scene, token: Token) -> str | None:
    """Return the tower that a count is said of, by the words of its own clause."""
    text = scene.lines[token.line].text
    if not _may_name_one(text):
        return None
    before = _BREAKS.split(text[max(0, token.start - 80) : token.start])[-1]
    behind = _BREAKS.split(text[token.end : token.end + 60])[0]
    if _OTHER.search(f"{before} {behind}"):
        return None
    return tower_in(behind) or tower_in(before)


@lru_cache(maxsize=64)
def _may_name_one(text: str) -> bool:
    """Tell whether a line can name a tower at all; each of its numbers asks."""
    return _ANY.search(text) is not None


@once_for_each_text
def tower_of_head(head: str) -> str | None:
    """Return the tower that the head of a column names.

    >>> tower_of_head("image_mparams"), tower_of_head("Decoder params"), tower_of_head("hidden size")
    ('vision', 'decoder', None)
    """
    found = {kind for kind, pattern in _HEADS.items() if pattern.search(head)}
    return found.pop() if len(found) == 1 else None


_HEADS = {
    "vision": patterns.pattern(r"(?<![a-z])(?:image|vision|visual)(?![a-z]|_?size|_?res)|图像|视觉", re.IGNORECASE),
    "text": patterns.pattern(r"(?<![a-z])text(?![a-z])|文本", re.IGNORECASE),
    "encoder": patterns.pattern(r"(?<![a-z])enc(?:oder)?(?![a-z])(?!.*dec)|编码器", re.IGNORECASE),
    "decoder": patterns.pattern(r"(?<![a-z])dec(?:oder)?(?![a-z])(?!.*enc)|解码器", re.IGNORECASE),
}


def hold_count(scene: Scene, token: Token, model: ModelValue, kind: str) -> Iterator[Claim]:
    """Hold a count that the head of its column gives to a tower against that tower's."""
    yield from _count(scene, token, model, kind)


def tower_in(words: str) -> str | None:
    """Return the one tower that words name; an encoder of text is the text's."""
    kinds = [kind for kind, pattern in WORDS.items() if pattern.search(words)]
    towers = [kind for kind in kinds if kind in ("vision", "text")] or kinds
    return towers[0] if len(towers) == 1 else None


def certain_model(scene: Scene, token: Token) -> ModelValue | None:
    """Return the model that a place is about, if it is given, or a model that is named and no guess."""
    model = scene.model_at(token.line, token.start)
    named = any(m.kind == MODEL for m in scene.mentions.get(token.line, ()))
    return model if named or (scene.main is not None and (scene.given or scene.main.named)) else None


def _count(scene: Scene, token: Token, model: ModelValue, kind: str) -> Iterator[Claim]:
    tower = towers(model).get(kind)
    number = likeliest_value(token)
    if tower is None or number is None:
        return
    for count in (tower.parameters, *sorted(tower.counts, key=lambda one: abs(one - tower.parameters))):
        found = fit(token, Fraction(count))
        if found is not None and found.verdict != "note":
            verdict = "convention" if found.verdict == "exact" and count != tower.parameters else found.verdict
            yield total_claim(scene, token, verdict, Fraction(count), found.reason + _holds(kind, count))
            return
    near = max(number, Fraction(tower.parameters)) < SAME_COUNT * min(number, Fraction(tower.parameters))
    plainly = significant_digits(token) >= _SURE_DIGITS and FIRM.search(scene.lines[token.line].text[: token.start]) is None
    far = all(abs(number - count) * _NEAREST > count for count in tower.counts if token.unit)
    if near and plainly and (far or _is_a_digit_off(token, tower)):
        right = write_like(token, Fraction(tower.parameters)) if token.unit else tower.parameters
        reason = because(mark("should be {right}"), right=right) + _holds(kind, tower.parameters)
        yield total_claim(scene, token, "wrong", Fraction(tower.parameters), reason)


FIRM = patterns.pattern(r"\b(?:if|would|suppose|our|custom|replac\w*|instead|like)\b|如果|假设|我们", re.IGNORECASE)
_NEAREST = 20
"""A rounded figure nearer than a twentieth to any count of a tower is a looser rounding of it."""


def _is_a_digit_off(token: Token, tower: Tower) -> bool:
    """Tell whether a figure of four digits and more is a count of a tower but for one digit: no looser rounding of it."""
    if significant_digits(token) < _EXACT:
        return False
    return any(is_slip(*(re.sub(r"\D", "", one) for one in (token.text, write_like(token, Fraction(count))))) for count in tower.counts)


_EXACT = 4


def _holds(kind: str, count: int) -> Reason:
    return because(mark("{what} holds {right}"), what=Sentence(_TITLES[kind]), right=count)


@lru_cache(maxsize=64)
def towers(model: ModelValue) -> dict[str, Tower]:
    """Return the halves of a model that is made of two.

    >>> from weighbridge.auditing.checks.own_counts import preset_model
    >>> {kind: tower.parameters for kind, tower in towers(preset_model("clip-vit-large-patch14")).items()}
    {'vision': 303966208, 'text': 123650304}
    """
    shared = 0
    own: dict[str, tuple[list[int], list[int]]] = {kind: ([], []) for kind in _PREFIXES}
    for row in list_rows(model.tree):
        if row.tied_to is not None or row.role == "buffer":
            continue
        count = int(product(row.shape))  # type: ignore[arg-type]
        pieces = row.name.removeprefix("model.").split(".")
        kind = next((kind for kind, words in _PREFIXES.items() if pieces[0].startswith(words)), None)
        if kind is not None:
            own[kind][bool(_APART.search(row.name))].append(count)
        elif _SHARED.search(row.name):
            shared += count
    both = {frozenset(kind for kind, found in own.items() if any(found))} & {
        frozenset(("vision", "text")),
        frozenset(("encoder", "decoder")),
    }
    if frozenset(("encoder", "decoder")) in both and any("vision" in row.name or "audio" in row.name for row in list_rows(model.tree)):
        return {}  # an encoder that sees or hears besides: ``270M encoder`` is that of its text
    return {kind: _tower(*own[kind], shared) for kinds in both for kind in own if kind in kinds}


def _tower(plain: list[int], apart: list[int], shared: int) -> Tower:
    extra = [*apart, shared] if shared else apart
    sums = (
        {sum(chosen) for size in range(len(extra) + 1) for chosen in combinations(extra, size)} if len(extra) <= _MOST else {sum(extra), 0}
    )
    return Tower(sum(plain) + sum(apart), frozenset(sum(plain) + one for one in sums))


_MOST = 8
