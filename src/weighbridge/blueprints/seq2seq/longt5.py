"""LongT5: T5 with local or transient-global attention in the encoder.

Source: arXiv 2112.07916; names as in transformers 5.23.0, models/longt5/modeling_longt5.py.
"""

from __future__ import annotations

from weighbridge.blueprints.seq2seq.t5 import IGNORED_KEYS, T5, attention, classes
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, constant, size, variant
from weighbridge.core.length import length, sum_of
from weighbridge.core.parts import attend, embedding, matmul, replace, rms_norm
from weighbridge.core.tree import Part


def long_attention(c: Config, bias: bool) -> Part:
    """Describe LongT5's encoder attention: to three neighbouring blocks and, if transient-global, to a mean of each block of 16."""
    block = c.radius + 1
    blocks = (length("seq") + block - 1) // block
    if c.attention == "local":
        near = attend(heads=c.heads, head_dim=c.head_dim, queries=block, keys=3 * block, groups=blocks)
        module = attention(c, "LocalSelfAttention", bias=bias)
        return replace(module, children=(*module.children[:-1], near))
    means = length("seq") // c.block
    wide = attend(heads=c.heads, head_dim=c.head_dim, queries=block, keys=sum_of(3 * block, means), groups=blocks)
    module = attention(c, "TransientGlobalSelfAttention", keys=sum_of("seq", means), bias=bias)
    table = (embedding("global_relative_attention_bias", c.buckets, c.heads),) if bias else ()
    mean = matmul("mean", ("seq", means, c.hidden))
    extra = (*table, rms_norm("global_input_layer_norm", c.hidden, stream=means), mean, wide)
    return replace(module, children=(*module.children[:-1], *extra), kind="self_attention")


FIELDS = variant(
    T5,
    size("radius", "local_radius", 127, "R", "tokens visible on each side", minimum=0),
    size("block", "global_block_size", 16, "G", "tokens per global block"),
    choice("attention", "encoder_attention_type", "local"),
    # The value would be taken for a rule that tells a value from the fields; so a rule returns it.
    long=constant("long", lambda c: long_attention),
)
LONG_CLASSES = {name: blueprint for name, blueprint in classes("LongT5").items() if name.endswith(("Model", "Generation", "Stack"))}

FAMILIES = {"longt5": Family("longt5", FIELDS, LONG_CLASSES, "LongT5Model", IGNORED_KEYS)}
