"""OLMo: "OLMo: Accelerating the Science of Language Models" (Groeneveld et al., 2024), and OLMo 2, which norms afterwards.

Source: arXiv 2402.00838, 2501.00656; class and tensor names as in transformers 5.23.0, models/olmo*/. The norms of the first
OLMo have no parameters at all; EXAONE 4 positions its norms like OLMo 2 and norms each head.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, families
from weighbridge.blueprints.modules.causal_lm import NO_BIAS, NO_MLP_BIAS, attention
from weighbridge.blueprints.modules.sliding_window import all_but_every, pattern, window
from weighbridge.config.fields import Config, Field, variant
from weighbridge.core.parts import embedding, gated_mlp, part
from weighbridge.core.tree import Node

AFTER = ("post_attention_layernorm", "post_feedforward_layernorm")


def olmo(c: Config) -> tuple[Node, ...]:
    """Describe the first OLMo: Llama without any parameter in a norm."""
    layer = part("layers", attention(c), gated_mlp("mlp", c.hidden, c.mlp), kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab, c.hidden), layer)


OLMO = variant(LLAMA, NO_MLP_BIAS, vocab=50304)
OLMO2 = variant(OLMO, norms=AFTER, qk_norm="whole")

TYPES: dict[str, tuple[str, str, tuple[Field, ...]]] = {
    "olmo2": ("Olmo2", "lm sequence", OLMO2),
    "olmo3": ("Olmo3", "lm sequence", variant(OLMO2, window=window(), windowed=all_but_every(4))),
    "exaone4": (
        "Exaone4",
        "lm sequence token qa",
        variant(
            LLAMA,
            *NO_BIAS,
            vocab=102400,
            mlp=16384,
            kv_heads=32,
            norms=AFTER,
            qk_norm="head",
            pattern=pattern(4),
            window=window(),
            windowed=all_but_every(4),
        ),
    ),
}

FAMILIES = families({"olmo": ("Olmo", "lm sequence", OLMO)}, olmo) | families(TYPES)
