"""InternLM2: "InternLM2 Technical Report" (Cai et al., 2024); its code stands beside its files on the Hub.

Source: arXiv 2403.17297; modeling_internlm2.py of internlm/internlm2-7b. Held to published totals, not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, NO_MLP_BIAS
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, switch, variant
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm
from weighbridge.core.tree import Node, Part


def internlm2(c: Config) -> tuple[Node, ...]:
    """Describe Llama with one layer for queries, keys and values, under the names of Meta's own release."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    layer = part(
        "layers",
        part(
            "attention",
            linear("wqkv", H, (A + 2 * K) * D, bias=c.qkv_bias),
            linear("wo", A * D, H, bias=c.out_bias),
            attend(causal=True, heads=A, kv_heads=K, head_dim=D),
            kind="self_attention",
        ),
        part(
            "feed_forward",
            linear("w1", H, c.mlp, bias=False),
            linear("w3", H, c.mlp, bias=False),
            linear("w2", c.mlp, H, bias=False),
            kind="feed_forward",
        ),
        rms_norm("attention_norm", H),
        rms_norm("ffn_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("tok_embeddings", c.vocab, H), layer, rms_norm("norm", H))


def with_head(c: Config, head: Part) -> Part:
    """Put a head on the body."""
    return part("", part("model", *internlm2(c), kind="backbone"), head, kind="model")


def causal_lm(c: Config) -> Part:
    """Describe InternLM2ForCausalLM, whose head is called ``output``."""
    tied = "model.tok_embeddings.weight" if c.tied else None
    return with_head(c, linear("output", c.hidden, c.vocab, bias=False, tied_to=tied))


INTERNLM2 = variant(
    FIELDS,
    NO_MLP_BIAS,
    vocab=103168,
    head_dim=HEAD_DIM,
    qkv_bias=switch("qkv_bias", "bias", True),
    out_bias=switch("out_bias", "bias", True),
)
CLASSES = {
    "InternLM2Model": lambda c: part("", *internlm2(c), kind="model"),
    "InternLM2ForCausalLM": causal_lm,
    "InternLM2ForSequenceClassification": lambda c: with_head(c, linear("score", c.hidden, c.labels, bias=False)),
}
FAMILIES = {"internlm2": Family("internlm2", INTERNLM2, CLASSES, "InternLM2Model", IGNORED_KEYS)}
