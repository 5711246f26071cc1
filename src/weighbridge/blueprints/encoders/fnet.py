"""FNet: BERT with Fourier transforms, which have no parameters, instead of attention (Lee-Thorp et al., 2021).

Source: arXiv 2105.03824; class and tensor names as in transformers 5.23.0, models/fnet/modeling_fnet.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, feed_forward, pooler
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.modules.bert_family import BERT_HEADS, HeadSpec, bert_fields, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.tree import Part


def refuse_matrix_transform(value: object) -> bool:
    """Refuse transforms by matrices, which are buffers and products only where SciPy is installed."""
    if value:
        hint = "what it holds then depends on whether SciPy is installed; set it to false"
        raise ConfigError("transforms by matrices are not described", key="use_tpu_fourier_optimizations", value=value, hint=hint)
    return True


FIELDS = (
    *(field for field in bert_fields(vocab=32000, types=4) if field.word not in ("heads", "head_dim")),
    choice("fast", "use_tpu_fourier_optimizations", False, read=refuse_matrix_transform),
    POOLED,
)


def fnet(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; every class but one built without keeps the pooler."""
    embeddings = bert_embeddings(c)
    embeddings = replace(embeddings, children=(*embeddings.children, linear("projection", c.hidden, c.hidden)))
    fourier = part("fourier", part("output", layer_norm("LayerNorm", c.hidden), kind="fourier"), kind="fourier")
    layer = part("layer", fourier, *feed_forward(c), kind="layer", repeat=c.layers)
    return (embeddings, encoder_stack(layer), *((pooler(c),) if pooled else ()))


HEADS = {name: HeadSpec(worn.head, True) for name, worn in BERT_HEADS.items() if name != "ForCausalLM"}

FAMILIES = {
    "fnet": Family("fnet", FIELDS, with_heads("FNet", "fnet", fnet, HEADS), "FNetModel", ignored_keys=frozenset({"tpu_short_seq_length"}))
}
