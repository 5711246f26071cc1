"""Counts and sizes said of a family that is complete: what no GPT-3 has, of all eight, is wrong whichever is meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.count_doubts import is_hedged
from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.fields import OTHERWISE, field_claim
from weighbridge.auditing.checks.names import ANOTHER, Mention
from weighbridge.auditing.checks.nominal_sizes import sizes_of_generation
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.wrong_counts import total_claim
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import DescribedSize, find_described_sizes
from weighbridge.auditing.text.exact import Exact
from weighbridge.auditing.text.figures import is_count
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.text.rounding import likeliest_value
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import FAMILY_FAR
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import FAMILY

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_COMPLETE = frozenset(("gpt3-125m", "gpt2", "llama-7b", "llama-2-7b", "llama-3.1-8b", "gemma-2-2b", "t5-small"))
"""The first members of families that their authors have closed, and of which every size is a preset."""
_SIZES = frozenset(("layers", "heads", "hidden"))
"""Sizes that nobody chooses anew for a model of such a name; a context or a vocabulary one may."""
_GLUE = pattern(
    r"[(（](?:19|20)\d{2}(?:\s?[年./-]\s?\d{1,2}月?)?[)）]|,\s(?:an?|the|one of the)\s[^,.;:()\d]{1,60},|[\s,，、:：;；*_`\"'“”()（）-]|每一?层|模型|结构|网络|解码器|的|是|有|它|其|该|这个|共计|总计|共|总|一个|大型|自注意力|神经|拥有|具有|包含|含有?|使用了?|采用了?|由|堆叠了?|堆|叠|和|与|以及|并|最大(?:的)?(?:版本|模型)|最大|版本|则|更是|更|又|再次?|已经?|直接|一举|进一步|发布时?|推出|问世|"
    r"[。.](?=\s?(?:它|其|该模型|it |the model ))|\bno (?:less|fewer) than\b|\bthere (?:are|is)\b|\b(?:it|its|the|model|has|have|uses?|with|and|of|a|an|largest|version|is|consists|comprises)\b",
    re.IGNORECASE,
)
"""What may stand between a family's name and what is said of it without another thing being spoken of."""
_COUNTING = pattern(
    r"[把将以]|(?:模型)?规模(?=[推提扩达])|模型规模|参数(?:总?量|规模|总?数量?)?|(?:推|提升|增|扩大|扩展|增加|提高|达|高达|扩)[至到]|达到?|约为?|大约|[为]|巨大|庞大|惊人|[~≈约]|\b(?:about|parameters?|params?|count|totals?|contains?|exactly|precisely|comprises|roughly|approximately)\b",
    re.IGNORECASE,
)
"""And between it and its count."""
_COUNTED = pattern(r"\s?个?\s?(?:模型|可学习的?)?(?:参数|param(?:eter)?s?\b)(?!.{0,4}(?:增|倍|比|的\s?\d))|\s?[)）]", re.IGNORECASE)
_ANOTHER = pattern(r"\s?(?:风格|式|类|级|架构|结构的?|系列|like|style|class|-|based|基础上|论文|时代)", re.IGNORECASE)
"""Behind a family's name, what makes it something else than the models themselves."""
_BEFORE = pattern(
    r"(?:类似|相比|不同于|比|基于|参考|仿照|模仿|复现|自己的?|我们的?|一个|(?<!最)小(?:型|号)?的?|迷你|微型|袖珍|精简版?的?|简化版?的?|缩小版?的?|自定义的?|玩具(?:级|版)?的?|mini|nano|tiny|small|smaller|little|custom|modified|like|unlike|than|our|my|from|"
    r"(?:variants?|versions?|copy|clones?|replicas?|kinds?|sort) of(?: the)?|(?:pre-?)?train(?:ed)?(?: an?| the)?(?: \w+)?|(?:buil[dt]|implement(?:ed)?|wrote|made|created?)(?: an?)?(?: \w+)?)\W*$",
    re.IGNORECASE,
)


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Hold what a clause says of a family against all of its members.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    if scene.given:
        return
    for line, mentions in scene.mentions.items():
        for place, mention in enumerate(mentions) if line not in tabled else ():
            stop = mentions[place + 1].column if place + 1 < len(mentions) else len(scene.lines[line].text)
            if mention.kind == FAMILY:
                yield from _family(scene, line, mention, stop, complete=bool(_COMPLETE & set(mention.names)))


