"""Muse Glimmer: gated attention with norms around both halves of a layer, and a vision tower of windows for images of any size.

Source: class and tensor names as in transformers 5.23.0, models/muse_glimmer/modeling_muse_glimmer.py. Some of its norms have no parameters.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, attention
from weighbridge.blueprints.modules.clip_towers import stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.sliding_window import window, windowed_layers
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as OUTER_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import per_image, with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import PATCH, TIED, Config, choice, computed, constant, size, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import merge, product_of, sum_of_squares
from weighbridge.core.parts import attend, embedding, gated_mlp, layer_norm, linear, part, plain_mlp, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part

NORMS = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")


def _windows(c: Config) -> list[str]:
    """Return for each layer of the tower whether it sees windows: all but every fourth and the last."""
    if c.stated_kinds is not None:
        return list(c.stated_kinds)[: c.layers]
    return ["full_attention" if (index + 1) % 4 == 0 or index == c.layers - 1 else "window_attention" for index in layer_range(c.layers)]


def _checked(c: Config) -> bool:
    if c.hidden % c.heads:
        raise ConfigError("must be a multiple of num_attention_heads", key="hidden_size", value=c.hidden)
    return True


TEXT = (
    *variant(
        FIELDS,
        NO_MLP_BIAS,
        size("kv_heads", "num_key_value_heads", 2, "K", "key-value heads"),
        size("head_dim", "head_dim", 128, "D", "width of a head"),
        vocab=202048,
        hidden=6656,
        mlp=19968,
        layers=52,
        heads=32,
        window=window(default=2048),
        windowed=windowed_layers(lambda c: int(c.layers) - (int(c.layers) + 3) // 4),
    ),
    constant("checked", _checked),
)
VISION = (
    *stack_fields(1536, 8960, 16, 50),
    PATCH.with_default(14),
    size("tall", "pos_emb_height", 32, "Y", "rows of the table of positions"),
    size("broad", "pos_emb_width", 32, "X", "columns of the table of positions"),
    size("frames", "patch_temporal", 2, "T", "frames of a patch"),
    size("merge", "merge_size", 2, "M", "patches merged along an axis"),
    choice("stated_kinds", "layer_types", None, report_default=False),
    computed("kinds", _windows),
)
BOTH = (
    model_config("vision", "vision_config", "muse_glimmer_vision", fixed=True),
    model_config("text", "text_config", "muse_glimmer_text"),
    size("shuffled", "out_hidden_size", 6144, "O", "width of merged patches"),
    size("projected", "projector_hidden_size", 4096, "E", "width inside the projector"),
    TIED.with_default(False),
)


def text(c: Config) -> Part:
    """Describe MuseGlimmerTextModel."""
    gate = linear("gate_proj", c.hidden, c.heads * c.head_dim, bias=False)
    norms = (rms_norm(name, c.hidden) for name in NORMS)
    layer = part("layers", attention(c, gate), gated_mlp("mlp", c.hidden, c.mlp), *norms, kind="layer", repeat=c.layers)
    return part("", embedding("embed_tokens", c.vocab, c.hidden), layer, rms_norm("norm", c.hidden), kind="model")


def vision(c: Config) -> Part:
    """Describe the tower: patches laid out flat, a table of positions, layers on windows of it or on all patches."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        scores = attend(heads=c.heads, head_dim=c.head_dim)
        if kind == "window_attention":  # windows at the edges are smaller
            rows, columns = sum_of_squares("rows", c.tall), sum_of_squares("columns", c.tall)
            scores = attend(heads=c.heads, head_dim=c.head_dim, queries=rows, keys=columns)
        maps = (linear(f"{letter}_proj", H, H) for letter in "qkv")
        attended = part("attn", linear("proj", H, H), *maps, scores, kind="self_attention")
        return layer_norm("norm1", H), layer_norm("norm2", H), attended, plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)

    patch = linear("patch_embedding", 3 * c.frames * c.patch * c.patch, H, bias=False)
    embedder = part("patch_embedder", patch, embedding("position_embedding_table", c.tall * c.broad, H), kind="embeddings")
    layers = stack("layers", c.kinds, c.layers, layer)
    return part("", embedder, layer_norm("ln_pre", H), *layers, layer_norm("ln_post", H), kind="vision", stream=PATCHES)


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the text, and three linear maps over squares of patches."""
    squares = product_of(merge("rows", c.vision.merge), merge("columns", c.vision.merge))
    inner = linear("fc1", c.shuffled, c.projected, bias=False), linear("fc2", c.projected, c.projected, bias=False)
    return (
        as_child("vision_tower", submodel(c.vision), requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
        per_image(part("vision_adapter", *inner, kind="projector", stream=squares)),
        per_image(linear("vision_projection", c.projected, c.text.hidden, bias=False, stream=squares)),
    )


TEXT_KEYS = IGNORED_KEYS | {"layer_rope_theta", "output_multiplier", "post_norm_eps", "qk_scale_factor"}
CLASSES = {"MuseGlimmerModel": without_head(body), "MuseGlimmerForConditionalGeneration": with_lm_head(body)}
FAMILIES = {
    "muse_glimmer": Family("muse_glimmer", BOTH, CLASSES, "MuseGlimmerModel", OUTER_IGNORED_KEYS),
    "muse_glimmer_text": Family("muse_glimmer_text", TEXT, {"MuseGlimmerTextModel": text}, "MuseGlimmerTextModel", TEXT_KEYS),
    "muse_spark_vision": Family("muse_spark_vision", VISION, {"MuseSparkVisionModel": vision}, "MuseSparkVisionModel"),
    "muse_glimmer_vision": Family("muse_glimmer_vision", VISION, {"MuseGlimmerVisionModel": vision}, "MuseGlimmerVisionModel"),
}
