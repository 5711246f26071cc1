"""Shared parts of DETR-like detectors: fields, backbone, encoder and decoder layers, heads.

Source: arXiv 2005.12872; names as in transformers 5.23.0, models/detr/modeling_detr.py. The config states no image:
``image_size`` may be set beside its fields; by default it is a COCO photograph, its shorter side brought to 800.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.backbones import Features, backbone, bind_backbone, constant_batch_norms, features, named_backbone
from weighbridge.blueprints.modules.feature_maps import CHANNELS, image
from weighbridge.config.fields import D_MODEL, LABELS, OBJECT_QUERIES, Config, choice, computed, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any, Unpack

    from weighbridge.core.parts import Place


def is_sine(value: object) -> bool:
    """Say whether positions are sinusoidal, and not a learned table of rows and one of columns."""
    if value not in ("sine", "learned"):
        raise ConfigError(Text("expected sine or learned, found {value!r:.60}", value=value), key="position_embedding_type", value=value)
    return value == "sine"


FIELDS = (
    D_MODEL.with_default(256),
    OBJECT_QUERIES.with_default(100),
    size("encoder_layers", "encoder_layers", 6, "L_e", "encoder layers", "num_hidden_layers"),
    size("encoder_mlp", "encoder_ffn_dim", 2048, "I_e", "intermediate size of the encoder"),
    size("encoder_heads", "encoder_attention_heads", 8, "A_e", "attention heads of the encoder", "num_attention_heads"),
    size("decoder_layers", "decoder_layers", 6, "L_d", "decoder layers"),
    size("decoder_mlp", "decoder_ffn_dim", 2048, "I_d", "intermediate size of the decoder"),
    size("decoder_heads", "decoder_attention_heads", 8, "A_d", "attention heads of the decoder"),
    choice("sine", "position_embedding_type", "sine", read=is_sine),
    computed("masks", lambda c: fits_masks(c.hidden, c.encoder_heads)),
    image([800, 1066], report_default=False),
    CHANNELS,
    backbone("resnet swin convnext"),
    choice("backbone_name", "backbone", None, report_default=False),
    choice("backbone_kwargs", "backbone_kwargs", None, report_default=False),
    switch("timm", "use_timm_backbone", True, report_default=False),
    switch("dilated", "dilation", False),
    LABELS,
)

MORE_IGNORED_KEYS = frozenset(
    """auxiliary_loss bbox_cost bbox_loss_coefficient class_cost dice_loss_coefficient eos_coefficient giou_cost giou_loss_coefficient
    init_std init_xavier_std mask_loss_coefficient max_position_embeddings scale_embedding use_pretrained_backbone activation_function
    freeze_backbone num_hidden_layers""".split()
)


def fits_masks(hidden: int, heads: int) -> bool:
    """Say whether the head of masks can be built: its norms split channels into 8 groups, or as many as there are."""
    widths = [hidden + heads, *(hidden // 2**power for power in range(1, 5))]
    return (hidden + heads) % 8 == 0 and all(width and width % min(8, width) == 0 for width in widths)


def backbone_features(c: Config, outputs: tuple[int, ...] = (1, 2, 3, 4), *, trained: bool = False, wrapped: bool = False) -> Features:
    """Describe the backbone, batch norms made constants; where the config has none, it is a ResNet of timm's or the library's.

    Args:
        outputs: The maps that timm's network outputs.
        trained: Whether the class leaves the backbone's weights to be trained.
        wrapped: Whether the class keeps the wrapper in which the library puts timm's network, ``_backbone``.
    """
    inner = c.backbone
    if inner is None and c.backbone_kwargs:
        raise ConfigError(
            "arguments for a network that is not named", key="backbone_kwargs", value=c.backbone_kwargs, hint="state backbone"
        )
    if inner is None and c.timm:
        stated = {"backbone": c.backbone_name, "output_stride": 16 if c.dilated else None, "num_channels": c.channels}
        inner = bind_backbone("timm_backbone", {**stated, "out_indices": outputs})
    elif inner is None:
        inner = bind_backbone("resnet", {"out_features": ["stage4"]})
    found = features(inner, c.image)
    if inner.model_type in ("timm_backbone", "timm_swin") and not wrapped:
        found = replace(found, parts=found.parts[0].children)  # type: ignore[union-attr]
    # The reference looks for names that its own ResNet has not, and freezes all of it.
    frozen = not trained and "resnet" in inner.model_type
    return replace(found, parts=constant_batch_norms(part("", *found.parts), frozen=frozen).children)


def named_or_own_backbone(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Take a network that comes with arguments, as others do; without them the class itself makes timm's, over as many channels as it has."""
    return named_backbone(raw) if raw.get("backbone_kwargs") else dict(raw)


