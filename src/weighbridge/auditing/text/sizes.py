"""What a text states about sizes: ``Hidden size (H): 768``, ``12-layer, 768-hidden``, and what its letters mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import SIZES, SYMBOLS
from weighbridge.core._namedtuple import NamedTuple


class StatedSize(NamedTuple):
    """One size that a text states.

    Attributes:
        word: Our word for the size.
        value: The number.
        token: The number's token.
        label: The token that names the size.
        firm: Whether it is a plain statement (``hidden size: 768``) and not a passing one (``12 layers``).
        last: Index after the last token, in its statement.
        listed: Further numbers of the same list (``widths: 3072, 768``).
    """

    word: str
    value: int
    token: Token
    label: Token
    firm: bool
    last: int
    listed: tuple[Token, ...] = ()


_LINKS = frozenset("int 是 为 is of are = : 等于 分别是 分别为 | to equals 为: 是: was | ≈ 取 设为 设置为 即".split()) | {'"', "'"}
_HYPHENED = {"layer": "layers", "layers": "layers", "hidden": "hidden", "heads": "heads", "head": "heads"}
_COUNTED = {"kv_heads": "kv_heads", "layers": "layers", "heads": "heads", "层": "layers", "个头": "heads"}
_HAS = ("共", "共有", "总共", "has", "have")
_ALL_OF = frozenset(("layers", "层"))
"""``has 32 layers`` and ``共 32 层`` state a size; ``12 个头`` may be said of anything."""
_STACKS = frozenset(("encoder", "layer", "layers", "编码器", "encoder.layer"))
_WIDTHS = ("神经元个数", "神经元数", "neurons", "units")


def find_sizes(statement: Sequence[Token], meant: Mapping[str, str]) -> Iterator[StatedSize]:
    """Yield the sizes that a statement states.

    >>> from weighbridge.auditing.text.size_words import LETTERS
    >>> from weighbridge.auditing.text.tokens import tokens
    >>> [(s.word, s.value) for s in find_sizes(tokens("BERT-Base: 12-layer, 768-hidden, vocab size = 30522", 0), LETTERS)]
    [('layers', 12), ('hidden', 768), ('vocab', 30522)]
    """
    if not any(token.kind == "num" for token in statement):
        return
    for index, token in enumerate(statement):
        if token.kind == "name" and (token.text in SYMBOLS or token.text in meant):
            found = _read_label_and_size(statement, index, token, token.text if token.text in SYMBOLS else meant[token.text])
        elif token.kind == "num":
            found = _read_count(statement, index, token)
        elif token.kind == "word" and _is_stack(token.text):
            found = _read_stack(statement, index, token)
        elif token.kind == "word" and _is_width(token.text):
            found = _read_label_and_size(statement, index, token, "mlp")
            found = found if found and found.listed else None
        else:
            continue
        if found is not None and (_is_width_of(statement, index, found) or (found.listed and len(found.label.text) == 1)):
            continue  # ``A: 6, 12`` is an answer, or a choice
        if found is not None and found.value <= _MOST.get(found.word, _MOST_OF_ANY):
            yield found


@lru_cache(maxsize=1 << 12)
def _is_stack(word: str) -> bool:
    return word.lower() in _STACKS


@lru_cache(maxsize=1 << 12)
def _is_width(word: str) -> bool:
    return any(width in word for width in _WIDTHS)


def _is_width_of(statement: Sequence[Token], index: int, size: StatedSize) -> bool:
    """Tell whether a number is how wide things are and not how many: ``hidden layers of 1024 dimensions``."""
    after = statement[index + 1] if index + 1 < len(statement) else None
    return size.word in ("layers", "heads", "kv_heads") and size.label is statement[index] and after is not None and after.text == "of"


_MOST = {"layers": 2_000, "heads": 1_000, "kv_heads": 1_000, "hidden": 200_000, "head_dim": 20_000}
_MOST_OF_ANY = 20_000_000
"""No model has more of these: a larger number behind such a word or letter states no size (``A: 109,482,240``)."""


def sizes_on_two_lines(statements: Sequence[Sequence[Token]]) -> Iterator[StatedSize]:
    """Yield the sizes whose name is a line of its own and whose number the next: ``Number of layers``, ``32``.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> [(s.word, s.value) for s in sizes_on_two_lines([tokens("Number of Layers", 0), tokens("32", 2)])]
    [('layers', 32)]
    """
    for label, number in pairwise(statements):
        word = _word(label) if len(number) == 1 and number[0].kind == "num" else None
        if word is not None:
            figure = number[0]
            if figure.value is not None and not figure.unit and not figure.places and 0 < figure.line - label[0].line <= _NEXT:
                yield StatedSize(word, int(figure.value), figure, figure, True, 1)


def _word(label: Sequence[Token]) -> str | None:
    """Return the size that a line names, if it names nothing else."""
    pieces = [token for token in label if token.text not in (":", "*", "-", "·")]
    if len(pieces) != 1:
        return None
    word = pieces[0].text if pieces[0].kind == "name" else SIZES.get(pieces[0].text.lower(), "")
    return word if word in SYMBOLS else None


_NEXT = 2
"""Lines between a size's name and its number."""


