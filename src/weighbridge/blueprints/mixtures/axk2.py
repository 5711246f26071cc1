"""A.X K2: DeepSeek V3.2's attention with an output gate, and gated norms.

Source: class and tensor names as in transformers 5.23.0, models/axk2/modeling_axk2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.deepseek import LATENT, MORE_IGNORED_KEYS, SPARSE, V3_BLOCK, latent_fields
from weighbridge.blueprints.mixtures.deepseek_v32 import indexer
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.layer_types import legacy_sparse_step
from weighbridge.blueprints.modules.mixture_of_experts import EXPERTS, mlp
from weighbridge.config.family import Family
from weighbridge.config.fields import INDEX_HEAD_DIM, INDEX_HEADS, Q_LORA_RANK, Config, size, variant
from weighbridge.core.parts import attend, embedding, linear, part, plain_mlp, rms_norm, stack
from weighbridge.core.tree import Node, Part


def axk2(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of indexed attention and an MLP or experts, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        second = gated_norm(c, "post_attention_layernorm") if kind == "sparse" else rms_norm("post_attention_layernorm", H)
        return (attention(c), mlp(c, kind), gated_norm(c, "input_layernorm"), second)

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def gated_norm(c: Config, name: str) -> Part:
    """Describe a norm whose result weighs itself, through a small rank."""
    return part(name, rms_norm("norm", c.hidden), plain_mlp("mlp", c.hidden, c.norm_rank, ("fc1", "fc2")), kind="norm")


def attention(c: Config) -> Part:
    """Describe latent attention with one matrix for queries and gate, and an indexer."""
    H, A, width = c.hidden, c.heads, c.plain_dim + c.rope_dim
    return part(
        "self_attn",
        linear("q_a_proj", H, c.q_lora, bias=c.qkv_bias),
        rms_norm("q_a_layernorm", c.q_lora),
        linear("q_gate_proj", 2 * c.q_lora, A * (width + c.value_dim), bias=False),
        linear("kv_a_proj_with_mqa", H, c.kv_lora + c.rope_dim, bias=c.qkv_bias),
        rms_norm("kv_a_layernorm", c.kv_lora),
        linear("kv_b_proj", c.kv_lora, A * (c.plain_dim + c.value_dim), bias=False),
        linear("o_proj", A * c.value_dim, H, bias=c.out_bias),
        indexer(c),
        attend(causal=True, heads=A, head_dim=width, value_dim=c.value_dim, cache=c.kv_lora + c.rope_dim + c.index_dim),
        kind="latent_attention",
    )


AXK2 = variant(
    (*LATENT, *latent_fields(q=384, kv=128, plain=64, rope=32, value=64)),
    INDEX_HEADS.with_default(16),
    INDEX_HEAD_DIM.with_default(128),
    size("norm_rank", "gated_norm_rank", 16, "G", "rank of a norm's gate"),
    *legacy_sparse_step(1),
    *SPARSE,
    NO_MLP_BIAS,
    vocab=163840,
    hidden=2048,
    mlp=5120,
    layers=48,
    q_lora=Q_LORA_RANK.with_default(384),
    experts=EXPERTS.with_default(128),
    active=8,
    expert_mlp=512,
    block=V3_BLOCK,
)

CLASSES = with_heads("AXK2", axk2, "lm sequence token")
FAMILIES = {"axk2": Family("axk2", AXK2, CLASSES, "AXK2Model", MORE_IGNORED_KEYS | {"index_topk"})}
