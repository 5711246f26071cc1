"""Sizes of a model's config that are said in passing or listed as its specification, held against the model's fields."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from weighbridge.auditing.checks import modules
from weighbridge.auditing.checks.field_values import NO_PARTS, field_values, main_values
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import StatedField, fields_of_line
from weighbridge.auditing.checks.table_places import lines_of_others
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import any_word, pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import AGREED_FIELDS, FIELD_GAP, FIELD_REACH, LEAD_LETTERS
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_LISTED = ("layers", "heads", "kv_heads", "experts", "active", "hidden")
"""Sizes that a sentence or a list of a model's sizes says plainly enough to be wrong."""
OTHERWISE = any_word(
    r"\bw/(?!o)|\b(?:our|ours|my|custom|scratch|toy|reduced|prun\w*|draft|modif\w*|scaled|smaller|bigger|if|would|could|suppose|e\.g|such as|instead|than|versus|vs|compared?|unlike|only|"
    r"first|last|top|bottom|freez\w*|frozen|each|every|per (?:node|group|device|gpu|layer)|group|groups|nodes?|gpus?|devices?|more|fewer|less|extra|another|remov\w*|drop\w*|keep|kept|student|"
    r"teacher|distil\w*|from|into|up to|at least|at most|around|about|between|ratio|split|subset|vision|image|audio|speech|text encoder|draft|mtp|dense|like|not|never|wrong|instead)\b|"
    r"如|若|每组|每层|每个节点|分成|假设|自己|我们|改|减|剪|蒸馏|冻结|前(?!馈)|后|只|仅|比|至少|至多|最多|左右|约|视觉|音频|不是|而非|错",
)
"""Words by which a size is another than the model's, or may be."""
_SENTENCE = pattern(r"[。;；!?！？]|\.(?!\d)|\|")


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the sizes that lines say in words; a sentence, or a list that agrees otherwise, makes one wrong."""
    skipped = {*tabled, *modules.places(scene), *lines_of_others(scene)}
    found = [said for index in range(len(scene.lines)) if index not in skipped for said in fields_of_line(scene, index)]
    for block in (_of_one_member(scene, one) for one in _blocks(found)):
        agreed = len({said.field.word for said in block if _is_own(said)})
        by_line: dict[int, list[StatedField]] = {}
        for said in block:
            by_line.setdefault(said.line, []).append(said)
        for said in block:
            if scene.is_judged(said.line, said.field.start, said.field.end):
                continue
            if _is_own(said):
                yield _claim(scene, said, "exact", said.field.value)
            elif (
                _is_listed_wrong(scene, said, block, agreed)
                or _is_said_wrong(scene, said)
                or _is_enumerated_wrong(scene, said, by_line[said.line])
            ):
                right = min(_main_values(said), default=None)
                if right is not None:
                    yield _claim(scene, said, "wrong", right)


def _blocks(found: Sequence[StatedField]) -> Iterator[list[StatedField]]:
    """Group the sizes that stand together and are of one model."""
    block: list[StatedField] = []
    for said in found:
        if block and (said.models != block[-1].models or said.line - block[-1].line > FIELD_REACH):
            yield block
            block = []
        block.append(said)
    if block:
        yield block


def _of_one_member(scene: Scene, block: list[StatedField]) -> list[StatedField]:
    """Take the sizes of a list under a family's name for those of the member that has all but one of them, where none has them all; in code they may be anybody's."""
    if any("=" in scene.lines[said.line].text or not _LISTS.match(scene.lines[said.line].text) for said in block):
        return block
    words = {said.field.word for said in block}
    if len(block) <= AGREED_FIELDS or len(words) < len(block) or len(block[0].models) < 2:
        return block
    held = [(sum(said.field.value in field_values(model).get(said.field.word, ()) for said in block), model) for model in block[0].models]
    most = max(number for number, _ in held)
    best = [model for number, model in held if number == most]
    alike = all(len({main_values(model).get(word) for model in best}) == 1 for word in words)
    return [said._replace(models=(best[0],), near=True) for said in block] if most == len(block) - 1 and alike else block


_LISTS = pattern(r"\s*[-*+•·|]|[^=\d]{2,30}[:：]\s*\d[\d,]*\s*$")
"""How an item of a list begins, or all of it where a page shows no bullets."""


def _is_own(said: StatedField) -> bool:
    return any(said.field.value in field_values(model).get(said.field.word, frozenset()) for model in said.models)


def _is_any(said: StatedField) -> bool:
    """Tell whether a number is a size of its models that is called alike: heads of one kind and of the other, widths, experts."""
    alike = next((group for group in _ALIKE if said.field.word in group), (said.field.word,))
    return any(said.field.value in field_values(model).get(word, ()) for model in said.models for word in alike)


_ALIKE = (("heads", "kv_heads"), ("experts", "active", "shared"), ("hidden", "mlp", "head_dim"), ("layers",))


def _main_values(said: StatedField) -> frozenset[int]:
    values = main_values(said.models[0])
    return frozenset((values[said.field.word],)) if said.field.word in values else frozenset()


def _can_be_wrong(said: StatedField, words: Collection[str]) -> bool:
    one_of_a_kind = all(model.description is not None and not is_composite(model) for model in said.models)
    return said.near and said.field.word in words and said.field.value > 0 and one_of_a_kind and not _is_any(said)


@lru_cache(maxsize=2048)
def is_composite(model: ModelValue) -> bool:
    """Tell whether a model is made of several, or has an encoder and a decoder: it has several sizes of each kind."""
    description = model.description
    return (
        description is None
        or hasattr(description.sizes, "decoder_layers")
        or any(isinstance(part, dict) for key, part in description.raw.items() if key not in NO_PARTS)
        or any(hasattr(value, "__dict__") for value in vars(description.sizes).values())
    )


def _is_listed_wrong(scene: Scene, said: StatedField, block: Sequence[StatedField], agreed: int) -> bool:
    """Tell whether a size in a list of a named model's sizes is not the model's, though others of the list are."""
    if not _can_be_wrong(said, _LISTED) or agreed < AGREED_FIELDS or not (said.field.labelled or _is_bullet(scene, said)):
        return False
    text = scene.lines[said.line].text
    item = re.split(r"[,，;；。]|\.(?!\d)", text[said.field.end :])[0]
    inside = text[: said.field.start] + _IN_EACH.sub(" ", item) if not said.field.labelled else text
    return not (
        OTHERWISE.search(inside)
        or any(is_of_their_own(scene, at) for at in {block[0].line, said.line})
        or _is_of_another_list(scene, said, block[0].line)
    )


def _is_of_another_list(scene: Scene, said: StatedField, first: int) -> bool:
    """Tell whether the list that a size stands in is opened, below the one at hand, with words about another model: ``小模型则是：``."""
    line = said.line
    while line > first and (not scene.lines[line].text.strip() or _ITEM.match(scene.lines[line].text)):
        line -= 1
    text = scene.lines[line].text
    return line > first and _OPENS_ANOTHER.search(text) is not None


_ITEM = pattern(r"\s*(?:[-*+•·]|\d{1,2}[.)、])\s?")
_OPENS_ANOTHER = pattern(r"[小大]模型|则[是为]|对照|对比|相比|变体|练习|改[动进为成]|我们|自己|学生|教师|草稿|另一")


def _is_bullet(scene: Scene, said: StatedField) -> bool:
    return re.fullmatch(r"\s*[-*+•·]\s*", scene.lines[said.line].text[: said.field.start]) is not None


def _is_said_wrong(scene: Scene, said: StatedField) -> bool:
    """Tell whether a sentence gives its one model a number of experts that it has not."""
    text, named = scene.lines[said.line].text, scene.mentions.get(said.line, ())
    before = [m for m in named if m.end <= said.field.start]
    if said.field.word not in ("experts", "active") or not _can_be_wrong(said, ("experts", "active")) or not before:
        return False
    between = text[before[-1].end : said.field.start]
    first = max(0, before[-1].column - FIELD_GAP)
    clause = _SENTENCE.split(text[said.field.end : said.field.end + FIELD_GAP])[0]
    others = any(m.names != before[-1].names for m in named if m.column >= first)
    around = _IN_EACH.sub(" ", f"{text[first : before[-1].column]} {between} {clause}")
    return not others and not _SENTENCE.search(between) and not OTHERWISE.search(around)


def _is_enumerated_wrong(scene: Scene, said: StatedField, on_line: Sequence[StatedField]) -> bool:
    """Tell whether one of the sizes that a sentence gives its one model is not the model's, though all the others are."""
    text, named = scene.lines[said.line].text, scene.mentions.get(said.line, ())
    before = [m for m in named if m.end <= said.field.start]
    if not _can_be_wrong(said, _LISTED) or not before or said.field.labelled or _ORDINAL.search(text, 0, said.field.start):
        return False
    if len(before) > 1 and _BRACKET.match(text, before[-1].end) is None:
        return False  # ``A and B have 12 layers and 16 heads``
    name = before[-1]
    of_it = [other for other in on_line if other.field.start >= name.end and other.models == said.models]
    others = [other for other in of_it if other.field.word != said.field.word]
    alone = len(of_it) - len(others) == 1
    if OTHERWISE.search(text, max(0, name.column - LEAD_LETTERS), name.column):
        return False  # ``our BERT-base (6 layers, 12 heads)``
    if len({other.field.word for other in others}) < AGREED_FIELDS and BUILT_WITH.match(text, name.end):
        return False
    clause = _SENTENCE.split(text[said.field.end : said.field.end + FIELD_GAP])[0]
    around = _IN_EACH.sub(" ", f"{text[name.end : said.field.start]} {re.split('[,，、]', clause)[0]}")
    return alone and bool(others) and all(map(_is_own, others)) and not _SENTENCE.search(around) and not OTHERWISE.search(around)


