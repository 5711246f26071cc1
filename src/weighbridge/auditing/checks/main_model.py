"""Which model a whole text is about: the names it mentions and the sizes it states, held against the known models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from weighbridge.auditing.claims import Reason, because
from weighbridge.auditing.thresholds import AGREED_SIZES
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import preset_configs

if TYPE_CHECKING:
    from typing import Any

KEYS = {
    "vocab": ("vocab_size", "n_vocab"),
    "hidden": ("hidden_size", "n_embd", "d_model", "dim"),
    "layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "heads": ("num_attention_heads", "n_head", "num_heads", "n_heads"),
    "mlp": ("intermediate_size", "n_inner", "d_ff", "hidden_dim", "ffn_dim"),
    "positions": ("max_position_embeddings", "n_positions"),
    "types": ("type_vocab_size",),
}
"""The config keys of each size."""


class AssumedModel(NamedTuple):
    """The model a text is about, why, whether it is named there, and whether its numbers may be held against the text."""

    name: str
    config: Mapping[str, Any] | None
    why: Reason
    named: bool = False
    firm: bool = True
    given: bool = False


def sizes_of(config: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes that a config states, by our words.

    >>> sizes_of({"hidden_size": 768})
    {'hidden': 768}
    """
    found: dict[str, int] = {}
    for word, keys in KEYS.items():
        for key in keys:
            if isinstance(config.get(key), int):
                found.setdefault(word, config[key])
    return found


def assume(named: Sequence[str], stated: Mapping[str, int], *, bert: bool, allowed: Collection[str] = ()) -> AssumedModel | None:
    """Choose the model that a text is about.

    Args:
        named: Presets it names, the most often named first.
        stated: Sizes it states of its main model.
        bert: Whether it speaks of BERT at all.
        allowed: The presets of all names and families in it; no other is taken for it by its sizes, if there are any.

    >>> assume([], {"vocab": 21128, "hidden": 768, "layers": 12}, bert=True).name
    'bert-base-chinese'
    """
    best: tuple[float, str, int, int] | None = None
    for name, config in preset_configs().items():
        if allowed and name not in allowed:
            continue
        sizes = sizes_of(config)
        agreed = sum(sizes.get(word) == value for word, value in stated.items())
        differ = sum(word in sizes and sizes[word] != value for word, value in stated.items())
        rank = (
            agreed - 2 * differ + (2.5 - 0.5 * named.index(name) if name in named else 0) + (0.5 if name.startswith("bert") and bert else 0)
        )
        if best is None or rank > best[0]:
            best = (rank, name, agreed, differ)
    if best is None:
        return None
    _, name, agreed, differ = best
    if differ <= 1 and name in named:
        return AssumedModel(name, None, because(mark("named in the text")), named=True)
    if name in allowed and differ <= 1 and agreed >= AGREED_SIZES:
        return AssumedModel(
            name, None, because(mark("the text names its family, and {count} of the sizes are its own"), count=agreed), named=True
        )
    if differ <= 1 and agreed >= 3 + 2 * differ:
        return AssumedModel(name, None, because(mark("{count} sizes that the text states are its own"), count=agreed))
    if bert and {"vocab", "hidden", "layers"} <= set(stated):
        config = {"model_type": "bert", **{KEYS[word][0]: value for word, value in stated.items() if word in KEYS}}
        config.setdefault("intermediate_size", 4 * stated["hidden"])
        return AssumedModel("BERT with the sizes of the text", config, because(mark("the text states its sizes")))
    if bert and not named and len(stated) <= 1:
        return AssumedModel(
            "bert-base-uncased", None, because(mark("the text is about BERT, so its formulas are checked against BERT")), firm=False
        )
    return None
