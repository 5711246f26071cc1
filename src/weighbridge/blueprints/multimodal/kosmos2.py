"""Kosmos-2 and Kosmos-2.5: a vision tower and learned queries in front of a text decoder.

Source: arXiv 2306.14824 and 2309.11419; names as in transformers 5.23.0, models/kosmos2/modeling_kosmos2.py and
models/kosmos2_5/modeling_kosmos2_5.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import image_fields, stack_fields, vision_tower
from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.multimodal.pix2struct import VISION as FLATTENED
from weighbridge.blueprints.multimodal.pix2struct import patches_tower
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import HEAD_DIM, MLP, TIED, Config, Field, constant, nested, size, with_changes
from weighbridge.core.length import Stream
from weighbridge.core.parts import fairseq_attention, linear, part, replace
from weighbridge.core.tree import Part, Tensor

CLIPPED = (*stack_fields(1024, 4096, 16, 24), *image_fields(224, 14))
SPREAD = (
    replace(FLATTENED[0], default=1536),
    FLATTENED[1],
    MLP.with_default(3968),
    HEAD_DIM.with_default(64),
    replace(FLATTENED[4], default=18),
    replace(FLATTENED[5], default=24),
    size("positions", "max_num_patches", 4096, "S", "positions"),
)


def transformer(c: Config) -> Part:
    """Describe Kosmos2VisionTransformer: CLIP's tower; its last norm sees all patches once they are projected."""
    return part("", *vision_tower(c), kind="vision", stream=c.patches + 1)


def clip_vision(c: Config) -> Part:
    """Describe Kosmos2VisionModel."""
    return part("", replace(transformer(c), name="model"), kind="vision", stream=c.patches + 1)


def pix2struct_vision(c: Config) -> Part:
    """Describe Kosmos2_5VisionModel, as Pix2Struct's."""
    return part("", *patches_tower(c), kind="vision", stream=c.positions)


def pix2struct_encoder(c: Config) -> Part:
    """Describe Kosmos2_5VisionEncoder: only the layers, over as many vectors as one gives it."""
    (_, encoder, _) = patches_tower(c)
    return part("", *encoder.children, kind="encoder", stream="seq")


def projection(c: Config, states: Stream) -> Part:
    """Describe learned queries that attend to the image's states and to themselves."""
    H, heads = c.text.hidden, c.text.heads
    return part(
        "image_to_text_projection",
        Tensor("latent_query", (c.queries, H), "embedding"),
        linear("dense", c.vision.hidden, H, stream=states),
        fairseq_attention("x_attn", H, heads, c.text.head_dim, keys=states + c.queries),
        kind="projector",
        stream=c.queries,
    )


def _kosmos2(c: Config, *endings: str) -> Part:
    tower = pix2struct_vision(c.vision) if hasattr(c.vision, "positions") else clip_vision(c.vision)
    states = tower.stream
    assert states is not None
    parts = (
        as_child("text_model", submodel(with_changes(c.text, tied=c.tied or c.text.tied), *endings)),
        replace(tower, name="vision_model"),
        projection(c, states),
    )
    return part("", *parts, kind="model")


def kosmos(c: Config) -> Part:
    """Describe Kosmos2Model and Kosmos2_5Model."""
    return _kosmos2(c)


def generation(c: Config) -> Part:
    """Describe Kosmos2ForConditionalGeneration and Kosmos2_5ForConditionalGeneration."""
    return _kosmos2(c, *CAUSAL)


def _families(prefix: str, stem: str, name: str, vision_fields: tuple[Field, ...], towers: dict[str, Blueprint]) -> dict[str, Family]:
    """Return the whole and the vision tower; the text is described with the decoders."""
    fields = (
        model_config("text", "text_config", f"{stem}_text_model", fixed=True),
        nested("vision", "vision_config", vision_fields),
        size("queries", "latent_query_num", 64 if prefix == "kosmos-2" else 2048, "Q", "learned queries"),
        # Kosmos-2.5 ties by its text's own config alone.
        TIED if prefix == "kosmos-2" else constant("tied", False),
    )
    vision_type = f"{stem}_vision_model"
    ignored_keys = frozenset(("dense_act_fn", "dropout_rate", "tie_word_embeddings"))
    return {
        prefix: Family(
            prefix, fields, {f"{name}Model": kosmos, f"{name}ForConditionalGeneration": generation}, f"{name}Model", ignored_keys
        ),
        vision_type: Family(vision_type, vision_fields, towers, f"{name}VisionModel", ignored_keys),
    }


FAMILIES = {
    **_families("kosmos-2", "kosmos_2", "Kosmos2", CLIPPED, {"Kosmos2VisionTransformer": transformer, "Kosmos2VisionModel": clip_vision}),
    **_families(
        "kosmos-2.5",
        "kosmos_2_5",
        "Kosmos2_5",
        SPREAD,
        {"Kosmos2_5VisionEncoder": pix2struct_encoder, "Kosmos2_5VisionModel": pix2struct_vision},
    ),
}
