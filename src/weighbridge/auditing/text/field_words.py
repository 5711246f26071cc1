"""Sizes of a config that a line says in words: ``128 experts, 8 activated per token``, ``Attention heads: 32``, ``Q 为 32 个``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from weighbridge.auditing import patterns
from weighbridge.auditing.text.memory import once_for_each_shape, once_for_each_text
from weighbridge.auditing.text.owners import is_after_a_part, is_of_a_part
from weighbridge.auditing.text.phrases import lower_case
from weighbridge.auditing.text.size_words import SIZES
from weighbridge.core._namedtuple import NamedTuple


class Field(NamedTuple):
    """A number that a line says to be a size of a config.

    Attributes:
        word: Which size: one of ours, or ``experts``, ``active``, ``shared``, ``patch``, ``width`` (of whatever).
        value: The number.
        start, end: Where the number stands.
        labelled: Whether the size's name stands in front of it, as in a list of settings.
    """

    word: str
    value: int
    start: int
    end: int
    labelled: bool


_NUMBER = (
    r"(?:(?<![A-Za-z0-9_.,/–^$×*+\-])|(?<=\d,)(?=\d{1,2}(?![\d,])))(?<![×*+^] )(?P<number>\d{1,3}(?:,\d{3})+|\d{1,7})(?![A-Za-z0-9_,.]*\d)(?![kKMBTG]\b|\s?%)"
    r"(?!\s*[×x*+/^·]\s*[\dA-Za-z(])(?!\s*[–~-]\s*\d)"
)
"""A whole number that is no part of a formula, of a range, or of a larger number; ``隐藏层维度 768,16 个头`` has two."""
_ADJECTIVES = (
    r"(?:(?:transformer|decoder|encoder|hidden|attention|self|multi|head|routed|routing|total|speciali[sz]ed|local|feed|forward|moe|dense|sparse|stacked|"
    r"identical|bidirectional|parallel|distinct|independent|different|full|small|large|fine|grained|expert|query|q|available|separate|individual)[ \-]+)*"
)
_KEYS = r"(?:kv|k/v|key[\-/ ]?(?:and[\- ])?value(?: \(kv\))?)"
_COUNTED = (
    (
        "head_dim",
        r"(?:dim(?:ension(?:al)?)?|维(?:的|度)?)[\- ]?(?:heads?\b|头)|dim(?:ension)?s? (?:per|for each|in each|a) head\b|head[\- ](?:dim(?:ension)?|size)s?\b",
    ),
    ("kv_heads", rf"(?:shared |grouped )?{_KEYS}[\- ]?(?:attention )?(?:heads?\b|头)|个? ?(?:kv|键值) ?头"),
    ("shared", r"个? ?(?:always[\- ]on |always[\- ]active )?(?:shared experts?\b|共享专家)"),
    ("active", r"个? ?(?:activ(?:e|ated)|selected|chosen)\b(?! param)(?: experts?\b)?|个?激活(?!参数|的参数)"),
    ("experts", rf"个? ?{_ADJECTIVES}(?:experts?\b|feed-?forward blocks\b|(?:路由|混合)?专家(?![人个总]?数)|routed\b)"),
    ("heads", rf"{_ADJECTIVES}heads?\b|个? ?(?:注意力|查询|attention|query|q|self-attention)? ?(?:头|heads?\b)"),
    (
        "layers",
        rf"{_ADJECTIVES}(?:layers?|blocks?|encoders|decoders)\b|个? ?(?:transformer|encoder|decoder|编码器|解码器|网络|隐藏)? ?(?:层(?![面次级维大尺神单宽])|blocks?\b|块)",
    ),
    ("vocab", r"个? ?(?:tokens?|words?|entries|词|字)?[ \-]*(?:vocabulary|vocab|词表)\b"),
    ("hidden", r"hidden (?:units|size|dimensions?)\b|hidden\b(?! states?)|个? ?隐藏(?:单元|层神经元|维度?)"),
    ("width", r"(?:dimension(?:s|al)?\b|dim\b|hidden states?\b|width\b|维)"),
)
"""What may follow a number of each size."""
_BEHIND = patterns.pattern(
    rf"(?=[^\W\d]|[ -])(?![ -]{{0,2}}(?:param|byte|million|billion))[\- ]{{0,2}}(?:{'|'.join(f'(?P<{word}>{pattern})' for word, pattern in _COUNTED)})",
    re.IGNORECASE,
)
_FIGURE = patterns.pattern(_NUMBER)
_LETTERED = patterns.pattern(
    r"(?<![A-Za-z_])(?P<key>KV?|Q|Query|Key/Value|K/V)\s?(?:为|[:：]|=)\s?(?P<after>\d{1,4})(?![\d.]| ?[×x*·+/] ?\d)|(?<![A-Za-z0-9_.,])(?P<before>\d{1,4}) for (?P<word>Q|KV)\b"
)
_OF_BOTH = patterns.pattern(
    r"(?:heads|头数?)[*_` ]*[(（] ?(?:Q|Query|查询) ?/ ?(?:KV|Key[-/ ]?Value|键值) ?[)）][*_`]*\s?[:：=|]?[*_` ]*(?P<heads>\d{1,4}) ?/ ?(?P<keys>\d{1,4})(?![\d./])",
    re.IGNORECASE,
)
"""Heads of both kinds behind one label: ``Heads (Q / KV): 32 / 8``."""
_FACTOR = patterns.pattern(
    r"(?<=[^\W\d_]) ?[×*·](?:(?<=[×·])|(?<= \*)) ?(?P<number>\d{1,3}(?:,\d{3})+|\d{1,7})(?![\d.,]*\d)(?![kKMBTG]\b|\s?%)"
)
"""A number behind a sign of multiplication, where a word stands before the sign: ``8 KV heads × 128-dim heads × 126 layers``."""
_RESULT = patterns.pattern(r"[×x*·+/][^=,，;；]*=\s?$")
"""Before the result of an equation, whose words are those of its factors: ``128 heads × 128-dim heads = 16384``."""
OF_KEYS = patterns.pattern(r"(?:\bkv|\bk/v|键值)\s?(?:的|[只仅都则就也共各])*[有是为用]?\s?$", re.IGNORECASE)
"""Before a number of heads, what says that they are those of keys and values: ``KV 只有 4 个头``."""
_TOP = patterns.pattern(r"\btop[- ](?P<number>\d{1,3})\b(?! acc)(?=.{0,24}(?:rout|expert|gat|专家))", re.IGNORECASE)
_OUT_OF = patterns.pattern(r"(?<![\d.,])\d{1,3}[- ](?:out )?of[- ](?:(?:the|its|their) )?$", re.IGNORECASE)
_ACTIVE = patterns.pattern(r"activ|select|\bused?\b|\buses\b only|per token|each token|chosen|激活|选择|per forward", re.IGNORECASE)
_CLAUSE = patterns.pattern(r"[,;，；。:：()（）|]|\d|\bof\b|\bout of\b|\bfrom\b|中")

_LABELS = {
    "experts": """experts, number of experts, expert number, num of experts, no of experts, num experts, num local experts, n routed experts, routed experts, total experts, expert count, experts per layer, moe experts,
        专家数量, 专家数, 专家人数, 专家总数, 总专家数, 路由专家数, 路由专家数量, 专家个数, expert 数量""",
    "active": """active experts, activated experts, experts per token, num experts per tok, number of activated experts, number of active experts, selected experts per token,
        experts active per token, experts selected per token, active experts per token, moe topk, 激活专家数量, 已激活专家数量, 激活专家数, 活跃专家, 激活专家, 激活的专家数, 激活的专家数量, 激活的 expert 数量, 激活 expert 数量, 激活专家个数,
        每 token 激活专家, 每 token 激活专家数, 每个 token 激活专家数, 每个 token 激活的专家数, 每 token 专家数, 每个 token 的专家数, 每个 token 激活的专家""",
    "shared": "shared experts, number of shared experts, n shared experts, num shared experts, 共享专家, 共享专家数, 共享专家数量",
    "heads": "query heads, q heads, number of query heads, nheads, attn heads, head num, 查询头数, 注意力头, 注意力头数量, q 头数, 头数量",
    "kv_heads": "n kv, nkv, key-value heads, number of key value heads, query groups, kv groups, kv heads mha, kv heads gqa, 键值头, 键值头数, kv头数量",
    "layers": "total layers, nlayers, depth, transformer块数, transformer 块数, 解码器层数",
    "positions": "n ctx, num positions",
    "hidden": "n state, state, dmodel, model width, residual dimension, hidden dims, 隐藏维度大小, 向量维度",
    "head_dim": "attention head dimension, dim per head, dimension per head, key query dimension, dhead, 每头维度, 每头, 每个头, 每个注意力头",
    "mlp": "ffn intermediate size, feed forward dimension, ffn hidden dimension",
    "vocab": "词汇表",
    "patch": "patch size",
}
LABELS = {**SIZES, **{phrase.strip(): word for word, phrases in _LABELS.items() for phrase in " ".join(phrases.split()).split(",")}}
"""From a phrase, in lower case and with spaces for ``_`` and ``-``, to the size that it names in front of a number."""
_WORD = patterns.pattern(r"[A-Za-z/]+|\d+|[\u4e00-\u9fff]+")
_LAST_WORDS = frozenset(words[-1] for phrase in LABELS if (words := _WORD.findall(phrase)))
"""The words that a label ends in: most words in front of a number are none of them."""
_LABELLED = patterns.pattern(
    rf"(?<![*_`\"' ])[*_`\"' ]*(?:[(（][^()（）]{{0,24}}[)）][*_`\"' ]*)?(?:: ?(?:int|Optional\[int\]|int \| None) ?=|[:：=|]|\bis\b|\bare\b|\bof\b|为|是)[*_`\"'$ ]*(?:[~≈][*_`\" ]*)?{_NUMBER}",
    re.IGNORECASE,
)
_OF_A_TOWER = frozenset("audio text vision image visual encoder decoder".split())
_WORDS = 6
_LETTERS_OF_LABEL = 12


def read_fields(text: str) -> Iterator[Field]:
    """Yield the sizes that a line says, each number once.

    >>> [(found.word, found.value) for found in read_fields("It has 128 experts, with 8 experts activated per token, and 48 layers")]
    [('experts', 128), ('active', 8), ('layers', 48)]
    >>> [(found.word, found.value) for found in read_fields("- Attention Heads (GQA): 32 for Q and 4 for KV")]
    [('heads', 32), ('kv_heads', 4)]
    """
    yield from _fields_of(text)[0]


def parts_with_fields(text: str) -> tuple[int, ...]:
    """Return where a line gives a size to something else than the model: ``卷积层数为 6``."""
    return _fields_of(text)[1]


_DIGIT = patterns.pattern(r"\d")


@once_for_each_text
def _fields_of(text: str) -> tuple[tuple[Field, ...], tuple[int, ...]]:
    """Return the sizes of a line, which several checks ask for."""
    if not _DIGIT.search(text):
        return (), ()
    fields, parts = _places_of_fields(text)
    return tuple(Field(word, _number(text[start:end]), start, end, labelled) for word, _, start, end, labelled in fields), parts


@once_for_each_shape
def _places_of_fields(text: str) -> tuple[tuple[Field, ...], tuple[int, ...]]:
    """Return where a line says sizes, and where those of something else stand."""
    found: dict[int, Field] = {}
    parts: list[int] = []
    for letter in _LETTERED.finditer(text) if "K" in text or "Q" in text else ():
        group = "after" if letter["after"] else "before"
        word = "kv_heads" if (letter["key"] or letter["word"]).upper() != "Q" else "heads"
        if (letter["key"] or "KV").upper() != "K":
            found[letter.start(group)] = Field(word, 0, *letter.span(group), True)
    for pair in _OF_BOTH.finditer(text) if "/" in text else ():
        found[pair.start("heads")] = Field("heads", 0, *pair.span("heads"), True)
        found[pair.start("keys")] = Field("kv_heads", 0, *pair.span("keys"), True)
    for match in _LABELLED.finditer(text):
        named, first = _label_at(text, match.start())
        if named in _WIDE and text[match.start() : match.start("number")].strip(" *_`\"'") == "of":
            named = _WIDE[named]  # ``hidden layers of 1024 dimensions``
        elif named in _WIDE and _IN_DIMENSIONS.match(text, match.end("number")):
            named = _WIDE[named]  # ``Hidden layers are 1024-dimensional``
        if named is not None and not _RESULT.search(text, 0, match.start("number")):
            parts += [match.start("number")] * is_of_a_part(text, first, match.end("number"), labelled=True)
            _keep(found, Field(named, 0, *match.span("number"), True))
    factors: Iterable[re.Match[str]] = _FACTOR.finditer(text) if "×" in text or "*" in text or "·" in text else ()
    for match in (*_FIGURE.finditer(text), *factors):
        behind = _BEHIND.match(text, match.end())
        if behind is not None:
            parts += [match.start("number")] * is_of_a_part(text, match.start("number"), behind.end(), labelled=False)
            word = str(behind.lastgroup)
            if word == "heads" and OF_KEYS.search(text, 0, match.start("number")):
                word = "kv_heads"
            if word in ("experts", "active") and _OUT_OF.search(text, max(0, match.start() - 24), match.start()):
                word = "experts"  # ``2 of 8 experts activated``
            elif word == "experts" and _is_active(text, match.start(), behind.end()):
                word = "active"
            _keep(found, Field(word, 0, *match.span("number"), False))
    for top in _TOP.finditer(text) if "top" in text.lower() else ():
        _keep(found, Field("active", 0, *top.span("number"), False))
    own = (field for field in found.values() if not is_after_a_part(text, parts, field.start))
    return tuple(sorted(own, key=lambda field: field.start)), tuple(parts)


_WIDE = {"layers": "width", "heads": "head_dim", "kv_heads": "head_dim"}
"""What is said of things counted, where ``of`` stands between them and a number."""
_IN_DIMENSIONS = patterns.pattern(r"[- ]?(?:d\b|dim(?:s|ension\w*)?\b|units? wide|wide\b|维)", re.IGNORECASE)
"""Behind a number, what makes it a width."""


def _keep(found: dict[int, Field], field: Field) -> None:
    found.setdefault(field.start, field)


def _number(written: str) -> int:
    return int(written.replace(",", ""))


def _is_active(text: str, start: int, end: int) -> bool:
    """Tell whether experts are those that work on a token, by the words of their clause."""
    before = _CLAUSE.split(text[max(0, start - 40) : start])[-1]
    after = _CLAUSE.split(text[end : end + 40])[0]
    return _ACTIVE.search(f"{before} {after}") is not None


def label_before(text: str, end: int) -> str | None:
    """Return the size that the words right before a place name, or None; after a number they are that number's.

    >>> label_before("the number of attention heads: 12", 29)
    'heads'
    """
    return _label_at(text, end)[0]


def _label_at(text: str, end: int) -> tuple[str | None, int]:
    """Return also where the name of the size begins."""
    start = max(0, end - 60)
    near = lower_case(text[start:end].rstrip("*_`\"' :|"))
    found = list(_WORD.finditer(near))
    words = [match[0] for match in found]
    kept = [word for word in words[-_WORDS:] if word not in _OF_A_TOWER]
    for first in range(max(0, len(words) - _WORDS), len(words) if kept and kept[-1] in _LAST_WORDS else 0):
        phrase = " ".join(word for word in words[first:] if word not in _OF_A_TOWER)
        if phrase in LABELS:
            return (None if first and words[first - 1].isdigit() else LABELS[phrase]), start + found[first].start()
    tail = near[-_LETTERS_OF_LABEL:]
    place = next((place for place in range(len(tail)) if not tail[place].isascii() and tail[place:] in LABELS), None)
    return (None, start) if place is None else (LABELS[tail[place:]], start + len(near) - len(tail) + place)


def label_of_line(text: str) -> str | None:
    """Return the size that a line names and nothing else: ``Number of Layers``, whose number stands on the next."""
    plain = re.sub(r"\([^()]*\)|（[^（）]*）", "", text)
    phrase = " ".join(re.findall(r"[A-Za-z/]+|[\u4e00-\u9fff]+", plain.replace("_", " "))).lower()
    return None if re.search(r"\d", text) else LABELS.get(phrase)
