"""The FLOPs of a model as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.accounts.flops import flops_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.core.messages import Say, mark, translator
from weighbridge.core.tree import attentions
from weighbridge.documents import human
from weighbridge.documents.document import Document, notes
from weighbridge.documents.flops_json import as_json
from weighbridge.documents.given import describe_inputs
from weighbridge.documents.headline import headline
from weighbridge.documents.tree_rows import all_that_costs, tree_table

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

__all__ = ["as_json", "document"]


def _inputs(given: Inputs, say: Say = str) -> str:
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


def _rules(model: ModelValue, given: Inputs, say: Say) -> str:
    """Say what is put in, and what counts as how much."""
    what = describe_inputs(model, given, say, _inputs(given, say))
    text = say("{what}; a multiply-add is two FLOPs, a look-up none.").format(what=what)
    return text + say(" Causal attention is counted in full.") if any(attend.causal for attend in attentions(model.tree)) else text


def document(model: ModelValue, given: Inputs, lang: str = "en") -> Document:
    """Return the document of ``weigh flops``: the matrix products of a forward pass, by module."""
    say = translator(lang)
    flops = flops_of(model, given)
    whole = flops.forward_matmul
    assert isinstance(whole, int)
    amounts = {name: f"{getattr(flops, name):,}" for name in ("forward_matmul", "backward", "forward")}
    texts = (
        say("{flops} forward.").format(flops=human.flops(whole)),
        _rules(model, given, say),
        say("Matrix products: forward {forward_matmul}, backward {backward}. With biases, gains and shifts forward is {forward}.").format(
            **amounts
        ),
    )
    figure = say("{forward_matmul} FLOPs forward").format(**amounts)
    return Document(headline(model, say), figure, (tree_table(flops.ledger, all_that_costs, say=say), *notes(texts)), lang)
