"""The FLOPs of a model as JSON; apart from the document, so that ``--json`` loads no tables or sentences."""

from __future__ import annotations

from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry
from weighbridge.accounts.outputs_trust import flops_and_outputs
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.value import ModelValue


def as_json(model: ModelValue, given: Inputs) -> dict[str, Any]:
    """Return the answer of ``weigh flops --json``.

    >>> from weighbridge import model
    >>> as_json(model("bert-base-uncased"), Inputs())["forward_matmul"]
    22348431360
    """
    flops, outputs, trust = flops_and_outputs(model, given)
    return {
        "source": model.source,
        "class": model.class_name or None,
        **given._asdict(),
        "forward_matmul": flops.forward_matmul,
        "forward": flops.forward,
        "backward": flops.backward,
        "outputs": outputs,
        "trust": {"outputs": trust},
        "tree": _node(flops.ledger),
    }


def _node(entry: Entry) -> dict[str, Any]:
    node: dict[str, Any] = {"name": entry.part.name, "kind": entry.part.kind, "forward_matmul": entry.amount}
    if entry.part.repeat is not None or entry.part.executions is not None:
        node |= {"times": entry.times, "each": entry.each}
    own = [{"name": line.node.name, "forward_matmul": line.amount} for line in entry.lines if line.amount]
    if own:
        node["lines"] = own
    if entry.children:
        node["children"] = [_node(child) for child in entry.children]
    return node
