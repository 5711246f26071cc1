"""Phi-3-small: GPT-2's outline with grouped heads, an MLP gated by GELU, and block-sparse attention in most layers; its code stands beside its files.

Source: arXiv 2404.14219, section 2; modeling_phi3_small.py of microsoft/Phi-3-small-8k-instruct. Held tensor by tensor to the class of
mlx-lm 0.32.2, models/phi3small.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.words import read_none
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, size, variant
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.tree import Node

BLOCKS = unknown("how many keys block-sparse attention sees is not held to a live class")


def phi3small(c: Config) -> tuple[Node, ...]:
    """Describe Phi-3-small: queries, keys and values in one layer, biases throughout but in the head, which is the table of words."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    layer = part(
        "layers",
        part(
            "self_attn",
            linear("query_key_value", H, (A + 2 * K) * D),
            linear("dense", H, H),
            attend(causal=True, heads=A, kv_heads=K, head_dim=D, queries=BLOCKS),
            kind="self_attention",
        ),
        part("mlp", linear("up_proj", H, 2 * c.mlp), linear("down_proj", c.mlp, H), kind="feed_forward"),
        layer_norm("input_layernorm", H),
        layer_norm("post_attention_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, layer_norm("final_layernorm", H))


PHI3SMALL = variant(
    FIELDS,
    read_none("ff_dim_multiplier"),
    vocab=100352,
    head_dim=HEAD_DIM,
    mlp=size("mlp", "ff_intermediate_size", 14336, "I", "intermediate size"),
    kv_heads=8,
    tied=True,
    qkv_bias=constant("qkv_bias", True),
    out_bias=constant("out_bias", True),
    mlp_bias=constant("mlp_bias", True),
)
KEYS = IGNORED_KEYS | frozenset(
    """attention_dropout_prob blocksparse_block_size blocksparse_homo_head_pattern blocksparse_num_local_blocks blocksparse_triton_kernel_block_size
    blocksparse_vert_stride dense_attention_every_n_layers dummy_token_indices embedding_dropout_prob ffn_dropout_prob gegelu_limit
    gegelu_pad_to_256 layer_norm_epsilon mup_attn_multiplier mup_embedding_multiplier mup_use_scaling mup_width_multiplier
    pad_sequence_to_multiple_of_64 reorder_and_upcast_attn rope_embedding_base rope_position_scale max_sequence_length""".split()
)
FAMILIES = {
    "phi3small": Family("phi3small", PHI3SMALL, with_heads("Phi3Small", phi3small, "lm sequence"), "Phi3SmallModel", KEYS),
}
