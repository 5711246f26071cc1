"""PLM (2025): latent attention and an MLP of squared ReLU, without a gate; its code stands beside its files.

Source: arXiv 2503.12167; modeling_plm.py of PLM-Team/PLM-1.8B-Base. Held to the shapes for which llama.cpp's loader asks and to the
published size (1.83 billion), not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.deepseek import LATENT, latent_attention, latent_fields
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, variant
from weighbridge.core.parts import embedding, part, plain_mlp, rms_norm
from weighbridge.core.tree import Node


def plm(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of latent attention and an MLP of two linear maps, and a last norm."""
    H = c.hidden
    norms = (rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))
    layer = part("layers", latent_attention(c), plain_mlp("mlp", H, c.mlp), *norms, kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


FIELDS = variant(
    LATENT,
    *latent_fields(q=0, kv=512, plain=128, rope=64, value=128),
    constant("q_lora", None),
    vocab=151936,
    hidden=2048,
    mlp=8192,
    heads=16,
    tied=True,
)
FAMILIES = {
    "plm": Family(
        "plm", FIELDS, with_heads("PLM", plm, "lm"), "PLMForCausalLM", IGNORED_KEYS | {"q_lora_rank", "num_key_value_heads", "head_dim"}
    )
}
