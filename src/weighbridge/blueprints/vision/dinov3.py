"""DINOv3: DINOv2's layers with rotary positions, registers and, in the largest, a gated MLP.

Source: arXiv 2508.10104; names as in transformers 5.23.0, models/dinov3_vit/modeling_dinov3_vit.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.vit_common import (
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_IMAGE,
    VIT_LAYERS,
    VIT_MLP,
    VIT_PATCH,
    WHOLE_HEADS,
    attention,
    projection,
    token,
)
from weighbridge.blueprints.vision.dinov2 import OWN_IGNORED_KEYS, REGISTERS, layers, tokens
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, switch, variant
from weighbridge.core.parts import gated_mlp, layer_norm, part, plain_mlp
from weighbridge.core.tree import Part

SWITCHES = (
    switch("gated", "use_gated_mlp", False),
    switch("query_bias", "query_bias", True),
    switch("key_bias", "key_bias", False),
    switch("value_bias", "value_bias", True),
    switch("output_bias", "proj_bias", True),
    switch("mlp_bias", "mlp_bias", True),
)
FIELDS = (
    *variant((VIT_HIDDEN, VIT_MLP, VIT_LAYERS, VIT_HEADS, WHOLE_HEADS), hidden=384, mlp=1536, heads=6),
    *VIT_IMAGE,
    *VIT_PATCH,
    CHANNELS,
    REGISTERS.with_default(0),
    *SWITCHES,
)


def blocks(c: Config) -> tuple[Part, Part]:
    """Describe attention with rotary positions and the MLP, which in the largest model has a gate."""
    biases = c.key_bias, c.value_bias, c.query_bias, c.output_bias
    attends = attention(c, ("k_proj", "v_proj", "q_proj", "o_proj"), biases=biases, width=c.hidden)
    mlp = (gated_mlp if c.gated else plain_mlp)("mlp", c.hidden, c.mlp, bias=c.mlp_bias)
    return attends, mlp


def stack(c: Config) -> Part:
    """Describe the layers of DINOv3."""
    return layers(c, *blocks(c))


def dinov3(c: Config) -> Part:
    """Describe DINOv3ViTModel and DINOv3ViTBackbone: no table of positions."""
    H = c.hidden
    learned = token("cls_token", H), token("mask_token", H), token("register_tokens", H, c.registers)
    embeddings = part("embeddings", *learned, projection(c, "patch_embeddings"), kind="embeddings")
    model = part("model", stack(c), kind="encoder")
    return part("", embeddings, model, layer_norm("norm", H), kind="model", stream=tokens(c))


def encoder(c: Config) -> Part:
    """Describe DINOv3ViTEncoder: only the layers, over as many vectors as one gives it."""
    return part("", stack(c), kind="encoder", stream="seq")


CLASSES = {"DINOv3ViTEncoder": encoder, "DINOv3ViTModel": dinov3, "DINOv3ViTBackbone": dinov3}
FAMILIES = {"dinov3_vit": Family("dinov3_vit", uneven_heads(FIELDS), CLASSES, "DINOv3ViTModel", OWN_IGNORED_KEYS)}
