"""BLOOM, Falcon and MPT: fused query-key-value projections, ALiBi or rotary positions (2022 and 2023).

Source: arXiv 2211.05100 (BLOOM), 2311.16867 (Falcon), mosaicml/llm-foundry (MPT); class and tensor names as in transformers
5.23.0, models/bloom/modeling_bloom.py, models/falcon/modeling_falcon.py, models/mpt/modeling_mpt.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, Body, uneven_heads, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    D_MODEL,
    HEADS,
    LABELS,
    LAYERS,
    N_HEAD,
    N_HEADS,
    N_LAYER,
    N_LAYERS,
    TIED,
    VOCAB,
    Config,
    Field,
    constant,
    derived,
    size,
    switch,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any

NAMES = ("dense_h_to_4h", "dense_4h_to_h")

BLOOM = (
    VOCAB.with_default(250880),
    size("hidden", "hidden_size", 64, "H", "hidden size", "n_embed"),
    N_LAYER.with_default(2),
    N_HEAD.with_default(8),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "n_head"),
    LABELS,
    TIED,
    constant("head_bias", False),
)
FALCON = (
    VOCAB.with_default(65024),
    size("hidden", "hidden_size", 4544, "H", "hidden size", "n_embed"),
    LAYERS.with_default(32),
    HEADS.with_default(71),
    size("kv_heads", "num_kv_heads", lambda c: c.heads, "K", "key-value heads"),
    size("mlp", "ffn_hidden_size", lambda c: 4 * c.hidden, "I", "intermediate size"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    LABELS,
    TIED,
    switch("biased", "bias", False),
    switch("new", "new_decoder_architecture", False),
    switch("shared", "multi_query", True),
    switch("parallel", "parallel_attn", True),
    Field("norms", "num_ln_in_parallel_attn", lambda c: 2 if c.new else 1, "choice"),
    constant("head_bias", False),
)


def refuse_grouped_heads(value: Any) -> Any:
    """Refuse MPT with grouped heads, which the reference does not build."""
    kind = value.get("attn_type", "multihead_attention") if isinstance(value, dict) else "multihead_attention"
    if kind not in ("multihead_attention", "multiquery_attention"):
        raise ConfigError(Text("the reference library builds no MPT with {kind!r:.40}", kind=kind), key="attn_config.attn_type", value=kind)
    return value


MPT = (
    VOCAB.with_default(50368),
    D_MODEL.with_default(2048),
    N_LAYERS.with_default(24),
    N_HEADS.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "d_model", "n_heads"),
    Field("attention", "attn_config", None, "choice", report_default=False, read=refuse_grouped_heads),
    LABELS,
    TIED,
    constant("head_bias", False),
)


def bloom(c: Config) -> tuple[Node, ...]:
    """Describe BLOOM: a norm after the embeddings, no positions, biases throughout."""
    H = c.hidden
    layer = part(
        "h",
        layer_norm("input_layernorm", H),
        attention(c, 3 * H, c.heads, bias=True),
        layer_norm("post_attention_layernorm", H),
        plain_mlp("mlp", H, 4 * H, NAMES, bias=True),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("word_embeddings", c.vocab, H), layer_norm("word_embeddings_layernorm", H), layer, layer_norm("ln_f", H))


def falcon(c: Config) -> tuple[Node, ...]:
    """Describe Falcon: attention and MLP in parallel, keys and values of one head (7B) or of a few (40B and 180B)."""
    H, D = c.hidden, c.head_dim
    kept: Size = c.kv_heads if c.new else 1 if c.shared else c.heads
    # the newer architecture repeats its keys and values for every query head before the reference keeps them
    cache = 2 * c.heads * D if c.new else None
    if not c.parallel:
        norms: tuple[str, ...] = ("post_attention_layernorm", "input_layernorm")
    else:
        norms = ("ln_attn", "ln_mlp") if c.norms == 2 else ("input_layernorm",)
    layer = part(
        "h",
        attention(c, (c.heads + 2 * kept) * D, kept, bias=c.biased, cache=cache),
        plain_mlp("mlp", H, c.mlp, NAMES, bias=c.biased),
        *(layer_norm(name, H) for name in norms),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("word_embeddings", c.vocab, H), layer, layer_norm("ln_f", H))


def attention(c: Config, width: Size, kept: Size, *, bias: bool, cache: Size | None = None) -> Part:
    """Describe attention with one layer of *width* outputs for queries, keys and values."""
    H = c.hidden
    fused = linear("query_key_value", H, width, bias=bias)
    op = attend(causal=True, heads=c.heads, kv_heads=kept, head_dim=c.head_dim, cache=cache)
    return part("self_attention", fused, linear("dense", H, H, bias=bias), op, kind="self_attention")


def mpt(c: Config) -> tuple[Node, ...]:
    """Describe MPT: no biases at all, not even in the norms, and an MLP of four times the hidden size whatever the config says."""
    H = c.hidden
    layer = part(
        "blocks",
        layer_norm("norm_1", H, bias=False),
        part(
            "attn",
            linear("Wqkv", H, 3 * H, bias=False),
            linear("out_proj", H, H, bias=False),
            attend(causal=True, heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        layer_norm("norm_2", H, bias=False),
        plain_mlp("ffn", H, 4 * H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("wte", c.vocab, H), layer, layer_norm("norm_f", H, bias=False))


MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """activation alibi apply_residual_connection_post_layernorm embedding_fraction emb_pdrop expansion_ratio init_device
    learned_pos_emb masked_softmax_fusion max_seq_len no_bias norm_type offset_alibi seq_length slow_but_exact""".split()
)


def family(name: str, body: Body, table: str, fields: tuple[Field, ...]) -> Family:
    """Return the family of one of the three, whose heads hold the body as ``transformer``."""
    classes = with_heads(name, body, prefix="transformer", table=table, token="classifier")
    return Family(name.lower(), fields, classes, name + "Model", MORE_IGNORED_KEYS)


FAMILIES = {
    "bloom": family("Bloom", bloom, "word_embeddings", BLOOM),
    "falcon": family("Falcon", falcon, "word_embeddings", FALCON),
    "mpt": family("Mpt", mpt, "wte", uneven_heads(MPT)),
}
