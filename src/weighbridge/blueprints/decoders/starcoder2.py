"""StarCoder2: "StarCoder 2 and The Stack v2" (Lozhkov et al., 2024); Nemotron-4 and Jais 2 have the same structure.

Source: arXiv 2402.19173, 2406.11704; class and tensor names as in transformers 5.23.0, models/starcoder2/modeling_starcoder2.py,
models/nemotron/modeling_nemotron.py, models/jais2/modeling_jais2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, attention, with_heads
from weighbridge.blueprints.modules.sliding_window import window
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, switch, variant
from weighbridge.core.parts import embedding, layer_norm, part, plain_mlp
from weighbridge.core.tree import Node


def starcoder2(c: Config) -> tuple[Node, ...]:
    """Describe Llama with layer norms and an MLP without a gate."""
    H = c.hidden
    layer = part(
        "layers",
        attention(c),
        plain_mlp("mlp", H, c.mlp, c.mlp_names, bias=c.mlp_bias),
        layer_norm("input_layernorm", H),
        layer_norm("post_attention_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, layer_norm("norm", H))


def all_biases(key: str, default: bool) -> dict[str, Field]:
    """Say that one key switches all biases."""
    return {word: switch(word, key, default) for word in ("qkv_bias", "out_bias", "mlp_bias")}


NEMOTRON = variant(FIELDS, constant("mlp_names", ("up_proj", "down_proj")), vocab=256000, hidden=6144, mlp=24576, heads=48)
JAIS2 = variant(NEMOTRON, vocab=150272, hidden=3328, mlp=26624, heads=26, qkv_bias=True, out_bias=True, mlp_bias=True)
STARCODER2 = variant(
    NEMOTRON,
    vocab=49152,
    hidden=3072,
    mlp=12288,
    layers=30,
    heads=24,
    kv_heads=2,
    tied=True,
    mlp_names=("c_fc", "c_proj"),
    window=window(default=None),
    **all_biases("use_bias", True),
)

FAMILIES = {
    "starcoder2": Family(
        "starcoder2", STARCODER2, with_heads("Starcoder2", starcoder2, "lm sequence token"), "Starcoder2Model", IGNORED_KEYS
    ),
    "nemotron": Family("nemotron", NEMOTRON, with_heads("Nemotron", starcoder2, qa="transformer"), "NemotronModel", IGNORED_KEYS),
    "jais2": Family("jais2", JAIS2, with_heads("Jais2", starcoder2, "lm"), "Jais2Model", IGNORED_KEYS),
}
