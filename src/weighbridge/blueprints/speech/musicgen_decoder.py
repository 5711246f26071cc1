"""The decoders of MusicGen, which write several codebooks of audio tokens at once.

Source: arXiv 2306.05284; class and tensor names as in transformers 5.23.0, models/musicgen/modeling_musicgen.py and
models/musicgen_melody/modeling_musicgen_melody.py. The first attends to the text, the second has the melody in front of its tokens.
"""

from __future__ import annotations

from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import CODEBOOKS, FFN_DIM, HEADS, HIDDEN, LAYERS, VOCAB, Config, constant, derived
from weighbridge.core.parts import embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part


def musicgen(c: Config) -> tuple[Node, ...]:
    """Describe a table for each codebook, with one row for what is not yet written, layers without biases, and a last norm."""
    H = c.hidden
    crossed = (
        replace(fairseq_attention("encoder_attn", H, c.heads, c.head_dim, keys="encoder", bias=False), requires="encoder"),
        replace(layer_norm("encoder_attn_layer_norm", H), requires="encoder"),
    )
    layer = part(
        "layers",
        fairseq_attention("self_attn", H, c.heads, c.head_dim, causal=True, bias=False),
        layer_norm("self_attn_layer_norm", H),
        *(crossed if c.crossed else ()),
        linear("fc1", H, c.mlp, bias=False),
        linear("fc2", c.mlp, H, bias=False),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab + 1, H, repeat=c.codebooks), layer, layer_norm("layer_norm", H))


def classes(name: str) -> dict[str, Blueprint]:
    """Return the three classes of one decoder."""

    def model(c: Config) -> Part:
        return part("decoder", *musicgen(c), kind="decoder")

    def causal(c: Config) -> Part:
        heads = linear("lm_heads", c.hidden, c.vocab, bias=False, repeat=c.codebooks)
        return part("", part("model", model(c), kind="backbone"), heads, kind="model")

    return {
        f"{name}Decoder": lambda c: part("", *musicgen(c), kind="model"),
        f"{name}Model": lambda c: part("", model(c), kind="model"),
        f"{name}ForCausalLM": causal,
    }


FIELDS = (
    VOCAB.with_default(2048),
    HIDDEN.with_default(1024),
    FFN_DIM.with_default(4096),
    LAYERS.with_default(24),
    HEADS.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    CODEBOOKS.with_default(4),
)
MORE_IGNORED_KEYS = frozenset(
    """activation_function add_cross_attention audio_channels cross_attention_hidden_size is_decoder max_position_embeddings
    scale_embedding tie_word_embeddings""".split()
)

FAMILIES = {
    "musicgen_decoder": Family(
        "musicgen_decoder", (*FIELDS, constant("crossed", True)), classes("Musicgen"), "MusicgenForCausalLM", MORE_IGNORED_KEYS
    ),
    "musicgen_melody_decoder": Family(
        "musicgen_melody_decoder",
        (*FIELDS, constant("crossed", False)),
        classes("MusicgenMelody"),
        "MusicgenMelodyForCausalLM",
        MORE_IGNORED_KEYS,
    ),
}
