"""The fields of LW-DETR.

Source: names as in transformers 5.23.0, models/lw_detr/configuration_lw_detr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.composite import composed
from weighbridge.blueprints.grids import number, ratio
from weighbridge.config.fields import LABELS, echo, listed, size, switch, told
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError

if TYPE_CHECKING:
    from typing import Any

VIT: dict[str, Any] = {
    "image_size": 1024, "hidden_size": 192, "num_hidden_layers": 10, "window_block_indices": [0, 1, 3, 6, 7, 9], "out_indices": [2, 4, 5, 9]
}  # fmt: skip


def scales(value: Any) -> tuple[float, ...]:
    """Take by how much each map is larger than that of the patches."""
    if any(entry not in (0.5, 1, 2) for entry in value):
        raise ConfigError(f"expected 0.5, 1.0 or 2.0, found {value!r:.60}", key="projector_scale_factors", value=value)
    return tuple(float(entry) for entry in value)


FIELDS = (
    size("hidden", "d_model", 256, "H", "hidden size"),
    size("queries", "num_queries", 300, "Q", "object queries"),
    size("decoder_layers", "decoder_layers", 3, "L", "decoder layers"),
    size("decoder_mlp", "decoder_ffn_dim", 2048, "I", "intermediate size of the decoder"),
    size("heads", "decoder_self_attention_heads", 8, "A", "attention heads"),
    size("crossed_heads", "decoder_cross_attention_heads", 16, "A_c", "heads of cross-attention"),
    size("points", "decoder_n_points", 4, "P", "points that a head looks at"),
    number("groups", "group_detr", 13),
    number("blocks", "c2f_num_blocks", 3, minimum=0),
    ratio("expansion", "hidden_expansion", 0.5),
    listed("scales", "projector_scale_factors", [])._replace(read=scales),
    *echo("num_feature_levels", lambda c: len(c.scales)),
    switch("biased", "attention_bias", True),
    composed("backbone", "backbone_config", "lw_detr_vit", fixed=True, absent=VIT),
    told("wide", lambda c: c.backbone.hidden > 512),
    LABELS,
)
