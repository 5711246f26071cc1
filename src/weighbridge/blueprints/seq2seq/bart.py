"""BART-like encoder-decoders (BART, mBART, PLBART, PEGASUS, M2M-100, Blenderbot), which differ in norms and positions.

Source: arXiv 1910.13461 (BART), 2001.08210 (mBART), 2103.06333 (PLBART), 1912.08777 (PEGASUS), 2010.11125 (M2M-100),
2207.04672 (NLLB), 2004.13637 (Blender); names as in transformers 5.23.0, models/bart/modeling_bart.py and its siblings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.blueprints.modules.fairseq_transformer import IGNORED_KEYS, Style, backbone, fields, layer, stack
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Config, Field
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor


def generation(c: Config, style: Style) -> Part:
    """Describe the class for generation: a head on the decoder that is the shared table again."""
    return with_lm_head(c, backbone(c, style, "model."), style.logits_bias)


def with_lm_head(c: Config, sides: tuple[Part, ...], logits_bias: bool = True) -> Part:
    """Put the language-model head on both *sides*."""
    bias = (Tensor("final_logits_bias", (1, c.vocab), "buffer"),) if logits_bias else ()
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to="model.shared.weight" if c.tied else None, stream="decoder")
    return part("", *bias, part("model", *sides, kind="backbone"), head, kind="model")


def encoder(c: Config, style: Style) -> Part:
    """Describe the encoder alone."""
    return part("", *stack(c, style, c.vocab, None, layer(c)), kind="model")


def decoder(c: Config, style: Style, vocab: Size | None = None) -> Part:
    """Describe the decoder alone; its cross-attention stays, and runs if it is given states to attend to."""
    return part("", *stack(c, style, c.vocab if vocab is None else vocab, None, layer(c, memory="encoder")), kind="model")


def wrapped_decoder(inner: Part) -> Part:
    """Put a decoder alone under its name, as the reference wraps it."""
    return part("", replace(inner, name="decoder", kind="decoder"), kind="model")


def causal_lm(c: Config, alone: Part, *, tied: bool = True) -> Part:
    """Put its head on a decoder alone."""
    inner = replace(alone, name="decoder", kind="decoder")
    tied_to = "model.decoder.embed_tokens.weight" if c.tied and tied else None
    return part("", part("model", inner, kind="backbone"), linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=tied_to), kind="model")


def sequence_classification(c: Config, sides: tuple[Part, ...]) -> Part:
    """Put two layers on the decoder's last token."""
    head = part(
        "classification_head", linear("dense", c.hidden, c.hidden), linear("out_proj", c.hidden, c.labels), kind="head", stream="one"
    )
    return part("", part("model", *sides, kind="backbone"), head, kind="model")


def question_answering(c: Config, sides: tuple[Part, ...]) -> Part:
    """Put start and end on the decoder's tokens: always two outputs, regardless of the number of labels."""
    head = linear("qa_outputs", c.hidden, 2, stream="decoder")
    return part("", part("model", *sides, kind="backbone"), head, kind="model")


HEADS: Mapping[str, Callable[[Config, Style], Part]] = {
    "Model": lambda c, style: part("", *backbone(c, style), kind="model"),
    "ForConditionalGeneration": generation,
    "ForCausalLM": lambda c, style: causal_lm(c, decoder(c, style)),
    "ForSequenceClassification": lambda c, style: sequence_classification(c, backbone(c, style, "model.")),
    "ForQuestionAnswering": lambda c, style: question_answering(c, backbone(c, style, "model.")),
    "Encoder": encoder,
    "Decoder": decoder,
    "DecoderWrapper": lambda c, style: wrapped_decoder(decoder(c, style)),
}


def family_of(model_type: str, name: str, table: tuple[Field, ...], style: Style, *heads: str) -> Family:
    """Return one model type: its name, its defaults, its style, and the heads it has beside those that all have."""
    wanted = ("Model", "ForConditionalGeneration", "Encoder", "Decoder", *heads)
    classes: dict[str, Blueprint] = {name + head: lambda c, build=HEADS[head]: build(c, style) for head in wanted}  # type: ignore[misc]
    return Family(model_type, table, classes, f"{name}Model", IGNORED_KEYS)


BART = fields(50265, 1024, 1024, 4096, (12, 12), 16)
WRITES = ("ForCausalLM", "DecoderWrapper")
CLASSIFIES = "ForSequenceClassification"
ANSWERS = "ForQuestionAnswering"

FAMILIES = {
    entry.model_type: entry
    for entry in (
        family_of(
            "bart", "Bart", fields(50265, 1024, 1024, 4096, (12, 12), 16, 3), Style(offset=2, embed_norm=True), *WRITES, CLASSIFIES, ANSWERS
        ),
        family_of("mbart", "MBart", BART, Style(offset=2, embed_norm=True, final_norm=True), *WRITES, CLASSIFIES, ANSWERS),
        family_of("plbart", "PLBart", fields(50005, 1024, 768, 3072, (6, 6), 12), Style(offset=2, embed_norm=True), *WRITES, CLASSIFIES),
        family_of("pegasus", "Pegasus", BART, Style("fixed", final_norm=True), *WRITES),
        family_of(
            "m2m_100", "M2M100", fields(128112, 1024, 1024, 4096, (12, 12), 16), Style("computed", final_norm=True, logits_bias=False)
        ),
        family_of("blenderbot", "Blenderbot", fields(8008, 128, 2560, 10240, (2, 24), 32), Style(final_norm=True), *WRITES),
        family_of("blenderbot-small", "BlenderbotSmall", fields(50265, 512, 512, 2048, (8, 8), 16), Style(embed_norm=True), *WRITES),
    )
}
