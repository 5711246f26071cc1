"""Counts and sizes of the halves of a model: the image and the text tower of CLIP, an encoder and its decoder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.auditing.checks.field_values import sizes_of_part
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.totals import is_count
from weighbridge.auditing.checks.wrong_counts import total_claim
from weighbridge.auditing.claims import Claim, Reason, Sentence, because
from weighbridge.auditing.text.field_words import Field, read_fields
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.text.rounding import fit, likeliest_value, significant_digits, write_like
from weighbridge.auditing.thresholds import AGREED_FIELDS, SAME_COUNT
from weighbridge.core.messages import mark
from weighbridge.core.sizes import product
from weighbridge.core.tree import list_rows
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_NOUN = r"(?:encoder|tower|transformer|backbone|branch|model|stack|part)s?\b"
_WORDS = {
    "vision": re.compile(
        rf"\b(?:vision|visual|image|ViT)[\- ]+{_NOUN}|\bvision transformer\b|(?:图像|视觉|图片)(?:端|侧)?的?(?:编码器|塔|分支|部分|模型)",
        re.IGNORECASE,
    ),
    "text": re.compile(rf"\b(?:text|language)[\- ]+{_NOUN}|文本(?:端|侧)?的?(?:编码器|塔|分支|部分|模型)", re.IGNORECASE),
    "encoder": re.compile(r"(?<![\w\-])(?:the )?encoder\b(?! layers?| blocks?|-only|-decoder)|编码器(?!层)", re.IGNORECASE),
    "decoder": re.compile(r"(?<![\w\-])(?:the )?decoder\b(?! layers?| blocks?|-only)|解码器(?!层)", re.IGNORECASE),
}
_ANY = re.compile(r"vi(?:sion|sual|t)|image|text|language|encoder|decoder|[\u4e00-\u9fff]", re.IGNORECASE)
"""What a line must have before it can name a tower."""
_TOWER = re.compile(r"vision|visual|image|text|language|图像|视觉|图片|文本", re.IGNORECASE)
_PREFIXES = {"vision": ("vision", "visual"), "text": ("text",), "encoder": ("encoder",), "decoder": ("decoder",)}
_TITLES = {
    "vision": mark("the image tower"),
    "text": mark("the text tower"),
    "encoder": mark("the encoder"),
    "decoder": mark("the decoder"),
}
_SHARED = re.compile(r"(?:^|\.)shared\.weight$|^lm_head\.weight$|^proj_out\.weight$")
_APART = re.compile(r"projection|(?:token|word|position|patch)\w*embed|embed_(?:tokens|positions)")
"""What is counted with a tower or left out of it: tables and projections."""
_OTHER = re.compile(
    r"\b(?:layers?|blocks?|heads?|per|each|every|lora|adapter|frozen|trainable|attention|embedding|without|exclud\w*|tokens?|pairs?|images|captions|gb|flops?|than|vs|lr|epochs?)\b|"
    r"每层|单层|冻结|可训练|注意力|不含|对图文|样本",
    re.IGNORECASE,
)
_BREAKS = re.compile(r"[,，;；。()（）]|\.(?!\d)|\band\b|和|\bplus\b|\+|\bwhile\b|\d\s?[MBKmb]\b")
_SURE_DIGITS = 2
"""Digits that a figure must show before it can be wrong of a tower."""


class Tower(NamedTuple):
    """A half of a model: its count with all that is its own, and all counts that leave out or add what is counted apart."""

    parameters: int
    counts: frozenset[int]


def check(scene: Scene) -> Iterator[Claim]:
    """Check what is said of a tower right before or behind its name, in a row of two cells, and below a line that is its name."""
    for statement in scene.statements:
        for token in statement:
            if token.kind == "num" and token.value and is_count(token):
                found = _said_of(scene, token)
                model = _model(scene, token) if found else None
                if found and model is not None:
                    yield from _count(scene, token, model, found)
    yield from _sizes(scene)
    yield from _configs(scene)


def _said_of(scene: Scene, token: Token) -> str | None:
    """Return the tower that a count is said of, by the words of its own clause."""
    text = scene.lines[token.line].text
    if not _ANY.search(text):
        return None
    before = _BREAKS.split(text[max(0, token.start - 80) : token.start])[-1]
    behind = _BREAKS.split(text[token.end : token.end + 60])[0]
    if _OTHER.search(f"{before} {behind}"):
        return None
    return _tower_in(behind) or _tower_in(before)


def tower_of_head(head: str) -> str | None:
    """Return the tower that the head of a column names.

    >>> tower_of_head("image_mparams"), tower_of_head("Decoder params"), tower_of_head("hidden size")
    ('vision', 'decoder', None)
    """
    found = {kind for kind, pattern in _HEADS.items() if pattern.search(head)}
    return found.pop() if len(found) == 1 else None


_HEADS = {
    "vision": re.compile(r"(?<![a-z])(?:image|vision|visual)(?![a-z]|_?size|_?res)|图像|视觉", re.IGNORECASE),
    "text": re.compile(r"(?<![a-z])text(?![a-z])|文本", re.IGNORECASE),
    "encoder": re.compile(r"(?<![a-z])enc(?:oder)?(?![a-z])(?!.*dec)|编码器", re.IGNORECASE),
    "decoder": re.compile(r"(?<![a-z])dec(?:oder)?(?![a-z])(?!.*enc)|解码器", re.IGNORECASE),
}


def hold_count(scene: Scene, token: Token, model: ModelValue, kind: str) -> Iterator[Claim]:
    """Hold a count that the head of its column gives to a tower against that tower's."""
    yield from _count(scene, token, model, kind)


