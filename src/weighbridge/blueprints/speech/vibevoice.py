"""VibeVoice: a language model that hears and speaks through a tokenizer of causal ConvNeXt blocks, and a diffusion head for its sound.

Source: Peng et al. 2025, arXiv 2508.19205; names as in transformers 5.23.0, models/vibevoice/modeling_vibevoice.py,
models/vibevoice_acoustic_tokenizer and models/vibevoice_asr. In the tokenizers ``seq`` counts samples of the waveform, or states of it.
"""

from __future__ import annotations

from math import prod

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.blueprints.speech.hifigan import conv_transpose1d
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, LAYERS, MLP, Config, Field, computed, nested, size, switch, with_changes
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import gated_mlp, linear, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor


def refuse_few_depths(c: Config) -> bool:
    """Refuse a list of depths that does not cover the stem and every step."""
    if len(c.depths) < len(c.ratios) + 1:
        raise ConfigError(
            Text("expected {many} entries: of the stem and of every ratio", many=len(c.ratios) + 1), key="depths", value=list(c.depths)
        )
    return True


TOKENIZER = (
    size("channels", "channels", 1, "N", "channels of the wave"),
    HIDDEN.with_default(64),
    size("kernel", "kernel_size", 7, "K", "kernel size of the convolutions"),
    size("filters", "num_filters", 32, "F", "channels of the first convolution"),
    numbers("ratios", "downsampling_ratios", (2, 2, 4, 5, 5, 8)),
    numbers("depths", "depths", (3, 3, 3, 3, 3, 3, 8)),
    size("expansion", "ffn_expansion", 4, "X", "widening of the feed-forward layers"),
    computed("enough", refuse_few_depths),
)
HEARD = unknown("the length of the audio depends on the input")


def conv(name: str, inputs: Size, outputs: Size, kernel: Size, at: Stream) -> Part:
    """Describe a causal convolution that outputs the stream *at*."""
    tensors = Tensor("weight", (outputs, inputs, kernel)), Tensor("bias", (outputs,), "bias")
    return part(name, part("conv", *tensors, kind="convolution"), kind="convolution", stream=at)


def blocks(c: Config, width: Size, depth: int, at: Stream) -> Part:
    """Describe ConvNeXt blocks over a waveform: a convolution of each channel, and a plain network, each with a gain of its own."""
    mlp = linear("linear1", width, c.expansion * width), linear("linear2", c.expansion * width, width)
    return part(
        "stage",
        Tensor("gamma", (width,), "gain"),
        Tensor("ffn_gamma", (width,), "gain"),
        rms_norm("norm", width),
        rms_norm("ffn_norm", width),
        part("ffn", *mlp, kind="feed_forward"),
        conv("mixer", 1, width, c.kernel, at),
        kind="layer",
        repeat=depth,
        stream=at,
    )


def encoder(c: Config, of: Stream = "seq") -> Part:
    """Describe the encoder, which doubles its channels with every step that shortens the waveform."""
    stream, width = of, c.filters
    stem = part("stem", conv("conv", c.channels, width, c.kernel, stream), blocks(c, width, c.depths[0], stream), kind="stage")
    steps = []
    for index, ratio in enumerate(c.ratios):
        stream = length(stream) // ratio
        shorter = conv("conv", width, 2 * width, 2 * ratio, stream)
        width = 2 * width
        steps.append(part(str(index), shorter, blocks(c, width, c.depths[index + 1], stream), kind="stage"))
    return part("", stem, part("conv_layers", *steps), conv("head", width, c.hidden, c.kernel, stream), kind="encoder")


def encoder_frames(c: Config, of: Stream = "seq") -> Stream:
    """Return the stream of states that the encoder makes of a waveform."""
    for ratio in c.ratios:
        of = length(of) // ratio
    return of


