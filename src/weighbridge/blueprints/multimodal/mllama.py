"""Llama 3.2 Vision: cross-attention to image tiles in some text layers, which are skipped without an image.

Source: arXiv 2407.21783, section 7; names as in transformers 5.23.0, models/mllama/modeling_mllama.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA
from weighbridge.blueprints.modules.causal_lm import HEAD_DIM, IGNORED_KEYS, NO_BIAS, attention, uneven_heads
from weighbridge.blueprints.modules.clip_towers import image_fields, stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import per_image
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, computed, constant, sequence, size, variant
from weighbridge.core.length import length
from weighbridge.core.parts import (
    attend,
    conv2d,
    embedding,
    gated_mlp,
    layer_norm,
    linear,
    matmul,
    part,
    plain_mlp,
    replace,
    rms_norm,
    stack,
)
from weighbridge.core.sizes import Size, layer_range, round_up
from weighbridge.core.tree import Node, Part, Tensor

RATIOS = [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]]
VISION = (
    *variant(stack_fields(1280, 5120, 16, 32), heads=size("heads", "attention_heads", 16, "A", "attention heads", "num_attention_heads")),
    size("global_layers", "num_global_layers", 8, "J", "layers over all tiles"),
    *image_fields(448, 14),
    size("tiles", "max_num_tiles", 4, "T", "tiles of an image"),
    Field("ratios", "supported_aspect_ratios", lambda c: RATIOS, "sequence", read=len),
    size("out", "vision_output_dim", 7680, "O", "width of the states passed on"),
)
TEXT = variant(
    LLAMA,
    sequence("crossing", "cross_attention_layers", lambda c: [3, 8, 13, 18, 23, 28, 33, 38]),
    computed("crosses", lambda c: [index in c.crossing for index in layer_range(c.layers)]),
    *NO_BIAS,
    vocab=128256,
    mlp=14336,
    layers=40,
    kv_heads=8,
    head_dim=HEAD_DIM,
    tied=constant("tied", False),
)


def vision_layer(c: Config, repeat: Size, *, gated: bool) -> Part:
    """Describe a layer of the tower; those over all tiles have a gate behind each half."""
    H = c.hidden
    attended = part(
        "self_attn",
        *(linear(f"{name}_proj", H, c.heads * c.head_dim, bias=False) for name in "qkv"),
        linear("o_proj", c.heads * c.head_dim, H, bias=False),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    return part(
        "layers",
        *((Tensor("gate_attn", (1,), "gain"), Tensor("gate_ffn", (1,), "gain")) if gated else ()),
        attended,
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        layer_norm("input_layernorm", H),
        layer_norm("post_attention_layernorm", H),
        kind="layer",
        repeat=repeat,
    )


def vision(c: Config) -> Part:
    """Describe the tower: every tile, also those that only fill up, is padded to a multiple of eight patches."""
    H, inside = c.hidden, c.patches + 1
    padded = c.tiles * round_up(inside, 8)
    # Which patches may look at which is found by a product of a mask with itself.
    positions = part(
        "gated_positional_embedding",
        Tensor("gate", (1,), "gain"),
        Tensor("embedding", (inside, H), "embedding"),
        embedding("tile_embedding", c.ratios + 1, c.tiles * inside * H),
        kind="embeddings",
    )
    tiles = (Tensor("gate", (1,), "gain"), embedding("embedding", c.ratios + 1, c.tiles * H))
    return part(
        "",
        Tensor("class_embedding", (H,), "embedding"),
        conv2d("patch_embedding", c.channels, H, c.patch, stream=c.tiles * c.patches, bias=False),
        positions,
        part("pre_tile_positional_embedding", *tiles, kind="embeddings"),
        part("post_tile_positional_embedding", *tiles, kind="embeddings"),
        layer_norm("layernorm_pre", H),
        layer_norm("layernorm_post", H, stream=padded),
        matmul("mask", (padded, padded)),
        part("transformer", vision_layer(c, c.layers, gated=False), kind="encoder", stream=padded),
        part("global_transformer", vision_layer(c, c.global_layers, gated=True), kind="encoder", stream=padded),
        kind="vision",
        stream=c.tiles * inside,
    )


def cross_attention(c: Config) -> Part:
    """Describe attention of the text to the image's states, with norms on queries and keys."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        "cross_attn",
        linear("q_proj", H, A * D, bias=False),
        linear("k_proj", H, K * D, bias=False, stream="encoder"),
        linear("v_proj", H, K * D, bias=False, stream="encoder"),
        linear("o_proj", A * D, H, bias=False),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D, stream="encoder"),
        attend(heads=A, kv_heads=K, head_dim=D, keys="encoder"),
        kind="cross_attention",
    )


