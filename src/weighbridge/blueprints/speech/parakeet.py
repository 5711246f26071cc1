"""Parakeet and related models: speech recognition with a Fast Conformer and CTC, RNN-T or TDT decoding.

Source: arXiv 2305.05084 (Fast Conformer), 2304.06795 (TDT); names as in transformers 5.23.0, models/parakeet/modeling_parakeet.py,
models/nemotron_asr_streaming, models/nemotron3_5_asr and models/lasr.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.fast_conformer import ENCODER, LASR, STREAMING, encoder, frames
from weighbridge.blueprints.modules.rnn import lstm
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import VOCAB, Config, Field, constant, sequence, size
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, linear, part, replace
from weighbridge.core.tree import Part, Tensor

GREEDY = unknown("tokens are written one by one; the model decides how many belong to a frame")


def ctc(c: Config) -> Part:
    """Describe a head on every frame that is left."""
    tensors = Tensor("weight", (c.vocab, c.encoder.hidden, 1), "weight"), Tensor("bias", (c.vocab,), "bias")
    return part(
        "", as_child("encoder", submodel(c.encoder)), part("ctc_head", *tensors, kind="head", stream=frames(c.encoder)), kind="model"
    )


def transducer(c: Config) -> Part:
    """Describe a decoder with a memory of its own words, and what joins it to the encoder's frames."""
    W, H = c.width, c.encoder.hidden
    decoder = (
        embedding("embedding", c.vocab, W),
        replace(lstm("lstm", W, c.depth), stream=GREEDY),
        linear("decoder_projector", W, W, stream=GREEDY),
    )
    prompted = (linear("linear_1", H + c.prompts, c.prompt_width), linear("linear_2", c.prompt_width, H)) if c.prompted else ()
    return part(
        "",
        as_child("encoder", submodel(c.encoder)),
        linear("encoder_projector", H, W, stream=frames(c.encoder)),
        part("decoder", *decoder, kind="decoder"),
        part("joint", linear("head", W, c.vocab + c.durations, stream=GREEDY), kind="head"),
        *((part("prompt_projector", *prompted, kind="projector", stream=frames(c.encoder)),) if prompted else ()),
        kind="model",
    )


def encoder_fields(vocab: int, kind: str, *more: Field) -> tuple[Field, ...]:
    """List the fields of a whole model over an encoder."""
    return (VOCAB.with_default(vocab), model_config("encoder", "encoder_config", kind, fixed=True), *more)


def transducer_fields(vocab: int, kind: str, *more: Field) -> tuple[Field, ...]:
    """List the fields of a transducer."""
    depth, width = Field("depth", "num_decoder_layers", 2, "choice"), size("width", "decoder_hidden_size", 640, "W", "width of the decoder")
    return encoder_fields(
        vocab, kind, width, depth, *more, *((constant("durations", 0),) if not any(field.word == "durations" for field in more) else ())
    )


PLAIN = constant("prompted", False)
DURATIONS = sequence("durations", "durations", [0, 1, 2, 3, 4], read=len)
PROMPTED = (
    constant("prompted", True),
    size("prompts", "num_prompts", 128, "N_pro", "prompts"),
    size("prompt_width", "prompt_intermediate_size", 2048, "I_pro", "inner width of the prompt projection"),
)
IGNORED_KEYS = frozenset(
    """activation_dropout batch_norm_momentum blank_token_id conv_residual_weights ctc_loss_reduction ctc_zero_infinity default_prompt_id
    default_num_lookahead_tokens dropout_positions feed_forward_residual_weights layer_norm_eps max_position_embeddings max_symbols_per_step
    scale_input sliding_window""".split()
)


def family_of(model_type: str, name: str, table: tuple[Field, ...], blueprint: Blueprint) -> Family:
    """Return one model type by its class."""
    return Family(model_type, table, {name: blueprint}, name, IGNORED_KEYS)


STREAMED = "nemotron_asr_streaming_encoder"
FAMILIES = {
    entry.model_type: entry
    for entry in (
        family_of("parakeet_encoder", "ParakeetEncoder", ENCODER, encoder),
        family_of("parakeet_ctc", "ParakeetForCTC", encoder_fields(1025, "parakeet_encoder"), ctc),
        family_of("parakeet_rnnt", "ParakeetForRNNT", transducer_fields(8193, "parakeet_encoder", PLAIN), transducer),
        family_of("parakeet_tdt", "ParakeetForTDT", transducer_fields(8193, "parakeet_encoder", PLAIN, DURATIONS), transducer),
        family_of("lasr_encoder", "LasrEncoder", LASR, encoder),
        family_of("lasr_ctc", "LasrForCTC", encoder_fields(512, "lasr_encoder"), ctc),
        family_of(STREAMED, "NemotronAsrStreamingEncoder", STREAMING, encoder),
        family_of("nemotron_asr_streaming", "NemotronAsrStreamingForRNNT", transducer_fields(1025, STREAMED, PLAIN), transducer),
        family_of("nemotron3_5_asr", "Nemotron3_5AsrForRNNT", transducer_fields(13088, STREAMED, *PROMPTED), transducer),
    )
}