_NOUNS = ("长度", "个数", "大小", "数量", "维度", "宽度", "高度", "句长", "length")


def _read_label_and_size(statement: Sequence[Token], index: int, label: Token, word: str) -> StatedSize | None:
    before = statement[index - 1] if index else None
    if before is not None and len(label.text) == 1 and before.kind == "word" and before.end == label.start and before.text.endswith(_NOUNS):
        return None  # ``长度L为512`` says what its L is
    if before is not None and before.kind in ("num", "name", ")") and before.end == label.start and before.line == label.line:
        return None  # ``4H = 3072`` states no H
    if before is not None and before.kind == "num" and len(label.text) == 1 and before.line == label.line:
        return None  # nor does ``4 H = 3072``
    after = statement[index + 1] if index + 1 < len(statement) else None
    if before is not None and before.kind == "num" and before.line == label.line and after is not None and after.text == "|":
        return None  # ``768 embedding dim | 12 layers``: the number before it is its own
    inside = index > 1 and statement[index - 2].line == label.line
    if before is not None and before.kind == "num" and inside and before.line == label.line and after is not None and after.text == ":":
        return None  # ``LFM2: 16 layers: 10 of convolution``: the number before the label is its own
    if before is not None and before.kind in ("op", "rel") and before.line == label.line:
        bullet = before.text in "-*+" and before.end < label.start and (index == 1 or statement[index - 2].line != label.line)
        if not bullet:
            return None
    if label.text == "A" and after is not None and after.kind == "word":
        return None  # ``A vocabulary of 256`` is an article
    at, linked = index + 1, False
    depth = 0
    while at < len(statement) and at - index < 12 and (statement[at].line == label.line or statement[at].kind in ("num", "rel")):
        token = statement[at]
        if depth == 0 and token.kind == "num":
            break
        if token.kind in "()":
            depth += 1 if token.kind == "(" else -1
        elif (depth > 0 and token.kind == "num") or (depth <= 0 and token.text not in _LINKS and token.text.lower() not in SIZES):
            return None
        linked = linked or (depth <= 0 and token.text in _LINKS)
        at += 1
    if at >= len(statement) or statement[at].kind != "num" or at - index >= 12:
        return None
    number = statement[at]
    following = statement[at + 1] if at + 1 < len(statement) else None
    if (
        len(label.text) == 1
        and following is not None
        and following.kind == "name"
        and len(following.text) > 1
        and following.line == number.line
    ):
        return None  # ``H=8 KV heads`` is no hidden size
    last = at + 1 >= len(statement) or statement[at + 1].line != number.line or statement[at + 1].text == ";"
    linked = linked or (last and number.line == label.line and number.start - statement[at - 1].end > 1)
    if not linked and (len(label.text) == 1 or depth < 0):
        return None
    if number.unit or number.places or number.value is None or not _ends(statement, at):
        return None
    return StatedSize(word, int(number.value), number, label, linked, at + 1, _list(statement, at + 1))


