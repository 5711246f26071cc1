"""A figure in bytes held against the model's weights in the dtypes that are said of it, or against what its training keeps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from weighbridge.auditing import patterns
from weighbridge.auditing.byte_thresholds import MEMORY_FAR, MEMORY_TOLERANCE, NEEDED_FAR, WEIGHTS_FAR
from weighbridge.auditing.checks.amounts import SENTENCE, Amount, Figure, hold
from weighbridge.auditing.checks.dtypes import bytes_each, dtype_sizes
from weighbridge.auditing.checks.dtypes_beside import dtype_before, is_anothers_dtype, nearest_dtype
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene, words_of
from weighbridge.auditing.checks.training_states import is_of_training, state_bytes
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.exact import Exact, as_exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.settings import read_settings
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.auditing.text.tables import Table
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


WEIGHTS = patterns.pattern(
    r"weights?|param(?:eter)?s?\b|model|load|store|checkpoint|requires?\b|needs?\b|takes?\b|权重|参数|模型|加载|显存|占用|需要",
    re.IGNORECASE,
)
_ELSE = patterns.pattern(
    r"\bfits?\b|放得|装得|train|optimi[sz]er|gradient|activation|adam|total of|at least|minimum|recommend|require|need(?:s|ed)? (?:at|about)|gpu|训练|优化器|梯度|激活|至少|推荐|以上|vram|lora|batch|剩|空闲|可用|只有",
    re.IGNORECASE,
)
_SIZE = patterns.pattern(
    r"(?<![A-Za-z0-9_.])(?!(?<=[×*])[1248]\s?B(?![A-Za-z0-9]))(\d+(?:\.\d+)?)\s?([KMBT]|billion|亿|万|[×*x] ?10\^\(?9\)?|e9)(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
STORED = patterns.pattern(r"weights?\b|权重", re.IGNORECASE)
_OF_WEIGHTS = patterns.pattern(r"weights?\b|权重|model (?:size|itself|takes|needs)", re.IGNORECASE)
_FOR_WEIGHTS = patterns.pattern(
    r"\s*(?:of )?(?:(?:gpu|video|device) )?(?:(?:memory|v?ram|显存) )?(?:(?:just|only|simply) )?(?:for|of|to (?:store|hold|load)) (?:its|the|all)?\s?(?:model )?"
    r"(?:weights?|param\w*)\b(?!\W{0,2}(?:(?:and|plus|or) )?(?:the |its )?(?:grad|optim|activ|kv|cache|buffer))",
    re.IGNORECASE,
)
"""Words right behind a figure by which it is the weights' and nothing else."""
_WEIGHTS_TAKE = patterns.pattern(
    r"(?:\bweights?|\bparam(?:eter)?s)(?: of [\w.\- ]{2,30}?)?(?: alone)? (?:would |will )?(?:takes?|needs?|occup(?:y|ies)|requires?|uses?|are|is|shrinks? to|amounts? to|come to)(?: up)?"
    r"(?: (?:about|around|only|just|roughly|approximately))?\W{0,2}$|(?:权重|参数存储|(?:fp ?16|bf16|fp ?32|int8|半精度|单精度)\s?(?:存储|保存))(?:本身|就|也|要|得|约|大约|大概|占用?|需要?|为|是|只|仅|共|大小|存储|的|显存|[\s:：])*$",
    re.IGNORECASE,
)
"""And words right before it."""
_BROUGHT_TO = patterns.pattern(
    r"\b(?:brings?|cuts?|reduces?|gets?|shrinks?|takes?) (?:that|it|this|them) (?:down )?to(?: (?:about|around|only|just|roughly))?\W{0,2}$",
    re.IGNORECASE,
)
"""Behind the figure of the weights, what another dtype makes of it."""
_SERVED = patterns.pattern(r"\b(?:to )?serv(?:e|ing)\b", re.IGNORECASE)
"""What the weights are held for, where the figure is said to be theirs alone."""
_SAID_OF = patterns.pattern(
    r"\d(?:\.\d+)?\s?(?:[BM]|billion|million|亿|十亿|百万)(?: |-)?(?:param(?:eter)?s?|个?参数(?:的?(?:大?(?:语言)?模型|LLM))?|模型|model)(?:\W{1,3}|(?=在))(?:(?:在|下|时|精度|格式|仅|大约|加载|存储|weights?|takes?|needs?|is|=|in|at|of|权重|占用?|需要?|约|为|fp16|bf16|fp32|float\d\d|int8|的?模型|显存|内存)\W{0,3}){0,5}[~≈]?$",
    re.IGNORECASE,
)
"""A size in so many words right before its bytes, and nothing between that could mean anything else."""
_PARTS = patterns.pattern(
    r"\b(?:per(?! param)|each(?! param)|every|shards?|split|tp|pp|\w*parallel\w*|devices?|cards?|nodes?|active|embeddings?|head|keys?|values?|tokens?|lora|adapter|layer|ram|peak|overhead|during|serv\w*|cache|context|both|two|cop(?:y|ies))\b|每(?!个?参数)|并行|嵌入|单卡|张|层|分到|缓存|上下文|峰值",
    re.IGNORECASE,
)
_NEEDED = patterns.pattern(r"memory|ram\b|usage|need|requir|显存|内存|占用", re.IGNORECASE)


