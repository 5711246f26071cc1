"""Kimi Linear and Ling 2.5 (bailing): Kimi delta attention interleaved with latent attention.

Source: arXiv 2510.26692; class and tensor names as in transformers 5.23.0, models/kimi_linear/modeling_kimi_linear.py and
models/bailing_hybrid/modeling_bailing_hybrid.py.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.deepseek import LATENT, MORE_IGNORED_KEYS, V3_BLOCK, latent_attention, latent_fields
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds, dense_before, kinds_by_number, listed_or
from weighbridge.blueprints.modules.mixture_of_experts import EXPERT_MLP, mlp
from weighbridge.blueprints.state_space.qwen3_next import CHUNK
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, derived, nested, optional, size, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import length
from weighbridge.core.parts import depthwise, embedding, linear, matmul, part, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Matmul, Node, Part, State, Tensor

if TYPE_CHECKING:
    from typing import Any


def kimi(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds of attention and of MLP, and a last norm."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        gate = (linear("g_proj", H, c.heads, bias=False),) if c.gated else ()
        mixer = delta(c) if kinds[0] == "linear_attention" else latent_attention(c, *gate)
        return (mixer, mlp(c, kinds[1]), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    kinds = list(zip(c.mixers, c.kinds, strict=True))
    return (embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("norm", H))


def delta(c: Config) -> Part:
    """Describe delta attention: a gate for what is forgotten and one for the output, of small rank in Kimi."""
    H, A, D = c.hidden, c.linear_heads, c.linear_dim
    wide, shift = A * D, Tensor("dt_bias", (A * D,), "bias")
    if c.gated:
        forget: tuple[Node, ...] = (Tensor("A_log", (A,), "gain"), shift, linear("f_proj", H, wide, bias=False))
        before: tuple[Part, ...] = ()
        after: tuple[Part, ...] = (linear("g_proj", H, wide, bias=False),)
    else:
        ranks = (linear("f_a_proj", H, D, bias=False), linear("f_b_proj", D, wide, bias=False))
        forget = (shift, Tensor("A_log", (A,) if c.flat_decay else (1, 1, A, 1), "gain"), *ranks)
        before, after = (linear("g_a_proj", H, D, bias=False), linear("g_b_proj", D, wide, bias=False)), ()
    return part(
        "self_attn",
        *(linear(f"{name}_proj", H, wide, bias=False) for name in "qkv"),
        depthwise("conv1d", 3 * wide, c.kernel, bias=False, filled="full_attention" in c.mixers),
        part("forget_gate", *forget, kind="gate"),
        linear("b_proj", H, A, bias=False),
        *before,
        rms_norm("o_norm", D),
        linear("o_proj", wide, H, bias=False),
        *after,
        chunked_delta_rule(A, D),
        *((State("recurrent_state", A * D * D, "float32"),) if "full_attention" in c.mixers else ()),
        kind="linear_attention",
    )


def chunked_delta_rule(heads: Size, D: Size) -> Matmul:
    """Describe the delta rule by chunks; the products within a chunk are weighted channel by channel, and so are no matrix products."""
    chunks = (length("seq") + CHUNK - 1) // CHUNK
    return matmul("delta_rule", (3, chunks, CHUNK, CHUNK, heads, D), (3, chunks, CHUNK, heads, D, D))


def _mixers(c: Config) -> list[Any]:
    if c.linear.full is None or c.linear.delta is None:
        return ["linear_attention" if index % 4 or not index else "full_attention" for index in layer_range(c.layers)]
    named = {"full_attn_layers": ("full_attention", c.linear.full), "kda_layers": ("linear_attention", c.linear.delta)}
    return kinds_by_number(c, named, "linear_attn_config.")


def _layer_kinds(c: Config) -> list[str]:
    return ["linear_attention" if (index + 1) % c.period else "full_attention" for index in layer_range(c.layers)]


def _mlp_kinds(c: Config) -> list[str]:
    return dense_before(c, c.dense)


def fields(first: int, mixers: Field, *more: Field, kv: int, **changes: Any) -> tuple[Field, ...]:
    """Return the fields of one of the two."""
    return variant(
        (
            *(field for field in LATENT if field.word not in ("shared_experts", "shared_mlp")),
            *latent_fields(q=1, kv=kv, plain=128, rope=64, value=128),
        ),
        *more,
        mixers,
        constant("mixers", lambda c: checked_kinds(c, c.stated_mixers, "layer_types", ("full_attention", "linear_attention"))),
        Field("dense", "first_k_dense_replace", first, "choice", report_default=False),
        *listed_or(_mlp_kinds),
        size("shared_experts", "n_shared_experts", 1, "N", "shared experts", "num_shared_experts"),
        derived("shared_mlp", lambda c: c.shared_experts * c.expert_mlp, "moe_intermediate_size"),
        NO_MLP_BIAS,
        constant("flat_decay", False),
        block=V3_BLOCK,
        heads=32,
        active=size("active", "num_experts_per_tok", 8, "k", "experts per token", "num_experts_per_token"),
        tied=constant("tied", False),
        **changes,
    )


NESTED = nested(
    "linear",
    "linear_attn_config",
    (
        size("dim", "head_dim", None, "D", "head dimension in linear attention"),
        size("heads", "num_heads", None, "A", "heads in linear attention"),
        size("kernel", "short_conv_kernel_size", None, "Z", "kernel size of the convolution"),
        Field("full", "full_attn_layers", None, "choice"),
        Field("delta", "kda_layers", None, "choice"),
    ),
)


def _own_or_flat(word: str) -> Any:
    """Return a size of linear attention: what the sub-config says, else what stands beside it."""
    return lambda c: getattr(c, "flat_" + word) if getattr(c.linear, word) is None else getattr(c.linear, word)


def delta_fields(heads: int, kernel: str = "Y") -> tuple[Field, ...]:
    """Return the sizes of delta attention: what a sub-config says, else what stands beside it; *kernel* is the letter of its convolution."""
    return (
        NESTED,
        size("flat_dim", "linear_head_dim", 128, "X", "head dimension in linear attention"),
        size("flat_heads", "linear_num_heads", heads, "F", "heads in linear attention"),
        size("flat_kernel", "linear_conv_kernel_dim", 4, kernel, "kernel size of the convolution"),
        derived("linear_dim", _own_or_flat("dim")),
        derived("linear_heads", _own_or_flat("heads")),
        derived("kernel", _own_or_flat("kernel")),
    )


KIMI = variant(
    fields(
        1,
        Field("stated_mixers", "layer_types", _mixers, "choice"),
        *delta_fields(32),
        constant("gated", False),
        kv=512,
        vocab=163840,
        hidden=2304,
        mlp=9216,
        layers=27,
        expert_mlp=EXPERT_MLP.with_default(1024),
        experts=size("experts", "num_local_experts", 256, "E", "routed experts", "num_experts"),
    ),
    q_lora=optional("q_lora", "q_lora_rank", None, "Q", "rank of the queries"),
)
BAILING = variant(
    fields(
        2,
        Field("stated_mixers", "layer_types", _layer_kinds, "choice"),
        Field("period", "layer_group_size", 6, "choice"),
        size("flat_dim", "head_dim", 128, "D", "head dimension"),
        size("flat_kernel", "short_conv_kernel_size", 4, "Z", "kernel size of the convolution"),
        size("linear_dim", "linear_head_dim", lambda c: c.flat_dim, "X", "head dimension in linear attention"),
        size("kernel", "linear_conv_kernel_dim", lambda c: c.flat_kernel, "Y", "kernel size of the convolution"),
        size("linear_heads", "linear_num_heads", lambda c: c.heads, "F", "heads in linear attention"),
        constant("gated", True),
        kv=512,
        vocab=157184,
        hidden=2560,
        mlp=6144,
        layers=42,
        expert_mlp=EXPERT_MLP.with_default(768),
        experts=size("experts", "num_local_experts", 512, "E", "routed experts", "num_experts"),
    ),
    q_lora=constant("q_lora", None),
)

OUTER_IGNORED_KEYS = MORE_IGNORED_KEYS | frozenset(
    """kda_lower_bound kda_safe_gate model_max_length moe_renormalize tie_word_embeddings mtp_loss_scaling_factor num_expert_group
    moe_router_activation_func use_grouped_topk""".split()
)
FAMILIES = {
    "kimi_linear": Family("kimi_linear", KIMI, with_heads("KimiLinear", kimi, "lm"), "KimiLinearModel", OUTER_IGNORED_KEYS),
    "bailing_hybrid": Family("bailing_hybrid", BAILING, with_heads("BailingHybrid", kimi, "lm"), "BailingHybridModel", OUTER_IGNORED_KEYS),
}
