"""Grounding DINO: open-set detection with text; image and text features attend to each other in every encoder layer (Liu et al., 2023).

Source: arXiv 2303.05499 and 2401.02361; names as in transformers 5.23.0, models/grounding_dino/modeling_grounding_dino.py and
models/mm_grounding_dino/modeling_mm_grounding_dino.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.deformable_detr import TABLE, sources
from weighbridge.blueprints.detection.rt_detr import tied_to_owner
from weighbridge.blueprints.modules.backbones import backbone, named_backbone
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.detr_common import MORE_IGNORED_KEYS, backbone_features, mlp_head, positions
from weighbridge.blueprints.modules.rt_detr_encoder import deformable_attention
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, computed, constant, size, switch, variant, with_changes
from weighbridge.core.length import Stream, unknown, valid_up_to
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size, exact, layer_range
from weighbridge.core.tree import Node, Part, Tensor

GONE = "backbone_name backbone_kwargs timm dilated staged proposals refined fits channels".split()

FIELDS = variant(
    tuple(field for field in TABLE if field.word not in GONE),
    switch("staged", "two_stage", True),
    switch("targets", "embedding_init_target", True),
    number("coordinates", "query_dim", 4, minimum=0),
    size("longest", "max_text_len", 256, "T", "longest text"),
    switch("boxes_shared", "decoder_bbox_embed_share", True),
    constant("words_shared", False),
    computed("fits", lambda c: c.hidden % 32 == 0),
    model_config("text", "text_config", "bert roberta"),
    constant("second", False),
    queries=900,
    encoder_mlp=2048,
    decoder_mlp=2048,
    backbone=backbone("swin resnet convnext", {"model_type": "swin", "out_indices": [2, 3, 4]}),
)

SECOND = variant(FIELDS, second=True, words_shared=switch("words_shared", "decoder_cls_embed_share", True))

IGNORED_KEYS = MORE_IGNORED_KEYS | frozenset(
    """disable_custom_kernels focal_alpha fusion_dropout fusion_droppath positional_embedding_temperature text_enhancer_dropout
    two_stage_bbox_embed_share""".split()
)


def attention(name: str, hidden: Size, heads: Size, keys: Stream | None = None) -> Part:
    """Describe attention over the tokens themselves, or over a text."""
    parts = linear("query", hidden, hidden), linear("key", hidden, hidden, stream=keys), linear("value", hidden, hidden, stream=keys)
    scores = attend(heads=heads, head_dim=exact(hidden, heads), keys=keys)
    return part(name, *parts, linear("out_proj", hidden, hidden), scores, kind="self_attention" if keys is None else "cross_attention")


def pair(hidden: Size, inner: Size) -> tuple[Part, Part]:
    """Describe a feed-forward network."""
    return linear("fc1", hidden, inner), linear("fc2", inner, hidden)


def enhancer(c: Config) -> Part:
    """Describe what a layer does to the text: attention and a feed-forward network, both half as wide as those of the image."""
    before, after = layer_norm("layer_norm_before", c.hidden), layer_norm("layer_norm_after", c.hidden)
    parts = attention("self_attn", c.hidden, c.encoder_heads // 2), *pair(c.hidden, c.encoder_mlp // 2), before, after
    return part("text_enhancer_layer", *parts, kind="layer")


def fusion(c: Config, memory: Stream, text: Stream) -> Part:
    """Describe attention both ways: one table of scores says what each place takes of the words, and each word of the positions."""
    H, inner = c.hidden, c.encoder_mlp // 2
    exact(inner, c.encoder_heads // 2)
    attended = part(
        "attn",
        linear("vision_proj", H, inner, stream=memory),
        linear("text_proj", H, inner),
        linear("values_vision_proj", H, inner, stream=memory),
        linear("values_text_proj", H, inner),
        linear("out_vision_proj", inner, H, stream=memory),
        linear("out_text_proj", inner, H),
        matmul("scores", *((memory, text, inner),) * 3),
        kind="cross_attention",
    )
    scales = Tensor("vision_param", (H,), "gain"), Tensor("text_param", (H,), "gain")
    return part("fusion_layer", *scales, layer_norm("layer_norm_vision", H), layer_norm("layer_norm_text", H), attended, kind="layer")


def encoder(c: Config, memory: Stream, text: Stream) -> tuple[Part, ...]:
    """Describe the encoder's layers over a text and the positions of all maps."""
    H = c.hidden
    seen = deformable_attention(c, c.encoder_heads, c.levels, c.encoder_points, memory, name="self_attn")
    parts = seen, layer_norm("self_attn_layer_norm", H), *pair(H, c.encoder_mlp), layer_norm("final_layer_norm", H)
    places = part("deformable_layer", *parts, kind="layer", stream=memory)
    return (part("layers", enhancer(c), fusion(c, memory, text), places, kind="layer", repeat=c.encoder_layers, stream=text),)


