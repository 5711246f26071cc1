"""Chinese sentences that give models their sizes, read word for word: a clause of which one word is not understood gives none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.base_models import is_taken_from
from weighbridge.auditing.text.clause_words import Piece, read_pieces
from weighbridge.core._namedtuple import NamedTuple


class Said(NamedTuple):
    """A size that a clause gives to one model, or to several alike.

    Attributes:
        word: Our word for it; ``total`` and ``active_total`` are counts of parameters.
        start, end: Where its number stands, with its unit.
        names: The places of their names among all names of the line.
        last: Where its words end.
        sure: Whether the model is named right there, and a verb or a label ties the size to it.
    """

    word: str
    start: int
    end: int
    names: tuple[int, ...]
    last: int
    sure: bool


def sizes_of_clauses(text: str, names: Sequence[tuple[int, int]], *, topic: bool = False) -> list[Said]:
    """Return the sizes that the clauses of a line give to the models it names.

    Args:
        topic: Whether the line is about the first of the names from its beginning, though it does not say so.

    >>> line = "A有12层、768维隐藏层,而B为24层、1024维。"
    >>> [(one.word, line[one.start : one.end], one.names) for one in sizes_of_clauses(line, ((0, 1), (15, 16)))]
    [('layers', '12', (0,)), ('hidden', '768', (0,)), ('layers', '24', (1,)), ('hidden', '1024', (1,))]
    >>> [one.names for one in sizes_of_clauses("A有12层,学生模型有6层", ((0, 1),))]
    [(0,)]
    """
    reader = _Reader(text)
    reader.subjects = (0,) if topic else ()
    for clause in _clauses(read_pieces(text, () if topic else names)):
        reader.read(clause)
    return sorted(reader.found, key=lambda one: one.start)


def _clauses(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Yield clauses, each with the sign that ends it."""
    clause: list[Piece] = []
    for piece in pieces:
        clause.append(piece)
        if piece.kind in ("end", "stop", "comma", "open", "close"):
            yield clause
            clause = []
    yield clause


_SHIFTS = pattern(
    r"[比像似改小仿剪减删]|不同|相比|学生|教师|蒸馏|基于|参考|后继|另|别的|版|网络|变体|分支|基线|本文|量化|压缩|冻结|微调|插入|接|加|换|草稿|奖励|视觉|语音|图像|文本|检索|分类"
)
"""Words by which a clause that is not understood may go on to another model, or to a part of this one."""
_SUBJECTS = frozenset(("name", "former", "latter", "both"))
_COUNTED = frozenset(("heads", "kv_heads", "experts", "active", "shared", "head_dim", "mlp"))
"""What each layer has, and the model with it."""
_LABELLED = {"hidden": ("mlp", "head_dim", "hidden", "kv_lora", "q_lora", "rope_dim", "expert_mlp", "dense_mlp"),
             "share": ("total", "active_total", "positions", "vocab"), "experts": ("active", "experts", "shared"), "words": ("vocab", "positions"), "total": ("total", "active_total"),
             "layers": ("layers",), "side_layers": (), "none": (), "heads": ("heads", "kv_heads", "active"), "kv_heads": ("kv_heads",), "shared": ("shared",)}  # fmt: skip
"""The sizes that may be called so in front of a number with that measure: ``中间维度为 3072 维``."""


