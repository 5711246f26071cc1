"""RoBERTa: BERT without next-sentence prediction (Liu et al., 2019), and models with the same structure.

Source: arXiv 1907.11692; XLM-R 1911.02116; CamemBERT 1911.03894; data2vec 2202.03555; class and tensor
names as in transformers 5.23.0, models/roberta/modeling_roberta.py and its siblings. Positions start
after the padding index, which is why published configs say 514 for 512.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.encoders.bert import layer as bert_layer
from weighbridge.blueprints.modules.bert_family import ROBERTA_HEADS, bert_fields, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config
from weighbridge.core.parts import embedding, layer_norm, part
from weighbridge.core.tree import Part, Tensor


def roberta_embeddings(c: Config, *counters: Tensor, words: str | None = None) -> Part:
    """Describe the tables, the positions after the norm in the order of names; *counters* are saved beside them by some."""
    H = c.hidden
    return part(
        "embeddings",
        *counters,
        embedding("word_embeddings", c.vocab, H, tied_to=words),
        embedding("token_type_embeddings", c.types, H),
        layer_norm("LayerNorm", H),
        embedding("position_embeddings", c.positions, H),
        kind="embeddings",
    )


def roberta(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: BERT's, behind tables in RoBERTa's order."""
    return (roberta_embeddings(c, words=words), encoder_stack(bert_layer(c)), *((pooler(c),) if pooled else ()))


def family_of(model_type: str, name: str, backbone: str, *, vocab: int = 30522, first: bool = False) -> Family:
    """Return RoBERTa under another name; *first* if its heads are built before the backbone."""
    fields = (*bert_fields(vocab=vocab), *DECODER, POOLED)
    return Family(model_type, fields, with_heads(name, backbone, roberta, ROBERTA_HEADS, first=first), f"{name}Model")


FAMILIES = {
    "roberta": family_of("roberta", "Roberta", "roberta", vocab=50265),
    "xlm-roberta": family_of("xlm-roberta", "XLMRoberta", "roberta", first=True),
    "camembert": family_of("camembert", "Camembert", "roberta", first=True),
    "data2vec-text": family_of("data2vec-text", "Data2VecText", "data2vec_text"),
}
