"""The FLOPs of a model as a report and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.accounts.flops import flops_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry

if TYPE_CHECKING:
    from weighbridge.documents.document import Report
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


def _seen(given: Inputs) -> str:
    """Say what an example holds beside its text.

    >>> _seen(Inputs(images=2, patches=(16, 24)))
    ', 2 images of 16 × 24 patches each'
    """
    of = f" of {given.patches[0]} × {given.patches[1]} patches each" if given.patches else ""
    images = f", {given.images} image{'s' if given.images != 1 else ''}{of}" if given.images else ""
    sound = f", {given.audios} clip{'s' if given.audios != 1 else ''} of sound" if given.audios else ""
    return images + sound + (f", {given.question} of them a question's" if given.question else "")


def report(model: ModelValue, given: Inputs) -> Report:
    """Return the report of ``weigh flops``: matrix arithmetic of a forward pass, by module."""
    from weighbridge.documents.count import headline
    from weighbridge.documents.document import Report
    from weighbridge.documents.tree_rows import all_that_costs, tree_table

    flops = flops_of(model, given)
    notes = (
        f"{given.batch} × {given.seq} tokens{_seen(given)}; a multiply-add is two FLOPs, a look-up none; causal attention is counted in full.",
        f"Matrix products: forward {flops.forward_matmul:,}, backward {flops.backward:,}. "
        f"With biases, gains and shifts forward is {flops.forward:,}.",
    )
    return Report(headline(model), f"{flops.forward_matmul:,} FLOPs forward", (tree_table(flops.ledger, all_that_costs),), notes)
