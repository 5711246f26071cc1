"""SeamlessM4T and its second version: speech or text in, text or speech out (Seamless team, 2023).

Source: arXiv 2308.11596 and 2312.05187; class and tensor names as in transformers 5.23.0,
models/seamless_m4t/modeling_seamless_m4t.py and models/seamless_m4t_v2/modeling_seamless_m4t_v2.py. A forward pass writes text;
units and the vocoder run in generation only.
"""

from __future__ import annotations

from weighbridge.blueprints import Blueprint, Family
from weighbridge.blueprints.conformer import kind
from weighbridge.blueprints.seamless_parts import FIELDS, heard, hearing, reader, unit_writer, vocoder, writer
from weighbridge.config.fields import Sizes, altered, fact, size
from weighbridge.core.parts import embedding, linear
from weighbridge.core.tree import Part, Stream, Untold

UNITS = Untold("units are as many as characters last")


def units(c: Sizes, prefix: str = "") -> Part:
    """Describe the text-to-unit model: an encoder of states, a decoder of units."""
    made = (
        Part("decoder", unit_writer(c), "decoder", stream=UNITS)
        if c.second
        else Part("decoder", writer(c, "seq"), "decoder", stream="decoder")
    )
    return Part(prefix, (Part("encoder", reader(c, words=False), "encoder"), made), "backbone" if prefix else "model")


def unit_generation(c: Sizes) -> Part:
    """Describe the text-to-unit model and its head, with sizes of their own."""
    own = altered(
        c, vocab=c.units, encoder_layers=c.unit_encoder_layers, encoder_mlp=c.unit_encoder_mlp, encoder_heads=c.unit_encoder_heads,
        decoder_layers=c.unit_decoder_layers, decoder_mlp=c.unit_decoder_mlp, decoder_heads=c.unit_decoder_heads,
    )  # fmt: skip
    head = linear("lm_head", c.hidden, c.units, bias=False, tied_to="model.decoder.embed_tokens.weight" if c.tied else None)
    return Part("", (units(own, "model"), head._replace(stream=UNITS if c.second else "decoder")), "model")


def spoken(c: Sizes) -> tuple[Part, Part]:
    """Describe what speaks: the text-to-unit model and the vocoder, which a forward pass leaves alone."""
    inner = unit_generation(c)
    body, head = inner.children
    assert isinstance(head, Part)
    if c.tied:
        head = linear("lm_head", c.hidden, c.units, bias=False, tied_to="t2u_model.model.decoder.embed_tokens.weight")
    return Part("t2u_model", (body, head), "decoder", given="speech"), Part("vocoder", vocoder(c), "vocoder", given="speech")


def whole(reads: bool, hears: bool, speaks: bool) -> Blueprint:
    """Return the blueprint of a class that *reads* or *hears* (text, if it can do both) and writes, and may have what *speaks*."""

    def blueprint(c: Sizes) -> Part:
        owner = "shared.weight" if c.tied else None
        memory: Stream = "seq" if reads else heard(c)
        return Part("", (
            embedding("shared", c.vocab, c.hidden),
            *((Part("text_encoder", reader(c, owner), "encoder"),) if reads else ()),
            *((Part("speech_encoder", hearing(c), "audio", given="speech" if reads else None),) if hears else ()),
            Part("text_decoder", writer(c, memory, owner), "decoder", stream="decoder"),
            linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=owner, stream="decoder"),
            *(spoken(c) if speaks else ()),
        ), "model")  # fmt: skip

    return blueprint


def classes(name: str) -> dict[str, Blueprint]:
    """Return the classes of one version."""
    return {
        f"{name}Model": whole(reads=True, hears=True, speaks=True),
        f"{name}ForTextToText": whole(reads=True, hears=False, speaks=False),
        f"{name}ForSpeechToText": whole(reads=False, hears=True, speaks=False),
        f"{name}ForTextToSpeech": whole(reads=True, hears=False, speaks=True),
        f"{name}ForSpeechToSpeech": whole(reads=False, hears=True, speaks=True),
        f"{name}SpeechEncoder": lambda c: Part("", hearing(c), "model"),
        f"{name}Encoder": lambda c: Part("", reader(c), "model"),
        f"{name}Decoder": lambda c: Part("", writer(c, "encoder"), "model"),
        f"{name}TextToUnitForConditionalGeneration": unit_generation,
        f"{name}CodeHifiGan": lambda c: Part("", vocoder(c), "model"),
    }


FIRST = (*FIELDS, fact("second", False), kind("relative")._replace(read=lambda value: value if value in ("relative", "rotary") else None))
SECOND = (
    *FIELDS, fact("second", True),
    kind("relative_key")._replace(read=lambda value: value if value == "relative_key" else None),
    size("left", "left_max_position_embeddings", 64, "P_lef", "relative positions to the left"),
    size("right", "right_max_position_embeddings", 8, "P_rig", "relative positions to the right"),
    size("characters", "char_vocab_size", 10943, "V_cha", "characters"),
    size("variance", "t2u_variance_predictor_embed_dim", 1024, "E_var", "width of the predictor of durations"),
    size("variance_inner", "t2u_variance_predictor_hidden_dim", 256, "I_var", "inner width of the predictor of durations"),
    size("variance_kernel", "t2u_variance_predictor_kernel_size", 3, "K_var", "kernel of the unit model's predictor of durations"),
)  # fmt: skip
NEUTRAL = frozenset(
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
        NEUTRAL,
    ),
    "seamless_m4t_v2": Family("seamless_m4t_v2", SECOND, classes("SeamlessM4Tv2"), "SeamlessM4Tv2Model", NEUTRAL),
}
