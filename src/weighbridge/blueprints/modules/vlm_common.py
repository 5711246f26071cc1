"""Shared parts of vision-language models: the image tower's tokens, ties, and the language-model head.

Images take up tokens of the text: ``seq`` counts them. The tower and what joins it to the text run once for each image.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.reroot import reroot
from weighbridge.config.family import Blueprint
from weighbridge.config.fields import TIED, Config, Field, choice, computed, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import Stream, is_unknown, length, merge, unknown
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

IGNORED_KEYS = frozenset(
    """image_token_id image_token_index video_token_id video_token_index vision_start_token_id vision_end_token_id vision_token_id
    image_seq_length ignore_index boi_token_index eoi_token_index projector_hidden_act""".split()
)
"""Keys that change no tensor: tokens that stand for images, and such."""


def tie_fields() -> tuple[Field, ...]:
    """Declare that the head shares the words of the text tower: the outer config says it, or the text's own."""
    return (
        switch("outer_tied", "tie_word_embeddings", False),
        computed("tied", lambda c: c.outer_tied or c.text.tied),
    )


def per_image(module: Part) -> Part:
    """Mark a part that runs once for each image, and not without."""
    return replace(module, requires="images", executions="images")


def feature_layers(default: Any, *aliases: str) -> Field:
    """Declare of how many of the tower's layers the states are output, side by side."""
    return choice("picked", "vision_feature_layer", default, *aliases, read=lambda layers: 1 if isinstance(layers, int) else len(layers))


def patch_tokens(tower: Part, select: str = "full") -> Stream:
    """Return the stream of a tower's states that is output: all of them, or without the first where *select* is ``default``."""
    stream = unknown("the maps of this vision tower are not a sequence of patches") if tower.stream is None else tower.stream
    if select == "full" or is_unknown(stream):
        return stream
    return length(stream) - 1


def merge_squares(stream: Stream, side: Size) -> Stream:
    """Return the stream of squares of patches; what cannot be cut into squares does not run."""
    return merge(stream, side * side)


def with_lm_head(body: Callable[[Config], tuple[Node, ...]], table: str = "language_model.embed_tokens") -> Blueprint:
    """Return the blueprint of a class that writes: the body under ``model``, and a head that may be the text's words again."""

    def blueprint(c: Config) -> Part:
        owner = f"model.{table}.weight" if c.tied else None
        head = linear("lm_head", c.text.hidden, c.text.vocab, bias=False, tied_to=owner)
        inside = reroot(part("model", *body(c), kind="backbone"), "model.", {})
        return part("", inside, head, kind="model")

    return blueprint


def without_head(body: Callable[[Config], tuple[Node, ...]]) -> Blueprint:
    """Return the blueprint of a class without a head."""
    return lambda c: part("", *body(c), kind="model")


def flat_text_config(text: tuple[Field, ...]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return what settles older configs, which state the text's fields beside the others: they move into ``text_config``.

    Whether the head is tied is a field of the whole config as well, which keeps it.
    """
    keys = {key for field in text for key in (field.key, *field.aliases) if key and key != TIED.key}
    keys |= {"rope_scaling", "rope_parameters", "rope_theta"}

    def with_text_config(raw: Mapping[str, Any]) -> dict[str, Any]:
        if raw.get("text_config") is not None:
            return dict(raw)
        outer = {key: value for key, value in raw.items() if key not in keys}
        return {**outer, "text_config": {key: value for key, value in raw.items() if key in keys}}

    return with_text_config