def decoder(c: Config, memory: Stream, text: Stream) -> tuple[Part, ...]:
    """Describe the decoder's layers, which attend to the text and then at positions; where a query is, is put to it anew before each."""
    H = c.hidden
    layer = part(
        "layers",
        attention("self_attn", H, c.decoder_heads),
        layer_norm("self_attn_layer_norm", H),
        attention("encoder_attn_text", H, c.decoder_heads, text),
        layer_norm("encoder_attn_text_layer_norm", H),
        deformable_attention(c, c.decoder_heads, c.levels, c.decoder_points, memory),
        layer_norm("encoder_attn_layer_norm", H),
        *pair(H, c.decoder_mlp),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.decoder_layers,
    )
    places = (
        None
        if c.coordinates == 4
        else unknown(Text("a place has four coordinates, and {coordinates} are expected", coordinates=c.coordinates))
    )
    points = mlp_head("reference_points_head", c.coordinates // 2 * H, H, H, executions=c.decoder_layers, stream=places)
    return layer_norm("layer_norm", H, executions=c.decoder_layers + 1), layer, points


def contrastive_head(c: Config, name: str, text: Stream, *times: Stream) -> Part:
    """Describe how much a query or place is what each word names; the later type adds a bias."""
    bias = (Tensor("bias", (), "bias"),) if c.second else ()
    return part(name, *bias, matmul("scores", *((places, text, c.hidden) for places in times)), kind="head")


def model(c: Config, own: tuple[Part, ...] = ()) -> tuple[Node, ...]:
    """Describe backbone, text, encoder and decoder, with the heads that the decoder holds."""
    seen, H, text = backbone_features(c, wrapped=True), c.hidden, valid_up_to("seq", c.longest, "max_text_len")
    inputs, memory = sources(with_changes(c, levels=max(c.levels, len(seen.maps))) if c.second else c, seen)
    if c.second and len(seen.maps) > c.levels:
        memory = unknown(Text("the backbone hands on {count} maps, and {levels} are looked at", count=len(seen.maps), levels=c.levels))
    runs = c.targets and (c.staged or not c.second)
    asked: Stream = c.queries if runs else unknown("queries are not learned, and the reference runs only learned ones")
    learned = (embedding("query_position_embeddings", c.queries, H),) if c.targets or not c.staged else ()
    first = (
        linear("enc_output", H, H, stream=memory),
        layer_norm("enc_output_norm", H, stream=memory),
        mlp_head("encoder_output_bbox_embed", H, H, H, 4, stream=memory),
        contrastive_head(c, "encoder_output_class_embed", text, memory, c.queries),
    )
    return (
        Tensor("level_embed", (c.levels, H), "embedding"),
        part("backbone", part("conv_encoder", part("model", *seen.parts, kind="backbone"), kind="vision"), *positions(c), kind="vision"),
        replace(inputs, name="input_proj_vision"),
        as_child("text_backbone", submodel(with_changes(c.text, pooled=False)), streams={"seq": text}),
        linear("text_projection", c.text.hidden, H, stream=text),
        *learned,
        part("encoder", *encoder(c, memory, text), kind="encoder"),
        part("decoder", *decoder(c, memory, text), *own, kind="decoder", stream=asked),
        *(first if c.staged or c.second else (embedding("reference_points", c.queries, 4),)),
    )


def heads(c: Config) -> dict[str, list[Part]]:
    """Describe what every layer predicts for a query: whether each word names it, and its box."""
    H, text, count = c.hidden, valid_up_to("seq", c.longest, "max_text_len"), layer_range(c.decoder_layers)
    words = [contrastive_head(c, str(index), text, c.queries) for index in count]
    boxes = [mlp_head(str(index), H, H, H, 4, stream=c.queries) for index in count]
    return {"class_embed": words, "bbox_embed": boxes} if c.second else {"bbox_embed": boxes, "class_embed": words}


def detection(c: Config) -> Part:
    """Describe the class for detection: the decoder holds its heads, and they are the outer ones, and all layers' one head."""
    inner: list[Part] = []
    outer: list[Part] = []
    shared = {"class_embed": c.words_shared, "bbox_embed": c.boxes_shared}
    for name, parts in heads(c).items():
        owner = f"model.decoder.{name}."
        if c.tied and shared[name]:
            parts = [parts[0], *(tied_to_owner(module, f"{owner}0.") for module in parts[1:])]
        # The decoder holds the heads of words, and does not run them.
        idle = tuple(
            replace(module, children=tuple(node for node in module.children if name == "bbox_embed" or isinstance(node, Tensor)))
            for module in parts
        )
        inner += [part(name, *idle, kind="head")] if c.second or name == "bbox_embed" else []
        again = (
            tuple(tied_to_owner(module, f"{owner}{0 if shared[name] else module.name}.") for module in parts) if c.tied else tuple(parts)
        )
        outer.append(part(name, *again, kind="head"))
    return part("", part("model", *model(c, tuple(inner)), kind="backbone"), *outer, kind="model")


def family(model_type: str, prefix: str, fields: tuple[Field, ...]) -> Family:
    """Return the family of one of the two types."""
    classes = {
        f"{prefix}Encoder": lambda c: part("", *encoder(c, "encoder", "seq"), kind="model"),
        f"{prefix}Decoder": lambda c: part("", *decoder(c, "encoder", "seq"), kind="model", stream=c.queries),
        f"{prefix}Model": lambda c: part("", *model(c), kind="model"),
        f"{prefix}ForObjectDetection": detection,
    }
    return Family(model_type, fields, classes, f"{prefix}Model", IGNORED_KEYS, normalize_config=named_backbone)


FAMILIES = {
    "grounding-dino": family("grounding-dino", "GroundingDino", FIELDS),
    "mm-grounding-dino": family("mm-grounding-dino", "MMGroundingDino", SECOND),
}
