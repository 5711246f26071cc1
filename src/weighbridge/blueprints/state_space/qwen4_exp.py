"""Qwen4-Exp: gated DeltaNet and gated attention over tokens that an indexer picks, hyper-connections, and tables of n-grams in some layers.

Source: Qwen, Qwen4-Exp (2026); names as in transformers 5.23.0, models/qwen4_exp/modeling_qwen4_exp.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.layer_types import one_per_layer
from weighbridge.blueprints.modules.mixture_of_experts import mlp
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.multimodal.qwen_vl_moe import vision_language_family
from weighbridge.blueprints.state_space.qwen3_next import MOE, delta_rule, gated_attention
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, computed, constant, optional, size, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part, State, Tensor

PICKED = unknown("which blocks of tokens a query attends to depends on the tokens")
LARGEST_TABLE = 2**40
"""Rows of an n-gram's table from which on no primes are looked for."""
WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
"""Bases of the Miller-Rabin test that leave no composite number below 3.3e24."""


def is_prime(value: int) -> bool:
    """Say whether a number is prime.

    >>> [value for value in range(30) if is_prime(value)]
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    """
    if value < 2 or any(value % base == 0 for base in WITNESSES):
        return value in WITNESSES
    odd, twos = value - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(value, pow(base, odd, value), twos) for base in WITNESSES)


def _passes(value: int, power: int, twos: int) -> bool:
    if power in (1, value - 1):
        return True
    return any((power := power * power % value) == value - 1 for _ in range(twos - 1))


def primes_from(first: int, count: int) -> list[int]:
    """Return the first primes that are not below a number.

    >>> primes_from(8, 3)
    [11, 13, 17]
    """
    found: list[int] = []
    value = first
    while len(found) < count:
        if is_prime(value):
            found.append(value)
        value += 1
    return found


