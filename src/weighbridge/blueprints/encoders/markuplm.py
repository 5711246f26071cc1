"""MarkupLM: BERT with XPath embeddings of HTML elements (Li et al., 2021).

Source: arXiv 2110.08518; class and tensor names as in transformers 5.23.0, models/markuplm/modeling_markuplm.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, attention, feed_forward, pooler
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, bert_fields, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size
from weighbridge.core.parts import embedding, layer_norm, linear, part, replace
from weighbridge.core.tree import Part

FIELDS = (
    *bert_fields(),
    size("depth", "max_depth", 50, "D", "depth of a path"),
    size("tags", "max_xpath_tag_unit_embeddings", 256, "G", "tags"),
    size("subscripts", "max_xpath_subs_unit_embeddings", 1024, "U", "subscripts"),
    size("unit", "xpath_unit_hidden_size", 32, "E", "size of a step of a path"),
    POOLED,
)
IGNORED_KEYS = frozenset({"subs_pad_id", "tag_pad_id"})


def markuplm(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: BERT's, with paths added to the embeddings."""
    H, path = c.hidden, c.unit * c.depth
    paths = part(
        "xpath_embeddings",
        # It stands there and is never used.
        replace(linear("xpath_unitseq2_embeddings", path, H), requires="never"),
        linear("xpath_unitseq2_inner", path, 4 * H),
        linear("inner2emb", 4 * H, H),
        embedding("xpath_tag_sub_embeddings", c.tags, c.unit, repeat=c.depth),
        embedding("xpath_subs_sub_embeddings", c.subscripts, c.unit, repeat=c.depth),
        kind="embeddings",
    )
    embeddings = part(
        "embeddings",
        embedding("word_embeddings", c.vocab, H),
        embedding("position_embeddings", c.positions, H),
        paths,
        embedding("token_type_embeddings", c.types, H),
        layer_norm("LayerNorm", H),
        kind="embeddings",
    )
    layer = part("layer", attention(c), *feed_forward(c), kind="layer", repeat=c.layers)
    return (embeddings, encoder_stack(layer), *((pooler(c),) if pooled else ()))


HEADS = {name: worn for name, worn in BERT_TASKS.items() if name != "ForMultipleChoice"}

FAMILIES = {
    "markuplm": Family("markuplm", FIELDS, with_heads("MarkupLM", "markuplm", markuplm, HEADS), "MarkupLMModel", ignored_keys=IGNORED_KEYS)
}
