"""DiffusionGemma: Gemma 4's layers read a prompt, and the same weights refine a canvas of tokens that all see each other.

Source: Google, DiffusionGemma (2026); names as in transformers 5.23.0, models/diffusion_gemma/modeling_diffusion_gemma.py.
``seq`` counts tokens of the prompt, ``decoder`` those of the canvas; a pass is the first step, before which no logits are known.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders import gemma4
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS as TEXT_IGNORED_KEYS
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.shared_layers import tied_to_owner
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image
from weighbridge.blueprints.multimodal.gemma4_towers import pooled_patches
from weighbridge.blueprints.multimodal.gemma4_vl import embedder
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import Stream, at_most, sum_of
from weighbridge.core.parts import embedding, linear, part, replace, rms_norm, stack
from weighbridge.core.tree import Attend, Node, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TEXT = variant(
    gemma4.TEXT,
    constant("table", 0),
    constant("table_rows", 0),
    constant("tabled", False),
    constant("equal", True),
    constant("doubled", False),
    constant("shared_layers", 0),
    constant("sparse", True),
)
FIELDS = (
    model_config("text", "text_config", "diffusion_gemma_text", fixed=True),
    model_config("vision", "vision_config", "gemma4_vision", only=True),
    switch("tied", "tie_word_embeddings", True),
)


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read sizes that a saved config says layer by layer; here values are always the keys where attention is in full.

    >>> normalize_config({"num_hidden_layers": 30, "attention_k_eq_v": False})
    {'num_hidden_layers': 30}
    """
    said = gemma4.normalize_config({**raw, "attention_k_eq_v": True})
    return {key: value for key, value in said.items() if key != "attention_k_eq_v"}


ORDER = ("q_proj", "k_proj", "v_proj", "o_proj", "q_norm", "k_norm")
"""The order in which the class holds the parts of its attention, another than Gemma 4's."""


def layer(c: Config, kind: str) -> tuple[Node, ...]:
    """Describe Gemma 4's layer with experts, the parts of its attention in the order of this class."""
    scale, attention, *rest = gemma4.layer(c, kind, False)
    assert isinstance(attention, Part)
    ordered = sorted(attention.children, key=lambda node: ORDER.index(node.name) if node.name in ORDER else len(ORDER))
    return scale, replace(attention, children=tuple(ordered)), *rest


def text(c: Config) -> Part:
    """Describe DiffusionGemmaEncoderTextModel."""
    layers = stack("layers", c.mixers, c.layers, lambda kind: layer(c, kind))
    return part("", embedding("embed_tokens", c.vocab, c.hidden), *layers, rms_norm("norm", c.hidden), kind="model")


def encoder(c: Config) -> tuple[Node, ...]:
    """Describe what reads the prompt: the text's layers, a tower for images, and the map between them."""
    seen = replace(embedder("embed_vision", c.vision.out, c.text.hidden), stream=pooled_patches(c.vision))
    tower = as_child("vision_tower", submodel(c.vision), requires="images", executions="images")
    return as_child("language_model", submodel(c.text)), tower, per_image(seen)


def decoder(c: Config, prompt: Stream, canvas: Stream, words: str | None = None) -> tuple[Node, ...]:
    """Describe what refines the canvas; layers and table are those under *words*, where there are any."""
    own, H = c.text, c.text.hidden

    def refinement_layer(place: tuple[int, str]) -> tuple[Node, ...]:
        index, kind = place
        parts = tuple(attend_to_prompt(node, prompt, canvas) for node in layer(own, kind))
        return parts if words is None else tuple(share(node, f"{words}layers.{index}.") for node in parts)

    kinds = list(enumerate(own.mixers)) if words is not None else [(0, kind) for kind in own.mixers]
    signal = part(
        "self_conditioning",
        rms_norm("pre_norm", H),
        *(linear(name, H, own.mlp, bias=False) for name in ("gate_proj", "up_proj")),
        linear("down_proj", own.mlp, H, bias=False),
        kind="feed_forward",
    )
    return (
        embedding("embed_tokens", own.vocab, H, tied_to=f"{words}embed_tokens.weight" if words is not None else None),
        *stack("layers", kinds, own.layers, refinement_layer),
        rms_norm("norm", H) if words is None else tied_to_owner(rms_norm("norm", H), f"{words}norm."),
        signal,
    )


def attend_to_prompt(node: Node, prompt: Stream, canvas: Stream) -> Node:
    """Let the attention of a layer see the prompt's keys, the last of them where it is limited, and all of the canvas; it keeps none."""
    match node:
        case Part():
            return replace(node, children=tuple(attend_to_prompt(child, prompt, canvas) for child in node.children))
        case Attend():
            seen = prompt if node.window is None else at_most(prompt, node.window - 1)
            return replace(node, causal=False, window=None, keys=sum_of(seen, canvas), cache=0)
        case _:
            return node


def share(node: Node, owner: str) -> Node:
    """Say that weights are those of the layer under *owner*; biases and buffers are a layer's own."""
    match node:
        case Part():
            return replace(node, children=tuple(share(child, f"{owner}{node.name}.") for child in node.children))
        case Tensor() if node.role not in ("bias", "buffer"):
            return replace(node, tied_to=f"{owner}{node.name}")
        case _:
            return node


def encoder_and_decoder(c: Config, prefix: str) -> tuple[Part, Part]:
    """Describe both sides under the names that a class with *prefix* gives them."""
    words = f"{prefix}encoder.language_model." if c.tied else None
    reads = part("encoder", *encoder(c), kind="encoder")
    return reads, part("decoder", *decoder(c, "seq", "decoder", words), kind="decoder", stream="decoder")


def diffusion(c: Config) -> Part:
    """Describe DiffusionGemmaForBlockDiffusion: the word embeddings are its head."""
    owner = "model.encoder.language_model.embed_tokens.weight" if c.tied else None
    head = linear("lm_head", c.text.hidden, c.text.vocab, bias=False, tied_to=owner, stream="decoder")
    return part("", part("model", *encoder_and_decoder(c, "model."), kind="backbone"), head, kind="model")


NAME = "DiffusionGemma"
CLASSES = {
    f"{NAME}EncoderModel": lambda c: part("", *encoder(c), kind="model"),
    f"{NAME}DecoderModel": lambda c: part("", *decoder(c, "encoder", "seq"), kind="model"),
    f"{NAME}Model": lambda c: part("", *encoder_and_decoder(c, ""), kind="model"),
    f"{NAME}ForBlockDiffusion": diffusion,
}
FAMILIES = {
    "diffusion_gemma": Family(
        "diffusion_gemma", FIELDS, CLASSES, f"{NAME}Model", IGNORED_KEYS | {"boi_token_id", "canvas_length", "eoi_token_id"}
    ),
    "diffusion_gemma_text": Family(
        "diffusion_gemma_text",
        TEXT,
        {f"{NAME}EncoderTextModel": text},
        f"{NAME}EncoderTextModel",
        TEXT_IGNORED_KEYS,
        normalize_config=normalize_config,
    ),
}
