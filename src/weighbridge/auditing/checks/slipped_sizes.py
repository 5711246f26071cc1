"""A size in passing that is the model's own, or one digit off it: ``each token is an 868-dimensional vector`` in a text about BERT-base (768).

The checks of stated sizes know how sizes are stated. Here a word for a width, a vocabulary or a length right beside a number of three digits
and more is enough, since hardly a number is one digit off a model's size by chance: it must be no size of any known model, and no dimension of this one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.field_values import field_values, main_values
from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.odd_sizes import COUNTS
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.slipped_counts import MADE, models_of_sentence
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.tree import list_rows
from weighbridge.presets import presets

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_LEAST, _MOST = 100, 10**6
_TELLING = 10_000
"""From which number on one digit that differs tells enough, and no word for a size need stand beside it."""
_NEAR = 40
_AHEAD = pattern(
    r"(?:\b(?:dimension(?:ality|s)?|dims?|d_model|width|hidden(?:[_ ](?:size|units|dim\w*|state))?|embedding(?:[_ ](?:size|dim\w*|matrix|table))?|vectors?|size|vocab\w*(?:[_ ]size)?|"
    r"(?:sequence|context|input)[_ ](?:length|window|size)|max(?:imum)?[_ ](?:position|sequence|seq|input)\w*(?:[_ ](?:length|len|embeddings))?|context)|"
    r"(?:特征|嵌入|隐藏|隐|词向量|向量|输出|输入|模型)?层?(?:维度?|维数|宽度|大小|规模)|词表|词汇表?|字典|词典|(?:序列|上下文|输入)(?:的?(?:最大)?长度?|窗口|最长)|最大(?:位置|序列|长度)\w{0,4})[^\d,，。;；.()（）|]{0,14}$",
    re.IGNORECASE,
)
_BEHIND = pattern(
    r"[- ]?(?:dimensional|dims?|dimensions?|d|wide|hidden|channels?)\b|[- ](?:word|token|entry|piece)[- ]?vocab\w*| (?:positions?|context)\b|\s?个?(?:维|通道|词汇|词表|位置)|的(?:词汇?表|上下文|维度)",
    re.IGNORECASE,
)
"""Words for a size right before a number, and right behind it."""
_SIZES = ("hidden", "mlp", "vocab", "positions", "head_dim", "expert_mlp", "kv_lora", "q_lora")
_OTHER_SIZES = pattern(
    r"batch|sliding|image|picture|data|corpus|patch|step|kernel|file|block|chunk|group|rank|cache|memory|font|page|sample|buffer|queue|grid|crop|resolution|learning|score|accuracy|port|"
    r"批|滑动|图像|图片|数据|语料|文件|步|秩|分辨率|样本|缓存|端口",
    re.IGNORECASE,
)
_OTHERWISE = pattern(
    r"\bthan\b|\bif\b|\binstead\b|e\.g\.|\bsay\b|example|such as|suppose|reduc|increas|chang|shrink|custom|\bset\b|our\b|\bwe\b|\bmy\b|word2vec|glove|lstm|project|down to|"
    r"比|如果|假设|例如|比如|改为|改成|缩小|增加|减少|降到|降低|设置|设为|设成|我们|自己|投影|映射|截断|微调",
    re.IGNORECASE,
)
"""Words in the clause of a size by which it may be one that somebody chose."""
_CLAUSE = pattern(r"[,，;；:：()（）。|]|\.(?!\d)")
_SENTENCE = pattern(r"[。;；!！?？|]|\.(?!\d)")
_REACH = 300


def check(scene: Scene, tabled: Collection[int], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check the sizes that no other check has settled.

    Args:
        tabled: The lines of tables whose rows or columns are models.
        claims: What has been judged.
    """
    if not scene.has_models:
        return
    rows = {line for table in scene.tables for line in table.lines}
    covered = ClaimSpans([one for one in claims if one.verdict != "unsettled"])
    for statement in scene.numbered:
        operands = {at for chain in scene.chains_of(statement) if len(chain.sides) > 1 for at in range(chain.start, chain.end)}
        for index, token in scene.figures_of(statement):
            if (
                index in operands
                or token.unit
                or token.line in tabled
                or token.line in rows
                or not token.value
                or not _LEAST <= token.value < _MOST
            ):
                continue
            line = scene.lines[token.line]
            place = line.at[token.start] if token.start < len(line.at) else 0
            if token.value.denominator == 1 and not covered.holds(line.number, place, place + 1) and not scene.is_in_name(token):
                yield from _judge(scene, token)


