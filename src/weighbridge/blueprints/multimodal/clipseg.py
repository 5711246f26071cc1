"""CLIPSeg: CLIP with a small decoder over its image tower, conditioned on a text.

Source: arXiv 2112.10003, section 3; names as in transformers 5.23.0, models/clipseg/modeling_clipseg.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import PROJECTED, encoder, image_fields, normalize_config, stack_fields, text_fields
from weighbridge.blueprints.modules.feature_maps import conv_transpose2d
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.multimodal.clip import clip, text, vision
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, nested, size, switch, with_changes
from weighbridge.core.length import Stream
from weighbridge.core.parts import conv2d, linear, part, replace
from weighbridge.core.tree import Operation, Part

TEXT = text_fields(49408, 77, *stack_fields(512, 2048, 8))
VISION = (*stack_fields(768, 3072, 12), *image_fields(224, 32))
FIELDS = (
    nested("text", "text_config", TEXT),
    nested("vision", "vision_config", VISION),
    PROJECTED,
    size("reduced", "reduce_dim", 64, "B", "width of the decoder"),
    size("decoder_heads", "decoder_num_attention_heads", 4, "A_d", "attention heads of the decoder"),
    size("decoder_mlp", "decoder_intermediate_size", 2048, "I_d", "intermediate size of the decoder"),
    numbers("taken", "extract_layers", (3, 6, 9), minimum=0),
    number("stated_at", "conditional_layer", 0, minimum=-1),
    switch("finer", "use_complex_transposed_convolution", False),
)


def decoder(c: Config) -> Part:
    """Describe CLIPSegDecoder: the layers taken out of the image tower are narrowed, mixed, and drawn back to pixels."""
    B, images = c.reduced, c.vision
    inner = with_changes(images, hidden=B, mlp=c.decoder_mlp, heads=c.decoder_heads, head_dim=B // c.decoder_heads, layers=len(c.taken))
    # The text's vector scales and moves what one of the layers sees, and that once for each example.
    where: Stream = "one" if c.stated_at in range(len(c.taken)) else 0
    (layers,) = encoder(inner).children
    return part(
        "",
        linear("film_mul", c.projected, B, stream=where),
        linear("film_add", c.projected, B, stream=where),
        *upsampling_head(c),
        part("reduces", *linear("", images.hidden, B).children, kind="linear", repeat=len(c.taken)),
        layers,
        kind="decoder",
        stream=images.patches + 1,
    )


def upsampling_head(c: Config) -> tuple[Part, ...]:
    """Describe how patches become pixels again: by one transposed convolution, or by three finer steps."""
    name, B, patches = "transposed_convolution", c.reduced, c.vision.patches
    if not c.finer:
        return (conv_transpose2d(name, B, 1, c.vision.patch, patches),)
    step = c.vision.patch // 4
    return (
        part(
            name,
            conv2d("0", B, B, 3, stream=patches),
            conv_transpose2d("2", B, B // 2, step, patches),
            conv_transpose2d("4", B // 2, 1, step, patches * step * step),
        ),
    )


def segmentation(c: Config) -> Part:
    """Describe CLIPSegForImageSegmentation; text and image are not compared with each other."""
    inner = clip(c)
    towers = tuple(child for child in inner.children if not isinstance(child, Operation))
    return part("", part("clip", *towers, kind="backbone"), replace(decoder(c), name="decoder"), kind="model")


IGNORED_KEYS = frozenset(("logit_scale_init_value", "decoder_attention_dropout", "decoder_hidden_act", "projection_dim"))
CLASSES = {"CLIPSegModel": clip, "CLIPSegForImageSegmentation": segmentation, "CLIPSegDecoder": decoder}
FAMILIES = {
    "clipseg": Family("clipseg", FIELDS, CLASSES, "CLIPSegModel", IGNORED_KEYS, normalize_config=normalize_config),
    "clipseg_text_model": Family("clipseg_text_model", TEXT, {"CLIPSegTextModel": text}, "CLIPSegTextModel", IGNORED_KEYS),
    "clipseg_vision_model": Family("clipseg_vision_model", VISION, {"CLIPSegVisionModel": vision}, "CLIPSegVisionModel", IGNORED_KEYS),
}
