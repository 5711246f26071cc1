"""Evolla: Llama, some of whose layers look at a protein, which SaProt reads and a resampler brings to a fixed number of vectors.

Source: bioRxiv 2025.01.05.630192 (Evolla), arXiv 2204.14198 (the resampler); names as in transformers 5.23.0,
models/evolla/modeling_evolla.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA
from weighbridge.blueprints.encoders import esm
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, attention, with_heads
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, constant, nested, size, switch, variant, with_changes
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import attend, embedding, gated_mlp, layer_norm, linear, part, plain_mlp, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

PROTEIN = unknown("the length of the protein depends on the input")


def feed_forward(name: str, width: Size, times: Size) -> Part:
    """Describe a norm and two linear maps."""
    return part(name, layer_norm("norm", width), *plain_mlp("", width, width * times, ("fc1", "fc2")).children, kind="feed_forward")


def resampler(c: Config) -> Part:
    """Describe vectors that attend to the protein and to themselves, layer by layer."""
    P, H, inner = c.protein.hidden, c.hidden, c.resampler_heads * c.resampler_dim
    seen: Stream = c.latents
    attends = part(
        "0",
        layer_norm("norm_media", P, stream=PROTEIN),
        layer_norm("norm_latents", P),
        linear("to_q", P, inner, bias=False),
        linear("to_kv", P, 2 * inner, bias=False, stream=PROTEIN),
        linear("to_out", inner, P, bias=False),
        attend(heads=c.resampler_heads, head_dim=c.resampler_dim, queries=seen, keys=PROTEIN),
        kind="cross_attention",
    )
    return part(
        "sequence_compressor_resampler",
        Tensor("latents", (c.latents, P), "embedding"),
        part("layers", attends, feed_forward("1", P, c.resampler_times), kind="layer", repeat=c.resampler_layers),
        layer_norm("norm", H),
        linear("protein_projector", P, H),
        kind="projector",
        stream=seen,
    )


def adapter(c: Config) -> Part:
    """Describe attention from the text to the protein's vectors, and a feed-forward step, each behind a gate."""
    H, wide = c.hidden, c.heads * (c.hidden // c.heads)
    seen: Stream = c.latents
    return part(
        "adapter",
        Tensor("gate_attention", (1,), "gain"),
        Tensor("gate_ffw", (1,), "gain"),
        linear("query", H, wide),
        linear("key_protein", H, wide, stream=seen),
        linear("value_protein", H, wide, stream=seen),
        rms_norm("attention_norm", H),
        linear("out_proj", H, H, bias=c.adapter_bias),
        feed_forward("ff", H, c.adapter_times),
        attend(heads=c.heads, head_dim=c.hidden // c.heads, keys=seen),
        kind="cross_attention",
        requires="proteins",
    )


def saprot(c: Config) -> tuple[Part, ...]:
    """Describe ESM without the head that predicts contacts; what rotates positions is there beside a table of them, too."""
    embeddings, *_, encoder, _ = esm.esm(c, pooled=False)
    _, rotary, *_ = esm.esm(with_changes(c, place="rotary"), pooled=False)
    return embeddings, rotary, encoder


def evolla(c: Config) -> tuple[Node, ...]:
    """Describe the words, what reads the protein, and the layers."""

    def layer(kind: str) -> tuple[Node, ...]:
        norms = (rms_norm(name, c.hidden) for name in c.norms)
        return attention(c), gated_mlp("mlp", c.hidden, c.mlp, bias=c.mlp_bias), *norms, *((adapter(c),) if kind == "looks" else ())

    reader = part("model", *saprot(c.protein), kind="encoder", stream=PROTEIN)
    return (
        embedding("embed_tokens", c.vocab, c.hidden),
        part("protein_encoder", reader, resampler(c), kind="encoder", requires="proteins"),
        *stack("layers", c.kinds, c.layers, layer),
        rms_norm("norm", c.hidden),
    )


def _kinds(c: Config) -> list[str]:
    """Return which layers look at the protein: so many, as far apart as they can be."""
    step = max(c.layers // c.adapters, 1)
    return ["plain" if (index + 1) % step else "looks" for index in layer_range(c.layers)]


SAPROT = variant(
    esm.FIELDS,
    vocab=446,
    hidden=1280,
    layers=33,
    heads=20,
    mlp=5120,
    place=choice("place", "position_embedding_type", "rotary"),
)
FIELDS = (
    *variant(
        tuple(field for field in LLAMA if field.word != "labels"),
        constant("tied", False),
        vocab=128256,
        hidden=4096,
        mlp=14336,
        layers=32,
        heads=32,
        kv_heads=8,
    ),
    nested("protein", "protein_encoder_config", SAPROT),
    number("adapters", "aligner_num_add_layers", 8),
    size("adapter_times", "aligner_ffn_mult", 4, "F", "widening in a layer that attends to the protein"),
    switch("adapter_bias", "aligner_enable_bias", True),
    size("resampler_layers", "resampler_depth", 6, "L_res", "layers of the resampler"),
    size("resampler_dim", "resampler_dim_head", 64, "D_res", "head dimension of the resampler"),
    size("resampler_heads", "resampler_heads", 8, "A_res", "heads of the resampler"),
    size("latents", "resampler_num_latents", 64, "Z", "vectors per protein"),
    size("resampler_times", "resampler_ff_mult", 4, "F_res", "widening in the resampler"),
    computed("kinds", _kinds),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | esm.IGNORED_KEYS | {"aligner_attention_probs_dropout_prob", "tie_word_embeddings"}
CLASSES = with_heads("Evolla", evolla, "lm", lm="ForProteinText2Text")
FAMILIES = {name: Family(name, FIELDS, CLASSES, "EvollaModel", MORE_IGNORED_KEYS) for name in ("evolla", "EvollaModel")}
