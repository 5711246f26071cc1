"""Perceiver IO: inputs of any length are read by a fixed number of latents, which a decoder's queries read in turn.

Source: Jaegle et al. 2021, arXiv 2107.14795; names as in transformers 5.23.0, models/perceiver/modeling_perceiver.py. ``seq`` counts
tokens, or positions of whatever is put in.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.modules.words import one_of
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, POSITIONS, VOCAB, Config, choice, computed, derived, size
from weighbridge.core.length import Stream, length, unknown
from weighbridge.core.parts import attend, batch_norm, conv2d, embedding, layer_norm, linear, matmul, part
from weighbridge.core.sizes import Size, exact, product
from weighbridge.core.tree import Node, Part, Tensor


def fourier(bands: int, axes: int) -> int:
    """Return the channels of Fourier positions: a sine and a cosine of each frequency along each axis, and the position itself."""
    return 2 * bands * axes + axes


AUDIO_BANDS, VIDEO_BANDS, SPACE = 192, 32, 4 * 4
"""Frequencies of the positions of sound and of video, and the pixels of a video's patch, which its class fixes."""
FIELDS = (
    size("latents", "num_latents", 256, "N", "latents"),
    size("width", "d_latents", 1280, "W", "width of a latent"),
    size("hidden", "d_model", 768, "H", "width of an input"),
    size("blocks", "num_blocks", 1, "B", "runs of the layers"),
    size("layers", "num_self_attends_per_block", 26, "L", "self-attention layers"),
    size("heads", "num_self_attention_heads", 8, "A", "self-attention heads"),
    size("cross_heads", "num_cross_attention_heads", 8, "A_cro", "attention heads over the inputs"),
    choice("shape", "cross_attention_shape_for_attention", "kv", read=one_of("cross_attention_shape_for_attention", "kv", "q")),
    size("keys", "qk_channels", lambda c: c.width, "Q", "width of queries and keys"),
    size("values", "v_channels", lambda c: c.keys, "U", "width of values"),
    size("cross_keys", "qk_channels", None, "Q_cro", "width of queries and keys over the inputs", report_default=False),
    size("cross_values", "v_channels", None, "U_cro", "width of values over the inputs", report_default=False),
    size("widening", "self_attention_widening_factor", 1, "R", "widening of the feed-forward layers"),
    size("cross_widening", "cross_attention_widening_factor", 1, "R_cro", "widening after the attention over the inputs"),
    VOCAB.with_default(262),
    POSITIONS.with_default(2048),
    size("image", "image_size", 56, "P", "image size"),
    numbers("flow", "train_size", (368, 496)),
    number("per_patch", "samples_per_patch", 16),
    size("output", "output_num_channels", 512, "O", "channels of a modality's decoder"),
    number("label_channels", "_label_trainable_num_channels", 1024),
    LABELS,
    computed("joint", lambda c: max(c.per_patch + fourier(AUDIO_BANDS, 1), 3 * SPACE + fourier(VIDEO_BANDS, 3), c.labels) + 4),
    computed("joint_queries", lambda c: max(fourier(AUDIO_BANDS, 1), fourier(VIDEO_BANDS, 3), c.label_channels) + 2),
    derived("per_head", lambda c: exact(c.width, c.heads), "d_latents", "num_self_attention_heads"),
    derived("per_cross_head", lambda c: exact(c.width, c.cross_heads), "d_latents", "num_cross_attention_heads"),
)
PIXEL_CHANNELS = 64
"""Channels that a convolution, or a map of patches, makes of the pixels."""
BANDS = 64
"""Frequencies of an image's Fourier positions."""
IMAGE_CHANNELS = 256
"""Channels of a pixel and of its position in the classifier of images, which its class fixes."""
QUERY_CHANNELS = 8 * 32
"""Width of queries and keys of the language model's decoder, which its class fixes."""