def _judge(scene: Scene, token: Token) -> Iterator[Claim]:
    """Check one number that has a word for a size right beside it, or is long enough to be no other."""
    text, number = scene.lines[token.line].text, int(token.value or 0)
    ahead, behind = text[max(0, token.start - _NEAR) : token.start], text[token.end : token.end + _NEAR]
    worded = _AHEAD.search(ahead) is not None or _BEHIND.match(behind) is not None
    clause = _CLAUSE.split(ahead)[-1] + "|" + _CLAUSE.split(behind)[0]
    if (
        (not worded and (number < _TELLING or number % 100 == 0 or _TOKENS.match(behind)))
        or _BESIDE.search(ahead)
        or _FOLLOWS.match(behind)
        or COUNTS.match(behind)
        or _OTHER_SIZES.search(clause)
    ):
        return
    first, last = max(0, token.start - _REACH), min(len(text), token.end + _REACH)
    start = max((found.end() for found in _SENTENCE.finditer(text, first, token.start)), default=first)
    stop = next((found.start() for found in _SENTENCE.finditer(text, token.end, last)), last)
    models = models_of_sentence(scene, token, start, stop)
    known = [word for model in models.values() for word in _SIZES if number in field_values(model).get(word, ())]
    if known:
        if worded and len(models) == 1:
            yield field_claim(scene, token, known[0], number, number, "exact")
        return
    own = is_of_their_own(scene, token.line) or (
        scene.is_at_other_sizes(token.line) and ("hidden", number) not in scene.stated_index.values
    )
    if own or _OTHERWISE.search(clause) or MADE.search(text, start, stop) or number in known_sizes():
        return
    slips = {(word, right) for model in models.values() for word, right in _slips(model, number)}
    if len({right for _, right in slips}) == 1 and not any(number in _dimensions(one) for one in models.values()):
        word, right = min(slips)
        around = _PRODUCT.sub(" ", text[max(0, start - _REACH) : last].replace(",", ""))
        if re.search(rf"(?<!\d){right}(?!\d)", around):
            return  # its own size is said as well: this one is another's
        yield field_claim(scene, token, word, number, right, "wrong")


_PRODUCT = pattern(r"\d+(?:\s?[*×∗·]\s?\d+)+")
"""A product of sizes, which is of the model that its sentence gives a size of: ``每个输出维度都是 868，参数量是 30522*768``."""


_BESIDE = pattern(r"[×x*+/^=\-–~]\s?$|[$¥€]\s?$|\d[,.]?\s?$", re.IGNORECASE)
_FOLLOWS = pattern(
    r"\s?[×*+/^%–~]|\s?x\s?\d|-\d|\s?(?:GB|MB|GPU|张|steps|epochs|年|words|sentences|images|samples|examples|hours|users|param|个?参数|biases)",
    re.IGNORECASE,
)
"""Signs and words beside a number by which it is an operand, an end of a range, or counts something else."""


_TOKENS = pattern(r"\s?个?\s?(?:tokens?|词元)", re.IGNORECASE)


def _slips(model: ModelValue, number: int) -> Iterator[tuple[str, int]]:
    """Yield the sizes of a model that a number is one digit off, and not by what is added for marks or biases."""
    own = main_values(model)
    for word in _SIZES:
        right = own.get(word, 0)
        added = right <= number <= right + _MORE_WORDS if word == "vocab" else abs(number - right) <= (_MARKS if word == "positions" else 1)
        if right >= _LEAST and len(str(right)) == len(str(number)) and is_slip(str(number), str(right)) and not added:
            yield word, right


_MARKS = 3
"""Positions that marks at the beginning and the end take, or a padding row before them adds."""
_MORE_WORDS = 128
"""Rows that others add to a vocabulary, or fill it up with."""


@lru_cache(maxsize=64)
def _dimensions(model: ModelValue) -> frozenset[int]:
    """Return every dimension of every tensor of a model, and all whole numbers of its config."""
    raw = model.description.raw if model.description is not None else {}
    return frozenset(dimension for row in list_rows(model.tree) for dimension in row.shape if isinstance(dimension, int)) | frozenset(
        _numbers(raw)
    )


@lru_cache(maxsize=1)
def known_sizes() -> frozenset[int]:
    """Return all whole numbers in the configs of known models.

    >>> {768, 30522, 11008} <= known_sizes(), 868 in known_sizes()
    (True, False)
    """
    return frozenset(number for one in presets() for number in _numbers(one.config))


def _numbers(value: object) -> Iterator[int]:
    """Yield the whole numbers of a config, in its parts too."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner)
    elif isinstance(value, int):
        yield value
