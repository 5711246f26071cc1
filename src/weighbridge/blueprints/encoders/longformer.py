"""Longformer: RoBERTa with sliding-window and global attention (Beltagy et al., 2020).

Source: arXiv 2004.05150; class and tensor names as in transformers 5.23.0, models/longformer/modeling_longformer.py. Texts
are padded to whole windows, and a window is computed in overlapping chunks; the FLOPs are those of the chunks.
"""

from __future__ import annotations

from typing import Any

from weighbridge.blueprints.encoders.bert import POOLED, feed_forward, output_block, pooler
from weighbridge.blueprints.encoders.roberta import roberta_embeddings
from weighbridge.blueprints.modules.bert_family import ROBERTA_HEADS, Encoder, bert_fields, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import attend, linear, matmul, part, replace
from weighbridge.core.tree import Node, Part


def windows(value: Any) -> tuple[int, ...]:
    """Read the windows: one for all layers, or one for each; they are even.

    >>> windows(512), windows([2, 4])
    ((512,), (2, 4))
    """
    found = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    for window in found:
        if type(window) is not int or window < 2 or window % 2:
            raise ConfigError("a window is an even number of tokens", key="attention_window", value=window)
    return (found[0],) if len(set(found)) == 1 else found


FIELDS = (*bert_fields(), choice("windows", "attention_window", 512, read=windows), POOLED)


def longformer(whole: Stream | None) -> Encoder:
    """Return the encoder whose class lets the tokens of stream *whole* see everything, or none."""

    def encoder(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
        padded = ((length("seq") + max(c.windows) - 1) // max(c.windows)) * max(c.windows)
        inside = replace(encoder_stack(layers(c, padded, whole)[0], *layers(c, padded, whole)[1:]), stream=padded)
        return (roberta_embeddings(c), inside, *((pooler(c),) if pooled else ()))

    return encoder


def layers(c: Config, padded: Stream, whole: Stream | None) -> list[Part]:
    """Describe the layers, those of one window together."""

    def layer(window: int) -> Part:
        attention = part("attention", window_attention(c, window, padded, whole), output_block(c.hidden, c.hidden), kind="self_attention")
        return part("layer", attention, *feed_forward(c), kind="layer", repeat=c.layers)

    if len(c.windows) == 1:
        return [layer(c.windows[0])]
    places = {window: tuple(index for index, found in enumerate(c.windows) if found == window) for window in sorted(set(c.windows))}
    return [replace(layer(window), repeat=len(at), indices=at) for window, at in places.items()]


def window_attention(c: Config, window: int, padded: Stream, whole: Stream | None) -> Part:
    """Describe attention over chunks of one window each, half of it new; and what lets tokens see, and be seen by, all others."""
    H, A, d, half = c.hidden, c.heads, c.head_dim, window // 2
    chunks, halves = length(padded) // half - 1, length(padded) // half
    requires = "never" if whole is None else None
    nodes: list[Node] = [linear(name, H, H) for name in ("query", "key", "value")]
    nodes += [replace(linear("query_global", H, H, stream=whole), requires=requires)]
    nodes += [replace(linear(name, H, H), requires=requires) for name in ("key_global", "value_global")]
    nodes += [matmul("scores", (A, chunks, window, window, d)), matmul("values", (A, halves, half, 3 * half, d))]
    if whole is not None:
        nodes += [attend(heads=A, head_dim=d, queries=whole, keys=padded), attend(heads=A, head_dim=d, queries=padded, keys=whole)]
    return part("self", *nodes, kind="attention")


# A sequence is classified by its first token, which sees everything; of a question, all tokens do, however many they are.
PLAIN = ("ForMaskedLM", "ForTokenClassification")
ASKING = ("ForMultipleChoice", "ForQuestionAnswering")
CLASSES = {
    **with_heads("Longformer", "longformer", longformer(None), {name: ROBERTA_HEADS[name] for name in PLAIN}),
    **with_heads("Longformer", "longformer", longformer("one"), {"ForSequenceClassification": ROBERTA_HEADS["ForSequenceClassification"]}),
    **with_heads("Longformer", "longformer", longformer("question"), {name: ROBERTA_HEADS[name] for name in ASKING}),
}
CLASSES["LongformerModel"] = with_heads("Longformer", "longformer", longformer(None), {})["LongformerModel"]

FAMILIES = {"longformer": Family("longformer", FIELDS, CLASSES, "LongformerModel", ignored_keys=frozenset({"onnx_export"}))}
