"""SigLIP: CLIP's two towers with a sigmoid loss; the image is pooled by an attention head.

Source: arXiv 2303.15343 and 2502.14786; names as in transformers 5.23.0, models/siglip/modeling_siglip.py and
models/siglip2/modeling_siglip2.py. SigLIP 2 takes images of any shape, cut into patches beforehand.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import encoder, image_fields, stack_fields, text_embeddings, text_fields
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, PATCH, Config, Field, constant, nested, size, switch
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import attend, conv2d, embedding, label_head, layer_norm, linear, matmul, part, plain_mlp, replace
from weighbridge.core.tree import Part, Tensor

STACK = stack_fields(768, 3072, 12)
TEXT = (*text_fields(32000, 64, *STACK), size("projected", "projection_size", lambda c: c.hidden, "E", "width of the shared space"))
POOLED = switch("pooled", "vision_use_head", True)
VISION = (*STACK, *image_fields(224, 16), POOLED, constant("cut", False))
CUT = (
    *STACK,
    CHANNELS,
    PATCH.with_default(16),
    size("patches", "num_patches", 256, "M", "patches per image"),
    POOLED,
    constant("cut", True),
)


def text(c: Config) -> Part:
    """Describe SiglipTextModel: the last token's vector is mapped once more."""
    head = linear("head", c.hidden, c.projected, stream="one")
    return part("", text_embeddings(c), encoder(c, attention_first=False), layer_norm("final_layer_norm", c.hidden), head, kind="text")


def vision(c: Config) -> Part:
    """Describe SiglipVisionModel: patches without a class token, layers, a norm and, unless left out, the pooling query."""
    H = c.hidden
    width = c.channels * c.patch * c.patch
    patch = linear("patch_embedding", width, H) if c.cut else conv2d("patch_embedding", c.channels, H, c.patch)
    embeddings = part("embeddings", patch, embedding("position_embedding", c.patches, H), kind="embeddings")
    pooler = (attention_pool(c),) if c.pooled else ()
    return part(
        "", embeddings, encoder(c, attention_first=False), layer_norm("post_layernorm", H), *pooler, kind="vision", stream=c.patches
    )


def attention_pool(c: Config) -> Part:
    """Describe the attention of one learned query over all patches, and a feed-forward network on what it finds."""
    H = c.hidden
    attention = part(
        "attention",
        Tensor("in_proj_weight", (3 * H, H), "weight"),
        Tensor("in_proj_bias", (3 * H,), "bias"),
        linear("out_proj", H, H),
        # The query is one token; of the patches beside the first, only keys and values are made.
        matmul("keys_and_values", (c.patches - 1, 2 * H, H)),
        attend(heads=c.heads, head_dim=c.head_dim, keys=c.patches),
        kind="cross_attention",
    )
    mlp = plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)
    return part("head", Tensor("probe", (1, 1, H), "embedding"), attention, layer_norm("layernorm", H), mlp, kind="pooler", stream="one")


def siglip(c: Config) -> Part:
    """Describe SiglipModel: both towers, and a scale and a shift for the similarities."""
    images: Stream = (
        "batch" if c.vision.pooled else unknown("without its head the vision tower gives no vector that a text is compared with")
    )
    return part(
        "",
        Tensor("logit_scale", (1,), "gain"),
        Tensor("logit_bias", (1,), "shift"),
        replace(text(c.text), name="text_model"),
        replace(vision(c.vision), name="vision_model"),
        matmul("similarity", (images, c.text.projected)),
        kind="model",
    )


def image_classification(c: Config) -> Part:
    """Describe SiglipForImageClassification: the labels on the mean of the patches, no text."""
    tower = replace(vision(c.vision), name="vision_model")
    return part("", tower, label_head("classifier", c.vision.hidden, c.labels, stream="one"), kind="model")


def _families(prefix: str, name: str, vision_fields: tuple[Field, ...]) -> dict[str, Family]:
    """Return the three types that one structure is known by: both towers, and each by itself."""
    both = (nested("text", "text_config", TEXT), nested("vision", "vision_config", vision_fields), LABELS)
    classes = {f"{name}Model": siglip, f"{name}ForImageClassification": image_classification}
    return {
        prefix: Family(prefix, both, classes, f"{name}Model"),
        f"{prefix}_text_model": Family(f"{prefix}_text_model", TEXT, {f"{name}TextModel": text}, f"{name}TextModel"),
        f"{prefix}_vision_model": Family(f"{prefix}_vision_model", vision_fields, {f"{name}VisionModel": vision}, f"{name}VisionModel"),
    }


FAMILIES = {**_families("siglip", "Siglip", VISION), **_families("siglip2", "Siglip2", CUT)}