_ORDINAL = pattern(r"第\s?$")
"""Before the number of one layer of all: ``第 16 层``."""
_BRACKET = pattern(r"[*_`]*\s?[(（]")
BUILT_WITH = pattern(r"[*_`]*,? (?:(?:with|using|having) |w/(?!o))", re.IGNORECASE)
"""Behind a name, what may make another model of it: ``a BERT-base with 6 layers and 12 heads``."""
_IN_EACH = pattern(
    r"\b(?:in|for|at|per) ?(?:each|every|all|an?|the|its|their)? (?:(?:moe|sparse|transformer) )?(?:layers?|tokens?|blocks?)\b",
    re.IGNORECASE,
)
"""Words that say where experts are, and not which."""


def field_claim(scene: Scene, token: Token, word: str, value: int, right: int, verdict: str) -> Claim:
    """Make the claim of a size: exact, or wrong with the size that is right."""
    reason = () if verdict == "exact" else because(mark("{what} is {right}"), what=Sentence(SIZE_TITLES[word]), right=right)
    facts: dict[str, object] = {"value": value, "expected": right, "difference": value - right, "reason": reason}
    return claim(scene.lines, token, token, "configuration", verdict, **facts)


def _claim(scene: Scene, said: StatedField, verdict: str, right: int) -> Claim:
    token = Token("num", "", said.line, said.field.start, said.field.end)
    return field_claim(scene, token, said.field.word, said.field.value, right, verdict)