def table_rows(c: Config) -> tuple[int, ...]:
    """Return how many rows the table of each layer that has one has: a prime for each head of each n-gram, rounded up together."""
    heads = (c.ngram - 1) * c.ngram_heads
    if not c.tabled:
        return ()
    if c.rows_from > LARGEST_TABLE or heads * len(c.tabled) > 4096:
        raise ConfigError(Text("larger than {largest}", largest=LARGEST_TABLE), key="ngram_vocab_size_base", value=c.rows_from)
    if heads < 1 or c.table % heads:
        raise ConfigError(Text("{table} is not split among {heads} heads", table=c.table, heads=heads), key="ple_embed_dim", value=c.table)
    primes = primes_from(max(2, c.rows_from), heads * len(c.tabled))
    sums = (sum(primes[place * heads : (place + 1) * heads]) for place in range(len(c.tabled)))
    return tuple(-(-total // c.rounded_to) * c.rounded_to for total in sums)


def tabled_layers(c: Config) -> tuple[int, ...]:
    """Return the layers that have a table, counted from 0; the config counts from 1."""
    stated = c.stated_tables or ()
    if not isinstance(stated, (list, tuple)) or any(type(layer) is not int for layer in stated):
        raise ConfigError("expected layer numbers", key="ple_layer_ids", value=stated)
    found = tuple(layer - 1 for layer in sorted(set(stated)))
    wrong = [layer + 1 for layer in found if not 0 <= layer < c.layers or c.mixers[layer] != "linear_attention"]
    if wrong:
        raise ConfigError("only layers of linear attention have tables", key="ple_layer_ids", value=wrong)
    return found


def _mixers(c: Config) -> list[str]:
    kinds = one_per_layer(c, c.stated_kinds, "layer_types")
    strange = [kind for kind in kinds if kind not in ("linear_attention", "full_attention", "indexed_attention")]
    if strange:
        raise ConfigError(Text("{strange!r:.40} is no kind of its layers", strange=strange[0]), key="layer_types", value=kinds)
    if any(kind != "linear_attention" for kind in kinds):
        for word, key in (("index_heads", "indexer_n_heads"), ("index_keys", "indexer_kv_heads"), ("index_dim", "indexer_head_dim")):
            if getattr(c, word) is None:
                raise ConfigError("the config does not state it, and the reference has no default that builds", key=key)
    return ["linear_attention" if kind == "linear_attention" else "indexed_attention" for kind in kinds]


def _kinds(c: Config) -> list[tuple[str, int | None]]:
    places = {layer: place for place, layer in enumerate(c.tabled)}
    return [(mixer, places.get(layer)) for layer, mixer in enumerate(c.mixers)]


TEXT = variant(
    tuple(field for field in MOE if field.word not in ("mixers", "mlps", "labels")),
    number("streams", "hc_count", 4, minimum=2),
    size("rank", "hc_lowrank", 320, "R", "rank of the weights that mix streams"),
    optional("index_heads", "indexer_n_heads", None, "A_i", "heads of the indexer"),
    optional("index_keys", "indexer_kv_heads", None, "K_i", "key heads of the indexer"),
    optional("index_dim", "indexer_head_dim", None, "D_i", "width of the indexer's heads"),
    constant("mixers", _mixers),
    size("table", "ple_embed_dim", lambda c: c.hidden, "T", "width of an n-gram's embedding", null=lambda c: c.hidden),
    size("table_kernel", "ple_conv_kernel_size", 4, "J", "width of the convolution behind a table"),
    number("ngram", "ngram_size", 3),
    number("ngram_heads", "heads_per_ngram", 8, minimum=0),
    number("rows_from", "ngram_vocab_size_base", 20_000_000, minimum=0),
    number("rounded_to", "make_ngram_vocab_size_divisible_by", 128),
    Field("stated_tables", "ple_layer_ids", None, "choice", report_default=False),
    computed("tabled", tabled_layers),
    computed("rows", table_rows),
    computed("kinds", _kinds),
    active=10,
    experts=512,
)


def indexed_attention(c: Config) -> Part:
    """Describe gated attention behind an indexer, which picks the blocks of tokens that are attended to."""
    whole_attention = gated_attention(c)
    index = part(
        "indexer",
        linear("index_qk_proj", c.hidden, (c.index_heads + c.index_keys) * c.index_dim, bias=False),
        rms_norm("q_layernorm", c.index_dim),
        rms_norm("k_layernorm", c.index_dim),
        kind="indexer",
        stream=PICKED,
    )
    keys = State("indexer_keys", c.index_keys * c.index_dim, per_token=True)
    return replace(whole_attention, children=(*whole_attention.children, index, keys))


def mixer_of_streams(c: Config, name: str, *, injects: bool = True) -> Part:
    """Describe what mixes the streams into a layer's input, and says how its output goes back to each."""
    wide = c.streams * c.hidden
    maps = linear("input_mix_weight_down", wide, c.rank, bias=False), linear("input_mix_weight_up", c.rank, wide, bias=False)
    back = (linear("block_inject_weight", wide, c.streams, bias=False),) if injects else ()
    return part(name, rms_norm("hc_norm", wide), *maps, *back, kind="hyper_connection")


def table(c: Config, place: int) -> Part:
    """Describe the n-gram's embeddings of a layer, and the convolution and gates through which they reach the streams."""
    heads, wide = (c.ngram - 1) * c.ngram_heads, c.streams * c.hidden
    hashes = Tensor("layer_multipliers", (c.ngram,), "buffer"), Tensor("ngram_heads_vocab_sizes", (heads,), "buffer")
    inner = part(
        "ple_embedding",
        *hashes,
        Tensor("ngram_heads_offsets", (heads,), "buffer"),
        embedding("ngram_embedding", c.rows[place], exact(c.table, heads)),
        kind="embeddings",
    )
    convolution = part("conv1d", Tensor("weight", (wide, 1, c.table_kernel), "weight"), kind="convolution", stream="seq")
    return part(
        "ple",
        inner,
        linear("key_proj", c.table, wide, bias=False),
        linear("value_proj", c.table, c.hidden, bias=False),
        *(rms_norm(name, wide) for name in ("norm_key", "norm_query", "norm_conv")),
        convolution,
        State("conv_states", wide * (c.table_kernel - 1) * c.ngram),
        State("context", c.ngram - 1, "int64"),
        kind="embeddings",
    )


def layer(c: Config, mixer: str, place: int | None) -> tuple[Node, ...]:
    """Describe a layer: attention, experts, a table where it has one, and what mixes the streams before each half."""
    return (
        delta_rule(c) if mixer == "linear_attention" else indexed_attention(c),
        mlp(c, "sparse"),
        *(() if place is None else (table(c, place),)),
        mixer_of_streams(c, "attn_hyper_connection"),
        mixer_of_streams(c, "mlp_hyper_connection"),
    )


def qwen4_exp(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers, and what mixes the streams at the end; the first indexed layer keeps three positions of each token for all."""
    layers = stack("layers", c.kinds, c.layers, lambda kind: layer(c, *kind))
    places = (State("indexer_position_ids", 3, "int64", per_token=True),) if "indexed_attention" in c.mixers else ()
    return embedding("embed_tokens", c.vocab, c.hidden), *layers, mixer_of_streams(c, "hyper_connection_mixer", injects=False), *places


NAME = "Qwen4Exp"
MORE_IGNORED_KEYS = frozenset("indexer_budget indexer_compress_ratio output_gate_type seed split_ngram_parts norm_topk_prob".split())
FAMILIES = {
    "qwen4_exp_text": Family(
        "qwen4_exp_text", TEXT, with_heads(NAME, qwen4_exp, "lm", base="TextModel"), f"{NAME}TextModel", IGNORED_KEYS | MORE_IGNORED_KEYS
    ),
    "qwen4_exp": vision_language_family("qwen4_exp", NAME),
}
