"""BioGPT and XGLM: pre-norm decoders built like OPT (2021 and 2022).

Source: arXiv 2210.10341, 2112.10668; class and tensor names as in transformers 5.23.0, models/biogpt/modeling_biogpt.py and
models/xglm/modeling_xglm.py. XGLM's positions are sinusoids, computed and not stored.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    D_MODEL,
    FFN_DIM,
    HEADS,
    HIDDEN,
    LABELS,
    LAYERS,
    MLP,
    NUM_LAYERS,
    POSITIONS,
    TIED,
    VOCAB,
    Config,
    constant,
    derived,
    size,
    switch,
)
from weighbridge.core.parts import embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part

BIOGPT = (
    VOCAB.with_default(42384),
    POSITIONS.with_default(1024),
    HIDDEN.with_default(1024),
    MLP.with_default(4096),
    LAYERS.with_default(24),
    HEADS.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    LABELS,
    TIED,
)
XGLM = (
    VOCAB.with_default(256008),
    D_MODEL.with_default(1024),
    FFN_DIM.with_default(4096),
    NUM_LAYERS.with_default(24),
    size("heads", "attention_heads", 16, "A", "attention heads", "num_attention_heads"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "d_model", "attention_heads"),
    TIED,
    switch("cross", "add_cross_attention", False),
    constant("head_bias", False),
)


def layers(c: Config, *crossed: Node) -> Part:
    """Describe the layers: attention and two linear layers, each after a norm."""
    H = c.hidden
    return part(
        "layers",
        attention(c, "self_attn"),
        *crossed,
        layer_norm("self_attn_layer_norm", H),
        linear("fc1", H, c.mlp),
        linear("fc2", c.mlp, H),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.layers,
    )


def attention(c: Config, name: str, *, keys: str | None = None) -> Part:
    """Describe attention over the tokens themselves, or over an encoder's states."""
    return replace(fairseq_attention(name, c.hidden, c.heads, c.head_dim, keys=keys, causal=keys is None), requires=keys)


def biogpt(c: Config) -> tuple[Node, ...]:
    """Describe BioGPT: learned positions, two rows more than the config says."""
    tables = (embedding("embed_tokens", c.vocab, c.hidden), embedding("embed_positions", c.positions + 2, c.hidden))
    return (*tables, layers(c), layer_norm("layer_norm", c.hidden))


def xglm(c: Config) -> tuple[Node, ...]:
    """Describe XGLM, which may attend to an encoder."""
    crossed = (attention(c, "encoder_attn", keys="encoder"), layer_norm("encoder_attn_layer_norm", c.hidden)) if c.cross else ()
    return (embedding("embed_tokens", c.vocab, c.hidden), layers(c, *crossed), layer_norm("layer_norm", c.hidden))


def with_head(c: Config, head: Part) -> Part:
    """Put a head on BioGPT."""
    return part("", part("biogpt", *biogpt(c), kind="backbone"), head, kind="model")


def causal_lm(c: Config) -> Part:
    """Describe BioGptForCausalLM, whose head is called ``output_projection``."""
    tied = "biogpt.embed_tokens.weight" if c.tied else None
    return with_head(c, linear("output_projection", c.hidden, c.vocab, bias=False, tied_to=tied))


CLASSES = {
    "BioGptModel": lambda c: part("", *biogpt(c), kind="model"),
    "BioGptForCausalLM": causal_lm,
    "BioGptForSequenceClassification": lambda c: with_head(c, linear("score", c.hidden, c.labels, bias=False)),
    "BioGptForTokenClassification": lambda c: with_head(c, linear("classifier", c.hidden, c.labels)),
}
MORE_IGNORED_KEYS = IGNORED_KEYS | {"activation_function", "init_std", "scale_embedding"}
FAMILIES = {
    "biogpt": Family("biogpt", BIOGPT, CLASSES, "BioGptModel", MORE_IGNORED_KEYS),
    "xglm": Family("xglm", XGLM, with_heads("XGLM", xglm, "lm"), "XGLMModel", MORE_IGNORED_KEYS),
}
