"""LXMERT: a language encoder, an object-relationship encoder, and a cross-modality encoder.

Source: arXiv 1908.07490, section 2; names as in transformers 5.23.0, models/lxmert/modeling_lxmert.py. No config says
how many regions there are, so the arithmetic is not told.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import embeddings, feed_forward, output_block, pooler
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, MLP, POSITIONS, TIED, TOKEN_TYPES, VOCAB, Config, derived, size, switch
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    VOCAB.with_default(30522),
    POSITIONS.with_default(512),
    TOKEN_TYPES.with_default(2),
    HIDDEN.with_default(768),
    MLP.with_default(3072),
    HEADS.with_default(12),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    size("layers", "l_layers", 9, "L", "layers over text"),
    size("cross_layers", "x_layers", 5, "X", "cross-modal layers"),
    size("region_layers", "r_layers", 5, "R", "layers over image regions"),
    size("region", "visual_feat_dim", 2048, "W", "width of a region's features"),
    size("box", "visual_pos_dim", 4, "B", "coordinates of a box"),
    size("answers", "num_qa_labels", 9500, "Q", "answers"),
    size("objects", "num_object_labels", 1600, "O", "object classes"),
    size("attributes", "num_attr_labels", 400, "Z", "attribute types"),
    switch("of_objects", "visual_obj_loss", True),
    switch("of_attributes", "visual_attr_loss", True),
    switch("of_features", "visual_feat_loss", True),
    switch("predicts", "task_obj_predict", True),
    switch("answering", "task_qa", True),
    TIED,
)
REGIONS = unknown("the config does not say how many regions of an image are looked at")


def attention(c: Config, name: str, inner: str = "self") -> Part:
    """Describe attention, over one stream or from each to the other by the same maps."""
    maps = (linear(module, c.hidden, c.hidden) for module in ("query", "key", "value"))
    mixed = part(inner, *maps, attend(heads=c.heads, head_dim=c.head_dim), kind="attention")
    return part(name, mixed, output_block(c.hidden, c.hidden), kind="self_attention" if inner == "self" else "cross_attention")


def layer(c: Config, name: str, repeat: Size) -> Part:
    """Describe a layer of one stream."""
    return part(name, attention(c, "attention"), *feed_forward(c), kind="layer", repeat=repeat)


def cross_layer(c: Config) -> Part:
    """Describe a layer of both streams: they attend to each other, then each to itself."""
    networks = [
        replace(module, name=f"{which}_{name}")
        for which in ("lang", "visn")
        for module, name in zip(feed_forward(c), ("inter", "output"), strict=True)
    ]
    attentions = (attention(c, "visual_attention", "att"), attention(c, "lang_self_att"), attention(c, "visn_self_att"))
    return part("x_layers", *attentions, *networks, kind="layer", repeat=c.cross_layers)


def encoder(c: Config) -> tuple[Part, ...]:
    """Describe embeddings, the map of regions, the three stacks and the pooler."""
    H = c.hidden
    regions = part(
        "visn_fc",
        linear("visn_fc", c.region, H),
        layer_norm("visn_layer_norm", H),
        linear("box_fc", c.box, H),
        layer_norm("box_layer_norm", H),
        kind="embeddings",
    )
    stacks = (regions, layer(c, "layer", c.layers), cross_layer(c), layer(c, "r_layers", c.region_layers))
    return (embeddings(c), part("encoder", *stacks, kind="encoder", stream=REGIONS), pooler(c))


def lxmert(c: Config) -> Part:
    """Describe LxmertModel."""
    return part("", *encoder(c), kind="model")


def answer_head(c: Config) -> Part:
    """Describe a wider layer and the answers, on the pooled token."""
    H = c.hidden
    return part(
        "answer_head",
        part("logit_fc", linear("0", H, 2 * H), layer_norm("2", 2 * H), linear("3", 2 * H, c.answers)),
        kind="head",
        stream="one",
    )


def pre_training(c: Config) -> Part:
    """Describe LxmertForPreTraining: words, whether image and text match and, unless left out, regions and answers."""
    H = c.hidden
    transform = part("transform", linear("dense", H, H), layer_norm("LayerNorm", H), kind="transform")
    decoder = linear("decoder", H, c.vocab, bias=False, tied_to="lxmert.embeddings.word_embeddings.weight" if c.tied else None)
    words = part("predictions", Tensor("bias", (c.vocab,), "bias"), transform, decoder, kind="lm_head")
    kinds = (("obj", c.of_objects, c.objects), ("attr", c.of_attributes, c.attributes), ("feat", c.of_features, c.region))
    found = part("decoder_dict", *(linear(name, H, width) for name, wanted, width in kinds if wanted))
    regions = (part("obj_predict_head", transform, found, kind="head", stream=REGIONS),) if c.predicts else ()
    heads = (
        part("cls", words, linear("seq_relationship", H, 2, stream="one"), kind="head"),
        *regions,
        *((answer_head(c),) if c.answering else ()),
    )
    return part("", part("lxmert", *encoder(c), kind="backbone"), *heads, kind="model")


def question_answering(c: Config) -> Part:
    """Describe LxmertForQuestionAnswering."""
    return part("", part("lxmert", *encoder(c), kind="backbone"), answer_head(c), kind="model")


CLASSES = {"LxmertModel": lxmert, "LxmertForPreTraining": pre_training, "LxmertForQuestionAnswering": question_answering}
IGNORED_KEYS = frozenset("visual_loss_normalizer task_matched task_mask_lm num_hidden_layers".split())
FAMILIES = {"lxmert": Family("lxmert", FIELDS, CLASSES, "LxmertModel", IGNORED_KEYS)}
