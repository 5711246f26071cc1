"""EXAONE 3 and 3.5: "EXAONE 3.5: Series of Large Language Models for Real-world Use Cases" (LG AI Research, 2024); its code stands beside its files on the Hub.

Source: arXiv 2408.03541, 2412.04862; modeling_exaone.py of LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct. Held to published totals, not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, NO_BIAS
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, variant
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm
from weighbridge.core.tree import Node, Part


def exaone(c: Config) -> tuple[Node, ...]:
    """Describe Llama under the names of GPT-2, with the gate as ``c_fc_0``."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    layer = part(
        "h",
        rms_norm("ln_1", H),
        part(
            "attn",
            part(
                "attention",
                linear("k_proj", H, K * D, bias=False),
                linear("v_proj", H, K * D, bias=False),
                linear("q_proj", H, A * D, bias=False),
                linear("out_proj", A * D, H, bias=False),
                attend(causal=True, heads=A, kv_heads=K, head_dim=D),
                kind="self_attention",
            ),
        ),
        rms_norm("ln_2", H),
        part(
            "mlp",
            linear("c_fc_0", H, c.mlp, bias=False),
            linear("c_fc_1", H, c.mlp, bias=False),
            linear("c_proj", c.mlp, H, bias=False),
            kind="feed_forward",
        ),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("wte", c.vocab, H), layer, rms_norm("ln_f", H))


def with_head(c: Config, head: Part) -> Part:
    """Put a head on the body."""
    return part("", part("transformer", *exaone(c), kind="backbone"), head, kind="model")


def causal_lm(c: Config) -> Part:
    """Describe ExaoneForCausalLM."""
    return with_head(c, linear("lm_head", c.hidden, c.vocab, bias=False, tied_to="transformer.wte.weight" if c.tied else None))


EXAONE = variant(
    FIELDS,
    *NO_BIAS,
    vocab=102400,
    hidden=2048,
    layers=size("layers", "num_layers", 32, "L", "layers", "num_hidden_layers"),
    mlp=size("mlp", "intermediate_size", lambda c: 4 * c.hidden, "I", "intermediate size"),
    head_dim=HEAD_DIM,
    tied=True,
)
CLASSES = {
    "ExaoneModel": lambda c: part("", *exaone(c), kind="model"),
    "ExaoneForCausalLM": causal_lm,
    "ExaoneForSequenceClassification": lambda c: with_head(c, linear("score", c.hidden, c.labels, bias=False)),
}
MORE_IGNORED_KEYS = IGNORED_KEYS | {"activation_function", "embed_dropout", "head_dim", "layer_norm_epsilon"}
FAMILIES = {"exaone": Family("exaone", EXAONE, CLASSES, "ExaoneModel", MORE_IGNORED_KEYS)}
