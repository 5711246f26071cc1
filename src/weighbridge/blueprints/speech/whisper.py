"""Whisper: an encoder-decoder over mel frames, with two convolutions and sinusoidal positions in the encoder.

Source: arXiv 2212.04356; names as in transformers 5.23.0, models/whisper/modeling_whisper.py. The encoder always sees
thirty seconds, twice as many frames as it has positions, so its arithmetic does not depend on the input.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.config.family import Family
from weighbridge.config.fields import MEL_BINS, Config, size, switch, variant
from weighbridge.core.parts import conv1d, embedding, layer_norm, linear, part, replace
from weighbridge.core.tree import Part, Tensor

FIELDS = variant(
    tuple(field for field in fairseq_transformer.fields(51865, 448, 384, 1536, (4, 4), 6) if field.word != "positions"),
    size("positions", "max_target_positions", 448, "S", "positions of the decoder"),
    size("source", "max_source_positions", 1500, "F", "positions of the encoder"),
    MEL_BINS.with_default(80),
    size("heads", "encoder_attention_heads", 6, "A", "attention heads of the encoder", "num_attention_heads", "num_key_value_heads"),
    size("projection", "classifier_proj_size", 256, "P", "width of the classifier"),
    switch("weighted", "use_weighted_layer_sum", False),
)
IGNORED_KEYS = fairseq_transformer.IGNORED_KEYS | set(
    """suppress_tokens begin_suppress_tokens apply_spec_augment mask_time_prob mask_time_length mask_time_min_masks
    mask_feature_prob mask_feature_length mask_feature_min_masks median_filter_width alignment_heads lang_ids
    lang_to_id task_to_id forced_decoder_ids no_speech_threshold""".split()
)


def encoder(c: Config) -> Part:
    """Describe the encoder: the second convolution halves the frames."""
    H = c.hidden
    return part(
        "encoder",
        conv1d("conv1", c.mels, H, 3, padding=1, of=2 * c.source),
        conv1d("conv2", H, H, 3, stride=2, padding=1, of=2 * c.source),
        part("embed_positions", Tensor("weight", (c.source, H), "embedding", frozen=True), kind="embedding"),
        fairseq_transformer.layer(c, key_bias=False),
        layer_norm("layer_norm", H),
        kind="encoder",
        stream=c.source,
    )


def decoder(c: Config, *, alone: bool = False) -> Part:
    """Describe the decoder, beside the encoder or alone."""
    memory = "encoder" if alone else c.source
    parts = (
        embedding("embed_tokens", c.vocab, c.hidden),
        embedding("embed_positions", c.positions, c.hidden),
        fairseq_transformer.layer(c, memory=memory, key_bias=False),
        layer_norm("layer_norm", c.hidden),
    )
    return part("decoder", *parts, kind="decoder", stream=None if alone else "decoder")


def whisper(c: Config) -> Part:
    """Describe WhisperModel."""
    return part("", encoder(c), decoder(c), kind="model")


def generation(c: Config) -> Part:
    """Describe WhisperForConditionalGeneration: the decoder's table is its head."""
    return with_lm_head(c, encoder(c), decoder(c))


def causal_lm(c: Config) -> Part:
    """Describe WhisperForCausalLM: the decoder alone."""
    return with_lm_head(c, decoder(c, alone=True))


def with_lm_head(c: Config, *parts: Part) -> Part:
    """Describe the head on the decoder's tokens."""
    tied_to = "model.decoder.embed_tokens.weight" if c.tied else None
    head = linear("proj_out", c.hidden, c.vocab, bias=False, tied_to=tied_to, stream=parts[-1].stream)
    return part("", part("model", *parts, kind="backbone"), head, kind="model")


def classification(c: Config) -> Part:
    """Describe WhisperForAudioClassification: the encoder, a projection of every position, labels of their mean."""
    weights = (Tensor("layer_weights", (c.layers + 1,), "gain"),) if c.weighted else ()
    heads = (linear("projector", c.hidden, c.projection, stream=c.source), linear("classifier", c.projection, c.labels, stream="one"))
    return part("", *weights, encoder(c), *heads, kind="model")


CLASSES = {
    "WhisperModel": whisper,
    "WhisperForConditionalGeneration": generation,
    "WhisperForCausalLM": causal_lm,
    "WhisperForAudioClassification": classification,
    "WhisperEncoder": lambda c: part("", replace(encoder(c), name=""), kind="model"),
    "WhisperDecoder": lambda c: part("", replace(decoder(c, alone=True), name=""), kind="model"),
    "WhisperDecoderWrapper": lambda c: part("", decoder(c, alone=True), kind="model"),
}

FAMILIES = {"whisper": Family("whisper", FIELDS, CLASSES, "WhisperModel", IGNORED_KEYS)}
