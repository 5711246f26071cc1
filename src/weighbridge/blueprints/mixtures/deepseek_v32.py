"""DeepSeek V3.2 and GLM-5: sparse latent attention over the keys that a small indexer selects for each query.

Source: DeepSeek-AI, "DeepSeek-V3.2-Exp" (2025), section 1; class and tensor names as in transformers 5.23.0,
models/deepseek_v32/modeling_deepseek_v32.py and models/glm_moe_dsa/modeling_glm_moe_dsa.py, which compute the scores of all keys and
mask those that are not picked: the arithmetic is that of full attention, and the indexer's beside it.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.deepseek import LATENT, MORE_IGNORED_KEYS, SPARSE, V3_BLOCK, latent_attention, latent_fields
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds, dense_before, listed_or
from weighbridge.blueprints.modules.mixture_of_experts import EXPERTS, mlp
from weighbridge.config.family import Family
from weighbridge.config.fields import INDEX_HEAD_DIM, INDEX_HEADS, Q_LORA_RANK, Config, Field, constant, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import embedding, layer_norm, linear, matmul, part, replace, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any


def backbone(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of indexed attention and an MLP or experts, and a last norm."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        attention = latent_attention(c, indexer(c), cached=c.index_dim) if kinds[1] == "full" else latent_attention(c)
        return (attention, mlp(c, kinds[0]), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    kinds = list(zip(c.kinds, c.indexers, strict=True))
    return (embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("norm", H))


def indexer(c: Config) -> Part:
    """Describe the indexer whose queries are made of the rank that attention's queries are made of."""
    return scorer(c, c.q_lora)


def scorer(c: Config, source: Size, *after: Node) -> Part:
    """Describe the scores that pick the keys: a few narrow heads, made of *source* channels, over one shared key, weighted by the token."""
    heads, D = c.index_heads, c.index_dim
    return part(
        "indexer",
        linear("wq_b", source, heads * D, bias=False),
        linear("wk", c.hidden, D, bias=False),
        layer_norm("k_norm", D),
        linear("weights_proj", c.hidden, heads, bias=False),
        *after,
        matmul("scores", ("seq", heads, "seq", D), ("seq", heads, "seq")),
        kind="indexer",
    )


def _layer_kinds(c: Config) -> list[str]:
    return dense_before(c, c.dense)


def _indexers(c: Config) -> list[str]:
    if c.pattern is not None:
        return [{"F": "full", "S": "shared"}.get(letter, letter) for letter in c.pattern]
    period = max(c.period, 1)
    return ["shared" if max(index - c.offset + 1, 0) % period else "full" for index in layer_range(c.layers)]


def indexer_kinds(c: Config) -> list[str]:
    """Return for each layer whether it has an indexer or shares an earlier one's."""
    stated = c.stated_indexers[: c.layers] if isinstance(c.stated_indexers, list) else c.stated_indexers  # one that is longer is taken
    kinds = checked_kinds(c, stated, "indexer_types", ("full", "shared"))
    if kinds[0] == "shared":
        raise ConfigError("the first layer has nothing to share", key="indexer_types", value=kinds)
    return kinds


ROUTED = replace(EXPERTS.with_default(256), aliases=(*EXPERTS.aliases, "num_experts"))


def fields(*more: Field, q: int, plain: int, value: int, index_heads: int, experts: Field = ROUTED, **changes: Any) -> tuple[Field, ...]:
    """Return the fields of one of the two."""
    rank = Q_LORA_RANK.with_default(q)
    made = variant(
        LATENT,
        *latent_fields(q=q, kv=512, plain=plain, rope=64, value=value),
        Field("dense", "first_k_dense_replace", 3, "choice"),
        *listed_or(_layer_kinds),
        INDEX_HEADS.with_default(index_heads),
        INDEX_HEAD_DIM.with_default(128),
        *SPARSE,
        NO_MLP_BIAS,
        *more,
        active=8,
        experts=experts,
        expert_mlp=2048,
        block=V3_BLOCK,
        **changes,
    )
    return variant(made, q_lora=rank)


V32 = fields(
    constant("indexers", lambda c: ["full"] * len(layer_range(c.layers))),
    q=1536,
    plain=128,
    value=128,
    index_heads=64,
    vocab=129280,
    hidden=7168,
    mlp=18432,
    layers=61,
    heads=128,
)
SHARED_INDEXERS = (
    Field("pattern", "index_topk_pattern", None, "choice", report_default=False),
    Field("period", "index_topk_freq", 1, "choice", report_default=False),
    Field("offset", "index_skip_topk_offset", 2, "choice", report_default=False),
    Field("stated_indexers", "indexer_types", _indexers, "choice"),
    constant("indexers", indexer_kinds),
)
"""Which layers have an indexer, and which share the one before."""
DSA = fields(
    *SHARED_INDEXERS,
    q=2048,
    plain=192,
    value=256,
    index_heads=32,
    vocab=154880,
    hidden=6144,
    mlp=12288,
    layers=78,
    heads=64,
)

IGNORED_KEYS = MORE_IGNORED_KEYS | {"index_topk", "mlp_bias"}
FAMILIES = {
    "deepseek_v32": Family("deepseek_v32", V32, with_heads("DeepseekV32", backbone, "lm"), "DeepseekV32Model", IGNORED_KEYS),
    "glm_moe_dsa": Family("glm_moe_dsa", DSA, with_heads("GlmMoeDsa", backbone, "lm"), "GlmMoeDsaModel", IGNORED_KEYS),
}
