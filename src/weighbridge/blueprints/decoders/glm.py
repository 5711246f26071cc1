"""GLM-4: "ChatGLM: A Family of Large Language Models" (Team GLM, 2024), 9B of June 2024 (glm) and of April 2025 (glm4).

Source: arXiv 2406.12793; class and tensor names as in transformers 5.23.0, models/glm/modeling_glm.py and
models/glm4/modeling_glm4.py. The second adds norms after attention and after the MLP.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.phi import fused_mlp
from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, NO_OUT_BIAS, attention, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, variant
from weighbridge.core.parts import embedding, part, rms_norm
from weighbridge.core.tree import Node


def glm(c: Config) -> tuple[Node, ...]:
    """Describe Llama with a fused MLP and biases on queries, keys and values."""
    layer = part("layers", attention(c), fused_mlp(c), *(rms_norm(name, c.hidden) for name in c.norms), kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab, c.hidden), layer, rms_norm("norm", c.hidden))


BEFORE = ("input_layernorm", "post_attention_layernorm")
AFTER = ("post_self_attn_layernorm", "post_mlp_layernorm")

GLM = variant(
    FIELDS, constant("norms", BEFORE), NO_OUT_BIAS, NO_MLP_BIAS, vocab=151552, mlp=13696, layers=40, kv_heads=2, head_dim=128, qkv_bias=True
)

FAMILIES = {
    "glm": Family("glm", GLM, with_heads("Glm", glm, "lm sequence token"), "GlmModel", IGNORED_KEYS),
    "glm4": Family("glm4", variant(GLM, norms=BEFORE + AFTER), with_heads("Glm4", glm, "lm sequence token"), "Glm4Model", IGNORED_KEYS),
}
