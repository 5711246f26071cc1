"""The parts of SeamlessM4T: a conformer that hears, a reader, a writer, a maker of units, and a vocoder that speaks them.

Source: arXiv 2308.11596 and 2312.05187; names as in transformers 5.23.0, models/seamless_m4t/modeling_seamless_m4t.py and
models/seamless_m4t_v2. ``seq`` counts tokens or frames, ``decoder`` the tokens written.
"""

from __future__ import annotations

from weighbridge.blueprints import conformer, wav2vec2_bert
from weighbridge.blueprints.hifigan import fields as enlarging
from weighbridge.blueprints.hifigan import generator, same
from weighbridge.config.fields import TIED, Field, Sizes, altered, fact, size, switch
from weighbridge.core.parts import batch_norm, conv1d, embedding, fairseq_attention, layer_norm, linear
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Stream, Tensor, Untold


def stacks(prefix: str, word: str, layers: int, mark: str, what: str) -> tuple[Field, ...]:
    """Declare the sizes of an encoder and a decoder whose keys begin with *prefix*."""
    return tuple(field for side in ("encoder", "decoder") for field in (
        size(f"{word}{side}_layers", f"{prefix}{side}_layers", layers, f"L{mark}{side[:3]}", f"{what}{side} layers"),
        size(f"{word}{side}_mlp", f"{prefix}{side}_ffn_dim", 8192, f"I{mark}{side[:3]}", f"intermediate size of the {what}{side}"),
        size(f"{word}{side}_heads", f"{prefix}{side}_attention_heads", 16, f"A{mark}{side[:3]}", f"attention heads of the {what}{side}"),
    ))  # fmt: skip


