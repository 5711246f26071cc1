"""Phi-4 Multimodal: Phi-3 with SigLIP's tower for images and a conformer for speech, both inside its embeddings.

Source: arXiv 2503.01743; names as in transformers 5.23.0, models/phi4_multimodal/modeling_phi4_multimodal.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.phi import PHI3, phi3
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, uneven_heads
from weighbridge.blueprints.modules.clip_towers import image_fields, stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.multimodal import siglip
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, settable, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length, product_of, unknown, valid_up_to
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

VISION = (*stack_fields(1152, 4304, 16, 27), *image_fields(448, 14), constant("pooled", True), constant("cut", False))


def halvings(c: Config) -> int:
    """Return how many convolutions halve the frames."""
    if c.reduction % 2:
        raise ConfigError("must be even", key="time_reduction", value=c.reduction)
    return int(c.reduction).bit_length() - 1


def halve_bins(c: Config) -> Size:
    """Return how many mel bins are left behind the convolutions, each of which halves them."""
    bins = c.bins
    for _ in range(c.halvings):
        bins = (bins - 1) // 2 + 1
    return bins


AUDIO = (
    size("hidden", "hidden_size", 1024, "H", "hidden size"),
    size("mlp", "intermediate_size", 1536, "I", "intermediate size"),
    size("layers", "num_blocks", 24, "L", "layers"),
    size("heads", "num_attention_heads", 16, "A", "attention heads"),
    size("head_dim", "head_dim", lambda c: exact(c.hidden, c.heads), "D", "head dimension", report_default=False),
    size("wide", "ext_pw_out_channel", 1024, "W", "channels after the pointwise convolutions"),
    size("separated", "depthwise_separable_out_channel", 1024, "Q", "channels after the separable convolution"),
    size("multiplier", "depthwise_multiplier", 1, "J", "channels that the depthwise convolution makes of each"),
    size("kernel", "kernel_size", 3, "K", "kernel size of the depthwise convolution"),
    size("bins", "input_size", 80, "M", "mel bins"),
    number("reduction", "time_reduction", 8),
    constant("halvings", halvings),
    settable("bins_left", "nemo_final_size", halve_bins, "M_f", "mel bins after the convolutions"),
    size("distance", "bias_max_distance", 1000, "B", "distances that have an embedding"),
    switch("symmetric", "bias_symmetric", False),
    size("channels", "nemo_conv_channels", 1024, "C", "channels of the downsampling convolutions"),
    size("rate", "downsample_rate", 1, "R", "frames side by side", report_default=False),
)


def halve(of: Stream, times: int) -> Stream:
    """Return what padded convolutions leave of a stream, each of them half."""
    for _ in range(times):
        of = (length(of) - 1) // 2 + 1
    return of


def subsampling(c: Config) -> Part:
    """Describe the convolutions over frames and mel bins: one, then pairs of a depthwise and a pointwise one."""
    C, bins = c.channels, c.bins
    convolutions: list[Node] = []
    for index in range(c.halvings):
        bins = (bins - 1) // 2 + 1
        at = product_of(halve("seq", index + 1), bins)
        if index == 0:
            convolutions.append(conv2d("0", 1, C, 3, stream=at))
            continue
        convolutions += [conv2d(str(3 * index - 1), C, C, 3, groups=C, stream=at), conv2d(str(3 * index), C, C, 1, stream=at)]
    return part("embed", part("conv", *convolutions), linear("out", C * c.bins_left, c.hidden), kind="embeddings")


def feed_forward(c: Config, name: str) -> Part:
    """Describe half a step of a conformer: a norm and a gated MLP."""
    inner = linear("gate_up_proj", c.hidden, 2 * c.mlp), linear("down_proj", c.mlp, c.hidden)
    return part(name, layer_norm("layer_norm", c.hidden), *inner, kind="feed_forward")


def pointwise(name: str, inputs: Size, outputs: Size) -> Part:
    """Describe a convolution of one frame at a time."""
    return part(name, Tensor("weight", (outputs, inputs, 1), "weight"), Tensor("bias", (outputs,), "bias"), kind="convolution")


def convolution(c: Config, frames: Stream) -> Part:
    """Describe the convolution of a conformer, padded on both sides and cut."""
    H, wide = c.hidden, c.hidden * c.multiplier
    glu = part("glu", *(Tensor(name, (1, c.wide, 1), "bias") for name in ("b1", "b2")), pointwise("ext_pw_conv_1d", H, 2 * c.wide))
    depthwise = part("dw_conv", Tensor("weight", (wide, 1, c.kernel), "weight"), Tensor("bias", (wide,), "bias"), kind="convolution")
    separable = part("dw_sep_conv_1d", depthwise, pointwise("pw_conv", wide, c.separated), stream=length(frames) + (c.kernel - 1))
    return part("conv", layer_norm("layer_norm", H), glu, separable, pointwise("ext_pw_conv_1d", H, c.wide), kind="convolution")


def audio(c: Config) -> Part:
    """Describe the speech encoder: frames, relative positions, conformer layers. More than 500 frames are cut into pieces."""
    H, frames = c.hidden, valid_up_to(halve("seq", c.halvings), 500, "frames that are attended to at once")
    attention = part(
        "self_attn",
        *(linear(f"{letter}_proj", H, c.heads * c.head_dim) for letter in "qkv"),
        linear("o_proj", c.heads * c.head_dim, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    norms = layer_norm("layer_norm_att", H), layer_norm("layer_norm", H)
    halves = feed_forward(c, "feed_forward_in"), feed_forward(c, "feed_forward_out")
    layer = part("encoders", halves[0], attention, convolution(c, frames), halves[1], *norms, kind="layer", repeat=c.layers)
    statistics = part("encoder_embedding", *(Tensor(name, (c.bins,), "buffer") for name in ("global_mean", "global_invstd")))
    table = embedding("bias_values", c.distance * (1 if c.symmetric else 2), c.heads)
    positions = part("relative_attention_bias_layer", table, kind="embeddings")
    return part("", statistics, subsampling(c), positions, layer, kind="audio", stream=frames)


def text(c: Config) -> tuple[Node, ...]:
    """Describe Phi-3, and behind it the towers."""
    H = c.hidden
    image = part(
        "image_embed",
        *(
            Tensor(f"{name}_img_feature_extensor", (1,) * axes + (c.vision.hidden,), "embedding")
            for name, axes in (("global", 2), ("sub", 3))
        ),
        as_child("img_processor", submodel(c.vision)),
        linear("img_projection_up", c.vision.hidden, H, stream=CROPS),
        linear("img_projection_down", H, H, stream=CROPS),
        kind="embeddings",
        requires="images",
        executions="images",
    )
    wide = c.audio.hidden * c.audio.rate
    speech = part(
        "audio_embed",
        as_child("encoder", submodel(c.audio), streams={"seq": CLIP}),
        linear("up_proj_for_speech", wide, H, stream=CLIP),
        linear("down_proj_for_speech", H, H, stream=CLIP),
        linear("up_proj_for_vision_speech", wide, H, stream=0),
        linear("down_proj_for_vision_speech", H, H, stream=0),
        kind="embeddings",
        requires="audios",
        executions="audios",
    )
    return (*phi3(c), part("embed_tokens_extend", image, speech, kind="embeddings"))


CROPS = unknown("an image is cut into as many crops as its shape asks for")
CLIP = unknown("a clip is as long as its frames")


def causal_lm(c: Config) -> Part:
    """Describe Phi4MultimodalForCausalLM."""
    owner = "model.embed_tokens.weight" if c.tied else None
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=owner)
    return part("", part("model", *text(c), kind="backbone"), head, kind="model")


FIELDS: tuple[Field, ...] = (
    *variant(
        PHI3,
        vocab=200064,
        hidden=3072,
        mlp=8192,
        kv_heads=size("kv_heads", "num_key_value_heads", 8, "K", "key-value heads", null=lambda c: c.heads),
    ),
    model_config("vision", "vision_config", "phi4_multimodal_vision", fixed=True),
    model_config("audio", "audio_config", "phi4_multimodal_audio", fixed=True),
)
CLASSES = {"Phi4MultimodalModel": lambda c: part("", *text(c), kind="model"), "Phi4MultimodalForCausalLM": causal_lm}
SPEECH_KEYS = frozenset(
    "activation audio_token_id chunk_size conv_activation conv_glu_type dropout_rate feature_layer left_chunk nemo_activation".split()
)
FAMILIES = {
    "phi4_multimodal": Family("phi4_multimodal", FIELDS, CLASSES, "Phi4MultimodalModel", IGNORED_KEYS),
    "phi4_multimodal_vision": Family(
        "phi4_multimodal_vision",
        VISION,
        {"Phi4MultimodalVisionModel": siglip.vision},
        "Phi4MultimodalVisionModel",
        frozenset(("crop_size", "feature_layer", "image_token_id")),
    ),
    "phi4_multimodal_audio": Family(
        "phi4_multimodal_audio", uneven_heads(AUDIO), {"Phi4MultimodalAudioModel": audio}, "Phi4MultimodalAudioModel", SPEECH_KEYS
    ),
}
