"""Qwen3-Next and Qwen3.5: gated DeltaNet layers interleaved with gated attention (three to one), with experts or an MLP.

Source: arXiv 2412.06464 (gated delta networks); class and tensor names as in transformers 5.23.0,
models/qwen3_next/modeling_qwen3_next.py, models/qwen3_5/modeling_qwen3_5.py, models/qwen3_5_moe/modeling_qwen3_5_moe.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.layer_types import one_per_layer, sparse_step
from weighbridge.blueprints.modules.mixture_of_experts import EXPERT_MLP, MIXTURE, mlp
from weighbridge.config.family import Family
from weighbridge.config.fields import NUM_EXPERTS, SHARED_EXPERT_MLP, Config, Field, constant, size, variant
from weighbridge.core.length import length
from weighbridge.core.parts import attend, depthwise, embedding, linear, matmul, part, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, State, Tensor

CHUNK = 64
"""Tokens that the reference takes together in the delta rule; it pads the last chunk."""


def qwen3_next(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds of attention and of MLP, and a last norm."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        mixer = delta_rule(c) if kinds[0] == "linear_attention" else gated_attention(c)
        return (mixer, mlp(c, kinds[1]), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    kinds = list(zip(c.mixers, c.mlps, strict=True))
    return (embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("norm", H))


def gated_attention(c: Config) -> Part:
    """Describe attention whose output is gated: the queries' layer is twice as wide."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        "self_attn",
        linear("q_proj", H, 2 * A * D, bias=c.qkv_bias),
        linear("k_proj", H, K * D, bias=c.qkv_bias),
        linear("v_proj", H, K * D, bias=c.qkv_bias),
        linear("o_proj", A * D, H, bias=c.out_bias),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )


def delta_rule(c: Config) -> Part:
    """Describe the gated delta rule: a short convolution over queries, keys and values, and one state per value head."""
    H, keys, values, V = c.hidden, c.linear_keys * c.key_dim, c.linear_values * c.value_dim, c.linear_values
    if c.joined:
        inputs: tuple[Part, ...] = (
            linear("in_proj_qkvz", H, 2 * keys + 2 * values, bias=False),
            linear("in_proj_ba", H, 2 * V, bias=False),
        )
    else:
        widths = (("qkv", 2 * keys + values), ("z", values), ("b", V), ("a", V))
        inputs = tuple(linear(f"in_proj_{name}", H, width, bias=False) for name, width in widths)
    convolution = depthwise("conv1d", 2 * keys + values, c.kernel, bias=False)
    norm, out = rms_norm("norm", c.value_dim), linear("out_proj", values, H, bias=False)
    rest = (*inputs, norm, out) if c.joined else (norm, out, *inputs)
    return part(
        "linear_attn",
        Tensor("dt_bias", (V,), "bias"),
        Tensor("A_log", (V,), "gain"),
        convolution,
        *rest,
        chunked_delta_rule(c),
        State("recurrent_state", V * c.key_dim * c.value_dim, "float32"),
        kind="linear_attention",
    )


def chunked_delta_rule(c: Config) -> Node:
    """Describe the delta rule by chunks: products within a chunk, and with the state that one chunk hands to the next."""
    chunks, heads, K, V = (length("seq") + CHUNK - 1) // CHUNK, c.linear_values, c.key_dim, c.value_dim
    return matmul("delta_rule", (2, chunks, CHUNK, CHUNK, heads, K), (3, chunks, CHUNK, heads, K, V), (chunks, CHUNK, CHUNK, heads, V))


LINEAR = (
    size("kernel", "linear_conv_kernel_dim", 4, "Z", "kernel size of the convolution"),
    size("key_dim", "linear_key_head_dim", 128, "X", "key head dimension in linear attention"),
    size("value_dim", "linear_value_head_dim", 128, "Y", "value head dimension in linear attention"),
    size("linear_keys", "linear_num_key_heads", 16, "F", "key heads in linear attention"),
    size("linear_values", "linear_num_value_heads", 32, "G", "value heads in linear attention"),
    Field("interval", "full_attention_interval", 4, "choice", report_default=False),
    Field("stated_kinds", "layer_types", lambda c: [_mixer(c, index) for index in layer_range(c.layers)], "choice"),
    constant("mixers", lambda c: one_per_layer(c, c.stated_kinds, "layer_types")),
)


def _mixer(c: Config, index: int) -> str:
    return "linear_attention" if (index + 1) % c.interval else "full_attention"


SPARSE = (
    NUM_EXPERTS.with_default(512),
    EXPERT_MLP.with_default(512),
    SHARED_EXPERT_MLP.with_default(512),
    constant("block", "gate experts shared_expert shared_expert_gate"),
)
TWO_KINDS = (*sparse_step()[:2], replace(sparse_step()[2], word="mlps"))
BASE = tuple(field for field in (*FIELDS, *MIXTURE) if field.word not in ("kinds", "mlp_bias"))

NEXT = variant(
    BASE,
    constant("mlp_bias", False),
    *LINEAR,
    *TWO_KINDS,
    constant("joined", True),
    *SPARSE,
    vocab=151936,
    hidden=2048,
    mlp=5632,
    layers=48,
    heads=16,
    kv_heads=2,
    head_dim=256,
    active=10,
)
DENSE = variant(
    BASE,
    constant("mlp_bias", False),
    *LINEAR,
    constant("mlps", lambda c: ["dense"] * len(layer_range(c.layers))),
    constant("joined", False),
    vocab=248320,
    mlp=12288,
    heads=16,
    kv_heads=4,
    head_dim=256,
    experts=constant("experts", 1),
    active=constant("active", 1),
)
MOE = variant(
    tuple(field for field in BASE if field.word != "mlp"),
    constant("mlp_bias", False),
    *LINEAR,
    constant("mlps", lambda c: ["sparse"] * len(layer_range(c.layers))),
    constant("joined", False),
    *SPARSE,
    vocab=248320,
    hidden=2048,
    layers=40,
    heads=16,
    kv_heads=2,
    head_dim=256,
    active=8,
    experts=256,
)

TEXT = with_heads("Qwen3_5", qwen3_next, "lm", base="TextModel")
CLASSIFIERS = {
    name.replace("5For", "5TextFor"): made for name, made in with_heads("Qwen3_5", qwen3_next, "sequence").items() if "For" in name
}

FAMILIES = {
    "qwen3_next": Family("qwen3_next", NEXT, with_heads("Qwen3Next", qwen3_next, qa="transformer"), "Qwen3NextModel", IGNORED_KEYS),
    "qwen3_5_text": Family("qwen3_5_text", DENSE, TEXT | CLASSIFIERS, "Qwen3_5TextModel", IGNORED_KEYS),
    "qwen3_5_moe_text": Family(
        "qwen3_5_moe_text", MOE, with_heads("Qwen3_5Moe", qwen3_next, "lm", base="TextModel"), "Qwen3_5MoeTextModel", IGNORED_KEYS
    ),
}