FIELDS = (
    size("vocab", "vocab_size", 256102, "V", "vocabulary size"),
    size("units", "t2u_vocab_size", 10082, "N_uni", "units"),
    size("hidden", "hidden_size", 1024, "H", "hidden size"),
    *stacks("", "", 24, "_", ""),
    *stacks("t2u_", "unit_", 6, "_u_", "unit "),
    size("layers", "speech_encoder_layers", 24, "L", "layers of the speech encoder"),
    size("heads", "speech_encoder_attention_heads", 16, "A", "attention heads of the speech encoder"),
    size("mlp", "speech_encoder_intermediate_size", 4096, "I", "intermediate size of the speech encoder"),
    size("mels", "feature_projection_input_dim", 160, "M", "mel bins"),
    conformer.CONVOLVED,
    switch("extended", "add_adapter", True),
    Field("out_layers", "num_adapter_layers", 1, "choice"),
    size("out_kernel", "adaptor_kernel_size", 8, "K_ada", "kernel of the adapter"),
    Field("out_stride", "adaptor_stride", 8, "choice"),
    fact("out_padding", lambda c: c.out_stride // 2),
    fact("projected", False),
    fact("widths", []),
    *enlarging((5, 4, 4, 2, 2), (11, 8, 8, 4, 4)),
    size("spoken", "unit_hifi_gan_vocab_size", 10000, "U_voc", "units of the vocoder"),
    size("unit", "unit_embed_dim", 1280, "E_uni", "width of a unit in the vocoder"),
    size("language", "lang_embed_dim", 256, "E_lan", "width of a language's vector"),
    size("speaker", "spkr_embed_dim", 256, "E_spk", "width of a speaker's vector"),
    size("languages", "vocoder_num_langs", 36, "N_lan", "languages of the vocoder"),
    size("speakers", "vocoder_num_spkrs", 200, "N_spk", "speakers of the vocoder"),
    size("duration_kernel", "variance_predictor_kernel_size", 3, "K_dur", "kernel of the predictor of durations"),
    TIED,
)


def attention(c: Sizes, name: str, heads: Size, keys: Stream | None = None) -> tuple[Part, Part]:
    """Describe attention and the norm that belongs to it."""
    given = "encoder" if isinstance(keys, str) and keys == "encoder" else None
    whole = fairseq_attention(name, c.hidden, heads, exact(c.hidden, heads), keys=keys)
    return whole._replace(given=given), layer_norm(f"{name}_layer_norm", c.hidden)._replace(given=given)


def feed_forward(c: Sizes, mlp: Size) -> tuple[Part, Part]:
    """Describe the feed-forward step and its norm."""
    return Part("ffn", (linear("fc1", c.hidden, mlp), linear("fc2", mlp, c.hidden)), "feed_forward"), layer_norm("ffn_layer_norm", c.hidden)


def reader(c: Sizes, tied_to: str | None = None, *, words: bool = True) -> tuple[Node, ...]:
    """Describe the encoder of text; that of units sees states and has no *words*."""
    layer = (*attention(c, "self_attn", c.encoder_heads), *feed_forward(c, c.encoder_mlp))
    table = (embedding("embed_tokens", c.vocab, c.hidden, tied_to=tied_to),) if words else ()
    return *table, Part("layers", layer, "layer", repeat=c.encoder_layers), layer_norm("layer_norm", c.hidden)


def writer(c: Sizes, memory: Stream, tied_to: str | None = None) -> tuple[Node, ...]:
    """Describe the decoder, which attends to *memory*."""
    own, crossed = attention(c, "self_attn", c.decoder_heads), attention(c, "cross_attention", c.decoder_heads, memory)
    layer = Part("layers", (*own, *crossed, *feed_forward(c, c.decoder_mlp)), "layer", repeat=c.decoder_layers)
    return embedding("embed_tokens", c.vocab, c.hidden, tied_to=tied_to), layer, layer_norm("layer_norm", c.hidden)


def hearing(c: Sizes) -> tuple[Node, ...]:
    """Describe the conformer over frames, a feed-forward step, and the layers that shorten the sequence."""
    H, stream = c.hidden, heard(c)
    norm = layer_norm("depthwise_layer_norm", H) if c.second else batch_norm("batch_norm", H)
    projection = Part("feature_projection", (layer_norm("layer_norm", c.mels), linear("projection", c.mels, H)), "projection")
    inner = (*conformer.rotary(c), conformer.layer(c, "seq", norm), layer_norm("layer_norm", H))
    return (
        projection, Part("encoder", inner, "encoder"), conformer.feed_forward("intermediate_ffn", H, c.mlp),
        *wav2vec2_bert.adapter(altered(c, out=H)), layer_norm("inner_layer_norm", H)._replace(stream=stream),
    )  # fmt: skip


def heard(c: Sizes) -> Stream:
    """Return the stream that the conformer leaves."""
    stream: Stream = "seq"
    for _ in range(c.out_layers if c.extended else 0):
        stream = conv1d("conv", 1, 1, c.out_kernel, stride=c.out_stride, padding=c.out_padding, of=stream).stream or stream
    return stream


def durations(name: str, width: Size, inner: Size, kernel: Size) -> Part:
    """Describe the net that tells for how long each unit is spoken."""
    convolved = (
        same("conv1", width, inner, kernel),
        layer_norm("ln1", inner),
        same("conv2", inner, inner, kernel),
        layer_norm("ln2", inner),
    )
    return Part(name, (*convolved, linear("proj", inner, 1)), "convolutions")


def unit_writer(c: Sizes) -> tuple[Node, ...]:
    """Describe the second version's decoder of units, which writes them all at once from characters and their durations."""
    H = c.hidden
    convolved = (same("conv1", H, H, 7), same("conv2", H, H, 7), layer_norm("conv_layer_norm", H))
    return (
        *(Tensor(name, (1,), "gain") for name in ("pos_emb_alpha_char", "pos_emb_alpha")),
        embedding("embed_tokens", c.vocab, H),
        embedding("embed_char", c.characters, H),
        durations("duration_predictor", c.variance, c.variance_inner, c.variance_kernel),
        Part("layers", (*attention(c, "self_attn", c.decoder_heads), *convolved), "layer", repeat=c.decoder_layers),
        layer_norm("layer_norm", H),
    )


def vocoder(c: Sizes) -> tuple[Node, ...]:
    """Describe the vocoder: durations, tables of units, speakers and languages, and HiFi-GAN."""
    spoken = generator(c, c.unit + c.language + c.speaker, Untold("units are spoken as long as the model finds"))
    return (
        durations("dur_predictor", c.unit, c.unit, c.duration_kernel),
        embedding("unit_embedding", c.spoken, c.unit),
        embedding("speaker_embedding", c.speakers, c.speaker),
        embedding("language_embedding", c.languages, c.language),
        Part("hifi_gan", spoken, "vocoder"),
    )
