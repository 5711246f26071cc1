"""Segment Anything 2 and 3 and EdgeTAM on videos: the network for images, and a memory of the frames before.

How many frames are remembered, and how many objects are followed, a session says; so the arithmetic of a frame is unknown. The
tracker of Segment Anything 3 for single images has no memory. Source: arXiv 2408.00714, 2511.16719, 2501.07256; names as in transformers 5.23.0,
models/sam2_video, models/sam3_tracker, models/sam3_tracker_video, models/sam3_video and models/edgetam_video.
"""

from __future__ import annotations

from itertools import pairwise

from weighbridge.blueprints.detection.sam import PROMPTS
from weighbridge.blueprints.detection.sam2 import IGNORED_KEYS as IMAGE_IGNORED_KEYS
from weighbridge.blueprints.detection.sam2 import decoder, positions, prompts, sam2
from weighbridge.blueprints.detection.sam3_vit import map_of, neck
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import Grid, area, height_width
from weighbridge.blueprints.modules.sam_mask_decoder import FIELDS as DECODER
from weighbridge.blueprints.modules.sam_mask_decoder import perceptron
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.config.family import Family
from weighbridge.config.fields import IMAGE, PATCH, Config, Field, computed, nested, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

REMEMBERED = unknown("the number of frames and objects in memory depends on the session")
PROMPTED = unknown("the number of points and boxes depends on the prompt")
ONE: Grid = (1, 1)
KEYS_WIDTH = 64
"""What the memory's keys and values are read from is so wide in every class, whatever memory_encoder_output_channels says."""


def _mask_steps(c: Config) -> int:
    """Return in how many steps a mask is made as small as the map: the whole logarithm of the total stride to the base of one step."""
    if c.mask_stride < 2:
        raise ConfigError("a step has to make the mask smaller", key="mask_downsampler_stride", value=c.mask_stride)
    steps, reached = 0, c.mask_stride
    while reached <= c.mask_total:
        steps, reached = steps + 1, reached * c.mask_stride
    return steps


def memory_fields(layers: int, mlp: str) -> tuple[Field, ...]:
    """Return the fields of the memory: attention to it, what writes it, and how a mask gets into it."""
    return (
        size("memories", "num_maskmem", 7, "M", "frames kept in memory"),
        switch("occluded", "enable_occlusion_spatial_embedding", True),
        switch("timed", "enable_temporal_pos_encoding_for_object_pointers", True),
        size("attention", "memory_attention_hidden_size", 256, "A", "width of the attention over the memory"),
        size("attention_layers", "memory_attention_num_layers", layers, "L", "layers of the attention over the memory"),
        size("attention_heads", "memory_attention_num_attention_heads", 1, "H", "attention heads over the memory"),
        size("attention_rate", "memory_attention_downsample_rate", 1, "D", "factor by which attention is narrower"),
        size("attention_mlp", f"memory_attention_{mlp}_hidden_size", 2048, "I", "inner width of the attention over the memory"),
        size("written", "memory_encoder_hidden_size", 256, "E", "width of the memory encoder"),
        size("memory", "memory_encoder_output_channels", 64, "O", "channels of the memory"),
        size("mask_width", "mask_downsampler_embed_dim", 256, "W", "channels of a mask"),
        height_width("mask_kernel", "mask_downsampler_kernel_size", 3),
        number("mask_stride", "mask_downsampler_stride", 2),
        number("mask_total", "mask_downsampler_total_stride", 16),
        computed("mask_steps", _mask_steps),
        size("fuser_layers", "memory_fuser_num_layers", 2, "N", "layers of the memory fuser"),
        size("fuser", "memory_fuser_embed_dim", 256, "F", "width of the memory fuser"),
        size("fuser_mlp", "memory_fuser_intermediate_dim", 1024, "J", "inner width of the memory fuser"),
        height_width("fuser_kernel", "memory_fuser_kernel_size", 7),
    )


