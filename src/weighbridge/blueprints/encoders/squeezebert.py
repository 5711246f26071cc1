"""SqueezeBERT: BERT with grouped convolutions of kernel 1 instead of linear layers (Iandola et al., 2020).

Source: arXiv 2006.11316; class and tensor names as in transformers 5.23.0, models/squeezebert/modeling_squeezebert.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, HeadSpec, bert_fields, bert_lm, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size
from weighbridge.core.parts import attend, layer_norm, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

GROUPS = (("q", 4), ("k", 4), ("v", 4), ("post_attention", 1), ("intermediate", 4), ("output", 4))
FIELDS = (
    *bert_fields(),
    size("embedding", "embedding_size", 768, "E", "embedding size, which is the hidden size"),
    *(size(f"{name}_groups", f"{name}_groups", default, f"G_{name[0]}", f"groups ({name})") for name, default in GROUPS),
    POOLED,
)


def grouped_conv1d(name: str, inputs: Size, outputs: Size, groups: Size) -> Part:
    """Describe a convolution of width one in groups."""
    return part(name, Tensor("weight", (outputs, exact(inputs, groups), 1)), Tensor("bias", (outputs,), "bias"), kind="convolution")


def squeezebert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; every class keeps the pooler."""
    H = c.hidden
    layer = part(
        "layers",
        part(
            "attention",
            grouped_conv1d("query", H, H, c.q_groups),
            grouped_conv1d("key", H, H, c.k_groups),
            grouped_conv1d("value", H, H, c.v_groups),
            attend(heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        part("post_attention", grouped_conv1d("conv1d", H, H, c.post_attention_groups), layer_norm("layernorm", H), kind="attention"),
        part("intermediate", grouped_conv1d("conv1d", H, c.mlp, c.intermediate_groups), kind="feed_forward"),
        part("output", grouped_conv1d("conv1d", c.mlp, H, c.output_groups), layer_norm("layernorm", H), kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )
    return (bert_embeddings(c, c.embedding), part("encoder", layer, kind="encoder"), pooler(c))


HEADS = {"ForMaskedLM": HeadSpec(bert_lm), **BERT_TASKS}

FAMILIES = {"squeezebert": Family("squeezebert", FIELDS, with_heads("SqueezeBert", "transformer", squeezebert, HEADS), "SqueezeBertModel")}
