"""LitGPT: the one class that its package builds every model with, by switches in place of classes.

Source: litgpt 0.5.13, litgpt/config.py and litgpt/model.py, whose live class the tests hold this to. Its config is
``model_config.yaml`` beside the weights; it names no model type and is known by its keys. Head and embeddings are never tied.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.words import one_of
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, computed, optional, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, rms_norm, stack
from weighbridge.core.sizes import Size, exact, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def _pad_vocab(c: Config) -> int:
    return -(-int(c.words) // int(c.multiple)) * int(c.multiple)


def _not_latent(value: Any) -> None:
    if value:
        raise ConfigError("latent attention is not described", key="latent_attention", value=value)


def _mlp_width(c: Config) -> Size:
    if c.mlp_class == "LLaMAMLP":
        raise ConfigError("missing, and LLaMAMLP needs it", key="intermediate_size")
    return 4 * c.hidden


FIELDS = (
    size("layers", "n_layer", 16, "L", "layers"),
    size("hidden", "n_embd", 4096, "H", "hidden size"),
    size("heads", "n_head", 32, "A", "attention heads"),
    size("kv_heads", "n_query_groups", lambda c: c.heads, "K", "key-value heads", null=lambda c: c.heads),
    size("head_dim", "head_size", lambda c: exact(c.hidden, c.heads), "D", "head dimension", null=lambda c: exact(c.hidden, c.heads)),
    Field("words", "vocab_size", 50254, "choice"),
    Field("multiple", "padding_multiple", 512, "choice"),
    size("vocab", "padded_vocab_size", _pad_vocab, "V", "vocabulary size, padded", null=_pad_vocab),
    choice("mlp_class", "mlp_class_name", "GptNeoxMLP", read=one_of("mlp_class_name", "GptNeoxMLP", "LLaMAMLP", "GemmaMLP", "LLaMAMoE")),
    choice("norm_class", "norm_class_name", "LayerNorm", read=one_of("norm_class_name", "LayerNorm", "RMSNorm")),
    Field("name", "name", "", "choice", report_default=False),
    size("mlp", "intermediate_size", _mlp_width, "I", "intermediate size", null=_mlp_width),
    optional("expert_mlp", "moe_intermediate_size", None, "M", "intermediate size of an expert"),
    size("experts", "n_expert", 0, "E", "experts", minimum=0, report_default=False),
    size("active", "n_expert_per_token", 0, "k", "experts per token", minimum=0, report_default=False),
    size("shared", "n_shared_expert", 0, "N", "shared experts", minimum=0, null=lambda c: 0, report_default=False),
    Field("grouped_router", "n_expert_groups", None, "choice", report_default=False),
    Field("dense", "first_k_dense_replace", None, "choice", report_default=False),
    Field("latent", "latent_attention", None, "choice", read=_not_latent, report_default=False),
    switch("bias", "bias", True),
    switch("attn_bias", "attn_bias", False),
    switch("head_bias", "lm_head_bias", False),
    switch("norm_1", "norm_1", True, report_default=False),
    switch("norm_2", "norm_2", True, report_default=False),
    switch("shared_norm", "shared_attention_norm", False),
    switch("post_attention_norm", "post_attention_norm", False, report_default=False),
    switch("post_mlp_norm", "post_mlp_norm", False, report_default=False),
    switch("norm_qk", "norm_qk", False),
    choice("norm_qk_type", "norm_qk_type", "default", read=one_of("norm_qk_type", "default", "olmo2")),
    computed("kinds", lambda c: ["dense" if c.dense is not None and index < c.dense else c.mlp_class for index in layer_range(c.layers)]),
)


def norm(c: Config, name: str, width: Size) -> tuple[Part, ...]:
    """Describe a norm; OLMo's have neither gain nor shift, and so no tensors."""
    if c.norm_class == "RMSNorm":
        return (rms_norm(name, width),)
    return () if "OLMo" in c.name else (layer_norm(name, width),)


def attention(c: Config) -> Part:
    """Describe attention with one layer for queries, keys and values."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    whole = c.norm_qk_type == "olmo2"
    norms = (*norm(c, "norm_q", A * D if whole else D), *norm(c, "norm_k", K * D if whole else D)) if c.norm_qk else ()
    return part(
        "attn",
        linear("qkv", H, (A + 2 * K) * D, bias=c.bias or c.attn_bias),
        linear("proj", A * D, H, bias=c.bias),
        *norms,
        attend(causal=True, heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )


def gated_mlp(c: Config, name: str, inner: Size, **more: Any) -> Part:
    """Describe Llama's MLP under LitGPT's names."""
    up = (linear("fc_1", c.hidden, inner, bias=c.bias), linear("fc_2", c.hidden, inner, bias=c.bias))
    return part(name, *up, linear("proj", inner, c.hidden, bias=c.bias), kind="feed_forward", **more)


def feed_forward(c: Config, kind: str) -> Part:
    """Describe the MLP of a layer: plain, gated, or experts behind a router."""
    if kind == "GptNeoxMLP":
        plain = (linear("fc", c.hidden, c.mlp, bias=c.bias), linear("proj", c.mlp, c.hidden, bias=c.bias))
        return part("mlp", *plain, kind="feed_forward")
    if kind != "LLaMAMoE":
        return gated_mlp(c, "mlp", c.mlp)
    inner = c.mlp if c.expert_mlp is None else c.expert_mlp
    router = linear("gate", c.hidden, c.experts, bias=False)
    if c.grouped_router:
        weights = Tensor("weight", (c.experts, c.hidden), "weight"), Tensor("e_score_correction_bias", (c.experts,), "buffer")
        router = part("gate", *weights, kind="linear")
    one = gated_mlp(c, "experts", inner)
    experts = part("experts", *one.children, kind="experts", repeat=c.experts, experts=c.experts, active=c.active)
    return part("mlp", router, experts, *((gated_mlp(c, "shared_experts", inner * c.shared),) if c.shared else ()), kind="mixture")


def gpt(c: Config) -> Part:
    """Describe GPT of litgpt.model: the head comes first."""

    def block(kind: str) -> tuple[Node, ...]:
        return (
            *(norm(c, "norm_1", c.hidden) if c.norm_1 else ()),
            attention(c),
            *(norm(c, "post_attention_norm", c.hidden) if c.post_attention_norm else ()),
            *(norm(c, "norm_2", c.hidden) if c.norm_2 and not c.shared_norm else ()),
            feed_forward(c, kind),
            *(norm(c, "post_mlp_norm", c.hidden) if c.post_mlp_norm else ()),
        )

    body = (embedding("wte", c.vocab, c.hidden), *stack("h", c.kinds, c.layers, block), *norm(c, "ln_f", c.hidden))
    return part("", linear("lm_head", c.hidden, c.vocab, bias=c.head_bias), part("transformer", *body, kind="backbone"), kind="model")


IGNORED_KEYS = frozenset(
    """attention_logit_softcapping attention_scores_scalar block_size final_logit_softcapping gelu_approximate hf_config n_topk_groups
    n_topk_scores_per_group norm_eps norm_topk_prob parallel_residual rope_adjustments rope_base rope_condense_ratio rope_indices
    rope_interleave rope_local_base_freq rope_n_elem rotary_percentage routed_scaling_factor scale_embeddings sliding_window_indices
    sliding_window_size""".split()
)
FAMILIES = {"litgpt": Family("litgpt", FIELDS, {"litgpt.GPT": gpt}, "litgpt.GPT", IGNORED_KEYS)}
