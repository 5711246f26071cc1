"""Muse Glimmer and Muse Spark: gated attention with norms around both halves of a layer, a vision tower of windows for images of any size,
Spark's audio tower, and Glimmer's assistant, which drafts blocks of words.

Source: class and tensor names as in transformers 5.23.0, models/muse_glimmer/modeling_muse_glimmer.py and models/muse_spark and
models/muse_glimmer_assistant. Some of its norms have no parameters.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, attention, uneven_heads
from weighbridge.blueprints.modules.clip_towers import stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.sliding_window import window, windowed_layers
from weighbridge.blueprints.modules.stage_fields import equal_length, numbers, ratio, scale_width
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as OUTER_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import per_image, with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MLP,
    PATCH,
    TIED,
    Config,
    Field,
    choice,
    computed,
    constant,
    size,
    variant,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, merge, product_of, sum_of, sum_of_squares
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, gated_mlp, layer_norm, linear, part, plain_mlp, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

NORMS = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")


def _windows(c: Config) -> list[str]:
    """Return for each layer of the tower whether it sees windows: all but every fourth and the last."""
    if c.stated_kinds is not None:
        return list(c.stated_kinds)[: c.layers]
    return ["full_attention" if (index + 1) % 4 == 0 or index == c.layers - 1 else "window_attention" for index in layer_range(c.layers)]


def _refuse_mismatch(c: Config) -> bool:
    if c.hidden % c.heads:
        raise ConfigError("must be a multiple of num_attention_heads", key="hidden_size", value=c.hidden)
    return True


TEXT = (
    *variant(
        FIELDS,
        NO_MLP_BIAS,
        size("kv_heads", "num_key_value_heads", 2, "K", "key-value heads"),
        size("head_dim", "head_dim", 128, "D", "head dimension"),
        vocab=202048,
        hidden=6656,
        mlp=19968,
        layers=52,
        heads=32,
        window=window(default=2048),
        windowed=windowed_layers(lambda c: int(c.layers) - (int(c.layers) + 3) // 4),
    ),
    constant("checked", _refuse_mismatch),
)
VISION = (
    *stack_fields(1536, 8960, 16, 50),
    PATCH.with_default(14),
    size("tall", "pos_emb_height", 32, "Y", "rows of the table of positions"),
    size("broad", "pos_emb_width", 32, "X", "columns of the table of positions"),
    size("frames", "patch_temporal", 2, "T", "frames per patch"),
    size("merge", "merge_size", 2, "M", "patches merged along an axis"),
    choice("stated_kinds", "layer_types", None, report_default=False),
    computed("kinds", _windows),
)
BOTH = (
    model_config("vision", "vision_config", "muse_glimmer_vision", fixed=True),
    model_config("text", "text_config", "muse_glimmer_text", fixed=True),
    size("shuffled", "out_hidden_size", 6144, "O", "width of merged patches"),
    size("projected", "projector_hidden_size", 4096, "E", "inner width of the projector"),
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


def audio(c: Config) -> Part:
    """Describe MuseSparkAudioModel: samples side by side step by step, and convolutions of each channel with a plain network after."""
    stream: Stream = "seq"
    layers, width = [], 1
    for index, (patch, outputs, depth) in enumerate(zip(c.patches, c.widths, c.depths, strict=True)):
        stream, inner = merge(stream, patch), scale_width(outputs, c.ratio)
        conv = part("conv", Tensor("weight", (outputs, 1, c.kernel)), Tensor("bias", (outputs,), "bias"), kind="convolution")
        mlp = plain_mlp("mlp", outputs, inner, ("fc1", "fc2"), bias=True)
        embedder = part("patch_embedder", linear("proj", width * patch, outputs), rms_norm("norm", outputs), kind="embeddings")
        blocks = part("conv_blocks", conv, rms_norm("norm", outputs), mlp, kind="layer", repeat=depth)
        layers.append(part(str(index), embedder, blocks, kind="stage", stream=stream))
        width = outputs
    last = rms_norm("norm", width), linear("proj", width, c.out), rms_norm("post_proj_norm", c.out)
    return part("", part("layers", *layers), *last, kind="audio", stream=stream)


def spark(c: Config) -> tuple[Node, ...]:
    """Describe Muse Spark: the same with an audio tower that writes into the text's own width."""
    return *body(c), as_child("audio_tower", submodel(c.audio), requires="audios", executions="audios")


def spark_generation(c: Config) -> Part:
    """Describe MuseSparkForConditionalGeneration, whose head is not tied."""
    head = linear("lm_head", c.text.hidden, c.text.vocab, bias=False)
    return part("", part("model", *spark(c), kind="backbone"), head, kind="model")


