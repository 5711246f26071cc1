"""PatchTSMixer: an MLP-Mixer over the patches, features and channels of a time series (Ekambaram et al., 2023).

Source: arXiv 2306.09364; names as in transformers 5.23.0, models/patchtsmixer/modeling_patchtsmixer.py. The config fixes how far it looks back.
"""

from __future__ import annotations

from weighbridge.blueprints.series.patchtst import LOSS, PATCHES, POSITIONS, count_patches, projection
from weighbridge.config.family import Family
from weighbridge.config.fields import D_MODEL, NUM_LAYERS, PREDICTION_LENGTH, Config, Field, choice, settable, size, switch, variant
from weighbridge.core.length import Stream
from weighbridge.core.parts import attend, batch_norm, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    *variant(PATCHES, patch=8, stride=8, patches=settable("patches", "num_patches", count_patches, "N", "patches")),
    D_MODEL.with_default(8),
    size("factor", "expansion_factor", 2, "X", "factor of the intermediate size"),
    NUM_LAYERS.with_default(3),
    size("heads", "self_attn_heads", 1, "A", "attention heads"),
    PREDICTION_LENGTH.with_default(16),
    size("targets", "num_targets", 3, "Y", "targets"),
    switch("gated", "gated_attn", True),
    switch("attentive", "self_attn", False),
    switch("placed", "use_positional_encoding", False),
    POSITIONS,
    choice("mode", "mode", "common_channel"),
    choice("batch_normed", "norm_mlp", "LayerNorm", read=lambda name: "batch" in name.lower()),
    Field("scaling", "scaling", "std", "choice", nullable=True),
    Field("aggregation", "head_aggregation", "max_pool", "choice", nullable=True),
    *LOSS,
)
IGNORED_KEYS = frozenset(
    """num_parallel_samples dropout init_std norm_eps mask_type random_mask_ratio num_forecast_mask_patches mask_value masked_loss
    channel_consistent_masking unmasked_channel_indices head_dropout prediction_channel_indices output_range
    patch_last""".split()
)


def norm(c: Config, name: str = "norm") -> Part:
    """Describe a norm of either kind."""
    inner = part("norm", batch_norm("batchnorm", c.hidden), kind="batch_norm") if c.batch_normed else layer_norm("norm", c.hidden)
    return part(name, inner, kind=inner.kind)


def mixer(c: Config, name: str, width: Size, stream: Stream, *more: Node) -> Part:
    """Describe what mixes along one axis, *width* long: a feed-forward step, and a gate if there are any."""
    mlp = part("mlp", linear("fc1", width, width * c.factor), linear("fc2", width * c.factor, width), kind="feed_forward", stream=stream)
    gate = part("gating_block", linear("attn_layer", width, width), kind="gate", stream=stream)
    return part(name, norm(c), mlp, *((gate,) if c.gated else ()), *more, kind="mixer")


def layers(c: Config) -> Part:
    """Describe the layers, each of which mixes patches, features and, if asked to, channels."""
    attention: tuple[Node, ...] = ()
    if c.attentive:
        head_dim = exact(c.hidden, c.heads)
        plain = fairseq_attention("self_attn_layer", c.hidden, c.heads, head_dim)
        among = attend(heads=c.heads, head_dim=head_dim, queries=c.patches, keys=c.patches, groups=c.channels)
        attention = (replace(plain, children=(*plain.children[:-1], among)), norm(c, "norm_attn"))
    mixers = (
        mixer(c, "patch_mixer", c.patches, c.channels * c.hidden, *attention),
        mixer(c, "feature_mixer", c.hidden, c.channels * c.patches),
        *((mixer(c, "channel_feature_mixer", c.channels, c.patches * c.hidden),) if c.mode == "mix_channel" else ()),
    )
    return part("mixers", *mixers, kind="layer", repeat=c.layers)


def encoder(c: Config) -> Part:
    """Describe a map of each patch, positions on a switch, and the layers."""
    table = Tensor("position_enc", (c.patches, c.hidden), "embedding", frozen=c.positions == "sincos")
    places = (part("positional_encoder", table, kind="embeddings"),) if c.placed else ()
    parts = (linear("patcher", c.patch, c.hidden), *places, part("mlp_mixer_encoder", layers(c), kind="mixer"))
    return part("encoder", *parts, kind="encoder", stream=c.channels * c.patches)


def with_head(c: Config, *heads: Part) -> Part:
    """Put heads on the encoder."""
    return part("", part("model", encoder(c), kind="backbone"), *heads, kind="model")


def scale_injection(c: Config) -> tuple[Part, ...]:
    """Describe what adds the scale of a series to its features, if it was scaled."""
    if c.scaling not in ("std", "mean", True):
        return ()
    H = c.hidden
    maps = (
        ("inverse_trans_expansion", H + 2, 2 * H),
        ("inverse_trans_compression", 2 * H, H),
        ("map_scale_expansion", 2, 4),
        ("map_scale_compression", 4, 2),
    )
    inner = tuple(linear(name, inputs, outputs) for name, inputs, outputs in maps)
    return (part("inject_scale", *inner, kind="head", stream=c.channels * c.patches),)


def targets(c: Config, *, spread: bool) -> Part:
    """Describe the targets from all channels; *spread* where they may be a distribution."""
    width = c.hidden * c.channels if c.aggregation is not None else c.hidden * c.channels * c.patches
    inner = projection(c, "projection", width, c.targets) if spread else linear("projection", width, c.targets)
    return part("head", inner, kind="head", stream="one")


def prediction(c: Config) -> Part:
    """Describe PatchTSMixerForPrediction: each channel's steps ahead."""
    return with_head(c, part("head", projection(c, "base_forecast_block", c.patches * c.hidden, c.ahead), kind="head", stream=c.channels))


def pre_training(c: Config) -> Part:
    """Describe PatchTSMixerForPretraining: each patch again."""
    return with_head(c, part("head", linear("base_pt_block", c.hidden, c.patch), kind="head", stream=c.channels * c.patches))


CLASSES = {
    "PatchTSMixerModel": lambda c: part("", encoder(c), kind="model"),
    "PatchTSMixerEncoder": lambda c: part("", replace(encoder(c), name=""), kind="model"),
    "PatchTSMixerForPretraining": pre_training,
    "PatchTSMixerForPrediction": prediction,
    "PatchTSMixerForTimeSeriesClassification": lambda c: with_head(c, targets(c, spread=False), *scale_injection(c)),
    "PatchTSMixerForRegression": lambda c: with_head(c, *scale_injection(c), targets(c, spread=True)),
}

FAMILIES = {"patchtsmixer": Family("patchtsmixer", FIELDS, CLASSES, "PatchTSMixerModel", IGNORED_KEYS)}
