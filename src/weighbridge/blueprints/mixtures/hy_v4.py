"""Hunyuan 4: indexed latent attention with an output gate and sinks, in residual streams that are not mixed with each other.

Source: Tencent, Hy4 (2026); class and tensor names as in transformers 5.23.0, models/hy_v4/modeling_hy_v4.py, which computes the
scores of all keys and masks those that are not picked: the arithmetic is that of full attention, and the indexer's beside it.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.deepseek import LATENT, MORE_IGNORED_KEYS, SPARSE, V3_BLOCK, latent_attention, latent_fields
from weighbridge.blueprints.mixtures.deepseek_v4 import stream_head
from weighbridge.blueprints.mixtures.deepseek_v32 import indexer, indexer_kinds
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.layer_types import dense_before, listed_or
from weighbridge.blueprints.modules.mixture_of_experts import EXPERTS, mlp
from weighbridge.config.family import Family
from weighbridge.config.fields import INDEX_HEAD_DIM, INDEX_HEADS, Q_LORA_RANK, Config, Field, constant, size, variant
from weighbridge.core.parts import embedding, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor


def hy_v4(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers between residual streams, a last norm, and what merges the streams into one."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        norms = rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
        return attention(c, kinds[1]), mlp(c, kinds[0]), *norms, hyper_connection(c, "attn_hc"), hyper_connection(c, "ffn_hc")

    kinds = list(zip(c.kinds, c.indexers, strict=True))
    return embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("norm", H), stream_head(c)


def attention(c: Config, indexed: str) -> Part:
    """Describe latent attention with a sink for each head and a gate on its output, and an indexer unless an earlier layer's is shared."""
    gate = linear("gate_proj", c.hidden, c.heads * c.value_dim, bias=False)
    after, cached = ((indexer(c), gate), c.index_dim) if indexed == "full" else ((gate,), 0)
    plain = latent_attention(c, *after, cached=cached)
    return replace(plain, children=(Tensor("sinks", (c.heads,), "bias"), *plain.children))


def hyper_connection(c: Config, name: str) -> Part:
    """Describe an independent hyper-connection: weights for what goes into a sublayer and what comes out of it."""
    weights = 2 * c.streams
    fn = Tensor("fn", (weights, c.streams * c.hidden))
    return part(name, fn, Tensor("base", (weights,), "bias"), Tensor("scale", (2,), "gain"), kind="linear")


def _indexers(c: Config) -> list[str]:
    return ["full" if index == 0 or index % 4 == 1 else "shared" for index in layer_range(c.layers)]


FIELDS = variant(
    (*LATENT, *latent_fields(q=1536, kv=512, plain=192, rope=64, value=256)),
    *listed_or(lambda c: dense_before(c, 1)),
    INDEX_HEADS.with_default(16),
    INDEX_HEAD_DIM.with_default(128),
    *SPARSE,
    NO_MLP_BIAS,
    Field("stated_indexers", "indexer_types", _indexers, "choice"),
    constant("indexers", indexer_kinds),
    size("streams", "hc_mult", 4, "S", "residual streams"),
    vocab=120832,
    hidden=2816,
    mlp=6912,
    layers=34,
    heads=32,
    active=8,
    experts=EXPERTS.with_default(256),
    expert_mlp=768,
    block=V3_BLOCK,
    q_lora=Q_LORA_RANK.with_default(1536),
)
IGNORED_KEYS = MORE_IGNORED_KEYS | frozenset(
    "hc_eps hc_magnitude index_topk layer_types learnable_sink_init mlp_bias norm_topk_prob swiglu_limit topk_group".split()
)
FAMILIES = {"hy_v4": Family("hy_v4", FIELDS, with_heads("HYV4", hy_v4, "lm"), "HYV4Model", IGNORED_KEYS)}
