"""Chameleon: one language model over words and the codes of images, which a VQGAN's encoder makes.

Source: arXiv 2405.09818; names as in transformers 5.23.0, models/chameleon/modeling_chameleon.py. The decoder of images is not in the class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, attention, with_heads
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vqgan import FIELDS as VQGAN
from weighbridge.blueprints.modules.vqgan import encoder_of_levels
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, variant
from weighbridge.core.length import unknown
from weighbridge.core.parts import conv2d, embedding, gated_mlp, matmul, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

CODES = (
    *VQGAN,
    number("side", "resolution", 512),
    choice("attending", "attn_resolutions", None, read=lambda sides: frozenset(sides or ())),
    choice("attends", "attn_type", "vanilla", read=lambda kind: kind == "vanilla"),
)
TEXT = (
    *variant(FIELDS, HEAD_DIM, vocab=65536),
    model_config("vq", "vq_config", "chameleon_vqgan", fixed=True),
)
DOUBLE = unknown("the feature map has twice the channels that the next layer accepts, so the reference cannot run it")
DRAWING = "drawing"
"""What the way back from a code waits for: no pass of the class runs it."""


def codes(c: Config) -> Part:
    """Describe the encoder of images and the table of codes, as ``encode`` runs them: the class has no other pass."""
    sides = [c.side >> index for index, _ in enumerate(c.levels)]
    looks = [c.attends and side in c.attending for side in sides]
    places = sides[-1] * sides[-1]
    return part(
        "",
        encoder_of_levels(c, 2 * c.latent if c.double else c.latent, sides, looks, between=c.attends),
        part("quantize", embedding("embedding", c.entries, c.code), matmul("search", (places, c.code, c.entries)), kind="codebook"),
        conv2d("quant_conv", c.latent, c.code, 1, stream=DOUBLE if c.double else places),
        conv2d("post_quant_conv", c.code, c.latent, 1, requires=DRAWING),
        kind="model",
        stream=places,
    )


def norm_of_each_head(name: str, heads: Size, width: Size) -> Part:
    """Describe a layer norm over each head's width, with a gain and a shift for each head."""
    return part(name, Tensor("weight", (heads, width), "gain"), Tensor("bias", (heads, width), "shift"), kind="layer_norm")


def chameleon(c: Config) -> tuple[Node, ...]:
    """Describe Llama with norms on the queries and keys of each head, and what makes codes of images."""
    norms = (norm_of_each_head("q_norm", c.heads, c.head_dim), norm_of_each_head("k_norm", c.kv_heads, c.head_dim))
    layer = part(
        "layers",
        attention(c, *norms),
        gated_mlp("mlp", c.hidden, c.mlp, bias=c.mlp_bias),
        rms_norm("input_layernorm", c.hidden),
        rms_norm("post_attention_layernorm", c.hidden),
        kind="layer",
        repeat=c.layers,
    )
    vqmodel = as_child("vqmodel", submodel(c.vq), requires="images", executions="images")
    return (embedding("embed_tokens", c.vocab, c.hidden), layer, rms_norm("norm", c.hidden), vqmodel)


CLASSES = with_heads("Chameleon", chameleon, "lm", lm="ForConditionalGeneration")
FAMILIES = {
    "chameleon": Family(
        "chameleon", TEXT, CLASSES, "ChameleonModel", IGNORED_KEYS | {"vocabulary_map", "model_parallel_size", "swin_norm"}
    ),
    "chameleon_vqgan": Family("chameleon_vqgan", CODES, {"ChameleonVQVAE": codes}, "ChameleonVQVAE", frozenset(("beta",))),
}
