"""diffusers' own classes, held to ours; needs torch and diffusers (0.42.1).

PYTHONPATH=src:. python -m truth.diffusers_models            # published and random configs against ours
PYTHONPATH=src:. python -m truth.diffusers_models --record   # write tests/truth/packages/diffusers.json
"""

from __future__ import annotations

import json
import random
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from truth.diffusers_draws import DOWN, DRAWN, UP
from truth.packages import digest, import_torchvision, meta, print_differences, tensors_of
from weighbridge import WeighbridgeError, model

RECORD = Path(__file__).parent.parent / "tests" / "truth" / "packages" / "diffusers.json"
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
KANDINSKY = {
    "in_channels": 4,
    "out_channels": 8,
    "block_out_channels": [384, 768, 1152, 1536],
    "attention_head_dim": 64,
    "cross_attention_dim": 768,
    "down_block_types": ["ResnetDownsampleBlock2D", *["SimpleCrossAttnDownBlock2D"] * 3],
    "layers_per_block": 3,
    "up_block_types": [*["SimpleCrossAttnUpBlock2D"] * 3, "ResnetUpsampleBlock2D"],
    "mid_block_type": "UNetMidBlock2DSimpleCrossAttn",
    "resnet_time_scale_shift": "scale_shift",
}
CONSISTENCY = {"attention_head_dim": 64, "downsample_type": "resnet", "upsample_type": "resnet"}
PUBLISHED: dict[str, dict[str, Any]] = {
    "stable-diffusion-v1-5/unet": {"_class_name": "UNet2DConditionModel", "cross_attention_dim": 768},
    "stable-diffusion-2-1/unet": {
        "_class_name": "UNet2DConditionModel", "cross_attention_dim": 1024, "attention_head_dim": [5, 10, 20, 20], "use_linear_projection": True,
    },
    "stable-diffusion-xl-base-1.0/unet": {"_class_name": "UNet2DConditionModel", **SDXL},
    "LCM_Dreamshaper_v7/unet": {"_class_name": "UNet2DConditionModel", "cross_attention_dim": 768, "time_cond_proj_dim": 256},
    "stable-diffusion-x4-upscaler/unet": {
        "_class_name": "UNet2DConditionModel", "in_channels": 7, "block_out_channels": [256, 512, 512, 1024], "cross_attention_dim": 1024,
        "down_block_types": ["DownBlock2D", *["CrossAttnDownBlock2D"] * 3], "up_block_types": [*["CrossAttnUpBlock2D"] * 3, "UpBlock2D"],
        "num_class_embeds": 1000, "only_cross_attention": [True, True, True, False], "use_linear_projection": True,
    },
    "kandinsky-2-1/unet": {"_class_name": "UNet2DConditionModel", **KANDINSKY, "addition_embed_type": "text_image", "encoder_hid_dim": 1024,
        "encoder_hid_dim_type": "text_image_proj",
    },
    "kandinsky-2-2-decoder/unet": {"_class_name": "UNet2DConditionModel", **KANDINSKY, "addition_embed_type": "image", "encoder_hid_dim": 1280,
        "encoder_hid_dim_type": "image_proj",
    },
    "diffusers-cd_imagenet64_l2/unet": {
        "_class_name": "UNet2DModel", **CONSISTENCY, "layers_per_block": 3, "num_class_embeds": 1000, "block_out_channels": [192, 384, 576, 768],
        "down_block_types": ["ResnetDownsampleBlock2D", *["AttnDownBlock2D"] * 3], "up_block_types": [*["AttnUpBlock2D"] * 3, "ResnetUpsampleBlock2D"],
        "resnet_time_scale_shift": "scale_shift",
    },
    "diffusers-cd_bedroom256_l2/unet": {
        "_class_name": "UNet2DModel", **CONSISTENCY, "layers_per_block": 2, "block_out_channels": [256, 256, 512, 512, 1024, 1024],
        "down_block_types": [*["ResnetDownsampleBlock2D"] * 3, *["AttnDownBlock2D"] * 3],
        "up_block_types": [*["AttnUpBlock2D"] * 3, *["ResnetUpsampleBlock2D"] * 3],
    },
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
    "Kolors/unet": {"_class_name": "UNet2DConditionModel", **SDXL, "projection_class_embeddings_input_dim": 5632, "encoder_hid_dim": 4096, "encoder_hid_dim_type": "text_proj"},
    "sd-controlnet-canny": {"_class_name": "ControlNetModel", "cross_attention_dim": 768},
    "controlnet-canny-sdxl-1.0": {"_class_name": "ControlNetModel", **{key: value for key, value in SDXL.items() if key != "up_block_types"}},
    "t2i-adapter-canny-sdxl-1.0": {"_class_name": "T2IAdapter", "adapter_type": "full_adapter_xl", "downscale_factor": 16},
    "ddpm-celebahq-256": {
        "_class_name": "UNet2DModel", "block_out_channels": [128, 128, 256, 256, 512, 512], "attention_head_dim": None,
        "down_block_types": ["DownBlock2D"] * 4 + ["AttnDownBlock2D", "DownBlock2D"],
        "up_block_types": ["UpBlock2D", "AttnUpBlock2D"] + ["UpBlock2D"] * 4,
    },
    "taesd": {"_class_name": "AutoencoderTiny"},
    "taef1": {"_class_name": "AutoencoderTiny", "latent_channels": 16},
    "stable-video-diffusion-img2vid-xt/vae": {
        "_class_name": "AutoencoderKLTemporalDecoder", **{key: value for key, value in IMAGE_VAE.items() if key != "up_block_types"},
    },
    "Lumina-Image-2.0/transformer": {"_class_name": "Lumina2Transformer2DModel", "cap_feat_dim": 2304},
    "Z-Image-Turbo/transformer": {"_class_name": "ZImageTransformer2DModel"},
    "HunyuanVideo/transformer": {"_class_name": "HunyuanVideoTransformer3DModel"},
    "HunyuanDiT-v1.2/transformer": {
        "_class_name": "HunyuanDiT2DModel", "in_channels": 4, "patch_size": 2, "hidden_size": 1408, "num_layers": 40, "mlp_ratio": 4.3637,
        "use_style_cond_and_image_meta_size": False,
    },
    "CogView4-6B/transformer": {
        "_class_name": "CogView4Transformer2DModel", "num_layers": 28, "num_attention_heads": 32, "attention_head_dim": 128,
    },
    "Chroma1-HD/transformer": {"_class_name": "ChromaTransformer2DModel"},
    "HiDream-I1-Full/transformer": {"_class_name": "HiDreamImageTransformer2DModel", "patch_size": 2, "in_channels": 16, "caption_channels": [4096, 4096]},
    "mochi-1-preview/transformer": {"_class_name": "MochiTransformer3DModel"},
    "Allegro/transformer": {"_class_name": "AllegroTransformer3DModel"},
    "Cosmos-1.0-Diffusion-7B-Text2World/transformer": {"_class_name": "CosmosTransformer3DModel"},
    "Qwen-Image/vae": {"_class_name": "AutoencoderKLQwenImage"},
    "Wan2.1-T2V-14B/vae": {"_class_name": "AutoencoderKLWan"},
    "Wan2.2-TI2V-5B/vae": {
        "_class_name": "AutoencoderKLWan", "base_dim": 160, "decoder_base_dim": 256, "z_dim": 48, "is_residual": True, "in_channels": 12,
        "out_channels": 12, "patch_size": 2,
    },
    "stable-video-diffusion-img2vid-xt/unet": {"_class_name": "UNetSpatioTemporalConditionModel"},
    "kandinsky-3/unet": {"_class_name": "Kandinsky3UNet"},
    "CogVideoX-2b/vae": {"_class_name": "AutoencoderKLCogVideoX"},
    "HunyuanVideo/vae": {"_class_name": "AutoencoderKLHunyuanVideo"},
    "mochi-1-preview/vae": {"_class_name": "AutoencoderKLMochi"},
    "LTX-Video/vae": {"_class_name": "AutoencoderKLLTXVideo"},
    "animatediff-motion-adapter-v1-5-2": {"_class_name": "MotionAdapter"},
    "Sana_1600M_1024px/vae": {
        "_class_name": "AutoencoderDC", "encoder_block_types": ["ResBlock"] * 3 + ["EfficientViTBlock"] * 3,
        "decoder_block_types": ["ResBlock"] * 3 + ["EfficientViTBlock"] * 3,
    },
    "stable-cascade-prior/prior": {
        "_class_name": "StableCascadeUNet", "clip_image_in_channels": 768, "clip_text_in_channels": 1280, "switch_level": [False],
    },
    "stable-cascade/decoder": {
        "_class_name": "StableCascadeUNet", "block_out_channels": [320, 640, 1280, 1280], "conditioning_dim": 1280, "in_channels": 4, "out_channels": 4,
        "patch_size": 2, "num_attention_heads": [-1, -1, 20, 20], "down_num_layers_per_block": [2, 6, 28, 6], "up_num_layers_per_block": [6, 28, 6, 2],
        "down_blocks_repeat_mappers": [1, 1, 1, 1], "up_blocks_repeat_mappers": [3, 3, 2, 2], "effnet_in_channels": 16, "pixel_mapper_in_channels": 3,
        "timestep_conditioning_type": ["sca"], "dropout": [0, 0, 0.1, 0.1], "self_attn": True,
        "block_types_per_layer": [["SDCascadeResBlock", "SDCascadeTimestepBlock"]] * 2 + [["SDCascadeResBlock", "SDCascadeTimestepBlock", "SDCascadeAttnBlock"]] * 2,
    },
    "stable-cascade/vqgan": {"_class_name": "PaellaVQModel"},
}  # fmt: skip
"""What configs of published models say where they differ from the defaults of the class."""


ELSEWHERE = {"PaellaVQModel": "diffusers.pipelines.deprecated.wuerstchen.modeling_paella_vq_model"}
"""Classes that the package does not have at its top."""


def rows_of(raw: dict[str, Any]) -> dict[str, list[int]]:
    """Return the names and shapes of the parameters of the class that a config names."""
    package = import_module(ELSEWHERE.get(raw["_class_name"], "diffusers"))
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


def record(count: int = 2, seed: int = 20261122) -> int:
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
