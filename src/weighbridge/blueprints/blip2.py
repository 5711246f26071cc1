"""BLIP-2 and InstructBLIP: learned queries take out of a vision tower what a language model reads.

Source: arXiv 2301.12597, section 3, and 2305.06500; names as in transformers 5.23.0, models/blip_2/modeling_blip_2.py,
models/instructblip/modeling_instructblip.py and models/instructblipvideo/modeling_instructblipvideo.py (told for one
frame). InstructBLIP's queries read the text as well, here as long as the language model's.
"""

from __future__ import annotations

from weighbridge.blueprints import Blueprint, Family, family
from weighbridge.blueprints.bert import closing
from weighbridge.blueprints.blip import NEVER, vision
from weighbridge.blueprints.composite import CAUSAL, composed, submodel, under
from weighbridge.blueprints.staged import number
from weighbridge.blueprints.towers import PATCHES, stack_fields, text_fields
from weighbridge.config import Field, Sizes, altered, fact, nested, size, switch, told
from weighbridge.parts import attend, embedding, layer_norm, linear, matmul, stack
from weighbridge.sizes import Size
from weighbridge.tree import Node, Op, Part, Stream, Tensor, Together

VISION = (
    *stack_fields(1408, 6144, 16, 39),
    size("image", "image_size", 224, "R", "side of the image"),
    size("patch", "patch_size", 14, "P", "side of a patch"),
    PATCHES,
    switch("qkv_bias", "qkv_bias", True),
)
QUERIES: tuple[Field, ...] = (
    *text_fields(30522, 512, *stack_fields(768, 3072, 12)),
    size("encoder_hidden", "encoder_hidden_size", 1408, "W", "width of the states attended to"),
    number("every", "cross_attention_frequency", 2),
    told("looks", lambda c: tuple(index % c.every == 0 for index in range(c.layers))),
)
TEXTED = (switch("texted", "use_qformer_text_input", False), fact("embeds", False))
INSTRUCTED = (fact("texted", True), fact("embeds", True))


def attention(c: Sizes, name: str, attends: tuple[Op, ...], *, keys: Stream | None = None, width: Size | None = None) -> Part:
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
    return Part(name, (Part("attention", mixed, "attention"), closing(H, H)), kind)


def feed_forward(c: Sizes, suffix: str, stream: Stream | None) -> tuple[Part, Part]:
    """Describe the two linear maps for one kind of tokens; without a *stream* they are stored and do not run."""
    parts = (
        Part(f"intermediate{suffix}", (linear("dense", c.hidden, c.mlp),), "feed_forward"),
        closing(c.mlp, c.hidden, kind="feed_forward"),
    )
    given = NEVER if stream is None else None
    return parts[0]._replace(stream=stream, given=given), parts[1]._replace(name=f"output{suffix}", stream=stream, given=given)


def qformer(c: Sizes, queries: Stream | None, texts: Stream | None, states: Stream, *, joint: bool = False) -> Part:
    """Describe the transformer of queries: they look at an image in some layers, and at a text's tokens, if both are *joint*, in all.

    Without *joint*, queries and texts pass one after the other; either may be left out.
    """
    seen = tuple(stream for stream in (queries, texts) if stream is not None)
    alone = seen if not joint else (Together(seen),)
    attends = tuple(_attend(c, stream, stream) for stream in alone)

    def layer(looks: bool) -> tuple[Part, ...]:
        crossed = attention(c, "crossattention", (_attend(c, queries, states),), keys=states, width=c.encoder_hidden)
        crossed = crossed._replace(stream=queries, given=NEVER if queries is None else states if isinstance(states, str) else None)
        texted = feed_forward(c, "", texts) if c.texted else ()
        return (attention(c, "attention", attends), *((crossed,) if looks else ()), *texted, *feed_forward(c, "_query", queries))

    layers = Part("encoder", stack("layer", c.looks, c.layers, layer), "encoder")
    first = embeddings(c, layer_norm("layernorm", c.hidden)) if c.embeds else layer_norm("layernorm", c.hidden)
    return Part("", (first, layers), "resampler", stream=Together(seen))


def _attend(c: Sizes, queries: Stream | None, keys: Stream) -> Op:
    return attend(heads=c.heads, head_dim=c.head_dim, queries=queries, keys=keys)


def embeddings(c: Sizes, *norm: Part) -> Part:
    """Describe tables of words and positions, beside which the queries stand."""
    tables = embedding("word_embeddings", c.vocab, c.hidden), embedding("position_embeddings", c.positions, c.hidden)
    return Part("embeddings", (*tables, *norm), "embeddings")


def alone(c: Sizes) -> Part:
    """Describe the transformer of queries by itself, which looks at states of any length."""
    return qformer(c, "seq", None, "encoder")


