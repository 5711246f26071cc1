"""A derivation as a document and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge.core.formula import Expression, Number, Product, Sum
from weighbridge.core.messages import Say, mark, translator
from weighbridge.core.notation import LATEX, TEXT, UNICODE, write
from weighbridge.documents.document import Block, Column, Document, Equation, Heading, Item, Paragraph, Row, Share, Table
from weighbridge.explain.derive import Derivation, Line, Section
from weighbridge.explain.evaluation_steps import chain
from weighbridge.explain.sensitivity import Change, Insight

COPIES = {"experts": (mark("one expert"), mark("all {copies} experts"))}
LAYERS = (mark("one layer"), mark("all {copies} layers"))


def document(derivation: Derivation) -> Document:
    """Lay a derivation out.

    >>> from weighbridge import model
    >>> document(model("bert-base-chinese").explain("zh")).figure
    '102,267,648 个参数'
    """
    say = translator(derivation.language)
    blocks = (
        *_symbols(derivation, say),
        *_Writer(say, derivation.values).body(derivation.root),
        *(_insight(derivation, derivation.insight, say) if derivation.insight else ()),
    )
    return Document(derivation.title, say("{total} parameters").format(total=f"{derivation.total:,}"), blocks, derivation.language)


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
    }


def _part_json(part: Line | Section, values: dict[str, int]) -> dict[str, Any]:
    head = {"number": part.number, "title": part.title, "sentence": part.sentence, "kind": part.kind}
    if isinstance(part, Line):
        steps = [write(step, UNICODE) for step in chain(part.formula, values)]
        return {
            **head, "modules": list(part.paths), "formula": _formula_json(part.formula), "steps": steps, "value": part.value,
            "tied": list(part.tied),
        }  # fmt: skip
    return {
        **head, "path": part.path, "formula": _formula_json(part.formula), "times": write(part.times, TEXT), "copies": part.copies,
        "where": part.where,
        "each": part.each, "value": part.value, "share": str(Share(part.share)),
        "parts": [_part_json(inner, values) for inner in part.parts],
    }  # fmt: skip


def _formula_json(formula: Expression) -> dict[str, str]:
    return {"text": write(formula, TEXT), "latex": write(formula, LATEX)}


def _insight_json(insight: Insight) -> dict[str, Any]:
    return {
        "factored": _formula_json(insight.factored),
        "relations": [f"{symbol.letter} = {write(multiple, TEXT)}" for symbol, multiple in insight.relations],
        "collected": _formula_json(insight.collected),
        "leading": {**_formula_json(insight.leading), "value": insight.leading_value},
        "changes": [
            {"key": change.symbol.key, "by": change.by, "formula": write(change.formula, TEXT) if change.formula is not None else None,
             "value": change.value, "with_relations": change.kept}
            for change in insight.changes
        ],
    }  # fmt: skip


def _symbols(derivation: Derivation, say: Say) -> Iterator[Block]:
    if not derivation.symbols:
        return
    columns = (Column(say("symbol"), "letter"), Column(say("config key")), Column(say("meaning")), Column(say("value"), "integer"))
    rows = (Row((symbol.letter, symbol.key, meaning, derivation.values[symbol.letter])) for symbol, meaning in derivation.symbols)
    yield Heading(1, "", say("Symbols"))
    yield Table(columns, tuple(rows))


class _Writer:
    """Writes sections; remembers which kinds of module it has already explained."""

    def __init__(self, say: Say, values: dict[str, int]) -> None:
        self.say = say
        self.values = values
        self.told: set[str] = set()

    def body(self, root: Section) -> Iterator[Block]:
        for part in root.parts:
            yield from self.section(part, 1) if isinstance(part, Section) else self.line(part, 1)
        if root.parts:
            yield Heading(1, "", self.say("Total"))
        yield from self.sums(root, 1)

    def section(self, section: Section, level: int, outer: int = 1) -> Iterator[Block]:
        """Write a section; *outer* is how many copies there are of what it stands in, so that its share is that of all of them."""
        copies = f" × {section.copies:,}" if section.copies != 1 else ""
        share = f" ({Share(section.share)})" if section.share or section.value else ""
        where = f" [{section.where}]" if section.where else ""
        figure = f"{section.value:,}" if outer == 1 else f"{outer:,} × {section.value:,} = {outer * section.value:,}"
        yield Heading(level, section.number, section.title + copies + where, f"{figure}{share}")
        yield from self.once(section.sentence, level)
        only = section.parts[0] if len(section.parts) == 1 else None
        if isinstance(only, Line):
            yield from self.line(only._replace(number="", title="" if only.title == section.title else only.title), level)
        else:
            for part in section.parts:
                yield from self.section(part, level + 1, outer * section.copies) if isinstance(part, Section) else self.line(part, level)
        yield from self.sums(section, level)

    def line(self, line: Line, level: int) -> Iterator[Block]:
        yield Item(level, line.number, line.title, line.paths)
        yield from self.once(line.sentence, level + 1)
        if line.tied:
            text = self.say("Shares the storage of {names}, which is counted above.").format(names=self.say(", ").join(line.tied))
            yield Paragraph(level + 1, text)
        yield Equation(level + 1, chain(line.formula, self.values))

    def sums(self, section: Section, level: int) -> Iterator[Block]:
        """Write the subtotal of one copy, and all copies."""
        one, every = (self.say(text) for text in COPIES.get(section.kind, LAYERS))
        if len(section.parts) > 1:
            label = one if section.copies != 1 else self.say("sum")
            addends = Sum(tuple(Number(part.value) for part in section.parts))
            yield Equation(level, (addends, Number(section.each)), _label(label, self.say))
        if not section.parts or section.copies != 1:
            yield Equation(level, chain(section.formula, self.values), _label(self.say("in letters"), self.say))
        if section.copies != 1:
            steps = chain(Product((section.times, Number(section.each))), self.values)
            yield Equation(level, steps, _label(every.format(copies=f"{section.copies:,}"), self.say))

    def once(self, sentence: str, level: int) -> Iterator[Block]:
        if sentence and sentence not in self.told:
            self.told.add(sentence)
            yield Paragraph(level, sentence)


def _insight(derivation: Derivation, insight: Insight, say: Say) -> Iterator[Block]:
    yield Heading(1, "", say("The formula as a whole"))
    yield Equation(1, (insight.factored, Number(derivation.total)), _label(say("closed formula"), say))
    if insight.relations:
        relations = say(", ").join(f"{symbol.letter} = {write(multiple, UNICODE)}" for symbol, multiple in insight.relations)
        label = _label(say("collected, as {relations}").format(relations=relations), say)
        yield Equation(1, (insight.collected, Number(derivation.total)), label)
    yield Equation(1, chain(insight.leading, derivation.values), _label(say("leading term"), say))
    share = Share((insight.leading_value * 2000 + derivation.total) // (2 * derivation.total))
    yield Paragraph(1, say("The leading term alone explains {share} of the total.").format(share=share))
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
    else:
        yield Paragraph(2, say("{more} parameters more, all other sizes as they are").format(more=f"{change.value:,}"))
    if change.kept is not None:
        yield Paragraph(2, say("{more} parameters more, the multiples of it growing along").format(more=f"{change.kept:,}"))
