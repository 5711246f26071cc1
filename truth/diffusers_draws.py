"""Small random configs of diffusers' classes, with every switch that is described."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

DOWN, UP = ("DownBlock2D", "CrossAttnDownBlock2D"), ("UpBlock2D", "CrossAttnUpBlock2D")
DOWN_TEXT = (*DOWN, "ResnetDownsampleBlock2D", "SimpleCrossAttnDownBlock2D")
UP_TEXT = (*UP, "ResnetUpsampleBlock2D", "SimpleCrossAttnUpBlock2D")
MIDDLE = ("UNetMidBlock2DCrossAttn", "UNetMidBlock2DSimpleCrossAttn", "UNetMidBlock2D", None)
DOWN_PLAIN = ("DownBlock2D", "AttnDownBlock2D", "ResnetDownsampleBlock2D", "SkipDownBlock2D", "AttnSkipDownBlock2D")
UP_PLAIN = ("UpBlock2D", "AttnUpBlock2D", "ResnetUpsampleBlock2D", "SkipUpBlock2D", "AttnSkipUpBlock2D")


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


def draw_transformer_unet(rng: random.Random) -> dict[str, Any]:
    """Draw a small UNet whose stages hold transformers or nothing, as those of Stable Diffusion."""
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


def draw_unet(rng: random.Random) -> dict[str, Any]:
    """Draw a small UNet, with every switch and every kind of stage that is described."""
    raw = draw_transformer_unet(rng) | {"resnet_time_scale_shift": rng.choice(("default", "scale_shift"))}
    stages = len(raw["block_out_channels"])
    if rng.random() < 0.2:
        raw |= {"class_embed_type": rng.choice(("simple_projection", "identity")), "projection_class_embeddings_input_dim": 40}
    if rng.random() < 0.4:
        return raw | {"only_cross_attention": [rng.random() < 0.5 for _ in range(stages)]}
    down = [rng.choice(DOWN_TEXT) for _ in range(stages)]
    raw |= {"down_block_types": down, "up_block_types": [rng.choice(UP_TEXT) for _ in range(stages)], "mid_block_type": rng.choice(MIDDLE)}
    raw |= {"only_cross_attention": rng.random() < 0.3, "mid_block_only_cross_attention": rng.choice((None, True, False))}
    raw |= {"cross_attention_norm": rng.choice((None, "layer_norm", "group_norm")), "cross_attention_dim": 32}
    if "addition_embed_type" not in raw:
        raw |= {"addition_embed_type": rng.choice((None, "text", "text_image", "image", "image_hint")), "addition_embed_type_num_heads": 4}
    return raw | {"encoder_hid_dim": 20, "encoder_hid_dim_type": rng.choice((None, "text_proj", "text_image_proj", "image_proj"))}


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


def draw_controlnet(rng: random.Random) -> dict[str, Any]:
    """Draw a small ControlNet."""
    raw = {
        key: value
        for key, value in draw_transformer_unet(rng).items()
        if key not in ("up_block_types", "time_cond_proj_dim", "layers_per_block")
    }
    raw |= {"layers_per_block": rng.randint(1, 3), "conditioning_embedding_out_channels": rng.choice(([8], [4, 8], [4, 8, 12]))}
    return raw | {"conditioning_channels": rng.choice((1, 3)), "encoder_hid_dim": rng.choice((None, 9))}


def draw_t2i_adapter(rng: random.Random) -> dict[str, Any]:
    """Draw a small adapter of pictures."""
    raw: dict[str, Any] = {"channels": [8 * rng.randint(1, 3) for _ in range(rng.randint(1, 4))], "num_res_blocks": rng.randint(1, 3)}
    raw |= {"in_channels": rng.choice((1, 3)), "downscale_factor": rng.choice((2, 8))}
    return raw | {"adapter_type": rng.choice(("full_adapter", "full_adapter_xl", "light_adapter"))}


def draw_unet_plain(rng: random.Random) -> dict[str, Any]:
    """Draw a small U-Net of images alone, with every kind of stage."""
    stages = rng.randint(1, 4)
    down, up = [rng.choice(DOWN_PLAIN) for _ in range(stages)], [rng.choice(UP_PLAIN) for _ in range(stages)]
    step = 32 if any("Skip" in kind for kind in down + up) else 8
    raw: dict[str, Any] = {"block_out_channels": [step * rng.randint(1, 3) for _ in range(stages)], "norm_num_groups": 4}
    raw |= {"down_block_types": down, "up_block_types": up, "layers_per_block": rng.randint(1, 3)}
    raw |= {"attention_head_dim": rng.choice((None, 3, 4, 8)), "add_attention": rng.random() < 0.7}
    raw |= {"mid_block_type": rng.choice(("UNetMidBlock2D", "UNetMidBlock2D", None)), "time_embedding_dim": rng.choice((None, 9))}
    raw |= {"downsample_type": rng.choice(("conv", "resnet", None)), "upsample_type": rng.choice(("conv", "resnet", None))}
    raw |= {"resnet_time_scale_shift": rng.choice(("default", "scale_shift")), "attn_norm_num_groups": rng.choice((None, 4))}
    raw |= {"time_embedding_type": rng.choice(("positional", "fourier", "learned")), "num_train_timesteps": 30}
    return raw | {"num_class_embeds": rng.choice((None, 7)), "class_embed_type": rng.choice((None, None, "timestep", "identity"))}


def draw_tiny_vae(rng: random.Random) -> dict[str, Any]:
    """Draw a small TAESD."""
    raw: dict[str, Any] = {"latent_channels": rng.choice((4, 16)), "in_channels": rng.choice((1, 3))}
    for half in ("encoder", "decoder"):
        stages = rng.randint(1, 4)
        raw[f"num_{half}_blocks"] = [rng.randint(0, 3) for _ in range(stages)]
        raw[f"{half}_block_out_channels"] = [rng.choice((4, 8))] * stages
    return raw


def draw_vq(rng: random.Random) -> dict[str, Any]:
    """Draw a small VQ-GAN."""
    raw = {key: value for key, value in draw_vae(rng).items() if not key.endswith("quant_conv")}
    return raw | {"num_vq_embeddings": rng.randint(5, 40), "vq_embed_dim": rng.choice((None, 6))}


def draw_temporal_vae(rng: random.Random) -> dict[str, Any]:
    """Draw a small autoencoder of videos, whose norms have 32 groups."""
    stages = rng.randint(1, 3)
    raw: dict[str, Any] = {"block_out_channels": [32 * rng.randint(1, 2) for _ in range(stages)], "layers_per_block": rng.randint(1, 2)}
    return raw | {"down_block_types": ["DownEncoderBlock2D"] * stages, "latent_channels": rng.choice((3, 4))}


def draw_lumina2(rng: random.Random) -> dict[str, Any]:
    """Draw a small Lumina-Image 2.0."""
    heads = rng.choice((2, 4))
    raw: dict[str, Any] = {"hidden_size": heads * rng.choice((12, 24)), "num_attention_heads": heads, "num_kv_heads": rng.choice((1, 2))}
    raw |= {"num_layers": rng.randint(1, 3), "num_refiner_layers": rng.randint(0, 2), "multiple_of": rng.choice((3, 16))}
    return raw | {
        "ffn_dim_multiplier": rng.choice((None, 0.7, 2)),
        "cap_feat_dim": rng.randint(5, 20),
        "out_channels": rng.choice((None, 3)),
    }


def draw_z_image(rng: random.Random) -> dict[str, Any]:
    """Draw a small Z-Image."""
    heads = rng.randint(1, 4)
    raw: dict[str, Any] = {"dim": heads * 12, "n_heads": heads, "n_kv_heads": heads, "axes_dims": [4, 4, 4], "n_layers": rng.randint(1, 3)}
    raw |= {"n_refiner_layers": rng.randint(0, 2), "qk_norm": rng.random() < 0.7, "siglip_feat_dim": rng.choice((None, 10))}
    patches = rng.choice(([2], [2, 4]))
    return raw | {"all_patch_size": patches, "all_f_patch_size": [1] * len(patches), "cap_feat_dim": rng.randint(5, 20)}


def draw_hunyuan_video(rng: random.Random) -> dict[str, Any]:
    """Draw a small HunyuanVideo."""
    raw = heads_of(rng) | {"num_single_layers": rng.randint(0, 2), "num_refiner_layers": rng.randint(0, 2), "rope_axes_dim": [2, 2, 4]}
    raw |= {"text_embed_dim": rng.randint(5, 20), "pooled_projection_dim": rng.randint(5, 20), "guidance_embeds": rng.random() < 0.5}
    raw |= {"mlp_ratio": rng.choice((2.5, 4.0)), "patch_size_t": rng.choice((1, 2)), "qk_norm": rng.choice(("rms_norm", "layer_norm"))}
    return raw | {"image_condition_type": rng.choice((None, "latent_concat", "token_replace")), "in_channels": rng.choice((4, 16))}


def draw_hunyuan_dit(rng: random.Random) -> dict[str, Any]:
    """Draw a small Hunyuan-DiT."""
    raw = heads_of(rng) | {"num_layers": rng.randint(1, 7), "in_channels": 4, "patch_size": rng.choice((1, 2)), "sample_size": 8}
    raw |= {"hidden_size": raw["num_attention_heads"] * 8, "cross_attention_dim": rng.randint(5, 20), "cross_attention_dim_t5": 16}
    raw |= {"pooled_projection_dim": rng.randint(5, 20), "text_len": rng.randint(3, 9), "text_len_t5": rng.randint(3, 9)}
    return raw | {
        "mlp_ratio": rng.choice((4.0, 4.3637)),
        "learn_sigma": rng.random() < 0.5,
        "use_style_cond_and_image_meta_size": rng.random() < 0.5,
    }


def draw_cogview4(rng: random.Random) -> dict[str, Any]:
    """Draw a small CogView4."""
    raw = heads_of(rng) | {"text_embed_dim": rng.randint(5, 20), "time_embed_dim": rng.randint(5, 20), "condition_dim": rng.randint(2, 9)}
    return raw | {"in_channels": rng.choice((4, 16)), "out_channels": rng.choice((4, 16)), "patch_size": rng.choice((1, 2))}


def draw_chroma(rng: random.Random) -> dict[str, Any]:
    """Draw a small Chroma."""
    raw = heads_of(rng) | {"num_single_layers": rng.randint(0, 2), "joint_attention_dim": rng.randint(5, 20), "axes_dims_rope": [2, 2, 4]}
    raw |= {"approximator_hidden_dim": rng.randint(5, 20), "approximator_layers": rng.randint(0, 3)}
    return raw | {"in_channels": rng.choice((4, 64)), "out_channels": rng.choice((None, 5))}


def draw_hidream(rng: random.Random) -> dict[str, Any]:
    """Draw a small HiDream-I1."""
    raw = heads_of(rng) | {"num_single_layers": rng.randint(0, 2), "patch_size": rng.choice((1, 2)), "text_emb_dim": rng.randint(5, 20)}
    raw |= {"caption_channels": [rng.randint(5, 20), rng.randint(5, 20)], "num_routed_experts": rng.choice((0, 2, 4)), "llama_layers": [1]}
    return raw | {"axes_dims_rope": [4, 4], "in_channels": rng.choice((4, 16)), "max_resolution": [4, 4]}


def draw_mochi(rng: random.Random) -> dict[str, Any]:
    """Draw a small Mochi 1."""
    raw = heads_of(rng) | {"pooled_projection_dim": rng.randint(5, 20), "text_embed_dim": 8 * rng.randint(1, 3)}
    return raw | {"time_embed_dim": rng.choice((8, 256)), "out_channels": rng.choice((None, 5)), "patch_size": rng.choice((1, 2))}


def draw_allegro(rng: random.Random) -> dict[str, Any]:
    """Draw a small Allegro."""
    raw = heads_of(rng, 12) | {
        "cross_attention_dim": rng.choice((12, 24)),
        "attention_bias": rng.random() < 0.7,
        "patch_size_t": rng.choice((1, 2)),
    }
    raw |= {"caption_channels": rng.randint(5, 20), "out_channels": rng.choice((4, 8)), "patch_size": rng.choice((1, 2))}
    return raw | {"activation_fn": rng.choice(("gelu-approximate", "geglu")), "sample_frames": 4, "sample_height": 8, "sample_width": 8}


def draw_cosmos(rng: random.Random) -> dict[str, Any]:
    """Draw a small Cosmos."""
    raw = heads_of(rng, 12) | {"text_embed_dim": rng.randint(5, 20), "adaln_lora_dim": rng.randint(2, 9), "max_size": [4, 8, 12]}
    raw |= {"patch_size": [rng.choice((1, 2)), 2, 2], "mlp_ratio": rng.choice((2.5, 4.0)), "concat_padding_mask": rng.random() < 0.5}
    raw |= {"extra_pos_embed_type": rng.choice((None, "learnable")), "in_channels": rng.choice((4, 16))}
    return raw | {"use_crossattn_projection": rng.random() < 0.3, "crossattn_proj_in_channels": 10, "encoder_hidden_states_channels": 7}


def draw_qwen_image_vae(rng: random.Random) -> dict[str, Any]:
    """Draw a small autoencoder of Qwen-Image."""
    stages = rng.randint(1, 4)
    raw: dict[str, Any] = {"base_dim": 4 * rng.randint(1, 3), "dim_mult": sorted(rng.choice((1, 2, 4)) for _ in range(stages))}
    raw |= {"temperal_downsample": [rng.random() < 0.5 for _ in range(stages - 1)], "z_dim": rng.choice((4, 16))}
    return raw | {"num_res_blocks": rng.randint(1, 3)}


def draw_wan_vae(rng: random.Random) -> dict[str, Any]:
    """Draw a small autoencoder of Wan, of either release."""
    raw = draw_qwen_image_vae(rng) | {"is_residual": rng.random() < 0.5, "decoder_base_dim": rng.choice((None, 8))}
    return raw | {"in_channels": rng.choice((3, 12)), "out_channels": rng.choice((3, 12))}


def draw_unet_video(rng: random.Random) -> dict[str, Any]:
    """Draw a small U-Net of Stable Video Diffusion, whose norms have 32 groups."""
    stages = rng.randint(1, 3)
    raw: dict[str, Any] = {"block_out_channels": [32 * rng.randint(1, 2) for _ in range(stages)], "num_attention_heads": rng.choice((2, 4))}
    for way in ("Down", "Up"):
        kinds = (f"{way}BlockSpatioTemporal", f"CrossAttn{way}BlockSpatioTemporal")
        raw[f"{way.lower()}_block_types"] = [rng.choice(kinds) for _ in range(stages)]
    raw |= {
        "layers_per_block": rng.randint(1, 2),
        "transformer_layers_per_block": rng.randint(1, 2),
        "cross_attention_dim": rng.choice((5, 9)),
    }
    return raw | {"projection_class_embeddings_input_dim": 24, "addition_time_embed_dim": 8}


def draw_flux_controlnet(rng: random.Random) -> dict[str, Any]:
    """Draw a small ControlNet of FLUX.1."""
    raw = draw_flux(rng) | {"num_mode": rng.choice((None, 7)), "conditioning_embedding_channels": rng.choice((None, 5))}
    return {key: value for key, value in raw.items() if key != "out_channels"} | {"num_single_layers": rng.randint(0, 2)}


def draw_sd3_controlnet(rng: random.Random) -> dict[str, Any]:
    """Draw a small ControlNet of Stable Diffusion 3, now and then without a text."""
    raw = draw_sd3(rng) | {"extra_conditioning_channels": rng.choice((0, 1)), "use_pos_embed": rng.random() < 0.6}
    return raw | {"joint_attention_dim": rng.choice((None, 12, 20))}


def draw_qwen_image_controlnet(rng: random.Random) -> dict[str, Any]:
    """Draw a small ControlNet of Qwen-Image."""
    raw = {key: value for key, value in draw_qwen_image(rng).items() if key != "use_additional_t_cond"}
    return raw | {"extra_condition_channels": rng.choice((0, 4))}


def draw_stable_cascade(rng: random.Random) -> dict[str, Any]:
    """Draw a small U-Net of Stable Cascade, with every condition."""
    stages = rng.randint(1, 3)
    kinds = ("SDCascadeResBlock", "SDCascadeTimestepBlock", "SDCascadeAttnBlock")
    raw: dict[str, Any] = {
        "block_out_channels": [8 * rng.randint(1, 3) for _ in range(stages)],
        "num_attention_heads": [rng.randint(1, 3) for _ in range(stages)],
    }
    raw |= {f"{way}_num_layers_per_block": [rng.randint(1, 3) for _ in range(stages)] for way in ("down", "up")}
    raw |= {f"{way}_blocks_repeat_mappers": [rng.randint(1, 3) for _ in range(stages)] for way in ("down", "up")}
    raw |= {"block_types_per_layer": [[rng.choice(kinds) for _ in range(rng.randint(1, 3))] for _ in range(stages)]}
    raw |= {"conditioning_dim": 10, "timestep_ratio_embedding_dim": 6, "patch_size": rng.choice((1, 2)), "clip_seq": rng.randint(1, 4)}
    raw |= {
        "clip_text_in_channels": rng.choice((None, 7)),
        "clip_image_in_channels": rng.choice((None, 9)),
        "kernel_size": rng.choice((3, 5)),
    }
    raw |= {"effnet_in_channels": rng.choice((None, 4)), "pixel_mapper_in_channels": rng.choice((None, 3)), "dropout": [0.1] * stages}
    raw |= {"timestep_conditioning_type": rng.choice((["sca"], ["sca", "crp"])), "self_attn": rng.random() < 0.5}
    return raw | {"switch_level": rng.choice((None, [rng.random() < 0.5 for _ in range(max(stages - 1, 1))]))}


def draw_paella_vq(rng: random.Random) -> dict[str, Any]:
    """Draw a small VQ-GAN of Würstchen."""
    raw: dict[str, Any] = {"levels": rng.randint(1, 3), "bottleneck_blocks": rng.randint(0, 3), "embed_dim": rng.choice((12, 20, 21))}
    return raw | {"latent_channels": rng.randint(2, 5), "num_vq_embeddings": rng.randint(5, 20), "up_down_scale_factor": rng.choice((1, 2))}


def draw_deep_vae(rng: random.Random) -> dict[str, Any]:
    """Draw a small deep compression autoencoder."""
    stages = rng.randint(2, 4)
    raw: dict[str, Any] = {"latent_channels": 4, "attention_head_dim": rng.choice((4, 6))}
    for half in ("encoder", "decoder"):
        kinds = [rng.choice(("ResBlock", "EfficientViTBlock")) for _ in range(stages)]
        raw[f"{half}_block_types"] = rng.choice(("ResBlock", kinds, kinds))
        raw[f"{half}_block_out_channels"] = [8 * rng.randint(1, 3) for _ in range(stages)]
        raw[f"{half}_layers_per_block"] = [rng.randint(0, 2), *(rng.randint(0, 2) for _ in range(stages - 1))]
        raw[f"{half}_qkv_multiscales"] = [rng.choice(([], [3], [3, 5])) for _ in range(stages)]
    norms = [rng.choice(("rms_norm", "layer_norm", "batch_norm")) for _ in range(stages)]
    raw |= {"decoder_norm_types": rng.choice(("rms_norm", norms)), "upsample_block_type": rng.choice(("pixel_shuffle", "interpolate"))}
    return raw | {"downsample_block_type": rng.choice(("pixel_unshuffle", "Conv")), "decoder_act_fns": "silu"}


def draw_cogvideox_vae(rng: random.Random) -> dict[str, Any]:
    """Draw a small autoencoder of CogVideoX."""
    stages = rng.randint(1, 4)
    raw: dict[str, Any] = {"block_out_channels": [8 * rng.randint(1, 3) for _ in range(stages)], "norm_num_groups": 4}
    raw |= {"down_block_types": ["CogVideoXDownBlock3D"] * stages, "up_block_types": ["CogVideoXUpBlock3D"] * stages}
    raw |= {"layers_per_block": rng.randint(1, 3), "latent_channels": rng.choice((4, 8)), "out_channels": rng.choice((3, 4))}
    return raw | {"use_quant_conv": rng.random() < 0.4, "use_post_quant_conv": rng.random() < 0.4, "in_channels": rng.choice((1, 3))}


def draw_hunyuan_video_vae(rng: random.Random) -> dict[str, Any]:
    """Draw a small autoencoder of HunyuanVideo."""
    stages = rng.randint(1, 5)
    raw: dict[str, Any] = {"block_out_channels": [8 * rng.randint(1, 3) for _ in range(stages)], "norm_num_groups": 4}
    raw |= {"down_block_types": ["HunyuanVideoDownBlock3D"] * stages, "up_block_types": ["HunyuanVideoUpBlock3D"] * stages}
    raw |= {
        "layers_per_block": rng.randint(1, 3),
        "latent_channels": rng.choice((4, 8)),
        "spatial_compression_ratio": rng.choice((2, 8, 12)),
    }
    return raw | {"mid_block_add_attention": rng.random() < 0.6}


def draw_mochi_vae(rng: random.Random) -> dict[str, Any]:
    """Draw a small autoencoder of Mochi, whose norms have 32 groups."""
    stages = rng.randint(2, 4)
    raw: dict[str, Any] = {f"{half}_block_out_channels": [32 * rng.randint(1, 2) for _ in range(stages)] for half in ("encoder", "decoder")}
    raw |= {"layers_per_block": [rng.randint(1, 2) for _ in range(stages + 1)], "latent_channels": rng.choice((4, 12))}
    raw |= {
        "temporal_expansions": [rng.randint(1, 3) for _ in range(stages - 1)],
        "spatial_expansions": [rng.randint(1, 2) for _ in range(stages - 1)],
    }
    return raw | {"add_attention_block": [rng.random() < 0.5 for _ in range(stages + 1)]}


def draw_ltx_vae(rng: random.Random) -> dict[str, Any]:
    """Draw a small autoencoder of LTX-Video, of either release."""
    stages = rng.randint(2, 4)
    later = rng.random() < 0.5
    raw: dict[str, Any] = {
        "block_out_channels": [8 * rng.randint(1, 3) for _ in range(stages)],
        "latent_channels": 8,
        "patch_size": rng.choice((1, 2)),
    }
    fewer = stages - later
    raw |= {"down_block_types": ["LTXVideo095DownBlock3D" if later else "LTXVideoDownBlock3D"] * fewer}
    raw |= {
        "layers_per_block": [rng.randint(1, 3) for _ in range(fewer + 1)],
        "spatio_temporal_scaling": [rng.random() < 0.6 for _ in range(fewer)],
    }
    raw |= {"downsample_type": [rng.choice(("conv", "spatial", "temporal", "spatiotemporal")) for _ in range(fewer)]}
    outer = rng.randint(1, 3)
    raw |= {"decoder_block_out_channels": [8 * rng.randint(1, 3) for _ in range(outer)], "timestep_conditioning": rng.random() < 0.5}
    raw |= {"decoder_layers_per_block": [rng.randint(1, 3) for _ in range(outer + 1)]}
    raw |= {"decoder_spatio_temporal_scaling": [rng.random() < 0.6 for _ in range(outer)]}
    raw |= {
        "decoder_inject_noise": [rng.random() < 0.4 for _ in range(outer + 1)],
        "upsample_residual": [rng.random() < 0.5 for _ in range(outer)],
    }
    return raw | {"upsample_factor": [rng.choice((1, 2)) for _ in range(outer)]}


def draw_motion_adapter(rng: random.Random) -> dict[str, Any]:
    """Draw small modules of AnimateDiff."""
    stages = rng.randint(1, 4)
    raw: dict[str, Any] = {"block_out_channels": [8 * rng.randint(1, 3) for _ in range(stages)], "motion_norm_num_groups": 4}
    raw |= {"motion_layers_per_block": rng.choice((rng.randint(1, 3), [rng.randint(1, 3) for _ in range(stages)]))}
    raw |= {
        "motion_transformer_layers_per_block": rng.choice((1, [rng.randint(1, 2) for _ in range(stages)])),
        "conv_in_channels": rng.choice((None, 9)),
    }
    raw |= {"motion_num_attention_heads": rng.choice((1, 2, 4)), "use_motion_mid_block": rng.random() < 0.6, "motion_max_seq_length": 8}
    return raw | {"motion_mid_block_layers_per_block": rng.randint(1, 2), "motion_transformer_layers_per_mid_block": rng.randint(1, 2)}


def draw_unet_motion(rng: random.Random) -> dict[str, Any]:
    """Draw a small U-Net of AnimateDiff."""
    stages = rng.randint(1, 4)
    raw: dict[str, Any] = {
        "block_out_channels": [8 * rng.randint(1, 3) for _ in range(stages)],
        "norm_num_groups": 4,
        "motion_max_seq_length": 8,
    }
    raw |= {
        f"{way}_block_types": [rng.choice((f"{way.title()}BlockMotion", f"CrossAttn{way.title()}BlockMotion")) for _ in range(stages)]
        for way in ("down", "up")
    }
    raw |= {"layers_per_block": rng.choice((rng.randint(1, 3), [rng.randint(1, 3) for _ in range(stages)])), "num_attention_heads": 4}
    raw |= {
        "cross_attention_dim": rng.choice((5, 12)),
        "use_linear_projection": rng.random() < 0.5,
        "use_motion_mid_block": rng.random() < 0.6,
    }
    raw |= {
        "transformer_layers_per_block": rng.choice((1, 2, [rng.randint(1, 3) for _ in range(stages)])),
        "time_cond_proj_dim": rng.choice((None, 6)),
    }
    raw |= {
        "temporal_transformer_layers_per_block": rng.choice((1, [rng.randint(1, 2) for _ in range(stages)])),
        "mid_block_layers": rng.randint(1, 2),
    }
    raw |= {"transformer_layers_per_mid_block": rng.choice((None, 2)), "temporal_transformer_layers_per_mid_block": rng.randint(1, 2)}
    raw |= {"motion_num_attention_heads": rng.choice((2, 4, [rng.choice((1, 2, 4)) for _ in range(stages)]))}
    if rng.random() < 0.3:
        raw |= {"addition_embed_type": "text_time", "addition_time_embed_dim": 8, "projection_class_embeddings_input_dim": 40}
    return raw


def draw_kandinsky3(rng: random.Random) -> dict[str, Any]:
    """Draw a small U-Net of Kandinsky 3, which has four stages."""
    raw: dict[str, Any] = {"block_out_channels": [8 * rng.randint(1, 3) for _ in range(4)], "groups": 2, "attention_head_dim": 4}
    raw |= {"layers_per_block": rng.randint(1, 4), "time_embedding_dim": 12, "cross_attention_dim": rng.choice((8, 20))}
    return raw | {"encoder_hid_dim": rng.choice((6, 9)), "in_channels": rng.choice((4, 9))}


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
    "ControlNetModel": draw_controlnet,
    "T2IAdapter": draw_t2i_adapter,
    "UNet2DModel": draw_unet_plain,
    "AutoencoderTiny": draw_tiny_vae,
    "VQModel": draw_vq,
    "AutoencoderKLTemporalDecoder": draw_temporal_vae,
    "Lumina2Transformer2DModel": draw_lumina2,
    "ZImageTransformer2DModel": draw_z_image,
    "HunyuanVideoTransformer3DModel": draw_hunyuan_video,
    "HunyuanDiT2DModel": draw_hunyuan_dit,
    "CogView4Transformer2DModel": draw_cogview4,
    "ChromaTransformer2DModel": draw_chroma,
    "HiDreamImageTransformer2DModel": draw_hidream,
    "MochiTransformer3DModel": draw_mochi,
    "AllegroTransformer3DModel": draw_allegro,
    "CosmosTransformer3DModel": draw_cosmos,
    "AutoencoderKLQwenImage": draw_qwen_image_vae,
    "AutoencoderKLWan": draw_wan_vae,
    "UNetSpatioTemporalConditionModel": draw_unet_video,
    "FluxControlNetModel": draw_flux_controlnet,
    "SD3ControlNetModel": draw_sd3_controlnet,
    "QwenImageControlNetModel": draw_qwen_image_controlnet,
    "StableCascadeUNet": draw_stable_cascade,
    "PaellaVQModel": draw_paella_vq,
    "AutoencoderDC": draw_deep_vae,
    "AutoencoderKLCogVideoX": draw_cogvideox_vae,
    "AutoencoderKLHunyuanVideo": draw_hunyuan_video_vae,
    "AutoencoderKLMochi": draw_mochi_vae,
    "AutoencoderKLLTXVideo": draw_ltx_vae,
    "MotionAdapter": draw_motion_adapter,
    "UNetMotionModel": draw_unet_motion,
    "Kandinsky3UNet": draw_kandinsky3,
}
