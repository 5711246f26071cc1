"""CPM-Ant (2022): a decoder with learned prompt embeddings in front of every text.

Source: OpenBMB, CPM-Ant (2022); class and tensor names as in transformers 5.23.0, models/cpmant/modeling_cpmant.py. The head is not tied.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, VOCAB, Config, size
from weighbridge.core.length import length
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm
from weighbridge.core.tree import Node, Part, Tensor


def cpmant(c: Config) -> tuple[Node, ...]:
    """Describe the encoder, which sees the prompt and the text, and the tables of segments, words with prompts, and positions."""
    H = c.hidden
    layer = part("layers", attention(c), feed_forward(c), kind="layer", repeat=c.layers)
    encoder = part("encoder", layer, rms_norm("output_layernorm", H), kind="encoder", stream=length("seq") + c.prompt)
    words = embedding("input_embedding", c.vocab + c.prompts * c.prompt, H)
    bias = Tensor("relative_attention_bias", (c.segments * c.segments + c.buckets, c.heads), "embedding")
    return (encoder, embedding("segment_embedding", c.segments, H), words, part("position_bias", bias, kind="embedding"))


def attention(c: Config) -> Part:
    """Describe attention without biases, after a norm."""
    H, wide = c.hidden, c.heads * c.head_dim
    inner = part(
        "self_attention",
        *(linear(f"project_{name}", H, wide, bias=False) for name in "qkv"),
        linear("attention_out", wide, H, bias=False),
        attend(causal=True, heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    return part("self_att", rms_norm("layernorm_before_attention", H), inner)


def feed_forward(c: Config) -> Part:
    """Describe a gated MLP, after a norm."""
    H, I = c.hidden, c.mlp
    ways = part("w_in", linear("w_0", H, I, bias=False), linear("w_1", H, I, bias=False))
    return part("ffn", rms_norm("layernorm_before_ffn", H), part("ffn", ways, linear("w_out", I, H, bias=False), kind="feed_forward"))


def causal_lm(c: Config) -> Part:
    """Describe CpmAntForCausalLM, whose head sees the text without the prompt."""
    return part("", part("cpmant", *cpmant(c), kind="backbone"), linear("lm_head", c.hidden, c.vocab, bias=False), kind="model")


FIELDS = (
    VOCAB.with_default(30720),
    HIDDEN.with_default(4096),
    size("mlp", "dim_ff", 10240, "I", "intermediate size"),
    LAYERS.with_default(48),
    HEADS.with_default(32),
    size("head_dim", "dim_head", 128, "D", "head dimension"),
    size("prompts", "prompt_types", 32, "P", "prompt types"),
    size("prompt", "prompt_length", 32, "N", "tokens of a prompt"),
    size("segments", "segment_types", 32, "T", "token types"),
    size("buckets", "position_bias_num_buckets", 512, "B", "distance buckets"),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {"dropout_p", "eps", "init_std", "mask_modules", "position_bias_max_distance", "tie_word_embeddings"}
CLASSES = {"CpmAntModel": lambda c: part("", *cpmant(c), kind="model"), "CpmAntForCausalLM": causal_lm}
FAMILIES = {"cpmant": Family("cpmant", FIELDS, CLASSES, "CpmAntModel", MORE_IGNORED_KEYS)}
