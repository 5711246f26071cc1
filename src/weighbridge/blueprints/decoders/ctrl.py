"""CTRL (2019): a Transformer decoder conditioned on a control code, its first token.

Source: arXiv 1909.05858; class and tensor names as in transformers 5.23.0, models/ctrl/modeling_ctrl.py. Its positions are sinusoids, computed and not
stored.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, N_EMBD, N_HEAD, N_LAYER, TIED, VOCAB, Config, derived, size
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part


def ctrl(c: Config) -> tuple[Node, ...]:
    """Describe words, layers with a norm before each half, and a last norm."""
    H = c.hidden
    layer = part(
        "h",
        part(
            "multi_head_attention",
            linear("Wq", H, H),
            linear("Wk", H, H),
            linear("Wv", H, H),
            linear("dense", H, H),
            attend(causal=True, heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        part("ffn", linear("0", H, c.mlp), linear("2", c.mlp, H), kind="feed_forward"),
        layer_norm("layernorm1", H),
        layer_norm("layernorm2", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("w", c.vocab, H), layer, layer_norm("layernorm", H))


def causal_lm(c: Config) -> Part:
    """Describe CTRLLMHeadModel, whose head has a bias."""
    head = linear("lm_head", c.hidden, c.vocab, tied_to="transformer.w.weight" if c.tied else None)
    return part("", part("transformer", *ctrl(c), kind="backbone"), head, kind="model")


def sequence(c: Config) -> Part:
    """Describe CTRLForSequenceClassification."""
    return part("", part("transformer", *ctrl(c), kind="backbone"), linear("classifier", c.hidden, c.labels, bias=False), kind="model")


FIELDS = (
    VOCAB.with_default(246534),
    N_EMBD.with_default(1280),
    size("mlp", "dff", 8192, "I", "intermediate size"),
    N_LAYER.with_default(48),
    N_HEAD.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "n_embd", "n_head"),
    LABELS,
    TIED,
)
CLASSES = {"CTRLModel": lambda c: part("", *ctrl(c), kind="model"), "CTRLLMHeadModel": causal_lm, "CTRLForSequenceClassification": sequence}
MORE_IGNORED_KEYS = frozenset(
    """attn_pdrop from_tf max_position_embeddings n_ctx n_positions summary_activation summary_first_dropout summary_proj_to_labels
    summary_type summary_use_proj""".split()
)
FAMILIES = {"ctrl": Family("ctrl", uneven_heads(FIELDS), CLASSES, "CTRLModel", MORE_IGNORED_KEYS)}
