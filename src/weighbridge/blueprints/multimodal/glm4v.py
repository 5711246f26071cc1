"""GLM-4.1V, GLM-4.5V and GLM-4.6V: GLM with a vision tower for images of any size.

Source: arXiv 2507.01006; names as in transformers 5.23.0, models/glm4v/modeling_glm4v.py and models/glm4v_moe/modeling_glm4v_moe.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.glm import AFTER, BEFORE, GLM, glm
from weighbridge.blueprints.mixtures.mixtral import GLM_GATE, MIXTRAL, expert_width, mixtral, with_layer_kinds
from weighbridge.blueprints.modules.causal_lm import HEAD_DIM, IGNORED_KEYS, NO_MLP_BIAS, NO_OUT_BIAS, default_head_dim, with_heads
from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.layer_types import first_dense
from weighbridge.blueprints.modules.mixture_of_experts import EXPERTS, SHARED
from weighbridge.blueprints.modules.qwen_vision import FIELDS, attention, merged_patches, patches, tower
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import tie_fields, with_lm_head, without_head
from weighbridge.blueprints.multimodal.qwen_vl import body
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Config, Field, constant, derived, size, switch, variant
from weighbridge.core.parts import conv2d, embedding, gated_mlp, layer_norm, linear, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

VISION = variant(
    FIELDS,
    switch("qkv_bias", "attention_bias", False),
    hidden=1536,
    mlp=13696,
    layers=24,
    heads=12,
    patch_side=14,
    out=4096,
    deep=constant("deep", ()),
    deep_runs=constant("deep_runs", 0),
    positions=size("image", "image_size", 336, "G", "image size"),
)
POSITIONS = derived("positions", lambda c: (c.image // c.patch_side) * (c.image // c.patch_side), "image_size", "patch_size")
TEXT = variant(GLM, norms=BEFORE + AFTER, head_dim=HEAD_DIM, qkv_bias=constant("qkv_bias", True))
SPARSE = with_layer_kinds(
    MIXTRAL,
    first_dense(1),
    NO_OUT_BIAS,
    NO_MLP_BIAS,
    vocab=151424,
    mlp=10944,
    layers=46,
    heads=96,
    kv_heads=8,
    qkv_bias=True,
    experts=EXPERTS.with_default(128),
    active=8,
    expert_mlp=expert_width(1408),
    shared_experts=SHARED,
    block=GLM_GATE,
)


MARKS = frozenset(f"{kind}_{side}_token_id" for kind in ("image", "video") for side in ("start", "end"))


def downsampling_tower(c: Config, attended: Part, mlp: Part, merger_mlp: Size, *, learned_positions: bool) -> Part:
    """Describe GLM's tower: layers, a convolution that merges squares of patches, and a gated merger after it."""
    H, out = c.hidden, c.out
    positions = part("embeddings", embedding("position_embedding", c.positions, H), kind="embeddings") if learned_positions else None
    merger = (linear("proj", out, out, bias=False), layer_norm("post_projection_norm", out), gated_mlp("", out, merger_mlp))
    return tower(
        *((positions,) if positions else ()),
        patches(c),
        part("blocks", rms_norm("norm1", H), rms_norm("norm2", H), attended, mlp, kind="layer", repeat=c.layers),
        part("merger", *merger, kind="projector", stream=merged_patches(c)),
        *((rms_norm("post_conv_layernorm", H),) if positions else ()),
        conv2d("downsample", H, out, c.merge, stream=merged_patches(c)),
        rms_norm("post_layernorm", H),
    )


def vision(c: Config) -> Part:
    """Describe the tower of GLM-4.1V to 4.6V, with learned positions."""
    H = c.hidden
    scores = attention(c).children[-1]
    attended = part("attn", linear("qkv", H, 3 * H, bias=c.qkv_bias), linear("proj", H, H, bias=False), scores, kind="self_attention")
    return downsampling_tower(c, attended, gated_mlp("mlp", H, c.out), c.mlp, learned_positions=True)


def families_of(name: str, prefix: str, text: tuple[Field, ...], texts: dict[str, Blueprint]) -> dict[str, Family]:
    """Return one generation's three types: the whole, its text and its tower."""
    fields = (
        model_config("vision", "vision_config", f"{name}_vision", fixed=True),
        model_config("text", "text_config", f"{name}_text", fixed=True),
        *tie_fields(),
    )
    classes = {f"{prefix}Model": without_head(body), f"{prefix}ForConditionalGeneration": with_lm_head(body)}
    eyes = f"{prefix}VisionModel"
    return {
        name: Family(name, fields, classes, f"{prefix}Model", VISION_IGNORED_KEYS | MARKS),
        f"{name}_text": Family(f"{name}_text", text, texts, f"{prefix}TextModel", IGNORED_KEYS),
        f"{name}_vision": Family(f"{name}_vision", (*VISION, POSITIONS), {eyes: vision}, eyes, frozenset(("attention_dropout",))),
    }


BOTH = (
    model_config("vision", "vision_config", "glm4v_vision glm4v_moe_vision"),
    model_config("text", "text_config", "glm4v_text glm4v_moe_text"),
    switch("tied", "tie_word_embeddings", False),
)
BOTH_CLASSES = {"Glm46VModel": without_head(body), "Glm46VForConditionalGeneration": with_lm_head(body)}
FAMILIES = {
    "glm46v": Family("glm46v", BOTH, BOTH_CLASSES, "Glm46VModel", VISION_IGNORED_KEYS | MARKS),
    "glmga": Family("glmga", BOTH, BOTH_CLASSES, "Glm46VModel", VISION_IGNORED_KEYS | MARKS),
    "glm_image_text": Family(
        "glm_image_text",
        variant(
            TEXT,
            size("head_dim", "head_dim", default_head_dim, "D", "head dimension", null=default_head_dim),
            switch("qkv_bias", "attention_bias", True),
            vocab=168064,
        ),
        with_heads("GlmImageText", glm, ""),
        "GlmImageTextModel",
        IGNORED_KEYS | {"vision_vocab_size"},
    ),
    **families_of("glm4v", "Glm4v", TEXT, with_heads("Glm4vText", glm, "")),
    **families_of("glm4v_moe", "Glm4vMoe", SPARSE, with_heads("Glm4vMoeText", mixtral, "")),
}
