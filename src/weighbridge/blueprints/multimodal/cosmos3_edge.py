"""Cosmos 3 Edge: a language model without gates behind a vision tower for images of any size.

Source: NVIDIA 2026, github.com/nvidia-cosmos; names as in transformers 5.23.0, models/cosmos3_edge/modeling_cosmos3_edge.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS as TEXT_IGNORED_KEYS
from weighbridge.blueprints.modules.causal_lm import attention
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qwen_vision import tower
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, MLP, SPATIAL_MERGE, Config, Field, computed, derived, size, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import merge, product_of
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, fairseq_attention, layer_norm, linear, part, plain_mlp, rms_norm
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

SECTIONS = [24, 20, 20]


def refuse_odd_sections(c: Config) -> bool:
    """Refuse rotary sections that do not make half a head, as the reference does."""
    sections = SECTIONS if c.rope is None else c.rope.get("mrope_section") if isinstance(c.rope, dict) else None
    if not isinstance(sections, list) or len(sections) != 3 or sum(sections) != c.head_dim // 2:
        raise ConfigError(
            Text("its three sections must add up to half of head_dim ({head_dim})", head_dim=c.head_dim),
            key="rope_parameters.mrope_section",
            value=sections,
        )
    return True


TEXT = variant(
    tuple(field for field in LLAMA if field.word not in ("labels", "tied")),
    Field("rope", "rope_parameters", None, "choice", aliases=("rope_scaling",), report_default=False),
    computed("sections_fit", refuse_odd_sections),
    derived("divides", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    vocab=131072,
    hidden=2048,
    mlp=9216,
    layers=28,
    heads=16,
    kv_heads=size("kv_heads", "num_key_value_heads", 8, "K", "key-value heads", null=lambda c: c.heads),
    head_dim=size("head_dim", "head_dim", 128, "D", "head dimension"),
)
VISION = (
    HIDDEN.with_default(1152),
    MLP.with_default(4304),
    LAYERS.with_default(27),
    HEADS.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    size("channels", "num_channels", 3, "N", "image channels"),
    size("patch_side", "patch_size", 16, "P", "patch size"),
    size("positions", "num_patches", 256, "S", "positions"),
    SPATIAL_MERGE.with_default(2),
)
WHOLE = (
    model_config("text", "text_config", "cosmos3_edge_text", fixed=True),
    model_config("vision", "vision_config", "cosmos3_edge_vision", fixed=True),
    size("projector", "projector_hidden_size", 11520, "I_pro", "inner width of the projector"),
)


def text(c: Config) -> Part:
    """Describe Cosmos3EdgeTextModel."""
    mlp = plain_mlp("mlp", c.hidden, c.mlp, ("fc1", "fc2"), bias=c.mlp_bias)
    norms = rms_norm("input_layernorm", c.hidden), rms_norm("post_attention_layernorm", c.hidden)
    layer = part("layers", attention(c), mlp, *norms, kind="layer", repeat=c.layers)
    return part("", embedding("embed_tokens", c.vocab, c.hidden), layer, rms_norm("norm", c.hidden), kind="model")


def vision(c: Config) -> Part:
    """Describe Cosmos3EdgeVisionModel: SigLIP's layers over patches that come laid out flat."""
    H = c.hidden
    flat = linear("patch_embedding", c.channels * c.patch_side * c.patch_side, H)
    layer = part(
        "layers",
        layer_norm("layer_norm1", H),
        fairseq_attention("self_attn", H, c.heads, c.head_dim),
        layer_norm("layer_norm2", H),
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        kind="layer",
        repeat=c.layers,
    )
    tables = part("embeddings", flat, embedding("position_embedding", c.positions, H), kind="embeddings")
    return tower(tables, part("encoder", layer, kind="encoder"), layer_norm("post_layernorm", H))


def body(c: Config) -> tuple[Part, ...]:
    """Describe the tower, the text, and the projector that makes one token of a square of patches."""
    H, squares = c.vision.hidden, product_of(*(merge(axis, c.vision.merge) for axis in ("rows", "columns")))
    wide = H * c.vision.merge * c.vision.merge
    linears = linear("linear_fc1", wide, c.projector), linear("linear_fc2", c.projector, c.text.hidden)
    return (
        as_child("visual", submodel(c.vision), requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
        per_image(part("projector", layer_norm("norm", H), *linears, kind="projector", stream=squares)),
    )


def generation(c: Config) -> Part:
    """Describe Cosmos3EdgeForConditionalGeneration, whose head is not tied."""
    head = linear("lm_head", c.text.hidden, c.text.vocab, bias=False)
    return part("", part("model", *body(c), kind="backbone"), head, kind="model")


CLASSES = {"Cosmos3EdgeModel": without_head(body), "Cosmos3EdgeForConditionalGeneration": generation}
KEYS = TEXT_IGNORED_KEYS | {"pretraining_tp", "tie_word_embeddings"}
FAMILIES = {
    "cosmos3_edge": Family("cosmos3_edge", WHOLE, CLASSES, "Cosmos3EdgeModel", IGNORED_KEYS | {"tie_word_embeddings"}),
    "cosmos3_edge_text": Family("cosmos3_edge_text", TEXT, {"Cosmos3EdgeTextModel": text}, "Cosmos3EdgeTextModel", KEYS),
    "cosmos3_edge_vision": Family(
        "cosmos3_edge_vision", VISION, {"Cosmos3EdgeVisionModel": vision}, "Cosmos3EdgeVisionModel", frozenset(("attention_dropout",))
    ),
}
