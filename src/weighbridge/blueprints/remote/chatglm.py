"""ChatGLM2, ChatGLM3, GLM-4 and GLM-4V (2023 and 2024): after "GLM-130B" (Zeng et al.); their code stands beside their files on the Hub.

Source: arXiv 2210.02414; modeling_chatglm.py of zai-org/chatglm3-6b, visual.py of zai-org/glm-4v-9b. Held to published totals, not to a live class. The first
ChatGLM-6B has the same model type and another architecture: ``chatglm_6b``.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.blueprints.remote.cogvlm import eva2clip, tower_field
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, Config, Field, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm
from weighbridge.core.tree import Node


def _only_rms(rms: object) -> object:
    if rms is not True:
        raise ConfigError("ChatGLM with layer norms is not described", key="rmsnorm", value=rms)
    return rms


FIELDS = (
    size("vocab", "padded_vocab_size", 65024, "V", "vocabulary size, padded"),
    HIDDEN.with_default(4096),
    size("mlp", "ffn_hidden_size", 13696, "I", "intermediate size"),
    size("layers", "num_layers", 28, "L", "layers"),
    HEADS.with_default(32),
    size("head_dim", "kv_channels", 128, "D", "head dimension"),
    switch("grouped", "multi_query_attention", False),
    size("groups", "multi_query_group_num", 1, "K", "key-value heads"),
    switch("qkv_bias", "add_qkv_bias", False),
    switch("biased", "add_bias_linear", False),
    switch("last_norm", "post_layer_norm", True),
    tower_field(),
    Field("rms", "rmsnorm", True, "choice", read=_only_rms, report_default=False),
)


def chatglm(c: Config) -> tuple[Node, ...]:
    """Describe ChatGLM2 with its head, which stands inside the body and is never tied."""
    H, width = c.hidden, c.heads * c.head_dim
    kept = c.groups if c.grouped else c.heads
    attention = part(
        "self_attention",
        linear("query_key_value", H, width + 2 * kept * c.head_dim, bias=c.qkv_bias or c.biased),
        linear("dense", width, H, bias=c.biased),
        attend(causal=True, heads=c.heads, kv_heads=kept, head_dim=c.head_dim),
        kind="self_attention",
    )
    gate_up, down = linear("dense_h_to_4h", H, 2 * c.mlp, bias=c.biased), linear("dense_4h_to_h", c.mlp, H, bias=c.biased)
    layer = part(
        "layers",
        rms_norm("input_layernorm", H),
        attention,
        rms_norm("post_attention_layernorm", H),
        part("mlp", gate_up, down, kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )
    return (
        part("embedding", embedding("word_embeddings", c.vocab, H), kind="embeddings"),
        part("encoder", layer, *((rms_norm("final_layernorm", H),) if c.last_norm else ()), kind="decoder"),
        linear("output_layer", H, c.vocab, bias=c.biased),
        *(() if c.vision is None else (eva2clip(c.vision, H, c.mlp, H),)),
    )


MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """apply_query_key_layer_scaling apply_residual_connection_post_layernorm attention_softmax_in_fp32 bias_dropout_fusion
    fp32_residual_connection interleaved_qkv kv_cache layernorm_epsilon original_rope pre_seq_len prefix_projection quantization_bit
    rope_ratio seq_length tie_word_embeddings vocab_size boi_token_id eoi_token_id""".split()
)
CLASSES = {
    "ChatGLMModel": lambda c: part("", *chatglm(c), kind="model"),
    "ChatGLMForConditionalGeneration": lambda c: part("", part("transformer", *chatglm(c), kind="backbone"), kind="model"),
}
FAMILIES = {"chatglm": Family("chatglm", FIELDS, CLASSES, "ChatGLMForConditionalGeneration", MORE_IGNORED_KEYS)}
