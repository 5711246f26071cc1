"""Molmo: CLIP's tower over crops, attention that pools squares of patches, and OLMo or Qwen2 as one decoder; its code stands beside its files.

Source: arXiv 2409.17146; modeling_molmo.py and config_molmo.py of allenai/Molmo-7B-D-0924; query-key norms by vLLM's molmo.py. The tower is the same
in all of them, and no key says it. Held tensor by tensor to the classes of mlx-vlm 0.7.10, models/molmo, which has no such norms.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import HEAD_DIM, HEADS_DIVIDE
from weighbridge.blueprints.modules.words import one_of, read_none
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, VOCAB, Config, choice, constant, size, switch
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, layer_norm, linear, part, plain_mlp, rms_norm
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part, Tensor

CROPS = unknown("how many crops an image has depends on its sides")
WIDTH, WIDE, TOWER_HEADS, TOWER_LAYERS, POSITIONS, PATCH = 1024, 4096, 16, 23, 577, 14
"""CLIP-ViT-L/14 at 336 pixels without its last layer."""
SIDE_BY_SIDE = 2
"""The tower's layers whose states are pooled side by side."""


def decoder(c: Config) -> tuple[Node, ...]:
    """Describe OLMo's decoder: queries, keys and values in one layer, gate and up projections in another."""
    H, K, D = c.hidden, c.kv_heads, c.head_dim
    words = Tensor("embedding", (c.table, H), "embedding"), Tensor("new_embedding", (c.added, H), "embedding")
    norms = (rms_norm("k_norm", K * D), rms_norm("q_norm", H)) if c.normed else ()
    layer = part(
        "blocks",
        part(
            "",
            linear("att_proj", H, H + 2 * K * D, bias=c.qkv_bias),
            *norms,
            linear("attn_out", H, H, bias=False),
            attend(causal=True, heads=c.heads, kv_heads=K, head_dim=D),
            kind="self_attention",
        ),
        part(
            "",
            linear("ff_proj", H, c.fused, bias=False),
            linear("ff_out", exact(c.fused, 2), H, bias=False),
            kind="feed_forward",
        ),
        rms_norm("attn_norm", H),
        rms_norm("ff_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (part("wte", *words, kind="embeddings"), layer, rms_norm("ln_f", H), linear("ff_out", H, c.vocab, bias=False))


def tower_attention(name: str, inputs: int) -> Part:
    """Describe attention of the tower's width over states *inputs* wide."""
    maps = (linear(letter, inputs, WIDTH) for letter in ("wq", "wk", "wv"))
    dim = WIDTH // TOWER_HEADS
    return part(name, *maps, linear("wo", WIDTH, WIDTH), attend(heads=TOWER_HEADS, head_dim=dim), kind="self_attention")


def vision_backbone(c: Config) -> Part:
    """Describe the tower, what takes the place of padding, the attention that pools, and a gated map to the decoder's width."""
    H, inner = c.hidden, exact(c.fused, 2)
    block = part(
        "resblocks",
        tower_attention("attention", WIDTH),
        plain_mlp("feed_forward", WIDTH, WIDE, ("w1", "w2"), bias=True),
        layer_norm("attention_norm", WIDTH),
        layer_norm("ffn_norm", WIDTH),
        kind="layer",
        repeat=TOWER_LAYERS,
    )
    tower = part(
        "image_vit",
        Tensor("class_embedding", (WIDTH,), "embedding"),
        Tensor("positional_embedding", (POSITIONS, WIDTH), "embedding"),
        linear("patch_embedding", 3 * PATCH * PATCH, WIDTH, bias=False),
        layer_norm("pre_ln", WIDTH),
        part("transformer", block, kind="encoder"),
        kind="vision",
    )
    maps = linear("w1", WIDTH, inner, bias=False), linear("w2", inner, H, bias=False), linear("w3", WIDTH, inner, bias=False)
    return part(
        "vision_backbone",
        *((Tensor("pad_embed", (2, SIDE_BY_SIDE * WIDTH), "embedding"),) if c.padded else ()),
        tower,
        tower_attention("image_pooling_2d", SIDE_BY_SIDE * WIDTH),
        part("image_projector", *maps, kind="projector"),
        kind="vision",
        stream=CROPS,
        requires="images",
        executions="images",
    )


def molmo(c: Config) -> Part:
    """Describe MolmoForCausalLM."""
    return part("", part("model", part("transformer", *decoder(c), kind="text"), vision_backbone(c), kind="backbone"), kind="model")


FIELDS = (
    VOCAB.with_default(50304),
    size("table", "embedding_size", lambda c: c.vocab, "B", "rows of the table of words", null=lambda c: c.vocab),
    size("added", "additional_vocab_size", 128, "N", "further rows, for images"),
    HIDDEN.with_default(4096),
    size("fused", "intermediate_size", 11008, "I", "width of gate and up projections together"),
    LAYERS.with_default(32),
    HEADS.with_default(32),
    size("kv_heads", "num_key_value_heads", lambda c: c.heads, "K", "key-value heads", null=lambda c: c.heads),
    HEADS_DIVIDE,
    HEAD_DIM,
    switch("qkv_bias", "qkv_bias", False),
    switch("normed", "attention_layer_norm", False),
    choice("norm", "layer_norm_type", "rms", read=one_of("layer_norm_type", "rms")),
    constant("padded", True),
    read_none("tie_word_embeddings"),
    read_none("weight_tying"),
)
KEYS = frozenset("clip_qkv initializer_range layer_norm_eps max_position_embeddings norm_after rope_theta position_ids".split())
FAMILIES = {"molmo": Family("molmo", FIELDS, {"MolmoForCausalLM": molmo}, "MolmoForCausalLM", KEYS)}
