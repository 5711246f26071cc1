"""RecurrentGemma: Griffin's gated linear recurrence, with local attention in every third layer.

Source: arXiv 2402.19427 (Griffin), 2404.07839 (RecurrentGemma); names as in transformers 5.23.0,
models/recurrent_gemma/modeling_recurrent_gemma.py. The MLP is half as wide as the config says.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, default_head_dim, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, settable, size, switch, variant
from weighbridge.core.parts import attend, depthwise, embedding, gated_mlp, linear, part, rms_norm, stack
from weighbridge.core.tree import Node, Part, State, Tensor


def recurrence(c: Config) -> Part:
    """Describe a recurrent block: two branches, one through a convolution and the gated recurrence."""
    H, W, A = c.hidden, c.recurrent, c.heads
    block = W // A
    unit = part(
        "rg_lru",
        Tensor("recurrent_param", (W,), "gain"),
        Tensor("input_gate_weight", (A, block, block), "weight"),
        Tensor("input_gate_bias", (A, block), "bias"),
        Tensor("recurrent_gate_weight", (A, block, block), "weight"),
        Tensor("recurrent_gate_bias", (A, block), "bias"),
        State("recurrent_states", W, "float32"),
        kind="recurrence",
    )
    inputs = (linear("linear_y", H, W), linear("linear_x", H, W), linear("linear_out", W, H))
    kept = State("conv1d_state", W * (c.kernel - 1))
    return part("temporal_block", *inputs, depthwise("conv_1d", W, c.kernel, filled=False), unit, kept, kind="recurrence")


def local_attention(c: Config) -> Part:
    """Describe attention to a window of tokens; its output always has a bias."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        "temporal_block",
        linear("q_proj", H, A * D, bias=c.qkv_bias),
        linear("k_proj", H, K * D, bias=c.qkv_bias),
        linear("v_proj", H, K * D, bias=c.qkv_bias),
        linear("o_proj", A * D, H),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.window),
        kind="self_attention",
    )


def griffin(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mixer = local_attention(c) if kind == "attention" else recurrence(c)
        norms = (rms_norm("temporal_pre_norm", H), rms_norm("channel_pre_norm", H))
        return (norms[0], mixer, norms[1], gated_mlp("mlp_block", H, c.mlp // 2, bias=True))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("final_norm", H))


def _kinds(c: Config) -> list[str]:
    return ["recurrent" if kind == "recurrent" else "attention" for kind in (list(c.pattern) * 100)[: c.layers]]


TABLE = variant(
    tuple(field for field in FIELDS if field.word != "window"),
    size("recurrent", "lru_width", lambda c: c.hidden, "W", "width of the recurrence"),
    size("window", "attention_window_size", 2048, "S", "attention window", "sliding_window"),
    size("kernel", "conv1d_width", 4, "Z", "kernel size of the convolution"),
    Field("pattern", "block_types", lambda c: ["recurrent", "recurrent", "attention"], "sequence"),
    constant("kinds", _kinds),
    vocab=256000,
    hidden=2560,
    mlp=7680,
    layers=26,
    heads=10,
    tied=True,
    qkv_bias=switch("qkv_bias", "attention_bias", False),
    head_dim=settable("head_dim", "head_dim", default_head_dim, "D", "head dimension"),
)

FAMILIES = {
    "recurrent_gemma": Family(
        "recurrent_gemma",
        TABLE,
        with_heads("RecurrentGemma", griffin, "lm"),
        "RecurrentGemmaModel",
        IGNORED_KEYS | {"logits_soft_cap", "w_init_variance_scale", "final_w_init_variance_scale", "rms_norm_eps", "_block_types"},
    ),
}