def layer(
    name: str,
    hidden: Size,
    inputs: Size | None,
    keys: Size,
    values: Size,
    heads: Size,
    widening: Size,
    *,
    to: Stream | None = None,
    repeat: Size | None = None,
    executions: Size | None = None,
    stream: Stream | None = None,
) -> Part:
    """Describe attention to the inputs, of the stream *to*, or without them to itself, and a feed-forward network."""
    seen = hidden if inputs is None else inputs
    maps: tuple[Node, ...] = (
        layer_norm("layernorm1", hidden),
        *(() if inputs is None else (layer_norm("layernorm2", inputs, stream=to),)),
        linear("query", hidden, keys),
        linear("key", seen, keys, stream=to),
        linear("value", seen, values, stream=to),
        attend(heads=heads, head_dim=exact(keys, heads), value_dim=exact(values, heads), keys=to),
    )
    kind = "self_attention" if inputs is None else "cross_attention"
    output = part("output", linear("dense", values, values if inputs is None else hidden), kind="attention")
    mlp = part("mlp", linear("dense1", hidden, widening * hidden), linear("dense2", widening * hidden, hidden), kind="feed_forward")
    return part(
        name,
        part("attention", part("self", *maps, kind=kind), output, kind=kind),
        layer_norm("layernorm", hidden),
        mlp,
        kind="layer",
        repeat=repeat,
        executions=executions,
        stream=stream,
    )


def body(c: Config, inputs: Size, places: Stream) -> tuple[Part, Part]:
    """Describe the latents, and the encoder in which they read inputs of a width and then each other."""
    keys = c.cross_keys if c.cross_keys is not None else (c.width if c.shape == "q" else inputs)
    values = c.cross_values if c.cross_values is not None else keys
    crossed = layer("cross_attention", c.width, inputs, keys, values, c.cross_heads, c.cross_widening, to=places)
    own = layer("self_attends", c.width, None, c.keys, c.values, c.heads, c.widening, repeat=c.layers, executions=c.layers * c.blocks)
    latents = part("embeddings", Tensor("latents", (c.latents, c.width), "embedding"), kind="embeddings")
    return latents, part("encoder", crossed, own, kind="encoder", stream=c.latents)


def queries(rows: Size, width: Size) -> Part:
    """Describe the learned queries of a decoder, as many as it outputs."""
    return part("output_position_encodings", Tensor("position_embeddings", (rows, width), "embedding"), kind="embeddings")


def text(c: Config) -> Part:
    """Describe words and positions."""
    words = embedding("embeddings", c.vocab, c.hidden), embedding("position_embeddings", c.positions, c.hidden)
    return part("input_preprocessor", *words, kind="embeddings")


def pixels(c: Config) -> Part:
    """Describe a map of each pixel's channels, and one of its learned position."""
    C, places = IMAGE_CHANNELS, c.image * c.image
    return part(
        "input_preprocessor",
        conv2d("convnet_1x1", 3, C, 1),
        part("position_embeddings", Tensor("position_embeddings", (places, C), "embedding"), kind="embeddings"),
        linear("positions_projection", C, C),
        kind="embeddings",
        stream=places,
    )


def model(c: Config) -> Part:
    """Describe PerceiverModel, which is given vectors."""
    return part("", *body(c, c.hidden, "seq"), kind="model")


def classifier_decoder(c: Config, first: Part | None, inputs: Size, places: Stream) -> Part:
    """Describe one query that reads the latents, and a map of it to the labels; pixels in front may go in as they are."""
    keys = c.width
    crossed = layer("decoding_cross_attention", c.width, c.width, keys, keys, 1, 1, to=c.latents)
    decoder = part(
        "decoder",
        part("decoder", queries(1, c.width), crossed, linear("final_layer", c.width, c.labels), kind="decoder", stream="one"),
        kind="decoder",
    )
    before = () if first is None else (first,)
    return part("", part("perceiver", *before, *body(c, inputs, places), decoder, kind="backbone"), kind="model")


def fourier_classifier(c: Config) -> Part:
    """Describe PerceiverForImageClassificationFourier: the three colours of every pixel beside its Fourier position."""
    return classifier_decoder(c, None, 3 + fourier(BANDS, 2), c.image * c.image)


def convolution_classifier(c: Config) -> Part:
    """Describe PerceiverForImageClassificationConvProcessing: a convolution and a pooling, each of which halves the image."""
    half = (length(c.image) + 1) // 2
    pooled = (half - 3) // 2 + 1
    conv = conv2d("conv", 3, PIXEL_CHANNELS, 7, bias=False, stream=half * half)
    convnet = part("convnet", conv, batch_norm("batchnorm", PIXEL_CHANNELS), kind="convolution")
    first = part("input_preprocessor", convnet, kind="embeddings")
    return classifier_decoder(c, first, PIXEL_CHANNELS + fourier(BANDS, 2), pooled * pooled)


