"""What timm's tables call activations, beside ours."""

from __future__ import annotations

import re
from typing import Any

from weighbridge import Model, model
from weighbridge.accounts.flops import outputs_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.core.errors import ConfigError, WeighbridgeError


def outputs(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    """Ask what timm's tables call activations, elements that convolutions and products put out, of the models that are presets."""
    found = []
    for row in rows:
        side = re.search(r"one (\d+)x", row["setting"])
        if row["what"] != "activation_elements" or side is None:
            continue
        try:
            source: Any = IMAGES.get(row["model"], row["model"])
            ours = outputs_of(square_images(source, int(side[1])), Inputs()) / 10**6
        except WeighbridgeError:
            continue
        found.append(
            (row, f"| {row['model']} | {side[1]} × {side[1]} | {row['value']} | {ours:.2f} | {100 * (ours / row['value'] - 1):+.2f}% |")
        )
    return found


def square_images(source: str | dict[str, Any], side: int) -> Model:
    """Return a model for square images of that side, where its config has a key for it: one number, or a list of two.

    Raises:
        ConfigError: It does not take them.
    """
    weighed = model(source)
    fields = {field.key: field for field in weighed.description.family.fields} if weighed.description is not None else {}
    key = next((key for key in ("image_size", "img_size") if key in fields), None)
    if key is None:
        return weighed
    try:
        return model(source, overrides={key: side})
    except ConfigError:
        return model(source, overrides={key: [side, side]})


def swin2(width: int, heads: int, window: int) -> dict[str, Any]:
    """Return the config of a Swin V2 of 18 layers in its third stage."""
    many = [heads * 2**stage for stage in range(4)]
    return {"model_type": "swinv2", "embed_dim": width, "depths": [2, 2, 18, 2], "num_heads": many, "window_size": window}


def _focal(width: int, deep: int) -> dict[str, Any]:
    widths = [2 * width, 4 * width, 8 * width, 8 * width]
    return {
        "model_type": "focalnet",
        "embed_dim": width,
        "depths": [2, 2, deep, 2],
        "hidden_sizes": widths,
        "focal_levels": [2] * 4,
        "focal_windows": [3] * 4,
    }


def _wide_focal(width: int, levels: int, image: int) -> dict[str, Any]:
    """Return the config of a FocalNet trained on ImageNet-22k (microsoft/FocalNet, configs)."""
    plain = {"use_conv_embed": True, "use_post_layernorm": True, "use_layerscale": True, "focal_windows": [3] * 4, "num_labels": 21842}
    sizes = {
        "embed_dim": width,
        "hidden_sizes": [width << stage for stage in range(4)],
        "depths": [2, 2, 18, 2],
        "focal_levels": [levels] * 4,
    }
    return {"model_type": "focalnet", "architectures": ["FocalNetForImageClassification"], "image_size": image, **sizes, **plain}


IMAGES: dict[str, Any] = {
    "mobilenetv2_100": {"model_type": "mobilenet_v2"}, "mobilevit_s": {"model_type": "mobilevit"},
    **{f"mobilevitv2_{round(100 * times):03}": {"model_type": "mobilevitv2", "width_multiplier": times} for times in (0.5, 0.75, 1.25, 1.75, 2.0)},
    "hiera_tiny_224": {"model_type": "hiera", "embed_dim": 96, "depths": [1, 2, 7, 2], "num_heads": [1, 2, 4, 8]},
    "beitv2_base_patch16_224": "beit_base_patch16_224", "beitv2_large_patch16_224": "beit_large_patch16_224",
    "levit_512": {"model_type": "levit", "hidden_sizes": [512, 768, 1024], "num_attention_heads": [8, 12, 16], "key_dim": [64, 64, 64], "num_labels": 1000},
    "focalnet_huge_fl3": _wide_focal(352, 3, 224), "focalnet_large_fl4": _wide_focal(192, 4, 384), "focalnet_xlarge_fl4": _wide_focal(256, 4, 384),
    "focalnet_tiny_srf": _focal(96, 6), "focalnet_base_srf": _focal(128, 18),
    "swinv2_base_window12_192": swin2(128, 4, 12), "swinv2_large_window12_192": swin2(192, 6, 12),
    "swinv2_base_window12to16_192to256": swin2(128, 4, 16), "swinv2_large_window12to16_192to256": swin2(192, 6, 16),
}  # fmt: skip
"""Models that are presets under other names, or none: their configs, by the published ones of their families."""

OUTPUTS_HEAD = (
    "",
    "## Elements that come out of convolutions and products",
    "",
    "`outputs` of `weigh flops --json`, in millions, beside timm's tables (fvcore's activation count), which are rounded to two digits behind the point.",
    "",
    "| model | image | published | ours | difference |",
    "|---|---|---|---|---|",
)
