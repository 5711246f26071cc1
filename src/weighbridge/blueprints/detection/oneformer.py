"""OneFormer: one network for semantic, instance and panoptic segmentation, conditioned on a task text (Jain et al., 2022).

Source: arXiv 2211.06220; names as in transformers 5.23.0, models/oneformer/modeling_oneformer.py. The config states no
image: ``image_size`` may be set beside its fields, and is 384 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import backbone, named_backbone
from weighbridge.blueprints.modules.feature_maps import image
from weighbridge.blueprints.modules.masked_attention import (
    SWIN,
    backbone_features,
    divides_into_groups,
    joined_maps,
    layers_in_turn,
    loss_weights,
    map_areas,
    mask_logits,
    mlp_head,
    packed_attention,
    pixel_module,
)
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN_DIM, LABELS, OBJECT_QUERIES, Config, choice, computed, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import attend, conv2d, embedding, fairseq_attention, layer_norm, linear, matmul, part, plain_mlp, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part, Tensor


def text_heads(c: Config) -> int:
    """Return the heads of the text encoder, 64 wide or a little more."""
    heads = int(c.text_hidden) // 64
    if c.training and (not heads or c.text_hidden % heads):
        raise ConfigError("heads of 64 do not divide it", key="text_encoder_width", value=c.text_hidden, hint="a multiple of 64")
    return heads


FIELDS = (
    size("feature", "conv_dim", 256, "F", "channels of the maps"),
    size("mask", "mask_dim", 256, "M", "channels of the masks"),
    HIDDEN_DIM.with_default(256),
    size("encoder_mlp", "encoder_feedforward_dim", 1024, "I_e", "intermediate size of the encoder"),
    size("decoder_mlp", "dim_feedforward", 2048, "I_d", "intermediate size of the decoder"),
    size("encoder_layers", "encoder_layers", 6, "L_e", "encoder layers"),
    size("query_layers", "query_dec_layers", 2, "L_q", "layers that make the queries"),
    replace(number("decoder_layers", "decoder_layers", 10), aliases=("num_hidden_layers",)),
    HEADS.with_default(8),
    OBJECT_QUERIES.with_default(150),
    size("task", "task_seq_len", 77, "T", "tokens of the task"),
    size("text_hidden", "text_encoder_width", 256, "H_t", "hidden size of the text encoder"),
    size("text_positions", "text_encoder_context_length", 77, "S_t", "positions of the text encoder"),
    size("text_layers", "text_encoder_num_layers", 6, "L_t", "layers of the text encoder"),
    size("text_vocab", "text_encoder_vocab_size", 49408, "V", "vocabulary size"),
    number("text_depth", "text_encoder_proj_layers", 2),
    number("prompts", "text_encoder_n_ctx", 16, minimum=0),
    switch("training", "is_training", False),
    switch("enforced", "enforce_input_proj", False),
    numbers("strides", "strides", (4, 8, 16, 32)),
    number("common", "common_stride", 4),
    backbone("swin resnet", SWIN),
    image(384, report_default=False),
    replace(
        choice("contrastive", "contrastive_temperature", 0.07, read=lambda value: value is not None, report_default=False), nullable=True
    ),
    computed("joined", joined_maps),
    computed("fits", divides_into_groups("conv_dim")),
    computed("projected", lambda c: c.enforced or c.feature != c.hidden),
    computed("alike", lambda c: c.feature == c.mask),
    computed("text_heads", text_heads),
    LABELS,
)


def layer(c: Config, keys: Stream) -> tuple[Node, ...]:
    """Describe a layer of the decoder: attention to a map and among queries."""
    H = c.hidden
    own = fairseq_attention("self_attn", H, c.heads, exact(H, c.heads))
    return (
        part("cross_attn", packed_attention("multihead_attn", H, c.heads, keys, c.queries), layer_norm("norm", H), kind="cross_attention"),
        part("self_attn", own, layer_norm("norm", H), kind="self_attention"),
        part(
            "ffn", *plain_mlp("", H, c.decoder_mlp, ("linear1", "linear2"), bias=True).children, layer_norm("norm", H), kind="feed_forward"
        ),
    )


def query_decoder(c: Config, largest: Stream) -> Part:
    """Describe the layers that make all queries but one, which is the task's."""
    H, asked = c.hidden, c.queries - 1
    own, crossed = packed_attention("self_attn", H, c.heads, asked, asked), packed_attention("multihead_attn", H, c.heads, largest, asked)
    feed = linear("linear1", H, c.decoder_mlp), linear("linear2", c.decoder_mlp, H)
    norms = tuple(layer_norm(f"norm{index}", H) for index in (1, 2, 3))
    layers = part("layers", own, crossed, *feed, *norms, kind="layer", repeat=c.query_layers)
    return part("query_transformer", part("decoder", layers, layer_norm("norm", H), kind="decoder"), kind="decoder", stream=asked)


