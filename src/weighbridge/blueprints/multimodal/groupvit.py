"""GroupViT: CLIP whose image tower gathers patches into ever fewer groups.

Source: arXiv 2202.11094, section 3; names as in transformers 5.23.0, models/groupvit/modeling_groupvit.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import SCALE, encoder, normalize_config, similarity, stack_fields, text_fields, text_tower
from weighbridge.blueprints.modules.feature_maps import CHANNELS, module_list
from weighbridge.blueprints.modules.stage_fields import first_stages, numbers, scale_width
from weighbridge.blueprints.modules.vit_common import patches, projection, token
from weighbridge.config.family import Family
from weighbridge.config.fields import PROJECTION_DIM, Config, choice, computed, nested, sides, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, fairseq_attention, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def _ratios(value: Any) -> tuple[tuple[int, int], ...]:
    """Read two ratios of widths as numerators and denominators; one whose products the reference rounds is refused."""
    pair = value if isinstance(value, (list, tuple)) else (value, value)
    found = tuple(float(entry).as_integer_ratio() for entry in pair)
    if len(found) != 2 or any(below > 2**20 for _, below in found):
        raise ConfigError(
            Text("expected two ratios of few binary digits, found {value!r:.60}", value=value), key="assign_mlp_ratio", value=value
        )
    return found


VISION = (
    *stack_fields(384, 1536, 6),
    *sides("image", "image_size", 224, "R", "image size"),
    *sides("patch", "patch_size", 16, "P", "patch size"),
    CHANNELS,
    numbers("depths", "depths", (6, 3, 3)),
    numbers("groups", "num_group_tokens", (64, 8, 0), minimum=0),
    numbers("outputs", "num_output_groups", (64, 8, 8)),
    computed("stages", lambda c: first_stages("depths", len(c.depths), num_group_tokens=c.groups, num_output_groups=c.outputs)),
    choice("ratios", "assign_mlp_ratio", [0.5, 4], read=_ratios),
)


def vision(c: Config) -> Part:
    """Describe the image tower: patches, stages, a last norm of the groups that are left."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        Tensor("position_embeddings", (1, patches(c), H), "embedding"),
        part("patch_embeddings", projection(c), kind="embeddings"),
        layer_norm("layernorm", H),
        kind="embeddings",
        stream=patches(c),
    )
    stages, seen = [], patches(c)
    for index in range(len(c.depths)):
        stages.append(stage(c, index, seen))
        seen = c.outputs[index] if c.groups[index] else seen
    return part(
        "",
        embeddings,
        part("encoder", module_list("stages", *stages), kind="encoder"),
        layer_norm("layernorm", H),
        kind="vision",
        stream=seen,
    )


def stage(c: Config, index: int, seen: Size) -> tuple[Node, ...]:
    """Describe one stage: learned groups beside what it sees, layers, and the gathering of all into fewer."""
    H, groups, before = c.hidden, c.groups[index], c.outputs[index - 1] if index else 0
    (layers,) = encoder(c).children
    assert isinstance(layers, Part)
    layers = replace(layers, repeat=c.depths[index], stream=seen + groups)
    if not groups:
        return (layers,)
    mixer = part("1", *token_mixer(before, H // 2, groups), kind="feed_forward", stream=H)
    projector = (part("group_projector", layer_norm("0", H, stream=before), mixer, kind="projector"),) if before else ()
    return (token("group_token", H, groups), layers, grouping_block(c, groups, c.outputs[index], seen), *projector)


def token_mixer(inputs: Size, inner: Size, outputs: Size) -> tuple[Part, Part]:
    """Describe the two linear maps of a network across tokens instead of channels."""
    return linear("fc1", inputs, inner), linear("fc2", inner, outputs)


def grouping_block(c: Config, groups: Size, outputs: Size, seen: Size) -> Part:
    """Describe how groups attend to what is seen, and each of it is then assigned to one of them."""
    H = c.hidden
    looking = part(
        "pre_assign_attn",
        fairseq_attention("attn", H, c.heads, c.head_dim, keys=seen),
        layer_norm("norm2", H),
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        layer_norm("norm_post", H),
        kind="cross_attention",
    )
    assigning = part(
        "assign",
        linear("q_proj", H, H),
        linear("k_proj", H, H, stream=seen),
        linear("v_proj", H, H, stream=seen),
        linear("proj", H, H),
        attend(heads=1, head_dim=H, keys=seen),
        kind="cross_attention",
    )
    return part(
        "downsample",
        layer_norm("norm_tokens", H, stream=groups),
        part("mlp_inter", *token_mixer(groups, scale_width(H, c.ratios[0]), outputs), kind="feed_forward", stream=H),
        layer_norm("norm_post_tokens", H),
        layer_norm("norm_x", H, stream=seen),
        looking,
        assigning,
        layer_norm("norm_new_x", H),
        plain_mlp("mlp_channels", H, scale_width(H, c.ratios[1]), ("fc1", "fc2"), bias=True),
        kind="projection",
        stream=outputs,
    )


TEXT = text_fields(49408, 77, *stack_fields(256, 1024, 4))
FIELDS = (
    nested("text", "text_config", TEXT),
    nested("vision", "vision_config", VISION),
    PROJECTION_DIM.with_default(256),
    size("inner", "projection_intermediate_dim", 4096, "Q", "inner width of the projections"),
)


def text(c: Config) -> Part:
    """Describe GroupViTTextTransformer, as CLIP's."""
    return part("", *text_tower(c), kind="text")


def text_model(c: Config) -> Part:
    """Describe GroupViTTextModel."""
    return part("", replace(text(c), name="text_model"), kind="model")


def vision_model(c: Config) -> Part:
    """Describe GroupViTVisionModel."""
    return part("", replace(vision(c), name="vision_model"), kind="model")


def _projection_head(name: str, inputs: Size, c: Config) -> Part:
    """Describe two linear maps with a batch norm between them."""
    return part(
        name, linear("0", inputs, c.inner), batch_norm("1", c.inner), linear("3", c.inner, c.projected), kind="projector", stream="one"
    )


def groupvit(c: Config) -> Part:
    """Describe GroupViTModel."""
    return part(
        "",
        SCALE,
        replace(text(c.text), name="text_model"),
        replace(vision(c.vision), name="vision_model"),
        _projection_head("visual_projection", c.vision.hidden, c),
        _projection_head("text_projection", c.text.hidden, c),
        similarity(c.projected),
        kind="model",
    )


IGNORED_KEYS = frozenset("logit_scale_init_value assign_eps output_segmentation".split())
TEXTS = {"GroupViTTextTransformer": text, "GroupViTTextModel": text_model}
FAMILIES = {
    "groupvit": Family("groupvit", FIELDS, {"GroupViTModel": groupvit}, "GroupViTModel", IGNORED_KEYS, normalize_config=normalize_config),
    "groupvit_text_model": Family("groupvit_text_model", TEXT, TEXTS, "GroupViTTextModel", IGNORED_KEYS),
    "groupvit_vision_model": Family(
        "groupvit_vision_model", VISION, {"GroupViTVisionModel": vision_model}, "GroupViTVisionModel", IGNORED_KEYS
    ),
}