def decoder(c: Config, of: Stream = "seq") -> Part:
    """Describe the decoder, which halves its channels with every step that lengthens the states."""
    stream, last = of, len(c.depths) - 1
    width = c.filters * 2**last
    stem = part("stem", conv("conv", c.hidden, width, c.kernel, stream), blocks(c, width, c.depths[0], stream), kind="stage")
    steps = []
    for index, ratio in enumerate(reversed(c.ratios)):
        inner = c.filters * 2 ** (last - 1 - index)
        longer = part("convtr", conv_transpose1d("convtr", width, inner, 2 * ratio, seen=stream), kind="convolution")
        width, stream = inner, length(stream) * ratio
        steps.append(part(str(index), longer, blocks(c, width, c.depths[index + 1], stream), kind="stage"))
    out = stream if last == len(c.ratios) else unknown("it runs only with one depth more than there are ratios")
    return part("", stem, part("conv_layers", *steps), conv("head", c.filters, c.channels, c.kernel, out), kind="decoder")


def tokenizer(c: Config) -> Part:
    """Describe VibeVoiceAcousticTokenizerModel: both halves, the decoder's depths in reverse."""
    backward = with_changes(c, depths=tuple(reversed(c.depths)))
    return part("", as_child("encoder", encoder(c)), as_child("decoder", decoder(backward, encoder_frames(c))), kind="model")


DIFFUSION = (
    LAYERS.with_default(4),
    MLP.with_default(4608),
    size("frequencies", "frequency_embedding_size", 256, "F_dif", "width of a diffusion step's sinusoids"),
    switch("bias", "mlp_bias", False),
    Field("own_hidden", "hidden_size", None, "choice", report_default=False),
    Field("own_latent", "latent_size", None, "choice", report_default=False),
    Field("period", "diffusion_max_period", 10000, "choice", report_default=False),
)
HALF = "vibevoice_acoustic_tokenizer_encoder"
WHOLE = (
    model_config("text", "text_config", "qwen2"),
    model_config("audio", "audio_config", "vibevoice_acoustic_tokenizer"),
    model_config("semantic", "semantic_model_config", HALF, absent={"hidden_size": 128}),
    nested("diffusion", "diffusion_head_config", DIFFUSION),
)


def refuse_partial_chunks(c: Config) -> bool:
    """Refuse chunks of a waveform that are no whole states."""
    hop = prod(c.acoustic.ratios)
    if c.chunk % hop:
        raise ConfigError(Text("it must be a multiple of {hop}", hop=hop), key="acoustic_tokenizer_chunk_size", value=c.chunk)
    return True


LISTENER = (
    model_config("text", "text_config", "qwen2"),
    model_config("semantic", "semantic_tokenizer_encoder_config", HALF, absent={"hidden_size": 128}),
    model_config("acoustic", "acoustic_tokenizer_encoder_config", HALF),
    Field("chunk", "acoustic_tokenizer_chunk_size", 1440000, "choice"),
    computed("whole_chunks", refuse_partial_chunks),
)


def connector(name: str, inputs: Size, outputs: Size, requires: str) -> Part:
    """Describe two linear maps with a norm between."""
    maps = linear("linear_1", inputs, outputs), rms_norm("act", outputs), linear("linear_2", outputs, outputs)
    return part(name, *maps, kind="projector", stream=HEARD, requires=requires)


def diffusion_head(c: Config) -> Part:
    """Describe the head that makes a state of sound out of noise, step by step: each layer shifted, scaled and gated by step and text."""
    H, latent, inner = c.text.hidden, c.audio.hidden, c.diffusion
    time = linear("fc1", inner.frequencies, H, bias=False), linear("fc2", H, H, bias=False)
    layer = part(
        "layers",
        gated_mlp("ffn", H, inner.mlp, bias=inner.bias),
        rms_norm("norm", H),
        linear("linear", H, 3 * H, bias=False),
        kind="layer",
        repeat=inner.layers,
    )
    return part(
        "diffusion_head",
        linear("noisy_images_proj", latent, H, bias=False),
        linear("cond_proj", H, H, bias=False),
        part("timestep_proj", *time, kind="feed_forward"),
        layer,
        part("final_layer", linear("linear_1", H, 2 * H, bias=False), linear("linear_2", H, latent, bias=False), kind="head"),
        kind="head",
        stream=HEARD,
        requires="generation",
    )


