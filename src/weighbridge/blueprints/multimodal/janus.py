"""Janus: a language model with one vision encoder for understanding and VQGAN codes for generation.

Source: arXiv 2410.13848; names as in transformers 5.23.0, models/janus/modeling_janus.py. What draws does not run where text is written.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import HEAD_DIM, image_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.stage_fields import ratio, scale_width
from weighbridge.blueprints.modules.vlm_common import patch_tokens, per_image
from weighbridge.blueprints.modules.vqgan import FIELDS as VQGAN
from weighbridge.blueprints.modules.vqgan import decoder, encoder
from weighbridge.blueprints.multimodal.idefics3 import vision as plain_vision
from weighbridge.blueprints.multimodal.llava import family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, Config, size, switch, variant, with_changes
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, matmul, part, plain_mlp, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

VISION = (
    HIDDEN.with_default(1024),
    ratio("ratio", "mlp_ratio", 4.0),
    LAYERS.with_default(24),
    HEADS.with_default(16),
    HEAD_DIM,
    *image_fields(384, 16),
    switch("qkv_bias", "attention_bias", True),
    switch("normed", "use_qk_norm", False),
    size("projected", "projection_dim", 2048, "E", "width after the projection"),
    size("depth", "depth", 2, "J", "linear layers of the projector"),
)
CODES = (
    *variant(VQGAN, code=8, entries=16384),
    size("codes", "num_patches", 32, "G", "codes along a side"),
    size("outputs", "out_channels", 3, "O", "output channels"),
    size("projected", "projection_dim", 2048, "E", "width after the projection"),
    size("depth", "num_hidden_layers", 2, "J", "linear layers of the projector"),
    size("drawn", "image_token_embed_dim", 2048, "W", "width of a drawn token"),
)
BOTH = (
    model_config("vision", "vision_config", "janus_vision_model", fixed=True),
    model_config("vq", "vq_config", "janus_vqgan", fixed=True),
    model_config("text", "text_config", "llama"),
    switch("tied", "tie_word_embeddings", True),
)
DRAWING = "drawing"
"""What the parts wait for that make images: no forward pass over text gives it."""


def vision(c: Config) -> Part:
    """Describe the tower: as Idefics 3's, except for the attention's names and norms."""
    H, tree = c.hidden, plain_vision(with_changes(c, mlp=scale_width(c.hidden, c.ratio)))
    attention = part(
        "self_attn",
        *(linear(f"{name}_proj", H, H, bias=c.qkv_bias) for name in "qkv"),
        linear("projection_layer", H, H),
        *((layer_norm("q_norm", H), layer_norm("k_norm", H)) if c.normed else ()),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", H, scale_width(H, c.ratio), ("fc1", "fc2"), bias=True)
    layer = part("layers", layer_norm("layer_norm1", H), attention, layer_norm("layer_norm2", H), mlp, kind="layer", repeat=c.layers)
    return replace(tree, children=(tree.children[0], part("encoder", layer, kind="encoder"), tree.children[2]))


def codes(c: Config) -> Part:
    """Describe the encoder of images, the table of codes, and the decoder."""
    places = c.codes * c.codes
    search = matmul("search", (places, c.code, c.entries))
    return part(
        "",
        encoder(c, 2 * c.latent if c.double else c.latent),
        part("quantize", embedding("embedding", c.entries, c.code), search, kind="codebook"),
        conv2d("quant_conv", c.latent, c.code, 1),
        conv2d("post_quant_conv", c.code, c.latent, 1),
        decoder(c, c.latent),
        kind="model",
        stream=places,
    )


def aligner(name: str, inputs: Size, c: Config) -> Part:
    """Describe the linear layers between a tower and the text."""
    more = linear("hidden_layers", c.projected, c.projected, repeat=c.depth - 1)
    return part(name, linear("fc1", inputs, c.projected), more, kind="projector")


def janus(c: Config) -> tuple[Node, ...]:
    """Describe the tower and what joins it to the text, what draws, and the text."""
    tower, vq = submodel(c.vision), c.vq
    head = part("generation_head", linear("proj_out", vq.drawn, vq.projected), linear("vision_head", vq.projected, vq.entries), kind="head")
    return (
        as_child("vision_model", tower, requires="images", executions="images"),
        per_image(replace(aligner("aligner", c.vision.hidden, c.vision), stream=patch_tokens(tower))),
        as_child("vqmodel", submodel(vq), requires=DRAWING),
        embedding("generation_embeddings", vq.entries, vq.code),
        replace(aligner("generation_aligner", vq.code, vq), requires=DRAWING),
        replace(head, requires=DRAWING),
        as_child("language_model", submodel(c.text)),
    )


OUTER_IGNORED_KEYS = frozenset(("hidden_dropout_rate", "num_image_tokens", "projection_dropout"))
FAMILIES = {
    "janus": family_of("janus", "Janus", BOTH, janus),
    "janus_vision_model": Family("janus_vision_model", VISION, {"JanusVisionModel": vision}, "JanusVisionModel", OUTER_IGNORED_KEYS),
    "janus_vqgan": Family("janus_vqgan", CODES, {"JanusVQVAE": codes}, "JanusVQVAE"),
}
