"""Pre-norm BERT and RoBERTa: RoBERTa-PreLayerNorm, XLM-R XL, Megatron-BERT.

Source: fairseq (arXiv 1904.01038) --encoder-normalize-before; XLM-R XL 2105.00572; Megatron-LM 1909.08053; class and
tensor names as in transformers 5.23.0, models/{roberta_prelayernorm,xlm_roberta_xl,megatron_bert}/modeling_*.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.encoders.roberta import roberta_embeddings
from weighbridge.blueprints.modules.bert_family import BERT_HEADS, ROBERTA_HEADS, bert_fields, encoder_stack, with_heads
from weighbridge.blueprints.modules.bert_family import norm_first_attentions as attentions
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config
from weighbridge.core.parts import embedding, layer_norm, linear, part, split_mlp
from weighbridge.core.tree import Part


def roberta_prelayernorm(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe RoBERTa-PreLayerNorm: each block begins with its norm, and one follows the last layer."""
    H = c.hidden
    layer = part(
        "layer",
        *attentions(c, after="LayerNorm"),
        part("intermediate", layer_norm("LayerNorm", H), linear("dense", H, c.mlp), kind="feed_forward"),
        part("output", linear("dense", c.mlp, H), kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )
    return (roberta_embeddings(c), encoder_stack(layer), layer_norm("LayerNorm", H), *((pooler(c),) if pooled else ()))


def xlm_roberta_xl(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe XLM-R XL and XXL: no norm over the embeddings, one after the last layer."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        embedding("word_embeddings", c.vocab, H),
        embedding("token_type_embeddings", c.types, H),
        embedding("position_embeddings", c.positions, H),
        kind="embeddings",
    )
    layer = part(
        "layer",
        *attentions(c, after="self_attn_layer_norm"),
        *split_mlp(H, c.mlp),
        layer_norm("LayerNorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embeddings, encoder_stack(layer, layer_norm("LayerNorm", H)), *((pooler(c),) if pooled else ()))


def megatron_bert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe Megatron-BERT: as above, with the norms in the order in which they work."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        embedding("word_embeddings", c.vocab, H),
        embedding("position_embeddings", c.positions, H),
        embedding("token_type_embeddings", c.types, H),
        kind="embeddings",
    )
    layer = part("layer", *attentions(c, before="ln"), layer_norm("ln", H), *split_mlp(H, c.mlp), kind="layer", repeat=c.layers)
    return (embeddings, encoder_stack(layer, layer_norm("ln", H)), *((pooler(c),) if pooled else ()))


FAMILIES = {
    "roberta-prelayernorm": Family(
        "roberta-prelayernorm",
        (*bert_fields(vocab=50265), *DECODER, POOLED),
        with_heads("RobertaPreLayerNorm", "roberta_prelayernorm", roberta_prelayernorm, ROBERTA_HEADS),
        "RobertaPreLayerNormModel",
    ),
    "xlm-roberta-xl": Family(
        "xlm-roberta-xl",
        (*bert_fields(vocab=250880, positions=514, types=1, hidden=2560, mlp=10240, layers=36, heads=32), *DECODER, POOLED),
        with_heads("XLMRobertaXL", "roberta", xlm_roberta_xl, ROBERTA_HEADS),
        "XLMRobertaXLModel",
    ),
    "megatron-bert": Family(
        "megatron-bert",
        (*bert_fields(vocab=29056, hidden=1024, mlp=4096, layers=24, heads=16), *DECODER, POOLED),
        with_heads("MegatronBert", "bert", megatron_bert, BERT_HEADS),
        "MegatronBertModel",
    ),
}
