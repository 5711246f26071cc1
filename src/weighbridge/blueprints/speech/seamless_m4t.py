"""SeamlessM4T v1 and v2: speech encoder (conformer), text encoder, text decoder, text-to-unit model and vocoder (Seamless team, 2023).

Source: arXiv 2308.11596 and 2312.05187; class and tensor names as in transformers 5.23.0,
models/seamless_m4t/modeling_seamless_m4t.py and models/seamless_m4t_v2/modeling_seamless_m4t_v2.py. A forward pass writes text;
units and the vocoder run in generation only. ``seq`` counts tokens or frames, ``decoder`` the tokens written.
"""

from __future__ import annotations

from weighbridge.blueprints.speech import wav2vec2_bert, wav2vec2_conformer
from weighbridge.blueprints.speech.hifigan import conv1d_same, generator
from weighbridge.blueprints.speech.hifigan import fields as enlarging
from weighbridge.blueprints.speech.wav2vec2_conformer import kind
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import HIDDEN, TIED, VOCAB, Config, Field, constant, size, switch, with_changes
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import batch_norm, conv1d, embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact, layer_range
from weighbridge.core.tree import Node, Part, Tensor


def stacks(prefix: str, word: str, layers: int, mark: str, what: str) -> tuple[Field, ...]:
    """Declare the sizes of an encoder and a decoder whose keys begin with *prefix*; the first decoder's have a shorter name."""

    def also(side: str, key: str) -> tuple[str, ...]:
        return (key,) if side == "decoder" and not prefix else ()

    return tuple(
        field
        for side in ("encoder", "decoder")
        for field in (
            size(
                f"{word}{side}_layers",
                f"{prefix}{side}_layers",
                layers,
                f"L{mark}{side[:3]}",
                f"{what}{side} layers",
                *also(side, "num_hidden_layers"),
            ),
            size(f"{word}{side}_mlp", f"{prefix}{side}_ffn_dim", 8192, f"I{mark}{side[:3]}", f"intermediate size of the {what}{side}"),
            size(
                f"{word}{side}_heads",
                f"{prefix}{side}_attention_heads",
                16,
                f"A{mark}{side[:3]}",
                f"attention heads of the {what}{side}",
                *also(side, "num_attention_heads"),
            ),
        )
    )


