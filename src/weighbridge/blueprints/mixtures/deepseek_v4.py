"""DeepSeek V4: attention over a window and over compressed blocks of what lies before it, in several residual streams.

Source: DeepSeek-AI, "DeepSeek-V4" (2026), section 2; class and tensor names as in transformers 5.23.0,
models/deepseek_v4/modeling_deepseek_v4.py. It computes the scores of all keys and masks those outside the window or not picked:
the arithmetic is that of full attention over the tokens and the blocks. Layers for predicting further tokens are in the
published files, and no class builds them.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import with_heads
from weighbridge.blueprints.modules.layer_types import one_per_layer
from weighbridge.blueprints.modules.mixture_of_experts import correction
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    ACTIVE_EXPERTS,
    HEAD_DIM,
    HEADS,
    HIDDEN,
    INDEX_HEAD_DIM,
    INDEX_HEADS,
    LABELS,
    LAYERS,
    Q_LORA_RANK,
    TIED,
    VOCAB,
    Config,
    Field,
    constant,
    derived,
    optional,
    size,
    switch,
)
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import at_most, length
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, fused_experts, gated_mlp, linear, matmul, part, rms_norm, stack
from weighbridge.core.sizes import Size, exact, layer_range
from weighbridge.core.tree import Node, Part, State, Tensor

WINDOW, SPARSE, HEAVY = "sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"
RATIOS = {0: WINDOW, 4: SPARSE, 128: HEAVY}
"""The kind of a layer by how many tokens it makes one block of, as the published files say it."""


def deepseek_v4(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers between mixed residual streams, a last norm, and what merges the streams into one."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        norms = rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
        return (
            attention(c, kinds[0]),
            experts(c, hashed=kinds[1] == "hash_moe"),
            *norms,
            hyper_connection(c, "attn_hc"),
            hyper_connection(c, "ffn_hc"),
        )

    kinds = list(zip(c.attentions, c.routers, strict=True))
    return embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("norm", H), stream_head(c)


def stream_head(c: Config) -> Part:
    """Describe what merges the residual streams into one, after the last layer."""
    N = c.streams
    fn, base, scale = Tensor("hc_fn", (N, N * c.hidden)), Tensor("hc_base", (N,), "bias"), Tensor("hc_scale", (1,), "gain")
    return part("hc_head", fn, base, scale, kind="linear")


def hyper_connection(c: Config, name: str) -> Part:
    """Describe a hyper-connection: weights for what goes into a sublayer, what comes out, and how the streams are mixed."""
    N, weights = c.streams, (c.streams + 2) * c.streams
    return part(
        name,
        Tensor("fn", (weights, N * c.hidden)),
        Tensor("base", (weights,), "bias"),
        Tensor("scale", (3,), "gain"),
        matmul("mix", ("seq", N, N, c.hidden)),
        kind="linear",
    )


def attention(c: Config, kind: str) -> Part:
    """Describe attention with one head of keys, which are the values too, and an output in groups of low rank."""
    H, heads, D = c.hidden, c.heads, c.head_dim
    keys = "seq" if kind == WINDOW else length("seq") + length("seq") // c.rates[kind]
    return part(
        "self_attn",
        Tensor("sinks", (heads,), "bias"),
        linear("q_a_proj", H, c.q_lora, bias=False),
        rms_norm("q_a_norm", c.q_lora),
        linear("q_b_proj", c.q_lora, heads * D, bias=False),
        linear("kv_proj", H, D, bias=False),
        rms_norm("kv_norm", D),
        linear("o_a_proj", c.group_width, c.groups * c.o_lora, bias=False),
        linear("o_b_proj", c.groups * c.o_lora, H, bias=False),
        *(() if kind == WINDOW else (compressor(c, kind),)),
        # a layer that compresses holds its keys, which are its values, once; one that does not holds both
        attend(
            heads=heads, kv_heads=1, head_dim=D, keys=keys, causal=True, window=c.window, cache=(2 if kind == WINDOW else 1) * D, kept="seq"
        ),
        kind="self_attention",
    )


def compressor(c: Config, kind: str) -> Part:
    """Describe what makes blocks of tokens; where a block overlaps the one before it, in two series, and an indexer picks blocks."""
    D, series = c.head_dim, 2 if kind == SPARSE else 1
    return part("compressor", *blocks(c, D, series, c.rates[kind]), *((indexer(c),) if kind == SPARSE else ()), kind="compressor")


def blocks(c: Config, width: Size, series: int, rate: int) -> tuple[Node, ...]:
    """Describe the weighted mean of every so many tokens; blocks are kept, and tokens that make none yet.

    Where blocks overlap, half of what went into the last one is kept for the next.
    """
    full = length("seq") // rate
    overlap = State("overlap", 2 * width, per_token=True, tokens=at_most(full, 1) * rate)
    return (
        State("blocks", width, per_token=True, tokens=full),
        State("buffer", 2 * series * width, per_token=True, tokens=length("seq") - full * rate),
        *((overlap,) if series == 2 else ()),
        Tensor("position_bias", (rate, series * width), "bias"),
        linear("kv_proj", c.hidden, series * width, bias=False),
        linear("gate_proj", c.hidden, series * width, bias=False),
        rms_norm("kv_norm", width),
    )


def indexer(c: Config) -> Part:
    """Describe the scores that pick blocks: narrow heads over one shared key, weighted by the token itself."""
    J, D, rate = c.index_heads, c.index_dim, c.rates[SPARSE]
    weights = linear("weights_proj", c.hidden, J, bias=False)
    return part(
        "indexer",
        *blocks(c, D, 2, rate),
        linear("q_b_proj", c.q_lora, J * D, bias=False),
        part("scorer", weights, matmul("scores", ("seq", J, length("seq") // rate, D)), kind="indexer"),
        kind="indexer",
    )


def experts(c: Config, *, hashed: bool) -> Part:
    """Describe a router, experts, and the expert that works on every token; a *hashed* router looks the experts up by the token."""
    table = Tensor("tid2eid", (c.vocab, c.active), "buffer") if hashed else correction(c)
    gate = part("gate", Tensor("weight", (c.experts, c.hidden)), table, kind="linear")
    shared = gated_mlp("shared_experts", c.hidden, c.expert_mlp, bias=c.mlp_bias)
    return part("mlp", gate, fused_experts(c.experts, c.active, c.hidden, c.expert_mlp), shared, kind="mixture")


def _group_width(c: Config) -> Size:
    """Divide the heads' outputs into groups; what is left over where they do not divide is dropped, as the reference does."""
    width = c.heads * c.head_dim
    return exact(width, c.groups) if c.groups_divide else width // c.groups


