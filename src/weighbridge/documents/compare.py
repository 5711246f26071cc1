"""A comparison as a document and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from weighbridge.accounts.compare import Comparison, Measure
from weighbridge.accounts.flops import depends_on_length
from weighbridge.accounts.inputs import Inputs
from weighbridge.core.messages import Say, mark, translator
from weighbridge.documents.document import Bars, Column, Document, Row, Table, notes

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

PASS = (
    mark("The FLOPs are those of one forward pass: batch {batch}, each example of fixed size; a multiply-add is two."),
    mark("The FLOPs are those of one forward pass: batch {batch}, {seq} tokens in each example; a multiply-add is two."),
    mark(
        "The FLOPs are those of one forward pass: batch {batch}, each example {seq} tokens, or of the fixed size that a model takes; a multiply-add is two."
    ),
)
"""What the arithmetic is that of, where it does not depend on the number of tokens, where it does, and where it does for some of the models."""
GROUPS = {"parameters": mark("Parameters"), "sizes": mark("Sizes"), "arithmetic": mark("Arithmetic of one pass")}


def document(found: Comparison, lang: str = "en") -> Document:
    """Lay a comparison out: a column for each model, and the differences from the first.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.compare import compare
    >>> document(compare([model("bert-base-uncased"), model("bert-large-uncased")])).tables[1].rows[0].cells
    ('unique parameters', 109482240, 335141888, 225659648, '3.061')
    """
    say = translator(lang)
    names = titles(found.models)
    classes = [Row((name, model.class_name or say("tensors of a file"))) for name, model in zip(names, found.models, strict=True)]
    tables = [Table((Column(say("model")), Column(say("class"))), tuple(classes))]
    measures = distinct_measures(found)
    for group, title in GROUPS.items():
        kept = [measure for measure in measures if measure.group == group]
        if kept and len(names) == 2:
            rows = [Row((say(m.title), *m.values, *m.differences[1:], *map(ratio, m.values[1:], m.values[:1]))) for m in kept]
            tables.append(_table(say(title), [say("measure"), *names, say("difference"), say("ratio")], rows))
        elif kept:
            tables.append(_table(say(title), [say("measure"), *names], [Row((say(m.title), *m.values)) for m in kept]))
    if len(names) > 2:
        title = say("Differences from {first}").format(first=names[0])
        rows = [Row((say(m.title), *m.differences[1:])) for m in measures if any(m.differences)]
        tables.append(_table(title, [say("measure"), *names[1:]], rows))
        title = say("Ratios to {first}").format(first=names[0])
        rows = [Row((say(m.title), *(ratio(value, m.values[0]) for value in m.values[1:]))) for m in measures if any(m.differences)]
        tables.append(_table(title, [say("measure"), *names[1:]], rows))
    values = {measure.key: measure.values for measure in found.measures}
    pairs = zip(values["embedding"], values["non_embedding"], strict=True)
    bars = Bars(tuple((name, (a or 0, b or 0)) for name, (a, b) in zip(names, pairs, strict=True)), (say("in embeddings"), say("all else")))
    texts = [say(why) for why in found.untold]
    if any(measure.group == "arithmetic" for measure in found.measures):
        given = Inputs(batch=found.batch, seq=found.seq)
        known = [model for model, value in zip(found.models, values["forward_matmul"], strict=True) if value is not None]
        grows = {depends_on_length(model, given) for model in known}
        texts.insert(0, say(PASS[2 if len(grows) == 2 else grows == {True}]).format(batch=f"{found.batch:,}", seq=f"{found.seq:,}"))
    title = say("{models} models side by side").format(models=len(names))
    return Document(title, "", (bars, *tables, *tables_of_causes(found, names, say), *notes(texts)), lang)


def distinct_measures(found: Comparison) -> list[Measure]:
    """List the measures to show: one that has the title and the values of an earlier one, such as a square image's width, is left out.

    >>> from weighbridge import compare
    >>> [m.key for m in distinct_measures(compare(["vit-base-patch16-224", "vit-large-patch16-224"])) if m.title == "image size"]
    ['image_height']
    """
    kept = {(measure.group, measure.title, measure.values): measure for measure in reversed(found.measures)}
    return [measure for measure in found.measures if kept[measure.group, measure.title, measure.values] is measure]


def ratio(value: int | None, first: int | None) -> str:
    """Write how many times the first a value is, with four digits; empty where there is none.

    >>> ratio(335141888, 109482240), ratio(3, 0), ratio(1, 3)
    ('3.061', '', '0.3333')
    """
    if value is None or not first:
        return ""
    digits = 3 if value >= first else 4
    scaled = (2 * value * 10**digits + first) // (2 * first)
    return f"{scaled // 10**digits:,}.{scaled % 10**digits:0{digits}d}"


def tables_of_causes(found: Comparison, names: list[str], say: Say) -> Iterator[Table]:
    """Yield for each model but the first the fields behind its difference, which add up with what they do together."""
    for name, explained in zip(names[1:], found.explained, strict=False):
        if explained is None or not explained.causes:
            continue
        rows = [Row((", ".join(cause.fields), cause.a, cause.b, cause.amount)) for cause in explained.causes]
        if explained.interaction:
            rows.append(Row((say("what these change together, beyond each alone"), "", "", explained.interaction)))
        rows.append(Row((say("difference"), "", "", explained.difference), strong=True))
        title = say("What explains {name}").format(name=name)
        columns = (Column(say("config field, changed alone")), Column(names[0]), Column(name), Column(say("parameters"), "integer"))
        yield Table(columns, tuple(rows), title)


def _table(title: str, titles: list[str], rows: list[Row]) -> Table:
    columns = [Column(name, "integer" if index else "text") for index, name in enumerate(titles)]  # flush right, ratios too
    return Table(tuple(columns), tuple(rows), title)


def as_json(found: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data."""
    return {
        "models": [
            {"source": model.source, "kind": model.kind, "model_type": model.model_type, "class": model.class_name or None}
            for model in found.models
        ],
        "measures": [
            {"key": measure.key, "group": measure.group, "values": list(measure.values), "differences": list(measure.differences)}
            for measure in found.measures
        ],
        "untold": list(found.untold),
        "explained": [
            None
            if one is None
            else {
                "difference": one.difference,
                "interaction": one.interaction,
                "fields": [{"fields": list(cause.fields), "a": cause.a, "b": cause.b, "amount": cause.amount} for cause in one.causes],
            }
            for one in found.explained
        ],
    }


def titles(models: tuple[ModelValue, ...]) -> list[str]:
    """Name each model by its source; by its class as well where two have the same source.

    >>> from weighbridge import model
    >>> titles((model("bert-tiny"), model("bert-tiny", "BertForMaskedLM")))
    ['bert-tiny (BertModel)', 'bert-tiny (BertForMaskedLM)']
    """
    sources = [model.source for model in models]
    return [f"{model.source} ({model.class_name})" if sources.count(model.source) > 1 else model.source for model in models]
