"""The Q-Former of BLIP-2: a BERT over learned queries, with cross-attention to an image in some layers.

Source: arXiv 2301.12597, section 3.1; names as in transformers 5.23.0, models/blip_2/modeling_blip_2.py and
models/instructblip/modeling_instructblip.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import output_block
from weighbridge.blueprints.modules.clip_towers import stack_fields, text_fields
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.multimodal.blip import NEVER
from weighbridge.config.fields import Config, Field, computed, constant, size, switch
from weighbridge.core.length import Stream, sum_of
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Attend, Node, Part

QUERIES: tuple[Field, ...] = (
    *text_fields(30522, 512, *stack_fields(768, 3072, 12)),
    size("encoder_hidden", "encoder_hidden_size", 1408, "W", "width of the states attended to"),
    number("every", "cross_attention_frequency", 2),
    computed("looks", lambda c: tuple(index % c.every == 0 for index in layer_range(c.layers))),
)
TEXTED = (switch("texted", "use_qformer_text_input", False), constant("embeds", False))
INSTRUCTED = (constant("texted", True), constant("embeds", True))


def attention(c: Config, name: str, attends: tuple[Attend, ...], *, keys: Stream | None = None, width: Size | None = None) -> Part:
    """Describe attention of one or several kinds of tokens by the same maps."""
    H = c.hidden
    source = H if width is None else width
    mixed: tuple[Node, ...] = (
        linear("query", H, H),
        linear("key", source, H, stream=keys),
        linear("value", source, H, stream=keys),
        *attends,
    )
    kind = "self_attention" if width is None else "cross_attention"
    return part(name, part("attention", *mixed, kind="attention"), output_block(H, H), kind=kind)


def feed_forward(c: Config, suffix: str, stream: Stream | None) -> tuple[Part, Part]:
    """Describe the two linear maps for one kind of tokens; without a *stream* they are stored and do not run."""
    parts = (
        part(f"intermediate{suffix}", linear("dense", c.hidden, c.mlp), kind="feed_forward"),
        output_block(c.mlp, c.hidden, kind="feed_forward"),
    )
    requires = NEVER if stream is None else None
    return replace(parts[0], stream=stream, requires=requires), replace(parts[1], name=f"output{suffix}", stream=stream, requires=requires)


def qformer(c: Config, queries: Stream | None, texts: Stream | None, states: Stream, *, joint: bool = False) -> Part:
    """Describe the transformer of queries: they attend to an image in some layers, and to a text's tokens, if both are *joint*, in all.

    Without *joint*, queries and texts pass one after the other; either may be left out.
    """
    seen = tuple(stream for stream in (queries, texts) if stream is not None)
    alone = seen if not joint else (sum_of(*seen),)
    attends = tuple(_attend(c, stream, stream) for stream in alone)

    def layer(looks: bool) -> tuple[Part, ...]:
        crossed = attention(c, "crossattention", (_attend(c, queries, states),), keys=states, width=c.encoder_hidden)
        crossed = replace(crossed, stream=queries, requires=NEVER if queries is None else states if isinstance(states, str) else None)
        texted = feed_forward(c, "", texts) if c.texted else ()
        return (attention(c, "attention", attends), *((crossed,) if looks else ()), *texted, *feed_forward(c, "_query", queries))

    layers = part("encoder", *stack("layer", c.looks, c.layers, layer), kind="encoder")
    first = embeddings(c, layer_norm("layernorm", c.hidden)) if c.embeds else layer_norm("layernorm", c.hidden)
    return part("", first, layers, kind="resampler", stream=sum_of(*seen))


def _attend(c: Config, queries: Stream | None, keys: Stream) -> Attend:
    return attend(heads=c.heads, head_dim=c.head_dim, queries=queries, keys=keys)


def embeddings(c: Config, *norm: Part) -> Part:
    """Describe the embeddings of words and positions, beside which the queries stand."""
    tables = embedding("word_embeddings", c.vocab, c.hidden), embedding("position_embeddings", c.positions, c.hidden)
    return part("embeddings", *tables, *norm, kind="embeddings")


def standalone_qformer(c: Config) -> Part:
    """Describe the transformer of queries by itself, which attends to states of any length."""
    return qformer(c, "seq", None, "encoder")
