"""Sizes that nobody has: one digit off that of a model the text names, in a clause about such a size.

``slipped_sizes`` asks for the word right beside the number and for the one model of the sentence. Here the number says more: no known model has it, people who
choose a size choose a round one, and of all the models that the text names just one size is called so and is one digit off. Whose clause it is matters little then.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from weighbridge.auditing.checks.covered import ClaimSpans
from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sister_models import sisters
from weighbridge.auditing.checks.slipped_counts import MADE, models_of_sentence
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.tree import list_rows
from weighbridge.presets import presets

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_NUMBER = pattern(
    r"(?:(?<![A-Za-z0-9_.,/^$€£¥#+~–-])(?<!\d )|(?<=size-)|(?<=\d,)(?=\d{3,6}(?!,?\d)))(?:\d{1,3}(?:,\d{3})+|\d{3,6})"
    r"(?![A-Za-z0-9_%‰](?!d\b)|[.,:/^–~]\d|\s?[*×+/^]|\s?=\s?\d|\s?x\s?\d|-\d| \d{3}\b)"
)
"""A whole number of three to six digits that is no part of a formula, of a range, of a date or of a larger number."""
_KINDS: Mapping[str, re.Pattern[str]] = {
    "width": pattern(
        r"\b(?:dim(?:s|ension(?:al|ality|s)?)?|d_?model|n_?embd|hidden|embeddings?|vectors?|width|wide|channels?|feed-?forward|ffn|mlp|intermediate|projection|latent)\b|\d-?d\b|"
        r"维|宽度|隐藏|隐层|嵌入|向量|通道|前馈|中间层|升维|降维|特征",
        re.IGNORECASE,
    ),
    "vocab": pattern(r"\bvocab\w*|\bword[- ]?pieces?\b|\btokenizer\b|\bbpe\b|\bdictionary\b|词表|词汇|字典|词典|分词|个[字词]", re.IGNORECASE),
    "positions": pattern(
        r"\bcontext[- ](?:length|window|size)|\bcontext of\b|\bmax(?:imum|_position\w*)?\b[^,;]{0,24}\b(?:length|tokens|positions?|sequence)|\bsequence[- ]length|\bsequences? (?:of )?up to|"
        r"\bup to [\d,]+ tokens|\bpositions?\b|\bposition embedding|上下文|最大\S{0,6}长度|最长|序列长度|位置",
        re.IGNORECASE,
    ),
}  # fmt: skip
"""Words of a clause that say which kind of size its numbers may be."""
_OF_KIND = {"width": ("hidden", "mlp", "head_dim"), "vocab": ("vocab",), "positions": ("positions",)}
_BESIDE = pattern(
    r"(?:\b(?:dim(?:ension\w*)?|d_?model|n_embd|width|hidden(?:[_ ](?:size|units|dim\w*|state))?|embedding(?:[_ ](?:size|dim\w*))?|vectors?|vocab\w*(?:[_ ]size)?|context(?:[_ ](?:length|window|size))?|"
    r"(?:size|length|list|dimension) of)|(?:维度?|宽度|维数|大小|规模|长度|窗口|词表|词汇))[^\d,，。;；()（）|]{0,12}$",
    re.IGNORECASE,
)
_BEHIND = pattern(
    r"[- ]?(?:dim(?:s|ension\w*)?|d|wide|hidden|channels?)\b|[- ](?:word|token|entry)?[- ]?vocab\w*| (?:positions?|context)\b|\s?个?的?\s?(?:隐藏层?|嵌入|词嵌入|词)?(?:维|通道|词汇|词表|上下文)",
    re.IGNORECASE,
)
"""A word for a size right before a number, and right behind it: whatever else the clause speaks of, the number is of that."""
_ANYTHING_ELSE = pattern(
    r"batch|sliding|image|picture|pixel|resolution|data|corpus|patch|step|epoch|kernel|file|block size|chunk|group|rank|cache|memory|page|sample|buffer|queue|grid|crop|learning|score|accuracy|port\b|"
    r"gpus?\b|hours?|users?|languages?|frames?|hz\b|seconds?|\bms\b|classes|labels?|documents?|articles?|points?\b|training length|\$|"
    r"批|滑动|图像|图片|像素|数据|语料|文件|步|秩|分辨率|样本|缓存|端口|显存|语言|语种|帧|秒|类别|标签|文档|文章|卡|小时|训练长度",
    re.IGNORECASE,
)
COUNTS = pattern(
    r"\s?(?:条|篇|份|张|次|组|对|句|段|个(?:向量|样本|文档|句子|特征|节点))|\s(?:[\w-]+\s)?(?:vectors|embeddings|sentences|words|vocabularies|examples|items|passages|features|projections|words|experts)\b(?! long)",
    re.IGNORECASE,
)
"""Right behind a number, what it counts many of."""
_SOME = pattern(r"(?:第|前|后|每|top[- ]?|first |last |next |every |each )$", re.IGNORECASE)
_CHANGED = pattern(
    r"reduc|shrink|prun|\bpad|extend|truncat|concat|\bplus\b|\bpca\b|project(?:ed|s|ing)? (?:down|to)|resiz|custom|\bnew\b|\bextra\b|additional|缩|剪|扩|拼接|填充|截断|自定义|新增",
    re.IGNORECASE,
)
"""Words of a clause by which a number is what somebody made of a size."""
_SUPPOSED = pattern(
    r"\b(?:if|suppose|imagine|would|could|instead of|rather than|our|my|originally|initially|at first|early|earlier|say)\b|如果|假如|假设|要是|倘若|换成|改[为成]|我们|自己|最初|原先|起初|早期",
    re.IGNORECASE,
)
"""Words of a sentence by which a number is no size that the model has, or has now."""
_CLAUSE = pattern(r"[,，;；。:：()（）|]|\.(?!\d)")
_REACH = 48
_LEAST_VOCAB = 1000
_YEARS = range(1900, 2100)
_MOST_MODELS = 12


def check(scene: Scene, tabled: Collection[int], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check the sizes that no other check has settled.

    Args:
        tabled: The lines of tables whose rows or columns are models.
        claims: What has been judged.
    """
    if not scene.has_models:
        return
    covered = ClaimSpans([one for one in claims if one.verdict != "unsettled"])
    rows = {line for table in scene.tables for line in table.lines}
    for index in scene.counted_lines:
        line = scene.lines[index]
        if index in tabled or index in rows or len(line.text) > LONGEST:
            continue
        for found in _NUMBER.finditer(line.text):
            token = Token("num", found[0], index, found.start(), found.end())
            place = line.at[found.start()] if found.start() < len(line.at) else 0
            if not scene.is_in_name(token) and not covered.holds(line.number, place, place + 1):
                yield from _judge(scene, token, int(found[0].replace(",", "")))


