"""Molmo 2: a vision transformer whose chosen layers are pooled by attention into tokens of the text.

Source: Ai2, Molmo 2 (2025); names as in transformers 5.23.0, models/molmo2/modeling_molmo2.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS as TEXT_IGNORED_KEYS
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS, NO_OUT_BIAS
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, constant, derived, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, product_of, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, gated_mlp, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

HEADS = (
    size("heads", "num_attention_heads", 16, "A", "attention heads"),
    size("kv_heads", "num_key_value_heads", 16, "K", "key-value heads"),
    size("head_dim", "head_dim", 72, "D", "head dimension"),
    switch("bias", "attention_bias", True),
)


def image_sides(value: Any) -> tuple[int, int]:
    """Take an image's height and width."""
    if not isinstance(value, (list, tuple)) or len(value) != 2 or any(type(side) is not int or side < 1 for side in value):
        raise ConfigError(Text("expected height and width, found {value!r:.60}", value=value), key="image_size", value=value)
    return value[0], value[1]


VISION = (
    size("hidden", "hidden_size", 1152, "H", "hidden size"),
    size("mlp", "intermediate_size", 4304, "I", "intermediate size"),
    size("layers", "num_hidden_layers", 25, "L", "layers"),
    *HEADS,
    size("patch", "patch_size", 14, "P", "patch size", "image_patch_size"),
    size("channels", "num_channels", 3, "N", "image channels"),
    choice("image", "image_size", [378, 378], "image_default_input_size", read=image_sides),
    derived("patches", lambda c: (c.image[0] // c.patch) * (c.image[1] // c.patch), "image_size", "patch_size"),
    size("positions", "num_position_embeddings", lambda c: c.patches, "S", "positions", "image_num_pos", null=lambda c: c.patches),
)


def layers_read(value: Any) -> int:
    """Count the layers whose states are read, side by side."""
    if not isinstance(value, (list, tuple)) or not value:
        raise ConfigError(Text("expected a list of layers, found {value!r:.60}", value=value), key="vision_feature_layer", value=value)
    return len(value)


ADAPTER = (
    size("hidden", "hidden_size", 1152, "H", "hidden size"),
    choice("picked", "vision_feature_layer", [24, 18], read=layers_read),
    *HEADS,
    size("mlp", "intermediate_size", 18944, "I", "intermediate size"),
    size("out", "text_hidden_size", 3584, "O", "width of a text token"),
    switch("mlp_bias", "mlp_bias", False),
)


def released_layers(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Take the layers that are read from where released configs have them; a null there is the class's default.

    >>> released_layers({"vit_layers": [3], "vision_feature_layer": [1, 2]})
    {'vit_layers': [3], 'vision_feature_layer': [3]}
    """
    given = dict(raw)
    return {**given, "vision_feature_layer": given.pop("vit_layers")} if "vit_layers" in given else given


def norm_kind(value: Any) -> str:
    """Take whether queries and keys are normalized head by head or whole."""
    if value not in ("qwen3", "olmo"):
        raise ConfigError(Text("expected qwen3 or olmo, found {value!r:.60}", value=value), key="qk_norm_type", value=value)
    return "head" if value == "qwen3" else "whole"


TEXT = (
    size("base_vocab", "vocab_size", 151936, "V", "vocabulary size"),
    size("additional", "additional_vocab_size", 128, "V_more", "additional vocabulary", minimum=0),
    *variant(
        LLAMA,
        NO_OUT_BIAS,
        NO_MLP_BIAS,
        constant("tied", False),
        derived("vocab", lambda c: c.base_vocab + c.additional, "vocab_size", "additional_vocab_size"),
        size("kv_heads", "num_key_value_heads", 8, "K", "key-value heads"),
        size("head_dim", "head_dim", 128, "D", "head dimension"),
        choice("qk_norm", "qk_norm_type", "qwen3", read=norm_kind),
        switch("qkv_bias", "attention_bias", False, "qkv_bias"),
        mlp=12288,
        layers=36,
    ),
)


def attention(c: Config, name: str, inputs: Size, *, pooled: Stream | None = None) -> Part:
    """Describe attention whose queries, keys and values are maps of *inputs*; each token attends to so many *pooled* patches of its own."""
    wide, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
    keys = None if pooled is None else product_of("seq", pooled)
    maps = [linear(f"{letter}_proj", inputs, kv, bias=c.bias, stream=keys) for letter in "kv"]
    scores = attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=c.head_dim)
    if pooled is not None:
        scores = replace(scores, queries=1, keys=pooled, groups="seq")
    query, out = linear("q_proj", inputs, wide, bias=c.bias), linear("o_proj", wide, c.hidden, bias=c.bias)
    return part(name, query, *maps, out, scores, kind="self_attention")


def vision(c: Config) -> Part:
    """Describe the tower: patches laid out flat, a table of positions, layers with a norm before each half."""
    H = c.hidden
    layer = part(
        "layers",
        layer_norm("layer_norm1", H),
        attention(c, "self_attn", H),
        layer_norm("layer_norm2", H),
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        kind="layer",
        repeat=c.layers,
    )
    table = Tensor("positional_embedding", (c.positions, H), "embedding")
    return part("", table, linear("patch_embedding", c.channels * c.patch * c.patch, H), layer, kind="vision", stream=c.positions)


def adapter(c: Config) -> Part:
    """Describe the attention of the mean of a few patches to them, and a gated map into the text."""
    pool = attention(c, "image_pooling_2d", c.hidden * c.picked, pooled="encoder")
    gate = gated_mlp("image_projector", c.hidden, c.mlp, bias=c.mlp_bias)
    projector = replace(gate, children=(*gate.children[:2], linear("down_proj", c.mlp, c.out, bias=False)))
    return part("", pool, projector, kind="projector", requires="encoder")


def text(c: Config) -> Part:
    """Describe Molmo2TextModel."""
    return part("", *llama(c), kind="model")


NOBODY = unknown("how many patches a token pools depends on the input")
POOLED: dict[str, Stream] = {"seq": NOBODY, "encoder": NOBODY}


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, what pools its patches, and the text."""
    return (
        as_child("vision_tower", submodel(c.vision), requires="images", executions="images"),
        as_child(
            "multi_modal_projector", replace(submodel(c.adapter), requires=None), streams=POOLED, requires="images", executions="images"
        ),
        as_child("language_model", submodel(c.text)),
    )


def generation(c: Config) -> Part:
    """Describe Molmo2ForConditionalGeneration, whose head does not predict the additional words."""
    head = linear("lm_head", c.text.hidden, c.text.base_vocab, bias=False)
    return part("", part("model", *body(c), kind="backbone"), head, kind="model")


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a released config into the present layout: ``vit_config``, whose layers after the last one read are left out.

    >>> normalize_config({"vit_config": {"num_hidden_layers": 27}})["vision_config"]
    {'num_hidden_layers': 25}
    """
    vit = raw.get("vit_config")
    if not isinstance(vit, Mapping) or raw.get("vision_config") is not None:
        return dict(raw)
    given = raw.get("adapter_config") or {}
    read = given.get("vit_layers", given.get("vision_feature_layer")) or [24, 18]
    depth = vit.get("num_hidden_layers", 25)
    rest = {key: value for key, value in raw.items() if key != "vit_config"}
    return {**rest, "vision_config": {**vit, "num_hidden_layers": max(layer % depth for layer in read) + 1}}


BOTH: tuple[Field, ...] = (
    model_config("vision", "vision_config", "molmo2_vision", fixed=True),
    model_config("adapter", "adapter_config", "molmo2_adapter", fixed=True),
    model_config("text", "text_config", "molmo2_text", fixed=True),
    constant("tied", False),
)
MARKS = frozenset(
    """frame_end_token_id frame_start_token_id image_end_token_id image_patch_id image_start_token_id low_res_image_start_token_id
    tie_word_embeddings""".split()
)
FAMILIES = {
    "molmo2": Family(
        "molmo2",
        BOTH,
        {"Molmo2Model": without_head(body), "Molmo2ForConditionalGeneration": generation},
        "Molmo2Model",
        IGNORED_KEYS | MARKS,
        normalize_config=normalize_config,
    ),
    "molmo2_vision": Family("molmo2_vision", VISION, {"Molmo2VisionModel": vision}, "Molmo2VisionModel"),
    "molmo2_adapter": Family("molmo2_adapter", ADAPTER, {"Molmo2Adapter": adapter}, "Molmo2Adapter", normalize_config=released_layers),
    "molmo2_text": Family(
        "molmo2_text",
        TEXT,
        {"Molmo2TextModel": text},
        "Molmo2TextModel",
        TEXT_IGNORED_KEYS | {"norm_after", "rope_scaling_layers", "tie_word_embeddings"},
    ),
}
