"""Hold the sizes that a text states against those its own formulas use, and against the model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from weighbridge.auditing.checks.count_subjects import goes_on_elsewhere
from weighbridge.auditing.checks.field_values import is_padded
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim, nested_words, words_of
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.sizes import StatedSize
from weighbridge.auditing.text.values import numbers
from weighbridge.auditing.thresholds import AGREED_SETTINGS, BESIDE_LINES
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

NAMES = {
    "vocab": mark("vocabulary size"),
    "hidden": mark("hidden size"),
    "layers": mark("number of layers"),
    "heads": mark("number of attention heads"),
    "mlp": mark("intermediate size"),
    "positions": mark("number of positions"),
    "types": mark("number of token types"),
    "head_dim": mark("head size"),
    "kv_heads": mark("number of key-value heads"),
}


class _JudgedSize(NamedTuple):
    token: Token
    said: int
    right: int | None


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
        if of_mlp or (own.get(size.word) != size.value and _is_a_namesakes(scene, size)):
            yield _claim(scene, size, size.token, "exact", size.value, size.value, ())
            continue
        if not size.listed and own.get(size.word) != size.value and any(part.get(size.word) == size.value for part in nested_words(model)):
            yield _claim(scene, size, size.token, "exact", size.value, size.value, ())
            continue
        for judged in _judge(size, own):
            exact = judged.right is None
            if exact:
                yield _claim(scene, size, judged.token, "exact", judged.said, judged.said, ())
            elif (firm or _is_said_of_the_named(scene, size)) and _is_wrong(scene, size, judged, used, firmly):
                assert judged.right is not None
                reason = because(mark("{what} is {right}"), what=Sentence(NAMES[size.word]), right=judged.right)
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
    namesakes = (preset_model(other) for other in sorted(scene.alternates.get(name, frozenset())))
    return any(model is not None and words_of(model).get(size.word) == size.value for model in namesakes)


def _models_behind(scene: Scene, seen: set[tuple[int, int]]) -> Iterator[Claim]:
    """Confirm sizes whose models stand in parentheses behind them: ``width: 768 (ViT-B), 1024 (ViT-L)``."""
    labels = {size.label.line: size for size in scene.stated if size.label.start < size.token.start and size.label.line == size.token.line}
    for statement in scene.statements:
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
            reason = because(mark("{what} is {right}"), what=Sentence(NAMES[word]), right=own[word])
            yield _claim(scene, size, token, "wrong", int(plain), own[word], reason)


def _judge(size: StatedSize, own: dict[str, int]) -> Iterator[_JudgedSize]:
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
                yield _JudgedSize(token, number, None)
            elif missing and len(listed) <= 3 and token is size.token:
                yield _JudgedSize(token, number, missing[0])
        return
    yield _JudgedSize(size.token, size.value, None if size.value == own[size.word] else own[size.word])


def _value(token: Token) -> int:
    return int(token.value or 0)


def _is_wrong(scene: Scene, size: StatedSize, judged: _JudgedSize, used: set[int], firmly: Counter[tuple[str, int]]) -> bool:
    place = min(size.label.start, size.token.start) if size.label.line == size.token.line else size.token.start
    if goes_on_elsewhere(scene.lines[size.token.line].text, scene.mentions.get(size.token.line, ()), place):
        return False
    padded = size.word == "vocab" and is_padded(judged.said, judged.right or 0)
    if padded or (size.word in ("positions", "types") and judged.right not in used):
        return False
    if judged.right not in used and not is_slip(str(judged.said), str(judged.right)) and is_of_their_own(scene, size.token.line):
        return False
    if not (size.firm or _is_said_of_the_named(scene, size)) or _is_of_some(scene, size.token.line, judged.right):
        return False  # ``all 5 layers: (6 − 1) × ...`` is said of some of them
    if size.word == "layers" and judged.right is not None and ("layers", judged.right - judged.said) in scene.stated_index.values:
        return False  # 12 layers of one kind and 36 of another
    if (judged.said in used and judged.right not in used) or (size.word != "kv_heads" and judged.said in _other_sizes(scene, size)):
        return False
    if (size.word, judged.right) in scene.stated_index.values and not is_slip(str(judged.said), str(judged.right)):
        return False  # the text states two such sizes: it has two models, and this one need not be that one's
    if size.word != "hidden" and scene.is_at_other_sizes(size.token.line):
        return False
    model = scene.model_at(size.label.line, size.label.start)
    own = words_of(model) if model is not None else {}
    if model is not None and model.description is not None and any(isinstance(part, dict) for part in model.description.raw.values()):
        return False  # a model of several models has several sizes of each kind
    agreed = sum(firmly[word, value] for word, value in own.items() if word != size.word)
    near = {other.word for other in _beside(scene, size) if own.get(other.word) == other.value}
    passed = _ARGUMENT.search(scene.lines[size.label.line].text[: size.token.start]) is not None
    if passed:
        mistyped = judged.right is not None and is_slip(str(judged.said), str(judged.right))
        return mistyped and len(near) >= AGREED_SETTINGS and _is_named_above(scene, size.token.line)
    if judged.right in used:
        return True
    return bool(near) or agreed >= 2


def is_of_their_own(scene: Scene, line: int) -> bool:
    """Tell whether the lines above speak of a model of the author's own, for all that it is called: ``our BERT-base from scratch``."""
    return not scene.given and any(_OWN.search(scene.lines[index].text) for index in range(max(0, line - BESIDE_LINES), line + 1))


