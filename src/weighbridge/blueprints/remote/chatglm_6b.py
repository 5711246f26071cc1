"""The first ChatGLM-6B (2023): GLM's layers with layer norms and biases; its code stands beside its files on the Hub.

Source: arXiv 2103.10360 and 2210.02414; names and keys as in modeling_chatglm.py of zai-org/chatglm-6b. Its model type is ``chatglm``, as
that of ChatGLM2 and 3, which are another architecture. Held to a published exact total (PEFT prints 6,176,956,416 with an adapter of
3,670,016), not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, TIED, VOCAB, Config, Field, derived, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part


def _refuse_learned_prefix(length: object) -> object:
    if length is not None:
        raise ConfigError(
            "a ChatGLM-6B with a learned prefix (P-Tuning v2) is not described",
            key="pre_seq_len",
            value=length,
            hint="remove the key to weigh the model without its prefix",
        )
    return length


FIELDS = (
    VOCAB.with_default(150528),
    HIDDEN.with_default(4096),
    size("mlp", "inner_hidden_size", 16384, "I", "intermediate size"),
    size("layers", "num_layers", 28, "L", "layers", "num_hidden_layers"),
    HEADS.with_default(32),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    TIED,
    Field("prefix", "pre_seq_len", None, "choice", read=_refuse_learned_prefix, report_default=False),
)


def chatglm_6b(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers and the last norm; rotary positions in two dimensions have no parameters."""
    H = c.hidden
    attention = part(
        "attention",
        linear("query_key_value", H, 3 * H),
        linear("dense", H, H),
        attend(causal=True, heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = part("mlp", linear("dense_h_to_4h", H, c.mlp), linear("dense_4h_to_h", c.mlp, H), kind="feed_forward")
    layer = part(
        "layers",
        layer_norm("input_layernorm", H),
        attention,
        layer_norm("post_attention_layernorm", H),
        mlp,
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("word_embeddings", c.vocab, H), layer, layer_norm("final_layernorm", H))


def causal_lm(c: Config) -> Part:
    """Describe the model with its head, which is tied to the word embeddings."""
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to="transformer.word_embeddings.weight" if c.tied else None)
    return part("", part("transformer", *chatglm_6b(c), kind="backbone"), head, kind="model")


MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    "bos_token_id eos_token_id gmask_token_id layernorm_epsilon mask_token_id max_sequence_length position_encoding_2d prefix_projection quantization_bit".split()
)
CLASSES = {
    "ChatGLMModel": lambda c: part("", *chatglm_6b(c), kind="model"),
    "ChatGLMForConditionalGeneration": causal_lm,
}
FAMILIES = {"chatglm_6b": Family("chatglm_6b", FIELDS, CLASSES, "ChatGLMForConditionalGeneration", MORE_IGNORED_KEYS)}
