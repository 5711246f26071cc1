"""A derivation as a document and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from weighbridge.core.evaluation_steps import chain
from weighbridge.core.formula import Expression, Number, Product, Sum, letters
from weighbridge.core.messages import Say, mark, translator
from weighbridge.core.notation import LATEX, TEXT, UNICODE, write
from weighbridge.core.polynomials import polynomial
from weighbridge.documents.document import Block, Document, Equation, Heading, Item, Paragraph, Share, notes, shares
from weighbridge.documents.symbols import symbol_table
from weighbridge.explain.attention_sentences import ROTATED, ROTATED_IN_PART, WINDOWED
from weighbridge.explain.depth import depth_of, fold_below, readable_depth
from weighbridge.explain.derive import Derivation
from weighbridge.explain.overview import formula_by_module
from weighbridge.explain.section import Line, Section
from weighbridge.explain.sensitivity import Change, Insight

_SIDE_BY_SIDE = ("feed_forward", "embedding", "table", "convolution", "norm", "head", "projector", "linear")
COPIES = {
    "experts": (mark("one expert"), mark("all {copies} experts")),
    **dict.fromkeys(_SIDE_BY_SIDE, (mark("one copy"), mark("all {copies} copies"))),
}
MOST = 6
"""Terms of a formula whose numbers are still put in one by one; of a longer one only the value is given."""
OF_EACH = frozenset((ROTATED, ROTATED_IN_PART, WINDOWED))
"""Sentences that a reader would take to be untrue of a tower in which they are left out."""
LAYERS = (mark("one layer"), mark("all {copies} layers"))


def document(derivation: Derivation, *, fold: bool = False) -> Document:
    """Lay a derivation out; with *fold*, a section that is like one before it only says so.

    >>> from weighbridge import model
    >>> document(model("bert-base-chinese").explain("zh")).figure
    '102,267,648 个参数'
    """
    say = translator(derivation.language)
    blocks = (
        *_symbols(derivation, say),
        *_Writer(derivation, say, fold=fold).body(derivation.root),
        *(_insight(derivation, derivation.insight, say) if derivation.insight else ()),
    )
    return Document(derivation.title, say("{total} parameters").format(total=f"{derivation.total:,}"), blocks, derivation.language)


def fold_to_length(derivation: Derivation, lines: int) -> Document:
    """Lay a derivation out in about *lines* lines: repeated sections refer back, and inner ones are folded where it is too long.

    >>> from weighbridge import model
    >>> fold_to_length(model("resnet-50").explain(), 250).blocks[-1].text
    'The innermost sections are shown by their sums alone; --depth 5 opens them.'
    """
    depth, whole = readable_depth(derivation, lines), depth_of(derivation)
    found = document(fold_below(derivation, depth), fold=True)
    if depth >= whole:
        return found
    say = translator(derivation.language)
    text = say("The innermost sections are shown by their sums alone; --depth {depth} opens them.")
    return found._replace(blocks=(*found.blocks, *notes([text.format(depth=whole)])))


def as_json(derivation: Derivation) -> dict[str, Any]:
    """Return a derivation as plain data; every formula as text and LaTeX, every line with its steps."""
    values = derivation.values
    return {
        "title": derivation.title,
        "language": derivation.language,
        "total": derivation.total,
        "symbols": [
            {"letter": symbol.letter, "key": symbol.key, "meaning": meaning, "value": values[symbol.letter]}
            for symbol, meaning in derivation.symbols
        ],
        "sections": [_part_json(part, values) for part in derivation.root.parts],
        "formula": _formula_json(derivation.root.formula),
        "insight": _insight_json(derivation.insight) if derivation.insight else None,
        "active": {**_formula_json(derivation.active.formula), "value": derivation.active.value} if derivation.active else None,
        "deciders": [{"key": decider.key, "value": decider.value} for decider in derivation.deciders],
    }


def _part_json(part: Line | Section, values: dict[str, int]) -> dict[str, Any]:
    head = {"number": part.number, "title": part.title, "sentence": part.sentence, "kind": part.kind}
    if isinstance(part, Line):
        steps = [write(step, UNICODE) for step in chain(part.formula, values)]
        return {
            **head,
            "modules": list(part.paths),
            "shape": part.shape,
            "formula": _formula_json(part.formula),
            "steps": steps,
            "value": part.value,
            "tied": list(part.tied),
        }
    return {
        **head,
        "path": part.path,
        "formula": _formula_json(part.formula),
        "times": write(part.times, TEXT),
        "copies": part.copies,
        "where": part.where,
        "each": part.each,
        "value": part.value,
        "share": str(Share(part.share)),
        "parts": [_part_json(inner, values) for inner in part.parts],
    }


def _formula_json(formula: Expression) -> dict[str, str]:
    return {"text": write(formula, TEXT), "latex": write(formula, LATEX)}


def _insight_json(insight: Insight) -> dict[str, Any]:
    return {
        "factored": _formula_json(insight.factored),
        "relations": [f"{symbol.letter} = {write(multiple, TEXT)}" for symbol, multiple in insight.relations],
        "collected": _formula_json(insight.collected),
        "leading": {**_formula_json(insight.leading), "value": insight.leading_value},
        "changes": [
            {
                "key": change.symbol.key,
                "by": change.by,
                "formula": write(change.formula, TEXT) if change.formula is not None else None,
                "value": change.value,
                "with_relations": change.kept,
                "follows": list(change.follows),
            }
            for change in insight.changes
        ],
    }


def _symbols(derivation: Derivation, say: Say) -> Iterator[Block]:
    if not derivation.symbols:
        return
    yield Heading(1, "", say("Symbols"))
    yield symbol_table(
        ((symbol.letter, symbol.key, meaning, derivation.values[symbol.letter]) for symbol, meaning in derivation.symbols), say
    )


class _Writer:
    """Writes sections; remembers which sentences it has said, and, where it folds, which sections it has written."""

    def __init__(self, derivation: Derivation, say: Say, *, fold: bool) -> None:
        self.say = say
        self.derivation = derivation
        self.values = derivation.values
        self.fold = fold
        self.sentences: set[str] = set()
        self.written: dict[object, str] = {}

    def body(self, root: Section) -> Iterator[Block]:
        for part in root.parts:
            yield from self.section(part, 1) if isinstance(part, Section) else self.line(part, 1)
        if root.parts:
            yield Heading(1, "", self.say("Total"))
        yield from self.sums(root, 1)
        if self.derivation.by_module is not None:
            words, formula, numbers = self.derivation.by_module
            yield Paragraph(1, _label(self.say("by module"), self.say) + words)
            yield Equation(1, (numbers, Number(root.value)))
            yield Equation(1, (formula, Number(root.value)), _label(self.say("in letters"), self.say))
        yield from self.active()

    def section(self, section: Section, level: int, outer: int = 1) -> Iterator[Block]:
        """Write a section; *outer* is how many copies there are of what it stands in, so that its share is that of all of them."""
        share = f" ({Share(section.share)})" if section.share or section.value else ""
        figure = f"{section.value:,}" if outer == 1 else f"{outer:,} × {section.value:,} = {outer * section.value:,}"
        yield Heading(level, section.number, self.heading(section), f"{figure}{share}")
        same = self.written.setdefault(_likeness(section), section.number) if section.parts else section.number
        folded = self.fold and same != section.number
        yield from self.once(section.says, level, tower="" if folded else section.number.partition(".")[0])
        yield from self.deciders(section, level)
        if folded:
            yield Paragraph(level, self.say("As in {number}.").format(number=same))
            return
        only = section.parts[0] if len(section.parts) == 1 else None
        if isinstance(only, Line):
            yield from self.line(only._replace(number="", title="" if only.title == section.title else only.title), level)
        else:
            for part in section.parts:
                yield from self.section(part, level + 1, outer * section.copies) if isinstance(part, Section) else self.line(part, level)
        yield from self.sums(section, level)

    def heading(self, section: Section) -> str:
        """Return the title of a section, with its copies and the layers it stands for: ``Transformer layers × 58 (layers 3–60)``."""
        title = section.title + (f" × {section.copies:,}" if section.copies != 1 else "")
        if not section.where:
            return title
        layers = self.say("layer {places}") if section.where.isdigit() else self.say("layers {places}")
        return self.say("{title} ({shape})").format(title=title, shape=layers.format(places=section.where.replace(", ", self.say(", "))))

    def deciders(self, section: Section, level: int) -> Iterator[Block]:
        """Say, with the first of several kinds of layer, which keys of the config decide where each stands."""
        keys = [key for key in self.derivation.deciders if section.path in key.places]
        if section.where and keys and f"where {section.path}" not in self.sentences:
            self.sentences.add(f"where {section.path}")
            names = [key.key if key.value is None else f"{key.key} = {key.value}" for key in keys]
            text = self.say("The layers are of several kinds; {keys} decides which is which.")
            text = text if len(keys) == 1 else self.say("The layers are of several kinds; {keys} decide which is which.")
            yield Paragraph(level, text.format(keys=self.join_names(names)))

    def join_names(self, names: Sequence[str]) -> str:
        """Write names one after another, the last behind "and"."""
        return self.say(" and ").join(filter(None, (self.say(", ").join(names[:-1]), names[-1])))

    def active(self) -> Iterator[Block]:
        """Derive how many parameters work on one token, where not all of them do."""
        found = self.derivation.active
        if found is None:
            return
        yield Heading(1, "", self.say("Active parameters"), f"{found.value:,}")
        yield Paragraph(1, self.say("Only the experts that the router picks process a token; the others are stored, but idle."))
        yield Equation(1, chain(found.formula, self.values), _label(self.say("total, less the idle experts"), self.say))

    def line(self, line: Line, level: int) -> Iterator[Block]:
        yield Item(level, line.number, self.title_of(line), line.paths)
        yield from self.once(line.says, level + 1)
        if line.tied:
            text = self.say("Shares the storage of {names}, which is counted above.")
            text = text if len(line.tied) == 1 else self.say("Shares the storage of {names}, which are counted above.")
            yield Paragraph(level + 1, text.format(names=self.join_names(line.tied)))
        yield Equation(level + 1, chain(line.formula, self.values))

    def title_of(self, line: Line) -> str:
        """Return the title of a line with what its letters are, ``query (from H inputs to H outputs)``."""
        shape = self.say(line.shape) if line.shape and line.value else ""
        return self.say("{title} ({shape})").format(title=line.title, shape=shape) if line.title and shape else line.title or shape

    def sums(self, section: Section, level: int) -> Iterator[Block]:
        """Write the subtotal of one copy, and all copies."""
        one, every = (self.say(text) for text in COPIES.get(section.kind, LAYERS))
        if len(section.parts) > 1:
            label = one if section.copies != 1 else self.say("sum")
            addends = Sum(tuple(Number(part.value) for part in section.parts))
            yield Equation(level, (addends, Number(section.each)), _label(label, self.say))
        if letters(section.formula) and (not section.parts or section.copies != 1):
            collected = polynomial(section.formula)
            steps = (
                chain(section.formula, self.values) if len(collected.terms) <= MOST else (formula_by_module(section), Number(section.each))
            )
            steps = steps if section.parts else chain(section.formula, self.values)
            yield Equation(level, steps, _label(self.say("in letters"), self.say))
        if section.copies != 1:
            steps = chain(Product((section.times, Number(section.each))), self.values)
            yield Equation(level, steps, _label(every.format(copies=f"{section.copies:,}"), self.say))

    def once(self, says: tuple[str, ...], level: int, tower: str = "") -> Iterator[Block]:
        """Write the sentences that were not written before; where positions come from is said in each *tower*, where its absence would say no."""
        keys = {text: f"{tower} {text}" if tower and getattr(text, "template", text) in OF_EACH else text for text in says}
        new = [self.say(text) for text, key in keys.items() if key not in self.sentences]
        self.sentences.update(keys.values(), says)
        if new:
            yield Paragraph(level, (" " if new[0].isascii() else "").join(new))


def _likeness(section: Section) -> object:
    """Return a key of titles, formulas and copies that is equal for sections that differ only in position."""
    inside = tuple(
        (part.title, write(part.formula, TEXT), part.tied) if isinstance(part, Line) else (_likeness(part), part.copies)
        for part in section.parts
    )
    return section.title, write(section.formula, TEXT), inside


def _insight(derivation: Derivation, insight: Insight, say: Say) -> Iterator[Block]:
    yield Heading(1, "", say("The formula as a whole"))
    yield Equation(1, (insight.factored, Number(derivation.total)), _label(say("closed formula"), say))
    if insight.relations:
        relations = say(", ").join(f"{symbol.letter} = {write(multiple, UNICODE)}" for symbol, multiple in insight.relations)
        label = _label(say("collected, as {relations}").format(relations=relations), say)
        yield Equation(1, (insight.collected, Number(derivation.total)), label)
    if letters(insight.leading):
        yield Equation(1, chain(insight.leading, derivation.values), _label(say("leading term"), say))
        (share,) = shares([insight.leading_value], derivation.total)
        yield Paragraph(1, say("The leading term alone makes up {share} of the total.").format(share=share))
    if insight.changes:
        yield Heading(1, "", say("What a change costs"))
        for change in insight.changes:
            yield from _change(change, derivation.values, say)


def _label(label: str, say: Say) -> str:
    return say("{label}: ").format(label=label)


def _change(change: Change, values: dict[str, int], say: Say) -> Iterator[Block]:
    head = say("{meaning} ({key}) + {by}").format(meaning=say(change.symbol.meaning), key=change.symbol.key, by=change.by)
    yield Item(1, "", head)
    if change.formula is not None:
        yield Equation(2, chain(change.formula, values))
    elif change.follows:
        text = say("{more} more parameters: {keys}, which the config leaves out, grows with it")
        text = text if len(change.follows) == 1 else say("{more} more parameters: {keys}, which the config leaves out, grow with it")
        yield Paragraph(2, text.format(more=f"{change.value:,}", keys=say(", ").join(change.follows)))
    else:
        yield Paragraph(2, say("{more} more parameters if nothing else changes").format(more=f"{change.value:,}"))
    if change.kept is not None:
        yield Paragraph(2, say("{more} more parameters if the sizes proportional to it grow with it").format(more=f"{change.kept:,}"))
