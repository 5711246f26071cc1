"""GLM-Image: GLM that reads images as codes of a quantized vision tower, and writes codes of an image.

Source: Z.ai 2026, github.com/zai-org/GLM-Image; names as in transformers 5.23.0, models/glm_image/modeling_glm_image.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qwen_vision import tower
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, IMAGE, IN_CHANNELS, MLP, NUM_HEADS, Config, derived, size, switch
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

VISION = (
    size("layers", "depth", 40, "L", "layers", "num_hidden_layers"),
    HIDDEN.with_default(1536),
    MLP.with_default(6144),
    NUM_HEADS.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_heads"),
    switch("bias", "attention_bias", True),
    IN_CHANNELS.with_default(3),
    IMAGE.with_default(2048),
    size("patch_side", "patch_size", 16, "P", "patch size"),
    derived("positions", lambda c: (c.image // c.patch_side) * (c.image // c.patch_side), "image_size", "patch_size"),
)
CODES = (
    size("code", "embed_dim", 2048, "E", "width of a code"),
    size("codes", "num_embeddings", 16384, "C", "codes"),
    size("latent", "latent_channels", 1536, "H", "width of a quantized state"),
)
WHOLE = (
    model_config(
        "text", "text_config", "glm_image_text", fixed=True, more=(size("images", "vision_vocab_size", 16512, "C", "codes written"),)
    ),
    model_config("vision", "vision_config", "glm_image_vision", fixed=True),
    model_config("codes", "vq_config", "glm_image_vqmodel", fixed=True),
)
APART = unknown("the quantizer is called only for its codes, and has no forward pass")


def vision(c: Config) -> Part:
    """Describe the tower: positions resized to an image of any size, patches, and layers."""
    H = c.hidden
    attention = part(
        "attn",
        linear("qkv", H, 3 * H, bias=c.bias),
        linear("proj", H, H, bias=c.bias),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)
    return tower(
        part("embeddings", embedding("position_embedding", c.positions, H), kind="embeddings"),
        part("patch_embed", conv2d("proj", c.channels, H, (c.patch_side, c.patch_side)), kind="embeddings"),
        part("blocks", layer_norm("norm1", H), layer_norm("norm2", H), attention, mlp, kind="layer", repeat=c.layers),
    )


def quantizer(c: Config) -> Part:
    """Describe GlmImageVQVAE: a map of each state to the width of the codes, and one back."""
    return part(
        "",
        part("quantize", embedding("embedding", c.codes, c.code), kind="quantizer"),
        conv2d("quant_conv", c.latent, c.code, 1),
        conv2d("post_quant_conv", c.code, c.latent, 1),
        kind="model",
        stream=APART,
    )


def body(c: Config) -> tuple[Part, ...]:
    """Describe the tower, the text, and the quantizer."""
    return (
        as_child("visual", submodel(c.vision), requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
        as_child("vqmodel", submodel(c.codes), requires="images"),
    )


def generation(c: Config) -> Part:
    """Describe GlmImageForConditionalGeneration, which writes codes of an image alone."""
    head = linear("lm_head", c.text.hidden, c.text.images, bias=False)
    return part("", part("model", *body(c), kind="backbone"), head, kind="model")


CLASSES = {"GlmImageModel": without_head(body), "GlmImageForConditionalGeneration": generation}
VISION_IGNORED_KEYS = frozenset(("attention_dropout", "spatial_merge_size"))
MORE_IGNORED_KEYS = IGNORED_KEYS | {"image_start_token_id", "image_end_token_id", "tie_word_embeddings"}
FAMILIES = {
    "glm_image": Family("glm_image", WHOLE, CLASSES, "GlmImageModel", MORE_IGNORED_KEYS),
    "glm_image_vision": Family(
        "glm_image_vision", uneven_heads(VISION), {"GlmImageVisionModel": vision}, "GlmImageVisionModel", VISION_IGNORED_KEYS
    ),
    "glm_image_vqmodel": Family(
        "glm_image_vqmodel", CODES, {"GlmImageVQVAE": quantizer}, "GlmImageVQVAE", frozenset(("in_channels", "beta"))
    ),
}
