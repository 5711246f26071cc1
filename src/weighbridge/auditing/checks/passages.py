"""Sizes that running text gives a model: wrong where all else that the passage says of it is the model's own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.count_subjects import goes_on_elsewhere
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.fields import OTHERWISE, field_claim
from weighbridge.auditing.checks.plain_fields import is_fair_vocabulary
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.said_again import is_said_again, is_said_in_both
from weighbridge.auditing.checks.said_sizes import SaidSize, passages
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import brings_one_more
from weighbridge.auditing.checks.size_doubts import belongs_to_a_part, is_of_their_own
from weighbridge.auditing.checks.topics import CLAUSE, is_composite, is_size_of
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import AGREED_FIELDS

_BUILT = pattern(r"[*_`]*,? (?:with (?:only )?|w/|using |having |reduced to |cut to |\()", re.IGNORECASE)
_RIGHT = frozenset(("exact", "rounded", "convention", "note"))
_LENGTHS = (32, 50)
"""A text may set as it likes how long a sequence is, and sets it to a multiple of one of these: ``2048``, ``100``."""


def check(scene: Scene, tabled: Collection[int], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check the sizes of running text; one is wrong if it is the only one of its passage that is not its model's.

    Args:
        tabled: The lines of tables whose rows or columns are models.
        claims: What is judged so far: a count that is right is evidence, as a size is.
    """
    counted = {claim.line for claim in claims if claim.kind in ("total", "component") and claim.verdict in _RIGHT}
    totals = {(claim.line, claim.start) for claim in claims if claim.kind == "total" and claim.verdict in _RIGHT}
    found = passages(scene, tabled)
    of_model: dict[str | None, list[SaidSize]] = {}
    for passage in found:
        of_model.setdefault(passage[0].mention.name, []).extend(passage)
    for passage in found:
        kinds = {said.size.word for said in passage if said.own} | {"count" for said in passage if scene.lines[said.line].number in counted}
        others = [said for said in passage if not said.own and not is_size_of(said.models, said.size)]
        for said in passage:
            if said.own and not scene.is_judged(said.line, said.size.start, said.size.end):
                yield _claim(scene, said, "exact", said.size.value)
        if len(others) != 1:
            continue
        enough = (
            len(kinds - {others[0].size.word}) >= AGREED_FIELDS
            or _is_alone(others[0], of_model[passage[0].mention.name])
            or _is_behind_count(scene, others[0], totals)
            or is_said_in_both(others[0], passage)
        )
        if enough and _is_sure(scene, others[0], passage, kinds):
            right = _right_value(others[0], passage)
            if right is not None:
                yield _claim(scene, others[0], "wrong", right)


def _is_alone(other: SaidSize, of_model: Sequence[SaidSize]) -> bool:
    """Tell whether a size is the only one of all that the text says of a model that is not the model's, and three others are."""
    kinds = {said.size.word for said in of_model if said.own} - {other.size.word}
    return len(kinds) > AGREED_FIELDS and all(said is other or said.own or is_size_of(said.models, said.size) for said in of_model)


def _is_behind_count(scene: Scene, said: SaidSize, totals: Collection[tuple[int, int]]) -> bool:
    """Tell whether a size goes on from its model's right count: ``Llama 2 7B has 6.74B parameters: 32 layers``."""
    line = scene.lines[said.line]
    count = _COUNT_BEFORE.search(line.text, max(0, said.size.first - _LEAD * 2), said.size.first)
    goes_on = count is not None and _LIST_GOES_ON.match(line.text, said.size.end) is not None
    return count is not None and goes_on and (line.number, line.at[count.start()]) in totals


_COUNT_BEFORE = pattern(
    r"(?<![\d.,])\d[\d.,]*\s?(?:[BM]|billion|million|亿|万)?\s?(?:param(?:eter)?s|个?参数)[)）]?\s?(?:[:：,，;；(（]|in|with|and|over|across|并|,?共)?\s?(?:its |the |an? )?$",
    re.IGNORECASE,
)


_LIST_GOES_ON = pattern(
    r"\s?个?(?:(?:transformer|decoder|encoder|attention|query) ?){0,2}(?:layers?|blocks?|heads?|层|头)?\s?(?:$|[.。,，、;；)）](?!\d)|and\b|each\b|with\b)",
    re.IGNORECASE,
)
"""A count before a size, and what stands behind a size of a list: ``36 layers, each with``; not ``30 layers of which I froze``."""


def _is_sure(scene: Scene, said: SaidSize, passage: Sequence[SaidSize], kinds: Collection[str]) -> bool:
    """Tell whether a size is said of the model itself: no words of its clause, or beside the name, make it another's."""
    size, text = said.size, scene.lines[said.line].text
    if (
        size.value <= 1
        or belongs_to_a_part(text, size.end)
        or is_of_their_own(scene, said.line)
        or (size.word == "positions" and not _is_mistyped_length(said))
    ):
        return False
    if brings_one_more(text, size):
        return False
    if _SETTING.search(text, 0, size.start) and not _is_mistyped_setting(said, kinds):
        return False
    if goes_on_elsewhere(text, scene.mentions.get(said.line, ()), size.first, size.last):
        return False
    mention = said.mention
    on_line = mention in scene.mentions.get(said.line, ()) and mention.end <= size.first
    if on_line and _MADE_FROM.match(text, mention.end, size.first):
        return False
    right_behind = on_line and _HAS.fullmatch(text, mention.end, size.first) is not None
    same = [
        other
        for other in passage
        if other is not said and other.size.word == size.word and other.size.value in values_of(said.models[0], size.word)
    ]
    alone = len(values_of(said.models[0], size.word)) == 1
    again = alone and is_said_again(scene, said.line, size, [(other.line, other.size) for other in same])
    again = again or (alone and is_said_in_both(said, passage)) or _is_of_all(text, said, same, kinds)
    if same and not right_behind and _unsaid_size(said, same) is None and not again:
        return False  # two numbers of layers: one of them is of something else
    first = max((m.end() for m in CLAUSE.finditer(text, 0, size.first)), default=0)
    stop = next((m.start() for m in CLAUSE.finditer(text, size.last)), len(text))
    around = ("" if right_behind else text[first : size.first]) + " " + text[size.end : stop]
    lead = text[max(0, mention.column - _LEAD) : mention.column] if on_line else ""
    built = (
        on_line
        and _BUILT.match(text, mention.end) is not None
        and len({other.size.word for other in passage if other.own}) <= AGREED_FIELDS
    )
    return not (OTHERWISE.search(_IN_EACH.sub(" ", around)) or _UNLIKE.search(lead) or built)


