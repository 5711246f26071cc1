"""Transformer layers whose weights are shared every few layers (Zamba, Zamba2): owners, ties, and classes.

Source: arXiv 2405.16712, 2411.15242; class and tensor names as in transformers 5.23.0, models/zamba and models/zamba2.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.config.family import Blueprint
from weighbridge.config.fields import Config
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import embedding, linear, part, replace, rms_norm, stack
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import TypeVar

    Kind = TypeVar("Kind")


def tied_to_owner(module: Part, owner: str) -> Part:
    """Say that every tensor of a part is the storage of the one with the same name under *owner*."""
    children: list[Node] = []
    for child in module.children:
        if isinstance(child, Tensor):
            child = replace(child, tied_to=f"{owner}{child.name}")
        elif isinstance(child, Part):
            child = tied_to_owner(child, f"{owner}{child.name}.")
        children.append(child)
    return replace(module, children=tuple(children))


def owners(c: Config, blocks: int) -> list[int | None]:
    """Return for each layer whose transformer it shares: None has none, -1 owns its own, else the layer's index.

    Nothing is shared where ``tie_word_embeddings`` is off: the reference then ties nothing at all.
    """
    found: list[int | None] = []
    places: list[int] = []
    for index, kind in enumerate(c.mixers):
        found.append(None if kind != "hybrid" else -1 if len(places) < blocks or not c.tied else places[len(places) % blocks])
        places += [index] if kind == "hybrid" else []
    return found


def body(c: Config, kinds: list[Kind], layer: Callable[[Kind], tuple[Node, ...]]) -> tuple[Node, ...]:
    """Describe embeddings, layers and a last norm."""
    layers = stack("layers", kinds, c.layers, layer)
    return (embedding("embed_tokens", c.vocab, c.hidden), *layers, rms_norm("final_layernorm", c.hidden))


def classes(name: str, inner: Callable[[Config, str], tuple[Node, ...]]) -> dict[str, Blueprint]:
    """Return the three classes of one of the two."""

    def causal(c: Config) -> Part:
        head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to="model.embed_tokens.weight" if c.tied else None)
        return part("", part("model", *inner(c, "model."), kind="backbone"), head, kind="model")

    def sequence(c: Config) -> Part:
        return part("", part("model", *inner(c, "model."), kind="backbone"), linear("score", c.hidden, c.labels, bias=False), kind="model")

    return {
        f"{name}Model": lambda c: part("", *inner(c, ""), kind="model"),
        f"{name}ForCausalLM": causal,
        f"{name}ForSequenceClassification": sequence,
    }