def parts(vision: str, image: int, patch: int) -> tuple[Field, ...]:
    """Return the sub-configs: an image encoder, the prompts and the mask decoder."""
    return (
        model_config("vision", "vision_config", vision),
        nested("prompts", "prompt_encoder_config", variant(PROMPTS, image=IMAGE.with_default(image), patch=PATCH.with_default(patch))),
        nested("decoder", "mask_decoder_config", DECODER),
    )


RESAMPLER = (
    size("latents", "perceiver_resampler_num_latents", 256, "P", "vectors for a whole feature map", minimum=0),
    size("squares", "perceiver_resampler_num_latents_2d", 256, "Q", "vectors for its tiles", minimum=0),
    size("resampled", "perceiver_resampler_hidden_size", 64, "R", "width of the resampler"),
    size("resampler_mlp", "perceiver_resampler_mlp_intermediate_size", 256, "K", "inner width of the resampler"),
    size("resampler_heads", "perceiver_resampler_num_attention_heads", 1, "B", "heads of the resampler"),
    size("resampler_head_dim", "perceiver_resampler_attention_head_dim", 64, "C", "head dimension of the resampler"),
    size("resampler_layers", "perceiver_resampler_num_layers", 2, "G", "layers of the resampler"),
    computed("has_latents", lambda c: (c.latents > 0, c.squares > 0)),
)