def _learned(c: Sizes) -> tuple[Tensor, Sizes, Size]:
    """Return the queries, the sizes of their transformer, and how many states an image has."""
    queries = Tensor("query_tokens", (1, c.queries, c.q.hidden), "embedding")
    return queries, altered(c.q, encoder_hidden=c.vision.hidden), c.vision.patches + 1


def _generating(c: Sizes, language: Part) -> Part:
    queries, inner, states = _learned(c)
    read = qformer(inner, c.queries, "seq" if inner.embeds else None, states, joint=True)
    return Part("", (
        queries,
        vision(c.vision)._replace(name="vision_model"),
        read._replace(name="qformer"),
        Part("language_projection", linear("", c.q.hidden, c.text.hidden).children, "linear", stream=c.queries),
        under("language_model", language),
    ), "model")  # fmt: skip


def generation(c: Sizes) -> Part:
    """Describe Blip2ForConditionalGeneration: a causal language model if the type has one, else one with an encoder."""
    causal = any(name.endswith(CAUSAL) for name in family(c.text.model_type).classes)
    return _generating(c, submodel(c.text, *(CAUSAL if causal else ("ForConditionalGeneration",))))


def instructed(c: Sizes) -> Part:
    """Describe InstructBlipModel: the language model without a head."""
    return _generating(c, submodel(c.text))


def projected_text(c: Sizes) -> Part:
    """Describe Blip2TextModelWithProjection: a text through the queries' transformer, which does not ask an image."""
    queries, inner, states = _learned(c)
    read = qformer(inner, None, "seq", states)._replace(name="qformer")
    return Part("", (queries, embeddings(inner), read, linear("text_projection", c.q.hidden, c.matched)), "model")


def projected_vision(c: Sizes) -> Part:
    """Describe Blip2VisionModelWithProjection: what the queries take out of an image, in the space of retrieval."""
    queries, inner, states = _learned(c)
    read = qformer(inner, c.queries, None, states)._replace(name="qformer")
    projected = linear("vision_projection", c.q.hidden, c.matched, stream=c.queries)
    return Part("", (queries, vision(c.vision)._replace(name="vision_model"), read, projected), "model")


def retrieval(c: Sizes) -> Part:
    """Describe Blip2ForImageTextRetrieval: every query compared with the text; the matching head is for the other way of asking."""
    queries, inner, states = _learned(c)
    return Part("", (
        queries,
        vision(c.vision)._replace(name="vision_model"),
        embeddings(inner),
        qformer(inner, c.queries, "seq", states)._replace(name="qformer"),
        linear("vision_projection", c.q.hidden, c.matched, stream=c.queries),
        linear("text_projection", c.q.hidden, c.matched, stream="one"),
        linear("itm_head", c.q.hidden, 2, stream="one")._replace(given=NEVER),
        matmul("similarity", (c.queries, "batch", c.matched)),
    ), "model")  # fmt: skip


BLIP2: dict[str, Blueprint] = {
    "Blip2Model": generation,
    "Blip2TextModelWithProjection": projected_text,
    "Blip2VisionModelWithProjection": projected_vision,
    "Blip2ForConditionalGeneration": generation,
    "Blip2ForImageTextRetrieval": retrieval,
}
NEUTRAL = frozenset(
    """image_token_index image_token_id video_token_index video_token_id num_channels label_smoothing projection_dim
    use_decoder_only_language_model is_decoder""".split()
)


def _families(prefix: str, stem: str, name: str, classes: dict[str, Blueprint], read: tuple[Field, ...]) -> dict[str, Family]:
    """Return the three types of one structure: the whole, its queries and its vision tower."""
    fields = (
        nested("vision", "vision_config", VISION),
        nested("q", "qformer_config", (*QUERIES, *read)),
        composed("text", "text_config", "opt t5 llama"),
        size("queries", "num_query_tokens", 32, "Q", "learned queries"),
        size("matched", "image_text_hidden_size", 256, "M", "width of the space of retrieval"),
    )
    q, v = f"{stem}_qformer", f"{stem}_vision_model"
    return {
        prefix: Family(prefix, fields, classes, f"{name}Model", NEUTRAL),
        q: Family(q, (*QUERIES, *read), {f"{name}QFormerModel": alone}, f"{name}QFormerModel", NEUTRAL),
        v: Family(v, VISION, {f"{name}VisionModel": vision}, f"{name}VisionModel", NEUTRAL),
    }


def _instructed(name: str) -> dict[str, Blueprint]:
    return {f"{name}Model": instructed, f"{name}ForConditionalGeneration": generation}


FAMILIES = {
    **_families("blip-2", "blip_2", "Blip2", BLIP2, TEXTED),
    **_families("instructblip", "instructblip", "InstructBlip", _instructed("InstructBlip"), INSTRUCTED),
    **_families("instructblipvideo", "instructblipvideo", "InstructBlipVideo", _instructed("InstructBlipVideo"), INSTRUCTED),
}
