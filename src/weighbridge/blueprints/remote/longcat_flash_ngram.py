"""LongCat-Flash-Lite (2026): LongCat-Flash, whose words are looked up in runs of two to four as well; its code stands beside its files.

Source: arXiv 2601.21204; modeling_longcat_ngram.py of meituan-longcat/LongCat-Flash-Lite. Held tensor by tensor to the class of mlx-lm 0.32.2,
models/longcat_flash_ngram.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.longcat_flash import LONGCAT, MORE_IGNORED_KEYS, longcat, normalize_config
from weighbridge.blueprints.modules.causal_lm import with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, size
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, gated_mlp, linear, part, replace, stack
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part, Tensor

VARYING = unknown("LongCat sends a varying number of tokens to zero-computation experts")


def lite(c: Config) -> tuple[Node, ...]:
    """Describe the tables, and LongCat-Flash's layers and last norm behind them."""
    _, layer, norm = longcat(c)
    assert isinstance(layer, Part)
    own = (mixture(c) if child.name == "mlp" else child for child in layer.children)
    return (tables(c), replace(layer, children=tuple(own)), norm)


def mixture(c: Config) -> Part:
    """Describe experts, each with matrices of its own as in the files, and a router that knows those that do nothing too."""
    rows = c.experts + c.idle
    experts = replace(gated_mlp("experts", c.hidden, c.expert_mlp), kind="experts", repeat=c.experts, experts=c.experts, active=c.active)
    correction = Tensor("e_score_correction_bias", (rows,), "buffer")
    router = part("router", correction, linear("classifier", c.hidden, rows, bias=c.router_bias), kind="router")
    return part("mlp", replace(experts, stream=VARYING), router, kind="mixture")


def tables(c: Config) -> Part:
    """Describe the words' table, and one for every length of a run and every split of the width; each has two rows more than the one before."""
    many = c.splits * (c.longest - 1)
    width = exact(c.hidden, many)
    rows = c.ratio * c.vocab

    def table(index: int) -> tuple[Node, ...]:
        return embedding("", rows + 2 * index + 1, width).children

    numbered = range(many)
    maps = linear("post_projs", width, c.hidden, bias=False, repeat=many)
    return part(
        "ngram_embeddings",
        embedding("word_embeddings", c.vocab, c.hidden),
        *stack("embedders", numbered, many, table),
        maps,
        kind="embeddings",
    )


NGRAM = (
    *LONGCAT,
    size("ratio", "ngram_vocab_size_ratio", 78, "G", "rows of a table of runs for each word"),
    choice("longest", "emb_neighbor_num", 4),
    choice("splits", "emb_split_num", 4),
)
FAMILIES = {
    "longcat_flash_ngram": Family(
        "longcat_flash_ngram",
        NGRAM,
        with_heads("LongcatFlashNgram", lite, "lm", table="ngram_embeddings.word_embeddings"),
        "LongcatFlashNgramForCausalLM",
        MORE_IGNORED_KEYS | {"mla_scale_q_lora", "mla_scale_kv_lora", "zero_expert_type"},
        normalize_config=normalize_config,
    )
}
