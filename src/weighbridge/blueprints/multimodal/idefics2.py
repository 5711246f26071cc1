"""Idefics 2: SigLIP's vision tower and a perceiver resampler in front of a language model.

Source: arXiv 2405.02246; names as in transformers 5.23.0, models/idefics2/modeling_idefics2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import patch_tokens, per_image, with_lm_head
from weighbridge.blueprints.multimodal.idefics3 import VISION as SIGHT
from weighbridge.blueprints.multimodal.idefics3 import vision as siglip_without_query
from weighbridge.blueprints.multimodal.llava import family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, KV_HEADS, Config, size, switch, variant, with_changes
from weighbridge.core.length import Stream, sum_of
from weighbridge.core.parts import attend, gated_mlp, linear, part, replace, rms_norm
from weighbridge.core.tree import Node, Part, Tensor

VISION = variant(SIGHT, hidden=768, heads=12)
PERCEIVER = (
    HIDDEN.with_default(4096),
    size("latents", "resampler_n_latents", 64, "Q", "learned query tokens"),
    size("layers", "resampler_depth", 3, "L", "layers"),
    size("heads", "resampler_n_heads", 16, "A", "attention heads"),
    KV_HEADS.with_default(4),
    size("head_dim", "resampler_head_dim", 96, "D", "head dimension"),
)
BOTH = (
    model_config("vision", "vision_config", "idefics2_vision", fixed=True),
    model_config("perceiver", "perceiver_config", "idefics2_perceiver", fixed=True),
    model_config("text", "text_config", "mistral llama"),
    switch("tied", "tie_word_embeddings", False),
)


def perceiver(c: Config, patches: Stream = "seq") -> Part:
    """Describe the learned vectors, and layers in which they attend to the patches and to themselves."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    both = sum_of(patches, c.latents)
    attention = part(
        "self_attn",
        linear("q_proj", H, A * D, bias=False),
        linear("k_proj", H, K * D, bias=False, stream=both),
        linear("v_proj", H, K * D, bias=False, stream=both),
        linear("o_proj", A * D, H, bias=False),
        attend(heads=A, kv_heads=K, head_dim=D, keys=both),
        kind="cross_attention",
    )
    layer = part(
        "layers",
        rms_norm("input_latents_norm", H),
        rms_norm("input_context_norm", H, stream=patches),
        attention,
        rms_norm("post_attention_layernorm", H),
        gated_mlp("mlp", H, 4 * H),
        kind="layer",
        repeat=c.layers,
    )
    return part("", Tensor("latents", (c.latents, H), "embedding"), layer, rms_norm("norm", H), kind="resampler", stream=c.latents)


def idefics2(c: Config) -> tuple[Node, ...]:
    """Describe the tower, a gated MLP on its patches, the learned vectors, and the text; they are as wide as the text, whatever is said."""
    tower = submodel(c.vision)
    patches, V, I, H = patch_tokens(tower), c.vision.hidden, c.text.mlp, c.text.hidden
    gated = part(
        "modality_projection",
        linear("gate_proj", V, I, bias=False),
        linear("up_proj", V, I, bias=False),
        linear("down_proj", I, H, bias=False),
        kind="feed_forward",
        stream=patches,
    )
    resampler = replace(perceiver(with_changes(c.perceiver, hidden=H), patches), name="perceiver_resampler")
    return (
        as_child("vision_model", tower, requires="images", executions="images"),
        per_image(part("connector", gated, resampler, kind="projector")),
        as_child("text_model", submodel(c.text)),
    )


def _family() -> Family:
    family = family_of("idefics2", "Idefics2", BOTH, idefics2)
    heads = {"Idefics2ForConditionalGeneration": with_lm_head(idefics2, "text_model.embed_tokens")}
    return replace(family, classes={**family.classes, **heads})


FAMILIES = {
    "idefics2": _family(),
    "idefics2_vision": Family("idefics2_vision", VISION, {"Idefics2VisionTransformer": siglip_without_query}, "Idefics2VisionTransformer"),
    "idefics2_perceiver": Family("idefics2_perceiver", PERCEIVER, {"Idefics2PerceiverResampler": perceiver}, "Idefics2PerceiverResampler"),
}
