"""DeepSeek-OCR 2 and Unlimited-OCR: Segment Anything's encoder, a second encoder on few vectors of it, and a mixture of experts.

Source: Wei et al. 2025, arXiv 2510.18234; names as in transformers 5.23.0, models/deepseek_ocr2/modeling_deepseek_ocr2.py and
models/unlimited_ocr.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.blueprints.decoders.llama import LLAMA
from weighbridge.blueprints.detection import sam_vision
from weighbridge.blueprints.mixtures.mixtral import MIXTRAL, expert_width, mixtral, with_layer_kinds
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS as TEXT_IGNORED_KEYS
from weighbridge.blueprints.modules.causal_lm import attention
from weighbridge.blueprints.modules.clip_towers import encoder as clip_encoder
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.layer_types import dense_before, listed_or
from weighbridge.blueprints.modules.mixture_of_experts import SHARED
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image, with_lm_head, without_head
from weighbridge.blueprints.multimodal.got_ocr2 import half_side
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    IMAGE,
    LAYERS,
    MLP,
    PATCH,
    Config,
    Field,
    choice,
    computed,
    constant,
    derived,
    size,
    switch,
    variant,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.parts import conv2d, embedding, gated_mlp, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

QUERIES = 144, 256
"""Learned queries for images of 768 and of 1,024 pixels a side, which the class fixes."""


def two_channels(default: tuple[int, int]) -> Field:
    """Declare the channels of the two convolutions that halve the map."""
    return numbers("down", "downsample_channels", default)


def kept_window(value: Any) -> Any:
    """Read the window, without which the reference does not build."""
    if value is None:
        raise ConfigError("this text model needs a window", key="sliding_window", value=value)
    return value


SAM = variant(
    tuple(field for field in sam_vision.FIELDS if field.word not in ("frequencies", "kinds")),
    two_channels((512, 896)),
    constant("kinds", sam_vision.kinds),
)
UNLIMITED_SAM = variant(
    tuple(field for field in SAM if field.word != "ratio"),
    two_channels((512, 1024)),
    mlp=size("mlp", "mlp_dim", 3072, "I", "intermediate size"),
)
CLIP = (
    HIDDEN.with_default(1024),
    MLP.with_default(4096),
    LAYERS.with_default(24),
    HEADS.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    IMAGE.with_default(224),
    PATCH.with_default(14),
)
QWEN = variant(
    LLAMA,
    *(constant(word, False) for word in ("out_bias", "mlp_bias")),
    constant("qkv_bias", True),
    vocab=151936,
    mlp=22016,
    kv_heads=size("kv_heads", "num_key_value_heads", 32, "K", "key-value heads", null=lambda c: c.heads),
)


def text_fields(kinds: tuple[Field, ...], **changes: Any) -> tuple[Field, ...]:
    """List the fields of a text model whose sparse layers have experts, some of which all tokens go through."""
    return with_layer_kinds(
        MIXTRAL,
        kinds,
        experts=size("experts", "n_routed_experts", 64, "E", "experts", "num_experts"),
        shared_experts=SHARED.with_default(2),
        head_dim=derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
        block="experts gate shared_experts",
        **changes,
    )


def first_are_dense(c: Config) -> list[str]:
    """Return the kinds of layers where the config does not list them: the first ones are dense."""
    return dense_before(c, c.dense)


def must_be_listed(c: Config) -> list[str]:
    """Refuse a config that does not list the kinds of its layers, as the reference does."""
    raise ConfigError("the kinds of layers (dense or sparse) must be listed", key="mlp_layer_types")


UNLIMITED_TEXT = (
    *text_fields(
        (Field("dense", "first_k_dense_replace", 1, "choice", report_default=False), *listed_or(first_are_dense)),
        vocab=129280,
        active=6,
        expert_mlp=expert_width(896),
        hidden=1280,
        mlp=6848,
        layers=12,
        heads=10,
        kv_heads=size("kv_heads", "num_key_value_heads", 10, "K", "key-value heads", null=lambda c: c.heads),
    ),
    choice("kept_window", "sliding_window", 128, read=kept_window),
)
OCR2_TEXT = text_fields(listed_or(must_be_listed), vocab=102400, hidden=4096, mlp=11008, expert_mlp=expert_width(1407), active=None)


def sam(c: Config, name: str = "") -> Part:
    """Describe Segment Anything's encoder, and two convolutions that halve its map."""
    inner, once = sam_vision.encoder(c), half_side(sam_vision.side(c))
    twice = half_side(once)
    proj = (
        conv2d("conv1", c.outputs, c.down[0], 3, bias=False, stream=once * once),
        conv2d("conv2", c.down[0], c.down[1], 3, bias=False, stream=twice * twice),
    )
    return replace(inner, name=name, children=(*inner.children, part("proj", *proj, kind="projector")))


