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
    "block_out_channels": [320, 640, 1280],
    "down_block_types": [DOWN[0], DOWN[1], DOWN[1]],
    "up_block_types": [UP[1], UP[1], UP[0]],
    "transformer_layers_per_block": [1, 2, 10],
    "attention_head_dim": [5, 10, 20],
    "cross_attention_dim": 2048,
    "use_linear_projection": True,
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816,
}
IMAGE_VAE = {
    "down_block_types": ["DownEncoderBlock2D"] * 4,
    "up_block_types": ["UpDecoderBlock2D"] * 4,
    "block_out_channels": [128, 256, 512, 512],
    "layers_per_block": 2,
}
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
    "PixArt-XL-2-1024-MS/transformer": {"_class_name": "PixArtTransformer2DModel", "caption_channels": 4096},
    "PixArt-Sigma-XL-2-1024-MS/transformer": {"_class_name": "PixArtTransformer2DModel", "caption_channels": 4096, "use_additional_conditions": False},
    "Sana_1600M_1024px/transformer": {"_class_name": "SanaTransformer2DModel"},
    "Sana_600M_1024px/transformer": {
        "_class_name": "SanaTransformer2DModel", "num_attention_heads": 36, "num_layers": 28, "num_cross_attention_heads": 16,
        "cross_attention_head_dim": 72, "cross_attention_dim": 1152,
    },
    "CogVideoX-2b/transformer": {"_class_name": "CogVideoXTransformer3DModel"},
    "CogVideoX-5b/transformer": {
        "_class_name": "CogVideoXTransformer3DModel", "num_attention_heads": 48, "num_layers": 42, "use_rotary_positional_embeddings": True,
    },
    "LTX-Video/transformer": {"_class_name": "LTXVideoTransformer3DModel"},
    "Wan2.1-T2V-1.3B/transformer": {"_class_name": "WanTransformer3DModel", "num_attention_heads": 12, "num_layers": 30, "ffn_dim": 8960},
    "Wan2.1-T2V-14B/transformer": {"_class_name": "WanTransformer3DModel"},
    "Wan2.1-I2V-14B/transformer": {"_class_name": "WanTransformer3DModel", "in_channels": 36, "image_dim": 1280, "added_kv_proj_dim": 5120},
    "Wan2.2-TI2V-5B/transformer": {
        "_class_name": "WanTransformer3DModel", "num_attention_heads": 24, "num_layers": 30, "ffn_dim": 14336, "in_channels": 48, "out_channels": 48,
    },
    "Qwen-Image/transformer": {"_class_name": "QwenImageTransformer2DModel"},
    "FLUX.2-dev/transformer": {"_class_name": "Flux2Transformer2DModel"},
    "AuraFlow/transformer": {"_class_name": "AuraFlowTransformer2DModel"},
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


def heads_of(rng: random.Random, head_dim: int = 8) -> dict[str, Any]:
    """Draw heads, and as many layers as stay small."""
    return {"num_attention_heads": rng.randint(1, 3), "attention_head_dim": head_dim, "num_layers": rng.randint(1, 3)}


def draw_pixart(rng: random.Random) -> dict[str, Any]:
    """Draw a small PixArt."""
    raw = heads_of(rng, 12) | {
        "cross_attention_dim": rng.choice((12, 24)),
        "attention_bias": rng.random() < 0.7,
        "patch_size": rng.choice((1, 2)),
    }
    raw |= {"sample_size": rng.choice((16, 128)), "caption_channels": rng.choice((None, 20)), "out_channels": rng.choice((None, 8))}
    return raw | {"activation_fn": rng.choice(("gelu-approximate", "geglu")), "use_additional_conditions": rng.choice((None, True, False))}


def draw_sana(rng: random.Random) -> dict[str, Any]:
    """Draw a small Sana."""
    raw = heads_of(rng) | {
        "num_cross_attention_heads": rng.randint(1, 3),
        "cross_attention_head_dim": 8,
        "mlp_ratio": rng.choice((2.5, 3.0, 4)),
    }
    raw |= {
        "cross_attention_dim": raw["num_attention_heads"] * 8,
        "caption_channels": rng.randint(5, 20),
        "attention_bias": rng.random() < 0.5,
    }
    return raw | {
        "in_channels": rng.choice((4, 32)),
        "out_channels": rng.choice((None, 32)),
        "patch_size": rng.choice((1, 2)),
        "sample_size": 8,
    }