_OWN = re.compile(
    r"\b(?:(?:our|my)\b(?! (?:gpus?|cards?|macs?|macbook|laptops?|pcs?|phones?|machines?|clusters?|servers?|colleagues?|friends?|boss|company|teams?|desk|posts?|articles?|blogs?|notes?|opinion|experience|questions?|guides?|budgets?)\b)|custom|scratch|toy|reduced|prun\w+|draft|modified|scaled|simplified|implement\w*)\b|自己|我们的|简化|从零|实现",
    re.IGNORECASE,
)


def _is_said_of_the_named(scene: Scene, size: StatedSize) -> bool:
    """Tell whether a number is one of the sizes that a sentence gives its one model: ``BERT-large has 24 layers, 12 heads and hidden size 768``."""
    text, named = scene.lines[size.token.line].text, scene.mentions.get(size.token.line, ())
    if len(named) != 1 or named[0].kind != MODEL or named[0].end > min(size.token.start, size.label.start):
        return False
    if size.label.start < size.token.start and not (
        _BEGINS.search(text, named[0].end, size.label.start) and _BESIDE.fullmatch(text, size.label.end, size.token.start)
    ):
        return False  # a label in front may be that of another number, but at the beginning of an item
    between = text[named[0].end : max(size.token.end, size.label.end)]
    model = scene.model_at(size.label.line, size.label.start)
    own = words_of(model) if model is not None else {}
    on_line = scene.stated_index.on[size.token.line]
    others = [one for one in on_line if one.word != size.word]
    alone = len(on_line) - len(others) == 1
    translates = model is None or model.description is None or hasattr(model.description.sizes, "decoder_layers")
    agreed = sum(own.get(one.word) == one.value for one in others)
    return alone and not translates and agreed == len(others) >= 1 and not _OF_A_PART.search(between) and not _NEXT_SENTENCE.search(between)


_BEGINS = re.compile(r"(?:^|[,，、:：(（;；|]|\b(?:and|with|an?|its|has|have|的|和|及|与|为|有))[\s*`_]*$", re.IGNORECASE)
_BESIDE = re.compile(r"[\s*`_]*(?:of|is|=|:|：|为|是)?[\s*`_]*")
"""Before the label of an item of a list, and between the label and its number."""
_OF_A_PART = re.compile(
    r"\b(?:first|last|top|bottom|only|freez\w*|each|every|per|more|fewer|less|extra|another|shared?|student|teacher|prun\w*|remov\w*|drop\w*|than|instead|vs|"
    r"versus|compared|like|unlike|if|would|could|our|ours|my|custom|distil\w*|into|from|to|of the|out of|with only|draft|encoder|decoder|cross|query|kept|keep\w*)\b|"
    r"前(?!馈)|后|每|只|仅|冻结|剪|比|若|如果|我们|自己|改|减|加|新|而",
    re.IGNORECASE,
)
"""Words by which a number of layers or heads is another than the model's."""
_NEXT_SENTENCE = re.compile(r"[。;；!?|]|\.(?!\d)")


def _is_named_above(scene: Scene, line: int) -> bool:
    return any(m.kind == MODEL for above in range(max(0, line - BESIDE_LINES), line + 1) for m in scene.mentions.get(above, ()))


_ARGUMENT = re.compile(r"[(,]\s*\w+\s*=\s*$|\w=$|[\"']\s*:\s*$")
"""What stands before a value that is passed to a call: a setting, which claims nothing of the model by itself."""


def _beside(scene: Scene, size: StatedSize) -> Iterator[StatedSize]:
    """Yield the sizes of other kinds that are stated on the lines about one."""
    for line in range(size.token.line - BESIDE_LINES, size.token.line + BESIDE_LINES + 1):
        yield from (other for other in scene.stated_index.on.get(line, ()) if other.word != size.word)


def _is_of_some(scene: Scene, line: int, right: int | None) -> bool:
    """Tell whether a number of layers is computed as all but some, here or on the next lines: ``(6 - 1) × ...``."""
    near = " ".join(one.text for one in scene.lines[line : line + _NEXT])
    return re.search(rf"(?<!\d){right} ?- ?\d+ ?\)", near) is not None


_NEXT = 6
"""Lines that a formula may be spread over."""


def _other_sizes(scene: Scene, size: StatedSize) -> set[int]:
    """Return the model's sizes that have no letter here, such as key-value heads: a label may well mean one of them."""
    model = scene.model_at(size.label.line, size.label.start)
    if model is None or model.description is None:
        return set()
    values = vars(model.description.sizes)
    return {value for word, value in values.items() if word not in NAMES.keys() - {"kv_heads"} and type(value) is int}


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
