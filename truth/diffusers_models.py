"""diffusers' own classes, held to ours; needs torch and diffusers (0.42.1).

PYTHONPATH=src:. python -m truth.diffusers_models            # published and random configs against ours
PYTHONPATH=src:. python -m truth.diffusers_models --record   # write tests/truth/packages/diffusers.json
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from truth.packages import digest, import_torchvision, meta, print_differences, tensors_of
from weighbridge import WeighbridgeError, model

RECORD = Path(__file__).parent.parent / "tests" / "truth" / "packages" / "diffusers.json"
DOWN, UP = ("DownBlock2D", "CrossAttnDownBlock2D"), ("UpBlock2D", "CrossAttnUpBlock2D")
SDXL = {
    "block_out_channels": [320, 640, 1280], "down_block_types": [DOWN[0], DOWN[1], DOWN[1]], "up_block_types": [UP[1], UP[1], UP[0]],
    "transformer_layers_per_block": [1, 2, 10], "attention_head_dim": [5, 10, 20], "cross_attention_dim": 2048, "use_linear_projection": True,
    "addition_embed_type": "text_time", "addition_time_embed_dim": 256, "projection_class_embeddings_input_dim": 2816,
}  # fmt: skip
IMAGE_VAE = {
    "down_block_types": ["DownEncoderBlock2D"] * 4, "up_block_types": ["UpDecoderBlock2D"] * 4, "block_out_channels": [128, 256, 512, 512],
    "layers_per_block": 2,
}  # fmt: skip
PUBLISHED: dict[str, dict[str, Any]] = {
    "stable-diffusion-v1-5/unet": {"_class_name": "UNet2DConditionModel", "cross_attention_dim": 768},
    "stable-diffusion-2-1/unet": {
        "_class_name": "UNet2DConditionModel", "cross_attention_dim": 1024, "attention_head_dim": [5, 10, 20, 20], "use_linear_projection": True,
    },
    "stable-diffusion-xl-base-1.0/unet": {"_class_name": "UNet2DConditionModel", **SDXL},
    "LCM_Dreamshaper_v7/unet": {"_class_name": "UNet2DConditionModel", "cross_attention_dim": 768, "time_cond_proj_dim": 256},
    "stable-diffusion-v1-5/vae": {"_class_name": "AutoencoderKL", **IMAGE_VAE},
    "FLUX.1-dev/vae": {"_class_name": "AutoencoderKL", **IMAGE_VAE, "latent_channels": 16, "use_quant_conv": False, "use_post_quant_conv": False},
    "DiT-XL-2-256/transformer": {"_class_name": "DiTTransformer2DModel", "out_channels": 8},
    "stable-diffusion-3-medium/transformer": {
        "_class_name": "SD3Transformer2DModel", "num_layers": 24, "num_attention_heads": 24, "caption_projection_dim": 1536, "pos_embed_max_size": 192,
    },
    "stable-diffusion-3.5-large/transformer": {
        "_class_name": "SD3Transformer2DModel", "num_layers": 38, "num_attention_heads": 38, "caption_projection_dim": 2432,
        "pos_embed_max_size": 192, "qk_norm": "rms_norm",
    },
    "stable-diffusion-3.5-medium/transformer": {
        "_class_name": "SD3Transformer2DModel", "num_layers": 24, "num_attention_heads": 24, "caption_projection_dim": 1536,
        "pos_embed_max_size": 384, "qk_norm": "rms_norm", "dual_attention_layers": list(range(13)),
    },
    "FLUX.1-dev/transformer": {"_class_name": "FluxTransformer2DModel", "guidance_embeds": True},
    "FLUX.1-schnell/transformer": {"_class_name": "FluxTransformer2DModel"},
}  # fmt: skip
"""Configs as their repositories have them, where they differ from the defaults of the class."""


def draw_flux(rng: random.Random) -> dict[str, Any]:
    """Draw a small FLUX."""
    raw: dict[str, Any] = {"in_channels": rng.choice((4, 16)), "num_layers": rng.randint(1, 3), "num_single_layers": rng.randint(1, 3)}
    raw |= {"attention_head_dim": 8, "num_attention_heads": rng.randint(1, 3), "joint_attention_dim": rng.randint(5, 30)}
    raw |= {"pooled_projection_dim": rng.randint(5, 30), "guidance_embeds": rng.random() < 0.5, "axes_dims_rope": [2, 2, 4]}
    return raw | {"patch_size": rng.choice((1, 2)), "out_channels": rng.choice((None, 7))}


def draw_sd3(rng: random.Random) -> dict[str, Any]:
    """Draw a small MMDiT."""
    layers = rng.randint(1, 4)
    raw: dict[str, Any] = {"num_layers": layers, "attention_head_dim": 8, "num_attention_heads": rng.randint(1, 3), "sample_size": 16}
    raw |= {
        "joint_attention_dim": rng.randint(5, 30),
        "caption_projection_dim": rng.randint(5, 30),
        "pooled_projection_dim": rng.randint(5, 30),
    }
    raw |= {
        "pos_embed_max_size": rng.randint(2, 9),
        "qk_norm": rng.choice((None, "rms_norm", "layer_norm")),
        "patch_size": rng.choice((1, 2)),
    }
    return raw | {
        "dual_attention_layers": sorted(rng.sample(range(layers), rng.randint(0, layers))),
        "out_channels": rng.choice((None, 16)),
    }


def draw_dit(rng: random.Random) -> dict[str, Any]:
    """Draw a small DiT."""
    raw: dict[str, Any] = {
        "num_layers": rng.randint(1, 3),
        "attention_head_dim": 8,
        "num_attention_heads": rng.randint(1, 3),
        "sample_size": 8,
    }
    raw |= {"num_embeds_ada_norm": rng.randint(3, 30), "attention_bias": rng.random() < 0.5, "norm_elementwise_affine": rng.random() < 0.5}
    return raw | {
        "activation_fn": rng.choice(("gelu-approximate", "geglu")),
        "out_channels": rng.choice((None, 8)),
        "patch_size": rng.choice((2, 4)),
    }


def draw_vae(rng: random.Random) -> dict[str, Any]:
    """Draw a small autoencoder."""
    stages = rng.randint(1, 4)
    raw: dict[str, Any] = {"block_out_channels": [8 * rng.randint(1, 3) for _ in range(stages)], "norm_num_groups": 4}
    raw |= {"down_block_types": ["DownEncoderBlock2D"] * stages, "up_block_types": ["UpDecoderBlock2D"] * stages}
    raw |= {"layers_per_block": rng.randint(1, 3), "latent_channels": rng.choice((3, 4, 16)), "use_quant_conv": rng.random() < 0.5}
    return raw | {
        "use_post_quant_conv": rng.random() < 0.5,
        "mid_block_add_attention": rng.random() < 0.6,
        "in_channels": rng.choice((1, 3)),
    }


def draw_unet(rng: random.Random) -> dict[str, Any]:
    """Draw a small UNet, with every switch that is described."""
    stages = rng.randint(1, 4)
    raw: dict[str, Any] = {"block_out_channels": [8 * rng.randint(1, 3) for _ in range(stages)], "norm_num_groups": 4}
    raw |= {"down_block_types": [rng.choice(DOWN) for _ in range(stages)], "up_block_types": [rng.choice(UP) for _ in range(stages)]}
    raw |= {"layers_per_block": rng.choice((rng.randint(1, 3), [rng.randint(1, 3) for _ in range(stages)])), "attention_head_dim": 4}
    raw |= {"cross_attention_dim": rng.choice((5, 12)), "use_linear_projection": rng.random() < 0.5, "in_channels": rng.choice((4, 9))}
    raw |= {"transformer_layers_per_block": rng.choice((1, 2, [rng.randint(1, 3) for _ in range(stages)]))}
    raw |= {"time_cond_proj_dim": rng.choice((None, 6)), "num_class_embeds": rng.choice((None, None, 11))}
    if rng.random() < 0.4:
        raw |= {"addition_embed_type": "text_time", "addition_time_embed_dim": 8, "projection_class_embeddings_input_dim": 40}
    if rng.random() < 0.3:
        raw |= {"class_embed_type": rng.choice(("timestep", "projection")), "projection_class_embeddings_input_dim": 40}
    return raw


DRAWN: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "FluxTransformer2DModel": draw_flux, "SD3Transformer2DModel": draw_sd3, "DiTTransformer2DModel": draw_dit, "AutoencoderKL": draw_vae,
    "UNet2DConditionModel": draw_unet,
}  # fmt: skip


def rows_of(raw: dict[str, Any]) -> dict[str, list[int]]:
    """Return the names and shapes of the parameters of the class that a config names."""
    package = import_module("diffusers")
    with meta():
        built = getattr(package, raw["_class_name"])(**{key: value for key, value in raw.items() if key != "_class_name"})
    return {name: list(tensor.shape) for name, tensor in built.named_parameters()}


def cases(count: int, seed: int) -> dict[str, dict[str, Any]]:
    """Return random configs, as many of each class."""
    rng = random.Random(seed)
    return {f"{name} {number}": {"_class_name": name, **draw(rng)} for name, draw in DRAWN.items() for number in range(count)}


def compared(count: int = 60, seed: int = 20261122) -> int:
    """Compare names and shapes of published and random configs; return 1 if anything differs."""
    wrong = same = refused = 0
    for name, raw in (PUBLISHED | cases(count, seed)).items():
        try:
            theirs = rows_of(raw)
        except (ValueError, TypeError, AssertionError, ZeroDivisionError):
            refused += 1  # diffusers does not build it either
            continue
        try:
            ours = tensors_of(model(raw))
        except WeighbridgeError as error:
            wrong += 1
            print(f"{name}: {error}: {json.dumps(raw)}")
            continue
        if list(ours.items()) == list(theirs.items()):
            same += 1
            continue
        wrong += 1
        print_differences(f"{name} {json.dumps(raw)}", ours, theirs)
    print(f"{same} agree tensor for tensor; {wrong} differ; {refused} are built by neither")
    return 1 if wrong else 0


def record(count: int = 6, seed: int = 20261122) -> int:
    """Write the digest of each published config, and the tensors of random ones."""
    published = {}
    for name, raw in PUBLISHED.items():
        rows = rows_of(raw)
        total = 0
        for shape in rows.values():
            elements = 1
            for side in shape:
                elements *= side
            total += elements
        published[name] = {"config": raw, "total": total, "digest": digest(rows)}
    drawn = []
    for raw in cases(count, seed).values():
        try:
            drawn.append({"config": raw, "tensors": rows_of(raw)})
        except (ValueError, TypeError, AssertionError, ZeroDivisionError):
            continue
    RECORD.write_text(json.dumps({"package": "diffusers 0.42.1", "seed": seed, "published": published, "cases": drawn}) + "\n")
    return 0


if __name__ == "__main__":
    import_torchvision()
    sys.exit(record() if "--record" in sys.argv else compared())
