"""The text decoders of Kosmos-2 and Kosmos-2.5: fairseq's decoder with norms inside attention and inside the MLP.

Source: arXiv 2306.14824, 2309.11419; class and tensor names as in transformers 5.23.0, models/kosmos2/modeling_kosmos2.py and
models/kosmos2_5/modeling_kosmos2_5.py. Their positions are sinusoids, computed and not stored.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import Body
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import FFN_DIM, TIED, VOCAB, Config, Field, constant, derived, size, switch
from weighbridge.core.parts import embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part


def kosmos(c: Config) -> tuple[Node, ...]:
    """Describe the words, the layers and a last norm; Kosmos-2.5 distinguishes text and image by a table of two segments."""
    H = c.hidden
    segments = (embedding("segment_emb", 2, H),) if c.segmented else ()
    crossed = (
        replace(fairseq_attention("encoder_attn", H, c.heads, c.head_dim, keys="encoder"), requires="encoder"),
        replace(layer_norm("encoder_attn_layer_norm", H), requires="encoder"),
    )
    layer = part(
        "layers",
        attention(c),
        layer_norm("self_attn_layer_norm", H),
        *(crossed if c.cross else ()),
        part("ffn", linear("fc1", H, c.mlp), linear("fc2", c.mlp, H), layer_norm("ffn_layernorm", c.mlp), kind="feed_forward"),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), *segments, layer, layer_norm("layer_norm", H))


def attention(c: Config) -> Part:
    """Describe attention with, in Kosmos-2, a norm before its last layer."""
    module = fairseq_attention("self_attn", c.hidden, c.heads, c.head_dim, causal=True)
    return module if c.segmented else replace(module, children=(*module.children, layer_norm("inner_attn_ln", c.hidden)))


def classes(name: str, body: Body) -> dict[str, Blueprint]:
    """Return the three classes of a text decoder: the body, the body by name, and with its head."""

    def causal(c: Config) -> Part:
        tied = "model.embed_tokens.weight" if c.tied else None
        return part(
            "", part("model", *body(c), kind="backbone"), linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=tied), kind="model"
        )

    return {
        f"{name}Transformer": lambda c: part("", *body(c), kind="model"),
        f"{name}Model": lambda c: part("", part("model", *body(c), kind="backbone"), kind="model"),
        f"{name}ForCausalLM": causal,
    }


def fields(vocab: int, hidden: int, mlp: int, heads: int, *more: Field) -> tuple[Field, ...]:
    """Return the fields of one of the two."""
    return (
        VOCAB.with_default(vocab),
        size("hidden", "embed_dim", hidden, "H", "hidden size", "hidden_size"),
        FFN_DIM.with_default(mlp),
        size("layers", "layers", 24, "L", "layers", "num_hidden_layers"),
        size("heads", "attention_heads", heads, "A", "attention heads", "num_attention_heads"),
        derived("head_dim", lambda c: exact(c.hidden, c.heads), "embed_dim", "attention_heads"),
        TIED,
        *more,
    )


KOSMOS2 = fields(65037, 2048, 8192, 32, switch("cross", "add_cross_attention", False), constant("segmented", False))
KOSMOS2_5 = fields(108481, 1536, 6144, 16, constant("cross", False), constant("segmented", True))
MORE_IGNORED_KEYS = frozenset({"activation_function", "init_std", "scale_embedding", "max_position_embeddings"})

FAMILIES = {
    "kosmos_2_text_model": Family("kosmos_2_text_model", KOSMOS2, classes("Kosmos2Text", kosmos), "Kosmos2TextModel", MORE_IGNORED_KEYS),
    "kosmos_2_5_text_model": Family(
        "kosmos_2_5_text_model",
        KOSMOS2_5,
        classes("Kosmos2_5Text", kosmos),
        "Kosmos2_5TextModel",
        MORE_IGNORED_KEYS | {"add_cross_attention"},
    ),
}
