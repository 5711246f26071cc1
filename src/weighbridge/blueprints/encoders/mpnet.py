"""MPNet: masked and permuted pre-training, with a relative position bias that all layers share (Song et al., 2020).

Source: arXiv 2004.09297; class and tensor names as in transformers 5.23.0, models/mpnet/modeling_mpnet.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, feed_forward, pooler
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.modules.bert_family import ROBERTA_HEADS, bert_fields, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.tree import Part

FIELDS = (
    *bert_fields(vocab=30527, types=None),
    size("buckets", "relative_attention_num_buckets", 32, "B", "relative position buckets"),
    POOLED,
)


def mpnet(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder."""
    H = c.hidden
    heads = part(
        "attn",
        linear("q", H, H),
        linear("k", H, H),
        linear("v", H, H),
        linear("o", H, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="attention",
    )
    attention = part("attention", heads, layer_norm("LayerNorm", H), kind="self_attention")
    layer = part("layer", attention, *feed_forward(c), kind="layer", repeat=c.layers)
    encoder = encoder_stack(layer, embedding("relative_attention_bias", c.buckets, c.heads))
    return (bert_embeddings(c, typed=False), encoder, *((pooler(c),) if pooled else ()))


HEADS = {name: head for name, head in ROBERTA_HEADS.items() if name != "ForCausalLM"}

FAMILIES = {"mpnet": Family("mpnet", FIELDS, with_heads("MPNet", "mpnet", mpnet, HEADS), "MPNetModel")}