FIELDS = (
    VOCAB.with_default(256102),
    size("units", "t2u_vocab_size", 10082, "N_uni", "units"),
    HIDDEN.with_default(1024),
    *stacks("", "", 24, "_", ""),
    *stacks("t2u_", "unit_", 6, "_u_", "unit "),
    size("layers", "speech_encoder_layers", 24, "L", "layers of the speech encoder"),
    size("heads", "speech_encoder_attention_heads", 16, "A", "attention heads of the speech encoder"),
    size("mlp", "speech_encoder_intermediate_size", 4096, "I", "intermediate size of the speech encoder"),
    size("mels", "feature_projection_input_dim", 160, "M", "mel bins"),
    wav2vec2_conformer.CONVOLVED,
    switch("extended", "add_adapter", True),
    Field("out_layers", "num_adapter_layers", 1, "choice"),
    size("out_kernel", "adaptor_kernel_size", 8, "K_ada", "kernel size of the adapter"),
    Field("out_stride", "adaptor_stride", 8, "choice"),
    constant("out_padding", lambda c: c.out_stride // 2),
    constant("projected", False),
    constant("widths", []),
    *enlarging((5, 4, 4, 2, 2), (11, 8, 8, 4, 4)),
    size("spoken", "unit_hifi_gan_vocab_size", 10000, "U_voc", "units of the vocoder"),
    size("unit", "unit_embed_dim", 1280, "E_uni", "width of a unit in the vocoder"),
    size("language", "lang_embed_dim", 256, "E_lan", "width of a language vector"),
    size("speaker", "spkr_embed_dim", 256, "E_spk", "width of a speaker vector"),
    size("languages", "vocoder_num_langs", 36, "N_lan", "languages of the vocoder"),
    size("speakers", "vocoder_num_spkrs", 200, "N_spk", "speakers of the vocoder"),
    size("duration_kernel", "variance_predictor_kernel_size", 3, "K_dur", "kernel size of the duration predictor"),
    TIED,
)


def attention(c: Config, name: str, heads: Size, keys: Stream | None = None, causal: bool = False) -> tuple[Part, Part]:
    """Describe attention and the norm that belongs to it."""
    requires = "encoder" if isinstance(keys, str) and keys == "encoder" else None
    whole = fairseq_attention(name, c.hidden, heads, exact(c.hidden, heads), keys=keys, causal=causal)
    return replace(whole, requires=requires), replace(layer_norm(f"{name}_layer_norm", c.hidden), requires=requires)


def feed_forward(c: Config, mlp: Size) -> tuple[Part, Part]:
    """Describe the feed-forward step and its norm."""
    return part("ffn", linear("fc1", c.hidden, mlp), linear("fc2", mlp, c.hidden), kind="feed_forward"), layer_norm(
        "ffn_layer_norm", c.hidden
    )


def text_encoder(c: Config, tied_to: str | None = None, *, words: bool = True) -> tuple[Node, ...]:
    """Describe the encoder of text; that of units sees states and has no *words*."""
    layer = (*attention(c, "self_attn", c.encoder_heads), *feed_forward(c, c.encoder_mlp))
    table = (embedding("embed_tokens", c.vocab, c.hidden, tied_to=tied_to),) if words else ()
    return *table, part("layers", *layer, kind="layer", repeat=c.encoder_layers), layer_norm("layer_norm", c.hidden)


def text_decoder(c: Config, memory: Stream, tied_to: str | None = None) -> tuple[Node, ...]:
    """Describe the decoder, which attends to *memory*."""
    own, crossed = attention(c, "self_attn", c.decoder_heads, causal=True), attention(c, "cross_attention", c.decoder_heads, memory)
    layer = part("layers", *own, *crossed, *feed_forward(c, c.decoder_mlp), kind="layer", repeat=c.decoder_layers)
    return embedding("embed_tokens", c.vocab, c.hidden, tied_to=tied_to), layer, layer_norm("layer_norm", c.hidden)


def speech_encoder(c: Config) -> tuple[Node, ...]:
    """Describe the conformer over frames, a feed-forward step, and the layers that shorten the sequence."""
    H, stream = c.hidden, speech_encoder_output(c)
    norm = layer_norm("depthwise_layer_norm", H) if c.second else batch_norm("batch_norm", H)
    projection = part("feature_projection", layer_norm("layer_norm", c.mels), linear("projection", c.mels, H), kind="projection")
    inner = (*wav2vec2_conformer.rotary(c), wav2vec2_conformer.layer(c, "seq", norm), layer_norm("layer_norm", H))
    return (
        projection,
        part("encoder", *inner, kind="encoder"),
        wav2vec2_conformer.feed_forward("intermediate_ffn", H, c.mlp),
        *wav2vec2_bert.adapter(with_changes(c, out=H)),
        layer_norm("inner_layer_norm", H, stream=stream),
    )


def speech_encoder_output(c: Config) -> Stream:
    """Return the stream that the conformer leaves."""
    stream: Stream = "seq"
    for _ in layer_range(c.out_layers if c.extended else 0):
        stream = conv1d("conv", 1, 1, c.out_kernel, stride=c.out_stride, padding=c.out_padding, of=stream).stream or stream
    return stream


def duration_predictor(name: str, width: Size, inner: Size, kernel: Size) -> Part:
    """Describe the network that predicts how long each unit is spoken."""
    convolved = (
        conv1d_same("conv1", width, inner, kernel),
        layer_norm("ln1", inner),
        conv1d_same("conv2", inner, inner, kernel),
        layer_norm("ln2", inner),
    )
    return part(name, *convolved, linear("proj", inner, 1), kind="convolutions")


def unit_decoder(c: Config) -> tuple[Node, ...]:
    """Describe the second version's decoder of units, which writes them all at once from characters and their durations."""
    H = c.hidden
    convolved = (conv1d_same("conv1", H, H, 7), conv1d_same("conv2", H, H, 7), layer_norm("conv_layer_norm", H))
    return (
        *(Tensor(name, (1,), "gain") for name in ("pos_emb_alpha_char", "pos_emb_alpha")),
        embedding("embed_tokens", c.vocab, H),
        embedding("embed_char", c.characters, H),
        duration_predictor("duration_predictor", c.variance, c.variance_inner, c.variance_kernel),
        part("layers", *attention(c, "self_attn", c.decoder_heads), *convolved, kind="layer", repeat=c.decoder_layers),
        layer_norm("layer_norm", H),
    )


def vocoder(c: Config) -> tuple[Node, ...]:
    """Describe the vocoder: durations, tables of units, speakers and languages, and HiFi-GAN."""
    spoken = generator(c, c.unit + c.language + c.speaker, unknown("the model predicts how long each unit lasts"))
    return (
        duration_predictor("dur_predictor", c.unit, c.unit, c.duration_kernel),
        embedding("unit_embedding", c.spoken, c.unit),
        embedding("speaker_embedding", c.speakers, c.speaker),
        embedding("language_embedding", c.languages, c.language),
        part("hifi_gan", *spoken, kind="vocoder"),
    )


UNITS = unknown("the number of units depends on how long each character lasts")


def units(c: Config, prefix: str = "") -> Part:
    """Describe the text-to-unit model: an encoder of states, a decoder of units."""
    made = (
        part("decoder", *unit_decoder(c), kind="decoder", stream=UNITS)
        if c.second
        else part("decoder", *text_decoder(c, "seq"), kind="decoder", stream="decoder")
    )
    return part(prefix, part("encoder", *text_encoder(c, words=False), kind="encoder"), made, kind="backbone" if prefix else "model")


def unit_generation(c: Config) -> Part:
    """Describe the text-to-unit model and its head, with sizes of their own."""
    own = with_changes(
        c,
        vocab=c.units,
        encoder_layers=c.unit_encoder_layers,
        encoder_mlp=c.unit_encoder_mlp,
        encoder_heads=c.unit_encoder_heads,
        decoder_layers=c.unit_decoder_layers,
        decoder_mlp=c.unit_decoder_mlp,
        decoder_heads=c.unit_decoder_heads,
    )
    head = linear("lm_head", c.hidden, c.units, bias=False, tied_to="model.decoder.embed_tokens.weight" if c.tied else None)
    return part("", units(own, "model"), replace(head, stream=UNITS if c.second else "decoder"), kind="model")


def speech_output(c: Config) -> tuple[Part, Part]:
    """Describe what speaks: the text-to-unit model and the vocoder, which a forward pass leaves alone."""
    inner = unit_generation(c)
    body, head = inner.children
    assert isinstance(head, Part)
    if c.tied:
        head = linear("lm_head", c.hidden, c.units, bias=False, tied_to="t2u_model.model.decoder.embed_tokens.weight")
    return part("t2u_model", body, head, kind="decoder", requires="speech"), part("vocoder", *vocoder(c), kind="vocoder", requires="speech")


def seamless_class(reads: bool, hears: bool, speaks: bool) -> Blueprint:
    """Return the blueprint of a class that *reads* or *hears* (text, if it can do both) and writes, and may have what *speaks*."""

    def blueprint(c: Config) -> Part:
        owner = "shared.weight" if c.tied else None
        memory: Stream = "seq" if reads else speech_encoder_output(c)
        return part(
            "",
            embedding("shared", c.vocab, c.hidden),
            *((part("text_encoder", *text_encoder(c, owner), kind="encoder"),) if reads else ()),
            *((part("speech_encoder", *speech_encoder(c), kind="audio", requires="speech" if reads else None),) if hears else ()),
            part("text_decoder", *text_decoder(c, memory, owner), kind="decoder", stream="decoder"),
            linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=owner, stream="decoder"),
            *(speech_output(c) if speaks else ()),
            kind="model",
        )

    return blueprint