def sam_places(c: Config) -> Size:
    """Count the vectors that the convolutions leave of an image."""
    twice = half_side(half_side(sam_vision.side(c)))
    return twice * twice


def has_few_places(c: Config) -> bool:
    """Say whether the queries for the smaller images are used: those that as few vectors come of."""
    places = sam_places(c.sam)
    assert isinstance(places, int)
    return places <= QUERIES[0]


def clip(c: Config) -> Part:
    """Describe the encoder of Unlimited-OCR: CLIP's, without patches of its own."""
    places = (c.image // c.patch) * (c.image // c.patch)
    tables = Tensor("class_embedding", (c.hidden,), "embedding"), embedding("position_embedding", places + 1, c.hidden)
    return part("", part("embeddings", *tables, kind="embeddings"), layer_norm("pre_layrnorm", c.hidden), clip_encoder(c), kind="vision")


def qwen(c: Config) -> Part:
    """Describe the encoder of DeepSeek-OCR 2: Qwen2's layers without words, in which vectors see all vectors and queries those before."""
    norms = (rms_norm(name, c.hidden) for name in c.norms)
    layer = part("layers", attention(c), gated_mlp("mlp", c.hidden, c.mlp), *norms, kind="layer", repeat=c.layers)
    return part("", layer, rms_norm("norm", c.hidden), kind="vision")


def unlimited_tower(c: Config) -> Part:
    """Describe UnlimitedOcrVisionModel: the second encoder sees the first one's vectors behind a class token."""
    inner = as_child("vision_encoder", submodel(c.encoder), streams={"seq": sam_places(c.sam) + 1})
    return part("", as_child("sam_encoder", submodel(c.sam)), replace(inner, stream=sam_places(c.sam) + 1), kind="vision")


def ocr2_tower(c: Config) -> Part:
    """Describe DeepseekOcr2VisionModel: learned queries behind the first encoder's vectors, which alone go on."""
    places = sam_places(c.sam)
    queries = QUERIES[0] if c.few else QUERIES[1]
    inner = as_child("vision_encoder", submodel(c.encoder), streams={"seq": places + queries})
    tables = (embedding(f"query_{side}_resolution", many, c.encoder.hidden) for side, many in zip((768, 1024), QUERIES, strict=True))
    return part("", as_child("sam_encoder", submodel(c.sam)), replace(inner, stream=places + queries), *tables, kind="vision")


def body(c: Config, width: Size, places: Stream, *separators: str) -> tuple[Node, ...]:
    """Describe the towers, the projector and the text, and what is put between the views and lines of an image."""
    H = c.text.hidden
    return (
        *(Tensor(name, (H,), "embedding") for name in separators),
        as_child("vision_tower", submodel(c.vision), requires="images", executions="images"),
        per_image(part("multi_modal_projector", *linear("", width, H).children, kind="projector", stream=places)),
        as_child("language_model", submodel(c.text)),
    )


def unlimited_ocr(c: Config) -> tuple[Node, ...]:
    """Describe Unlimited-OCR: vectors of both encoders side by side."""
    sam_config = c.vision.sam
    return body(c, sam_config.down[-1] + c.vision.encoder.hidden, sam_places(sam_config), "view_separator", "image_newline")


def ocr2(c: Config) -> tuple[Node, ...]:
    """Describe DeepSeek-OCR 2."""
    return body(c, c.vision.encoder.hidden, QUERIES[0] if c.vision.few else QUERIES[1], "view_separator")


def with_text_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Take the text's config under the name that the first configs of Unlimited-OCR give it."""
    if raw.get("text_config") is not None:
        return dict(raw)
    inner = dict(raw.get("language_config") or {})
    if "sliding_window" in raw:
        inner["sliding_window"] = raw["sliding_window"]
    return {**{key: value for key, value in raw.items() if key not in ("language_config", "sliding_window")}, "text_config": inner}


def tower_fields(name: str) -> tuple[Field, ...]:
    """List the fields of both encoders of a tower."""
    return (
        model_config("sam", "sam_config", f"{name}_sam_vision_model", fixed=True),
        model_config("encoder", "encoder_config", f"{name}_{'vision_encoder' if name == 'unlimited_ocr' else 'encoder'}", fixed=True),
        computed("few", has_few_places),
    )


def vision_language_family(name: str, prefix: str, body: Callable[[Config], tuple[Node, ...]], settle: Any = None) -> Family:
    """Return the type of the whole."""
    fields = (
        model_config("vision", "vision_config", f"{name}_vision", fixed=True),
        model_config("text", "text_config", f"{name}_text", fixed=True),
        switch("tied", "tie_word_embeddings", False),
    )
    classes = {f"{prefix}Model": without_head(body), f"{prefix}ForConditionalGeneration": with_lm_head(body)}
    return Family(name, fields, classes, f"{prefix}Model", IGNORED_KEYS, normalize_config=settle)


def family_of(model_type: str, fields: tuple[Field, ...], name: str, blueprint: Blueprint, keys: frozenset[str] = frozenset()) -> Family:
    """Return a type of one class."""
    return Family(model_type, fields, {name: blueprint}, name, keys)


def text(c: Config) -> Part:
    """Describe the text model."""
    return part("", *mixtral(c), kind="model")


SAM_KEYS = frozenset(("scale", "mlp_dim", "attention_dropout"))
TEXT_KEYS = TEXT_IGNORED_KEYS | {"pretraining_tp", "layer_types", "sliding_window"}
FAMILIES = {
    entry.model_type: entry
    for entry in (
        family_of("deepseek_ocr2_sam_vision_model", SAM, "DeepseekOcr2SamVisionEncoder", sam, SAM_KEYS),
        family_of("deepseek_ocr2_encoder", QWEN, "DeepseekOcr2VisionEncoder", qwen, TEXT_KEYS | {"vocab_size", "tie_word_embeddings"}),
        family_of("deepseek_ocr2_vision", tower_fields("deepseek_ocr2"), "DeepseekOcr2VisionModel", ocr2_tower),
        family_of("deepseek_ocr2_text", OCR2_TEXT, "DeepseekOcr2TextModel", text, TEXT_KEYS),
        vision_language_family("deepseek_ocr2", "DeepseekOcr2", ocr2),
        family_of("unlimited_ocr_sam_vision_model", UNLIMITED_SAM, "UnlimitedOcrSamVisionEncoder", sam, SAM_KEYS),
        family_of(
            "unlimited_ocr_vision_encoder", CLIP, "UnlimitedOcrVisionEncoder", clip, frozenset(("attention_dropout", "num_channels"))
        ),
        family_of("unlimited_ocr_vision", tower_fields("unlimited_ocr"), "UnlimitedOcrVisionModel", unlimited_tower),
        family_of("unlimited_ocr_text", UNLIMITED_TEXT, "UnlimitedOcrTextModel", text, TEXT_KEYS),
        vision_language_family("unlimited_ocr", "UnlimitedOcr", unlimited_ocr, with_text_config),
    )
}