def _attentions(c: Config) -> list[str]:
    kinds = c.stated_attentions
    if kinds is None and c.ratios is not None:
        if any(ratio not in RATIOS for ratio in c.ratios):
            raise ConfigError(
                Text("expected 0, 4 or 128 for each layer, found {ratios!r:.60}", ratios=c.ratios), key="compress_ratios", value=c.ratios
            )
        kinds = [RATIOS[ratio] for ratio in c.ratios]
    if kinds is None:
        kinds = [HEAVY if index < 2 or index % 2 == 0 else SPARSE for index in layer_range(c.layers)]
    kinds = one_per_layer(c, list(kinds)[: c.layers], "layer_types")
    if any(kind not in RATIOS.values() for kind in kinds):
        raise ConfigError(
            Text("expected {values}, found {kinds!r:.60}", values=", ".join(RATIOS.values()), kinds=kinds), key="layer_types", value=kinds
        )
    return kinds


def _routers(c: Config) -> list[str]:
    kinds = c.stated_routers or ["hash_moe" if index < c.hashed else "moe" for index in layer_range(c.layers)]
    kinds = one_per_layer(c, list(kinds)[: c.layers], "mlp_layer_types")
    if any(kind not in ("hash_moe", "moe") for kind in kinds):
        raise ConfigError(Text("expected hash_moe or moe, found {kinds!r:.60}", kinds=kinds), key="mlp_layer_types", value=kinds)
    return kinds


def _rates(c: Config) -> dict[str, int]:
    given = {kind: rate for kind, rate in ((SPARSE, c.sparse_rate), (HEAVY, c.heavy_rate)) if rate is not None}
    rates = {**(c.stated_rates or {SPARSE: 4, HEAVY: 128}), **given}
    for kind in c.attentions:
        if kind != WINDOW and (type(rates.get(kind)) is not int or rates[kind] < 1):
            raise ConfigError(Text("{kind} needs a whole number of tokens for a block", kind=kind), key="compress_rates", value=rates)
    return rates


FIELDS: tuple[Field, ...] = (
    VOCAB.with_default(129280),
    HIDDEN.with_default(4096),
    size("expert_mlp", "moe_intermediate_size", 2048, "M", "intermediate size of an expert", "intermediate_size"),
    LAYERS.with_default(43),
    HEADS.with_default(64),
    HEAD_DIM.with_default(512),
    Q_LORA_RANK.with_default(1024),
    size("groups", "o_groups", 8, "G", "groups of heads in the output"),
    size("o_lora", "o_lora_rank", 1024, "R", "rank of a group's output"),
    constant("groups_divide", lambda c: c.heads * c.head_dim % c.groups == 0),
    derived("group_width", _group_width, "o_groups"),
    size("experts", "n_routed_experts", 256, "E", "routed experts", "num_local_experts"),
    ACTIVE_EXPERTS.with_default(6),
    size("streams", "hc_mult", 4, "N", "residual streams"),
    INDEX_HEADS.with_default(64),
    INDEX_HEAD_DIM.with_default(128),
    switch("mlp_bias", "mlp_bias", False),
    Field("stated_attentions", "layer_types", None, "choice", report_default=False),
    Field("ratios", "compress_ratios", None, "choice", report_default=False),
    constant("attentions", _attentions),
    Field("stated_routers", "mlp_layer_types", None, "choice", report_default=False),
    Field("hashed", "num_hash_layers", 3, "choice", report_default=False),
    constant("routers", _routers),
    Field("stated_rates", "compress_rates", None, "choice", report_default=False),
    optional("window", "sliding_window", 128, "W", "attention window"),
    Field("sparse_rate", "compress_rate_csa", None, "choice", report_default=False),
    Field("heavy_rate", "compress_rate_hca", None, "choice", report_default=False),
    constant("rates", _rates),
    TIED.with_default(False),
    LABELS,
    constant("head_bias", False),
)
IGNORED_KEYS = frozenset(
    """attention_bias compress_rope_theta expert_dtype hc_eps hc_sinkhorn_iters index_topk max_position_embeddings n_shared_experts
    norm_topk_prob num_key_value_heads num_nextn_predict_layers o_rope_head_dim partial_rotary_factor qk_rope_head_dim
    routed_scaling_factor scoring_func swiglu_limit topk_method""".split()
)
FAMILIES = {
    "deepseek_v4": Family("deepseek_v4", FIELDS, with_heads("DeepseekV4", deepseek_v4, "lm"), "DeepseekV4Model", IGNORED_KEYS),
}
