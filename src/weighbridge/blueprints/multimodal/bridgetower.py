"""BridgeTower: RoBERTa and CLIP's tower, bridged layer by layer into cross-modal layers on top.

Source: arXiv 2206.08657; names as in transformers 5.23.0, models/bridgetower/modeling_bridgetower.py.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.encoders.bert import POOLED, layer
from weighbridge.blueprints.encoders.roberta import roberta
from weighbridge.blueprints.modules.bert_family import bert_fields
from weighbridge.blueprints.modules.clip_towers import similarity, vision_embeddings
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.reroot import reroot
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    DECODER,
    HEADS,
    HIDDEN,
    IMAGE,
    LAYERS,
    PATCH,
    TIED,
    Config,
    choice,
    constant,
    derived,
    nested,
    size,
    switch,
    with_changes,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

TEXT = (*bert_fields(vocab=50265, positions=514, types=1), *DECODER, POOLED)
VISION = (
    HIDDEN.with_default(768),
    derived("heads", lambda c: c.hidden // 64, "hidden_size"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size"),
    LAYERS.with_default(12),
    CHANNELS,
    PATCH.with_default(16),
    IMAGE.with_default(288),
    derived("patches", lambda c: (c.image // c.patch) * (c.image // c.patch), "image_size", "patch_size"),
    switch("one_norm", "share_layernorm", True),
    switch("cut", "remove_last_layer", False),
)


def link_kind(value: Any) -> str:
    """Take how a bridge adds its two inputs: as they are, by a factor, or by a share."""
    if value not in ("add", "scaled_add", "interpolate"):
        raise ConfigError(
            Text("expected add, scaled_add or interpolate, found {value!r:.60}", value=value), key="link_tower_type", value=value
        )
    return str(value)


FIELDS = (
    HIDDEN.with_default(768),
    HEADS.with_default(12),
    LAYERS.with_default(6),
    switch("one_transform", "share_cross_modal_transformer_layers", True),
    switch("one_link", "share_link_tower_layers", False),
    choice("link", "link_tower_type", "add", read=link_kind),
    TIED.with_default(False),
    size("contrasted", "contrastive_hidden_size", 512, "E", "width of the shared space", report_default=False),
    nested("text", "text_config", (*TEXT[:-1], constant("pooled", True))),
    nested("vision", "vision_config", VISION),
)


def text(c: Config) -> Part:
    """Describe BridgeTowerTextModel: RoBERTa."""
    return part("", *roberta(c, pooled=c.pooled), kind="text")


def vision(c: Config, runs: Size | None = None) -> Part:
    """Describe BridgeTowerVisionModel: CLIP's tower with a norm for each layer, or one for all; a whole model *runs* as many layers as the text has."""
    H = c.hidden
    attention = part(
        "attn",
        Tensor("in_proj_weight", (3 * H, H), "weight"),
        Tensor("in_proj_bias", (3 * H,), "bias"),
        linear("out_proj", H, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", H, 4 * H, ("c_fc", "c_proj"), bias=True)
    depth = c.layers - (1 if c.cut else 0)
    blocks = part("resblocks", attention, layer_norm("ln_1", H), mlp, layer_norm("ln_2", H), kind="layer", repeat=depth, executions=runs)
    norms = () if c.one_norm else (layer_norm("ln_separate", H, repeat=c.layers),)
    visual = (vision_embeddings(c), layer_norm("ln_pre", H), part("transformer", blocks, kind="encoder"), layer_norm("ln_post", H), *norms)
    return part("", part("visual", *visual, kind="vision"), kind="vision", stream=c.patches + 1)


def cross_modal_layers(c: Config, name: str, stream: Stream, keys: Stream) -> Part:
    """Describe the cross-modal layers of one side: BERT's, with attention to the other side."""
    inner = reroot(layer(with_changes(c.text, crossed=True, layers=c.layers)), "", {"encoder": keys, "seq": stream})
    return replace(inner, name=name, stream=stream)


def links(c: Config, name: str, stream: Stream) -> Part:
    """Describe what joins a layer of a tower to a cross-modal one: a norm of their sum."""
    factor = {"add": (), "scaled_add": (Tensor("scaled_factor", (), "gain"),), "interpolate": (Tensor("beta", (), "gain"),)}[c.link]
    repeat = None if c.one_link else c.layers - 1
    return part(name, *factor, layer_norm("LayerNorm", c.hidden), repeat=repeat, stream=stream)


def transform(c: Config, name: str, width: Size, stream: Stream) -> Part:
    """Describe the map of a tower's states into the cross-modal width: one for all layers, which runs for each, or one for each."""
    if c.one_transform:
        return linear(name, width, c.hidden, executions=c.layers, stream=stream)
    return linear(name, width, c.hidden, repeat=c.layers, stream=stream)


def body(c: Config) -> tuple[Node, ...]:
    """Describe both towers, the transforms, the cross-modal layers, poolers, norms and bridges."""
    H, image = c.hidden, c.vision.patches + 1
    tower = text(c.text)
    kept = tuple(replace(node, stream=0) if isinstance(node, Part) and node.name == "pooler" else node for node in tower.children)
    return (
        transform(c, "cross_modal_text_transform", c.text.hidden, "seq"),
        transform(c, "cross_modal_image_transform", c.vision.hidden, image),
        embedding("token_type_embeddings", 2, H),
        replace(vision(c.vision, c.text.layers), name="vision_model"),
        part("text_model", *kept, kind="text"),
        cross_modal_layers(c, "cross_modal_image_layers", image, "seq"),
        cross_modal_layers(c, "cross_modal_text_layers", "seq", image),
        *(part(f"cross_modal_{side}_pooler", linear("dense", H, H), kind="pooler", stream="one") for side in ("image", "text")),
        layer_norm("cross_modal_text_layernorm", H),
        layer_norm("cross_modal_image_layernorm", H, stream=image),
        links(c, "cross_modal_text_link_tower", "seq"),
        links(c, "cross_modal_image_link_tower", image),
    )


def model(c: Config) -> Part:
    """Describe BridgeTowerModel."""
    return part("", *body(c), kind="model")


def masked_lm(c: Config) -> Part:
    """Describe BridgeTowerForMaskedLM: a head on the text's states."""
    H, vocab = c.hidden, c.text.vocab
    owner = "bridgetower.text_model.embeddings.word_embeddings.weight" if c.tied else None
    inner = linear("dense", H, H), layer_norm("LayerNorm", H)
    decoder = linear("decoder", H, vocab, bias=False, tied_to=owner)
    head = part("mlm_score", Tensor("bias", (vocab,), "bias"), part("transform", *inner), decoder, kind="head")
    return part("", part("bridgetower", *body(c), kind="backbone"), head, kind="model")


def retrieval(c: Config) -> Part:
    """Describe BridgeTowerForImageAndTextRetrieval: whether an image and a text belong together."""
    score = part("itm_score", linear("fc", 2 * c.hidden, 2), kind="head", stream="one")
    return part("", part("bridgetower", *body(c), kind="backbone"), score, kind="model")


def contrastive(c: Config) -> Part:
    """Describe BridgeTowerForContrastiveLearning: the vectors of text, image and both, in one space; the image is transformed once more."""
    E, widths = c.contrasted, {"text": c.hidden, "image": c.hidden, "cross_modal": 2 * c.hidden}
    heads = (part(f"itc_{name}_head", linear("fc", width, E), kind="head", stream="one") for name, width in widths.items())
    whole = part("bridgetower", *(_once_more(node, c) for node in body(c)), kind="backbone")
    compared = part("", *(similarity(E) for _ in range(3)))
    return part("", Tensor("logit_scale", (), "gain"), whole, *heads, compared, kind="model")


def _once_more(node: Node, c: Config) -> Node:
    if isinstance(node, Part) and node.name == "cross_modal_image_transform" and c.one_transform:
        return replace(node, executions=c.layers + 1)
    return node


CLASSES: dict[str, Callable[[Config], Part]] = {
    "BridgeTowerModel": model,
    "BridgeTowerForMaskedLM": masked_lm,
    "BridgeTowerForImageAndTextRetrieval": retrieval,
    "BridgeTowerForContrastiveLearning": contrastive,
}
IGNORED_KEYS = frozenset("init_layernorm_from_vision_encoder logit_scale_init_value".split())
FAMILIES = {
    "bridgetower": Family("bridgetower", FIELDS, CLASSES, "BridgeTowerModel", IGNORED_KEYS),
    "bridgetower_text_model": Family("bridgetower_text_model", TEXT, {"BridgeTowerTextModel": text}, "BridgeTowerTextModel"),
    "bridgetower_vision_model": Family(
        "bridgetower_vision_model", VISION, {"BridgeTowerVisionModel": vision}, "BridgeTowerVisionModel", frozenset(("stop_gradient",))
    ),
}
