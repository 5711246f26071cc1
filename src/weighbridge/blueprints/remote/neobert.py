"""NeoBERT (2025): a BERT of rotary positions, gated MLPs and norms in front; its code stands beside its files.

Source: arXiv 2502.19587; model.py of chandar-lab/NeoBERT. Held to the total of the published file (245,136,954), not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.words import one_of, read_none, read_true
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LABELS, LAYERS, VOCAB, Config, choice, derived, size
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part


def neobert(c: Config) -> tuple[Node, ...]:
    """Describe the words' table, layers, and a last norm."""
    H = c.hidden
    layer = part(
        "transformer_encoder",
        linear("qkv", H, 3 * H, bias=False),
        linear("wo", H, H, bias=False),
        attend(heads=c.heads, head_dim=exact(H, c.heads)),
        part("ffn", linear("w12", H, 2 * c.mlp, bias=False), linear("w3", c.mlp, H, bias=False), kind="feed_forward"),
        rms_norm("attention_norm", H),
        rms_norm("ffn_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("encoder", c.vocab, H), layer, rms_norm("layer_norm", H))


def under_model(c: Config, *heads: Part) -> Part:
    """Describe the encoder with a head."""
    return part("", part("model", *neobert(c), kind="backbone"), *heads, kind="model")


def _inner(c: Config) -> Size:
    """Return the width of a gated MLP: two thirds of the stated one, rounded up to eight."""
    width: Size = (2 * c.stated // 3 + 7) // 8 * 8
    return width


FIELDS = (
    VOCAB.with_default(30522),
    HIDDEN.with_default(768),
    LAYERS.with_default(28),
    HEADS.with_default(12),
    size("stated", "intermediate_size", 3072, "J", "width of an MLP without a gate"),
    derived("mlp", _inner, "intermediate_size"),
    LABELS,
    choice("act", "hidden_act", "swiglu", read=one_of("hidden_act", "swiglu", "SwiGLU"), report_default=False),
    *(read_true(key) for key in ("rope", "rms_norm")),
    read_none("ngpt"),
)
CLASSES = {
    "NeoBERT": lambda c: part("", *neobert(c), kind="model"),
    "NeoBERTLMHead": lambda c: under_model(c, linear("decoder", c.hidden, c.vocab)),
    "NeoBERTForSequenceClassification": lambda c: under_model(
        c, linear("dense", c.hidden, c.hidden, stream="one"), linear("classifier", c.hidden, c.labels, stream="one")
    ),
}
KEYS = frozenset(
    "embedding_init_range decoder_init_range norm_eps max_length classifier_init_range trust_remote_code kwargs tie_word_embeddings".split()
)
FAMILIES = {"neobert": Family("neobert", FIELDS, CLASSES, "NeoBERTLMHead", KEYS)}
