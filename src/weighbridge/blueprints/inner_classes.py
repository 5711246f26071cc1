"""A class inside a whole config, such as the text half of CLIP: which sub-configs it can be built from, and what the outer class puts into them."""

from __future__ import annotations

from weighbridge.blueprints import MODULES, family, model_type_of
from weighbridge.config.bind import bind, find_sub_config
from weighbridge.config.fields import Config, Field
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

DEEPEST = 4
"""Sub-configs stand inside each other three deep in the reference (``detector_config.vision_config.backbone_config``)."""

TYPES_BY_KEY = {
    ("sam2", "backbone_config"): "sam2_hiera_det_model",
    ("sam3", "backbone_config"): "sam3_vit_model",
    ("deepseek_ocr2", "encoder_config"): "deepseek_ocr2_encoder",
    ("unlimited_ocr", "encoder_config"): "unlimited_ocr_vision_encoder",
}
"""Model types of sub-configs that the names of the outer type and the key do not tell, by the beginning of the outer type."""


class InnerConfig(NamedTuple):
    """A sub-config as the outer class has it.

    Attributes:
        path: Its key path, such as ``thinker_config.text_config``.
        raw: What it says, and what the outer class puts there.
    """

    path: str
    raw: Mapping[str, Any]


def inner_configs(model_type: str, fields: tuple[Field, ...], raw: Mapping[str, Any]) -> dict[str, list[InnerConfig]]:
    """Return the sub-configs of a config by the model types that they can be read as, the outermost first.

    Args:
        model_type: The outer type.
        fields: Its fields.
        raw: What the config says.
    """
    found: dict[str, list[InnerConfig]] = {}
    for depth in range(DEEPEST):
        for name, inner in _at_depth(model_type, fields, raw, "", depth):
            found.setdefault(name, []).append(inner)
    return found


def builders(class_name: str, model_type: str, fields: tuple[Field, ...], raw: Mapping[str, Any]) -> tuple[str, list[InnerConfig]]:
    """Return the model type inside a config that has a class, and the sub-configs of that type; none if no sub-config can build it.

    Args:
        class_name: A class of the reference, such as ``CLIPTextModel``.
        model_type, fields, raw: The outer type, its fields and its config.
    """
    inside = inner_configs(model_type, fields, raw)
    first = model_type_of(class_name)
    found = first if first in inside else next((name for name in inside if class_name in family(name).classes), "")
    return found or "", inside.get(found or "", [])


def _at_depth(
    model_type: str, fields: tuple[Field, ...], raw: Mapping[str, Any], path: str, depth: int
) -> Iterator[tuple[str, InnerConfig]]:
    sizes: Config | None = None
    for field in fields:
        inner = find_sub_config(field, raw, path) if field.kind == "nested" else None
        if inner is None:
            continue
        given = inner.raw
        rule = HANDED_DOWN.get((model_type, field.key))
        if rule is not None:
            sizes = sizes or _sizes(fields, raw, path)
            given = {**given, **rule(sizes)}
        names = [inner.model_type] if inner.model_type else _type_names(model_type, field.key)
        if depth == 0:
            yield from ((name, InnerConfig(path + field.key, given)) for name in names if name in MODULES)
        else:
            outer = next((name for name in names if name in MODULES), f"{model_type}_{field.key.removesuffix('_config')}")
            yield from _at_depth(outer, inner.fields, given, f"{path}{field.key}.", depth - 1)


def _sizes(fields: tuple[Field, ...], raw: Mapping[str, Any], path: str) -> Config:
    """Return the outer sizes; where the outer class alone refuses them, those of its sub-configs, which build the inner classes nonetheless."""
    try:
        return bind(fields, raw, path=path)
    except ConfigError:
        return bind(tuple(field for field in fields if field.kind == "nested"), raw, path=path)


def _type_names(outer: str, key: str) -> list[str]:
    """Return the model types that the reference may give a sub-config that names none."""
    begun = "_".join(outer.replace("-", "_").replace(".", "_").removesuffix("_model").split("_"))
    name = key.removesuffix("_config")
    stems = dict.fromkeys(
        (begun, *(begun.removesuffix(f"_{part}") for part in ("vision", "audio", "text", "encoder", "detector", "tracker")))
    )
    listed = [known for (start, one), known in TYPES_BY_KEY.items() if one == key and begun.startswith(start)]
    return [*listed, *(f"{stem}_{name}{end}" for stem in stems for end in ("_model", "", "_vision_model")), name]


def _like_vision(c: Config) -> dict[str, Any]:
    return {"encoder_hidden_size": c.vision.hidden}


def _like_text(c: Config) -> dict[str, Any]:
    return {"text_hidden_size": c.text.hidden}


def _like_both_halves(c: Config) -> dict[str, Any]:
    return {"projection_dim": c.projected}


HANDED_DOWN: dict[tuple[str, str], Callable[[Config], dict[str, Any]]] = {
    ("blip", "text_config"): _like_vision,
    ("blt", "global_config"): lambda c: {"encoder_cross_output_size": c.encoder.hidden * c.across if c.projected else None},
    ("blip-2", "qformer_config"): _like_vision,
    ("clap", "audio_config"): _like_both_halves,
    ("clap", "text_config"): _like_both_halves,
    ("granite4_vision", "qformer_config"): lambda c: {
        "hidden_size": c.vision.hidden,
        "num_attention_heads": c.vision.hidden // 64,
        "encoder_hidden_size": c.vision.hidden,
    },
    ("hunyuan_vl", "vision_config"): _like_text,
    ("idefics2", "perceiver_config"): lambda c: {"hidden_size": c.text.hidden},
    ("inkling_mm_model", "audio_config"): _like_text,
    ("inkling_mm_model", "vision_config"): _like_text,
    ("instructblip", "qformer_config"): _like_vision,
    ("instructblipvideo", "qformer_config"): _like_vision,
    ("moshi", "depth_decoder_config"): lambda c: (
        {"audio_vocab_size": c.codes, "input_size": c.hidden, "vocab_size": c.vocab, "num_codebooks": c.codebooks} if c.frame_stated else {}
    ),
    ("pi0", "dit_config"): lambda c: {"vocab_size": c.vlm.text.vocab},
}
"""What an outer class of the reference puts into a sub-config, whatever that says, by outer type and key."""