class FigureInBytes(NamedTuple):
    """A figure in bytes as it is read: the words about it, its table, and what it may be of.

    Attributes:
        place: The figure and its words, those of its column's head before them.
        table, head: The table that it stands in, and what heads its column there.
        start: Where its sentence begins.
        around: The words that are said of its whole table or list.
        models, sure: The models that it may be of, and whether that is sure.
    """

    place: Figure
    table: Table | None
    head: str
    start: int
    around: str
    models: tuple[ModelValue, ...]
    sure: bool

    @property
    def text(self) -> str:
        """The line that it stands in."""
        return self.place.scene.lines[self.place.token.line].text


def judge_weights(said: FigureInBytes) -> Claim | None:
    """Hold a figure against the model's parameters in the dtypes that are said of it, or against what its training keeps."""
    place, text, in_table = said.place, said.text, said.table is not None
    weighed = _words_of_weights(said)
    sizes = _dtypes_of(said, taken=weighed.taken)
    told = sizes or dtype_sizes(said.around)
    state = [] if "权重" in weighed.taken else state_bytes(place)
    if (len(told) > 1 or not (weighed.brought or WEIGHTS.search(f"{said.around} {place.sentence}"))) and not state and not in_table:
        return None
    said_of = _SAID_OF.search(text[said.start : place.token.start]) is not None
    counts = _counts(said, said_first=said_of)
    amounts = _amounts_of(counts, state or told or _usual_sizes(place, in_table=in_table))
    alone_on_line = said.sure and not _has_other_sizes(place.scene, place.token.line, text, counts) and not _has_other_widths(said)
    if state and not in_table and is_of_training(place, bytes_each(place.sentence)):
        return hold(place, amounts, firm=alone_on_line, base=1000)
    if _is_of_a_machine(said, sizes):
        return hold(place, amounts, firm=False, base=1000)
    place = place._replace(far=_least_error(said, amounts, sizes, weighed=weighed.any, said_of=said_of))
    parted = _PARTS.search(_own_words(said, alone=weighed.alone)) is not None
    certain = (
        len(sizes) == 1 and not parted and not _is_of_another_dtype(said) and (weighed.any or not (state or _ELSE.search(place.sentence)))
    )
    if said_of and len(_SIZE.findall(place.sentence)) == 1 and not _PARTS.search(place.sentence):
        return hold(place, amounts, firm=certain, base=1000)  # ``7B params (14 GB in bf16)``: whatever the model is called
    return hold(place, amounts, firm=certain and alone_on_line, base=1000)


class _WordsOfWeights(NamedTuple):
    """What says that a figure is the weights' and nothing else: words before it, behind it, or that bring the weights to it."""

    taken: str
    alone: bool
    brought: bool

    @property
    def any(self) -> bool:
        """Whether anything says so."""
        return bool(self.taken) or self.alone or self.brought


def _words_of_weights(said: FigureInBytes) -> _WordsOfWeights:
    text, token = said.text, said.place.token
    before = text[said.start : token.start]
    taken = _WEIGHTS_TAKE.search(before)
    brought = _BROUGHT_TO.search(before) is not None and STORED.search(text[: said.start]) is not None
    return _WordsOfWeights(taken[0] if taken else "", _FOR_WEIGHTS.match(text, token.end) is not None, brought)


def _dtypes_of(said: FigureInBytes, *, taken: str) -> list[Fraction]:
    """Return the bytes of an element by the dtypes of a figure's sentence, the nearest alone where one is said of the figure."""
    text, sentence = said.text, said.place.sentence
    sizes = nearest_dtype(text, said.place.token, said.start) or dtype_sizes(sentence) or bytes_each(sentence)
    return sizes or (dtype_before(text[: said.start]) if taken and not text.isascii() else [])


def _is_of_another_dtype(said: FigureInBytes) -> bool:
    """Tell whether the dtype of a Chinese sentence is said of another figure in it."""
    nearest = nearest_dtype(said.text, said.place.token, said.start)
    return not nearest and not said.text.isascii() and is_anothers_dtype(said.place.sentence, said.place.token.text)


