"""MiMo-7B (2025): Qwen2, and layers that predict the tokens after the next one; its code stands beside its files on the Hub.

Source: arXiv 2505.07608, section 2.2; modeling_mimo.py of XiaomiMiMo/MiMo-7B-Base. Held to the published size (7.83 billion),
not to a live class. A forward pass leaves the further layers out.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import QWEN2, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, attention, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, switch, variant
from weighbridge.core.parts import gated_mlp, linear, part, replace, rms_norm
from weighbridge.core.tree import Node, Part

MIMO = variant(
    QWEN2,
    size("further", "num_nextn_predict_layers", 0, "N", "multi-token prediction layers", minimum=0),
    switch("qkv_bias", "attention_bias", True),
    vocab=151680,
    mlp=11008,
    layers=32,
)


def mimo(c: Config) -> tuple[Node, ...]:
    """Describe Qwen2's body and the layers that predict further tokens."""
    return (*llama(c), further_layer(c))


def further_layer(c: Config) -> Part:
    """Describe a layer that takes the last states and the next token's embedding, each through a norm, side by side."""
    H = c.hidden
    own = attention(c)
    return part(
        "mtp_layers",
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
        rms_norm("token_layernorm", H),
        rms_norm("hidden_layernorm", H),
        linear("input_proj", 2 * H, H, bias=False),
        rms_norm("final_layernorm", H),
        replace(own, children=tuple(child for child in own.children if isinstance(child, Part))),
        gated_mlp("mlp", H, c.mlp),
        kind="layer",
        repeat=c.further,
        executions=0,
    )


MORE_IGNORED_KEYS = (IGNORED_KEYS - {"num_nextn_predict_layers"}) | {"use_mrope"}
FAMILIES = {"mimo": Family("mimo", MIMO, with_heads("MiMo", mimo, "lm"), "MiMoModel", MORE_IGNORED_KEYS)}
