"""Gemma: "Gemma: Open Models Based on Gemini Research and Technology" (2024); later versions have norms before and after each block.

Source: arXiv 2403.08295, 2408.00118, 2503.19786; class and tensor names as in transformers 5.23.0, models/gemma*/.
The norms multiply with one plus their weight; their tensors are Llama's.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, families, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.sliding_window import all_but_every, pattern, window
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, variant, with_changes
from weighbridge.core.tree import Node

SANDWICH = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")
"""Four norms a layer: before and after attention, before and after the MLP."""

GEMMA = variant(LLAMA, NO_MLP_BIAS, vocab=256000, hidden=3072, mlp=24576, layers=28, heads=16, kv_heads=16, head_dim=256, tied=True)
GEMMA2 = variant(GEMMA, hidden=2304, mlp=9216, layers=26, heads=8, kv_heads=4, norms=SANDWICH, window=window(), windowed=all_but_every(2))
GEMMA3 = variant(
    GEMMA2,
    choice("both_ways", "use_bidirectional_attention", False, read=bool, report_default=False),
    vocab=262208,
    qk_norm="head",
    pattern=pattern(6),
    windowed=all_but_every(6),
)

TYPES: dict[str, tuple[str, str, tuple[Field, ...]]] = {
    "gemma": ("Gemma", "lm sequence token", GEMMA),
    "gemma2": ("Gemma2", "lm sequence token", GEMMA2),
    "vaultgemma": ("VaultGemma", "lm", variant(GEMMA2, norms=(SANDWICH[0], SANDWICH[2]))),
}


def gemma3(c: Config) -> tuple[Node, ...]:
    """Describe Gemma 3, whose window lies half before a token and half behind it where attention looks both ways."""
    return llama(with_changes(c, window=c.window // 2 + 1) if c.both_ways and c.window is not None else c)


def _gemma3() -> Family:
    classes = with_heads("Gemma3", gemma3, "lm", base="TextModel") | {
        name.replace("Gemma3", "Gemma3Text"): blueprint
        for name, blueprint in with_heads("Gemma3", gemma3, "sequence").items()
        if "For" in name
    }
    return Family("gemma3_text", GEMMA3, classes, "Gemma3TextModel", IGNORED_KEYS | {"_sliding_window_pattern", "query_pre_attn_scalar"})


FAMILIES = families(TYPES) | {"gemma3_text": _gemma3()}
