"""Numbers that stand beside the name of a size, in whatever words: read too loosely to judge them, and well enough to count them."""

from __future__ import annotations

import re

from weighbridge.auditing import patterns
from weighbridge.auditing.text.field_words import read_fields
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.core._namedtuple import NamedTuple


class SeenSize(NamedTuple):
    """A number that seems to be a size of a model, which size if that is plain, and where it stands."""

    word: str
    start: int
    end: int


_NUMBER = r"(?<![A-Za-z0-9_.,/^×*–-])(?P<number>\d{1,3}(?:,\d{3})+|\d{1,7}(?:\.\d{1,3})?[kK](?![A-Za-z])|\d{1,7})(?![\d,]*[\d.]\d|\w|\s?[%×*/^=]|-\w)"
_NOUNS = (
    ("vocab", r"vocab\w*|embedding (?:matrix|table)|n_vocab|词表\w*|词汇表"),
    ("positions", r"context\w*|window|positions?|n_\w*ctx|max_\w*len\w*|上下文\w*|窗口"),
    ("heads", r"heads?|n_\w*heads?|头"),
    ("layers", r"layers?|blocks?|encoders?|decoders?|depth|n_\w*layers?|层"),
    ("experts", r"experts?|专家"),
    ("mlp", r"feed-?forward\w*|ffn\w*|intermediate\w*|mlp\w*|inter_dim|前馈\w*"),
    ("head_dim", r"head_dim\w*|dimension per head"),
    ("patch", r"patch(?:_size| size)?"),
    ("hidden", r"hidden\w*|d_model|width|embed_dim|embeddings?|dim(?:ension)?s?(?:al|ality)?|n_\w*state|隐藏\w*|维度?"),
    ("", r"image_size|image_resolution|n_mels|num_mel_bins"),
)
_ANY = "|".join(rf"(?P<w{place}>{pattern})" for place, (_, pattern) in enumerate(_NOUNS))
_LINKS = r"(?:[\s\"'`*_:：=|(（$]|\b(?:is|are|was|of|to|at|expanded|increased|size|sizes|length|model|has|a|the|dimensions?|layers?|tokens?|with|up|about|from)\b|为|是|大小|长度|约|了|扩展|到){1,16}"
_BEFORE = patterns.pattern(rf"(?<![\w-])(?:{_ANY}){_LINKS}{_NUMBER}", re.IGNORECASE)
_BEHIND = patterns.pattern(rf"{_NUMBER}[\s*_`-]{{0,2}}个?\s?(?:[A-Za-z-]+\s){{0,2}}?(?:{_ANY})(?![A-Za-z])", re.IGNORECASE)
_OTHER = patterns.pattern(
    r"batch|epoch|learning|corpus|\bdata|dropout|\bGPU|accuracy|\bsteps?\b|temperature|seconds?|hours?|hop_|\bTop-?\d|批|学习率|语料|训练",
    re.IGNORECASE,
)
"""What makes a number one of training or of a result."""
_NEAR = 24
_LONGEST = 2000


@once_for_each_shape
def seen_sizes(text: str) -> tuple[SeenSize, ...]:
    """Return the numbers of a line that stand beside the name of a size, each once.

    >>> [(seen.word, seen.start) for seen in seen_sizes("The vocabulary is expanded to 50,257, with a feedforward dimension of 16384.")]
    [('vocab', 30), ('mlp', 70)]
    """
    if len(text) > _LONGEST:
        return ()
    found: dict[int, SeenSize] = {}
    for field in read_fields(text):
        found[field.start] = SeenSize(field.word, field.start, field.end)
    for pattern in (_BEFORE, _BEHIND):
        for match in pattern.finditer(text):
            around = text[max(0, match.start() - _NEAR) : match.end() + _NEAR // 2]
            word = next(_NOUNS[place][0] for place in range(len(_NOUNS)) if match[f"w{place}"])
            if not _OTHER.search(around):
                found.setdefault(match.start("number"), SeenSize(word, *match.span("number")))
    return tuple(sorted(found.values(), key=lambda seen: seen.start))
