"""Small random configs of models that see or hear, for ``truth/mlx_models.py``; ``mlx_text_draws.py`` has those of language models."""

from __future__ import annotations

import random
from typing import Any


def heads(rng: random.Random, width: int = 8) -> dict[str, Any]:
    """Draw heads, grouped or not."""
    groups = rng.choice((1, 2))
    many = groups * rng.randint(1, 3)
    return {"hidden_size": many * width, "num_attention_heads": many, "num_key_value_heads": many // groups}


def draw_phi3small(rng: random.Random) -> dict[str, Any]:
    """Draw a small Phi-3-small."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "ff_intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    return raw | {"dense_attention_every_n_layers": 2, "gegelu_limit": 20.0, "layer_norm_epsilon": 1e-5}


def draw_hunyuan(rng: random.Random) -> dict[str, Any]:
    """Draw a small Hunyuan-Large, tied, as MLX always has it."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 5), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    raw |= {
        "num_experts": rng.choice((1, 3, 4)),
        "moe_topk": 1,
        "num_shared_expert": rng.randint(1, 2),
        "use_mixed_mlp_moe": rng.random() < 0.7,
    }
    raw |= {"use_qk_norm": rng.random() < 0.5, "use_cla": rng.random() < 0.7, "cla_share_factor": rng.randint(1, 3), "rms_norm_eps": 1e-5}
    raw |= {"attention_bias": rng.random() < 0.4, "moe_intermediate_size": rng.choice((None, 7)), "rope_theta": 1e4}
    return raw | {"tie_word_embeddings": True, "rope_scaling": {"type": "dynamic", "factor": 1.0, "alpha": 10.0}}