def hold_size(scene: Scene, token: Token, model: ModelValue, kind: str, word: str, *, sure: bool) -> list[Claim] | None:
    """Hold a size that the head of its column gives to a tower; None if the model has no such tower or the tower no such size."""
    own = _tower_values(model, kind)
    if not own.get(word):
        return None
    field = Field(word, int(token.value or 0), token.start, token.end, True)
    return list(_size(scene, token.line, field, own, sure=sure))


def _tower_in(words: str) -> str | None:
    """Return the one tower that words name; an encoder of text is the text's."""
    kinds = [kind for kind, pattern in _WORDS.items() if pattern.search(words)]
    towers = [kind for kind in kinds if kind in ("vision", "text")] or kinds
    return towers[0] if len(towers) == 1 else None


def _model(scene: Scene, token: Token) -> ModelValue | None:
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
    plainly = significant_digits(token) >= _SURE_DIGITS and _FIRM.search(scene.lines[token.line].text[: token.start]) is None
    far = all(abs(number - count) * _NEAREST > count for count in tower.counts if token.unit)
    if near and plainly and (far or _is_a_digit_off(token, tower)):
        right = write_like(token, Fraction(tower.parameters)) if token.unit else tower.parameters
        reason = because(mark("should be {right}"), right=right) + _holds(kind, tower.parameters)
        yield total_claim(scene, token, "wrong", Fraction(tower.parameters), reason)


_FIRM = re.compile(r"\b(?:if|would|suppose|our|custom|replac\w*|instead|like)\b|如果|假设|我们", re.IGNORECASE)
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
    return {kind: _tower(*own[kind], shared) for kinds in both for kind in own if kind in kinds}


def _tower(plain: list[int], apart: list[int], shared: int) -> Tower:
    extra = [*apart, shared] if shared else apart
    sums = (
        {sum(chosen) for size in range(len(extra) + 1) for chosen in combinations(extra, size)} if len(extra) <= _MOST else {sum(extra), 0}
    )
    return Tower(sum(plain) + sum(apart), frozenset(sum(plain) + one for one in sums))


_MOST = 8


