"""Reads figures of memory and arithmetic work with all that their passage says of them: the model, its dtype, tokens, batch, devices, and what they are of.

A passage goes on until a heading, or until an empty line that no list follows. What one sentence says holds for those behind it: ``In half precision ...``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.quantities import ROLES, Quantity, Subject
from weighbridge.auditing.text.quantity_pieces import FIGURES, NUMBER, SMALL, count_up, has_more, split_clauses, value_of
from weighbridge.auditing.text.quantity_words import Piece, pieces_of

_SUBJECTS = frozenset(("count", "name"))
_SPOILS = frozenset(("unknown", "when", "otherwise", "bound"))
"""Words by which nothing is settled from there on in a sentence."""
_APART = frozenset(("contrast", "old"))
"""And by which their own clause is of something else: ``while MHA needs 10 GB``."""
_LATER = frozenset(("when", "otherwise"))
_ITEM = pattern(r"\s*(?:[-*+•]|\d{1,2}[.)、])\s")
_RULE = pattern(r"(?<![\w.])([1-9])\s?[×x*·]?\s?N(?![\w²^])(?!\s?[×x*·]\s?D)")
_IN_SUM = pattern(r"(?<![\w.])\d+(?:\.\d+)?\s?B\b(?!\s?/)")
_SIZES = frozenset(("layers", "kvheads", "headdim", "heads", "hidden"))


class PassageReader:
    """Reads the lines of a passage one after the other.

    Args:
        is_same: Whether a count is that of a model that is named before it: ``GPT-2 XL (1.5B)``.
    """

    def __init__(self, is_same: Callable[[Subject, Fraction], bool]) -> None:
        self._is_same = is_same
        self.reset()

    def reset(self) -> None:
        """Forget all that was said."""
        self.subject: Subject | None = None
        self.sizes: dict[str, set[int]] = {}
        self.dtypes: list[str] = []
        self.rate: Fraction | None = None
        self.gpus: tuple[Fraction, ...] = ()
        self.data: tuple[Fraction, ...] = ()
        self.cached = self.trained = self.otherwise = self.sharded = self.latent = False
        self.rules: list[int] = []

    def read(self, text: str, line: int, names: Sequence[tuple[int, int]]) -> Iterator[Quantity]:
        """Yield the figures of a line."""
        sentence: list[Piece] = []
        item = _ITEM.match(text)
        self.pieces = pieces_of(text, tuple(names))
        for piece in self.pieces:
            if item is not None and piece.end <= item.end():
                continue
            sentence.append(piece)
            if piece.kind == "end":
                yield from self._sentence(text, line, names, sentence)
                sentence = []
        yield from self._sentence(text, line, names, sentence)

    def _sentence(self, text: str, line: int, names: Sequence[tuple[int, int]], sentence: Sequence[Piece]) -> Iterator[Quantity]:
        self.lengths: tuple[Fraction, ...] = ()
        self.batches: tuple[Fraction, ...] = ()
        self.carried: frozenset[str] = frozenset()
        self.zero = 0
        self.tokens = any(piece.kind in ("length", "batch", "vague") for piece in sentence)
        self.per, self.old = False, any(piece.kind == "old" for piece in sentence)
        self.aside = any(piece.kind == "aside" for piece in sentence)
        self.rules += [int(match[1]) for match in _RULE.finditer(text, sentence[0].start, sentence[-1].end)] if sentence else []
        counted = count_up(text, sentence)
        whole = True
        last = max((piece.start for piece in sentence if piece.kind in _LATER), default=-1)
        for clause in split_clauses(sentence):
            kinds = frozenset(piece.kind for piece in clause)
            whole = whole and not kinds & _SPOILS
            plain = whole and not kinds & _APART
            self.sharded = self.sharded or "shard" in kinds
            self.per = self.per or "per" in kinds
            if "zero" in kinds:
                self.zero = next((int(value_of(text[p.start : p.end])) for p in clause if p.kind == "zero"), 0)
            self._learn(text, line, names, clause)
            self.rate = counted or self.rate
            figures = [piece for piece in clause if piece.kind in FIGURES and SMALL.match(text, piece.start) is None]
            if len(figures) == 1:
                settled = plain and not self.otherwise and last < figures[0].start and not has_more(sentence, figures[0])
                yield self._quantity(text, line, clause, figures[0], whole=settled)
                self.carried = frozenset()
            elif not figures and kinds & ROLES:
                self.carried = kinds & (ROLES | {"per"})

    def _learn(self, text: str, line: int, names: Sequence[tuple[int, int]], clause: Sequence[Piece]) -> None:
        """Take what a clause says of the figures in it and behind it."""
        kinds = {piece.kind for piece in clause}
        self._take_subject(text, line, names, clause, doubtful="unknown" in kinds)
        of = {kind: tuple(value_of(text[p.start : p.end]) for p in clause if p.kind == kind) for kind in kinds}
        self.lengths, self.batches = of.get("length") or self.lengths, of.get("batch") or self.batches
        self.gpus, self.data = of.get("gpus") or self.gpus, of.get("data") or self.data
        self.rate = of["rate"][-1] if len(of.get("rate", ())) == 1 else self.rate
        small = [value_of(text[p.start : p.end]) for p in clause if p.kind == "figure" and SMALL.match(text, p.start) is not None]
        if self.rate is not None and len(small) == 1:
            self.rate = small[0]  # ``at 16 bytes per parameter it is 112 GB; at 12 bytes 84 GB``
        self.dtypes += [text[p.start : p.end] for p in clause if p.kind == "dtype"]
        for kind in kinds & _SIZES:
            self.sizes.setdefault(kind, set()).update(int(value) for value in of[kind])
        self.cached = self.cached or "cache" in kinds
        self.trained = self.trained or bool(kinds & {"train", "gradients", "optimizer", "states"})
        self.otherwise = self.otherwise or "otherwise" in kinds
        self.latent = self.latent or "latent" in kinds

    def _take_subject(self, text: str, line: int, names: Sequence[tuple[int, int]], clause: Sequence[Piece], *, doubtful: bool) -> None:
        found: list[Subject] = []
        for piece in clause if not any(piece.kind == "active" for piece in clause) else ():
            if piece.kind == "name":  # of two names that overlap one piece is left, which may begin as neither does
                found += [Subject(None, line, i) for i, (start, end) in enumerate(names) if start <= piece.start < end][:1]
            elif piece.kind == "count" or (piece.kind == "sum" and len(_IN_SUM.findall(text, piece.start, piece.end)) == 1):
                inner = _IN_SUM.search(text, piece.start, piece.end) if piece.kind == "sum" else None
                said = value_of(inner[0] if inner is not None else text[piece.start : piece.end])
                before = found[-1] if found else self.subject
                if before is None or not (before.parameters == said or (before.parameters is None and self._is_same(before, said))):
                    found.append(Subject(said))
        if not found:
            return
        kinds = [piece.kind for piece in clause]
        place = min((kinds.index(kind) for kind in (*_SUBJECTS, "sum") if kind in kinds), default=0)
        doubtful = doubtful or "contrast" in kinds[:place]
        subject = found[0] if len(found) == 1 and not doubtful else None  # ``unlike Llama-2-7B, the network ...``
        if subject != self.subject:
            self.sizes = {}
        self.subject = subject

    def _quantity(self, text: str, line: int, clause: Sequence[Piece], figure: Piece, *, whole: bool) -> Quantity:
        words = frozenset(piece.kind for piece in clause)
        ahead = any(piece.kind in ROLES and piece.start < figure.start for piece in clause)
        carried = self.carried if "each" in words else self.carried - {"zero"}
        words = words | carried if ahead or not words & ROLES else words  # ``two moments and the master weights take 84 GB``
        words = words | {"per"} if self.per and (figure.kind == "work" or self.old) else words
        place = clause.index(figure)
        of = {kind: tuple(value_of(text[p.start : p.end]) for p in clause if p.kind == kind) for kind in ("length", "batch", "data")}
        number = NUMBER.search(text, figure.start)
        return Quantity(
            line,
            number.start() if number is not None else figure.start,
            figure.end,
            figure.kind,
            words,
            self._words_of(text, clause),
            self.subject,
            tuple(text[p.start : p.end] for p in clause if p.kind == "dtype"),
            tuple(self.dtypes),
            self.rate,
            of["length"] or self.lengths,
            of["batch"] or (*self.batches, *((Fraction(1),) if self.batches else ())),
            of["data"] or self.data,
            self.gpus,
            self.zero if "zero" in words else 0,
            tuple((kind, min(values)) for kind, values in self.sizes.items() if len(values) == 1),
            self.cached,
            self.trained,
            whole
            and not ((self.sharded or self.zero) and "zero" not in words)
            and not (self.latent and (self.subject is None or self.subject.name < 0)),
            place > 0 and clause[place - 1].kind == "sum",
            self.aside,
            tuple(self.rules),
            self.tokens,
        )

    def _words_of(self, text: str, clause: Sequence[Piece]) -> str:
        """Return a clause with the words in it that say nothing."""
        before = max((piece.end for piece in self.pieces if piece.end <= clause[0].start), default=0)
        after = min((piece.start for piece in self.pieces if piece.start >= clause[-1].end), default=len(text))
        return text[before:after]
