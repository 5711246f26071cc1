"""X-MOD: RoBERTa with a language adapter in every layer (Pfeiffer et al., 2022).

Source: arXiv 2205.06266; class and tensor names as in transformers 5.23.0, models/xmod/modeling_xmod.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, attention, output_block
from weighbridge.blueprints.encoders.roberta import roberta
from weighbridge.blueprints.modules.bert_family import ROBERTA_HEADS, bert_fields, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config, sequence, size, switch
from weighbridge.core.parts import layer_norm, linear, part
from weighbridge.core.tree import Part

FIELDS = (
    *bert_fields(),
    size("reduction", "adapter_reduction_factor", 2, "R", "reduction factor of an adapter"),
    sequence("languages", "languages", ["en_XX"]),
    switch("adapter_norm", "adapter_layer_norm", False),
    switch("pre_norm", "pre_norm", False),
    *DECODER,
    POOLED,
)
IGNORED_KEYS = frozenset({"adapter_reuse_layer_norm", "default_language", "ln_before_adapter"})


def xmod(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: RoBERTa's, where a token goes through one adapter, that of its language."""
    H, narrow = c.hidden, c.hidden // c.reduction
    languages = tuple(
        part(str(name), linear("dense1", H, narrow), linear("dense2", narrow, H), kind="adapter") for name in dict.fromkeys(c.languages)
    )
    adapters = part("adapter_modules", *languages, kind="adapters", experts=len(languages), active=1)
    norm = (layer_norm("adapter_layer_norm", H),) if c.adapter_norm else ()
    layer = part(
        "layer",
        attention(c),
        *((attention(c, "crossattention", keys="encoder"),) if c.crossed else ()),
        part("intermediate", linear("dense", H, c.mlp), kind="feed_forward"),
        output_block(c.mlp, H, *norm, adapters, kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )
    last = (layer_norm("LayerNorm", H),) if c.pre_norm else ()
    embeddings, _, *rest = roberta(c, pooled=pooled)
    return (embeddings, encoder_stack(layer, *last), *rest)


FAMILIES = {"xmod": Family("xmod", FIELDS, with_heads("Xmod", "roberta", xmod, ROBERTA_HEADS), "XmodModel", ignored_keys=IGNORED_KEYS)}
