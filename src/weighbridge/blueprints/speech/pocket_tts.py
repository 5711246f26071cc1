"""Pocket TTS and Gradium's Phonon: a language model over continuous frames of sound, which a flow head samples, and Mimi's halves as codec.

Source: arXiv 2509.06926 (Continuous Audio Language Models); names as in transformers 5.23.0, models/pocket_tts/modeling_pocket_tts.py,
models/gradium_phonon_tts and models/pocket_tts_audio_tokenizer.
"""

from __future__ import annotations

from math import ceil, prod

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, attention
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.speech.encodec import FILLED, OUTER_IGNORED_KEYS, convolution, seanet_decoder, seanet_encoder
from weighbridge.blueprints.speech.mimi import MIMI, transformer
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MLP,
    VOCAB,
    Config,
    Field,
    choice,
    computed,
    constant,
    derived,
    nested,
    size,
    switch,
)
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import per_batch
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, layer_norm, linear, part, plain_mlp, replace, rms_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

ONCE = per_batch(1)
"""The frame with which speech begins; a forward pass over tokens alone has no other."""


def language_model(c: Config) -> tuple[Node, ...]:
    """Describe the layers over tokens and frames, and the maps that bring frames to their width."""
    H = c.hidden
    layer = (
        attention(c),
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2")),
        layer_norm("input_layernorm", H),
        layer_norm("post_attention_layernorm", H),
    )
    return (
        Tensor("bos_latent", (c.latent,), "embedding"),
        embedding("embed_tokens", c.vocab, H),
        part("layers", *layer, kind="layer", repeat=c.layers),
        layer_norm("norm", H),
        linear("audio_prompt_proj", c.prompt, H, bias=False, executions=0),
        linear("audio_latent_proj", c.latent, H, bias=False, stream=ONCE),
        *(conditions(c) if c.told else ()),
    )


def conditions(c: Config) -> tuple[Part, ...]:
    """Describe what conditions every frame on how many people speak, and for how long."""
    speakers = linear("num_speakers_proj", c.speaker, c.hidden, bias=False, stream=ONCE)
    duration = linear("duration_delta_proj", c.duration, c.hidden, bias=False, stream=ONCE)
    return embedding("num_speakers_embed", c.speakers, c.speaker), speakers, duration


def flow_head(c: Config) -> Part:
    """Describe what samples a frame from the last state: layers whose norms the state, and the times of a step, shift and scale."""
    F = c.hidden
    time = part(
        "timestep_embeddings",
        Tensor("freqs", (c.half,), "buffer"),
        linear("fc1", c.frequencies, F),
        linear("fc2", F, F),
        rms_norm("norm", F),
        kind="embeddings",
        repeat=c.times,
    )
    layer = layer_norm("norm", F), linear("fc1", F, F), linear("fc2", F, F), linear("adaln_proj", F, 3 * F)
    return part(
        "flow_head",
        linear("input_proj", c.latent, F),
        linear("cond_proj", c.condition, F),
        *((time,) if c.times else ()),
        part("layers", *layer, kind="layer", repeat=c.layers),
        part("final_layer", linear("adaln_proj", F, 2 * F), linear("proj", F, c.latent), kind="head"),
        kind="head",
        executions=0,
    )


def loss_weighting(c: Config) -> Part:
    """Describe the small network that weighs the terms of the loss by their times."""
    W: Size = c.weighing
    layers = (linear(str(index), W if index else 2, W) for index in range(c.weighing_layers))
    return part("loss_weighting", part("layers", *layers, kind="feed_forward"), linear("proj", W, 1), kind="loss", executions=0)


def speech(c: Config) -> Part:
    """Describe the whole: the flow head and the weights of the loss do not run in a forward pass, which only says where speech ends."""
    kept = (Tensor("latent_mean", (c.latent,), "buffer"), Tensor("latent_std", (c.latent,), "buffer"))
    return part(
        "",
        *kept,
        Tensor("latent_stats_num_updates", (), "buffer"),
        part("model", *language_model(c), kind="decoder"),
        flow_head(c.flow),
        linear("eos_head", c.hidden, 1),
        loss_weighting(c.flow),
        kind="model",
    )


def _refuse_mismatch(c: Config) -> bool:
    """Refuse a flow head that reads another width than the model has, or writes another, as the class does."""
    for key, ours, theirs in (("condition_dim", c.hidden, c.flow.condition), ("latent_dim", c.latent, c.flow.latent)):
        if ours != theirs:
            raise ConfigError(Text("the model has {ours}", ours=ours), key=f"flow_head_config.{key}", value=theirs)
    return True


