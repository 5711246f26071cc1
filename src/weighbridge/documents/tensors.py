"""The tensors of a model as a document and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.messages import mark, translator
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.documents.headline import headline
from weighbridge.verification.checkpoint_names import list_tensors

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def as_json(model: ModelValue, names: str = "reference") -> list[dict[str, Any]]:
    """Return the answer of ``weigh tensors --json``.

    >>> from weighbridge import model
    >>> as_json(model("bert-base-uncased"))[0]
    {'name': 'embeddings.word_embeddings.weight', 'shape': [30522, 768], 'count': 23440896, 'role': 'embedding', 'tied_to': None}
    """
    answer = []
    for row in list_tensors(model, names):
        entry = {"name": row.name, "shape": list(row.shape), "count": row.count, "role": row.role, "tied_to": row.tied_to}
        if row.dtype is not None:
            entry["dtype"] = row.dtype
        answer.append(entry)
    return answer


def document(model: ModelValue, names: str = "reference", lang: str = "en") -> Document:
    """Return the document of ``weigh tensors``: one row a tensor, in the reference's order."""
    say = translator(lang)
    rows = []
    for row in list_tensors(model, names):
        count = row.count
        assert isinstance(count, int)
        rows.append(Row((row.name, f"[{', '.join(map(str, row.shape))}]", count, row.role, f"= {row.tied_to}" if row.tied_to else "")))
    tally = tally_of(model)
    figures = {"tensors": f"{len(rows):,}", **{name: f"{getattr(tally, name):,}" for name in ("duplicated", "unique", "buffers")}}
    texts = [say("{tensors} tensors, {duplicated} elements by name, {unique} unique parameters.").format(**figures)]
    if tally.buffers:
        texts.append(say("{buffers} elements are buffers, not parameters.").format(**figures))
    table = Table(tuple(Column(say(title), kind) for title, kind in COLUMNS), tuple(rows))
    return Document(headline(model, say), say("{total} parameters").format(total=figures["unique"]), (table, *notes(texts)), lang)


COLUMNS = (
    (mark("name"), "text"),
    (mark("shape"), "text"),
    (mark("count"), "integer"),
    (mark("role"), "text"),
    (mark("tied to"), "tie"),
)
