"""Pix2Struct: a vision transformer over flattened patches of any layout, and a T5 decoder.

Source: arXiv 2210.03347, section 2; names as in transformers 5.23.0, models/pix2struct/modeling_pix2struct.py. The
arithmetic is that of as many patches as the tables of rows and columns have entries.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child
from weighbridge.config.family import Family
from weighbridge.config.fields import D_FF, HEADS, HIDDEN, LAYERS, VOCAB, Config, nested, size, switch, with_changes
from weighbridge.core.length import Stream
from weighbridge.core.parts import attend, embedding, linear, part, replace, rms_norm
from weighbridge.core.sizes import is_some
from weighbridge.core.tree import Every, Part

KEY = size("head_dim", "d_kv", 64, "D", "head dimension")
UNTIED = switch("tied", "tie_word_embeddings", False)
VISION = (
    HIDDEN.with_default(768),
    size("patch_width", "patch_embed_hidden_size", 768, "P", "values per patch"),
    D_FF.with_default(2048),
    KEY,
    LAYERS.with_default(12),
    HEADS.with_default(12),
    size("positions", "seq_len", 4096, "S", "positions"),
)
TEXT = (
    VOCAB.with_default(50244),
    HIDDEN.with_default(768),
    KEY,
    D_FF.with_default(2048),
    size("layers", "num_layers", 12, "L", "layers", "num_hidden_layers", "decoder_layers", "encoder_layers"),
    size("heads", "num_heads", 12, "A", "attention heads", "num_attention_heads", "decoder_attention_heads", "encoder_attention_heads"),
    size("buckets", "relative_attention_num_buckets", 32, "B", "relative position buckets"),
    UNTIED,
)


def patches_tower(c: Config) -> tuple[Part, ...]:
    """Describe a vision tower over flattened patches, each with its row and its column."""
    H, inner = c.hidden, c.heads * c.head_dim
    embeddings = part(
        "embeddings",
        linear("patch_projection", c.patch_width, H),
        embedding("row_embedder", c.positions, H),
        embedding("column_embedder", c.positions, H),
        kind="embeddings",
    )
    mixed = part(
        "attention",
        *(linear(name, H, inner, bias=False) for name in ("query", "key", "value")),
        linear("output", inner, H, bias=False),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = (mixed, gated_mlp_block(c, "mlp"), rms_norm("pre_mlp_layer_norm", H), rms_norm("pre_attention_layer_norm", H))
    return (embeddings, part("encoder", part("layer", *layer, kind="layer", repeat=c.layers), kind="encoder"), rms_norm("layernorm", H))


def gated_mlp_block(c: Config, name: str) -> Part:
    """Describe T5's gated network."""
    return part(
        name,
        linear("wi_0", c.hidden, c.mlp, bias=False),
        linear("wi_1", c.hidden, c.mlp, bias=False),
        linear("wo", c.mlp, c.hidden, bias=False),
        kind="feed_forward",
    )


def vision(c: Config) -> Part:
    """Describe Pix2StructVisionModel."""
    return part("", *patches_tower(c), kind="vision", stream=c.positions)


def attention(c: Config, *, keys: Stream | None = None, biased: bool = False) -> Part:
    """Describe attention, whose maps keep the hidden size whatever the width of a head."""
    H = c.hidden
    streams = (None, keys, keys)
    maps = (linear(name, H, H, bias=False, stream=stream) for name, stream in zip(("query", "key", "value"), streams, strict=True))
    bias = (embedding("relative_attention_bias", c.buckets, c.heads),) if biased else ()
    inner = part(
        "attention",
        *maps,
        linear("output", H, H, bias=False),
        *bias,
        attend(heads=1, head_dim=H, keys=keys, causal=keys is None),
        kind="attention",
    )
    name = "self_attention" if keys is None else "encoder_decoder_attention"
    requires = keys if isinstance(keys, str) else None
    return part(name, inner, rms_norm("layer_norm", H), kind="self_attention" if keys is None else "cross_attention", requires=requires)


def text(c: Config, keys: Stream = "encoder") -> Part:
    """Describe Pix2StructTextModel: the first layer alone has a table of relative positions."""

    def layer(biased: bool) -> tuple[Part, ...]:
        network = part("mlp", gated_mlp_block(c, "DenseReluDense"), rms_norm("layer_norm", c.hidden), kind="feed_forward")
        return (attention(c, biased=biased), attention(c, keys=keys), network)

    layers = (
        part("layer", *layer(True), kind="layer", repeat=1),
        part("layer", *layer(False), kind="layer", repeat=c.layers - 1, indices=Every(1)),
    )
    return part(
        "",
        embedding("embed_tokens", c.vocab, c.hidden),
        *(layers if is_some(c.layers) else ()),
        rms_norm("final_layer_norm", c.hidden),
        linear("lm_head", c.hidden, c.vocab, bias=False, tied_to="embed_tokens.weight" if c.tied else None),
        kind="text",
    )


def pix2struct(c: Config) -> Part:
    """Describe Pix2StructForConditionalGeneration; whether the head is tied is stated outside the text's own config."""
    words = with_changes(c.text, tied=c.tied)
    decoder = as_child("decoder", text(words), streams={"seq": "decoder", "encoder": c.vision.positions})
    return part("", replace(vision(c.vision), name="encoder"), decoder, kind="model")


IGNORED_KEYS = frozenset(
    """is_vqa dense_act_fn dropout_rate relative_attention_max_distance relative_attention_num_buckets layer_norm_epsilon is_decoder
    add_cross_attention""".split()
)
BASE = "Pix2StructForConditionalGeneration"
FAMILIES = {
    "pix2struct": Family(
        "pix2struct",
        (nested("text", "text_config", TEXT), nested("vision", "vision_config", VISION), UNTIED),
        {BASE: pix2struct},
        BASE,
        IGNORED_KEYS,
    ),
    "pix2struct_text_model": Family("pix2struct_text_model", TEXT, {"Pix2StructTextModel": text}, "Pix2StructTextModel", IGNORED_KEYS),
    "pix2struct_vision_model": Family(
        "pix2struct_vision_model", VISION, {"Pix2StructVisionModel": vision}, "Pix2StructVisionModel", IGNORED_KEYS
    ),
}
