"""Ovis 2: each patch is a distribution over a visual vocabulary with an embedding table.

Source: arXiv 2405.20797; names as in transformers 5.23.0, models/ovis2/modeling_ovis2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import image_fields, stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, VOCAB, Config, size, switch
from weighbridge.core.parts import conv2d, embedding, fairseq_attention, gated_mlp, layer_norm, linear, matmul, part, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

VISION = (
    *stack_fields(1024, 2816, 8, 24),
    *image_fields(224, 14),
    switch("qkv_bias", "qkv_bias", False),
    switch("mlp_bias", "mlp_bias", False),
    size("words", "vocab_size", 16384, "V", "visual vocabulary size"),
    size("marks", "num_visual_indicator_tokens", 5, "Z", "words that mark an image's place"),
    size("stride", "hidden_stride", 1, "F", "patches merged along an axis"),
)
BOTH = (
    model_config("vision", "vision_config", "ovis2_vision", fixed=True),
    model_config("text", "text_config", "qwen2 llama"),
    HIDDEN.with_default(1536),
    VOCAB.with_default(151643),
    switch("tied", "tie_word_embeddings", True),
)


def squares(c: Config) -> Size:
    """Count the squares of patches, to whole numbers of which the image is filled up."""
    side = (c.image // c.patch + c.stride - 1) // c.stride
    result: Size = side * side
    return result


def vision(c: Config) -> Part:
    """Describe the tower, and a head that predicts for each square of patches how much it is of every visual word."""
    H, words = c.hidden, c.words - c.marks
    embeddings = part(
        "embeddings",
        conv2d("patch_embedding", c.channels, H, c.patch),
        embedding("position_embedding", c.patches, H),
        rms_norm("rms_norm", H),
        kind="embeddings",
    )
    layer = part(
        "layers",
        fairseq_attention("attention", H, c.heads, c.head_dim, bias=c.qkv_bias),
        gated_mlp("ffn", H, c.mlp, bias=c.mlp_bias),
        rms_norm("rms_norm1", H),
        rms_norm("rms_norm2", H),
        kind="layer",
        repeat=c.layers,
    )
    transformer = part("transformer", embeddings, part("encoder", layer, kind="encoder"), rms_norm("rms_norm", H), kind="encoder")
    return part(
        "",
        replace(transformer, stream=c.patches),
        linear("head_linear", H * c.stride * c.stride, words, bias=False),
        layer_norm("head_norm", words),
        kind="vision",
        stream=squares(c),
    )


def ovis2(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the text, and the table of visual words, with which the mixtures are multiplied."""
    tower = submodel(c.vision)
    table = embedding("visual_embeddings_table", c.vision.words, c.hidden)
    mixed = matmul("mix", (squares(c.vision), c.vision.words, c.hidden))
    return (
        as_child("vision_tower", tower, requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
        per_image(replace(table, children=(*table.children, mixed))),
    )


def generation(c: Config) -> Part:
    """Describe the class for generation: the text's words again, or a head as wide as the outer config says."""
    backbone = part("model", *ovis2(c), kind="backbone")
    if c.tied:
        head = linear("lm_head", c.text.hidden, c.text.vocab, bias=False, tied_to="model.language_model.embed_tokens.weight")
    else:
        head = linear("lm_head", c.hidden, c.vocab, bias=False)
    return part("", backbone, head, kind="model")


CLASSES = {"Ovis2Model": without_head(ovis2), "Ovis2ForConditionalGeneration": generation}
FAMILIES = {
    "ovis2": Family("ovis2", BOTH, CLASSES, "Ovis2Model", IGNORED_KEYS | {"visual_indicator_token_ids"}),
    "ovis2_vision": Family("ovis2_vision", VISION, {"Ovis2VisionModel": vision}, "Ovis2VisionModel", frozenset(("tokenize_function",))),
}