def text(c: Config) -> tuple[Node, ...]:
    """Describe the text: eight rows more than words, layers of two kinds, a last norm."""
    norms = rms_norm("input_layernorm", c.hidden), rms_norm("post_attention_layernorm", c.hidden)

    def layer(crosses: bool) -> tuple[Node, ...]:
        mlp = gated_mlp("mlp", c.hidden, c.mlp)
        if not crosses:
            return (attention(c), mlp, *norms)
        gates = (Tensor("cross_attn_attn_gate", (1,), "gain"), Tensor("cross_attn_mlp_gate", (1,), "gain"))
        return (*gates, cross_attention(c), norms[0], mlp, norms[1])

    kinds = list(zip(stack("layers", c.crosses, c.layers, layer), dict.fromkeys(c.crosses), strict=True))
    layers = (replace(module, requires="encoder") if crosses else module for module, crosses in kinds)
    return (embedding("embed_tokens", c.vocab + 8, c.hidden), *layers, rms_norm("norm", c.hidden))


def causal_lm(c: Config) -> Part:
    """Describe MllamaForCausalLM: the text and a head of its own."""
    return part("", part("model", *text(c), kind="backbone"), linear("lm_head", c.hidden, c.vocab, bias=False), kind="model")


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the text, and the map from the states of several layers of the one to the width of the other."""
    tower = submodel(c.vision)
    handed = c.vision.tiles * (c.vision.patches + 1)
    return (
        as_child("vision_model", tower, requires="images", executions="images"),
        as_child("language_model", submodel(c.text), streams={"encoder": (length("images") * handed)}),
        per_image(linear("multi_modal_projector", c.vision.out, c.text.hidden, stream=handed)),
    )


def generation(c: Config) -> Part:
    """Describe MllamaForConditionalGeneration: the whole with a head of its own, for words only."""
    return part("", part("model", *body(c), kind="backbone"), linear("lm_head", c.text.hidden, c.text.vocab, bias=False), kind="model")


FIELDS = (
    model_config("vision", "vision_config", "mllama_vision_model", fixed=True),
    model_config("text", "text_config", "mllama_text_model", fixed=True),
)
WHOLE = {
    "MllamaModel": lambda c: part("", *body(c), kind="model"),
    "MllamaForConditionalGeneration": generation,
    "MllamaForCausalLM": lambda c: causal_lm(c.text),
}
TEXTS = {"MllamaTextModel": lambda c: part("", *text(c), kind="model"), "MllamaForCausalLM": causal_lm}
NORMED = frozenset(("norm_eps", "intermediate_layers_indices"))

FAMILIES = {
    "mllama": Family("mllama", FIELDS, WHOLE, "MllamaModel", VISION_IGNORED_KEYS | {"tie_word_embeddings"}),
    "mllama_text_model": Family("mllama_text_model", TEXT, TEXTS, "MllamaTextModel", IGNORED_KEYS | {"tie_word_embeddings"}),
    "mllama_vision_model": Family("mllama_vision_model", uneven_heads(VISION), {"MllamaVisionModel": vision}, "MllamaVisionModel", NORMED),
}
