"""Small random configs of language models whose code stands beside their files, for ``truth/mlx_models.py``."""

from __future__ import annotations

import random
from typing import Any

from truth.mlx_draws import heads


def draw_llama(rng: random.Random) -> dict[str, Any]:
    """Draw a small Llama, with biases or without."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    raw |= {"max_position_embeddings": 64, "rms_norm_eps": 1e-6, "rope_theta": 1e4, "head_dim": rng.choice((8, 6))}
    raw |= {"attention_bias": rng.random() < 0.4, "mlp_bias": rng.random() < 0.4}
    return raw | {"tie_word_embeddings": rng.random() < 0.4}


def draw_nanbeige(rng: random.Random) -> dict[str, Any]:
    """Draw a small Nanbeige, run through once or several times."""
    return draw_llama(rng) | {"num_loops": rng.randint(1, 3), "loop_loss_weights": rng.choice((None, [0.5, 0.5]))}


def draw_loop_coder(rng: random.Random) -> dict[str, Any]:
    """Draw a small LoopCoder, which is always run through twice."""
    return draw_llama(rng) | {"loop_num": 2, "loop_window_size": 64}


def draw_plamo(rng: random.Random) -> dict[str, Any]:
    """Draw a small PLaMo, whose key-value heads are each shared by as many heads at most."""
    many = rng.randint(1, 5)
    raw: dict[str, Any] = {"hidden_size": 8 * many, "num_attention_heads": many, "n_shared_head": rng.randint(1, 4), "vocab_size": 90}
    return raw | {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "rms_norm_eps": 1e-6}


def draw_plamo3(rng: random.Random) -> dict[str, Any]:
    """Draw a small PLaMo 3."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 5), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    raw |= {"head_dim": rng.choice((8, 6)), "sliding_window_pattern": rng.randint(1, 3), "window_size": 16}
    return raw | {"tie_word_embeddings": rng.random() < 0.5}


def draw_youtu(rng: random.Random) -> dict[str, Any]:
    """Draw a small Youtu-LLM, latent attention before a dense MLP."""
    raw: dict[str, Any] = {
        "hidden_size": 24,
        "num_attention_heads": rng.randint(1, 3),
        "num_hidden_layers": rng.randint(1, 3),
        "vocab_size": 90,
    }
    raw |= {"intermediate_size": rng.randint(5, 40), "kv_lora_rank": 5, "q_lora_rank": rng.choice((None, 7)), "qk_rope_head_dim": 4}
    raw |= {"qk_nope_head_dim": 4, "v_head_dim": 6, "attention_bias": rng.random() < 0.4, "mlp_bias": rng.random() < 0.4}
    return raw | {"num_key_value_heads": raw["num_attention_heads"], "tie_word_embeddings": rng.random() < 0.5}


def draw_klear(rng: random.Random) -> dict[str, Any]:
    """Draw a small Klear."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 5), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    raw |= {"num_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": rng.randint(1, 2), "moe_intermediate_size": rng.randint(3, 9)}
    raw |= {"decoder_sparse_step": rng.randint(1, 2), "mlp_only_layers": rng.choice(([], [0], [1, 3])), "norm_topk_prob": True}
    return raw | {"attention_bias": rng.random() < 0.4, "rms_norm_eps": 1e-6, "rope_theta": 1e4, "max_position_embeddings": 64}


def draw_baichuan_m1(rng: random.Random) -> dict[str, Any]:
    """Draw a small Baichuan-M1, some of whose layers have a window and heads of their own."""
    raw: dict[str, Any] = {
        "hidden_size": 48,
        "num_attention_heads": rng.choice((2, 4)),
        "num_key_value_heads": rng.choice((1, 2)),
        "vocab_size": 90,
    }
    raw |= {"num_hidden_layers": rng.randint(1, 5), "intermediate_size": rng.randint(5, 40), "conv_window": 2, "sliding_window": 16}
    raw |= {"sliding_window_layers": rng.choice(([], [0, 2], [1])), "num_swa_attention_heads": rng.choice((None, 6, 3))}
    raw |= {"num_swa_key_value_heads": rng.choice((None, 1, 3)), "rope_theta": 1e4, "rms_norm_eps": 1e-6}
    return raw | {"tie_word_embeddings": rng.random() < 0.3}


def draw_longcat_ngram(rng: random.Random) -> dict[str, Any]:
    """Draw a small LongCat-Flash-Lite."""
    splits, longest = rng.randint(1, 3), rng.randint(2, 4)
    raw: dict[str, Any] = {
        "hidden_size": 4 * splits * (longest - 1),
        "ffn_hidden_size": rng.randint(5, 40),
        "expert_ffn_hidden_size": rng.randint(3, 9),
    }
    raw |= {"moe_topk": 2, "n_routed_experts": 4, "zero_expert_num": rng.randint(0, 3), "num_layers": rng.randint(1, 3), "vocab_size": 30}
    raw |= {"num_attention_heads": rng.randint(1, 3), "kv_lora_rank": 5, "q_lora_rank": 7, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4}
    raw |= {"v_head_dim": 6, "routed_scaling_factor": 1.0, "rms_norm_eps": 1e-6, "rope_theta": 1e4, "max_position_embeddings": 64}
    raw |= {"mla_scale_q_lora": True, "mla_scale_kv_lora": True, "attention_bias": rng.random() < 0.4, "router_bias": rng.random() < 0.4}
    return raw | {"ngram_vocab_size_ratio": rng.randint(2, 9), "emb_neighbor_num": longest, "emb_split_num": splits}


def draw_k2_horizon(rng: random.Random) -> dict[str, Any]:
    """Draw a small K2-Horizon, one of the dense."""
    return {key: value for key, value in draw_llama(rng).items() if key != "mlp_bias"}


def draw_spark(rng: random.Random) -> dict[str, Any]:
    """Draw a small Spark X2.5, whose layers have a window or none."""
    raw = draw_llama(rng)
    kinds = [rng.choice(("sliding_attention", "full_attention")) for _ in range(raw["num_hidden_layers"])]
    turn = {"rope_theta": 1e4, "partial_rotary_factor": 1.0}
    raw |= {"sliding_window": 16, "rope_parameters": {"sliding_attention": turn, "full_attention": turn}}
    return raw | ({"layer_types": kinds} if rng.random() < 0.5 else {})