def text(c: Config) -> Part:
    """Describe the text encoder, which only training runs."""
    W = c.text_hidden
    weights = Tensor("in_proj_weight", (3 * W, W), "weight"), Tensor("in_proj_bias", (3 * W,), "bias")
    scores = attend(heads=c.text_heads, head_dim=exact(W, c.text_heads))
    parts = (
        part("self_attn", *weights, linear("out_proj", W, W), scores, kind="self_attention"),
        layer_norm("layer_norm1", W),
        plain_mlp("mlp", W, 4 * W, ("fc1", "fc2"), bias=True),
        layer_norm("layer_norm2", W),
    )
    encoder = (
        Tensor("positional_embedding", (c.text_positions, W), "embedding"),
        part("transformer", part("layers", *parts, kind="layer", repeat=c.text_layers), kind="encoder"),
        layer_norm("ln_final", W),
        embedding("token_embedding", c.text_vocab, W),
    )
    mapped = part("text_projector", part("layers", *mlp_head(W, *(c.hidden,) * c.text_depth)), kind="projector")
    prompts = (embedding("prompt_ctx", c.prompts, W),) if c.prompts else ()
    unrun = unknown("in training texts are read beside the image")
    return part("text_mapper", part("text_encoder", *encoder, kind="text"), mapped, *prompts, kind="text", stream=unrun)


def oneformer(c: Config) -> Part:
    """Describe OneFormerModel."""
    H, seen = c.hidden, backbone_features(c)
    streams, (levels, largest) = map_areas(seen), pixel_module(c, seen)
    within = largest if c.alike else unknown("queries are made from a mask map as wide as the others")
    # The projections of the maps stand in a plain list: they run, but their weights are nobody's parameters.
    inputs = (matmul("input_projections", *((places, c.feature, H) for places in streams)),) if c.projected else ()
    often = c.decoder_layers
    decoder = (
        query_decoder(c, largest),
        layer_norm("decoder_norm", H, executions=often),
        *layers_in_turn("layers", often - 1, streams, lambda keys: layer(c, keys)),
        conv2d("query_input_projection", c.feature, H, 1, stream=within),
        linear("class_embed", H, c.labels + 1, executions=often),
        part("mask_embed", part("layers", *mlp_head(H, H, H, c.mask)), mask_logits(c, largest), kind="head", executions=often),
    )
    module = (
        embedding("queries_embedder", c.queries, H),
        *inputs,
        part("decoder", *decoder, kind="decoder", stream=c.queries),
        embedding("level_embed", len(streams), H),
    )
    task = part("task_mlp", part("layers", *mlp_head(c.task, H, H)), kind="head")
    parts = levels, part("transformer_module", *module, kind="decoder"), part("task_encoder", task, kind="projector", stream="one")
    return part("", *parts, *((text(c),) if c.training else ()), kind="model")


def segmentation(c: Config) -> Part:
    """Describe OneFormerForUniversalSegmentation: the model, and the weights and the temperature of the loss."""
    learned = (Tensor("logit_scale", (), "gain"),) if c.contrastive else ()
    weights = loss_weights(c.labels)
    return part("", replace(oneformer(c), name="model"), replace(weights, children=(*learned, *weights.children)), kind="model")


IGNORED_KEYS = frozenset(
    """activation_function backbone backbone_kwargs class_weight contrastive_weight dice_weight ignore_value
    importance_sample_ratio init_std init_xavier_std mask_weight no_object_weight norm output_auxiliary_logits
    oversample_ratio pre_norm train_num_points use_auxiliary_loss use_pretrained_backbone use_task_norm use_timm_backbone""".split()
)

CLASSES = {"OneFormerModel": oneformer, "OneFormerForUniversalSegmentation": segmentation}
FAMILIES = {"oneformer": Family("oneformer", FIELDS, CLASSES, "OneFormerModel", IGNORED_KEYS, normalize_config=named_backbone)}
