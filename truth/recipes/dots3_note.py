"""Random configs and inputs of dots3-note: towers as wide as the text, pyramids of experts, patches of images of several shapes."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import patched_inputs
from truth.forward import Pass
from truth.live import RefusedError
from truth.recipes import dots3_note_text


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    kind = raw["model_type"]
    if kind == "dots3_note_vision_encoder":
        return _vision(rng, raw)
    if kind == "dots3_note_audio_encoder":
        return _audio(rng, raw)
    text = dots3_note_text.draw(rng, {"hidden_size": 4 * rng.randint(2, 6), "intermediate_size": 8, "vocab_size": rng.randint(50, 99)})
    text |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    text |= {
        "moe_intermediate_size": 6,
        "shared_experts_intermediate_size": 5,
        "q_lora_rank": 6,
        "kv_lora_rank": 5,
        "v_head_dim": 4,
        "index_n_heads": 2,
    }
    raw["vision_config"] = _vision(rng, {"intermediate_size": 9}) | {"adapter_out_dim": text["hidden_size"]}
    raw["audio_config"] = _audio(rng, {"intermediate_size": 9}) | {"adapter_out_dim": text["hidden_size"]}
    if rng.random() < 0.5:
        return raw | {"text_config": text}
    raw.pop("text_config", None)
    return raw | text


def _vision(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    heads, layers = rng.choice((1, 2, 3)), rng.randint(1, 5)
    raw |= {"num_attention_heads": heads, "hidden_size": heads * 8, "adapter_in_dim": heads * 8, "num_hidden_layers": layers}
    raw |= {"patch_size": rng.randint(2, 5), "spatial_merge_size": (merge := rng.choice((1, 2))), "adapter_merge_size": merge}
    raw |= {"moe_intermediate_size": rng.randint(2, 9), "adapter_out_dim": rng.randint(2, 9), "mlp_bias": False}
    for key in ("embed_dim", "num_heads", "mlp_layer_types", "per_layer_config"):
        raw.pop(key, None)
    if rng.random() < 0.6:
        return raw | {"pyramid_num_routed": [rng.choice((-1, 2, 3, 5)) for _ in range(layers)]}
    raw |= {"mlp_layer_types": [rng.choice(("dense", "sparse")) for _ in range(layers)], "num_local_experts": rng.randint(2, 5)}
    return raw | {"num_experts_per_tok": rng.randint(1, 2)}


def _audio(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    heads = rng.choice((1, 2, 3))
    raw |= {"num_attention_heads": heads, "hidden_size": heads * 8, "adapter_input_size": heads * 8, "num_hidden_layers": rng.randint(1, 4)}
    return raw | {"feature_size": rng.randint(4, 30), "downsample_hidden_size": rng.randint(2, 9), "adapter_out_dim": rng.randint(2, 9)}


def passes(model: Any) -> list[Pass]:
    """List passes with images, where there is a tower."""
    config = getattr(model.config, "vision_config", model.config)
    return patched_inputs.passes(model, config.spatial_merge_size) if hasattr(config, "spatial_merge_size") else []


def _batch_experts(model: Any) -> None:
    """Let the tower's experts run on meta: each layer has a config of its own, which the model's setting does not reach."""
    for module in model.modules():
        if type(module).__name__ == "Dots3NoteExperts":
            module.config._experts_implementation = "batched_mm"


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, and images as patches; a sound is as long as its length says."""
    torch = import_module("torch")
    _batch_experts(model)
    vision = getattr(model.config, "vision_config", model.config)
    whole = vision is not model.config
    if not hasattr(vision, "patch_size"):
        raise RefusedError("a sound is as long as its length says")
    if lengths.images is None and whole:
        return {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    shapes = patched_inputs.grid(lengths)
    count = int(shapes.shape[0]) * lengths.patches[0] * lengths.patches[1]
    flat = torch.zeros(count, vision.num_channels * vision.patch_size**2)
    if not whole:
        return {"pixel_values": flat, "grid_thw": shapes}
    return patched_inputs.tokens(model, lengths, vision.spatial_merge_size) | {"pixel_values": flat, "image_grid_thw": shapes}
