"""Granite Docling: tiles of a page through SigLIP's tower, joined to several layers of a Granite on a coarse or a fine path.

Source: IBM, Granite for Docling (2026); names as in transformers 5.23.0, models/granite_docling/modeling_granite_docling.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS as TEXT_IGNORED_KEYS
from weighbridge.blueprints.modules.clip_towers import image_fields, stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, merge_squares, with_lm_head, without_head
from weighbridge.blueprints.multimodal import idefics3
from weighbridge.config.family import Family
from weighbridge.config.fields import TIED, Config, Field, choice, computed, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

VISION = (
    *stack_fields(768, 3072, 12),
    *image_fields(512, 16),
    size("out", "out_hidden_size", 1024, "O", "width of a text token"),
    size("factor", "scale_factor", 4, "F", "patches merged along an axis"),
    Field("taps", "deepstack_visual_indexes", [3, 7, 10], "sequence", read=len),
    switch("fine", "use_fine_route", True),
)


def path(c: Config, name: str, factor: Size, stream: Stream) -> Part:
    """Describe one way of merging squares of patches: the last states, and those of each layer tapped."""
    wide = c.hidden * factor * factor
    merger = layer_norm("layer_norm", wide), linear("linear_1", wide, c.out), linear("linear_2", c.out, c.out)
    taps = (part("deepstack_mergers", *merger, kind="projector", repeat=c.taps),) if c.taps else ()
    return part(name, linear("projection", wide, c.out, bias=False), *taps, kind="projector", stream=stream)


def vision(c: Config) -> Part:
    """Describe the tower and the connector in it; the fine path runs in place of the coarse one where a page asks for it."""
    merged = merge_squares(c.patches, c.factor)
    connector = part(
        "connector",
        layer_norm("ln_in", c.hidden),
        path(c, "coarse", c.factor, merged),
        *((path(c, "fine", c.factor // 2, 0),) if c.fine else ()),
        layer_norm("ln_mid", c.out, stream=merged),
        linear("mlp_fc2", c.out, c.out, bias=False, stream=merged),
        layer_norm("ln_out", c.out, stream=merged),
        kind="projector",
    )
    tower = idefics3.vision(c)
    return replace(tower, children=(*tower.children, connector))


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the text and, if there is one, the router that decides which path a page takes."""
    tower = as_child("vision_model", submodel(c.vision), requires="images", executions="images")
    H = c.vision.hidden
    router: tuple[Part, ...] = ()
    if c.routed:
        scores = linear("att", H, 1, stream=c.vision.patches), layer_norm("norm", H)
        inner = *scores, linear("fc1", H, c.router), linear("fc2", c.router, 1)
        router = (part("density_router", *inner, kind="router", stream="one", requires="images", executions="images"),)
    return (tower, as_child("text_model", submodel(c.text)), *router)


def refuse_mismatch(c: Config) -> bool:
    """Refuse what the class refuses: a tower that outputs another width than the text's, a router without a fine path."""
    if c.vision.out != c.text.hidden:
        raise ConfigError("differs from the text's hidden_size", key="vision_config.out_hidden_size", value=c.vision.out)
    if c.routed and not c.vision.fine:
        raise ConfigError("a router needs the fine path", key="density_router_hidden_size", hint="set use_fine_route")
    return True


FIELDS = (
    model_config("vision", "vision_config", "granite_docling_vision", fixed=True),
    model_config("text", "text_config", "granite_docling_text", fixed=True),
    size("router", "density_router_hidden_size", 1, "R", "inner width of the router", report_default=False),
    choice("routed", "density_router_hidden_size", None, read=lambda value: value is not None, report_default=False),
    TIED,
    computed("checked", refuse_mismatch),
)
TEXT = variant(LLAMA, vocab=133800, hidden=1024, mlp=2048, layers=28, heads=16, kv_heads=4, tied=True)
CLASSES = {
    "GraniteDoclingModel": without_head(body),
    "GraniteDoclingForConditionalGeneration": with_lm_head(body, "text_model.embed_tokens"),
}
FAMILIES = {
    "granite_docling": Family(
        "granite_docling",
        FIELDS,
        CLASSES,
        "GraniteDoclingModel",
        IGNORED_KEYS | {"density_router_loss_weight", "density_router_threshold"},
    ),
    "granite_docling_vision": Family("granite_docling_vision", VISION, {"GraniteDoclingVisionModel": vision}, "GraniteDoclingVisionModel"),
    "granite_docling_text": Family(
        "granite_docling_text",
        TEXT,
        {"GraniteDoclingTextModel": lambda c: part("", *llama(c), kind="model")},
        "GraniteDoclingTextModel",
        TEXT_IGNORED_KEYS,
    ),
}
