"""ALBERT: one layer whose parameters all layers share, and factorized embeddings (Lan et al., 2019).

Source: arXiv 1909.11942; class and tensor names as in transformers 5.23.0, models/albert/modeling_albert.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, HeadSpec, bert_fields, vocabulary_projection, with_heads
from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import EMBEDDING_SIZE, Config, size
from weighbridge.core.parts import attend, layer_norm, linear, part
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *uneven_heads(bert_fields(vocab=30000, hidden=4096, mlp=16384, heads=64)),
    EMBEDDING_SIZE.with_default(128),
    size("groups", "num_hidden_groups", 1, "G", "groups of layers that share their weights"),
    size("inner", "inner_group_num", 1, "N", "layers in a group"),
    POOLED,
)
IGNORED_KEYS = frozenset(
    {"classifier_dropout_prob", "down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks", "layers_to_keep"}
)


def albert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: each group of layers is stored once; together they run once for every layer."""
    E, H = c.embedding, c.hidden
    heads = H if c.heads_divide else c.heads * c.head_dim
    attention = part(
        "attention",
        linear("query", H, heads),
        linear("key", H, heads),
        linear("value", H, heads),
        linear("dense", H, H),
        layer_norm("LayerNorm", H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = part(
        "albert_layers",
        layer_norm("full_layer_layer_norm", H),
        attention,
        linear("ffn", H, c.mlp),
        linear("ffn_output", c.mlp, H),
        kind="layer",
        repeat=c.inner,
    )
    group = part("albert_layer_groups", layer, kind="group", repeat=c.groups, executions=c.layers)
    encoder = part("encoder", linear("embedding_hidden_mapping_in", E, H), group, kind="encoder")
    return (bert_embeddings(c, E), encoder, *((linear("pooler", H, H, stream="one"),) if pooled else ()))


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head, back down to the narrow embeddings."""
    E = c.embedding
    decoder = vocabulary_projection(c, "decoder", E, words=words, bias="predictions.bias" if c.tied else None)
    inner = (Tensor("bias", (c.vocab,), "bias"), layer_norm("LayerNorm", E), linear("dense", c.hidden, E), decoder)
    return (part("predictions", *inner, kind="lm_head"),)


def pre_training(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head and sentence-order prediction, which has as many outputs as there are labels."""
    return (*masked_lm(c, words), part("sop_classifier", linear("classifier", c.hidden, c.labels, stream="one"), kind="head"))


HEADS = {"ForPreTraining": HeadSpec(pre_training, True), "ForMaskedLM": HeadSpec(masked_lm), **BERT_TASKS}

FAMILIES = {"albert": Family("albert", FIELDS, with_heads("Albert", "albert", albert, HEADS), "AlbertModel", ignored_keys=IGNORED_KEYS)}
