"""LayoutLMv2's random configs and inputs: a ResNet under detectron2's feature pyramid, corners that make whole positions, and a page."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

STAGES = ["res2", "res3", "res4", "res5"]
NEEDED = {
    "MODEL.BACKBONE.NAME": "build_resnet_fpn_backbone",
    "MODEL.FPN.IN_FEATURES": STAGES,
    "MODEL.RESNETS.OUT_FEATURES": STAGES,
    "MODEL.PIXEL_STD": [57.375, 57.12, 58.395],
    "MODEL.RPN.IN_FEATURES": ["p2", "p3", "p4", "p5", "p6"],
    "MODEL.ANCHOR_GENERATOR.SIZES": [[32], [64], [128], [256], [512]],
    "MODEL.ROI_HEADS.NAME": "StandardROIHeads",
    "MODEL.ROI_HEADS.IN_FEATURES": ["p2", "p3", "p4", "p5"],
    "MODEL.ROI_BOX_HEAD.NAME": "FastRCNNConvFCHead",
    "MODEL.ROI_BOX_HEAD.NUM_FC": 2,
    "MODEL.MASK_ON": False,
}
"""What detectron2 must be told to build the detector of whose backbone the model is made."""


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw widths of a corner, four of which and two of a side make a position, and at times another ResNet."""
    heads, unit = rng.choice((1, 2, 3)), rng.randint(1, 4)
    raw |= {"num_attention_heads": heads, "hidden_size": 6 * heads * unit, "coordinate_size": heads * unit, "shape_size": heads * unit}
    rows, columns = rng.randint(1, 3), rng.randint(1, 3)
    raw |= {"image_feature_pool_shape": [rows, columns, 256], "image_size": 32 * rng.randint(1, 2), "pad_token_id": 0}
    raw |= {"max_position_embeddings": rng.randint(16, 40), "type_vocab_size": rng.randint(1, 3)}
    raw.pop("detectron2_config_args", None)
    if rng.random() < 0.8:
        own = {
            "DEPTH": rng.choice((50, 50, 50, 101)),
            "NUM_GROUPS": rng.choice((1, 2, 4)),
            "WIDTH_PER_GROUP": rng.randint(1, 8),
            "STRIDE_IN_1X1": rng.random() < 0.5,
        }
        raw["detectron2_config_args"] = NEEDED | {f"MODEL.RESNETS.{key}": value for key, value in own.items()}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make words, their boxes and a page."""
    torch = import_module("torch")
    for module in model.modules():
        if hasattr(module, "pixel_mean"):  # made of numbers, so on the processor whatever the device
            module.pixel_mean, module.pixel_std = (torch.zeros(3, 1, 1, device=model.device) for _ in range(2))
    shape, side = (lengths.batch, lengths.seq), getattr(model.config, "image_size", 224)
    words, boxes = torch.zeros(shape, dtype=torch.long), torch.zeros(*shape, 4, dtype=torch.long)
    return {"input_ids": words, "bbox": boxes, "image": torch.zeros(lengths.batch, 3, side, side)}