def attention(name: str, hidden: Size, heads: Size, keys: Stream | None = None, head_dim: Size | None = None) -> Part:
    """Describe attention over the tokens themselves, or over others; *head_dim* is that of heads that do not divide the width."""
    return part(
        name,
        linear("k_proj", hidden, hidden, stream=keys),
        linear("v_proj", hidden, hidden, stream=keys),
        linear("q_proj", hidden, hidden),
        linear("o_proj", hidden, hidden),
        attend(heads=heads, head_dim=exact(hidden, heads) if head_dim is None else head_dim, keys=keys),
        kind="self_attention" if keys is None else "cross_attention",
    )


def encoder(c: Config) -> tuple[Part, ...]:
    """Describe the encoder's layers."""
    return (
        part(
            "layers",
            attention("self_attn", c.hidden, c.encoder_heads),
            layer_norm("self_attn_layer_norm", c.hidden),
            plain_mlp("mlp", c.hidden, c.encoder_mlp, ("fc1", "fc2"), bias=True),
            layer_norm("final_layer_norm", c.hidden),
            kind="layer",
            repeat=c.encoder_layers,
        ),
    )


def decoder(c: Config, keys: Stream) -> tuple[Part, ...]:
    """Describe the decoder's layers and its norm; without an encoder's tokens to attend to, it attends to none."""
    lengthless = keys if isinstance(keys, str) else None
    layer = part(
        "layers",
        attention("self_attn", c.hidden, c.decoder_heads),
        layer_norm("self_attn_layer_norm", c.hidden),
        replace(attention("encoder_attn", c.hidden, c.decoder_heads, keys), requires=lengthless),
        layer_norm("encoder_attn_layer_norm", c.hidden, requires=lengthless),
        plain_mlp("mlp", c.hidden, c.decoder_mlp, ("fc1", "fc2"), bias=True),
        layer_norm("final_layer_norm", c.hidden),
        kind="layer",
        repeat=c.decoder_layers,
    )
    return layer, layer_norm("layernorm", c.hidden)


def positions(c: Config) -> tuple[Part, ...]:
    """Describe the learned tables of rows and columns, where positions are not sinusoidal."""
    half = c.hidden // 2
    tables = embedding("row_embeddings", 50, half), embedding("column_embeddings", 50, half)
    return () if c.sine else (part("position_embedding", *tables, kind="embeddings"),)


def with_detection_heads(c: Config, inner: tuple[Part, ...], labels: Size) -> tuple[Part, ...]:
    """Describe the model and what it predicts for each query: one of so many *labels*, and its box."""
    return (
        part("model", *inner, kind="backbone"),
        linear("class_labels_classifier", c.hidden, labels, stream=c.queries),
        mlp_head("bbox_predictor", c.hidden, c.hidden, c.hidden, 4, stream=c.queries),
    )


def mlp_head(name: str, *widths: Size, **place: Unpack[Place]) -> Part:
    """Describe linear maps in sequence, from the first of *widths* to the last."""
    maps = (linear(str(index), widths[index], widths[index + 1]) for index in range(len(widths) - 1))
    return part(name, part("layers", *maps, kind="feed_forward"), kind="head", **place)
