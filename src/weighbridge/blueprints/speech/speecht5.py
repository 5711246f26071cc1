"""SpeechT5: one encoder-decoder for text and speech, with a prenet and a postnet for each (Ao et al., 2021).

Source: arXiv 2110.07205; names as in transformers 5.23.0, models/speecht5/modeling_speecht5.py. A side alone reads ``seq``, which
counts samples of a waveform, or tokens; ``decoder`` counts mel frames, or tokens. Without a speaker's vector, its map does not run.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules.speech_encoder import FIELDS as HEARING
from weighbridge.blueprints.modules.speech_encoder import IGNORED_KEYS, frames, mask_embedding
from weighbridge.blueprints.speech.wav2vec2 import features, positions
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import HIDDEN, MEL_BINS, TIED, VOCAB, Config, Field, derived, size
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import batch_norm, conv1d, embedding, fairseq_attention, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size, exact, layer_range
from weighbridge.core.tree import Every, Node, Part, Tensor

KEPT = "widths kernels strides position_kernel position_groups conv_bias norm time_mask feature_mask batch_norm projection_norm stacked".split()
FIELDS = (
    VOCAB.with_default(81),
    HIDDEN.with_default(768),
    size("mlp", "encoder_ffn_dim", 3072, "I", "intermediate size of the encoder"),
    size("layers", "encoder_layers", 12, "L", "encoder layers", "num_hidden_layers"),
    size("heads", "encoder_attention_heads", 12, "A", "attention heads of the encoder", "num_attention_heads"),
    size("decoder_mlp", "decoder_ffn_dim", 3072, "I_dec", "intermediate size of the decoder"),
    size("decoder_layers", "decoder_layers", 6, "L_dec", "decoder layers"),
    size("decoder_heads", "decoder_attention_heads", 12, "A_dec", "attention heads of the decoder"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "encoder_attention_heads"),
    derived("decoder_head_dim", lambda c: exact(c.hidden, c.decoder_heads), "hidden_size", "decoder_attention_heads"),
    size("reach", "encoder_max_relative_position", 160, "R", "relative positions, each way"),
    *(field for field in HEARING if field.word in KEPT),
    MEL_BINS.with_default(80),
    size("prenet_layers", "speech_decoder_prenet_layers", 2, "L_pre", "layers of the prenet"),
    size("prenet", "speech_decoder_prenet_units", 256, "U_pre", "width of the prenet"),
    size("speaker", "speaker_embedding_dim", 512, "X", "width of a speaker vector"),
    Field("postnet_layers", "speech_decoder_postnet_layers", 5, "choice"),
    size("postnet", "speech_decoder_postnet_units", 256, "U_pos", "width of the postnet"),
    size("postnet_kernel", "speech_decoder_postnet_kernel", 5, "K_pos", "kernel size of the postnet"),
    size("reduction", "reduction_factor", 2, "F", "frames that the decoder writes at once"),
    TIED,
)
MORE_IGNORED_KEYS = IGNORED_KEYS | set(
    """positional_dropout scale_embedding speech_decoder_prenet_dropout speech_decoder_postnet_dropout max_speech_positions
    max_text_positions use_guided_attention_loss guided_attention_loss_num_heads guided_attention_loss_sigma
    guided_attention_loss_scale""".split()
)


def feed_forward(c: Config, mlp: Size) -> Part:
    """Describe the feed-forward step."""
    return part("feed_forward", linear("intermediate_dense", c.hidden, mlp), linear("output_dense", mlp, c.hidden), kind="feed_forward")


def encoder(c: Config, tokens: Stream) -> tuple[Node, ...]:
    """Describe the encoder over *tokens*, whose attention also sees relative positions."""
    H, A, D = c.hidden, c.heads, c.head_dim
    plain = fairseq_attention("attention", H, A, D)
    seen = replace(plain, children=(*plain.children, matmul("positions", (A, tokens, tokens, D))))
    layer = (seen, layer_norm("layer_norm", H), feed_forward(c, c.mlp), layer_norm("final_layer_norm", H))
    table = part("embed_positions", embedding("pe_k", 2 * c.reach, D), kind="embeddings")
    return layer_norm("layer_norm", H), part("layers", *layer, kind="layer", repeat=c.layers), table


def decoder(c: Config, memory: Stream) -> tuple[Node, ...]:
    """Describe the decoder, which attends to *memory*."""
    H, A, D = c.hidden, c.decoder_heads, c.decoder_head_dim
    requires = "encoder" if isinstance(memory, str) and memory == "encoder" else None
    own = (fairseq_attention("self_attn", H, A, D, causal=True), layer_norm("self_attn_layer_norm", H))
    crossed = (fairseq_attention("encoder_attn", H, A, D, keys=memory), layer_norm("encoder_attn_layer_norm", H))
    crossed = (replace(crossed[0], requires=requires), replace(crossed[1], requires=requires))
    return (
        part(
            "layers",
            *own,
            *crossed,
            feed_forward(c, c.decoder_mlp),
            layer_norm("final_layer_norm", H),
            kind="layer",
            repeat=c.decoder_layers,
        ),
    )


SCALE = part("encode_positions", Tensor("alpha", (), "gain"), kind="positions")


def speech_prenet(c: Config) -> tuple[Node, ...]:
    """Describe what hears a waveform: wav2vec 2.0's convolutions."""
    last = c.widths[-1]
    projection = part("feature_projection", layer_norm("layer_norm", last), linear("projection", last, c.hidden), kind="projection")
    return (*mask_embedding(c), replace(features(c), name="feature_encoder"), replace(projection, stream=frames(c)), positions(c))


