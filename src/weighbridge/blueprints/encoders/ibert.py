"""I-BERT: integer-only RoBERTa, with its quantization scales as buffers (Kim et al., 2021).

Source: arXiv 2101.01321; names as in transformers 5.23.0, models/ibert/modeling_ibert.py and quant_modules.py. The rounded weights,
the scales and the ranges of what flows are buffers.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.modules.bert_family import ROBERTA_HEADS, bert_fields, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core.parts import attend, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor


def quantized_linear(name: str, inputs: Size, outputs: Size) -> Part:
    """Describe a linear map with its rounded weight, a scale for each output, and its rounded bias."""
    whole = linear(name, inputs, outputs)
    kept = (
        Tensor("weight_integer", (outputs, inputs), "buffer"),
        Tensor("fc_scaling_factor", (outputs,), "buffer"),
        Tensor("bias_integer", (outputs,), "buffer"),
    )
    return replace(whole, children=(*whole.children, *kept))


def table(name: str, rows: Size, width: Size) -> Part:
    """Describe a table with its rounded copy."""
    kept = Tensor("weight_scaling_factor", (1,), "buffer"), Tensor("weight_integer", (rows, width), "buffer")
    return part(name, Tensor("weight", (rows, width), "embedding"), *kept, kind="embedding")


def ranges(*names: str) -> tuple[Part, ...]:
    """Describe what is kept of the range of a vector that flows: its ends, and its scale."""
    kept = tuple(Tensor(name, (1,), "buffer") for name in ("x_min", "x_max", "act_scaling_factor"))
    return tuple(part(name, *kept, kind="quantizer") for name in names)


def norm(c: Config) -> Part:
    """Describe a norm in whole numbers."""
    whole = layer_norm("LayerNorm", c.hidden)
    return replace(whole, children=(*whole.children, Tensor("shift", (1,), "buffer"), *ranges("activation")))


def output(c: Config, inputs: Size, kind: str) -> Part:
    """Describe what closes a block."""
    inside = (quantized_linear("dense", inputs, c.hidden), *ranges("ln_input_act"), norm(c), *ranges("output_activation"))
    return part("output", *inside, kind=kind)


def layer(c: Config) -> Part:
    """Describe a layer: BERT's, and the ranges between its steps."""
    H = c.hidden
    own = part(
        "self",
        *(quantized_linear(name, H, H) for name in ("query", "key", "value")),
        *ranges("query_activation", "key_activation", "value_activation", "output_activation"),
        part("softmax", *ranges("act"), kind="quantizer"),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    return part(
        "layer",
        part("attention", own, output(c, H, "attention"), kind="self_attention"),
        part("intermediate", quantized_linear("dense", H, c.mlp), *ranges("output_activation"), kind="feed_forward"),
        output(c, c.mlp, "feed_forward"),
        *ranges("pre_intermediate_act", "pre_output_act"),
        kind="layer",
        repeat=c.layers,
    )


def ibert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe I-BERT."""
    embeddings = part(
        "embeddings",
        table("word_embeddings", c.vocab, c.hidden),
        table("token_type_embeddings", c.types, c.hidden),
        table("position_embeddings", c.positions, c.hidden),
        *ranges("embeddings_act1", "embeddings_act2"),
        norm(c),
        *ranges("output_activation"),
        kind="embeddings",
    )
    return (embeddings, encoder_stack(layer(c)), *((pooler(c),) if pooled else ()))


HEADS = {name: head for name, head in ROBERTA_HEADS.items() if name != "ForCausalLM"}
FAMILIES = {
    "ibert": Family(
        "ibert",
        (*bert_fields(), POOLED),
        with_heads("IBert", "ibert", ibert, HEADS),
        "IBertModel",
        frozenset(("quant_mode", "force_dequant")),
    )
}
