"""Qwen, the first (2023): "Qwen Technical Report" (Bai et al.); its code stands beside its files on the Hub.

Source: arXiv 2309.16609; modeling_qwen.py of Qwen/Qwen-7B. Held to published totals, not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LABELS, LAYERS, TIED, VOCAB, Config, constant, size, switch
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node

FIELDS = (
    VOCAB.with_default(151936),
    HIDDEN.with_default(4096),
    size("mlp", "intermediate_size", 22016, "I", "width of the gate and up projections together"),
    LAYERS.with_default(32),
    HEADS.with_default(32),
    size("head_dim", "kv_channels", 128, "D", "head dimension"),
    LABELS,
    TIED.with_default(False),
    switch("unbiased", "no_bias", True),
    constant("head_bias", False),
)


def qwen(c: Config) -> tuple[Node, ...]:
    """Describe GPT-2's outline with Llama's parts; only queries, keys and values have biases."""
    H, width, half, biased = c.hidden, c.heads * c.head_dim, exact(c.mlp, 2), not c.unbiased
    layer = part(
        "h",
        rms_norm("ln_1", H),
        part(
            "attn",
            linear("c_attn", H, 3 * width),
            linear("c_proj", H, width, bias=biased),
            attend(causal=True, heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        rms_norm("ln_2", H),
        part(
            "mlp",
            linear("w1", H, half, bias=biased),
            linear("w2", H, half, bias=biased),
            linear("c_proj", half, H, bias=biased),
            kind="feed_forward",
        ),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("wte", c.vocab, H), layer, rms_norm("ln_f", H))


MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """attn_dropout_prob bf16 emb_dropout_prob fp16 fp32 onnx_safe scale_attn_weights seq_length softmax_in_fp32 use_cache_kernel
    use_cache_quantization use_dynamic_ntk use_flash_attn use_logn_attn""".split()
)
CLASSES = with_heads("QWen", qwen, "lm", prefix="transformer", table="wte", lm="LMHeadModel")
FAMILIES = {"qwen": Family("qwen", FIELDS, CLASSES, "QWenModel", MORE_IGNORED_KEYS)}