def draw_internvl_chat(rng: random.Random) -> dict[str, Any]:
    """Draw a small InternVL before Qwen2 or Qwen3, the language models that MLX has for it."""
    kind = rng.choice(("qwen2", "qwen3"))
    text = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    text |= {"model_type": kind, "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "head_dim": 8, "attention_bias": kind == "qwen2"}
    many = rng.randint(1, 3)
    vision = {"model_type": "intern_vit_6b", "hidden_size": 8 * many, "num_attention_heads": many, "num_hidden_layers": rng.randint(1, 3)}
    vision |= {"intermediate_size": rng.randint(5, 40), "image_size": 28, "patch_size": 7, "qkv_bias": rng.random() < 0.5}
    vision |= {"norm_type": rng.choice(("layer_norm", "rms_norm")), "qk_normalization": rng.random() < 0.5}
    return {"llm_config": text, "vision_config": vision, "downsample_ratio": 0.5}


def draw_kimi_vl(rng: random.Random) -> dict[str, Any]:
    """Draw a small Kimi-VL; MLX has its table of positions square."""
    many = rng.randint(1, 3)
    vision = {"model_type": "moonvit", "hidden_size": 8 * many, "num_attention_heads": many, "num_hidden_layers": rng.randint(1, 3)}
    vision |= {"intermediate_size": rng.randint(5, 40), "patch_size": 7, "init_pos_emb_height": 5, "init_pos_emb_width": 5}
    vision |= {"merge_kernel_size": [2, 2]}
    text = {
        "model_type": "deepseek_v3",
        "hidden_size": 24,
        "num_attention_heads": rng.randint(1, 3),
        "num_hidden_layers": rng.randint(1, 4),
    }
    text |= {
        "intermediate_size": rng.randint(5, 40),
        "moe_intermediate_size": 6,
        "vocab_size": 90,
        "n_routed_experts": 4,
        "n_shared_experts": 2,
    }
    text |= {"num_experts_per_tok": 2, "kv_lora_rank": 5, "q_lora_rank": rng.choice((None, 7)), "qk_rope_head_dim": 4, "v_head_dim": 6}
    text |= {"qk_nope_head_dim": 4, "first_k_dense_replace": rng.randint(0, 2), "num_key_value_heads": 1, "n_group": 1, "topk_group": 1}
    return {"text_config": text, "vision_config": vision}


def draw_molmo(rng: random.Random) -> dict[str, Any]:
    """Draw a small Molmo; its tower is the same in all."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": 2 * rng.randint(5, 20), "vocab_size": 90}
    return raw | {"embedding_size": rng.choice((90, 96)), "qkv_bias": True}


def draw_deepseek_vl_v2(rng: random.Random) -> dict[str, Any]:
    """Draw a small DeepSeek-VL2."""
    text = draw_kimi_vl(rng)["text_config"] | {"model_type": "deepseek_v2", "topk_method": rng.choice(("greedy", "noaux_tc"))}
    text |= {
        "num_key_value_heads": text["num_attention_heads"],
        "hidden_size": 8 * text["num_attention_heads"],
        "use_mla": rng.random() < 0.5,
    }
    if not text["use_mla"]:
        text |= {"kv_lora_rank": None, "q_lora_rank": None, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0}
    many = rng.randint(1, 3)
    vision = {"model_type": "vision", "width": 8 * many, "num_attention_heads": many, "layers": rng.randint(1, 3), "patch_size": 7}
    vision |= {"image_size": 28, "mlp_ratio": rng.choice((2, 3.7362))}
    kind = rng.choice(("downsample_mlp_gelu", "mlp_gelu", "linear"))
    joint = {"projector_type": kind, "input_dim": vision["width"], "n_embed": text["hidden_size"], "depth": rng.randint(2, 4)}
    joint |= {"mlp_ratio": rng.randint(1, 2), "downsample_ratio": rng.randint(1, 3), "token_pooling": rng.random() < 0.3}
    return {"language_config": text, "vision_config": vision, "projector_config": joint}


def draw_bailing(rng: random.Random) -> dict[str, Any]:
    """Draw a small Ling; MLX gives experts biases too, where the code has one behind attention alone."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 4), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    raw |= {"num_experts": 4, "num_shared_experts": rng.randint(1, 2), "num_experts_per_tok": 2, "moe_intermediate_size": rng.randint(3, 9)}
    raw |= {"first_k_dense_replace": rng.randint(0, 2), "use_qkv_bias": rng.random() < 0.5, "use_qk_norm": rng.random() < 0.5}
    raw |= {"max_position_embeddings": 64, "norm_topk_prob": True, "rms_norm_eps": 1e-6, "rope_theta": 1e4}
    return raw | {"tie_word_embeddings": rng.random() < 0.3}


def draw_llada2(rng: random.Random) -> dict[str, Any]:
    """Draw a small LLaDA 2, which is Ling's layers with a corrected router."""
    return draw_bailing(rng) | {"use_bias": rng.random() < 0.5, "rope_theta": 1e4}


def draw_moondream(rng: random.Random) -> dict[str, Any]:
    """Draw a small Moondream 2; MLX has no maps between places and words."""
    many, inner = rng.randint(1, 3), rng.randint(5, 40)
    groups = rng.choice((1, 2))
    text = {"dim": 8 * many * groups, "n_heads": many * groups, "n_kv_heads": many, "n_layers": rng.randint(1, 3), "vocab_size": 90}
    width = 8 * rng.randint(1, 3)
    vision = {"enc_dim": width, "enc_n_heads": width // 8, "enc_patch_size": 7, "enc_n_layers": rng.randint(1, 3), "crop_size": 28}
    vision |= {"enc_ff_dim": rng.randint(5, 40), "proj_out_dim": text["dim"], "proj_inner_dim": rng.randint(5, 40)}
    return {"config": {"text": text | {"ff_dim": inner}, "vision": vision, "region": {"dim": text["dim"]}}}


def draw_dots_ocr(rng: random.Random) -> dict[str, Any]:
    """Draw a small dots.ocr."""
    text = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    many = rng.randint(1, 3)
    vision = {"embed_dim": 8 * many, "num_attention_heads": many, "hidden_size": text["hidden_size"], "patch_size": 7}
    vision |= {"intermediate_size": rng.randint(5, 40), "num_hidden_layers": rng.randint(1, 3), "use_bias": rng.random() < 0.5}
    vision |= {"post_norm": rng.random() < 0.5, "spatial_merge_size": rng.randint(1, 3)}
    return text | {"rms_norm_eps": 1e-6, "attention_bias": True, "tie_word_embeddings": False, "vision_config": vision}


def draw_multi_modality(rng: random.Random) -> dict[str, Any]:
    """Draw DeepSeek-VL with a small language model; its towers have one size each."""
    text = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    large = {"model_name": "siglip_large_patch16_384", "image_size": 384, "select_layer": -1, "output_dim": 1024}
    tower, kind, params = "CLIPVisionTower", "mlp_gelu", large
    if rng.random() < 0.5:
        tall = {"model_name": "sam_b_downsample", "image_size": 1024, "output_dim": 1024, "select_layer": -1}
        tower, kind, params = "HybridVisionTower", "low_high_hybrid_split_mlp_gelu", {"high_res_cfg": tall, "low_res_cfg": large}
    joint = {"projector_type": kind, "depth": rng.randint(1, 3), "input_dim": 1024, "n_embed": text["hidden_size"]}
    return {
        "vision_config": {"cls": tower, "model_type": "vision", "params": params},
        "aligner_config": {"cls": "MlpProjector", "model_type": "aligner", "params": joint},
        "language_config": text | {"model_type": "llama", "rms_norm_eps": 1e-6},
    }


def draw_deepseek_ocr(rng: random.Random) -> dict[str, Any]:
    """Draw DeepSeek-OCR with a small language model; its towers have one size each."""
    text = heads(rng) | {"num_hidden_layers": rng.randint(1, 4), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    text |= {"moe_intermediate_size": 6, "n_routed_experts": 4, "n_shared_experts": rng.randint(1, 2), "num_experts_per_tok": 2}
    text |= {"first_k_dense_replace": rng.randint(0, 2), "topk_method": "greedy", "use_mla": False, "kv_lora_rank": None}
    text |= {
        "q_lora_rank": None,
        "qk_nope_head_dim": 0,
        "qk_rope_head_dim": 0,
        "v_head_dim": 0,
        "num_key_value_heads": text["num_attention_heads"],
    }
    joint = {"projector_type": "linear", "input_dim": rng.choice((896, 2048)), "n_embed": text["hidden_size"]}
    return text | {"language_config": text, "projector_config": joint, "vision_config": {"model_type": "vision"}}


def draw_minicpmo(rng: random.Random) -> dict[str, Any]:
    """Draw a small MiniCPM-o 4.5; its resampler has heads of 128."""
    groups = rng.choice((1, 2))
    text: dict[str, Any] = {
        "hidden_size": 128 * rng.randint(1, 2),
        "num_attention_heads": 2 * groups,
        "num_key_value_heads": 2,
        "head_dim": 8,
    }
    text |= {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "vocab_size": 90, "rope_theta": 1e4}
    text |= {"rms_norm_eps": 1e-6, "max_position_embeddings": 64, "tie_word_embeddings": False, "attention_bias": False}
    many = rng.randint(1, 3)
    vision = {"hidden_size": 8 * many, "num_attention_heads": many, "num_hidden_layers": rng.randint(1, 3), "patch_size": 7}
    vision |= {"intermediate_size": rng.randint(5, 40), "image_size": 28}
    audio = {"d_model": 16, "encoder_layers": rng.randint(1, 3), "encoder_attention_heads": 2, "encoder_ffn_dim": 4 * rng.randint(2, 9)}
    audio |= {"num_mel_bins": rng.choice((80, 12)), "max_source_positions": rng.randint(5, 20)}
    kind = rng.choice(("mlp", "default", "minicpm"))
    tts: dict[str, Any] = {
        "llm_dim": text["hidden_size"],
        "hidden_size": 16,
        "num_attention_heads": 2,
        "num_key_value_heads": rng.choice((1, 2)),
    }
    tts |= {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "num_audio_tokens": 12, "num_text_tokens": 30}
    tts |= {"num_vq": rng.randint(1, 3), "projector_type": kind, "backbone_vocab_size": 20, "llm_intermediate_size": rng.randint(3, 9)}
    raw = text | {"version": "4.5", "query_num": rng.randint(1, 9), "drop_vision_last_layer": False, "vision_config": vision}
    return raw | {"audio_config": audio, "tts_config": tts, "init_audio": rng.random() < 0.8, "init_tts": rng.random() < 0.8}


def draw_moondream3(rng: random.Random) -> dict[str, Any]:
    """Draw a small Moondream 3; MLX has no maps between places and words."""
    inside = draw_moondream(rng)["config"]
    moe = {"num_experts": 4, "start_layer": rng.randint(0, 2), "experts_per_token": 2, "expert_inner_dim": rng.randint(3, 9)}
    return {"config": inside | {"text": inside["text"] | {"moe": moe}}}
