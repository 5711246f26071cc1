"""TVP: text-visual prompting for grounding a sentence in a video: a learned border around the frames, learned words before the text.

Source: Zhang et al. 2023, arXiv 2303.04995; names as in transformers 5.23.0, models/tvp/modeling_tvp.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import backbone, features, refuse_named_backbone
from weighbridge.blueprints.modules.words import one_of
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, MLP, POSITIONS, TOKEN_TYPES, VOCAB, Config, choice, computed, derived, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Length, Stream, length
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

WORDS = 10
"""Learned words in front of the text, which the class fixes."""


def last_width(c: Config) -> Size:
    """Return the last of the backbone's ``hidden_sizes``, which the class asks for, whatever map is output."""
    widths = getattr(c.backbone, "widths", None)
    if not widths:
        raise ConfigError(
            Text("{model_type} has no hidden_sizes, of which the last is asked for", model_type=c.backbone.model_type),
            key="backbone_config",
        )
    return int(widths[-1])


def refuse_wide_frame(c: Config) -> bool:
    """Refuse a border that leaves no image inside."""
    if 2 * c.margin > c.image:
        raise ConfigError("the frame is wider than the picture", key="visual_prompt_size", value=c.margin)
    return True


FIELDS = (
    VOCAB.with_default(30522),
    HIDDEN.with_default(768),
    MLP.with_default(3072),
    LAYERS.with_default(12),
    HEADS.with_default(12),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    POSITIONS.with_default(512),
    TOKEN_TYPES.with_default(2),
    size("rows", "max_grid_row_position_embeddings", 100, "R", "rows of the grid that have a position"),
    size("columns", "max_grid_col_position_embeddings", 100, "C", "columns of the grid that have a position"),
    size("frames", "num_frames", 48, "F", "frames of a video"),
    size("image", "max_img_size", 448, "M", "largest image size"),
    size("margin", "visual_prompt_size", 96, "P", "width of the learned border around an image"),
    choice("prompter", "visual_prompter_type", "framepad", read=one_of("visual_prompter_type", "framepad")),
    choice("applied", "visual_prompter_apply", "replace", read=one_of("visual_prompter_apply", "add", "replace", "remove")),
    backbone("resnet bit convnext", {"model_type": "resnet", "out_features": ["stage4"]}),
    computed("last_width", last_width),
    computed("frame_fits", refuse_wide_frame),
)


def vision(c: Config) -> tuple[Part, Length]:
    """Describe the backbone, which sees every frame, and a convolution over its map, and return the places that pooling leaves."""
    seen = features(c.backbone, (c.image, c.image))
    (rows, columns), H = seen.maps[0], c.hidden
    grid = conv2d("grid_encoder_conv", c.last_width, H, 3, bias=False, stream=length(rows) * columns)
    inner = part("backbone", *seen.parts, kind="backbone")
    return part("vision_model", inner, grid, kind="vision", executions=c.frames), (length(rows) // 2) * (length(columns) // 2)


def layers(c: Config) -> Part:
    """Describe the encoder's layers, each norm after what it follows."""
    H = c.hidden
    attention = part(
        "attention",
        *(linear(name, H, H) for name in ("query", "key", "value", "dense")),
        layer_norm("layer_norm", H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    inner = part("intermediate", linear("dense", H, c.mlp), kind="feed_forward")
    outer = part("output", linear("dense", c.mlp, H), layer_norm("layer_norm", H), kind="feed_forward")
    return part("encoder", part("layer", attention, inner, outer, kind="layer", repeat=c.layers), kind="encoder")


def prompter(c: Config) -> Part:
    """Describe the learned border: strips above, below, left and right of every frame of a video."""
    wide, high = (1, c.frames, 3, c.margin, c.image), (1, c.frames, 3, c.image - 2 * c.margin, c.margin)
    strips = (("pad_up", wide), ("pad_down", wide), ("pad_left", high), ("pad_right", high))
    return part("visual_prompter", *(Tensor(name, shape, "embedding") for name, shape in strips), kind="embeddings")


def tvp(c: Config, name: str = "") -> Part:
    """Describe TvpModel."""
    H = c.hidden
    sight, places = vision(c)
    tokens: Stream = length("seq") + WORDS + places
    text = part(
        "embeddings",
        embedding("word_embeddings", c.vocab, H),
        embedding("position_embeddings", c.positions, H),
        embedding("token_type_embeddings", c.types, H),
        layer_norm("layer_norm", H),
        kind="embeddings",
    )
    grid = part(
        "visual_embeddings",
        embedding("position_embeddings", c.positions, H),
        embedding("row_position_embeddings", c.rows, H),
        embedding("col_position_embeddings", c.columns, H),
        embedding("token_type_embeddings", 1, H),
        layer_norm("layer_norm", H),
        kind="embeddings",
        stream=places,
    )
    pooler = part("pooler", linear("dense", H, H), kind="pooler", stream="one")
    words = Tensor("text_prompt", (1, WORDS, H), "embedding")
    inner = part("", layers(c), stream=tokens)
    return part(name, words, sight, text, grid, inner, pooler, prompter(c), kind="backbone" if name else "model")


def video_grounding(c: Config) -> Part:
    """Describe TvpForVideoGrounding: when the sentence begins and how long it lasts."""
    H = c.hidden
    head = part("video_grounding_head", linear("layer_0", H, 2 * H), linear("layer_1", 2 * H, 2), kind="head", stream="one")
    return part("", tvp(c, "model"), head, kind="model")


CLASSES = {"TvpModel": tvp, "TvpForVideoGrounding": video_grounding}
IGNORED_KEYS = frozenset(("distance_loss_weight", "duration_loss_weight"))
FAMILIES = {"tvp": Family("tvp", FIELDS, CLASSES, "TvpModel", IGNORED_KEYS, normalize_config=refuse_named_backbone)}