class _Reader:
    """What the clauses before tell: the models they are about, and whether anything was said that was not understood."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Said] = []
        self.subjects: tuple[int, ...] = ()
        self.base: int | None = None
        self.named: list[int] = []
        self.sure = False
        self.label = ""
        self.carried = ""
        self.opened = False

    def read(self, clause: Sequence[Piece]) -> None:
        """Read a clause; one that is not understood makes all that follows unsure, up to the next name."""
        unknown = [place for place, piece in enumerate(clause) if piece.kind == "unknown"]
        named = [place for place, piece in enumerate(clause) if piece.kind in _SUBJECTS]
        if len(clause) == 2 and clause[0].word == "share" and clause[1].kind == "close" and self.opened:
            self.found.append(Said("total", clause[0].start, clause[0].at, self.subjects, clause[0].end, False))
            return
        self.opened = len(clause) > 1 and clause[-1].kind == "open" and clause[-2].kind == "name"
        if unknown:
            self.sure, self.label = False, ""
            self.named += [clause[place].at for place in named if clause[place].kind == "name"]
            kept = (clause[named[0]].at,) if len(named) == 1 and clause[named[0]].kind == "name" else () if named else self.subjects
            shifts = any(piece.kind == "number" for piece in clause) or _SHIFTS.search(self.text, clause[0].start, clause[-1].end)
            self.subjects = () if shifts else kept
            if named and is_taken_from(self.text, clause[0].start, clause[named[-1]]):
                self.subjects = ()
            elif named and unknown[-1] < named[-1]:
                self._name(clause[named[-1]], joined=False, known=True)
                self.sure = False
                self._sizes(clause[named[-1] + 1 :])
        else:
            self._sizes(clause)
        if clause and clause[-1].kind in ("end", "stop"):
            self.label = ""

    def _name(self, piece: Piece, *, joined: bool, known: bool = False) -> None:
        pair = self.named[-2:]
        if piece.kind == "both":
            self.subjects, self.sure = tuple(pair), False
            return
        if piece.kind in ("former", "latter"):
            self.subjects = (pair[piece.kind == "latter"],) if len(set(pair)) == 2 else ()
            self.sure = False
            return
        self.subjects = (*self.subjects, piece.at) if joined else (piece.at,)
        if not known:
            self.named.append(piece.at)
        self.sure = True

    def _sizes(self, clause: Sequence[Piece]) -> None:
        """Take the sizes of a clause in which every word is understood."""
        if clause and clause[0].word == "share" and sum(piece.kind == "number" for piece in clause) > 1:
            self.subjects = ()  # ``13B 有 40 层`` is of a sister that is called by its size alone
        # Long because it is one walk over the words, each of which has its own meaning for those behind it.
        spread, every, steps, each, side = False, False, 0, False, False
        waiting: Piece | None = None
        listed: list[tuple[str, Piece]] = []
        previous = ""
        for piece in clause:
            if piece.kind == "name" and previous == "base":
                self.base = piece.at
                self.named.append(piece.at)
            elif piece.kind in _SUBJECTS:
                joined = previous in ("name", "pause-name", "to-name")
                if not joined:
                    self._put(listed, spread=spread, every=every, steps=steps)
                    listed, spread, every, steps, self.label = [], False, False, 0, ""
                self._name(piece, joined=joined)
            elif piece.kind == "label":
                if previous == "number" and listed and listed[-1][0] == "layers":
                    listed.pop()  # ``6 层前馈网络``
                if waiting is not None and waiting.word in ("", "hidden", "words"):
                    listed.append((piece.word, waiting))
                    waiting, self.label = None, ""
                else:
                    if listed and not spread:
                        self._put(listed, spread=spread, every=every, steps=steps)
                        listed, steps = [], 0
                    self.label = piece.word
            elif piece.kind == "number":
                if side:
                    piece = piece._replace(word="side_layers" if "layers" in (piece.word, self.label) else "none")
                waiting = self._number(piece, listed, each=each, spread=spread or steps > 0, previous=previous) or waiting
            elif piece.kind == "other":
                self._put(listed, spread=spread, every=every, steps=steps)
                listed, self.subjects, self.label, self.sure = [], (), "", False
            elif piece.kind == "dist":
                spread = True
            elif piece.kind == "all":
                every = True
            elif piece.kind == "each":
                each = True
            elif piece.kind == "side":
                if any(word == "side_layers" for word, _ in listed):
                    self._put(listed, spread=spread, every=every, steps=steps)  # ``编码器 12 层、解码器 12 层``
                    listed = []
                side = True
            elif piece.kind in ("from", "to"):
                steps += previous != "name"
            if piece.kind == "pause" and previous == "name":
                previous = "pause-name"
            elif piece.kind == "to" and previous == "name":
                previous = "to-name"
            else:
                previous = piece.kind
        self._put(listed, spread=spread, every=every, steps=steps)

    def _number(self, piece: Piece, listed: list[tuple[str, Piece]], *, each: bool, spread: bool, previous: str) -> Piece | None:
        """Add a number by its measure or by the label in front of it; return it if its label may follow."""
        word = piece.word
        of_part = previous in ("number", "side", "each")  # ``12 层编码器共 8500 万参数``
        if self.label and (not word or self.label in _LABELLED.get(word, ())):
            word = self.label
        elif not word and previous == "pause" and listed and not self.label:
            listed.append((listed[-1][0], piece))  # ``维度为 128、256`` are of several models
            return None
        elif word in ("", "words", "share"):
            carried = self.carried if previous == "name" else ""
            if word == "share" and not previous and "total" in (said.word for said in self.found):
                carried = "total"  # ``A 有 12 层，参数 1.1 亿；B 是 24 层，3.4 亿``
            if not carried or (word and carried not in _LABELLED.get(word, ())):
                return piece if word != "share" else None
            word = carried
        elif word == "none":
            return None
        if not (of_part and word in ("total", "active_total")) and (not each or (word in _COUNTED and not self.label)):
            listed.append((word, piece))
        self.carried = word
        if not spread:
            self.label = ""
        return piece if word == "hidden" and not self.label and piece.word == "hidden" and not spread else None

    def _put(self, listed: Sequence[tuple[str, Piece]], *, spread: bool, every: bool, steps: int) -> None:
        """Give what a clause lists to its models: each its own, all the same, or from one to the next."""
        subjects = self.subjects
        if steps and len(listed) == 2 and listed[0][0] == listed[1][0]:
            pair = subjects if len(subjects) == 2 else (self.base, *subjects) if self.base is not None and len(subjects) == 1 else ()
            for name, (word, piece) in zip(pair, listed, strict=False):
                self._add(word, piece, (name,), sure=self.sure)
            return
        if steps or not subjects:
            return
        words = [word for word, _ in listed]
        if spread and len(subjects) > 1:
            for word in dict.fromkeys(words):
                of_word = [piece for one, piece in listed if one == word]
                if len(of_word) == len(subjects):
                    for name, piece in zip(subjects, of_word, strict=True):
                        self._add(word, piece, (name,), sure=self.sure)
            return
        if len(subjects) > 1 and not every:
            return
        for word, piece in listed:
            if words.count(word) == 1:
                self._add(word, piece, subjects, sure=self.sure)

    def _add(self, word: str, piece: Piece, names: tuple[int, ...], *, sure: bool) -> None:
        if all(one.start != piece.start for one in self.found):
            self.found.append(Said(word, piece.start, piece.at, names, piece.end, sure))
