"""Hold the sizes that a text states against those its own formulas use, and against the model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from weighbridge.auditing.checks.field_values import BOTH_MAPS
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene, claim, nested_words, words_of
from weighbridge.auditing.checks.size_doubts import JudgedSize, is_said_of_the_named, is_wrong
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.sizes import StatedSize
from weighbridge.auditing.text.values import numbers
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL


def check(scene: Scene, *, firm: bool = True) -> Iterator[Claim]:
    """Check every size that is plainly stated.

    Args:
        scene: The text.
        firm: Whether the model is sure enough to call a size wrong.
    """
    used = _numbers_in_formulas(scene)
    firmly = Counter((size.word, size.value) for size in scene.stated if size.firm and size.label.line != -1)
    seen: set[tuple[int, int]] = set()
    for size in scene.stated:
        place = (size.token.line, size.token.start)
        model = scene.model_at(size.label.line, size.label.start)
        if place in seen or model is None:
            continue
        seen.add(place)
        own = words_of(model)
        of_mlp = size.word == "hidden" and size.value == own.get("mlp") and not size.listed and _is_hidden_dim(scene, size)
        both = size.word == "mlp" and model.model_type in BOTH_MAPS and size.value == 2 * own.get("mlp", 0)
        if of_mlp or both or (own.get(size.word) != size.value and _is_a_namesakes(scene, size)):
            yield _claim(scene, size, size.token, "exact", size.value, size.value, ())
            continue
        if not size.listed and own.get(size.word) != size.value and any(part.get(size.word) == size.value for part in nested_words(model)):
            yield _claim(scene, size, size.token, "exact", size.value, size.value, ())
            continue
        for judged in _judge(size, own):
            exact = judged.right is None
            if exact:
                yield _claim(scene, size, judged.token, "exact", judged.said, judged.said, ())
            elif (firm or is_said_of_the_named(scene, size)) and is_wrong(scene, size, judged, used, firmly):
                assert judged.right is not None
                reason = because(mark("{what} is {right}"), what=Sentence(SIZE_TITLES[size.word]), right=judged.right)
                if judged.right in used:
                    reason += because(mark("the text itself computes with {right}"), right=judged.right)
                yield _claim(scene, size, judged.token, "wrong", judged.said, judged.right, reason)
    yield from _symbols(scene, seen)
    yield from _models_behind(scene, seen)


def _is_hidden_dim(scene: Scene, size: StatedSize) -> bool:
    """Tell whether a size is called ``hidden_dim``, which in Mistral's and Llama's own files is the width of the feed-forward network."""
    text = scene.lines[size.label.line].text
    return re.search(r"hidden[_ ]dim\b", text[size.label.start : size.token.start or None] or text, re.IGNORECASE) is not None


def _is_a_namesakes(scene: Scene, size: StatedSize) -> bool:
    """Tell whether a size is that of another model of the same name: the 21,128 words of a Chinese ``BERT-base``."""
    if scene.given:
        return False
    name = scene.context(size.label.line, size.label.start) or (scene.main.name if scene.main is not None else "")
    on_line = [m for m in scene.mentions.get(size.label.line, ()) if m.kind == MODEL and m.end <= size.token.start]
    names = frozenset(on_line[-1].names) if on_line else scene.alternates.get(name, frozenset())  # a name in full beside it is meant
    namesakes = (preset_model(other) for other in sorted(names))
    return any(model is not None and words_of(model).get(size.word) == size.value for model in namesakes)


def _models_behind(scene: Scene, seen: set[tuple[int, int]]) -> Iterator[Claim]:
    """Confirm sizes whose models stand in parentheses behind them: ``width: 768 (ViT-B), 1024 (ViT-L)``."""
    labels = {size.label.line: size for size in scene.stated if size.label.start < size.token.start and size.label.line == size.token.line}
    for statement in scene.numbered if labels else ():
        for number, opening in pairwise(statement):
            size = labels.get(number.line)
            if size is None or number.kind != "num" or opening.kind != "(" or opening.line != number.line or not number.value:
                continue
            near = [m for m in scene.mentions.get(number.line, ()) if 0 <= m.column - opening.end <= 1 and m.name]
            own = words_of(scene.models[str(near[0].name)]) if near and near[0].name in scene.models else {}
            if own.get(size.word) == number.value and ((number.line, number.start) not in seen or size.token is not number):
                yield _claim(scene, size._replace(label=number), number, "exact", int(number.value), int(number.value), ())


def _symbols(scene: Scene, seen: set[tuple[int, int]]) -> Iterator[Claim]:
    """Check the sizes in a table of symbols, whose rows begin with a letter, against the model that the text names."""
    model = scene.models.get("")
    if model is None or scene.main is None or not (scene.main.named and scene.main.firm):
        return
    own = words_of(model)
    for row in (row for table in scene.tables for row in (*table.head, *table.rows)):
        word, cell = LETTERS.get(row.cells[0].text.strip("$*` "), ""), row.cells[-1]
        plain = cell.text.replace(",", "").strip("$*` ;")
        if word not in own or len(row.cells) < 3 or not plain.isdigit() or len(plain) > 12 or (cell.line, cell.start) in seen:
            continue
        token = Token("num", cell.text, cell.line, cell.start, cell.end)
        size = StatedSize(word, int(plain), token, token, True, 0)
        if int(plain) == own[word]:
            yield _claim(scene, size, token, "exact", own[word], own[word], ())
        elif row.cells[0].text.strip("$*` ") in scene.odd:
            reason = because(mark("{what} is {right}"), what=Sentence(SIZE_TITLES[word]), right=own[word])
            yield _claim(scene, size, token, "wrong", int(plain), own[word], reason)


def _judge(size: StatedSize, own: Mapping[str, int]) -> Iterator[JudgedSize]:
    """Yield each number of a statement: what is said, and what is right if it is not that."""
    if size.word not in own:
        return
    if size.listed:
        widths = {own.get("mlp"), own.get("hidden")} if size.word in ("mlp", "hidden") else {own[size.word]}
        listed = (size.token, *size.listed)
        missing = [own[word] for word in (size.word, "mlp", "hidden") if word in own and own[word] not in {_value(t) for t in listed}]
        for token in listed:
            number = _value(token)
            if number in widths:
                yield JudgedSize(token, number, None)
            elif missing and len(listed) <= 3 and token is size.token:
                yield JudgedSize(token, number, missing[0])
        return
    yield JudgedSize(size.token, size.value, None if size.value == own[size.word] else own[size.word])


def _value(token: Token) -> int:
    return int(token.value or 0)


def _numbers_in_formulas(scene: Scene) -> set[int]:
    """Return the numbers that the text's formulas compute with."""
    found: set[int] = set()
    for chain in scene.chains:
        for side in chain.sides:
            if not isinstance(side.term, Token):
                found |= {int(t.value) for t in numbers(side.term) if t.value is not None and t.value.denominator == 1}
    return found


def _claim(scene: Scene, size: StatedSize, token: Token, verdict: str, value: int, right: int, reason: object) -> Claim:
    first = size.label if size.label.line == token.line and size.label.start < token.start else token
    last = token if token.end > size.label.end or token.line != size.label.line else size.label
    facts = {"value": value, "expected": right, "difference": value - right, "reason": reason}
    return claim(scene.lines, first, last, "configuration", verdict, **facts)
