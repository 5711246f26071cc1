"""The encoder and decoder of the original Transformer as in fairseq and Marian: the layers of BART-like models.

Source: arXiv 1706.03762, 1910.13461; names as in transformers 5.23.0, models/bart/modeling_bart.py. The decoder reads
``decoder`` tokens, the rest ``seq``; a decoder alone reads ``seq``, and attends to ``encoder`` states if it is given any.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.config.fields import D_MODEL, LABELS, POSITIONS, TIED, VOCAB, Config, Field, derived, size
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.length import Stream
from weighbridge.core.parts import embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

IGNORED_KEYS = frozenset(
    """activation_function init_std scale_embedding is_decoder normalize_before normalize_embedding add_bias_logits
    add_final_layer_norm classif_dropout force_bos_token_to_be_generated static_position_embeddings num_hidden_layers
    extra_pos_embeddings replacing_rate variant layernorm_variant do_blenderbot_90_layernorm unk_token_id""".split()
)


class Style(NamedTuple):
    """What tells the members of the family apart.

    Attributes:
        positions: ``learned``, ``fixed`` (a frozen table of sinusoids) or ``computed`` (no table).
        offset: Rows of the position table beyond those that the config states.
        embed_norm: Whether a norm follows the embeddings.
        final_norm: Whether a norm follows the last layer (those that normalize first need it).
        logits_bias: Whether generation keeps a bias of the logits as a buffer.
    """

    positions: str = "learned"
    offset: int = 0
    embed_norm: bool = False
    final_norm: bool = False
    logits_bias: bool = True


def fields(vocab: int, positions: int, hidden: int, mlp: int, layers: tuple[int, int], heads: int, labels: int = 2) -> tuple[Field, ...]:
    """List the fields of one model type, whose defaults differ; *layers* are the encoder's and the decoder's."""
    return (
        VOCAB.with_default(vocab),
        POSITIONS.with_default(positions),
        D_MODEL.with_default(hidden),
        size("mlp", "encoder_ffn_dim", mlp, "I", "intermediate size of the encoder"),
        size("layers", "encoder_layers", layers[0], "L", "encoder layers", "num_hidden_layers"),
        size("heads", "encoder_attention_heads", heads, "A", "attention heads of the encoder", "num_attention_heads"),
        size("decoder_mlp", "decoder_ffn_dim", mlp, "I_dec", "intermediate size of the decoder"),
        size("decoder_layers", "decoder_layers", layers[1], "L_dec", "decoder layers"),
        size("decoder_heads", "decoder_attention_heads", heads, "A_dec", "attention heads of the decoder"),
        derived("head_dim", lambda c: exact(c.hidden, c.heads), "d_model", "encoder_attention_heads"),
        derived("decoder_head_dim", lambda c: exact(c.hidden, c.decoder_heads), "d_model", "decoder_attention_heads"),
        LABELS.with_default(labels),
        TIED,
    )


def attention(
    c: Config, name: str, *, decoder: bool = False, keys: Stream | None = None, bias: bool = True, key_bias: bool = True
) -> tuple[Part, Part]:
    """Describe attention and the norm that belongs to it."""
    heads, head_dim = (c.decoder_heads, c.decoder_head_dim) if decoder else (c.heads, c.head_dim)
    requires = "encoder" if isinstance(keys, str) and keys == "encoder" else None
    norm = replace(layer_norm(f"{name}_layer_norm", c.hidden), requires=requires)
    return replace(
        fairseq_attention(name, c.hidden, heads, head_dim, keys=keys, causal=decoder and keys is None, bias=bias, key_bias=key_bias),
        requires=requires,
    ), norm


def layer(c: Config, *, memory: Stream | None = None, bias: bool = True, key_bias: bool = True) -> Part:
    """Describe a layer: the encoder's, or with *memory*, the stream it attends to, the decoder's."""
    H, mlp, layers = (c.hidden, c.mlp, c.layers) if memory is None else (c.hidden, c.decoder_mlp, c.decoder_layers)
    crossed = attention(c, "encoder_attn", decoder=True, keys=memory, bias=bias, key_bias=key_bias) if memory is not None else ()
    return part(
        "layers",
        *attention(c, "self_attn", decoder=memory is not None, bias=bias, key_bias=key_bias),
        *crossed,
        linear("fc1", H, mlp),
        linear("fc2", mlp, H),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=layers,
    )


def positions(c: Config, style: Style) -> Part:
    """Describe the table of positions, which may be frozen sinusoids."""
    table = Tensor("weight", (c.positions + style.offset, c.hidden), "embedding", frozen=style.positions == "fixed")
    return part("embed_positions", table, kind="embedding")


def stack(c: Config, style: Style, vocab: Size, tied_to: str | None, *layers: Part) -> tuple[Node, ...]:
    """Describe one side: words, positions, layers, and the norms the style has."""
    H = c.hidden
    return (
        embedding("embed_tokens", vocab, H, tied_to=tied_to),
        *((positions(c, style),) if style.positions != "computed" else ()),
        *layers,
        *((layer_norm("layernorm_embedding", H),) if style.embed_norm else ()),
        *((layer_norm("layer_norm", H),) if style.final_norm else ()),
    )


def words(c: Config, prefix: str) -> tuple[Part, str | None]:
    """Describe the shared table, and return the name that both sides are tied to; untied, each side keeps a table of its own."""
    return embedding("shared", c.vocab, c.hidden), f"{prefix}shared.weight" if c.tied else None


def backbone(
    c: Config, style: Style, prefix: str = "", encoder: Callable[[Config, str | None], tuple[Node, ...]] | None = None, *, bias: bool = True
) -> tuple[Part, ...]:
    """Describe the shared table, the encoder (of its own kind where *encoder* gives what is inside, for the name it is tied to) and the decoder."""
    shared, tied_to = words(c, prefix)
    inside = stack(c, style, c.vocab, tied_to, layer(c)) if encoder is None else encoder(c, tied_to)
    decoder = stack(c, style, c.vocab, tied_to, layer(c, memory="seq", bias=bias))
    return shared, part("encoder", *inside, kind="encoder"), part("decoder", *decoder, kind="decoder", stream="decoder")
