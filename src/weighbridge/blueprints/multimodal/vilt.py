"""ViLT: one transformer over text tokens and image patches.

Source: arXiv 2102.03334, section 3; names as in transformers 5.23.0, models/vilt/modeling_vilt.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import embeddings
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vit_common import (
    POOLED,
    QKV_BIAS,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_LAYERS,
    VIT_MLP,
    WHOLE_HEADS,
    patches,
    pooler,
    projection,
    split_layer,
    token,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, POSITIONS, TOKEN_TYPES, VOCAB, Config, choice, sides, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, at_most, sum_of
from weighbridge.core.parts import embedding, layer_norm, linear, part, replace
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    VOCAB.with_default(30522),
    POSITIONS.with_default(40),
    TOKEN_TYPES.with_default(2),
    size("modalities", "modality_type_vocab_size", 2, "M", "input types"),
    VIT_HIDDEN,
    VIT_MLP,
    VIT_LAYERS,
    VIT_HEADS,
    WHOLE_HEADS,
    *sides("image", "image_size", 384, "R", "image size"),
    *sides("patch", "patch_size", 32, "P", "patch size"),
    CHANNELS,
    QKV_BIAS,
    LABELS,
    choice("most", "max_image_length", -1),
    number("pictures", "num_images", -1, minimum=-1),
    POOLED,
)


def encoder(c: Config, *, pooled: bool) -> tuple[Part, ...]:
    """Describe the tables of both inputs, layers, a last norm and, unless left out, the pooler."""
    H = c.hidden
    both = part(
        "embeddings",
        token("cls_token", H),
        Tensor("position_embeddings", (1, patches(c) + 1, H), "embedding"),
        replace(embeddings(c), name="text_embeddings"),
        part("patch_embeddings", projection(c), kind="embeddings"),
        embedding("token_type_embeddings", c.modalities, H),
        kind="embeddings",
    )
    return (both, part("encoder", split_layer(c), kind="encoder"), layer_norm("layernorm", H), *((pooler(c),) if pooled else ()))


def stream(c: Config) -> Stream:
    """Return what the layers see: the text, the class token, and the patches, or as many of them as the config allows."""
    return sum_of("seq", "one", at_most(patches(c), c.most) if c.most >= 0 else patches(c))


def vilt(c: Config) -> Part:
    """Describe ViltModel."""
    return part("", *encoder(c, pooled=c.pooled), kind="model", stream=stream(c))


def backbone(c: Config, *, pooled: bool = True) -> Part:
    """Describe the encoder as the heads hold it."""
    return part("vilt", *encoder(c, pooled=pooled), kind="backbone", stream=stream(c))


def masked_lm(c: Config) -> Part:
    """Describe ViltForMaskedLM: a transform and the word embeddings again, for the text alone; the tie cannot be undone."""
    H = c.hidden
    decoder = linear("decoder", H, c.vocab, tied_to="vilt.embeddings.text_embeddings.word_embeddings.weight")
    transform = part("transform", linear("dense", H, H), layer_norm("LayerNorm", H), kind="transform")
    return part("", backbone(c), part("mlm_score", transform, decoder, kind="lm_head"), kind="model")


def question_answering(c: Config) -> Part:
    """Describe ViltForQuestionAnswering: a wider layer and the answers, on the pooled token."""
    H = c.hidden
    head = part("classifier", linear("0", H, 2 * H), layer_norm("1", 2 * H), linear("3", 2 * H, c.labels), kind="head", stream="one")
    return part("", backbone(c), head, kind="model")


def retrieval(c: Config) -> Part:
    """Describe ViltForImageAndTextRetrieval: how well the two fit, on the pooled token."""
    return part("", backbone(c), linear("rank_output", c.hidden, 1, stream="one"), kind="model")


def images_and_text(c: Config) -> Part:
    """Describe ViltForImagesAndTextClassification: a layer and the labels on the pooled tokens of the text with each of several images."""
    if c.pictures < 1:
        raise ConfigError("this class needs to know how many images there are", key="num_images", value=c.pictures, hint="2 for NLVR2")
    wide = c.pictures * c.hidden
    head = part("classifier", linear("0", wide, wide), layer_norm("1", wide), linear("3", wide, c.labels), kind="head", stream="one")
    return part("", part("vilt", *encoder(c, pooled=True), kind="backbone", stream=stream(c), executions=c.pictures), head, kind="model")


def token_classification(c: Config) -> Part:
    """Describe ViltForTokenClassification: one output per label on every word, no pooler."""
    return part("", backbone(c, pooled=False), linear("classifier", c.hidden, c.labels), kind="model")


CLASSES = {
    "ViltModel": vilt,
    "ViltForMaskedLM": masked_lm,
    "ViltForQuestionAnswering": question_answering,
    "ViltForImageAndTextRetrieval": retrieval,
    "ViltForImagesAndTextClassification": images_and_text,
    "ViltForTokenClassification": token_classification,
}
IGNORED_KEYS = frozenset(("tie_word_embeddings",))
FAMILIES = {"vilt": Family("vilt", FIELDS, CLASSES, "ViltModel", IGNORED_KEYS)}
