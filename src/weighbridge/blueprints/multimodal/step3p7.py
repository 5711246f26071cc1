"""Step 3.7: a vision tower with two convolutions that make its map smaller, in front of Step 3.5's text.

Source: StepFun, Step-3.7-Flash (2026); names as in transformers 5.23.0, models/step3p7/modeling_step3p7.py. NVIDIA's planner publishes
the text's keys beside the outer ones, under a class of its own (``Step3p7FlashForCausalLM``): that is the text alone.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.step3p5 import STEP, step
from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.clip_towers import image_fields, stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.convolutions import positive_float
from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, flat_text_config, per_image, with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

WIDTH, RATIO = 1536, 8960 / 1536
STACK = stack_fields(WIDTH, int(WIDTH * RATIO), 16, 47)
VISION = (
    positive_float("ratio", "mlp_ratio", RATIO),
    *variant(
        STACK,
        hidden=size("hidden", "hidden_size", WIDTH, "H", "hidden size", "width"),
        layers=size("layers", "num_hidden_layers", 47, "L", "layers", "layers"),
        heads=size("heads", "num_attention_heads", 16, "A", "attention heads", "heads"),
    ),
    *image_fields(728, 14),
)
BOTH = (
    model_config("vision", "vision_config", "step3p5_vision", fixed=True),
    model_config("text", "text_config", "step3p5", fixed=True),
    switch("bias", "projector_bias", False),
    switch("tied", "tie_word_embeddings", False),
)


def half(c: Config) -> Grid:
    """Return the map that the first convolution outputs."""
    side = c.image // c.patch
    return conv_output((side, side), 3, 2, 1)


def smaller_map(c: Config) -> Size:
    """Count the places of the map that the text is given."""
    return area(conv_output(half(c), 3, 2, 1))


def vision(c: Config) -> Part:
    """Describe Step3p7VisionModel: patches, layers whose two branches are scaled channel by channel, and two strided convolutions."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        conv2d("patch_embedding", c.channels, H, c.patch, bias=False),
        embedding("position_embedding", c.patches, H),
        kind="embeddings",
    )
    attention = part(
        "self_attn",
        *(linear(f"{name}_proj", H, H) for name in ("k", "v", "q", "out")),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = part(
        "layers",
        Tensor("lambda_1", (H,), "gain"),
        Tensor("lambda_2", (H,), "gain"),
        attention,
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        layer_norm("layernorm_before", H),
        layer_norm("layernorm_after", H),
        kind="layer",
        repeat=c.layers,
    )
    return part(
        "",
        embeddings,
        layer_norm("pre_layernorm", H),
        layer,
        conv2d("downsampler1", H, 2 * H, 3, stream=area(half(c))),
        conv2d("downsampler2", 2 * H, 4 * H, 3, stream=smaller_map(c)),
        kind="vision",
        stream=c.patches,
    )


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the text, and the linear layer from the smaller map to the text."""
    projector = linear("multi_modal_projector", 4 * c.vision.hidden, c.text.hidden, bias=c.bias, stream=smaller_map(c.vision))
    return (
        as_child("vision_model", submodel(c.vision), requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
        per_image(projector),
    )


def text_alone(c: Config) -> Part:
    """Describe the text with a head, as NVIDIA's planner and serving engines name it."""
    owner = "model.embed_tokens.weight" if c.tied else None
    head = linear("lm_head", c.text.hidden, c.text.vocab, bias=False, tied_to=owner)
    return part("", part("model", *step(c.text), kind="backbone"), head, kind="model")


def normalize_vision(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Set the inner width as the config class does, from ``mlp_ratio`` and whatever a file says of it.

    >>> normalize_vision({"hidden_size": 100, "mlp_ratio": 1.25, "intermediate_size": 7})["intermediate_size"]
    125
    """
    width = next((raw[key] for key in ("width", "hidden_size") if key in raw), WIDTH)
    ratio = raw.get("mlp_ratio", RATIO)
    if type(width) is not int or type(ratio) not in (int, float) or not 0 < ratio < 10**6:
        return dict(raw)  # the fields say what is wrong
    return {**raw, "intermediate_size": int(width * ratio)}


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Move the text's keys of a planner's config, which stand beside the outer ones, into ``text_config``, under its own names.

    >>> planner = {"architectures": ["Step3p7FlashForCausalLM"]}
    >>> normalize_config({**planner, "num_hidden_layers": 5, "num_experts": 8, "first_k_dense_replace": 3})["text_config"]
    {'num_hidden_layers': 5, 'n_routed_experts': 8, 'moe_layers_enum': [3, 4]}
    """
    if "num_hidden_layers" not in raw or raw.get("text_config") is not None or raw.get("architectures") != [PLANNER]:
        return dict(raw)
    flat = dict(raw)
    if "num_experts" in flat:
        flat["n_routed_experts"] = flat.pop("num_experts")
    first, layers = flat.pop("first_k_dense_replace", None), flat["num_hidden_layers"]
    if type(first) is int and type(layers) is int and 0 <= first <= layers < 10**6:
        flat["moe_layers_enum"] = list(layer_range(first, layers))
    return _move(flat)


_move = flat_text_config(STEP)

VISION_IGNORED_KEYS = frozenset("layer_norm_eps layer_scale_init_value ls_init_value max_position_embeddings rope_parameters".split())
PLANNER = "Step3p7FlashForCausalLM"
PLANNER_KEYS = frozenset("max_position_embeddings moe_router_scaling_factor n_shared_experts scoring_func use_moe_router_bias".split())
CLASSES = {
    "Step3p7Model": without_head(body),
    "Step3p7ForConditionalGeneration": with_lm_head(body),
    "Step3p7FlashForCausalLM": text_alone,
}
FAMILIES = {
    "step3p7": Family(
        "step3p7",
        BOTH,
        CLASSES,
        "Step3p7Model",
        IGNORED_KEYS | PLANNER_KEYS,
        remote=frozenset(("Step3p7FlashForCausalLM",)),
        normalize_config=normalize_config,
    ),
    "step3p5_vision": Family(
        "step3p5_vision",
        uneven_heads(VISION),
        {"Step3p7VisionModel": vision},
        "Step3p7VisionModel",
        VISION_IGNORED_KEYS,
        normalize_config=normalize_vision,
    ),
}