def _judge(scene: Scene, token: Token, number: int) -> Iterator[Claim]:
    text = scene.lines[token.line].text
    kinds = _kinds_of(scene, token)
    if (
        not kinds
        or _SUPPOSED.search(text, *sentence_of(text, token.start))
        or (number in _YEARS and not _is_beside(text, token.start, token.end))
        or MADE.search(text, *sentence_of(text, token.start))
    ):
        return
    models = _models(scene, token)
    if any(number in _dimensions(model) for model in models):
        return
    slips = {
        (word, right)
        for word in kinds
        if number not in _known(word)
        for model in models
        for right in values_of(model, word)
        if _is_odd(word, number, right)
    }
    if len({right for _, right in slips}) == 1:
        word, right = min(slips)
        yield field_claim(scene, token, word, number, right, "wrong")


def _is_beside(text: str, start: int, end: int) -> bool:
    return _BESIDE.search(text, max(0, start - _REACH), start) is not None or _BEHIND.match(text, end) is not None


def _kinds_of(scene: Scene, token: Token) -> list[str]:
    """Return which sizes the words of a number's clause may mean; none where it may count something else."""
    text = scene.lines[token.line].text
    ahead, behind = text[max(0, token.start - _REACH) : token.start], text[token.end : token.end + _REACH]
    if COUNTS.match(behind) or _SOME.search(ahead):
        return []
    ahead = _LABEL_ENDS.sub(" ", ahead)
    clause = f"{_CLAUSE.split(ahead)[-1]} {token.text}{_CLAUSE.split(behind)[0]}"
    if _ALONE.fullmatch(text) is not None:
        clause = next((text for line in range(token.line - 1, max(-1, token.line - 3), -1) if (text := scene.lines[line].text).strip()), "")
    if _CHANGED.search(clause) or (_ANYTHING_ELSE.search(clause) and not _is_beside(text, token.start, token.end)):
        return []
    return [word for kind, words in _KINDS.items() if words.search(clause) for word in _OF_KIND[kind]]


