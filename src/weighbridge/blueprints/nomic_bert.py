"""BERT with rotary positions, for long embeddings: Nomic Embed (Nussbaum et al., 2024) and Jina Embeddings v3.

Source: arXiv 2402.01613, 2409.10173; class and tensor names as in transformers 5.23.0,
models/nomic_bert/modeling_nomic_bert.py and models/jina_embeddings_v3/modeling_jina_embeddings_v3.py.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.config import Sizes, size, switch
from weighbridge.encoders import BERT_TASKS, POOLED, ROBERTA_HEADS, Worn, bert_fields, dressed, pooler, vocabulary
from weighbridge.parts import attend, embedding, layer_norm, linear
from weighbridge.sizes import exact
from weighbridge.tree import Part, Tensor

NEUTRAL = frozenset({"max_position_embeddings"})


def body(c: Sizes, mlp: Part, *, bias: bool, pooled: bool, words: str | None) -> tuple[Part, ...]:
    """Describe embeddings, pooler and layers, in the order of names."""
    H, wide = c.hidden, c.heads * c.head_dim
    embeddings = Part("embeddings", (
        embedding("word_embeddings", c.vocab, H, tied_to=words),
        embedding("token_type_embeddings", c.types, H),
        layer_norm("LayerNorm", H),
    ), "embeddings")  # fmt: skip
    attention = Part("self_attn", (
        linear("q_proj", H, wide, bias=bias),
        linear("k_proj", H, wide, bias=bias),
        linear("v_proj", H, wide, bias=bias),
        linear("o_proj", wide, H, bias=bias),
        attend(heads=c.heads, head_dim=c.head_dim),
    ), "self_attention")  # fmt: skip
    children = (layer_norm("post_attention_layernorm", H), mlp, attention, layer_norm("post_mlp_layernorm", H))
    return (embeddings, *((pooler(c),) if pooled else ()), Part("layers", children, "layer", repeat=c.layers))


def nomic_bert(c: Sizes, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe Nomic's encoder: gated feed-forward, no biases."""
    H, I = c.hidden, c.mlp
    gated = (linear("gate_proj", H, I, bias=False), linear("up_proj", H, I, bias=False), linear("down_proj", I, H, bias=False))
    return body(c, Part("mlp", gated, "feed_forward"), bias=False, pooled=pooled, words=words)


def jina_embeddings(c: Sizes, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe Jina's encoder, XLM-R with rotary positions."""
    plain = (linear("fc1", c.hidden, c.mlp), linear("fc2", c.mlp, c.hidden))
    return body(c, Part("mlp", plain, "feed_forward"), bias=True, pooled=pooled, words=words)


def masked_lm(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head."""
    H = c.hidden
    transform = Part("transform", (linear("dense", H, H), layer_norm("layer_norm", H)), "transform")
    decoder = vocabulary(c, "decoder", H, words=words, bias="cls.predictions.bias" if c.tied else None)
    return (Part("cls", (Part("predictions", (Tensor("bias", (c.vocab,), "bias"), transform, decoder), "lm_head"),), "head"),)


HEADS = {"ForMaskedLM": Worn(masked_lm), **{name: BERT_TASKS[name] for name in ("ForSequenceClassification", "ForTokenClassification")}}
JINA_HEADS = {name: head for name, head in ROBERTA_HEADS.items() if name not in ("ForCausalLM", "ForMultipleChoice")}
NOMIC = tuple(field for field in bert_fields(vocab=30528) if field.word not in ("positions", "head_dim"))
JINA = tuple(field for field in bert_fields(vocab=250002, types=1, hidden=1024, mlp=4096, layers=24, heads=16) if field.word != "positions")

FAMILIES = {
    "nomic_bert": Family(
        "nomic_bert",
        (
            *NOMIC,
            size("head_dim", "head_dim", lambda c: exact(c.hidden, c.heads), "D", "width of a head"),
            switch("pooled", "add_pooling_layer", False, silent=True),
        ),
        dressed("NomicBert", "nomic_bert", nomic_bert, HEADS),
        "NomicBertModel",
        neutral=NEUTRAL,
    ),
    "jina_embeddings_v3": Family(
        "jina_embeddings_v3",
        (*JINA, POOLED),
        dressed("JinaEmbeddingsV3", "roberta", jina_embeddings, JINA_HEADS, first=True),
        "JinaEmbeddingsV3Model",
        neutral=NEUTRAL,
    ),
}
