"""FastSpeech 2 with conformers: mel frames from phonemes, all at once, by predicted durations, pitch and energy.

Source: Guo et al. 2020, arXiv 2010.13956, and Ren et al. 2020, arXiv 2006.04558; names as in transformers 5.23.0,
models/fastspeech2_conformer/modeling_fastspeech2_conformer.py. ``seq`` counts phonemes.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.speech.hifigan import conv1d_same
from weighbridge.config.bind import LARGEST
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, MEL_BINS, VOCAB, Config, Field, computed, derived, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Every, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

PREDICTED = unknown("the model predicts how many frames each phoneme lasts")


def refuse_mismatch(c: Config) -> bool:
    """Refuse what the reference does: kernels that have no middle, two ways of masking."""
    kernels = {
        "positionwise_conv_kernel_size": c.mlp_kernel,
        "duration_predictor_kernel_size": c.duration_kernel,
        "energy_predictor_kernel_size": c.energy_kernel,
        "energy_embed_kernel_size": c.energy_embed,
        "pitch_predictor_kernel_size": c.pitch_kernel,
        "pitch_embed_kernel_size": c.pitch_embed,
        "encoder_kernel_size": c.encoder_kernel,
        "decoder_kernel_size": c.decoder_kernel,
    }
    for key, value in (("num_speakers", c.speakers), ("num_languages", c.languages), ("speaker_embed_dim", c.voice)):
        if value is not None and not (type(value) is int and 0 <= value <= LARGEST):
            raise ConfigError(Text("expected {kind}", kind=Text("a whole number from 0 to 10^15")), key=key, value=value)
    for key, value in kernels.items():
        if value % 2 == 0:
            raise ConfigError("the width of this convolution must be odd", key=key, value=value)
    if c.masked and c.weighted:
        raise ConfigError("use_masking and use_weighted_masking exclude each other", key="use_weighted_masking", value=True)
    return True


def side_fields(side: str, letter: str, kernel: int) -> tuple[Field, ...]:
    """List the fields of the conformers of one side."""
    return (
        size(f"{side}_layers", f"{side}_layers", 4, f"L_{letter}", f"{side} layers"),
        size(f"{side}_heads", f"{side}_num_attention_heads", 2, f"A_{letter}", f"attention heads of the {side}"),
        size(f"{side}_mlp", f"{side}_linear_units", 1536, f"I_{letter}", f"intermediate size of the {side}"),
        size(f"{side}_kernel", f"{side}_kernel_size", kernel, f"K_{letter}", "kernel size of the depthwise convolution"),
        derived(f"{side}_head_dim", lambda c: exact(c.hidden, getattr(c, f"{side}_heads")), "hidden_size", f"{side}_num_attention_heads"),
        switch(f"{side}_concat", f"{side}_concat_after", False),
    )


def variance(word: str, letter: str, layers: int, kernel: int) -> tuple[Field, ...]:
    """List the fields of what predicts one trait of each phoneme."""
    return (
        size(f"{word}_layers", f"{word}_predictor_layers", layers, f"L_{letter}", "layers of a predictor"),
        size(f"{word}_width", f"{word}_predictor_channels", 256, f"C_{letter}", "channels of a predictor"),
        size(f"{word}_kernel", f"{word}_predictor_kernel_size", kernel, f"K_{letter}", "kernel size of a predictor's convolutions"),
    )


FIELDS = (
    VOCAB.with_default(78),
    HIDDEN.with_default(384),
    MEL_BINS.with_default(80),
    *side_fields("encoder", "enc", 7),
    *side_fields("decoder", "dec", 31),
    size("mlp_kernel", "positionwise_conv_kernel_size", 3, "K_ffn", "kernel size of the feed-forward convolutions"),
    switch("macaron", "use_macaron_style_in_conformer", True),
    switch("convolved", "use_cnn_in_conformer", True),
    switch("conv_bias", "convolution_bias", True),
    *variance("duration", "dur", 2, 3),
    *variance("energy", "ene", 2, 3),
    *variance("pitch", "pit", 5, 5),
    size("energy_embed", "energy_embed_kernel_size", 1, "E_ene", "kernel size of the energy convolution"),
    size("pitch_embed", "pitch_embed_kernel_size", 1, "E_pit", "kernel size of the pitch convolution"),
    size("together", "reduction_factor", 1, "R", "frames output together"),
    size("postnet_layers", "speech_decoder_postnet_layers", 5, "L_pos", "layers after the frame layers"),
    size("postnet_width", "speech_decoder_postnet_units", 256, "C_pos", "channels after the frame layers"),
    size("postnet_kernel", "speech_decoder_postnet_kernel", 5, "K_pos", "kernel size of the convolutions after the frame layers"),
    computed("single", lambda c: c.postnet_layers == 1),
    Field("speakers", "num_speakers", None, "choice"),
    Field("languages", "num_languages", None, "choice"),
    Field("voice", "speaker_embed_dim", None, "choice"),
    switch("masked", "use_masking", True),
    switch("weighted", "use_weighted_masking", False),
    computed("checked", refuse_mismatch),
)


def feed_forward(c: Config, name: str, inner: Size) -> Part:
    """Describe two convolutions."""
    H, K = c.hidden, c.mlp_kernel
    return part(name, conv1d_same("conv1", H, inner, K), conv1d_same("conv2", inner, H, K), kind="feed_forward")


def attention(c: Config, heads: Size, head_dim: Size, tokens: Stream) -> Part:
    """Describe attention to which relative positions add."""
    H, around = c.hidden, length(tokens) * 2 - 1
    biases = (Tensor(f"pos_bias_{letter}", (heads, head_dim), "bias") for letter in "uv")
    maps = (linear(f"linear_{name}", H, H) for name in ("q", "k", "v", "out"))
    positions = linear("linear_pos", H, H, bias=False, stream=around)
    scores = matmul("positions", (heads, tokens, around, head_dim)), attend(heads=heads, head_dim=head_dim)
    return part("self_attn", *biases, *maps, positions, *scores, kind="self_attention")


def convolution(c: Config, kernel: Size) -> tuple[Part, ...]:
    """Describe a gated map, a convolution of each channel with a norm, a map back, and the norms around."""
    H, depthwise = c.hidden, (Tensor("weight", (c.hidden, 1, kernel)), Tensor("bias", (c.hidden,), "bias"))
    inner = part(
        "conv_module",
        conv1d_same("pointwise_conv1", H, 2 * H, 1, bias=c.conv_bias),
        part("depthwise_conv", *(depthwise if c.conv_bias else depthwise[:1]), kind="convolution"),
        batch_norm("norm", H),
        conv1d_same("pointwise_conv2", H, H, 1, bias=c.conv_bias),
        kind="convolutions",
    )
    return inner, layer_norm("conv_layer_norm", H), layer_norm("final_layer_norm", H)


def conformers(c: Config, side: str, tokens: Stream, *tables: Part) -> Part:
    """Describe the conformers of one side."""
    H = c.hidden
    layers, heads, inner, kernel, head_dim, concat = (
        getattr(c, f"{side}_{word}") for word in ("layers", "heads", "mlp", "kernel", "head_dim", "concat")
    )
    macaron = feed_forward(c, "feed_forward_macaron", inner), layer_norm("ff_macaron_layer_norm", H)
    layer = part(
        "conformer_layers",
        attention(c, heads, head_dim, tokens),
        feed_forward(c, "feed_forward", inner),
        *(macaron if c.macaron else ()),
        *(convolution(c, kernel) if c.convolved else ()),
        layer_norm("ff_layer_norm", H),
        layer_norm("self_attn_layer_norm", H),
        *((linear("concat_linear", 2 * H, H),) if concat else ()),
        kind="layer",
        repeat=layers,
    )
    return part(side, *tables, layer, kind=side, stream=tokens)


def predictor(c: Config, word: str) -> Part:
    """Describe convolutions with norms, and one number for each phoneme."""
    layers, width, kernel = (getattr(c, f"{word}_{which}") for which in ("layers", "width", "kernel"))

    def layer(inputs: Size, repeat: Size, at: Every | None = None) -> Part:
        inner = conv1d_same("conv", inputs, width, kernel), layer_norm("layer_norm", width)
        return part("conv_layers", *inner, kind="layer", repeat=repeat, indices=at)

    return part(f"{word}_predictor", layer(c.hidden, 1), layer(width, layers - 1, Every(1)), linear("linear", width, 1), kind="head")


def variance_embedding(c: Config, word: str) -> Part:
    """Describe the convolution that makes a vector of a predicted number."""
    return part(f"{word}_embed", conv1d_same("conv", 1, c.hidden, getattr(c, f"{word}_embed")), kind="embeddings")


def postnet(c: Config) -> Part:
    """Describe the map to mel bins, and convolutions with norms that refine the frames."""
    M, W = c.mels, c.postnet_width

    def layer(inputs: Size, outputs: Size, repeat: Size, at: Every) -> Part:
        inner = conv1d_same("conv", inputs, outputs, c.postnet_kernel, bias=False), batch_norm("batch_norm", outputs)
        return part("layers", *inner, kind="convolution", repeat=repeat, indices=at)

    last = c.postnet_layers - 1
    several = layer(M, W, 1, Every(0)), layer(W, W, last - 1, Every(1)), layer(W, M, 1, Every(last))
    layers = (layer(M, M, 1, Every(0)),) if c.single else several
    return part("speech_decoder_postnet", linear("feat_out", c.hidden, M * c.together), *layers, kind="decoder")


def has_several(value: Any) -> bool:
    """Say whether a number of speakers or languages is there, and more than one."""
    return value is not None and value > 1


def body(c: Config) -> tuple[Part, ...]:
    """Describe FastSpeech2ConformerModel: tables of languages and speakers, the encoder, the predictors, and the decoder over frames."""
    H = c.hidden
    return (
        *((embedding("language_id_embedding", c.languages, H),) if has_several(c.languages) else ()),
        *((embedding("speaker_id_embedding", c.speakers, H),) if has_several(c.speakers) else ()),
        *((linear("projection", H + c.voice, H, requires="audios"),) if c.voice else ()),
        conformers(c, "encoder", "seq", embedding("embed", c.vocab, H)),
        *(replace(predictor(c, word), stream="seq") for word in ("duration", "pitch")),
        replace(variance_embedding(c, "pitch"), stream="seq"),
        replace(predictor(c, "energy"), stream="seq"),
        replace(variance_embedding(c, "energy"), stream="seq"),
        conformers(c, "decoder", PREDICTED),
        replace(postnet(c), stream=PREDICTED),
    )


WHOLE = (
    model_config("inner", "model_config", "fastspeech2_conformer", fixed=True),
    model_config("vocoder", "vocoder_config", "fastspeech2_conformer_hifigan", fixed=True),
)


def with_vocoder(c: Config) -> Part:
    """Describe FastSpeech2ConformerWithHifiGan."""
    wave = as_child("vocoder", submodel(c.vocoder), streams={"seq": PREDICTED})
    return part("", as_child("model", submodel(c.inner)), wave, kind="model")


SIDE_KEYS = {
    "num_attention_heads": "num_attention_heads",
    "layers": "layers",
    "kernel_size": "kernel_size",
    "linear_units": "linear_units",
    "concat_after": "concat_after",
}


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Follow the dicts of either side that the class derives from the other keys and writes into its files: they win over these."""
    result = dict(raw)
    for side in ("encoder", "decoder"):
        inner = result.pop(f"{side}_config", None)
        if isinstance(inner, Mapping):
            result |= {f"{side}_{key}": inner[word] for word, key in SIDE_KEYS.items() if word in inner}
    return result


IGNORED_KEYS = frozenset(
    """decoder_attention_dropout_rate decoder_dropout_rate decoder_normalize_before decoder_positional_dropout_rate
    duration_predictor_dropout_rate encoder_attention_dropout_rate encoder_dropout_rate encoder_normalize_before
    encoder_positional_dropout_rate energy_embed_dropout energy_predictor_dropout max_source_positions num_attention_heads num_hidden_layers
    pitch_embed_dropout pitch_predictor_dropout speaking_speed speech_decoder_postnet_dropout stop_gradient_from_energy_predictor
    stop_gradient_from_pitch_predictor""".split()
)
NAME = "FastSpeech2Conformer"
FAMILIES = {
    "fastspeech2_conformer": Family(
        "fastspeech2_conformer",
        FIELDS,
        {f"{NAME}Model": lambda c: part("", *body(c), kind="model")},
        f"{NAME}Model",
        IGNORED_KEYS,
        normalize_config=normalize_config,
    ),
    "fastspeech2_conformer_with_hifigan": Family(
        "fastspeech2_conformer_with_hifigan", WHOLE, {f"{NAME}WithHifiGan": with_vocoder}, f"{NAME}WithHifiGan"
    ),
}
