"""OpenCLIP: an image tower and a text tower, each of one of several kinds, in one space.

Source: open_clip_torch 3.3.0, open_clip/{model,transformer,modified_resnet,coca_model,hf_model}.py, whose live classes the tests
hold this to. A config (open_clip/model_configs, or ``model_cfg`` of an ``open_clip_config.json``) names no model type and is
known by its keys. Which class is built follows from it: CLIP, CustomTextCLIP, or CoCa.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from weighbridge.blueprints import family
from weighbridge.blueprints.modules.composite import as_child
from weighbridge.blueprints.modules.feature_maps import area
from weighbridge.blueprints.modules.open_clip_towers import (
    WRITTEN,
    block,
    modified_resnet,
    transformer,
    vision_transformer,
)
from weighbridge.blueprints.modules.stage_fields import decimal_ratio, numbers
from weighbridge.blueprints.modules.timm_models import ANY_SIDE, built_with
from weighbridge.blueprints.modules.vit_common import grid
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, SubConfig, choice, computed, derived, sides, size, switch, with_changes
from weighbridge.core._json import loads
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import length
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor
from weighbridge.presets import preset

if TYPE_CHECKING:
    from typing import Any

WIDER = ("qk_norm", "scaled_cosine_attn", "scale_heads", "scale_attn_inner", "scale_attn", "scale_fc")
"""The switches any of which takes the block with more norms and scales."""


def block_kind(value: Any) -> str | None:
    """Take the kind of block: named, or given by the switches."""
    if value not in (None, "default", "custom"):
        raise ConfigError(Text("expected default or custom, found {value!r:.60}", value=value), key="block_type", value=value)
    return None if value is None else str(value)


def pooling(value: Any) -> Any:
    """Take whether queries pool by attention, and in which of two ways twice."""
    if value not in (False, True, "parallel", "cascade"):
        raise ConfigError(Text("expected true, parallel or cascade, found {value!r:.60}", value=value), key="attentional_pool", value=value)
    return value


BLOCK = (
    *decimal_ratio("width"),
    choice("layer_scale", "ls_init_value", None, report_default=False),
    choice("block_type", "block_type", None, read=block_kind, report_default=False),
    *(switch(key, key, False, report_default=False) for key in WIDER),
    computed("wider", lambda c: c.block_type == "custom" or (c.block_type is None and any(getattr(c, key) for key in WIDER))),
)

IMAGE = sides("image", "image_size", 224, "R", "image size")
VISION = (
    size("hidden", "width", 768, "H", "width"),
    size("layers", "layers", 12, "L", "layers"),
    size("head_width", "head_width", 64, "D", "head dimension"),
    derived("heads", lambda c: c.hidden // c.head_width, "width", "head_width"),
    *BLOCK,
    *IMAGE,
    *sides("patch", "patch_size", 16, "P", "patch size"),
    switch("first_norm", "no_ln_pre", False, report_default=False),
    choice("pooling", "attentional_pool", False, read=pooling, report_default=False),
    choice("cut", "pool_type", "tok", read=lambda value: value != "none", report_default=False),
    size("queries", "attn_pooler_queries", 256, "Q", "queries that pool", report_default=False),
    size("pool_heads", "attn_pooler_heads", 8, "A_pool", "heads that pool", report_default=False),
    choice("frozen_positions", "pos_embed_type", "learnable", read=lambda value: value == "sin_cos_2d", report_default=False),
)
RESNET = (
    size("hidden", "width", 64, "H", "width of the stem"),
    numbers("depths", "layers", (3, 4, 6, 3)),
    size("head_width", "head_width", 64, "D", "head dimension", report_default=False),
    derived("heads", lambda c: c.hidden * 32 // c.head_width, "width", "head_width"),
    size("image_height", "image_size", 224, "R", "image size"),
    derived("image_width", lambda c: c.image_height),
)
TEXT = (
    size("vocab", "vocab_size", 49408, "V", "vocabulary size"),
    size("context", "context_length", 77, "S", "tokens of a text"),
    size("hidden", "width", 512, "W", "width"),
    size("heads", "heads", 8, "A", "attention heads"),
    size("layers", "layers", 12, "N", "layers"),
    *BLOCK,
    switch("token", "embed_cls", False, report_default=False),
    switch("biased", "proj_bias", False, report_default=False),
    choice("projected", "proj_type", "linear", report_default=False, read=lambda value: value != "none"),
    switch("unmasked", "no_causal_mask", False, report_default=False),
)
WRITER = (
    size("context", "context_length", 77, "S", "tokens of a text", report_default=False),
    size("hidden", "width", 512, "W", "width", report_default=False),
    size("heads", "heads", 8, "A", "attention heads", report_default=False),
    size("layers", "layers", 12, "N", "layers", report_default=False),
    derived("mlp", lambda c: 4 * c.hidden, "width"),
    choice("layer_scale", "ls_init_value", None, report_default=False),
)
VISION_KEYS = frozenset(
    """act_kwargs final_ln_after_pool mlp_ratio norm_kwargs output_tokens patch_dropout patch_size pool_type timm_drop timm_drop_path
    timm_model_pretrained timm_pool timm_proj timm_proj_bias""".split()
)
TEXT_KEYS = frozenset(
    """act_kwargs attn_pooler_heads context_length dim_head eos_id final_ln_after_pool hf_model_pretrained hf_tokenizer_name mlp_ratio
    n_queries norm_kwargs output_tokens pad_id pool_type tokenizer_kwargs tokenizer_mode vocab_size""".split()
)


TIMM_FIELDS = (
    choice("projection", "timm_proj", None, report_default=False),
    switch("projection_bias", "timm_proj_bias", False, report_default=False),
)


def _vision(value: Any, path: str) -> SubConfig:
    """Find how the image tower is read: a transformer, a ResNet where `layers` is a list, or one of timm's by its name."""
    raw = value or {}
    if raw.get("timm_model_name"):
        return _timm(raw, path)
    if isinstance(raw.get("layers"), (list, tuple)):
        return SubConfig(raw, RESNET, VISION_KEYS, "resnet")
    return SubConfig(raw, VISION, VISION_KEYS, "transformer")


