"""The fields of D-FINE and DEIMv2: those of RT-DETR, and boxes told as distributions.

Source: names as in transformers 5.23.0, models/d_fine/configuration_d_fine.py and models/deimv2/configuration_deimv2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.backbones import backbone
from weighbridge.blueprints.convolutions import real
from weighbridge.blueprints.rtdetr_fields import FIELDS as BEFORE
from weighbridge.blueprints.rtdetr_fields import SKIPPED as NEUTRAL
from weighbridge.blueprints.staged import number
from weighbridge.config.fields import TIED, Sizes, choice, fact, size, switch, told, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError

if TYPE_CHECKING:
    from typing import Any


def points(value: Any) -> int | tuple[int, ...]:
    """Take how many points a head looks at on every map, or a list of them."""
    found = value if isinstance(value, (list, tuple)) else (value,)
    if not found or any(type(entry) is not int or entry < 1 for entry in found):
        raise ConfigError(f"expected a whole number or a list of them, found {value!r:.60}", key="decoder_n_points", value=value)
    return tuple(value) if isinstance(value, (list, tuple)) else int(value)


def total(c: Sizes) -> int:
    """Return how many points a head looks at on all maps."""
    if isinstance(c.points, int):
        return int(c.points * c.levels)
    if len(c.points) != c.levels:
        raise ConfigError(f"{len(c.points)} entries for {c.levels} maps", key="decoder_n_points", value=list(c.points))
    return sum(c.points)


def last(c: Sizes) -> int:
    """Return the layer whose answer counts; those behind it are of the same width, or refused."""
    found = int(c.evaluated if c.evaluated >= 0 else c.decoder_layers + c.evaluated)
    if not 0 <= found < c.decoder_layers:
        raise ConfigError(f"there are {c.decoder_layers} layers", key="eval_idx", value=c.evaluated)
    if found < c.decoder_layers - 1 and c.layer_scale != 1:
        raise ConfigError("layers of another width are not described", key="layer_scale", value=c.layer_scale, hint="1, or eval_idx -1")
    return found


def kind(value: Any) -> str:
    """Take one of the two kinds of encoder."""
    if value not in ("hybrid", "lite"):
        raise ConfigError(f"expected hybrid or lite, found {value!r:.60}", key="encoder_type", value=value)
    return str(value)


GONE = ("points", "attended", "widened", "alike", "second")

FIELDS = variant(
    tuple(field for field in BEFORE if field.word not in GONE),
    choice("points", "decoder_n_points", 4, read=points),
    told("total", total),
    number("evaluated", "eval_idx", -1, minimum=-99),
    real("layer_scale", "layer_scale", 1.0),
    told("last", last),
    size("bins", "max_num_bins", 32, "B", "bins of a distance"),
    size("best", "top_prob_values", 4, "K", "likeliest bins looked at"),
    size("quality_hidden", "lqe_hidden_dim", 64, "H_l", "hidden size of the quality's estimate"),
    number("quality_depth", "lqe_layers", 2),
    real("depth", "depth_mult", 1.0),
    told("blocks", lambda c: round(3 * c.depth)),
    told("same", lambda c: c.hidden == c.out_widths[-1]),
    told("alike", lambda c: c.out_widths[-1] == c.encoder_hidden),
    TIED,
    fact("later", False),
    fact("kind", "hybrid"),
    fact("shared", False),
    decoder_layers=number("decoder_layers", "decoder_layers", 6),
    backbone=backbone("hgnet_v2 rt_detr_resnet resnet", {"model_type": "hgnet_v2", "out_indices": [2, 3, 4]}),
)

LATER = variant(
    FIELDS,
    switch("gated", "use_gateway", True),
    switch("trailing", "encoder_has_trailing_conv", True),
    choice("fused", "encoder_fuse_op", "sum"),
    later=True,
    kind=choice("kind", "encoder_type", "hybrid", read=kind),
    shared=switch("shared", "share_bbox_head", False),
)

SKIPPED = NEUTRAL | frozenset(
    """decoder_offset_scale head_dim mal_alpha reg_scale spatial_tuning_adapter_inplanes up use_dense_one_to_one weight_loss_ddf
    weight_loss_fgl weight_loss_mal""".split()
)