def body(c: Config) -> tuple[Node, ...]:
    """Describe VibeVoice; what reads its own speech again and what makes sound run in generation only."""
    H = c.text.hidden
    return (
        Tensor("latent_scaling_factor", (), "gain"),
        Tensor("latent_bias_factor", (), "shift"),
        as_child("audio_tower", submodel(c.audio), streams={"seq": HEARD}, requires="audios"),
        as_child("language_model", submodel(c.text)),
        connector("multi_modal_projector", c.audio.hidden, H, "audios"),
        as_child("semantic_tokenizer_encoder", submodel(c.semantic), streams={"seq": HEARD}, requires="generation"),
        connector("semantic_connector", c.semantic.hidden, H, "generation"),
        diffusion_head(c),
    )


def generation(c: Config) -> Part:
    """Describe VibeVoiceForConditionalGeneration; the text's own config says whether its head is the words again."""
    tied = "model.language_model.embed_tokens.weight" if c.text.tied else None
    head = linear("lm_head", c.text.hidden, c.text.vocab, bias=False, tied_to=tied)
    return part("", part("model", *body(c), kind="backbone"), head, kind="model")


def listener(c: Config) -> tuple[Node, ...]:
    """Describe VibeVoice-ASR: two encoders of a waveform, whose states are added as wide as the text."""
    H = c.text.hidden
    maps: list[Part] = []
    for name, inner in (("acoustic", c.acoustic), ("semantic", c.semantic)):
        maps += [linear(f"{name}_linear_1", inner.hidden, H), rms_norm(f"{name}_norm", H), linear(f"{name}_linear_2", H, H)]
    return (
        as_child("acoustic_tokenizer_encoder", submodel(c.acoustic), streams={"seq": HEARD}, requires="audios"),
        as_child("semantic_tokenizer_encoder", submodel(c.semantic), streams={"seq": HEARD}, requires="audios"),
        part("multi_modal_projector", *maps, kind="projector", stream=HEARD, requires="audios"),
        as_child("language_model", submodel(c.text)),
    )


def recognition(c: Config) -> Part:
    """Describe VibeVoiceAsrForConditionalGeneration, whose head is not tied."""
    head = linear("lm_head", c.text.hidden, c.text.vocab, bias=False)
    return part("", part("model", *listener(c), kind="backbone"), head, kind="model")


CLASSES = {"VibeVoiceModel": lambda c: part("", *body(c), kind="model"), "VibeVoiceForConditionalGeneration": generation}
ASR_CLASSES = {"VibeVoiceAsrModel": lambda c: part("", *listener(c), kind="model"), "VibeVoiceAsrForConditionalGeneration": recognition}
TOKENIZER_KEYS = frozenset(("layer_scale_init_value", "vae_std"))
IGNORED_KEYS = frozenset(
    "audio_bos_token_id audio_eos_token_id audio_token_id diffusion_loss_weight tie_word_embeddings vocab_size".split()
)
NAME = "VibeVoiceAcousticTokenizer"
FAMILIES = {
    "vibevoice": Family("vibevoice", WHOLE, CLASSES, "VibeVoiceModel", IGNORED_KEYS),
    "vibevoice_asr": Family("vibevoice_asr", LISTENER, ASR_CLASSES, "VibeVoiceAsrModel", IGNORED_KEYS),
    "vibevoice_acoustic_tokenizer": Family(
        "vibevoice_acoustic_tokenizer", TOKENIZER, {f"{NAME}Model": tokenizer}, f"{NAME}Model", TOKENIZER_KEYS
    ),
    HALF: Family(HALF, TOKENIZER, {f"{NAME}EncoderModel": encoder}, f"{NAME}EncoderModel", TOKENIZER_KEYS),
    "vibevoice_acoustic_tokenizer_decoder": Family(
        "vibevoice_acoustic_tokenizer_decoder", TOKENIZER, {f"{NAME}DecoderModel": decoder}, f"{NAME}DecoderModel", TOKENIZER_KEYS
    ),
}
