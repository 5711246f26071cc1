"""The FLOPs of a model as a document and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.accounts.flops import flops_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.documents.document import Document
    from weighbridge.value import ModelValue


def as_json(model: ModelValue, given: Inputs) -> dict[str, Any]:
    """Return the answer of ``weigh flops --json``.

    >>> from weighbridge import model
    >>> as_json(model("bert-base-uncased"), Inputs())["forward_matmul"]
    22348431360
    """
    flops = flops_of(model, given)
    return {
        "source": model.source,
        "class": model.class_name or None,
        **given._asdict(),
        "forward_matmul": flops.forward_matmul,
        "forward": flops.forward,
        "backward": flops.backward,
        "tree": _node(flops.ledger),
    }


def _node(entry: Entry) -> dict[str, Any]:
    node: dict[str, Any] = {"name": entry.name, "kind": entry.part.kind, "forward_matmul": entry.amount}
    if entry.part.repeat is not None or entry.part.executions is not None:
        node |= {"times": entry.times, "each": entry.each}
    own = [{"name": line.node.name, "forward_matmul": line.amount} for line in entry.lines if line.amount]
    if own:
        node["lines"] = own
    if entry.children:
        node["children"] = [_node(child) for child in entry.children]
    return node


def _inputs(given: Inputs, say: Callable[[str], str] = str) -> str:
    """Say what an example holds beside its text.

    >>> _inputs(Inputs(images=2, patches=(16, 24)))
    ', 2 images of 16 × 24 patches each'
    """
    text = ""
    if given.images:
        text += say(SENTENCES[given.images == 1]).format(images=given.images)
    if given.patches:
        text += say(" of {rows} × {columns} patches each").format(rows=given.patches[0], columns=given.patches[1])
    if given.audios:
        text += say(SENTENCES[2 + (given.audios == 1)]).format(audios=given.audios)
    return text + (say(", {question} of them a question's").format(question=given.question) if given.question else "")


SENTENCES = (mark(", {images} images"), mark(", {images} image"), mark(", {audios} audio clips"), mark(", {audios} audio clip"))


def document(model: ModelValue, given: Inputs, lang: str = "en") -> Document:
    """Return the document of ``weigh flops``: the matrix products of a forward pass, by module."""
    from weighbridge.core.messages import translator
    from weighbridge.documents import human
    from weighbridge.documents.count import headline
    from weighbridge.documents.document import Document, notes
    from weighbridge.documents.tree_rows import all_that_costs, tree_table

    say = translator(lang)
    flops = flops_of(model, given)
    whole = flops.forward_matmul
    assert isinstance(whole, int)
    amounts = {name: f"{getattr(flops, name):,}" for name in ("forward_matmul", "backward", "forward")}
    texts = (
        say("{flops} forward.").format(flops=human.flops(whole)),
        say("{batch} × {seq} tokens{more}; a multiply-add is two FLOPs, a look-up none; causal attention is counted in full.").format(
            batch=given.batch, seq=given.seq, more=_inputs(given, say)
        ),
        say("Matrix products: forward {forward_matmul}, backward {backward}. With biases, gains and shifts forward is {forward}.").format(
            **amounts
        ),
    )
    figure = say("{forward_matmul} FLOPs forward").format(**amounts)
    return Document(headline(model, say), figure, (tree_table(flops.ledger, all_that_costs, say=say), *notes(texts)), lang)
