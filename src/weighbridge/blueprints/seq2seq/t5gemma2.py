"""T5Gemma 2: Gemma 3's layers on both sides; the encoder sees images, and the decoder attends to itself and to the encoder at once.

Source: arXiv 2512.14856; names as in transformers 5.23.0, models/t5gemma2/modeling_t5gemma2.py. Both sides and the head share one table
of words, and a vector of its own for the token that ends an image.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.reroot import reroot
from weighbridge.blueprints.modules.sliding_window import windowed_layers
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import per_image
from weighbridge.blueprints.multimodal.paligemma import gemma3_projector, soft_tokens
from weighbridge.blueprints.seq2seq.t5gemma import IGNORED_KEYS, SIDE
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import LABELS, TIED, Config, Field, computed, nested, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, sum_of
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, gated_mlp, linear, part, replace, rms_norm
from weighbridge.core.tree import Part, State, Tensor


def _refuse_unequal_sides(c: Config) -> bool:
    for word, key in (("hidden", "hidden_size"), ("vocab", "vocab_size")):
        one, other = getattr(c.encoder.text, word), getattr(c.decoder, word)
        if one != other:
            text = Text("the decoder has {other}, the encoder's text {one}: the class refuses that they differ", one=one, other=other)
            raise ConfigError(text, key=f"decoder.{key}", value=other)
    return True


PERIOD = Field("period", "sliding_window_pattern", 6, "choice", report_default=False)
WORDS = (PERIOD, *variant(SIDE, vocab=262208, windowed=windowed_layers(lambda c: int(c.layers) - int(c.layers) // c.period)))
ENCODER = (
    nested("text", "text_config", WORDS),
    model_config("vision", "vision_config", "siglip_vision_model"),
    Field("image_tokens", "mm_tokens_per_image", 256, "choice"),
    computed("soft", soft_tokens),
)
FIELDS = (
    nested("encoder", "encoder", ENCODER),
    nested("decoder", "decoder", WORDS),
    LABELS,
    TIED,
    computed("equal_sides", _refuse_unequal_sides),
)


def attention(c: Config, memory: Stream | None = None) -> Part:
    """Describe attention over the tokens themselves, or over these and those of *memory*; queries and keys are normalized."""
    H, bias, kv = c.hidden, c.attention_bias, c.kv_heads * c.head_dim
    keys = None if memory is None else sum_of("decoder", memory)
    seen = attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=c.head_dim, keys=keys)
    if memory is not None:
        seen = replace(seen, causal=True, kept="decoder", window=c.window, windowed=c.windowed)
    return part(
        "self_attn",
        linear("q_proj", H, c.heads * c.head_dim, bias=bias),
        linear("k_proj", H, c.kv_heads * c.head_dim, bias=bias, stream=keys),
        linear("v_proj", H, c.kv_heads * c.head_dim, bias=bias, stream=keys),
        linear("o_proj", c.heads * c.head_dim, H, bias=bias),
        rms_norm("q_norm", c.head_dim),
        rms_norm("k_norm", c.head_dim, stream=keys),
        seen,
        *(() if memory is None else (State("keys and values", 2 * kv, per_token=True, tokens=memory),)),
        kind="self_attention",
    )


def side(c: Config, name: str, *, memory: Stream | None = None, words: str = "") -> Part:
    """Describe one side, with a norm before and after each step; its table may be that of *words*."""
    H = c.hidden
    weight = Tensor("weight", (c.vocab, H), "embedding", tied_to=f"{words}.weight" if words else None)
    ending = Tensor("eoi_embedding", (H,), "embedding", tied_to=f"{words}.eoi_embedding" if words else None)
    norms = ((rms_norm(f"pre_{step}_layernorm", H), rms_norm(f"post_{step}_layernorm", H)) for step in ("self_attn", "feedforward"))
    (before, after), (first, last) = norms
    layer = part("layers", attention(c, memory), before, after, gated_mlp("mlp", H, c.mlp), first, last, kind="layer", repeat=c.layers)
    return part(name, part("embed_tokens", weight, ending, kind="embedding"), rms_norm("norm", H), layer, kind="transformer")


def encoder_of(c: Config, name: str = "") -> Part:
    """Describe the encoder: the text's layers, a tower for images, and the map between them."""
    tower = submodel(c.vision)
    return part(
        name,
        side(c.text, "text_model"),
        as_child("vision_tower", tower, requires="images", executions="images"),
        per_image(gemma3_projector(c, tower)),
        kind="encoder" if name else "model",
    )


def decoder_alone(c: Config) -> Part:
    """Describe T5Gemma2Decoder, which attends to its own tokens and to states that come from elsewhere."""
    inner = reroot(side(c, "", memory="encoder"), "", {"decoder": "seq"})
    return replace(inner, kind="model")


def encoder_and_decoder(c: Config, prefix: str) -> tuple[Part, Part]:
    """Describe both sides under the names that a class with *prefix* gives them."""
    encoder = encoder_of(c.encoder, "encoder")
    words = f"{prefix}encoder.text_model.embed_tokens" if c.tied else ""
    decoder = side(c.decoder, "decoder", memory="seq", words=words)
    return encoder, replace(decoder, kind="decoder", stream="decoder")


def generation(c: Config) -> Part:
    """Describe T5Gemma2ForConditionalGeneration: the encoder's table is its head."""
    owner = "model.encoder.text_model.embed_tokens.weight" if c.tied else None
    head = linear("out_proj", c.decoder.hidden, c.decoder.vocab, bias=False, tied_to=owner, stream="decoder")
    return part("", part("model", *encoder_and_decoder(c, "model."), kind="backbone"), part("lm_head", head, kind="lm_head"), kind="model")


def labels(c: Config) -> Part:
    """Describe the classifiers, which score every token of the decoder."""
    head = part("score", linear("out_proj", c.decoder.hidden, c.labels), kind="head", stream="decoder")
    return part("", part("model", *encoder_and_decoder(c, "model."), kind="backbone"), head, kind="model")


CLASSES = {
    "T5Gemma2Model": lambda c: part("", *encoder_and_decoder(c, ""), kind="model"),
    "T5Gemma2ForConditionalGeneration": generation,
    "T5Gemma2ForSequenceClassification": labels,
    "T5Gemma2ForTokenClassification": labels,
}
MORE_IGNORED_KEYS = IGNORED_KEYS | VISION_IGNORED_KEYS | {"eoi_token_index", "is_encoder_decoder"}
SIDE_IGNORED_KEYS = MORE_IGNORED_KEYS - {"vocab_size"} | {"tie_word_embeddings", "cross_attention_hidden_size"}


def family_of(model_type: str, class_name: str, fields: tuple[Field, ...], blueprint: Blueprint) -> Family:
    """Return the type of one side, or of the text of one."""
    return Family(model_type, fields, {class_name: blueprint}, class_name, SIDE_IGNORED_KEYS)


FAMILIES = {
    "t5gemma2": Family("t5gemma2", FIELDS, CLASSES, "T5Gemma2Model", MORE_IGNORED_KEYS),
    "t5gemma2_text": family_of("t5gemma2_text", "T5Gemma2TextEncoder", WORDS, lambda c: replace(side(c, ""), kind="model")),
    "t5gemma2_encoder": family_of("t5gemma2_encoder", "T5Gemma2Encoder", ENCODER, encoder_of),
    "t5gemma2_decoder": family_of("t5gemma2_decoder", "T5Gemma2Decoder", WORDS, decoder_alone),
}