_LABEL_ENDS = pattern(r"(?:\s?[(（][^()（）]{1,40}[)）])?[*_`\"' ]*[:：=][*_`\"' ]*$")
"""The end of a label right before its number: ``Dimension (dim): ``."""
_ALONE = pattern(r"[\s*_`~≈-]*[\d,]+[\s*_`]*")
"""A line that is a number, whose label is the line above."""


def _models(scene: Scene, token: Token) -> Sequence[ModelValue]:
    """Return the models of a number's sentence, or else all that the text names, if they are few."""
    text = scene.lines[token.line].text
    start, stop = sentence_of(text, token.start)
    found = models_of_sentence(scene, token, start, stop)
    if found:
        return list(found.values())
    if any(start <= one.column < stop for one in scene.mentions.get(token.line, ())):
        return ()
    pool = sisters(scene)
    return pool if len(pool) <= _MOST_MODELS and scene.known_only else ()


def _is_odd(word: str, number: int, right: int) -> bool:
    """Tell whether a number is a size but for one digit, and none that anybody would choose."""
    one, other = str(number), str(right)
    if len(one) != len(other) or sum(a != b for a, b in zip(one, other, strict=True)) != 1:
        return False
    if word == "vocab":
        return number >= _LEAST_VOCAB and number % _LEAST_VOCAB != 0 and not 0 <= number - right <= _MORE_WORDS
    if word == "positions":
        return abs(number - right) > _MARKS and all(number % step for step in _ROUND_LENGTHS)
    return all(number % step for step in _ROUND_WIDTHS) and abs(number - right) > 1


@lru_cache(maxsize=8)
def _known(word: str) -> frozenset[int]:
    """Return the numbers of known configs that may be a size of this kind."""
    return frozenset(number for one in presets() for number in _numbers(one.config, word))


def _numbers(value: object, word: str, key: str = "") -> Iterator[int]:
    """Yield the whole numbers of a config, but for those whose keys say that they are of another kind."""
    if isinstance(value, Mapping):
        for inner_key, inner in value.items():
            yield from _numbers(inner, word, str(inner_key))
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, word, key)
    elif isinstance(value, int):
        kind = "vocab" if "vocab" in key else "positions" if _LENGTH_KEY.search(key) else "width" if _WIDTH_KEY.search(key) else ""
        if kind in ("", word) or (kind == "width" and word in _OF_KIND["width"]):
            yield value


_LENGTH_KEY = pattern(r"position|n_ctx|seq|length|window|context")
_WIDTH_KEY = pattern(r"hidden|embd|d_model|dim|intermediate|ffn|d_ff|inner|width|channels")


_MORE_WORDS = 128
"""Rows that others add to a vocabulary, or fill it up with."""
_MARKS = 3
_ROUND_LENGTHS = (32, 50)
_ROUND_WIDTHS = (32, 100)
"""Lengths and widths that people choose are multiples of these."""


@lru_cache(maxsize=64)
def _dimensions(model: ModelValue) -> frozenset[int]:
    """Return every dimension of every tensor of a model."""
    return frozenset(dimension for row in list_rows(model.tree) for dimension in row.shape if isinstance(dimension, int))
