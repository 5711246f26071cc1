"""Sentences that give one model sizes and say nothing else: ``Mistral 7B has 32 layers and a hidden size of 4096``."""

from __future__ import annotations

import re

from weighbridge.auditing import patterns
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.auditing.text.owners import is_of_a_part
from weighbridge.auditing.text.phrases import as_trie
from weighbridge.auditing.text.size_words import LOOSE, SIZES
from weighbridge.core._namedtuple import NamedTuple


class PlainSize(NamedTuple):
    """A size that a plain sentence gives its model: our word for it, the number, and where that stands."""

    word: str
    value: int
    start: int
    end: int


NAME = "\x00"
"""What stands for the model's name in a sentence that is read here."""

_NUMBER = r"(?P<number>\d{1,3}(?:,\d{3})+|\d{1,7})(?![\d%]|[.,]\d|[kKMBTG]\b|\s?[×x*+/^=])"
_LINK = r"\s?(?:(?:(?:of|in|for|的)\s?" + NAME + r"\s?)?(?:size\s)?(?:is|to|of|=|:|：|has|equals|为|是|有|共|达到?)|\((?=\d))?\s?"
_OF_EACH = r"(?:\s(?:per|in each|in every|for each) (?:layer|block))?"
_KEYS = r"(?:key[-/ ]?(?:and[- ])?value|kv|k/v)"
_WORDS = {"width": "hidden", "depth": "layers", "head dimensionality": "head_dim", "dimension of each head": "head_dim", "每个头的维度": "head_dim",
          "每个注意力头的维度": "head_dim", "每个头维度": "head_dim", "number of key-value heads": "kv_heads", "number of key/value heads": "kv_heads"}  # fmt: skip
_LABELS = {phrase: word for phrase, word in SIZES.items() if phrase not in LOOSE and word not in ("positions", "types")} | _WORDS
_LABEL = patterns.by_script(
    _LABELS,
    lambda words: f"(?=[{''.join(sorted({one[0] for one in words}))}])(?P<label>{as_trie(words, '[ _-]')}){_LINK}{_NUMBER}(?:\\s?维)?",
    re.IGNORECASE,
)
_COUNTED = (
    ("kv_heads", patterns.pattern(rf"{_NUMBER}[- ]?(?:个\s?)?{_KEYS}[- ]?(?:attention )?(?:heads\b|头){_OF_EACH}", re.IGNORECASE), True),
    ("heads", patterns.pattern(rf"{_NUMBER}[- ]?(?:个\s?)?(?:self-attention |attention |parallel |query |注意力|查询)*(?:heads\b|头){_OF_EACH}", re.IGNORECASE), True),
    ("layers", patterns.pattern(rf"{_NUMBER}[- ]?(?:个\s?)?(?:identical |stacked |hidden |transformer |decoder |encoder |transformer|编码器|解码器|隐藏)*(?:layers\b|blocks\b|层(?![面次级归叠维大尺神宽]))", re.IGNORECASE), True),
    ("vocab", patterns.pattern(rf"(?:vocabulary|vocab)(?: (?:of|in) {NAME})?\s(?:of|has|contains|with|is)\s{_NUMBER} (?:bpe |wordpiece |sentencepiece |subword )?(?:tokens|words|entries|wordpieces|subwords)\b", re.IGNORECASE), False),
    ("vocab", patterns.pattern(rf"(?:vocabulary|vocab|词汇?表)(?:\s?大小)?{_LINK}{_NUMBER}(?:\s?个?\s?(?:token|词|tokens)\b)?", re.IGNORECASE), False),
    ("head_dim", patterns.pattern(rf"(?:each head(?: (?:of|in) {NAME})? (?:is|has)(?: a)?|(?<=heads) of) (?:dimension|size|width)(?: of| is)? {_NUMBER}(?: each)?", re.IGNORECASE), False),
    ("head_dim", patterns.pattern(rf"each head(?: (?:of|in) {NAME})? (?:is|has) {_NUMBER}[- ]dimensions?(?:al)?\b", re.IGNORECASE), False),
    ("head_dim", patterns.pattern(rf"{_NUMBER}(?:-dimensional heads\b|\s?head[_ ]dim\b)", re.IGNORECASE), True),
    ("hidden", patterns.pattern(rf"{_NUMBER} hidden (?:units|dimensions)\b", re.IGNORECASE), True),
)  # fmt: skip
"""What is said of things counted, and whether that begins with their number."""
_GLUE = patterns.pattern(
    r"[\s,，、;；:：*_`\"'’“”()（）#>•·-]+|(?:ha[sd]|have|having|is|are|for|sets?|uses?|used|using|employs|contains|consists|comprises|features|includes|stacks|of|in|the|an?|its|it|and|with|each|which|"
    r"that|model|network|architecture|there|all|where|s|mlp|mlps|ffn|feed[- ]?forward|layers?|blocks?|transformer)(?![A-Za-z])|(?:about |around |~|≈|约)?\d[\d.,]*\s?(?:[MBKT]|million|billion|亿|万)\s?(?:个?参数|param(?:eter)?s?)(?![a-z])|每层|每个|中(?!间)|[有共的含用由其为是和及与个]|包含|具有|采用|使用|堆叠|组成|模型|以及",
    re.IGNORECASE,
)
"""Words that change nothing of a size, whatever stands between, and the count of the same model."""
_LONGEST = 400


