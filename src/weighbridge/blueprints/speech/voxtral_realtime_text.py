"""The text decoder of Voxtral Realtime: Mistral's, with an adaptive norm per layer for the delay.

Source: names as in transformers 5.23.0, models/voxtral_realtime/modeling_voxtral_realtime.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS as CAUSAL
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, NO_BIAS, attention
from weighbridge.blueprints.modules.sliding_window import window
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, variant
from weighbridge.core.length import per_batch
from weighbridge.core.parts import embedding, gated_mlp, linear, part, rms_norm
from weighbridge.core.tree import Node

FIELDS = variant(tuple(field for field in CAUSAL if field.word not in ("labels",)), *NO_BIAS, mlp=14336, kv_heads=8, window=window())
DELAY = 32


def decoder(c: Config) -> tuple[Node, ...]:
    """Describe words, layers and a last norm."""
    H = c.hidden
    delayed = (linear("linear1", H, DELAY, bias=False), linear("linear2", DELAY, H, bias=False))
    layer = part(
        "layers",
        attention(c),
        gated_mlp("mlp", H, c.mlp),
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
        part("ada_rms_norm", *delayed, kind="norm", stream=per_batch("one")),
        kind="layer",
        repeat=c.layers,
    )
    return embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H)


FAMILIES = {
    "voxtral_realtime_text": Family(
        "voxtral_realtime_text",
        FIELDS,
        {"VoxtralRealtimeTextModel": lambda c: part("", *decoder(c), kind="model")},
        "VoxtralRealtimeTextModel",
        IGNORED_KEYS | {"tie_word_embeddings"},
    )
}
