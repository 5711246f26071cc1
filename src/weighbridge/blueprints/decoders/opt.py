"""OPT: "OPT: Open Pre-trained Transformer Language Models" (Zhang et al., 2022).

Source: arXiv 2205.01068; class and tensor names as in transformers 5.23.0, models/opt/modeling_opt.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    FFN_DIM,
    HEADS,
    HIDDEN,
    LABELS,
    LAYERS,
    POSITIONS,
    TIED,
    VOCAB,
    Config,
    constant,
    derived,
    size,
    switch,
)
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

FIELDS = (
    VOCAB.with_default(50272),
    POSITIONS.with_default(2048),
    HIDDEN.with_default(768),
    FFN_DIM.with_default(3072),
    LAYERS.with_default(12),
    HEADS.with_default(12),
    size("embedded", "word_embed_proj_dim", lambda c: c.hidden, "E", "width of the embeddings"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    LABELS,
    TIED,
    switch("biased", "enable_bias", True),
    switch("affine", "layer_norm_elementwise_affine", True),
    switch("norm_first", "do_layer_norm_before", True),
    switch("norm_removed", "_remove_final_layer_norm", False),
    constant("projected", lambda c: c.embedded != c.hidden),
)


def opt(c: Config) -> Part:
    """Describe the decoder: learned positions (two rows more than the config says), a norm before or after each half."""
    H = c.hidden
    layer = part(
        "layers",
        part(
            "self_attn",
            *(linear(name, H, H, bias=c.biased) for name in ("k_proj", "v_proj", "q_proj", "out_proj")),
            attend(causal=True, heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        *norm(c, "self_attn_layer_norm"),
        linear("fc1", H, c.mlp, bias=c.biased),
        linear("fc2", c.mlp, H, bias=c.biased),
        *norm(c, "final_layer_norm"),
        kind="layer",
        repeat=c.layers,
    )
    projections = (linear("project_out", H, c.embedded, bias=False), linear("project_in", c.embedded, H, bias=False))
    return part(
        "decoder",
        embedding("embed_tokens", c.vocab, c.embedded),
        embedding("embed_positions", c.positions + 2, H),
        *(projections if c.projected else ()),
        *(norm(c, "final_layer_norm") if c.norm_first and not c.norm_removed else ()),
        layer,
        kind="decoder",
    )


def norm(c: Config, name: str) -> tuple[Part, ...]:
    """Describe a norm, which may have no parameters."""
    return (layer_norm(name, c.hidden),) if c.affine else ()


def with_head(c: Config, head: Part) -> Part:
    """Put a head on the decoder."""
    return part("", part("model", opt(c), kind="backbone"), head, kind="model")


def causal_lm(c: Config) -> Part:
    """Describe OPTForCausalLM."""
    tied = "model.decoder.embed_tokens.weight" if c.tied else None
    return with_head(c, linear("lm_head", c.embedded, c.vocab, bias=False, tied_to=tied))


CLASSES = {
    "OPTModel": lambda c: part("", opt(c), kind="model"),
    "OPTDecoder": lambda c: part("", replace(opt(c), name=""), kind="model"),
    "OPTForCausalLM": causal_lm,
    "OPTForSequenceClassification": lambda c: with_head(c, linear("score", c.embedded, c.labels, bias=False)),
    "OPTForQuestionAnswering": lambda c: with_head(c, linear("qa_outputs", c.embedded, 2)),
}

MORE_IGNORED_KEYS = IGNORED_KEYS | {"activation_function", "init_std"}
FAMILIES = {"opt": Family("opt", FIELDS, CLASSES, "OPTModel", MORE_IGNORED_KEYS)}
