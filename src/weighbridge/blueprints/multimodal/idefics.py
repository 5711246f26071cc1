"""IDEFICS: an open Flamingo, whose Llama attends to CLIP's image states by gated layers between its own.

Source: arXiv 2306.16527 and 2204.14198; names as in transformers 5.23.0, models/idefics/modeling_idefics.py and perceiver.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.blueprints.modules.clip_towers import image_fields, stack_fields, vision_tower
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    LAYERS,
    MLP,
    TIED,
    VOCAB,
    Config,
    choice,
    derived,
    nested,
    size,
    switch,
    variant,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, product_of
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KINDS = {"LayerNorm": "layer_norm", "Linear": "linear", "Embedding": "embedding"}
"""The modules that can be kept trainable in what is frozen."""


def kept_kinds(key: str) -> Callable[[Any], frozenset[str]]:
    """Return what reads the kinds of modules that stay trainable."""

    def read(value: Any) -> frozenset[str]:
        if not isinstance(value, (list, tuple)) or any(name not in KINDS for name in value):
            known = ", ".join(KINDS)
            raise ConfigError(
                Text("expected a list of some of {known}, found {value!r:.60}", known=known, value=value), key=key, value=value
            )
        return frozenset(KINDS[name] for name in value)

    return read


def gate_shape(value: Any) -> str:
    """Take whether a gate is one number or one for each channel."""
    if value not in ("float", "vector"):
        raise ConfigError(Text("expected float or vector, found {value!r:.60}", value=value), key="alpha_type", value=value)
    return str(value)


VISION = (
    *variant(stack_fields(768, 5120, 16, 32), hidden=size("hidden", "embed_dim", 768, "H", "width", "hidden_size")),
    *image_fields(224, 14),
)
RESAMPLER = (
    size("latents", "resampler_n_latents", 64, "Q", "vectors per image"),
    size("layers", "resampler_depth", 6, "L", "layers"),
    size("heads", "resampler_n_heads", 16, "A", "attention heads"),
    size("head_dim", "resampler_head_dim", 96, "D", "head dimension"),
    switch("normed", "qk_layer_norms_perceiver", False),
)
FIELDS = (
    VOCAB.with_default(32000),
    choice("more", "additional_vocab_size", 0),
    size("additional", "additional_vocab_size", 0, "V_more", "additional vocabulary", minimum=0, report_default=False),
    HIDDEN.with_default(4096),
    MLP.with_default(11008),
    LAYERS.with_default(32),
    HEADS.with_default(32),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    size("interval", "cross_layer_interval", 1, "J", "layers from one gated layer to the next"),
    choice("gate", "alpha_type", "float", read=gate_shape),
    switch("normed", "qk_layer_norms", False),
    switch("frozen_text", "freeze_text_layers", True),
    choice("kept_text", "freeze_text_module_exceptions", [], read=kept_kinds("freeze_text_module_exceptions"), report_default=False),
    switch("frozen_head", "freeze_lm_head", False),
    switch("frozen_vision", "freeze_vision_layers", True),
    choice("kept_vision", "freeze_vision_module_exceptions", [], read=kept_kinds("freeze_vision_module_exceptions"), report_default=False),
    switch("resampled", "use_resampler", False),
    TIED.with_default(False),
    nested("vision", "vision_config", VISION),
    nested("resampler", "perceiver_config", RESAMPLER),
)


def freeze(node: Part, kept: frozenset[str]) -> Part:
    """Return a part none of whose tensors is trained, but those of the kinds *kept*."""

    def child(inner: Node) -> Node:
        if isinstance(inner, Part):
            return freeze(inner, kept)
        return replace(inner, frozen=node.kind not in kept) if isinstance(inner, Tensor) else inner

    return replace(node, children=tuple(child(inner) for inner in node.children))


def attention(c: Config, name: str, inputs: Size, keys: Stream | None = None) -> Part:
    """Describe attention to the text or, by way of *keys*, to the images."""
    H = c.hidden
    norms = (rms_norm("q_layer_norm", c.head_dim), rms_norm("k_layer_norm", c.head_dim)) if keys is not None and c.normed else ()
    return part(
        name,
        linear("q_proj", H, H, bias=False),
        linear("k_proj", inputs, H, bias=False, stream=keys),
        linear("v_proj", inputs, H, bias=False, stream=keys),
        linear("o_proj", H, H, bias=False),
        *norms,
        attend(heads=c.heads, head_dim=c.head_dim, keys=keys, causal=keys is None),
        kind="self_attention" if keys is None else "cross_attention",
    )


def rest_of_layer(c: Config) -> tuple[Part, ...]:
    """Describe the gated MLP, whose projection down stands in the middle, and the two norms."""
    H = c.hidden
    inner = linear("gate_proj", H, c.mlp, bias=False), linear("down_proj", c.mlp, H, bias=False), linear("up_proj", H, c.mlp, bias=False)
    return part("mlp", *inner, kind="feed_forward"), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)


def resampler(c: Config) -> Part:
    """Describe the Perceiver that makes a few vectors of an image: they attend to it and to themselves."""
    inner, width = c.resampler, c.vision.hidden
    wide, states = inner.heads * inner.head_dim, c.vision.patches + 1
    both = states + inner.latents
    attended = part(
        "0",
        layer_norm("context_layer_norm", width, stream=states),
        layer_norm("latents_layer_norm", width),
        *((layer_norm("q_layer_norm", inner.head_dim), layer_norm("k_layer_norm", inner.head_dim)) if inner.normed else ()),
        linear("q_proj", width, wide, bias=False),
        linear("k_proj", width, wide, bias=False, stream=both),
        linear("v_proj", width, wide, bias=False, stream=both),
        linear("output_proj", wide, width, bias=False),
        attend(heads=inner.heads, head_dim=inner.head_dim, keys=both),
        kind="cross_attention",
    )
    mlp = layer_norm("ln", width), linear("fc", width, 4 * width, bias=False), linear("c_proj", 4 * width, width, bias=False)
    blocks = part("blocks", attended, part("1", *mlp, kind="feed_forward"), kind="layer", repeat=inner.layers)
    latents = Tensor("latents", (inner.latents, width), "embedding")
    return part(
        "perceiver_resampler",
        latents,
        blocks,
        layer_norm("layer_norm", width),
        stream=inner.latents,
        requires="images",
        executions="images",
    )


def body(c: Config) -> tuple[Node, ...]:
    """Describe words, tower, layers, gated layers and the last norm."""
    H, width = c.hidden, c.vision.hidden
    seen = product_of("images", c.resampler.latents if c.resampled else c.vision.patches + 1)
    more = (embedding("additional_embedding", c.additional, H),) if c.more else ()
    words = part("embed_tokens", Tensor("weight", (c.vocab, H), "embedding", frozen=c.frozen_text), *more, kind="embedding")
    tower = part(
        "vision_model", *vision_tower(c.vision), kind="vision", stream=c.vision.patches + 1, requires="images", executions="images"
    )
    shape = (1, 1, H) if c.gate == "vector" else (1,)
    gates = Tensor("alpha_cross_attn", shape, "gain"), Tensor("alpha_dense", shape, "gain")
    crossed = part(
        "gated_cross_attn_layers",
        *gates,
        attention(c, "cross_attn", width, seen),
        *rest_of_layer(c),
        kind="layer",
        repeat=c.layers // c.interval,
        requires="images",
    )
    layer, norm = part("layers", attention(c, "self_attn", H), *rest_of_layer(c), kind="layer", repeat=c.layers), rms_norm("norm", H)
    return (
        words,
        freeze(tower, c.kept_vision) if c.frozen_vision else tower,
        *((resampler(c),) if c.resampled else ()),
        freeze(layer, c.kept_text) if c.frozen_text else layer,
        crossed,
        freeze(norm, c.kept_text) if c.frozen_text else norm,
    )


def model(c: Config) -> Part:
    """Describe IdeficsModel."""
    return part("", *body(c), kind="model")


def generation(c: Config) -> Part:
    """Describe IdeficsForVisionText2Text: a head for the words, and one for the additional words."""
    owner = "model.embed_tokens.weight" if c.tied else None
    more = "model.embed_tokens.additional_embedding.weight" if c.tied else None
    head = Tensor("weight", (c.vocab, c.hidden), "weight", owner, frozen=c.frozen_text if c.tied else c.frozen_head)
    extra = (linear("additional_fc", c.hidden, c.additional, bias=False, tied_to=more),) if c.more else ()
    return part("", part("model", *body(c), kind="backbone"), part("lm_head", head, *extra, kind="linear"), kind="model")


MORE_IGNORED_KEYS = frozenset("alpha_initializer alphas_initializer_range use_resampler".split())
FAMILIES = {
    "idefics": Family(
        "idefics",
        FIELDS,
        {"IdeficsModel": model, "IdeficsForVisionText2Text": generation},
        "IdeficsModel",
        IGNORED_KEYS | MORE_IGNORED_KEYS,
    )
}