def _list(statement: Sequence[Token], at: int) -> tuple[Token, ...]:
    found: list[Token] = []
    while at + 1 < len(statement) and statement[at].text in (",", "、", "，") and statement[at + 1].kind == "num":
        if not _ends(statement, at + 1) or statement[at + 1].unit or statement[at + 1].places:
            break
        found.append(statement[at + 1])
        at += 2
    return tuple(found)


def _ends(statement: Sequence[Token], at: int) -> bool:
    """Tell whether a number stands alone and is not the beginning of a formula."""
    if at + 1 >= len(statement):
        return True
    following = statement[at + 1]
    after = statement[at + 2] if at + 2 < len(statement) and statement[at + 2].line == following.line else None
    glued = following.start == statement[at].end and following.line == statement[at].line
    factor = following.kind == "name" and len(following.text) == 1 and following.line == statement[at].line
    if factor and (after is None or (after.kind not in ("rel", "num") and after.text != ":")):
        return False  # ``d_ff = 4 d`` is a formula
    if glued and (following.kind == "name" or (following.kind == "(" and after is not None and after.kind in ("num", "name", "("))):
        return False  # ``12H² + 2H`` states no size
    if following.kind == "word" and following.line == statement[at].line and after is not None and after.text == "*":
        return False  # ``768 inputs × 3072 outputs``
    if following.kind == "op" and following.line == statement[at].line:
        return following.text == "*" and following.end != following.start + 2 and at + 2 >= len(statement)
    return not (following.kind == "rel" and following.line == statement[at].line)


def _read_stack(statement: Sequence[Token], index: int, label: Token) -> StatedSize | None:
    """Read ``Encoder × 12``."""
    if index + 2 >= len(statement) or statement[index + 1].text != "*" or statement[index + 2].kind != "num":
        return None
    sign, number = statement[index + 1], statement[index + 2]
    ends = index + 3 >= len(statement) or statement[index + 3].kind not in ("op", "rel")
    if number.value is None or number.unit or number.places or sign.end == sign.start or not sign.spaced or not ends:
        return None
    return StatedSize("layers", int(number.value), number, label, True, index + 3)


def _read_count(statement: Sequence[Token], index: int, number: Token) -> StatedSize | None:
    """Read ``12-layer`` and ``12 layers``."""
    if number.value is None or number.unit or number.places or index + 1 >= len(statement):
        return None
    following = statement[index + 1]
    if following.text == "-" and following.start == number.end and index + 2 < len(statement):
        named = statement[index + 2]
        word = _HYPHENED.get(named.text.lower())
        if word and named.start == following.end and not (index and statement[index - 1].kind == "op"):
            return StatedSize(word, int(number.value), number, named, False, index + 3)
        return None
    word = _COUNTED.get(following.text.lower()) if following.line == number.line else None
    if following.kind == "name" and following.text == "hidden" and following.line == number.line and number.value >= 64:
        after = statement[index + 2] if index + 2 < len(statement) else None
        labels = after is not None and (after.kind in ("rel", "num") or after.text == ":")
        word = None if labels else "hidden"  # ``1600 hidden size``, and no label of the next number
    summed = following.text.startswith(("层合计", "层总计", "层共")) and following.line == number.line
    if summed or (following.text == "layers" and index and statement[index - 1].text.lower() == "all"):
        return StatedSize("layers", int(number.value), number, following, True, index + 2)
    if word and not (index and statement[index - 1].kind == "op"):
        plain = index > 0 and statement[index - 1].line == number.line and statement[index - 1].text.lower().endswith(_HAS)
        return StatedSize(word, int(number.value), number, following, plain and following.text.lower() in _ALL_OF, index + 2)
    return None