def _family(scene: Scene, line: int, mention: Mention, stop: int, *, complete: bool) -> Iterator[Claim]:
    """Check what stands behind a family's name, up to the next name; of one that is not complete, the sizes that all its members share."""
    text = scene.lines[line].text
    if _ANOTHER.match(text, mention.end) or _BEFORE.search(text, 0, mention.column) or is_of_their_own(scene, line):
        return
    sizes = [size for size in find_described_sizes(text) if mention.end <= size.first < stop]
    subject = of_mention(scene, mention, firm=False) if complete or any(size.word in _SHARED for size in sizes) else None
    if subject is None:
        return  # nothing that would be held: the family's models need not be weighed
    for size in sizes:
        if size.word in _SHARED:
            yield from _shared_size(scene, Token("num", "", line, size.start, size.end), size, mention, subject.models)
    if not complete:
        return
    yield from _sizes(scene, line, mention, subject.models, sizes)
    yield from _counts(scene, line, mention, subject.models, sizes, stop)
    yield from _check_members(scene, line, mention, subject.models)


def _sizes(scene: Scene, line: int, mention: Mention, models: Sequence[ModelValue], sizes: Sequence[DescribedSize]) -> Iterator[Claim]:
    """Check the sizes that a clause gives a family."""
    text = scene.lines[line].text
    for size in sizes:
        token = Token("num", "", line, size.start, size.end)
        if size.word not in _SIZES:
            continue
        said = _OTHER_COUNT.sub(lambda count: " " * len(count[0]), text[mention.end : size.first])
        values = sorted({value for model in models for value in values_of(model, size.word)})
        widths = {value for model in models for word in ("mlp", "head_dim", "hidden") for value in values_of(model, word)}
        if size.value in values or (size.word == "hidden" and size.value in widths):
            yield claim(scene.lines, token, token, "configuration", "exact", value=size.value, expected=size.value, difference=0)
        elif (
            values and size.value > 1 and _is_glue(said, mention.end, sizes) and not OTHERWISE.search(text[size.last : size.last + _BEHIND])
        ):
            right = min((main_values(model).get(size.word, 0) for model in models), key=lambda own: abs(own - size.value))
            listed = sorted({main_values(model).get(size.word, 0) for model in models})
            reason = because(mark("no model of this family has it; they have {values}"), values=Sentence(", ".join(map(str, listed))))
            facts: dict[str, object] = {"value": size.value, "expected": right, "difference": size.value - right, "reason": reason}
            yield claim(scene.lines, token, token, "configuration", "wrong", **facts)


def _shared_size(scene: Scene, token: Token, size: DescribedSize, mention: Mention, models: Sequence[ModelValue]) -> Iterator[Claim]:
    """Hold a size that all members share against it; others may be set, so that only a slip of it is wrong."""
    values = Counter(value for model in models for value in values_of(model, size.word))
    text = scene.lines[token.line].text
    if not values or ANOTHER.search(text, mention.end, size.first):
        return
    right, times = values.most_common(1)[0]
    if size.value in values:
        yield field_claim(scene, token, size.word, size.value, size.value, "exact")
    elif (
        right >= _LONG
        and times * 2 > len(models)
        and is_slip(str(size.value), str(right))
        and not OTHERWISE.search(_NEARLY.sub("", text[mention.end : size.last]))
    ):
        yield field_claim(scene, token, size.word, size.value, right, "wrong")


_SHARED = frozenset(("vocab", "positions"))
_LONG = 1000
_NEARLY = pattern(r"大?约|左右|最大的?上下文|最多")
_OTHER_COUNT = pattern(r"\d[\d.,]*\s?(?:亿|万|[BM](?![A-Za-z]))\s?个?(?:模型)?参数", re.IGNORECASE)
_WRITTEN_OUT = 1_000_000
"""A whole number from which on it counts parameters, where a clause speaks of them."""
_BEHIND = 4
"""Characters behind a size that may take it back: ``96 层左右``."""