def _is_of_all(text: str, said: SaidSize, same: Sequence[SaidSize], kinds: Collection[str]) -> bool:
    """Tell whether words speak of all layers, or of their stack, and of the model's number but for one digit: ``the stack of 72 identical layers``."""
    of_all = said.size.word == "layers" and _ALL.search(text, 0, said.size.first) is not None
    slips = all(is_slip(str(said.size.value), str(other.size.value)) for other in same)
    return of_all and slips and len(set(kinds) - {"layers"}) > AGREED_FIELDS


_ALL = re.compile(r"\b(?:all|(?:the|a) stack of|stacked)\s$", re.IGNORECASE)


def _is_mistyped_length(said: SaidSize) -> bool:
    """Tell whether a length is one that the model has but for a slip of the keys, and none that anybody would choose."""
    chosen = any(said.size.value % step == 0 for step in _LENGTHS)
    return not chosen and any(is_slip(str(said.size.value), str(right)) for right in values_of(said.models[0], "positions"))


_SETTING = pattern(r"\w\s?(?:: ?[\w\[\] |]{2,16})? ?=\s?$")
"""What stands before a value that code gives a setting: others make a model of one's own."""


def _is_mistyped_setting(said: SaidSize, kinds: Collection[str]) -> bool:
    """Tell whether a setting is the model's but for a slip of the keys, and three others beside it are the model's."""
    right = main_values(said.models[0]).get(said.size.word)
    return right is not None and len(set(kinds) - {said.size.word}) > AGREED_FIELDS and is_slip(str(said.size.value), str(right))


_HAS = pattern(
    r"[*_`'\"]{0,3}\s?(?:(?:has|have)(?: only)?|only has|[:：]|uses|stacks|consists of|comprises|[只仅]?有|由|共)\s?(?:an?|the|共)?\s?[*_`]{0,3}",
    re.IGNORECASE,
)
_MADE_FROM = pattern(r"\s?(?:蒸馏|剪枝|裁剪|压缩|改造|初始化)")
"""Right behind a name, what makes it the model that another one came from: ``由 bert-base-chinese 蒸馏得到``."""
_LEAD = 24
_IN_EACH = pattern(
    r"\b(?:in|for|at|per|of) ?(?:each|every|all|an?|the|its|their)? (?:(?:moe|sparse|transformer|decoder|encoder) )?(?:layers?|tokens?|blocks?)\b|\b(?:each|every)\b|每一?层(?:都?有|包?含|使用|的)?|每个(?:编码器|解码器|层|block)(?:都?有|包?含|使用|的)?",
    re.IGNORECASE,
)
_UNLIKE = pattern(
    r"\b(?:our|my|a|an|custom|like|unlike|than|from|scratch|reduced|smaller|larger|pruned|modified|toy|tiny version of|half of)\W*$|类似|不同于|比|我们的|自己的|简化的",
    re.IGNORECASE,
)
"""Right before a name, what makes another model of it: ``our BERT-base``."""


def _unsaid_size(said: SaidSize, same: Sequence[SaidSize]) -> int | None:
    """Return the one size of its kind that a model has and the passage does not say: where a model has two widths, the second."""
    values = values_of(said.models[0], said.size.word)
    rest = values - {other.size.value for other in same}
    return next(iter(rest)) if len(values) > 1 and len(rest) == 1 else None


def _right_value(said: SaidSize, passage: Sequence[SaidSize]) -> int | None:
    model, word = said.models[0], said.size.word
    values = values_of(model, word)
    left = _unsaid_size(said, [other for other in passage if other is not said and other.size.word == word])
    right = left if left is not None else main_values(model).get(word, max(values, default=0))
    if word == "positions":
        right = next((value for value in sorted(values) if is_slip(str(said.size.value), str(value))), 0)
    if left is None and len(values) > 1 and any(map(is_composite, said.models)):
        meant = [value for value in values if is_slip(str(said.size.value), str(value))]
        right = meant[0] if len(meant) == 1 else 0  # one of its models is meant: the one whose size this is but for a slip
    if (
        not values
        or not right
        or (left is None and word == "head_dim" and len(values) > 1)
        or (word == "vocab" and is_fair_vocabulary(said.size.value, right))
    ):
        return None
    return right


def _claim(scene: Scene, said: SaidSize, verdict: str, right: int) -> Claim:
    token = Token("num", "", said.line, said.size.start, said.size.end)
    return field_claim(scene, token, said.size.word, said.size.value, right, verdict)
