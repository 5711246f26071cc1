"""LED: BART with Longformer's encoder (sliding-window and global attention).

Source: arXiv 2004.05150; names as in transformers 5.23.0, models/led/modeling_led.py. Global attention runs only where
a mask asks for it; the encoder pads its input to whole windows.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.longformer import window_attention, windows
from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.modules.layer_types import one_per_layer
from weighbridge.blueprints.seq2seq import bart
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, constant, size, variant
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import embedding, layer_norm, linear, part, replace, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = variant(
    tuple(field for field in bart.BART if field.word != "positions"),
    size("positions", "max_encoder_position_embeddings", 16384, "S", "positions of the encoder"),
    size("decoder_positions", "max_decoder_position_embeddings", 1024, "S_dec", "positions of the decoder"),
    choice("stated_kinds", "attention_window", 512, read=windows),
    constant(
        "windows",
        lambda c: (
            c.stated_kinds * len(layer_range(c.layers))
            if len(c.stated_kinds) == 1
            else one_per_layer(c, c.stated_kinds, "attention_window")
        ),
    ),
)
IGNORED_KEYS = fairseq_transformer.IGNORED_KEYS | {"initializer_range", "attention_dropout"}


def padded_to_windows(c: Config) -> Stream:
    """Return the stream of whole windows, the widest of them."""
    widest = max(c.windows)
    return ((length("seq") + widest - 1) // widest) * widest


def attention(c: Config, window: int) -> Part:
    """Describe attention to a window, and the projections of tokens that see all."""
    inner = replace(window_attention(c, window, padded_to_windows(c), None), name="longformer_self_attn")
    return part("self_attn", inner, linear("output", c.hidden, c.hidden), kind="self_attention")


def encoder(c: Config, tied_to: str | None) -> Part:
    """Describe the encoder; its layers may have windows of different widths."""
    H = c.hidden

    def layer(window: int) -> tuple[Node, ...]:
        return (
            attention(c, window),
            layer_norm("self_attn_layer_norm", H),
            linear("fc1", H, c.mlp),
            linear("fc2", c.mlp, H),
            layer_norm("final_layer_norm", H),
        )

    tables = (embedding("embed_tokens", c.vocab, H, tied_to=tied_to), embedding("embed_positions", c.positions, H))
    parts = (*tables, *stack("layers", c.windows, c.layers, layer), layer_norm("layernorm_embedding", H))
    return part("encoder", *parts, kind="encoder", stream=padded_to_windows(c))


def backbone(c: Config, prefix: str = "") -> tuple[Part, ...]:
    """Describe the shared table, the encoder and BART's decoder."""
    shared, tied_to = fairseq_transformer.words(c, prefix)
    return shared, encoder(c, tied_to), part("decoder", *decoder(c, tied_to, "seq"), kind="decoder", stream="decoder")


def decoder(c: Config, tied_to: str | None, memory: Stream) -> tuple[Part, ...]:
    """Describe BART's decoder, with a table of positions of its own."""
    return (
        embedding("embed_tokens", c.vocab, c.hidden, tied_to=tied_to),
        embedding("embed_positions", c.decoder_positions, c.hidden),
        fairseq_transformer.layer(c, memory=memory),
        layer_norm("layernorm_embedding", c.hidden),
    )


def led(c: Config) -> Part:
    """Describe LEDModel."""
    return part("", *backbone(c), kind="model")


def generation(c: Config) -> Part:
    """Describe LEDForConditionalGeneration: a tied head, and the bias of its logits, a buffer."""
    bias = Tensor("final_logits_bias", (1, c.vocab), "buffer")
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to="led.shared.weight" if c.tied else None, stream="decoder")
    return part("", bias, part("led", *backbone(c, "led."), kind="backbone"), head, kind="model")


def question_answering(c: Config) -> Part:
    """Describe LEDForQuestionAnswering: always two outputs."""
    return part("", part("led", *backbone(c, "led."), kind="backbone"), linear("qa_outputs", c.hidden, 2, stream="decoder"), kind="model")


CLASSES = {
    "LEDModel": led,
    "LEDForConditionalGeneration": generation,
    "LEDForQuestionAnswering": question_answering,
    "LEDEncoder": lambda c: part("", replace(encoder(c, None), name=""), kind="model"),
    "LEDDecoder": lambda c: part("", *decoder(c, None, "encoder"), kind="model"),
}

FAMILIES = {"led": Family("led", FIELDS, CLASSES, "LEDModel", IGNORED_KEYS)}