def _counts(
    scene: Scene, line: int, mention: Mention, models: Sequence[ModelValue], sizes: Sequence[DescribedSize], stop: int
) -> Iterator[Claim]:
    """Check the counts that a clause gives a family."""
    text = scene.lines[line].text
    for token in tokens(text, line):
        counted = is_count(token) and (token.unit or (token.value or 0) >= _WRITTEN_OUT)
        if token.kind != "num" or not mention.end <= token.start < stop or not counted:
            continue
        said = text[mention.end : token.start]
        if _COUNTED.match(text, token.end) is None and _PARAMETERS.search(said) is None and not _goes_on(text, mention, token):
            continue
        found = settle(token, models, hedged=is_hedged(said), whole=True)
        if found is not None:
            yield total_claim(scene, token, found.verdict, found.expected, found.reason)
        elif _is_glue(_COUNTING.sub("", said), 0, ()) or _is_glue(said, mention.end, sizes):
            yield from report_no_member(scene, token, models)


def _goes_on(text: str, mention: Mention, token: Token) -> bool:
    """Tell whether a clause goes on with the counts of parameters that its sentence began with: ``GPT-1 有 1.17 亿参数，GPT-2 增加到 15 亿``."""
    start, _ = sentence_of(text, mention.column)
    return _PARAMETERS.search(text, start, mention.column) is not None and _ENDS.match(text, token.end) is not None


_ENDS = pattern(r"\s?(?:$|[,，。;；、)）](?!\d))")


def _check_members(scene: Scene, line: int, mention: Mention, models: Sequence[ModelValue]) -> Iterator[Claim]:
    """Check a list of all that a family comes in: one that no member has is wrong where the others are members' counts."""
    text = scene.lines[line].text
    listed = _LIST.match(text, mention.end)
    figures = [token for token in tokens(text, line) if listed is not None and listed.start("list") <= token.start < listed.end("list")]
    figures = [token for token in figures if token.kind == "num" and token.unit and is_count(token)]
    held = [(token, settle(token, models, hedged=False, whole=True)) for token in figures]
    fair = sum(found is not None for _, found in held)
    for token, found in held if len(held) > 1 else ():
        if found is not None:
            yield total_claim(scene, token, found.verdict, found.expected, found.reason)
        elif fair >= len(held) - 1:
            yield from report_no_member(scene, token, models)


_SIZE = r"\d[\d.,]*\s?(?:亿|万|[BM](?![A-Za-z]))(?:\s?个?参数)?"
_LIST = pattern(
    rf"(?:系列|模型|家族|一?共|总共|包[括含]了?|提供了?|发布了?|开源了?|推出了?|有|分为|涵盖|的|了|[一二三四五六七八两几\d]\s?[个种款]|不同|参数量?|规模|尺寸|版本|大小|型号|[\s,，:：*_(（]){{1,12}}(?P<list>{_SIZE}(?:\s?(?:[、,，/]|和|与|及|以及)\s?{_SIZE}){{1,9}})",
    re.IGNORECASE,
)
"""A family and the sizes that it comes in: ``Llama 2 有三个尺寸:70亿、130亿和700亿参数``."""
_PARAMETERS = pattern("参数|param|规模[推提扩达]", re.IGNORECASE)


def report_no_member(scene: Scene, token: Token, models: Sequence[ModelValue], far: Exact = FAMILY_FAR) -> Iterator[Claim]:
    """Say that no member of a family has a count, if it is far from all of theirs."""
    counts = sorted(count for model in models if (count := own_count(model)) is not None)
    number = likeliest_value(token)
    if number is None or not counts or any(abs(number - count) <= far * count for count in counts):
        return
    if any(number in sizes_of_generation(model.source) for model in models):
        return  # ``Llama 3`` may be all its releases, up to 405B
    right = min(counts, key=lambda count: max(number / count, count / number))
    reason = because(mark("no model of this family has so many; the nearest has {right}"), right=right)
    yield total_claim(scene, token, "wrong", Fraction(right), reason)


def _is_glue(said: str, start: int, sizes: Sequence[DescribedSize]) -> bool:
    """Tell whether nothing but verbs, and other sizes of the same model, stands between a name and what is said of it."""
    pieces, place = [], 0
    for size in sizes:
        if place <= size.first - start < len(said):
            pieces.append(said[place : size.first - start])
            place = size.last - start
    pieces.append(said[place:])
    return not any(_GLUE.sub("", _OF_WIDTH.sub("", piece) if index else piece) for index, piece in enumerate(pieces))


_OF_WIDTH = pattern(r"^\s?(?:的?词?向量|个)")