def _timm(raw: Mapping[str, Any], path: str) -> SubConfig:
    """Find how a tower of timm's is read: the model's own arguments, and a projection in place of its classifier or by it."""
    name, pool, projection = raw["timm_model_name"], raw.get("timm_pool", "avg"), raw.get("timm_proj", "linear")
    model_type, arguments = built_with(name, f"{path}.timm_model_name")
    if pool in ("abs_attn", "rot_attn") or projection not in (None, "", "none", "linear", "mlp"):
        raise ConfigError("this pooling or projection is not described", key=f"{path}.timm_pool", value=pool)
    found = {**arguments, "num_classes": 0, "timm_proj": projection or None, "timm_proj_bias": raw.get("timm_proj_bias", False)}
    if projection not in ("linear", "mlp"):
        found["global_pool"] = pool
    elif pool and pool != "map" and found.get("global_pool") == "map":
        found["global_pool"] = "token"  # the attention that pools goes with the classifier
    placeless = found.get("pos_embed") == "none" and found.get("embed_layer")  # of ViTamin-XL, which takes images of any side
    if (model_type in ANY_SIDE or placeless) and "image_size" in raw:
        found["img_size"] = raw["image_size"]
    known = family(model_type)
    return SubConfig(found, (*known.fields, *TIMM_FIELDS), VISION_KEYS | known.ignored_keys, model_type)


HF_FIELDS = (
    choice("projection", "hf_proj_type", "mlp", report_default=False),
    choice("pooler", "hf_pooler_type", "mean_pooler", report_default=False),
    choice("name", "hf_model_name", "", report_default=False),
    size("words", "text_vocab_size", 49408, "W_dec", "words that the decoder of text tells apart", report_default=False),
)


def _text(value: Any, path: str) -> SubConfig:
    """Find how the text tower is read: OpenCLIP's transformer, or one of the Hub's, whose config is a preset's."""
    raw = value or {}
    name = raw.get("hf_model_name")
    if not name:
        return SubConfig(raw, TEXT, TEXT_KEYS, "transformer")
    found = preset(name) if isinstance(name, str) else None
    if found is None:
        hint = "a name from weigh models"
        raise ConfigError(Text("the config of {name!r:.60} is not known", name=name), key=f"{path}.hf_model_name", value=name, hint=hint)
    known = family(found.config["model_type"])
    own = {key: raw[key] for key in ("hf_model_name", "hf_proj_type", "hf_pooler_type") if key in raw}
    if "vocab_size" in raw:  # of the decoder alone, if there is one; the tower has the Hub's
        own["text_vocab_size"] = raw["vocab_size"]
    return SubConfig({**found.config, **own}, (*known.fields, *HF_FIELDS), TEXT_KEYS | known.ignored_keys, known.model_type)


