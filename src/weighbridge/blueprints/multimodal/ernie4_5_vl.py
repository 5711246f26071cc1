"""ERNIE 4.5 VL: separate experts for text and for image tokens, shared experts, and a vision tower for images of any size.

Source: Baidu, ERNIE 4.5 (2025), section 2; class and tensor names as in transformers 5.23.0,
models/ernie4_5_vl_moe/modeling_ernie4_5_vl_moe.py. The experts for images run where there are images.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, attention
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.layer_types import dense_before, listed_or
from weighbridge.blueprints.modules.qwen_vision import FIELDS as FIELDS_OF_TOWERS
from weighbridge.blueprints.modules.qwen_vision import attention as attended
from weighbridge.blueprints.modules.qwen_vision import tower
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import per_image, with_lm_head, without_head
from weighbridge.blueprints.multimodal.glm4v import MARKS
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Config, constant, sequence, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, fused_experts, gated_mlp, layer_norm, linear, part, plain_mlp, replace, rms_norm, stack
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor


def ernie(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of attention and an MLP or two mixtures, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mlp = mixtures(c) if kind == "sparse" else gated_mlp("mlp", H, c.mlp, bias=c.mlp_bias)
        return (attention(c), mlp, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def mixtures(c: Config) -> Part:
    """Describe the experts of text and of images, each with a router, and the shared ones, as wide as those of text."""
    text, vision = c.widths
    shared = (gated_mlp("shared_experts", c.hidden, text * c.shared_experts, bias=c.mlp_bias),) if c.sharing else ()
    seeing = replace(mixture(c, "vision_moe", vision), requires="vision")
    return part("mlp", mixture(c, "text_moe", text), seeing, *shared, kind="mixture")


def mixture(c: Config, name: str, inner: Size) -> Part:
    """Describe a router, whose correction is not learned by gradient, and experts."""
    statics = part("moe_statics", Tensor("e_score_correction_bias", (1, c.experts), "bias", frozen=True))
    gate = part("gate", Tensor("weight", (c.experts, c.hidden)), statics, kind="linear")
    return part(name, gate, fused_experts(c.experts, c.active, c.hidden, inner), kind="mixture")


def _widths(c: Config) -> list[int]:
    if len(c.stated_widths) != 2 or any(type(width) is not int or width < 1 for width in c.stated_widths):
        raise ConfigError("expected two widths, of experts for text and for images", key="moe_intermediate_size", value=c.stated_widths)
    return list(c.stated_widths)


ERNIE = variant(
    FIELDS,
    size("experts", "moe_num_experts", 64, "E", "experts", "num_experts"),
    size("active", "moe_k", 6, "k", "experts per token", "num_experts_per_tok"),
    size("shared_experts", "moe_num_shared_experts", 2, "N", "shared experts", minimum=0),
    constant("sharing", lambda c: c.shared_experts > 0),
    sequence("stated_widths", "moe_intermediate_size", [1536, 512]),
    constant("widths", _widths),
    *listed_or(lambda c: dense_before(c, 1), longer=True),
    vocab=103424,
    hidden=2560,
    mlp=12288,
    layers=28,
    heads=20,
    kv_heads=4,
    tied=True,
    **{word: switch(word, "use_bias", False) for word in ("qkv_bias", "out_bias", "mlp_bias")},
)

VISION = variant(
    FIELDS_OF_TOWERS,
    size("gap", "temporal_merge_size", 2, "U", "frames merged into one"),
    hidden=1280,
    mlp=5120,
    layers=32,
    patch_side=14,
    out=constant("out", None),
    frames=constant("frames", 1),
    positions=constant("positions", None),
    deep=constant("deep", ()),
    deep_runs=constant("deep_runs", 0),
)
BOTH = (
    model_config("vision", "vision_config", "ernie4_5_vl_moe_vision", fixed=True),
    model_config("text", "text_config", "ernie4_5_vl_moe_text", fixed=True),
    switch("tied", "tie_word_embeddings", True),
)
APART = unknown("tokens of images and of text go to experts of different widths, and a length does not say which token is which")


def vision(c: Config) -> Part:
    """Describe the tower: a linear layer on each patch, layers, a norm."""
    H = c.hidden
    mlp = plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)
    return tower(
        part("patch_embed", linear("proj", c.channels * c.patch_side * c.patch_side, H, bias=False), kind="embeddings"),
        part("blocks", layer_norm("norm1", H), layer_norm("norm2", H), attended(c), mlp, kind="layer", repeat=c.layers),
        layer_norm("ln", H),
    )


def resampler(c: Config) -> Part:
    """Describe two networks that merge squares of patches and pairs of frames, and the map to the text."""
    wide = c.vision.hidden * c.vision.merge * c.vision.merge
    merging = (("spatial_linear", wide), ("temporal_linear", wide * c.vision.gap))
    return part(
        "resampler_model",
        *(
            part(name, linear("fc1", inputs, wide), linear("fc2", wide, wide), layer_norm("ln", wide), kind="feed_forward")
            for name, inputs in merging
        ),
        linear("mlp", wide, c.text.hidden),
        rms_norm("after_norm", c.text.hidden),
        kind="projector",
        stream=APART,
    )


def ernie_vl(c: Config) -> tuple[Node, ...]:
    """Describe the text, the tower, and what joins them."""
    return (
        as_child("language_model", submodel(c.text)),
        as_child("vision_tower", submodel(c.vision), requires="images", executions="images"),
        per_image(resampler(c)),
    )


def under_both_names(name: str, blueprint: Blueprint) -> dict[str, Blueprint]:
    """Return a class under its name and the older one, which the library still has."""
    return {f"Ernie4_5_VLMoe{name}": blueprint, f"Ernie4_5_VL_Moe{name}": blueprint}


WHOLE = under_both_names("Model", without_head(ernie_vl)) | under_both_names("ForConditionalGeneration", with_lm_head(ernie_vl))
TEXTS = under_both_names("TextModel", lambda c: part("", *ernie(c), kind="model"))
TOWERS = under_both_names("VisionTransformerPretrainedModel", vision)
FAMILIES = {
    "ernie4_5_vl_moe": Family("ernie4_5_vl_moe", BOTH, WHOLE, "Ernie4_5_VLMoeModel", VISION_IGNORED_KEYS | MARKS),
    "ernie4_5_vl_moe_text": Family("ernie4_5_vl_moe_text", ERNIE, TEXTS, "Ernie4_5_VLMoeTextModel", IGNORED_KEYS | {"moe_norm_min"}),
    "ernie4_5_vl_moe_vision": Family("ernie4_5_vl_moe_vision", VISION, TOWERS, "Ernie4_5_VLMoeVisionTransformerPretrainedModel"),
}
