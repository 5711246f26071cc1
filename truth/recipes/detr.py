"""DETR's random configs and inputs: a backbone of any kind, images beside the fields, and states for its halves alone."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw an image and widths that a head of masks can have; the backbone mostly hands on enough maps for one."""
    raw |= {"image_size": images.picture(rng), "position_embedding_type": rng.choice(("sine", "learned"))}
    raw.pop("use_timm_backbone", None)
    if rng.random() < 0.5:
        raw |= {"d_model": 16 * rng.choice((8, 16)), "encoder_attention_heads": 8, "decoder_attention_heads": 4}
    inner = raw.setdefault("backbone_config", {"model_type": "resnet", "depths": [1, 2, 1], "hidden_sizes": [8, 12, 16]})
    inner.setdefault("model_type", "resnet")  # without one, the reference does not know what to build
    if rng.random() < 0.7 and "depths" in inner:
        inner.pop("out_features", None)
        inner["out_indices"] = list(range(1 if len(inner["depths"]) > 2 else 0, len(inner["depths"]) + 1))
    if "image_size" in inner and "swin" in inner.get("model_type", ""):
        inner["image_size"] = raw["image_size"]
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures, or states for the encoder or the decoder alone."""
    torch = import_module("torch")
    if type(model).__name__.endswith(("Encoder", "Decoder")):
        made = {"inputs_embeds": torch.zeros(lengths.batch, lengths.seq, model.config.d_model)}
        told = "object_queries_position_embeddings"  # from which Conditional DETR tells its points
        taken: tuple[str, ...] = (
            ("object_queries", "query_position_embeddings") if type(model).__name__.startswith("TableTransformer") else ()
        )
        taken = (told,) if type(model).__name__ == "ConditionalDetrDecoder" else taken
        return made | dict.fromkeys(taken if type(model).__name__.endswith("Decoder") else taken[:1], made["inputs_embeds"])
    return images.pictures(model, lengths)