def memory_attention(c: Config, mlp: tuple[Node, ...]) -> Part:
    """Describe layers in which a frame attends to itself and to the frames and objects remembered."""
    H, inner = c.attention, c.attention // c.attention_rate

    def attends(name: str, keys: Size) -> Part:
        maps = linear("q_proj", H, inner), linear("k_proj", keys, inner), linear("v_proj", keys, inner), linear("o_proj", inner, H)
        return part(name, *maps, attend(heads=c.attention_heads, head_dim=inner // c.attention_heads, keys=REMEMBERED), kind="attention")

    norms = (layer_norm(f"layer_norm{index}", H) for index in (1, 2, 3))
    layer = attends("self_attn", H), attends("cross_attn_image", KEYS_WIDTH), *mlp, *norms
    return part(
        "memory_attention", part("layers", *layer, kind="layer", repeat=c.attention_layers), layer_norm("layer_norm", H), kind="encoder"
    )


def mask_layers(c: Config) -> list[Part]:
    """Describe the convolutions that make a mask smaller, each with the channels that keep its size."""
    growth = c.mask_stride * c.mask_stride
    widths = [growth**step for step in range(c.mask_steps + 1)]
    return [
        part(f"layers.{index}", conv2d("conv", few, many, c.mask_kernel), layer_norm("layer_norm", many), kind="convolution")
        for index, (few, many) in enumerate(pairwise(widths))
    ]


def memory_encoder(c: Config) -> Part:
    """Describe what writes a frame and its mask into the memory: the mask made smaller, then ConvNeXt's blocks over both."""
    E, F, growth = c.written, c.fuser, c.mask_stride * c.mask_stride
    final = conv2d("final_conv", growth**c.mask_steps, c.mask_width, 1)
    block = (
        Tensor("scale", (F,), "gain"),
        conv2d("depthwise_conv", F, F, c.fuser_kernel, groups=F),
        layer_norm("layer_norm", F),
        linear("pointwise_conv1", F, c.fuser_mlp),
        linear("pointwise_conv2", c.fuser_mlp, F),
    )
    return part(
        "memory_encoder",
        part("mask_downsampler", *mask_layers(c), final, kind="convolutions"),
        conv2d("feature_projection", E, E, 1),
        part("memory_fuser", part("layers", *block, kind="layer", repeat=c.fuser_layers), kind="convolutions"),
        conv2d("projection", E, c.memory, 1),
        kind="encoder",
    )


def resampler(c: Config) -> Part:
    """Describe the perceiver that keeps a frame in few vectors: some for the whole of it, some for a square each."""
    R, inner = c.resampled, c.resampler_heads * c.resampler_head_dim

    def attends(name: str) -> Part:
        into = (linear(f"{which}_proj", R, inner, bias=False) for which in "qkv")
        scores = attend(heads=c.resampler_heads, head_dim=c.resampler_head_dim, keys=REMEMBERED)
        return part(name, *into, linear("o_proj", inner, R, bias=False), scores, kind="attention")

    def mlp(name: str) -> Part:
        maps = linear("up_proj", R, c.resampler_mlp, bias=False), linear("down_proj", c.resampler_mlp, R, bias=False)
        return part(name, layer_norm("layer_norm", R), *maps, kind="feed_forward")

    norms = (layer_norm(f"layer_norm_{name}", R) for name in ("input", "latents", "self"))
    layer = attends("cross_attention"), mlp("mlp"), attends("self_attention"), mlp("self_mlp"), *norms
    whole, squares = c.has_latents
    return part(
        "spatial_perceiver",
        *((Tensor("latents_1d", (c.latents, R), "embedding"),) if whole else ()),
        *((Tensor("latents_2d", (c.squares, R), "embedding"),) if squares else ()),
        part("layers", *layer, kind="layer", repeat=c.resampler_layers),
        layer_norm("layer_norm", R),
        kind="resampler",
    )


def image_parts(c: Config, maps: list[Grid], places: Size, *, encoder: bool) -> tuple[Node, ...]:
    """Describe what all have: the encoder of an image, unless another model lends its maps, the prompts, and the decoder of masks."""
    across = c.prompts.image // c.prompts.patch
    return (
        positions("shared_image_embedding", c.prompts, across * across, once=True),
        *((as_child("vision_encoder", submodel(c.vision)),) if encoder else ()),
        prompts(c.prompts),
        decoder(c.decoder, maps, places),
    )


def width(c: Config) -> Size:
    """Return the channels of the image encoder's maps."""
    F: Size = c.vision.hidden if c.vision.model_type == "sam3_vision_model" else c.vision.fused
    return F


def with_memory(c: Config, mlp: tuple[Node, ...], *more: Part, encoder: bool = True) -> Part:
    """Describe a model of a video."""
    F, O = width(c), c.memory
    return part(
        "",
        Tensor("no_memory_embedding", (1, 1, F), "embedding"),
        Tensor("no_memory_positional_encoding", (1, 1, F), "embedding"),
        Tensor("memory_temporal_positional_encoding", (c.memories, 1, 1, O), "embedding"),
        Tensor("no_object_pointer", (1, F), "embedding"),
        *((Tensor("occlusion_spatial_embedding_parameter", (1, O), "embedding"),) if c.occluded else ()),
        *image_parts(c, [ONE, ONE], 1, encoder=encoder),
        memory_attention(c, mlp),
        memory_encoder(c),
        conv2d("mask_downsample", 1, 1, 4),
        perceptron("object_pointer_proj", F, F, F),
        *((linear("temporal_positional_encoding_projection_layer", F, O),) if c.timed else ()),
        *more,
        kind="model",
        stream=REMEMBERED,
    )


def video(c: Config, *, encoder: bool = True) -> Part:
    """Describe Sam2VideoModel and Sam3TrackerVideoModel."""
    mlp = linear("linear1", c.attention, c.attention_mlp), linear("linear2", c.attention_mlp, c.attention)
    return with_memory(c, mlp, encoder=encoder)


def edgetam_video(c: Config) -> Part:
    """Describe EdgeTamVideoModel: its memory of a frame is a few vectors."""
    return with_memory(c, (plain_mlp("mlp", c.attention, c.attention_mlp, bias=True),), resampler(c))


def tracker(c: Config) -> Part:
    """Describe Sam3TrackerModel: Segment Anything 2 for images over the encoder of 3, except for its smallest map."""
    height, across = map_of(c.vision.backbone)
    maps: list[Grid] = [(int(height * scale), int(across * scale)) for scale in c.vision.scales]
    no_memory = Tensor("no_memory_embedding", (1, 1, width(c)), "embedding")
    if len(maps) < 4:
        raise ConfigError(
            Text("the decoder takes three maps, the fourth is left out"), key="vision_config.scale_factors", value=c.vision.scales
        )
    return part("", no_memory, *image_parts(c, maps, area(maps[2]), encoder=True), kind="model", stream=PROMPTED)


def sam3_video(c: Config) -> Part:
    """Describe Sam3VideoModel: the detector, the tracker over its maps, and a neck that makes these for it."""
    return part(
        "",
        as_child("detector_model", submodel(c.detector)),
        as_child("tracker_model", video(c.tracker, encoder=False)),
        neck(c.detector.vision, "tracker_neck"),
        kind="model",
        stream=REMEMBERED,
    )


FIELDS = (*parts("sam2_vision_model", 1024, 16), *memory_fields(4, "feed_forward"))
TRACKER = parts("sam3_vision_model", 1008, 14)
IGNORED_KEYS = IMAGE_IGNORED_KEYS | frozenset(
    """image_size mask_downsampler_hidden_act mask_downsampler_padding max_cond_frame_num max_object_pointers_in_encoder
    memory_attention_dropout memory_attention_feed_forward_hidden_act memory_attention_mlp_hidden_act memory_attention_rope_dropout
    memory_attention_rope_feat_sizes memory_attention_rope_k_sizes memory_attention_rope_theta memory_fuser_hidden_act
    memory_fuser_layer_scale_init_value memory_fuser_padding multimask_max_pt_num multimask_min_pt_num multimask_output_for_tracking
    multimask_output_in_sam perceiver_resampler_attention_dropout perceiver_resampler_hidden_dropout sigmoid_bias_for_mem_enc
    sigmoid_scale_for_mem_enc""".split()
)
VIDEO_KEYS = frozenset(
    """assoc_iou_thresh decrease_trk_keep_alive_for_empty_masklets det_nms_thresh fill_hole_area high_conf_thresh high_iou_thresh
    hotstart_delay hotstart_dup_thresh hotstart_unmatch_thresh init_trk_keep_alive low_res_mask_size max_num_objects max_trk_keep_alive
    min_trk_keep_alive new_det_thresh recondition_every_nth_frame recondition_on_trk_masks score_threshold_detection
    suppress_overlapping_based_on_recent_occlusion_threshold suppress_unmatched_only_within_hotstart trk_assoc_iou_thresh""".split()
)
FAMILIES = {
    "sam2_video": Family("sam2_video", FIELDS, {"Sam2VideoModel": video, "Sam2Model": sam2}, "Sam2VideoModel", IGNORED_KEYS),
    "edgetam_video": Family(
        "edgetam_video",
        (*parts("sam2_vision_model", 1024, 16), *memory_fields(2, "mlp"), *RESAMPLER),
        {"EdgeTamVideoModel": edgetam_video, "EdgeTamModel": sam2},
        "EdgeTamVideoModel",
        IGNORED_KEYS,
    ),
    "sam3_tracker": Family("sam3_tracker", TRACKER, {"Sam3TrackerModel": tracker}, "Sam3TrackerModel", IGNORED_KEYS),
    "sam3_tracker_video": Family(
        "sam3_tracker_video",
        (*TRACKER, *memory_fields(4, "feed_forward")),
        {"Sam3TrackerVideoModel": video},
        "Sam3TrackerVideoModel",
        IGNORED_KEYS,
    ),
    "sam3_video": Family(
        "sam3_video",
        (model_config("detector", "detector_config", "sam3"), model_config("tracker", "tracker_config", "sam3_tracker_video")),
        {"Sam3VideoModel": sam3_video, "Sam3TrackerModel": lambda c: tracker(c.tracker)},
        "Sam3VideoModel",
        IGNORED_KEYS | VIDEO_KEYS,
    ),
}
