"""Llama-like models of 2023 and 2024 with code on the Hub: InternLM, MiniCPM, Orion, XVERSE, Baichuan.

Source: modeling_internlm.py of internlm/internlm-7b, modeling_minicpm.py of openbmb/MiniCPM-2B-sft-bf16, modeling_orion.py of
OrionStarAI/Orion-14B-Base, modeling_baichuan.py of baichuan-inc/Baichuan2-7B-Base, modeling_xverse.py of xverse/XVERSE-7B. Held to published totals, not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, NO_BIAS, NO_MLP_BIAS, attention, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, derived, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, embedding, gated_mlp, layer_norm, linear, part, rms_norm
from weighbridge.core.tree import Node


def orion(c: Config) -> tuple[Node, ...]:
    """Describe Orion: Llama with layer norms."""
    layer = part(
        "layers",
        attention(c),
        gated_mlp("mlp", c.hidden, c.mlp),
        layer_norm("input_layernorm", c.hidden),
        layer_norm("post_attention_layernorm", c.hidden),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, c.hidden), layer, layer_norm("norm", c.hidden))


def baichuan(c: Config) -> tuple[Node, ...]:
    """Describe Baichuan: Llama with one layer for queries, keys and values."""
    H = c.hidden
    layer = part(
        "layers",
        part(
            "self_attn",
            linear("W_pack", H, 3 * H, bias=False),
            linear("o_proj", H, H, bias=False),
            attend(causal=True, heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        gated_mlp("mlp", H, c.mlp),
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


def _refuse_experts(experts: object) -> object:
    """Refuse MiniCPM-MoE, which shares its model type with the dense models."""
    if experts:
        raise ConfigError("MiniCPM with experts is not described", key="num_experts", value=experts)
    return experts


INTERNLM = variant(
    LLAMA,
    NO_MLP_BIAS,
    vocab=103168,
    head_dim=HEAD_DIM,
    kv_heads=derived("kv_heads", lambda c: c.heads, "num_attention_heads"),
    qkv_bias=switch("qkv_bias", "bias", True),
    out_bias=switch("out_bias", "bias", True),
)
MINICPM = variant(LLAMA, Field("moe", "num_experts", 0, "choice", read=_refuse_experts), NO_MLP_BIAS, tied=True, head_dim=HEAD_DIM)
XVERSE = variant(
    LLAMA,
    *NO_BIAS,
    vocab=100278,
    hidden=5120,
    mlp=13824,
    layers=40,
    heads=40,
    head_dim=HEAD_DIM,
    kv_heads=derived("kv_heads", lambda c: c.heads, "num_attention_heads"),
)
ORION = variant(FIELDS, NO_MLP_BIAS, vocab=84608, mlp=15360, hidden=5120, layers=40, heads=40, head_dim=HEAD_DIM)
BAICHUAN = variant(
    tuple(field for field in FIELDS if field.word not in ("kv_heads", "qkv_bias", "out_bias", "mlp_bias")), vocab=64000, head_dim=HEAD_DIM
)

MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """dim_model_base gptq_model_max_length model_max_length rotary scale_depth scale_emb z_loss_weight alibi_mask
    interleaved_sliding_window""".split()
)
FAMILIES = {
    "internlm": Family("internlm", INTERNLM, with_heads("InternLM", llama, "lm sequence"), "InternLMModel", MORE_IGNORED_KEYS),
    "minicpm": Family("minicpm", MINICPM, with_heads("MiniCPM", llama, "lm sequence"), "MiniCPMModel", MORE_IGNORED_KEYS),
    "xverse": Family("xverse", XVERSE, with_heads("Xverse", llama, "lm"), "XverseModel", MORE_IGNORED_KEYS | {"max_tokenizer_truncation"}),
    "orion": Family("orion", ORION, with_heads("Orion", orion, "lm sequence"), "OrionModel", MORE_IGNORED_KEYS),
    "baichuan": Family(
        "baichuan",
        BAICHUAN,
        with_heads("Baichuan", baichuan, "lm") | {"BaiChuanForCausalLM": with_heads("Baichuan", baichuan, "lm")["BaichuanForCausalLM"]},
        "BaichuanModel",
        MORE_IGNORED_KEYS,
    ),
}
