"""Bark: three transformers in sequence, from text to semantic tokens, to coarse and to fine codes, which EnCodec turns into a waveform.

Source: github.com/suno-ai/bark; names as in transformers 5.23.0, models/bark/modeling_bark.py. The whole has no forward pass: each part
is run in its turn by ``generate``.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.config.family import Family
from weighbridge.config.fields import TIED, Config, Field, computed, constant, derived, nested, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.sizes import exact, layer_range
from weighbridge.core.tree import Node, Part, Tensor

STAGE = (
    size("positions", "block_size", 1024, "S", "positions", "window_size"),
    size("vocab", "input_vocab_size", 10048, "V", "input vocabulary", "vocab_size"),
    size("out_vocab", "output_vocab_size", 10048, "V_out", "output vocabulary"),
    size("layers", "num_layers", 12, "L", "layers", "num_hidden_layers"),
    size("heads", "num_heads", 12, "A", "attention heads", "num_attention_heads"),
    size("hidden", "hidden_size", 768, "H", "hidden size"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_heads"),
    switch("bias", "bias", True),
    constant("causal", True),
)


def heads_of_codebooks(c: Config) -> int:
    """Return how many codebooks are written: all but those that are given."""
    if c.tied and c.books > 0 and c.given < 1:
        raise ConfigError("with tied heads at least one codebook is given", key="n_codes_given", value=c.given)
    return max(0, c.books - c.given)


FINE = variant(
    STAGE,
    TIED,
    Field("books", "n_codes_total", 8, "choice"),
    Field("given", "n_codes_given", 1, "choice"),
    computed("written", heads_of_codebooks),
    causal=constant("causal", False),
)
FIELDS = (
    nested("semantic", "semantic_config", STAGE),
    nested("coarse", "coarse_acoustics_config", STAGE),
    nested("fine", "fine_acoustics_config", FINE),
    model_config("codec", "codec_config", "encodec"),
)
GENERATED = unknown("BarkModel has no forward pass: each of its parts writes tokens until it is done")


def layers(c: Config) -> tuple[Node, ...]:
    """Describe the layers and the last norm; those that see the past alone keep a mask, and norms may have no shift."""
    H, shift = c.hidden, c.bias or not c.causal
    mask = (Tensor("bias", (1, 1, c.positions, c.positions), "buffer"),) if c.causal else ()
    attention = part(
        "attn",
        *mask,
        linear("att_proj", H, 3 * H, bias=c.bias),
        linear("out_proj", H, H, bias=c.bias),
        attend(heads=c.heads, head_dim=c.head_dim, causal=c.causal),
        kind="self_attention",
    )
    mlp = part("mlp", linear("in_proj", H, 4 * H, bias=c.bias), linear("out_proj", 4 * H, H, bias=c.bias), kind="feed_forward")
    norms = (layer_norm(f"layernorm_{place}", H, bias=shift) for place in (1, 2))
    return (part("layers", *norms, attention, mlp, kind="layer", repeat=c.layers), layer_norm("layernorm_final", H, bias=shift))


def causal_lm(name: str, c: Config) -> Part:
    """Describe a stage that writes one token after another."""
    tables = embedding("input_embeds_layer", c.vocab, c.hidden), embedding("position_embeds_layer", c.positions, c.hidden)
    return part(name, *tables, *layers(c), linear("lm_head", c.hidden, c.out_vocab, bias=False), kind="decoder")


def fine(c: Config) -> Part:
    """Describe the stage that sees all positions at once: a table for every codebook, a head for each it writes."""
    rows = c.vocab if c.tied else c.out_vocab
    heads = [
        linear(
            str(index),
            c.hidden,
            rows,
            bias=False,
            tied_to=f"fine_acoustics.input_embeds_layers.{index + 1}.weight" if c.tied else None,
        )
        for index in layer_range(c.written)
    ]
    tables = embedding("input_embeds_layers", c.vocab, c.hidden, repeat=c.books)
    positions = embedding("position_embeds_layer", c.positions, c.hidden)
    return part("fine_acoustics", tables, positions, *layers(c), part("lm_heads", *heads, kind="head"), kind="decoder")


def bark(c: Config) -> Part:
    """Describe BarkModel."""
    stages = causal_lm("semantic", c.semantic), causal_lm("coarse_acoustics", c.coarse), fine(c.fine)
    return part("", *stages, as_child("codec_model", submodel(c.codec)), kind="model", stream=GENERATED)


FAMILIES = {"bark": Family("bark", FIELDS, {"BarkModel": bark}, "BarkModel")}