def draw_cogvideox(rng: random.Random) -> dict[str, Any]:
    """Draw a small CogVideoX."""
    raw = heads_of(rng, 16) | {
        "time_embed_dim": rng.randint(5, 20),
        "text_embed_dim": rng.randint(5, 20),
        "attention_bias": rng.random() < 0.7,
    }
    raw |= {"ofs_embed_dim": rng.choice((None, 12)), "patch_size_t": rng.choice((None, 2)), "patch_bias": rng.random() < 0.7}
    raw |= {"norm_elementwise_affine": rng.random() < 0.7, "sample_width": 8, "sample_height": 8, "sample_frames": 5}
    return raw | {"use_rotary_positional_embeddings": rng.random() < 0.5, "activation_fn": rng.choice(("gelu-approximate", "geglu"))}


def draw_ltx(rng: random.Random) -> dict[str, Any]:
    """Draw a small LTX-Video."""
    raw = heads_of(rng) | {
        "in_channels": rng.choice((8, 128)),
        "out_channels": rng.choice((None, 16)),
        "caption_channels": rng.randint(5, 20),
    }
    raw |= {"cross_attention_dim": raw["num_attention_heads"] * 8, "attention_bias": rng.random() < 0.7}
    return raw | {"norm_elementwise_affine": rng.random() < 0.4, "activation_fn": rng.choice(("gelu-approximate", "geglu"))}


def draw_wan(rng: random.Random) -> dict[str, Any]:
    """Draw a small Wan, from text or from an image."""
    raw = heads_of(rng, 12) | {"ffn_dim": rng.randint(5, 40), "text_dim": rng.randint(5, 20), "freq_dim": rng.choice((8, 256))}
    raw |= {"patch_size": [1, rng.choice((1, 2)), 2], "cross_attn_norm": rng.random() < 0.7, "out_channels": rng.choice((None, 16))}
    if rng.random() < 0.5:
        raw |= {
            "image_dim": rng.randint(5, 20),
            "added_kv_proj_dim": raw["num_attention_heads"] * 12,
            "pos_embed_seq_len": rng.choice((None, 6)),
        }
    return raw


def draw_qwen_image(rng: random.Random) -> dict[str, Any]:
    """Draw a small Qwen-Image."""
    raw = heads_of(rng) | {"joint_attention_dim": rng.randint(5, 30), "axes_dims_rope": [2, 2, 4], "out_channels": rng.choice((None, 4))}
    return raw | {"in_channels": rng.choice((16, 64)), "use_additional_t_cond": rng.random() < 0.4, "patch_size": rng.choice((1, 2))}


def draw_flux2(rng: random.Random) -> dict[str, Any]:
    """Draw a small FLUX.2."""
    raw = heads_of(rng) | {
        "num_single_layers": rng.randint(1, 3),
        "joint_attention_dim": rng.randint(5, 30),
        "axes_dims_rope": [2, 2, 2, 2],
    }
    return raw | {"mlp_ratio": rng.choice((2.5, 3.0, 4)), "guidance_embeds": rng.random() < 0.5, "out_channels": rng.choice((None, 16))}


def draw_auraflow(rng: random.Random) -> dict[str, Any]:
    """Draw a small AuraFlow."""
    raw: dict[str, Any] = {"num_attention_heads": rng.randint(1, 3), "attention_head_dim": 8, "num_mmdit_layers": rng.randint(1, 3)}
    raw |= {"num_single_dit_layers": rng.randint(1, 3), "joint_attention_dim": rng.randint(5, 30), "pos_embed_max_size": rng.randint(4, 20)}
    return raw | {"caption_projection_dim": raw["num_attention_heads"] * 8, "sample_size": 4, "patch_size": rng.choice((1, 2))}


DRAWN: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "FluxTransformer2DModel": draw_flux,
    "SD3Transformer2DModel": draw_sd3,
    "DiTTransformer2DModel": draw_dit,
    "AutoencoderKL": draw_vae,
    "UNet2DConditionModel": draw_unet,
    "PixArtTransformer2DModel": draw_pixart,
    "SanaTransformer2DModel": draw_sana,
    "CogVideoXTransformer3DModel": draw_cogvideox,
    "LTXVideoTransformer3DModel": draw_ltx,
    "WanTransformer3DModel": draw_wan,
    "QwenImageTransformer2DModel": draw_qwen_image,
    "Flux2Transformer2DModel": draw_flux2,
    "AuraFlowTransformer2DModel": draw_auraflow,
}


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


def compare_models(count: int = 60, seed: int = 20261122) -> int:
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
    sys.exit(record() if "--record" in sys.argv else compare_models())