def _counts(said: FigureInBytes, *, said_first: bool) -> list[Fraction]:
    """Return the counts of parameters that a figure may be of: those said before it in its row or sentence, and its models' own."""
    token, place = said.place.token, said.place
    row = said.text[: token.start] if said.table is not None else place.text[: token.start - max(0, token.start - SENTENCE)]
    written = [_amount(match) for match in _SIZE.finditer(row)]
    own: list[Fraction] = [Exact(count) for model in said.models if (count := own_count(model)) is not None]
    return written + own if said_first else own + written


def _own_words(said: FigureInBytes, *, alone: bool) -> str:
    """Return the words of a figure's sentence, up to the next comma behind it."""
    sentence, token = said.place.sentence, said.place.token
    end = token.start - said.start + len(token.text)
    words = sentence[:end] + re.split("[,，]", sentence[end:])[0]
    return _SERVED.sub("", words) if alone else words


def _is_of_a_machine(said: FigureInBytes, sizes: Sequence[Fraction]) -> bool:
    """Tell whether a column holds what a machine needs, which has more in it than the weights."""
    if said.table is None or STORED.search(said.head):
        return False
    needed = _NEEDED.search(said.head) is not None and said.place.far == MEMORY_FAR
    return min(sizes, default=Exact(1)) < 1 or needed


def _least_error(said: FigureInBytes, amounts: Sequence[Amount], sizes: Sequence[Fraction], *, weighed: bool, said_of: bool) -> Fraction:
    """Return how many times a figure must be off to be wrong: less where the weights alone are said, more where they run packed."""
    far = said.place.far
    if (weighed or said_of) and min(sizes, default=Exact(0)) >= 1:
        far = min(far, WEIGHTS_FAR)
    packed = said.table is None and not weighed and min(sizes, default=Exact(2)) <= 1
    return max(far, NEEDED_FAR) if packed and _exceeds(said.place.token, amounts) else far


def _exceeds(token: Token, amounts: Sequence[Amount]) -> bool:
    """Tell whether a figure is above all that the weights may be: what runs in 4 bits needs more, ``INT4 约 6GB`` of 6.2B."""
    said = (token.value or 0) * min(UNITS[token.unit])
    return all(said > amount.number for amount in amounts)


def _usual_sizes(place: Figure, *, in_table: bool) -> list[Fraction]:
    """Return the bytes of an element that may be meant where a text names none."""
    if _OF_WEIGHTS.search(place.sentence):
        return [Exact(2), Exact(4)]
    return [Exact(4), Exact(2), Exact(1), Exact(1, 2)] if in_table else []


def _amounts_of(counts: Sequence[Fraction], sizes: Sequence[Fraction]) -> list[Amount]:
    return [
        Amount(count * size, mark("{count} parameters of {size} bytes"), {"count": count, "size": size})
        for size in sizes
        for count in counts
    ]


def _has_other_sizes(scene: Scene, line: int, text: str, own: Sequence[Fraction]) -> bool:
    """Tell whether sizes stand in a line that are no part of a model's name, nor its count: the figure may be of any of them."""
    named = scene.mentions.get(line, ())
    found = (match for match in _SIZE.finditer(text) if not any(m.column <= match.start() < m.end for m in named))
    return any(all(abs(size - count) > MEMORY_TOLERANCE * count for count in own) for size in map(_amount, found))


def _has_other_widths(said: FigureInBytes) -> bool:
    """Tell whether the sentence states layers, heads or a width that are no model's that the figure may be of: ``For 32 layers, 32 heads, `d_model=4096` ``."""
    text, stop = said.text, said.place.token.start
    stated = [(size.word, size.value) for size in find_described_sizes(text) if said.start <= size.start < stop]
    stated += [
        (one.kind, int(text[one.start : one.end].replace(",", "")))
        for one in read_settings(text)
        if said.start <= one.start < stop and text[one.start : one.end].replace(",", "").isdigit()
    ]
    return any(all(words_of(model).get(word, value) != value for model in said.models) for word, value in stated if word in _WIDTHS)


_WIDTHS = frozenset(("layers", "heads", "hidden"))


def _amount(match: re.Match[str]) -> Fraction:
    return _times_unit(match[1], match[2].lower())


@lru_cache(maxsize=4096)
def _times_unit(number: str, unit: str) -> Fraction:
    scale = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12, "billion": 10**9, "亿": 10**8, "万": 10**4}.get(unit, 10**9)
    return as_exact(Exact(number) * scale)