def text_prenet(c: Config) -> tuple[Node, ...]:
    """Describe what reads text in front of the encoder."""
    return embedding("embed_tokens", c.vocab, c.hidden), SCALE


def repeats(c: Config) -> tuple[Node, ...]:
    """Describe what takes the decoder's own mel frames, and the vector of the speaker."""
    U, H = c.prenet, c.hidden
    first = linear("layers", c.mels, U, repeat=1)
    others = linear("layers", U, U, repeat=c.prenet_layers - 1, indices=Every(1))
    return first, others, linear("final_layer", U, H), SCALE, replace(linear("speaker_embeds_layer", c.speaker + H, H), requires="speaker")


def writes(c: Config) -> tuple[Node, ...]:
    """Describe what takes the decoder's own text."""
    return (embedding("embed_tokens", c.vocab, c.hidden),)


def speech_postnet(c: Config) -> Part:
    """Describe what makes mel frames of the decoder's states, and says when to stop."""
    stream: Stream = length("decoder") * c.reduction
    layers = []
    for index in layer_range(c.postnet_layers):
        inputs, outputs = (c.mels if index == 0 else c.postnet), (c.mels if index == c.postnet_layers - 1 else c.postnet)
        conv = conv1d("conv", inputs, outputs, c.postnet_kernel, padding=(c.postnet_kernel - 1) // 2, of=stream, bias=False)
        stream = "decoder" if conv.stream is None else conv.stream
        layers.append(
            part("layers", conv, batch_norm("batch_norm", outputs, stream=stream), kind="convolution", repeat=1, indices=(index,))
        )
    heads = (linear("feat_out", c.hidden, c.mels * c.reduction), linear("prob_out", c.hidden, c.reduction))
    return part("speech_decoder_postnet", *heads, *layers, kind="head", stream="decoder")


Net = Callable[[Config], tuple[Node, ...]]


def read(c: Config, net: Net | None) -> tuple[Part, ...]:
    """Describe the encoder behind its net, if it has one; the frames of a waveform are fewer than its samples."""
    tokens: Stream = frames(c) if net is speech_prenet else "seq"
    inner = part("wrapped_encoder", *encoder(c, tokens), kind="encoder", stream=tokens)
    return (*((part("prenet", *net(c), kind="embeddings", stream=tokens),) if net else ()), inner)


def write(c: Config, net: Net | None, memory: Stream = "encoder") -> tuple[Part, ...]:
    """Describe the decoder behind its net, if it has one."""
    return (*((part("prenet", *net(c), kind="embeddings"),) if net else ()), part("wrapped_decoder", *decoder(c, memory), kind="decoder"))


def encoder_and_decoder(c: Config, reading: Net | None, writing: Net | None) -> tuple[Part, Part]:
    """Describe both sides."""
    memory: Stream = frames(c) if reading is speech_prenet else "seq"
    return part("encoder", *read(c, reading), kind="encoder"), part("decoder", *write(c, writing, memory), kind="decoder", stream="decoder")


def with_head(c: Config, reading: Net, writing: Net, head: Part) -> Part:
    """Put a head on both sides."""
    return part("", part("speecht5", *encoder_and_decoder(c, reading, writing), kind="backbone"), head, kind="model")


def text_head(c: Config) -> Part:
    """Describe the language-model head text: the decoder's table again."""
    words = "speecht5.decoder.prenet.embed_tokens.weight" if c.tied else None
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=words)
    return part("text_decoder_postnet", head, kind="lm_head", stream="decoder")


CLASSES: dict[str, Blueprint] = {
    "SpeechT5Model": lambda c: part("", *encoder_and_decoder(c, None, None), kind="model"),
    "SpeechT5ForSpeechToText": lambda c: with_head(c, speech_prenet, writes, text_head(c)),
    "SpeechT5ForTextToSpeech": lambda c: with_head(c, text_prenet, repeats, speech_postnet(c)),
    "SpeechT5ForSpeechToSpeech": lambda c: with_head(c, speech_prenet, repeats, speech_postnet(c)),
    "SpeechT5Encoder": lambda c: part("", *encoder(c, "seq"), kind="model"),
    "SpeechT5EncoderWithoutPrenet": lambda c: part("", *read(c, None), kind="model"),
    "SpeechT5EncoderWithSpeechPrenet": lambda c: part("", *read(c, speech_prenet), kind="model"),
    "SpeechT5EncoderWithTextPrenet": lambda c: part("", *read(c, text_prenet), kind="model"),
    "SpeechT5Decoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
    "SpeechT5DecoderWithoutPrenet": lambda c: part("", *write(c, None), kind="model"),
    "SpeechT5DecoderWithSpeechPrenet": lambda c: part("", *write(c, repeats), kind="model"),
    "SpeechT5DecoderWithTextPrenet": lambda c: part("", *write(c, writes), kind="model"),
}

FAMILIES = {"speecht5": Family("speecht5", FIELDS, CLASSES, "SpeechT5Model", MORE_IGNORED_KEYS)}