def _sizes(scene: Scene) -> Iterator[Claim]:
    """Hold the sizes that a line gives a tower, named before them or alone on the line above, against that tower's."""
    for index, line in enumerate(scene.lines):
        above = scene.lines[index - 1].text.strip(" *#:：-") if index else ""
        if len(line.text) > _LONGEST or not (_TOWER.search(line.text) or (len(above) < _LABEL and _TOWER.search(above))):
            continue
        fields = list(read_fields(line.text))
        label = _tower_in(above) if len(above) < _LABEL else None
        by_tower: dict[str | None, list[Field]] = {}
        for field in fields:
            by_tower.setdefault(_last_named(line.text, field.start) or label, []).append(field)
        for kind, said in by_tower.items():
            model = _model(scene, Token("num", "", index, said[0].start, said[0].end)) if kind is not None else None
            own = _tower_values(model, kind) if model is not None and kind is not None else {}
            agreed = sum(field.value in own.get(field.word, ()) for field in said)
            for field in said:
                yield from _size(scene, index, field, own, sure=agreed >= 1 and _FIRM.search(line.text) is None)


def _configs(scene: Scene) -> Iterator[Claim]:
    """Hold the settings between the braces of a tower's config, ``"vision_cfg": {``, against that tower's sizes."""
    kind, model, block = None, None, list[tuple[int, Field]]()
    for index, line in enumerate(scene.lines):
        opening = _OPENS.search(line.raw) if len(line.raw) < _LONGEST else None
        if opening is not None or (kind is not None and _CLOSES.search(line.raw)):
            yield from _of_config(scene, model, kind, block)
            kind, block = (_KINDS[opening[1][0].lower()], []) if opening is not None else (None, [])
            model = scene.model_at(index, len(line.text)) if opening is not None else None
        elif kind is not None and len(line.text) < _LONGEST:
            block += [(index, field) for field in (*read_fields(line.text), *_read_width(line.text))]
    yield from _of_config(scene, model, kind, block)


def _of_config(scene: Scene, model: ModelValue | None, kind: str | None, block: Sequence[tuple[int, Field]]) -> Iterator[Claim]:
    own = _tower_values(model, kind) if model is not None and kind is not None else {}
    agreed = sum(field.value in own.get(field.word, ()) for _, field in block)
    for index, field in block:
        yield from _size(scene, index, field, own, sure=agreed >= AGREED_FIELDS and len(block) - agreed < agreed)


def _read_width(text: str) -> list[Field]:
    """Return the width that a line of a tower's config says, which is its hidden size."""
    match = _WIDTH.fullmatch(text)
    return [Field("hidden", int(match[1]), *match.span(1), True)] if match else []


_CLOSES = re.compile(r"^\s*[})]|[})]\s*,?\s*$")
_WIDTH = re.compile(r"[\s\"']*(?:\w+_)?width[\"']?\s*[:=]\s*(\d{1,6})\s*,?\s*")


def _last_named(text: str, end: int) -> str | None:
    """Return the tower whose name stands last before a place in its sentence."""
    start, _ = sentence_of(text, end)
    found = [(match.start(), kind) for kind in ("vision", "text") for match in _WORDS[kind].finditer(text, start, end)]
    return max(found)[1] if found else None


_OPENS = re.compile(r"(?<![a-z])(vision|visual|text)_?(?:cfg|config\w*|model|tower)?[\"']?\s*[:=]\s*(?:dict)?[{(]\s*$", re.IGNORECASE)
"""What opens the config of a tower in that of its model: ``"vision_cfg": {``."""
_KINDS = {"v": "vision", "t": "text"}
_LONGEST, _LABEL = 2000, 32


def _tower_values(model: ModelValue, kind: str) -> Mapping[str, frozenset[int]]:
    sizes = getattr(model.description.sizes, kind, None) if model.description is not None and kind in ("vision", "text") else None
    return sizes_of_part(sizes) if sizes is not None else {}


def _size(scene: Scene, index: int, field: Field, own: Mapping[str, frozenset[int]], *, sure: bool) -> Iterator[Claim]:
    rights = own.get(field.word, frozenset())
    token = Token("num", "", index, field.start, field.end)
    if field.value in rights:
        yield claim(scene.lines, token, token, "configuration", "exact", value=field.value, expected=field.value, difference=0)
    elif sure and rights and field.value > 0:
        right = min(own.get("hidden", rights) if field.word == "width" else rights)
        facts: dict[str, object] = {"value": field.value, "expected": right, "difference": field.value - right}
        yield claim(scene.lines, token, token, "configuration", "wrong", **facts, reason=because(mark("should be {right}"), right=right))