FIELDS = (
    size("shared", "embed_dim", 512, "E", "width of the shared space"),
    Field("vision", "vision_cfg", None, "nested", resolve=_vision),
    Field("text", "text_cfg", None, "nested", resolve=_text),
    Field("writer", "multimodal_cfg", None, "nested", resolve=lambda raw, path: SubConfig(raw or {}, WRITER, TEXT_KEYS)),
    switch("custom_text", "custom_text", False, report_default=False),
    choice("logit_bias", "init_logit_bias", None, report_default=False),
    switch("vector_scale", "nonscalar_logit_scale", False, report_default=False),
    computed("one_width", lambda c: c.vision.model_type == "transformer" and c.vision.hidden == c.shared),
)


def timm_tower(c: Config, shared: Size) -> tuple[Part, ...]:
    """Describe a network of timm's, whose classifier makes the vector in the shared space, or a head after it."""
    known = family(c.model_type)
    if c.projection is None:
        return (as_child("trunk", known.classes[known.base](with_changes(c, headed=True, labels=shared))),)
    trunk = as_child("trunk", known.classes[known.base](c))
    width = c.widths[-1] if c.model_type in ("timm_convnext", "timm_swin") else c.hidden
    if c.projection == "none":
        return (trunk,)
    if c.projection == "linear":
        inner = linear("proj", width, shared, bias=c.projection_bias)
    else:
        inner = part(
            "mlp", linear("fc1", width, 2 * shared), linear("fc2", 2 * shared, shared, bias=c.projection_bias), kind="feed_forward"
        )
    return trunk, part("head", inner, kind="projection", stream="one")


def image_tower(c: Config) -> Part:
    """Describe the image tower of any kind."""
    inner = c.vision
    if inner.model_type.startswith("timm_"):
        return part("visual", *timm_tower(inner, c.shared), kind="vision")
    if inner.model_type == "resnet":
        return part("visual", *modified_resnet(inner, c.shared), kind="vision")
    return part("visual", *vision_transformer(inner, c.shared, one_width=c.one_width), kind="vision", stream=area(grid(inner)) + 1)


def text_parts(c: Config, shared: Size) -> dict[str, Part | Tensor]:
    """Describe the parts of the text tower, by name: CLIP holds them itself, in another order."""
    W, stream = c.hidden, (length("seq") + 1 if c.token else "seq")
    found: dict[str, Part | Tensor] = {"cls_emb": Tensor("cls_emb", (W,), "embedding")} if c.token else {}
    found["positional_embedding"] = Tensor("positional_embedding", (c.context + (1 if c.token else 0), W), "embedding")
    if c.projected and not c.biased:
        found["text_projection"] = part("", Tensor("text_projection", (W, shared), "weight"), stream="one")
    found["token_embedding"] = embedding("token_embedding", c.vocab, W, stream="seq")
    found["transformer"] = replace(transformer(c, causal=not c.unmasked), stream=stream)
    found["ln_final"] = layer_norm("ln_final", W, stream="one" if c.token else "seq")
    if c.projected and c.biased:
        found["text_projection"] = linear("text_projection", W, shared, stream="one")
    return found


def hub_text(c: Config, shared: Size) -> tuple[Part, ...]:
    """Describe a text tower of the Hub's: its encoder, and a projection."""
    known = family(c.model_type)
    whole = known.classes[known.base](with_changes(c, pooled=c.pooler == "cls_pooler"))
    encoder = next((node for node in whole.children if isinstance(node, Part) and node.name == "encoder"), None)
    if any(isinstance(node, Part) and node.name == "decoder" for node in whole.children) and encoder is not None:
        whole = replace(encoder, children=tuple(_own_words(node) for node in encoder.children))
    inner = as_child("transformer", whole)
    if c.projection == "linear":
        return inner, linear("proj", c.hidden, shared, bias=False, stream="one")
    if c.projection != "mlp":
        raise ConfigError(Text("expected linear or mlp, found {value!r:.60}", value=c.projection), key="text_cfg.hf_proj_type")
    middle = (c.hidden + shared) // 2
    first, last = linear("0", c.hidden, middle, bias=False), linear("2", middle, shared, bias=False)
    return inner, part("proj", first, last, kind="projection", stream="one")


def _own_words(node: Node) -> Node:
    """Return word embeddings that are no longer another part's."""
    if not isinstance(node, Part) or node.name != "embed_tokens":
        return node
    return replace(node, children=tuple(replace(tensor, tied_to=None) for tensor in node.children))


