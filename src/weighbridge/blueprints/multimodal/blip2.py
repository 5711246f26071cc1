"""BLIP-2 and InstructBLIP: a Q-Former between a vision tower and a language model.

Source: arXiv 2301.12597, section 3, and 2305.06500; names as in transformers 5.23.0, models/blip_2/modeling_blip_2.py,
models/instructblip/modeling_instructblip.py and models/instructblipvideo/modeling_instructblipvideo.py (told for one
frame). InstructBLIP's queries read the text as well, here as long as the language model's.
"""

from __future__ import annotations

from weighbridge.blueprints import family
from weighbridge.blueprints.modules.clip_towers import PATCHES, stack_fields
from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.qformer import INSTRUCTED, QUERIES, TEXTED, embeddings, qformer, standalone_qformer
from weighbridge.blueprints.multimodal.blip import NEVER, vision
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import IMAGE, PATCH, Config, Field, nested, size, switch, with_changes
from weighbridge.core.parts import linear, matmul, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

VISION = (
    *stack_fields(1408, 6144, 16, 39),
    IMAGE.with_default(224),
    PATCH.with_default(14),
    PATCHES,
    switch("qkv_bias", "qkv_bias", True),
)


def _query_sizes(c: Config) -> tuple[Tensor, Config, Size]:
    """Return the queries, the sizes of their transformer, and how many states an image has."""
    queries = Tensor("query_tokens", (1, c.queries, c.q.hidden), "embedding")
    return queries, with_changes(c.q, encoder_hidden=c.vision.hidden), c.vision.patches + 1


def _generation_model(c: Config, language: Part) -> Part:
    queries, inner, states = _query_sizes(c)
    read = qformer(inner, c.queries, "seq" if inner.embeds else None, states, joint=True)
    return part(
        "",
        queries,
        replace(vision(c.vision), name="vision_model"),
        replace(read, name="qformer"),
        part("language_projection", *linear("", c.q.hidden, c.text.hidden).children, kind="linear", stream=c.queries),
        as_child("language_model", language),
        kind="model",
    )


def generation(c: Config) -> Part:
    """Describe Blip2ForConditionalGeneration: a causal language model if the type has one, else one with an encoder."""
    causal = any(name.endswith(CAUSAL) for name in family(c.text.model_type).classes)
    return _generation_model(c, submodel(c.text, *(CAUSAL if causal else ("ForConditionalGeneration",))))


def instruct_blip(c: Config) -> Part:
    """Describe InstructBlipModel: the language model without a head."""
    return _generation_model(c, submodel(c.text))


def projected_text(c: Config) -> Part:
    """Describe Blip2TextModelWithProjection: a text through the queries' transformer, which does not ask an image."""
    queries, inner, states = _query_sizes(c)
    read = replace(qformer(inner, None, "seq", states), name="qformer")
    return part("", queries, embeddings(inner), read, linear("text_projection", c.q.hidden, c.matched), kind="model")


def projected_vision(c: Config) -> Part:
    """Describe Blip2VisionModelWithProjection: what the queries take out of an image, in the space of retrieval."""
    queries, inner, states = _query_sizes(c)
    read = replace(qformer(inner, c.queries, None, states), name="qformer")
    projected = linear("vision_projection", c.q.hidden, c.matched, stream=c.queries)
    return part("", queries, replace(vision(c.vision), name="vision_model"), read, projected, kind="model")


def retrieval(c: Config) -> Part:
    """Describe Blip2ForImageTextRetrieval: every query compared with the text; the matching head is for the other way of asking."""
    queries, inner, states = _query_sizes(c)
    return part(
        "",
        queries,
        replace(vision(c.vision), name="vision_model"),
        embeddings(inner),
        replace(qformer(inner, c.queries, "seq", states), name="qformer"),
        linear("vision_projection", c.q.hidden, c.matched, stream=c.queries),
        linear("text_projection", c.q.hidden, c.matched, stream="one"),
        replace(linear("itm_head", c.q.hidden, 2, stream="one"), requires=NEVER),
        matmul("similarity", (c.queries, "batch", c.matched)),
        kind="model",
    )


BLIP2: dict[str, Blueprint] = {
    "Blip2Model": generation,
    "Blip2TextModelWithProjection": projected_text,
    "Blip2VisionModelWithProjection": projected_vision,
    "Blip2ForConditionalGeneration": generation,
    "Blip2ForImageTextRetrieval": retrieval,
}
IGNORED_KEYS = frozenset(
    """image_token_index image_token_id video_token_index video_token_id num_channels label_smoothing projection_dim
    use_decoder_only_language_model is_decoder""".split()
)


def _families(prefix: str, stem: str, name: str, classes: dict[str, Blueprint], read: tuple[Field, ...]) -> dict[str, Family]:
    """Return the three types of one structure: the whole, its queries and its vision tower."""
    fields = (
        nested("vision", "vision_config", VISION),
        nested("q", "qformer_config", (*QUERIES, *read)),
        model_config("text", "text_config", "opt t5 llama"),
        size("queries", "num_query_tokens", 32, "Q", "learned queries"),
        size("matched", "image_text_hidden_size", 256, "M", "width of the retrieval space"),
    )
    q, v = f"{stem}_qformer", f"{stem}_vision_model"
    return {
        prefix: Family(prefix, fields, classes, f"{name}Model", IGNORED_KEYS),
        q: Family(q, (*QUERIES, *read), {f"{name}QFormerModel": standalone_qformer}, f"{name}QFormerModel", IGNORED_KEYS),
        v: Family(v, VISION, {f"{name}VisionModel": vision}, f"{name}VisionModel", IGNORED_KEYS),
    }


def _instruct_blip_classes(name: str) -> dict[str, Blueprint]:
    return {f"{name}Model": instruct_blip, f"{name}ForConditionalGeneration": generation}


FAMILIES = {
    **_families("blip-2", "blip_2", "Blip2", BLIP2, TEXTED),
    **_families("instructblip", "instructblip", "InstructBlip", _instruct_blip_classes("InstructBlip"), INSTRUCTED),
    **_families("instructblipvideo", "instructblipvideo", "InstructBlipVideo", _instruct_blip_classes("InstructBlipVideo"), INSTRUCTED),
}
