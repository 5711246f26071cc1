"""The fields of Deformable DETR: those of DETR, maps and points to look at, and two stages.

Source: names as in transformers 5.23.0, models/deformable_detr/configuration_deformable_detr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detections import FIELDS
from weighbridge.blueprints.staged import number
from weighbridge.config.fields import TIED, Sizes, size, switch, told, variant
from weighbridge.core.errors import ConfigError

TABLE = variant(
    FIELDS,
    number("levels", "num_feature_levels", 4),
    size("encoder_points", "encoder_n_points", 4, "P_e", "points that a head of the encoder looks at"),
    size("decoder_points", "decoder_n_points", 4, "P_d", "points that a head of the decoder looks at"),
    switch("staged", "two_stage", False),
    size("proposals", "two_stage_num_proposals", 300, "J", "proposals of the first stage"),
    switch("refined", "with_box_refine", False),
    told("fits", lambda c: fits(c)),
    TIED,
    queries=300,
    encoder_mlp=1024,
    decoder_mlp=1024,
    decoder_layers=number("decoder_layers", "decoder_layers", 6),
    channels=3,
)

MORE = frozenset("cls_loss_coefficient disable_custom_kernels focal_alpha max_position_embeddings return_intermediate".split())


def fits(c: Sizes) -> bool:
    """Refuse what the class refuses: two stages without refined boxes, and widths that norms cannot split into 32 groups."""
    if c.staged and not c.refined:
        raise ConfigError("two stages refine boxes", key="with_box_refine", value=False, hint="set it to true")
    return bool(c.hidden % 32 == 0)
