"""Spark X2.5 (iFLYTEK, 2026): layers with a window and without one, and a gate for each head; its code stands beside its files.

Source: modeling_spark2_5.py of XHToken/Spark-X2.5-4B. Held tensor by tensor to the class of mlx-lm 0.32.2, models/spark2_5, which builds no other activation
than GELU and no attention without gates.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.sliding_window import all_but_every, window
from weighbridge.blueprints.modules.words import one_of, read_true
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, variant
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, part, rms_norm
from weighbridge.core.tree import Node, Part


def spark(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers that are all alike in their tensors, and a last norm."""
    H = c.hidden
    norms = rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
    layer = part("layers", attention(c), gated_mlp("mlp", H, c.mlp, bias=c.mlp_bias), *norms, kind="layer", repeat=c.layers)
    return (embedding("embedding", c.vocab, H), layer, rms_norm("norm", H))


def attention(c: Config) -> Part:
    """Describe attention whose queries, keys and values are one map, and whose heads are each weighed by a gate."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        "self_attn",
        linear("q_k_v_proj", H, (A + 2 * K) * D, bias=c.qkv_bias),
        linear("g_proj", H, A, bias=c.qkv_bias),
        linear("out_proj", A * D, H, bias=c.out_bias),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.window, windowed=c.windowed),
        kind="self_attention",
    )


SPARK = (
    *variant(FIELDS, vocab=131072, hidden=2560, layers=36, heads=16, kv_heads=4, head_dim=256, tied=True, window=window(default=None)),
    choice("act", "hidden_act", "gelu", read=one_of("hidden_act", "gelu"), report_default=False),
    choice("gate", "gate_attn_act_mode", "sigmoid", read=one_of("gate_attn_act_mode", "sigmoid"), report_default=False),
    read_true("headwise_attn_output_gate"),
)
SPARK = tuple(all_but_every(4) if field.word == "windowed" else field for field in SPARK)
FAMILIES = {
    "spark2_5": Family(
        "spark2_5", SPARK, with_heads("Spark2_5", spark, "lm", table="embedding"), "Spark2_5ForCausalLM", IGNORED_KEYS - {"sliding_window"}
    )
}
