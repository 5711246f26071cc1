"""What autograd keeps of a forward pass until its backward: bytes by module, equal to what ``saved_tensors_hooks`` sees.

Every storage counts once; parameters, buffers and the inputs are left out, as somebody else holds them.
"""

from __future__ import annotations

from weighbridge.accounts.memory.forward_pass import ForwardPass
from weighbridge.accounts.memory.forwards import FORWARDS
from weighbridge.accounts.memory.heads import head, loss
from weighbridge.accounts.memory.modules import Ways, run_module
from weighbridge.accounts.memory.pair_forwards import contrast, pair
from weighbridge.accounts.memory.styles import STYLES, Style, dropout_places
from weighbridge.accounts.memory.tape import Tape
from weighbridge.accounts.memory.values import FLOAT
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.tree import Part, walk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from weighbridge.accounts.memory.tape import Call, LowRank, Place, Row, Segment


class Activations(NamedTuple):
    """What is kept.

    Attributes:
        bytes: All of it.
        rows: Each kept storage with its module, shape and copies.
        segments: Which rows are those of layers.
        calls: The calls through which gradients flow back.
        moments: What a forward makes and lets go at once: its bytes, and how many rows are kept by then.
        body: How many of the rows are those of the body.
        idle: Bytes of caches and scores that are alive at the end of a forward, and not kept for backward.
        trust: ``exact`` or ``estimate``.
    """

    bytes: int
    rows: tuple[Row, ...]
    segments: tuple[Segment, ...]
    calls: tuple[Call, ...]
    moments: tuple[tuple[int, int], ...]
    body: int
    idle: int
    trust: str


class Pass(NamedTuple):
    """The forward pass that is asked about; see :meth:`weighbridge.model.Model.memory`."""

    batch: int = 1
    seq: int = 128
    decoder_seq: int | None = None
    size: int = 4
    attention: str = "eager"
    dropout: bool = False
    loss: bool = False
    checkpointing: str = "none"
    device: str = "cpu"
    cached: bool = True
    returns: bool = True
    trained: frozenset[Place] | None = None
    adapted: Mapping[tuple[int, int | None], LowRank] = {}
    compared: int | None = None


def activations(model_type: str, class_name: str, tree: Part, config: dict[str, Any], setup: Pass) -> Activations:
    """Run the forward of a class on a tape.

    Raises:
        UsageError: A type or class whose forward is not described.
    """
    style = STYLES.get(model_type)
    if style is None:
        raise UsageError(
            Text(
                "activations: what the forward pass of {model_type} keeps for the backward pass is not described",
                model_type=model_type,
            )
        )
    dropped = dropout_places(style, class_name, config) if setup.dropout else frozenset()
    tape = Tape(dropped, cuda=setup.device == "cuda", returns=setup.returns)
    tape.trained, tape.adapted = setup.trained, setup.adapted
    attention = "eager" if style.eager_only else setup.attention
    # what is computed again fills no cache
    cached = setup.cached and config.get("use_cache", style.cached) is not False and setup.checkpointing != "full"
    ways = Ways(setup.size, attention, setup.checkpointing, cached)
    run = ForwardPass(tape, ways, style, config, setup.batch, lengths(tree, style, setup), setup.compared, dropped, setup.dropout)
    bodies = [node for node in tree.children if isinstance(node, Part) and node.kind in BODIES]
    towers = {body.kind: (_tower(run, body.kind), body) for body in bodies} if style.forward == "pair" else {}
    if len(towers) == 2:
        logits = pair(run, tree, towers)
        tape.body = len(tape.rows)
    else:
        body = bodies[0] if bodies else tree
        run = towers[body.kind][0] if towers else run
        tape.dropped = run.dropped
        states = run_module(tape, body.name, lambda: FORWARDS[run.style.forward](run, body))
        tape.body = len(tape.rows)
        logits = head(run, class_name, tree, body, states)
    tape.idle += 0 if logits.storage.held else logits.storage.bytes
    if setup.loss and len(towers) == 2:
        contrast(run, logits)
    elif setup.loss:
        loss(run, class_name, tree, logits)
    plain = attention == "eager" and not setup.dropout and setup.checkpointing == "none"
    exact = plain and setup.size <= FLOAT and setup.device == "cpu"
    trust = "exact" if exact else "estimate"
    return Activations(
        tape.bytes, tuple(tape.rows), tuple(tape.segments), tuple(tape.calls), tuple(tape.moments), tape.body, tape.idle, trust
    )


BODIES = ("backbone", "text", "vision")
"""Kinds of the parts that hold everything but heads."""


def _tower(run: ForwardPass, kind: str) -> ForwardPass:
    """Return the pass of one tower of a pair: with its own config, whose older form comes after the newer one."""
    name = run.style.towers[kind == "vision"]
    config: dict[str, Any] = {"model_type": name}
    for key in (f"{kind}_config", f"{kind}_config_dict"):
        config |= run.config.get(key) or {}
    style = STYLES[name]._replace(averaged=run.style.averaged)
    dropped = dropout_places(style, "", config) if run.dropping else frozenset()
    return run._replace(style=style, config=config, dropped=dropped)


def lengths(tree: Part, style: Style, setup: Pass) -> dict[str, int]:
    """Return the tokens of each stack: of an image its patches, of sound its frames, whatever was asked."""
    decoder = setup.seq if setup.decoder_seq is None else setup.decoder_seq
    found = {"seq": setup.seq, "decoder": decoder}
    if style.forward == "pair" or (style.forward == "tower" and not style.words):
        found["image"] = next(
            (part.stream for _, part in walk(tree) if isinstance(part.stream, int) and part.kind in (*BODIES, "model")), 0
        )
    frames = [2 * part.stream for _, part in walk(tree) if isinstance(part.stream, int) and part.kind == "encoder"]
    if style.forward == "whisper" and frames:
        found["seq"] = frames[0]
    return found
