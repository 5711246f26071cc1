"""Sizes of the halves of a model: in sentences, below a line that is a tower's name, and in its config."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from weighbridge.auditing import patterns
from weighbridge.auditing.checks.field_values import sizes_of_part
from weighbridge.auditing.checks.fields import OTHERWISE
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.checks.towers import FIRM, WORDS, certain_model, tower_in
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.field_words import Field, read_fields
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.text.settings import read_settings
from weighbridge.auditing.thresholds import AGREED_FIELDS
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


_OF_TOWERS = "vision visual image text language 图像 视觉 图片 文本".split()
_BRACES = frozenset("{(")


def _may_be_of_tower(text: str) -> bool:
    """Tell whether words speak of images or texts at all."""
    lower = text.lower()
    return any(word in lower for word in _OF_TOWERS)


def hold_size(scene: Scene, token: Token, model: ModelValue, kind: str, word: str, *, sure: bool) -> list[Claim] | None:
    """Hold a size that the head of its column gives to a tower; None if the model has no such tower or the tower no such size."""
    own = _tower_values(model, kind)
    if not own.get(word):
        return None
    field = Field(word, int(token.value or 0), token.start, token.end, True)
    return list(_size(scene, token.line, field, own, sure=sure))


def check(scene: Scene) -> Iterator[Claim]:
    """Check the sizes that sentences, labelled lines and configs give to a tower."""
    yield from _sizes(scene)
    yield from _configs(scene)


def _sizes(scene: Scene) -> Iterator[Claim]:
    """Hold the sizes that a line or a list gives a tower, named before them or on the line above, against that tower's."""
    groups: dict[tuple[str, int], list[tuple[int, Field]]] = {}
    for index in scene.counted_lines:
        line = scene.lines[index]
        above, place = _label_above(scene, index)
        if len(line.text) > _LONGEST or not (_may_be_of_tower(line.text) or (len(above) < _LABEL and _may_be_of_tower(above))):
            continue
        label = tower_in(above) if len(above) < _LABEL else None
        for field in _fields_of(line.text):
            kind = _last_tower(line.text, field.start)
            if kind is not None or label is not None:
                groups.setdefault((kind, index) if kind is not None else (label or "", place), []).append((index, field))
    for (kind, _), said in groups.items():
        first, field = said[0]
        model = certain_model(scene, Token("num", "", first, field.start, field.end))
        own = _tower_values(model, kind) if model is not None else {}
        agreed = sum(field.value in own.get(field.word, ()) for _, field in said)
        for index, field in said:
            text = scene.lines[index].text
            most = agreed * 2 >= len(said) or said[-1][0] == first
            sure = (
                agreed >= 1
                and most
                and not _ORDINAL.search(text, 0, field.start)
                and FIRM.search(text) is None
                and not _is_of_others(text, field)
            )
            yield from _size(scene, index, field, own, sure=sure)


def _label_above(scene: Scene, index: int) -> tuple[str, int]:
    """Return the words that a line stands under, those of the line above or of the one that opens its list, and that line."""
    above = scene.lines[index - 1].text.strip(" *#:：-") if index else ""
    if not _BULLET.match(scene.lines[index].text):
        return above, index - 1
    for place in range(index - 1, max(-1, index - 1 - _LIST), -1):
        text = scene.lines[place].text
        if text.strip() and not _BULLET.match(text):
            opens = text.rstrip().endswith((":", "：")) or len(text.strip()) < _LABEL
            return _HAS.split(_BRACKETS.sub("", text))[0].strip(" *#:：-") if opens else "", place
    return "", -1


_HAS = patterns.pattern(r"\b(?:has|have|is|uses|contains)\b|有|为|是")
_BULLET = patterns.pattern(r"\s*(?:[-*+•·]|\d{1,2}[.)])\s")
_BRACKETS = patterns.pattern(r"[(（][^()（）]*[)）]")
_LIST = 16
"""Lines of a list below the words that open it."""


def _fields_of(text: str) -> list[Field]:
    """Return the sizes of a line, said in words or set as code sets them."""
    found = {field.start: field for field in read_fields(text)}
    for setting in read_settings(text):
        if setting.kind in SIZE_TITLES and text[setting.start : setting.end].isdigit():
            found.setdefault(setting.start, Field(setting.kind, int(text[setting.start : setting.end]), setting.start, setting.end, True))
    for size in find_described_sizes(text):
        found.setdefault(size.start, Field(size.word, size.value, size.start, size.end, False))
    return [found[start] for start in sorted(found)]


def _is_of_others(text: str, field: Field) -> bool:
    """Tell whether the clause of a size makes it that of some layers, or of another model: ``the first 12 layers of the image encoder``."""
    first = max((m.end() for m in _CLAUSE.finditer(text, 0, field.start)), default=0)
    stop = next((m.start() for m in _CLAUSE.finditer(text, field.end)), len(text))
    clause = text[first : field.start] + " " + text[field.end : stop]
    for pattern in WORDS.values():
        clause = pattern.sub(" ", clause)
    return OTHERWISE.search(clause) is not None


_ORDINAL = patterns.pattern(r"第[\d\s、,，和与及]*$")
"""Before the number of one of the layers: ``第 7、15、23、31 层``."""
_CLAUSE = patterns.pattern(r"[,，;；:：()（）。]|\.(?!\d)|\band\b")


def _configs(scene: Scene) -> Iterator[Claim]:
    """Hold the settings between the braces of a tower's config, ``"vision_cfg": {``, against that tower's sizes."""
    kind, model, block = None, None, list[tuple[int, Field]]()
    for index, line in enumerate(scene.lines):
        opening = _OPENS.search(line.raw) if line.raw.rstrip()[-1:] in _BRACES and len(line.raw) < _LONGEST else None
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


_CLOSES = patterns.pattern(r"^\s*[})]|[})]\s*,?\s*$")


_WIDTH = patterns.pattern(r"[\s\"']*(?:\w+_)?width[\"']?\s*[:=]\s*(\d{1,6})\s*,?\s*")


def _last_tower(text: str, end: int) -> str | None:
    """Return the tower whose name stands last before a place in its sentence."""
    start, _ = sentence_of(text, end)
    found = [(match.start(), kind) for kind in ("vision", "text") for match in WORDS[kind].finditer(text, start, end)]
    return max(found)[1] if found else None


_OPENS = patterns.pattern(r"(?<![a-z])(vision|visual|text)_?(?:cfg|config\w*|model|tower)?[\"']?\s*[:=]\s*(?:dict)?[{(]\s*$", re.IGNORECASE)
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