def classes(name: str) -> dict[str, Blueprint]:
    """Return the classes of one version."""
    return {
        f"{name}Model": seamless_class(reads=True, hears=True, speaks=True),
        f"{name}ForTextToText": seamless_class(reads=True, hears=False, speaks=False),
        f"{name}ForSpeechToText": seamless_class(reads=False, hears=True, speaks=False),
        f"{name}ForTextToSpeech": seamless_class(reads=True, hears=False, speaks=True),
        f"{name}ForSpeechToSpeech": seamless_class(reads=False, hears=True, speaks=True),
        f"{name}SpeechEncoder": lambda c: part("", *speech_encoder(c), kind="model"),
        f"{name}Encoder": lambda c: part("", *text_encoder(c), kind="model"),
        f"{name}Decoder": lambda c: part("", *text_decoder(c, "encoder"), kind="model"),
        f"{name}TextToUnitForConditionalGeneration": unit_generation,
        f"{name}CodeHifiGan": lambda c: part("", *vocoder(c), kind="model"),
    }


FIRST = (
    *FIELDS,
    constant("second", False),
    replace(kind("relative"), read=lambda value: value if value in ("relative", "rotary") else None),
)
SECOND = (
    *FIELDS,
    constant("second", True),
    replace(kind("relative_key"), read=lambda value: value if value == "relative_key" else None),
    size("left", "left_max_position_embeddings", 64, "P_lef", "relative positions to the left"),
    size("right", "right_max_position_embeddings", 8, "P_rig", "relative positions to the right"),
    size("characters", "char_vocab_size", 10943, "V_cha", "characters"),
    size("variance", "t2u_variance_predictor_embed_dim", 1024, "E_var", "width of the duration predictor"),
    size("variance_inner", "t2u_variance_predictor_hidden_dim", 256, "I_var", "inner width of the duration predictor"),
    size("variance_kernel", "t2u_variance_predictor_kernel_size", 3, "K_var", "kernel size of the unit model's duration predictor"),
)
IGNORED_KEYS = frozenset(
    """activation_function adaptor_dropout leaky_relu_slope max_new_tokens max_position_embeddings max_source_positions
    num_conv_pos_embeddings num_conv_pos_embedding_groups rotary_embedding_base sampling_rate scale_embedding speech_encoder_chunk_size
    speech_encoder_dropout speech_encoder_hidden_act speech_encoder_layerdrop speech_encoder_left_chunk_num t2u_bos_token_id
    t2u_decoder_start_token_id t2u_eos_token_id t2u_max_new_tokens t2u_max_position_embeddings t2u_pad_token_id
    t2u_variance_pred_dropout var_pred_dropout vocoder_offset""".split()
)

FAMILIES = {
    "seamless_m4t": Family(
        "seamless_m4t",
        FIRST,
        {**classes("SeamlessM4T"), "SeamlessM4TTextToUnitModel": units},
        "SeamlessM4TModel",
        IGNORED_KEYS,
    ),
    "seamless_m4t_v2": Family("seamless_m4t_v2", SECOND, classes("SeamlessM4Tv2"), "SeamlessM4Tv2Model", IGNORED_KEYS),
}
