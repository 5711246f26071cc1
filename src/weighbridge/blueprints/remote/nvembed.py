"""NV-Embed (NVIDIA, 2024): Mistral read in both directions, and attention of its states over learned vectors; its code stands beside its files.

Source: arXiv 2405.17428; modeling_nvembed.py and configuration_nvembed.py of nvidia/NV-Embed-v2. Held to the total of the published file (7,851,016,192), not to
a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, NO_BIAS
from weighbridge.blueprints.remote.both_ways import both_ways
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, nested, size, variant
from weighbridge.core.length import unknown
from weighbridge.core.parts import layer_norm, linear, part
from weighbridge.core.tree import Part, Tensor

POOLED = unknown("the arithmetic of attention over learned vectors is not held to a live class")


def pooling(c: Config) -> Part:
    """Describe attention whose keys and values are learned vectors, and a gated MLP, each behind norms."""
    W, D, inner = c.latent, c.hidden, c.heads * c.head_dim
    attends = part(
        "fn", linear("to_q", W, inner, bias=False), linear("to_kv", D, 2 * inner, bias=False), linear("to_out", inner, W, bias=False)
    )
    first = part("0", attends, layer_norm("norm", W), layer_norm("norm_context", D), kind="cross_attention")
    wide = c.ratio * W
    mlp = part("fn", part("net", linear("0", W, 2 * wide), linear("2", wide, W)), kind="feed_forward")
    blocks = part("cross_attend_blocks", first, part("1", mlp, layer_norm("norm", W)))
    return part("latent_attention_model", Tensor("latents", (c.latents, W), "embedding"), blocks, kind="head", stream=POOLED)


def nvembed(c: Config) -> Part:
    """Describe NVEmbedModel."""
    words = part("embedding_model", *(both_ways(child) for child in llama(c.text)), kind="text")
    return part("", pooling(c.pooling), words, kind="model")


TEXT = variant(LLAMA, *NO_BIAS, mlp=14336, kv_heads=8)
POOLING = (
    size("latents", "num_latents_value", 512, "N", "learned vectors"),
    size("heads", "num_cross_heads", 8, "A", "attention heads"),
    size("head_dim", "cross_dim_head", 4096, "D", "head dimension"),
    size("hidden", "hidden_dim", 4096, "H", "width of what is attended to"),
    size("latent", "latent_dim", 4096, "W", "width of the learned vectors"),
    size("ratio", "mult", 4, "X", "how much wider the MLP is"),
)
FIELDS = (nested("text", "text_config", TEXT), nested("pooling", "latent_attention_config", POOLING))
KEYS = IGNORED_KEYS | frozenset(
    """hidden_size text_config latent_attention_config padding_side add_pad_token is_mask_instruction add_eos mask_type output_normalize
    model_type window sliding_window max_seq_length""".split()
)
FAMILIES = {"nvembed": Family("nvembed", FIELDS, {"NVEmbedModel": nvembed}, "NVEmbedModel", KEYS)}