def read_plain_sizes(sentence: str) -> tuple[PlainSize, ...]:
    """Read a sentence in which :data:`NAME` stands for a model's name: its sizes, or none if it says anything else.

    >>> [(size.word, size.value) for size in read_plain_sizes("\\x00 has 32 layers and a hidden size of 4,096")]
    [('layers', 32), ('hidden', 4096)]
    >>> read_plain_sizes("\\x00 has 32 layers more than 12 heads")
    ()
    """
    if len(sentence) > _LONGEST or sentence.count(NAME) != 1:
        return ()
    return tuple(
        PlainSize(word, int(sentence[start:end].replace(",", "")), start, end) for word, _, start, end in _places_of_sizes(sentence)
    )


@once_for_each_shape
def _places_of_sizes(sentence: str) -> tuple[PlainSize, ...]:
    """Return where a sentence says the sizes of its model, or nothing if it says anything else."""
    found: list[PlainSize] = []
    labels = _LABEL(sentence)
    place = named = 0
    while place < len(sentence):
        size = _size_at(sentence, place, labels)
        if size is not None:
            if is_of_a_part(sentence, place, size[1], labelled=size[0].start > place):
                return ()
            found.append(size[0])
            named += sentence.count(NAME, place, size[1])
            place = size[1]
        elif sentence[place] == NAME:
            named, place = named + 1, place + 1
        elif glue := _GLUE.match(sentence, place):
            place = glue.end()
        else:
            return ()
    return tuple(found) if named == 1 and not _is_changed(sentence) else ()


def _size_at(sentence: str, place: int, labels: re.Pattern[str]) -> tuple[PlainSize, int] | None:
    """Return the size that begins at a place, and where it ends."""
    if (
        place
        and sentence[place - 1].isascii()
        and sentence[place - 1].isalnum()
        and sentence[place].isascii()
        and sentence[place].isalnum()
    ):
        return None
    label = labels.match(sentence, place)
    if label is not None:
        word = (
            _LABELS[re.sub("[ _-]", " ", label["label"].lower())]
            if label["label"].lower() not in _LABELS
            else _LABELS[label["label"].lower()]
        )
        wide = _WIDE.get(word) if _OF.search(sentence, label.end("label"), label.start("number")) else None
        return _size_of(wide or word, label)
    numbered = sentence[place].isdigit()
    for word, pattern, begins_with_number in _COUNTED:
        if begins_with_number is not numbered:
            continue
        match = pattern.match(sentence, place)
        if match is not None:
            return _size_of(word, match)
    return None


_OF = patterns.pattern(r"\bof\s?$")
_WIDE = {"layers": "hidden", "heads": "head_dim", "kv_heads": "head_dim"}
"""What is said of things counted, where ``of`` stands between: ``hidden layers of 1024 dimensions``."""


def _size_of(word: str, match: re.Match[str]) -> tuple[PlainSize, int]:
    return PlainSize(word, 0, *match.span("number")), match.end()


def _is_changed(sentence: str) -> bool:
    """Tell whether a name is followed by sizes that make it another model: ``BERT-base with 6 layers``."""
    return re.search(NAME + r"\W{0,3}\s(?:with|using|having)\b", sentence, re.IGNORECASE) is not None