def optical_flow(c: Config) -> Part:
    """Describe PerceiverForOpticalFlow: neighbourhoods of every pixel in two frames, which query the latents too."""
    inputs, places = PIXEL_CHANNELS + fourier(BANDS, 2), product(c.flow)
    first = part("input_preprocessor", linear("conv_after_patches", 54, PIXEL_CHANNELS), kind="embeddings", stream=places)
    crossed = layer("decoding_cross_attention", inputs, c.width, c.width, c.width, 1, 1, to=c.latents)
    if c.shape == "q":
        crossed = layer("decoding_cross_attention", inputs, c.width, inputs, inputs, 1, 1, to=c.latents)
    decoder = part("decoder", part("decoder", crossed, linear("final_layer", inputs, 2), kind="decoder"), kind="decoder", stream=places)
    return part("", part("perceiver", first, *body(c, inputs, places), decoder, kind="backbone"), kind="model")


def padding(whole: Size, **widths: Size) -> Part:
    """Describe what is learned to bring the vectors of each modality to one width."""
    return part("padding", *(Tensor(name, (1, whole - width), "embedding") for name, width in widths.items()), kind="embeddings")


def autoencoder(c: Config) -> Part:
    """Describe PerceiverForMultimodalAutoencoding: sound, video and a label are read together, and produced again."""
    audio, video, places = (
        fourier(AUDIO_BANDS, 1),
        fourier(VIDEO_BANDS, 3),
        unknown("each call chooses which points of audio and video are output"),
    )
    first = part(
        "input_preprocessor",
        padding(c.joint, audio=c.per_patch + audio, image=3 * SPACE + video, label=c.labels),
        part("mask", *(Tensor(name, (1, c.joint), "embedding") for name in ("audio", "image", "label")), kind="embeddings"),
        kind="embeddings",
    )
    keys = c.joint_queries if c.shape == "q" else c.width
    crossed = layer("decoding_cross_attention", c.joint_queries, c.width, keys, keys, 1, 1, to=c.latents)
    decoder = part(
        "decoder",
        part("modalities", part("label", part("decoder", queries(1, c.label_channels)))),
        part("decoder", crossed, linear("final_layer", c.joint_queries, c.output), kind="decoder"),
        padding(c.joint_queries, audio=audio, image=video, label=c.label_channels),
        kind="decoder",
        stream=places,
    )
    heads = {"audio": c.per_patch, "image": 3, "label": c.labels}
    after = part(
        "output_postprocessor", part("modalities", *(part(name, linear("classifier", c.output, outs)) for name, outs in heads.items()))
    )
    return part("", part("perceiver", first, after, *body(c, c.joint, places), decoder, kind="backbone"), kind="model")


def masked_lm(c: Config) -> Part:
    """Describe PerceiverForMaskedLM: a query for every position, and the words again."""
    H = c.hidden
    crossed = layer("decoding_cross_attention", H, c.width, QUERY_CHANNELS, H, 8, 1, to=c.latents)
    decoder = part("decoder", queries(c.positions, H), crossed, kind="decoder", stream=c.positions)
    backbone = part("perceiver", text(c), *body(c, H, "seq"), decoder, kind="backbone")
    bias = Tensor("bias", (c.vocab,), "bias")
    head = part("embedding_decoder", bias, matmul("words", (c.positions, H, c.vocab)), kind="head", stream=c.positions)
    return part("", backbone, head, kind="model")


CLASSES = {
    "PerceiverModel": model,
    "PerceiverForMaskedLM": masked_lm,
    "PerceiverForSequenceClassification": lambda c: classifier_decoder(c, text(c), c.hidden, "seq"),
    "PerceiverForImageClassificationLearned": lambda c: classifier_decoder(c, pixels(c), 2 * IMAGE_CHANNELS, c.image * c.image),
    "PerceiverForImageClassificationFourier": fourier_classifier,
    "PerceiverForImageClassificationConvProcessing": convolution_classifier,
    "PerceiverForOpticalFlow": optical_flow,
    "PerceiverForMultimodalAutoencoding": autoencoder,
}
IGNORED_KEYS = frozenset("audio_samples_per_frame num_frames output_shape use_query_residual".split())
FAMILIES = {"perceiver": Family("perceiver", FIELDS, CLASSES, "PerceiverModel", IGNORED_KEYS)}
