"""T5-like encoder-decoders: relative position bias in the first layer of each stack, optional gated feed-forward.

Source: arXiv 1910.10683 (T5), 2010.11934 (mT5), 2304.09151 (UMT5); names as in
transformers 5.23.0, models/t5/modeling_t5.py. The whole family shares one embedding table, whatever
``tie_word_embeddings`` says.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import (
    D_FF,
    D_MODEL,
    LABELS,
    NUM_HEADS,
    VOCAB,
    AtInit,
    Config,
    Field,
    choice,
    constant,
    size,
    switch,
    variant,
)
from weighbridge.core.length import Stream
from weighbridge.core.parts import attend, embedding, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size, is_some
from weighbridge.core.tree import Every, Node, Part

IGNORED_KEYS = frozenset(
    """relative_attention_max_distance dropout_rate dense_act_fn scalable_attention scale_decoder_outputs tie_word_embeddings
    tie_encoder_decoder n_positions output_past task_specific_params""".split()
)


def fields(vocab: int, mlp: int, layers: int, heads: int, activation: str) -> tuple[Field, ...]:
    """List the fields of one model type; the types differ in their defaults alone."""
    return (
        VOCAB.with_default(vocab),
        D_MODEL.with_default(512),
        size("head_dim", "d_kv", 64, "D", "head dimension", "head_dim"),
        D_FF.with_default(mlp),
        size("layers", "num_layers", layers, "L", "encoder layers", "num_hidden_layers"),
        size("decoder_layers", "num_decoder_layers", AtInit(lambda c: c.layers), "L_dec", "decoder layers"),
        NUM_HEADS.with_default(heads),
        size("buckets", "relative_attention_num_buckets", 32, "B", "relative distance buckets"),
        LABELS,
        choice("activation", "feed_forward_proj", activation, read=str),
        Field("gated", "is_gated_act", lambda c: c.activation.startswith("gated"), "choice", report_default=False, nullable=True),
        switch("decoder", "is_decoder", False),
        constant("long", None),
    )


def stack(
    c: Config, layers: Size, *, decoder: bool, memory: Stream | None = None, first: bool = True, kept: bool = True
) -> tuple[Node, ...]:
    """Describe a stack of blocks; its relative bias is in block 0 alone, or with *first* unset in every block."""

    def block(bias: bool) -> Part:
        crossed = (sublayer(c, attention(c, "EncDecAttention", keys=memory or "encoder"), requires=None if memory else "encoder"),)
        own = attention(c, "SelfAttention", bias=bias, causal=decoder and kept) if decoder or c.long is None else c.long(c, bias)
        sublayers = (sublayer(c, own), *(crossed if decoder else ()), sublayer(c, feed_forward(c)))
        inner = tuple(replace(module, indices=(index,)) for index, module in enumerate(sublayers))
        return part("block", *inner, kind="layer", repeat=1 if bias and first else layers - 1 if first else layers)

    if not is_some(layers):
        return (rms_norm("final_layer_norm", c.hidden),)
    blocks: tuple[Node, ...] = (block(True), replace(block(False), indices=Every(1))) if first else (block(True),)
    return (*blocks, rms_norm("final_layer_norm", c.hidden))


def sublayer(c: Config, inner: Part, requires: str | None = None) -> Part:
    """Describe one of the two or three steps of a block: what it does, and the norm that stands before it."""
    return part("layer", inner, rms_norm("layer_norm", c.hidden), kind=inner.kind, repeat=1, requires=requires)


def attention(c: Config, name: str, *, keys: Stream | None = None, bias: bool = False, causal: bool = False) -> Part:
    """Describe attention, whose width ``heads * head_dim`` need not be the hidden size."""
    H, inner = c.hidden, c.heads * c.head_dim
    table = (embedding("relative_attention_bias", c.buckets, c.heads),) if bias else ()
    return part(
        name,
        linear("q", H, inner, bias=False),
        linear("k", H, inner, bias=False, stream=keys),
        linear("v", H, inner, bias=False, stream=keys),
        linear("o", inner, H, bias=False),
        *table,
        attend(causal=causal, heads=c.heads, head_dim=c.head_dim, keys=keys),
        kind="cross_attention" if keys else "self_attention",
    )


def feed_forward(c: Config) -> Part:
    """Describe the feed-forward step, under the name that T5 kept from its ReLU days; T5 v1.1 gates it."""
    H, mlp = c.hidden, c.mlp
    inner = (linear("wi_0", H, mlp, bias=False), linear("wi_1", H, mlp, bias=False)) if c.gated else (linear("wi", H, mlp, bias=False),)
    return part("DenseReluDense", *inner, linear("wo", mlp, H, bias=False), kind="feed_forward")


def backbone(c: Config, prefix: str = "", *, first: bool = True, decoder: bool = True) -> tuple[Part, ...]:
    """Describe the shared table, the encoder and, unless left out, the decoder."""
    shared = embedding("shared", c.vocab, c.hidden)
    tokens = embedding("embed_tokens", c.vocab, c.hidden, tied_to=f"{prefix}shared.weight")
    if not decoder:
        return shared, part("encoder", tokens, *stack(c, c.layers, decoder=c.decoder, first=first, kept=False), kind="encoder")
    reading = part("encoder", tokens, *stack(c, c.layers, decoder=False, first=first), kind="encoder")
    writing = stack(c, c.decoder_layers, decoder=True, memory="seq", first=first)
    return shared, reading, part("decoder", tokens, *writing, kind="decoder", stream="decoder")


def stack_alone(c: Config, *, first: bool = True) -> Part:
    """Describe one stack by itself: an encoder, or a decoder if the config says so."""
    return part("", embedding("embed_tokens", c.vocab, c.hidden), *stack(c, c.layers, decoder=c.decoder, first=first), kind="model")


def classes(prefix: str, *, first: bool = True) -> Mapping[str, Blueprint]:
    """Return the classes of a model type; *first* says whether block 0 alone holds the relative bias."""

    def model(c: Config) -> Part:
        return part("", *backbone(c, first=first), kind="model")

    def generation(c: Config) -> Part:
        head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to="shared.weight", stream="decoder")
        return part("", *backbone(c, first=first), head, kind="model")

    def encoder(c: Config) -> Part:
        return part("", *backbone(c, first=first, decoder=False), kind="model")

    def sequence_classification(c: Config) -> Part:
        head = part(
            "classification_head", linear("dense", c.hidden, c.hidden), linear("out_proj", c.hidden, c.labels), kind="head", stream="one"
        )
        return part("", part("transformer", *backbone(c, "transformer.", first=first), kind="backbone"), head, kind="model")

    def token_classification(c: Config) -> Part:
        inner = part("transformer", *backbone(c, "transformer.", first=first, decoder=False), kind="backbone")
        return part("", inner, linear("classifier", c.hidden, c.labels), kind="model")

    def question_answering(c: Config) -> Part:
        return part("", *backbone(c, first=first), linear("qa_outputs", c.hidden, c.labels, stream="decoder"), kind="model")

    return {
        f"{prefix}Model": model,
        f"{prefix}Stack": lambda c: stack_alone(c, first=first),
        f"{prefix}ForConditionalGeneration": generation,
        f"{prefix}EncoderModel": encoder,
        f"{prefix}ForSequenceClassification": sequence_classification,
        f"{prefix}ForTokenClassification": token_classification,
        f"{prefix}ForQuestionAnswering": question_answering,
    }


def piano(c: Config) -> Part:
    """Describe Pop2PianoForConditionalGeneration: T5 on mel frames with the composer in front, and a head of its own."""
    shared, reading, writing = backbone(c)
    composer = part("mel_conditioner", embedding("embedding", c.composers, c.hidden), kind="embeddings")
    head = linear("lm_head", c.hidden, c.vocab, bias=False, stream="decoder")
    return part("", shared, composer, reading, writing, head, kind="model")


T5 = fields(32128, 2048, 6, 8, "relu")
MT5 = fields(250112, 1024, 8, 6, "gated-gelu")

WIDTH = size("head_dim", "d_kv", 64, "D", "head dimension")
"""Of the relatives whose class knows no other name for it."""
PIANO = (
    *variant(fields(2400, 2048, 6, 8, "gated-gelu"), head_dim=WIDTH),
    size("composers", "composer_vocab_size", 21, "V_com", "composers"),
)
POP2PIANO = {"Pop2PianoForConditionalGeneration": piano, "Pop2PianoStack": stack_alone}

FAMILIES = {
    "t5": Family("t5", T5, classes("T5"), "T5Model", IGNORED_KEYS),
    "mt5": Family("mt5", MT5, classes("MT5"), "MT5Model", IGNORED_KEYS),
    "pop2piano": Family("pop2piano", PIANO, POP2PIANO, "Pop2PianoForConditionalGeneration", IGNORED_KEYS),
    "umt5": Family("umt5", MT5, classes("UMT5", first=False), "UMT5Model", IGNORED_KEYS),
}