def flow_fields(condition: int) -> tuple[Field, ...]:
    """Return the fields of the flow head."""
    return (
        HIDDEN.with_default(512),
        LAYERS.with_default(6),
        size("latent", "latent_dim", 32, "Z", "width of an audio frame"),
        size("condition", "condition_dim", condition, "C", "width of the sampled state"),
        size("frequencies", "frequency_embedding_size", 256, "F", "width of a time step's sinusoids"),
        derived("half", lambda c: c.frequencies // 2, "frequency_embedding_size"),
        choice("flow", "flow_type", "lsd"),
        computed("times", lambda c: 2 if c.flow == "lsd" else 0),
        size("weighing", "loss_weighting_hidden_size", 32, "W", "inner width of the loss weighting"),
        number("weighing_layers", "loss_weighting_num_layers", 3),
    )


def fields(hidden: int, heads: int, mlp: int, vocab: int, *more: Field) -> tuple[Field, ...]:
    """Return the fields of one of the two."""
    return (
        VOCAB.with_default(vocab),
        HIDDEN.with_default(hidden),
        LAYERS.with_default(6),
        HEADS.with_default(heads),
        replace(KV_HEADS, default=lambda c: c.heads, null=lambda c: c.heads),
        constant("heads_divide", True),
        derived("share", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
        replace(HEAD_DIM, default=lambda c: c.share, null=lambda c: c.share),
        MLP.with_default(mlp),
        switch("qkv_bias", "attention_bias", False),
        switch("out_bias", "attention_bias", False),
        constant("qk_norm", ""),
        constant("qk_names", ()),
        constant("window", None),
        constant("windowed", False),
        size("latent", "latent_dim", 32, "Z", "width of an audio frame"),
        *more,
        nested("flow", "flow_head_config", flow_fields(hidden)),
        computed("fits", _refuse_mismatch),
    )


POCKET = fields(1024, 16, 4096, 4004, derived("prompt", lambda c: c.latent, "latent_dim"), constant("told", False))
PHONON = fields(
    *(768, 12, 3072, 4001),
    size("prompt", "audio_prompt_dim", 512, "Y", "width of a frame of the example voice"),
    size("speakers", "num_speakers_vocab_size", 32, "S", "speaker counts with an embedding"),
    size("speaker", "num_speakers_embedding_dim", 16, "E", "width of a speaker-count embedding"),
    size("duration", "duration_delta_embedding_dim", 128, "U", "width of a duration's sinusoids"),
    constant("told", True),
)


def encoder(c: Config) -> tuple[Part, ...]:
    """Describe Mimi's encoder, whose last convolution leaves frames as narrow as the language model reads them."""
    down = (convolution(c, "downsample", (c.latent, c.hidden, 2 * c.stride), c.latent, bias=False),) if c.stride else ()
    return part("encoder_seanet", *seanet_encoder(c), kind="encoder"), transformer(c, "encoder_transformer"), *down


def decoder(c: Config) -> tuple[Part, ...]:
    """Describe Mimi's decoder."""
    up = (convolution(c, "upsample", (c.hidden, exact(c.hidden, c.groups), 2 * c.stride), c.hidden, bias=False),) if c.stride else ()
    return *up, transformer(c, "decoder_transformer"), part("decoder_seanet", *seanet_decoder(c), kind="decoder")


def tokenizer(c: Config) -> Part:
    """Describe the codec: either half may be left out."""
    widen = part("latent_proj", Tensor("weight", (c.hidden, c.latent, 1)), kind="convolution")
    return part(
        "",
        *((part("encoder", *encoder(c), kind="encoder"),) if c.encodes else ()),
        *((part("decoder", *decoder(c), kind="decoder"),) if c.decodes else ()),
        widen,
        kind="model",
        stream=FILLED,
    )


def _stride(c: Config) -> int:
    """Return how many of SEANet's frames are one; 0 where there is no convolution, since the rates are equal."""
    hop = prod(c.ratios)
    stride: int = c.frames
    return 0 if c.rate / (hop * stride) == ceil(c.rate / hop) else stride


_MIMI = {field.word: field for field in MIMI}
_GONE = "quantizers semantic looked_up frame_rate codes code powers stride projected layers ratios".split()
_SHARED = tuple(field for field in MIMI if field.word not in _GONE)
CODEC = (
    replace(_MIMI["ratios"], default=lambda c: [6, 5, 4]),
    *_SHARED,
    LAYERS.with_default(2),
    number("frames", "latent_stride", 16),
    size("latent", "latent_dim", 32, "Z", "width of an audio frame"),
    computed("stride", _stride),
)
CODEC_IGNORED_KEYS = OUTER_IGNORED_KEYS | {"use_cache"}
NAME = "PocketTTSAudioTokenizer"
MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """audio_bos_token_id audio_latent_token_id audio_prompt_bos_token_id audio_prompt_token_id duration_delta duration_delta_max_period
    duration_delta_scale eos_loss_weight flow_loss_num_samples frame_rate latent_stats_ema_decay latent_stats_ema_steps
    lsd_diagonal_weight lsd_distill_probability lsd_time_logit_mean lsd_time_logit_std max_period num_speakers""".split()
)
FAMILIES = {
    **{
        model_type: Family(
            model_type,
            table,
            {
                f"{prefix}Model": lambda c: part("", *language_model(c), kind="model"),
                f"{prefix}ForConditionalGeneration": speech,
            },
            f"{prefix}Model",
            MORE_IGNORED_KEYS,
        )
        for model_type, prefix, table in (("pocket_tts", "PocketTTS", POCKET), ("gradium_phonon_tts", "GradiumPhononTTS", PHONON))
    },
    "pocket_tts_audio_tokenizer": Family(
        "pocket_tts_audio_tokenizer", CODEC, {f"{NAME}Model": tokenizer}, f"{NAME}Model", CODEC_IGNORED_KEYS
    ),
    "pocket_tts_audio_tokenizer_encoder": Family(
        "pocket_tts_audio_tokenizer_encoder",
        CODEC,
        {f"{NAME}EncoderModel": lambda c: part("", *encoder(c), kind="model", stream=FILLED)},
        f"{NAME}EncoderModel",
        CODEC_IGNORED_KEYS,
    ),
    "pocket_tts_audio_tokenizer_decoder": Family(
        "pocket_tts_audio_tokenizer_decoder",
        CODEC,
        {f"{NAME}DecoderModel": lambda c: part("", *decoder(c), kind="model", stream=FILLED)},
        f"{NAME}DecoderModel",
        CODEC_IGNORED_KEYS,
    ),
}