def text_tower(c: Config, shared: Size) -> Part:
    """Describe the text tower of any kind, by itself."""
    if c.model_type != "transformer":
        return part("text", *hub_text(c, shared), kind="text")
    return part("text", *text_parts(c, shared).values(), kind="text")


def scales(c: Config) -> tuple[Tensor, ...]:
    """Describe the temperature of the similarities, and what is added to them, if anything is."""
    shape = (1,) if c.vector_scale else ()
    return Tensor("logit_scale", shape, "gain"), *((Tensor("logit_bias", shape, "bias"),) if c.logit_bias is not None else ())


def clip(c: Config) -> Part:
    """Describe CLIP, which holds the parts of the text tower itself."""
    if c.text.model_type != "transformer":
        raise ConfigError("CLIP has no tower of the Hub's; CustomTextCLIP has", key="text_cfg.hf_model_name", value=c.text.name)
    parts = text_parts(c.text, c.shared)
    parts.pop("cls_emb", None)
    own = [
        name for name in ("positional_embedding", "text_projection") if name in parts and not (name == "text_projection" and c.text.biased)
    ]
    rest = [replace(parts[name], stream=c.text.context) for name in ("transformer", "token_embedding", "ln_final")]
    last = [parts["text_projection"]] if c.text.projected and c.text.biased else []
    return part("", *(parts[name] for name in own), *scales(c), image_tower(c), *rest, *last, kind="model")


def custom_text_clip(c: Config) -> Part:
    """Describe CustomTextCLIP: two towers side by side."""
    return part("", *scales(c), image_tower(c), text_tower(c.text, c.shared), kind="model")


def image_tokens(c: Config) -> Size:
    """Return the tokens that the decoder sees of an image: without the first, which stands for the image, unless two are pooled for."""
    if c.model_type != "transformer":
        raise ConfigError("CoCa needs the tokens of an image, and a ResNet puts out one vector", key="vision_cfg.layers")
    if not c.pooling:
        return area(grid(c)) + (0 if c.cut else 1)
    return c.queries - (1 if c.pooling is True and c.cut else 0)


def coca(c: Config) -> Part:
    """Describe CoCa: two towers, and a decoder of text that attends to the image's pooled tokens."""
    inner, words = c.writer, c.text.vocab if c.text.model_type == "transformer" else c.text.words
    writer = part(
        "text_decoder",
        Tensor("text_projection", (inner.hidden, words), "weight"),
        block(inner, causal=True),
        block(inner, "cross_attn", keys=image_tokens(c.vision)),
        layer_norm("ln_final", inner.hidden),
        kind="decoder",
        stream=WRITTEN,
    )
    return part("", *scales(c), text_tower(c.text, c.shared), image_tower(c), writer, kind="model")


def open_clip_model(name: str) -> dict[str, Any] | None:
    """Return the config of one of OpenCLIP's models by the name that ``open_clip.create_model`` takes; None if there is no such model.

    >>> open_clip_model("open_clip/ViT-B-32-quickgelu")["embed_dim"], open_clip_model("ViT-Z-1")
    (512, None)
    """
    if not _MODELS:
        with open(os.path.join(os.path.dirname(__file__), "open_clip_models.json"), encoding="utf-8") as file:
            _MODELS.update(loads(file.read()))
    return _MODELS.get(name.removeprefix("open_clip/").replace("/", "-"))


_MODELS: dict[str, dict[str, Any]] = {}


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Take ``model_cfg`` out of an ``open_clip_config.json``, and name the class that open_clip.create_model builds from it.

    >>> normalize_config({"model_cfg": {"embed_dim": 512, "custom_text": True}, "preprocess_cfg": {}})["architectures"]
    ['open_clip.CustomTextCLIP']
    """
    inner = raw.get("model_cfg")
    found: dict[str, Any] = dict(inner) if isinstance(inner, Mapping) else dict(raw)
    text = found.get("text_cfg")
    if found.get("custom_text") or (isinstance(text, Mapping) and text.get("hf_model_name")):
        return {"architectures": ["open_clip.CoCa" if found.get("multimodal_cfg") else "open_clip.CustomTextCLIP"], **found}
    return found


FAMILIES = {
    "open_clip": Family(
        "open_clip",
        FIELDS,
        {"open_clip.CLIP": clip, "open_clip.CustomTextCLIP": custom_text_clip, "open_clip.CoCa": coca},
        "open_clip.CLIP",
        frozenset(("quick_gelu", "init_logit_scale", "preprocess_cfg")),
        normalize_config=normalize_config,
    )
}
