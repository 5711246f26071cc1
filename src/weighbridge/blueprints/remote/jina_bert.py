"""Jina Embeddings v2 (Günther et al., 2023): BERT with a gated MLP, and with ALiBi in the place of learned positions.

Source: arXiv 2310.19923; names and keys as in modeling_bert.py of jinaai/jina-bert-implementation and, where queries and keys are normalized,
of jinaai/jina-bert-v2-qk-post-norm. Held to the published totals 137,368,320 and 32,690,688, not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, masked_lm_head, output_block, pooler, self_attention
from weighbridge.blueprints.modules.bert_family import bert_fields
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, layer_norm, linear, part
from weighbridge.core.tree import Part

CODE = "jinaai/jina-bert-v2-qk-post-norm"
"""Where the code stands that normalizes queries and keys, and what each half of a layer outputs."""


def jina_bert(c: Config, *, pooled: bool) -> tuple[Part, ...]:
    """Describe embeddings without positions, layers, and the pooler."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        embedding("word_embeddings", c.vocab, H),
        embedding("token_type_embeddings", c.types, H),
        layer_norm("LayerNorm", H),
        kind="embeddings",
    )
    norms = (layer_norm("layer_norm_q", H), layer_norm("layer_norm_k", H)) if c.normed else ()
    attention = part("attention", self_attention(c, *norms), output_block(H, H), kind="self_attention")
    after = (layer_norm("layer_norm_1", H), layer_norm("layer_norm_2", H)) if c.normed else ()
    layer = part("layer", attention, feed_forward(c), *after, kind="layer", repeat=c.layers)
    return (embeddings, part("encoder", layer, kind="encoder"), *((pooler(c),) if pooled else ()))


def feed_forward(c: Config) -> Part:
    """Describe the MLP: gate and what it opens come from one matrix without a bias."""
    H, I = c.hidden, c.mlp
    names = ("up_gated_layer", "down_layer") if c.normed else ("gated_layers", "wo")
    after = () if c.normed else (layer_norm("layernorm", H),)
    return part("mlp", linear(names[0], H, 2 * I, bias=False), linear(names[1], I, H), *after, kind="feed_forward")


def masked_lm(c: Config) -> Part:
    """Describe JinaBertForMaskedLM."""
    head = part("cls", masked_lm_head(c), kind="head")
    return part("", part("bert", *jina_bert(c, pooled=False), kind="backbone"), head, kind="model")


def _refuse_others(c: Config) -> bool:
    """Refuse an MLP without a gate, and learned positions: no published model has them."""
    for key, value, known in (("feed_forward_type", c.gate, ("geglu", "reglu")), ("position_embedding_type", c.places, ("alibi",))):
        if value not in known:
            raise ConfigError(Text("{value!r} is not described, only {known!r}", value=value, known=known[0]), key=key, value=value)
    return True


def _is_normed(c: Config) -> bool:
    """Tell whether queries and keys are normalized: only the place of the code says so."""
    return isinstance(c.code, dict) and any(CODE in str(place) for place in c.code.values())


FIELDS = (
    *(field for field in bert_fields(vocab=30528) if field.word != "positions"),
    POOLED,
    Field("gate", "feed_forward_type", "geglu", "choice", report_default=False),
    Field("places", "position_embedding_type", "alibi", "choice", report_default=False),
    Field("code", "auto_map", None, "choice", report_default=False),
    constant("normed", _is_normed),
    constant("usual", _refuse_others),
)
IGNORED_KEYS = frozenset("max_position_embeddings emb_pooler attn_implementation model_max_length num_loras".split())
CLASSES = {
    "JinaBertModel": lambda c: part("", *jina_bert(c, pooled=c.pooled), kind="model"),
    "JinaBertForMaskedLM": masked_lm,
}
FAMILIES = {"jina_bert": Family("jina_bert", FIELDS, CLASSES, "JinaBertModel", IGNORED_KEYS)}
