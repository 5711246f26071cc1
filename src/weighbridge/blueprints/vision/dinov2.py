"""DINOv2, with and without registers: a self-supervised vision transformer with layer scale.

Source: arXiv 2304.07193 and 2309.16588 (registers); names as in transformers 5.23.0,
models/{dinov2,dinov2_with_registers}/modeling_*.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.vit_common import (
    IGNORED_KEYS,
    QKV_BIAS,
    VIT_HEAD_DIM,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_IMAGE,
    VIT_LAYERS,
    attention,
    feed_forward,
    patches,
    projection,
    token,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, constant, derived, sides, size, switch
from weighbridge.core.parts import gated_mlp, label_head, layer_norm, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

REGISTERS = size("registers", "num_register_tokens", 4, "G", "register tokens", minimum=0)
MASKED = switch("masked", "use_mask_token", True)
RATIO = size("ratio", "mlp_ratio", 4, "F", "factor by which the feed-forward network is wider")
WIDENED = derived("mlp", lambda c: c.hidden * c.ratio, "mlp_ratio")
FIELDS = uneven_heads(
    (
        VIT_HIDDEN,
        RATIO,
        WIDENED,
        VIT_LAYERS,
        VIT_HEADS,
        VIT_HEAD_DIM,
        *VIT_IMAGE,
        CHANNELS,
        LABELS,
        QKV_BIAS,
        switch("gated", "use_swiglu_ffn", False),
    )
)
OWN_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    "apply_layernorm layerscale_value pos_embed_jitter pos_embed_rescale pos_embed_shift reshape_hidden_states return_class_token".split()
)


def tokens(c: Config) -> Size:
    """Count what the layers see: a class token, registers and patches."""
    result: Size = patches(c) + c.registers + 1
    return result


def scale(name: str, width: Size) -> Part:
    """Describe a learned scale of each channel behind a block."""
    return part(name, Tensor("lambda1", (width,), "gain"), kind="layer_scale")


def layers(c: Config, attends: Part, mlp: Part) -> Part:
    """Describe layers: norm, block and scale, twice."""
    H = c.hidden
    return part(
        "layer",
        layer_norm("norm1", H),
        attends,
        scale("layer_scale1", H),
        layer_norm("norm2", H),
        mlp,
        scale("layer_scale2", H),
        kind="layer",
        repeat=c.layers,
    )


def dinov2_mlp(c: Config) -> Part:
    """Describe the MLP of DINOv2; the giant model gates, with two thirds of the width, a multiple of eight."""
    gate = c.mlp * 2 // 3
    return gated_mlp("mlp", c.hidden, (gate + 7) // 8 * 8, bias=True) if c.gated else feed_forward(c)


def dinov2_layers(c: Config) -> Part:
    """Describe the layers of DINOv2."""
    return layers(c, attention(c), dinov2_mlp(c))


def dinov2(c: Config, name: str = "") -> Part:
    """Describe Dinov2Model and Dinov2Backbone: the patches, layers and a last norm."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        token("cls_token", H),
        *((Tensor("mask_token", (1, H), "embedding"),) if c.masked else ()),
        Tensor("position_embeddings", (1, patches(c) + 1, H), "embedding"),
        *((token("register_tokens", H, c.registers),) if c.registered else ()),
        part("patch_embeddings", projection(c), kind="embeddings"),
        kind="embeddings",
    )
    children = (embeddings, part("encoder", dinov2_layers(c), kind="encoder"), layer_norm("layernorm", H))
    return part(name, *children, kind="backbone" if name else "model", stream=tokens(c))


def dinov2_classification(c: Config) -> Part:
    """Describe Dinov2ForImageClassification: the class token beside the mean of the patches."""
    return part("", dinov2(c, c.name), label_head("classifier", c.hidden * 2, c.labels, stream="one"), kind="model")


def dinov2_encoder(c: Config) -> Part:
    """Describe Dinov2Encoder: only the layers, over as many vectors as one gives it."""
    return part("", dinov2_layers(c), kind="encoder", stream="seq")


def family(model_type: str, prefix: str, patch: int, *more: Field) -> Family:
    """Return a family of DINOv2."""
    classes = {"Encoder": dinov2_encoder, "Model": dinov2, "ForImageClassification": dinov2_classification, "Backbone": dinov2}
    fields = (*FIELDS, *sides("patch", "patch_size", patch, "P", "patch size"), constant("name", model_type), *more)
    return Family(
        model_type, fields, {f"{prefix}{ending}": blueprint for ending, blueprint in classes.items()}, f"{prefix}Model", OWN_IGNORED_KEYS
    )


FAMILIES = {
    "dinov2": family("dinov2", "Dinov2", 14, MASKED, constant("registers", 0), constant("registered", False)),
    "dinov2_with_registers": family(
        "dinov2_with_registers", "Dinov2WithRegisters", 16, REGISTERS, constant("masked", True), constant("registered", True)
    ),
}
