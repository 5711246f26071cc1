"""RoCBert: BERT with pronunciation and shape embeddings of Chinese characters (Su et al., 2022).

Source: ACL 2022, "RoCBert"; class and tensor names as in transformers 5.23.0, models/roc_bert/modeling_roc_bert.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.encoders.bert import layer as bert_layer
from weighbridge.blueprints.modules.bert_family import BERT_HEADS, HeadSpec, bert_fields, bert_lm, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config, derived, size, switch
from weighbridge.core.parts import embedding, linear, part
from weighbridge.core.tree import Part

FIELDS = (
    *bert_fields(),
    size("sounds", "pronunciation_vocab_size", 910, "V_son", "pronunciations"),
    size("sound", "pronunciation_embed_dim", 768, "E_son", "embedding size of pronunciations"),
    size("glyphs", "shape_vocab_size", 24858, "V_gly", "shapes of characters"),
    size("glyph", "shape_embed_dim", 512, "E_gly", "embedding size of shapes"),
    switch("heard", "enable_pronunciation", True),
    switch("drawn", "enable_shape", True),
    switch("joined", "concat_input", True),
    derived("width", lambda c: c.hidden + (c.sound if c.heard else 0) + (c.glyph if c.drawn else 0), "hidden_size"),
    *DECODER,
    POOLED,
)


def roc_bert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; sounds and shapes have their tables even where they are switched off."""
    first, *others, norm = bert_embeddings(c).children
    senses = (embedding("pronunciation_embed", c.sounds, c.sound), embedding("shape_embed", c.glyphs, c.glyph))
    mapped = (linear("map_inputs_layer", c.width, c.hidden),) if c.joined else ()
    embeddings = part("embeddings", first, *senses, *others, *mapped, norm, kind="embeddings")
    return (embeddings, encoder_stack(bert_layer(c)), *((pooler(c),) if pooled else ()))


HEADS = {name: head for name, head in BERT_HEADS.items() if name != "ForNextSentencePrediction"} | {
    "ForPreTraining": HeadSpec(bert_lm, True)
}

FAMILIES = {"roc_bert": Family("roc_bert", FIELDS, with_heads("RoCBert", "roc_bert", roc_bert, HEADS), "RoCBertModel")}