def assistant(c: Config) -> Part:
    """Describe MuseGlimmerAssistantModel: layers that refine a block of words beside states of the text's layers, and a map of those states.

    ``seq`` counts the words of a block, ``encoder`` the states that the text hands over.
    """
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    both = sum_of("encoder", "seq")
    attended = part(
        "self_attn",
        linear("q_proj", H, A * D, bias=False),
        *(linear(f"{letter}_proj", H, K * D, bias=False, stream=both) for letter in "kv"),
        linear("o_proj", A * D, H, bias=False),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D),
        attend(heads=A, kv_heads=K, head_dim=D, keys=both),
        kind="self_attention",
    )
    norms = rms_norm("post_attention_layernorm", H), rms_norm("input_layernorm", H)
    layer = part("layers", attended, gated_mlp("mlp", H, c.mlp), *norms, kind="layer", repeat=c.layers)
    context = linear("fc", c.sources * H, H, bias=False), rms_norm("output_norm_enc", H)
    return part("", layer, rms_norm("norm", H), part("encoder", *context, kind="projector", stream="encoder"), kind="model")


def audio_stages(c: Config) -> int:
    """Return how many stages there are, which every list must cover."""
    many = equal_length(patch_sizes=c.patches, hidden_sizes=c.widths, depths=c.depths)
    if many != c.stages:
        raise ConfigError(Text("there are lists of {many} entries", many=many), key="num_hidden_layers", value=c.stages)
    return many


def number_of_layers(value: Any) -> int:
    """Read of how many layers the states are handed over, side by side."""
    if not isinstance(value, (list, tuple)):
        raise ConfigError("expected layer numbers", key="target_layer_ids", value=value)
    return len(value)


def refuse_audio_mismatch(c: Config) -> bool:
    """Refuse an audio tower that does not write as wide as the text reads."""
    if c.audio.out != c.text.hidden:
        raise ConfigError(Text("the text is {width} wide", width=c.text.hidden), key="audio_config.out_hidden_size", value=c.audio.out)
    return True


AUDIO = (
    numbers("patches", "patch_sizes", (16, 6, 5, 4)),
    numbers("widths", "hidden_sizes", (256, 512, 1024, 2048)),
    numbers("depths", "depths", (2, 2, 2, 2)),
    Field("stages", "num_hidden_layers", 4, "choice"),
    computed("staged", audio_stages),
    ratio("ratio", "mlp_ratio", 4.0),
    size("kernel", "conv_kernel_size", 7, "K", "kernel size of the convolutions"),
    size("out", "out_hidden_size", 8192, "O", "width of an output state"),
)
SPARK = (
    *variant(
        tuple(field for field in BOTH if field.word != "tied"),
        vision=model_config("vision", "vision_config", "muse_spark_vision", fixed=True),
        text=model_config("text", "text_config", "muse_spark_text", fixed=True),
    ),
    model_config("audio", "audio_config", "muse_spark_audio", fixed=True),
    computed("audio_fits", refuse_audio_mismatch),
)
ASSISTANT = (
    HIDDEN.with_default(6656),
    MLP.with_default(19968),
    LAYERS.with_default(5),
    HEADS.with_default(32),
    KV_HEADS.with_default(8),
    size("head_dim", "head_dim", 128, "D", "head dimension"),
    Field("sources", "target_layer_ids", [1, 13, 25, 37, 49], "choice", read=number_of_layers),
)
SPARK_CLASSES = {"MuseSparkModel": without_head(spark), "MuseSparkForConditionalGeneration": spark_generation}
SPARK_KEYS = OUTER_IGNORED_KEYS | {"audio_token_id", "tie_word_embeddings"}
TEXT_KEYS = IGNORED_KEYS | {"layer_rope_theta", "output_multiplier", "post_norm_eps", "qk_scale_factor"}
ASSIST, ASSISTANT_KEYS = "MuseGlimmerAssistantModel", IGNORED_KEYS | {"block_size", "layer_types", "mask_token_id", "sliding_window"}
CLASSES = {"MuseGlimmerModel": without_head(body), "MuseGlimmerForConditionalGeneration": with_lm_head(body)}
TOWER = uneven_heads(VISION)
FAMILIES = {
    "muse_glimmer": Family("muse_glimmer", BOTH, CLASSES, "MuseGlimmerModel", OUTER_IGNORED_KEYS),
    "muse_glimmer_assistant": Family("muse_glimmer_assistant", ASSISTANT, {ASSIST: assistant}, ASSIST, ASSISTANT_KEYS),
    "muse_glimmer_text": Family("muse_glimmer_text", TEXT, {"MuseGlimmerTextModel": text}, "MuseGlimmerTextModel", TEXT_KEYS),
    "muse_spark": Family("muse_spark", SPARK, SPARK_CLASSES, "MuseSparkModel", SPARK_KEYS),
    "muse_spark_audio": Family("muse_spark_audio", AUDIO, {"MuseSparkAudioModel": audio}, "MuseSparkAudioModel"),
    "muse_spark_vision": Family("muse_spark_vision", TOWER, {"MuseSparkVisionModel": vision}, "MuseSparkVisionModel"),
    "muse_glimmer_vision": Family("muse_glimmer_vision", TOWER, {"MuseGlimmerVisionModel": vision}, "MuseGlimmerVisionModel"),
}
