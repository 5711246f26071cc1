"""PatchTST: a transformer over patches of each channel of a time series (Nie et al., 2022).

Source: arXiv 2211.14730; names as in transformers 5.23.0, models/patchtst/modeling_patchtst.py. The config fixes how far it looks back.
"""

from __future__ import annotations

from weighbridge.blueprints.series.time_series_transformer import values
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    CONTEXT_LENGTH,
    D_MODEL,
    FFN_DIM,
    HEADS,
    LAYERS,
    PREDICTION_LENGTH,
    Config,
    Field,
    choice,
    computed,
    derived,
    size,
    switch,
)
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor


def require_one_of(key: str, value: str, names: tuple[str, ...]) -> str:
    """Return *value* if it is one of *names*; refuse it otherwise."""
    if value not in names:
        raise ConfigError(Text("expected one of {names}", names=", ".join(names)), key=key, value=value)
    return value


def one_of(word: str, key: str, default: str, *names: str) -> Field:
    """Declare one of these *names*."""
    return choice(word, key, default, read=lambda name: require_one_of(key, name, names))


def count_patches(c: Config) -> Size:
    """Count the patches that a series is cut into."""
    return (c.back - c.patch) // c.stride + 1


PATCHES = (
    size("channels", "num_input_channels", 1, "C", "channels"),
    CONTEXT_LENGTH.with_default(32),
    size("patch", "patch_length", 1, "P", "time steps per patch"),
    size("stride", "patch_stride", 1, "E", "patch stride"),
    derived("patches", count_patches, "context_length", "patch_length"),
)
"""How a series is cut into patches."""
POSITIONS = one_of("positions", "positional_encoding_type", "sincos", "sincos", "random")
LOSS = (
    replace(choice("loss", "loss", "mse"), nullable=True),
    choice("distribution", "distribution_output", "student_t"),
    computed("values", lambda c: 0 if c.loss == "mse" else values(c.distribution)),
)
"""What is predicted of each step: a value, or the parameters of a distribution."""
FIELDS = (
    *PATCHES,
    D_MODEL.with_default(128),
    FFN_DIM.with_default(512),
    LAYERS.with_default(3),
    HEADS.with_default(4),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "d_model", "num_attention_heads"),
    PREDICTION_LENGTH.with_default(24),
    size("targets", "num_targets", 1, "Y", "targets"),
    switch("shared", "share_embedding", True),
    switch("shared_head", "share_projection", True),
    switch("across", "channel_attention", False),
    switch("biased", "bias", True),
    switch("marked", "use_cls_token", False),
    one_of("norm", "norm_type", "batchnorm", "batchnorm", "layernorm"),
    POSITIONS,
    Field("pooling", "pooling_type", "mean", "choice", nullable=True),
    *LOSS,
)
IGNORED_KEYS = frozenset(
    """norm_eps positional_dropout path_dropout ff_dropout activation_function pre_norm init_std scaling do_mask_input mask_type
    random_mask_ratio num_forecast_mask_patches channel_consistent_masking unmasked_channel_indices mask_value head_dropout
    output_range num_parallel_samples""".split()
)


def tokens(c: Config) -> Size:
    """Count a channel's patches, and the token in front of them if there is one."""
    found: Size = c.patches + 1 if c.marked else c.patches
    return found


def norm(c: Config, name: str) -> Part:
    """Describe a norm of either kind."""
    return layer_norm(name, c.hidden) if c.norm == "layernorm" else part(name, batch_norm("batchnorm", c.hidden), kind="batch_norm")


def attention(c: Config) -> Part:
    """Describe attention among a channel's patches and, if asked for, with the same maps among the channels."""
    plain = fairseq_attention("self_attn", c.hidden, c.heads, c.head_dim)
    among = [attend(heads=c.heads, head_dim=c.head_dim, queries=tokens(c), keys=tokens(c), groups=c.channels)]
    if c.across:
        among.append(attend(heads=c.heads, head_dim=c.head_dim, queries=c.channels, keys=c.channels, groups=tokens(c)))
    return replace(plain, children=(*plain.children[:-1], *among), stream=len(among) * c.channels * tokens(c))


def encoder(c: Config) -> Part:
    """Describe a map of each patch, positions and layers."""
    H = c.hidden
    mapped = linear("input_embedding", c.patch, H, stream=c.channels * c.patches if c.shared else c.patches)
    embedder = part("embedder", mapped if c.shared else replace(mapped, repeat=c.channels), kind="embeddings")
    marks = (Tensor("cls_token", (1, 1, 1, H), "embedding"),) if c.marked else ()
    table = Tensor("position_enc", (tokens(c), H), "embedding", frozen=c.positions == "sincos")
    layer: tuple[Node, ...] = (
        attention(c),
        norm(c, "norm_sublayer1"),
        *((norm(c, "norm_sublayer2"),) if c.across else ()),
        part("ff", linear("0", H, c.mlp, bias=c.biased), linear("3", c.mlp, H, bias=c.biased), kind="feed_forward"),
        norm(c, "norm_sublayer3"),
    )
    parts = (embedder, part("positional_encoder", *marks, table, kind="embeddings"), part("layers", *layer, kind="layer", repeat=c.layers))
    return part("encoder", *parts, kind="encoder", stream=c.channels * tokens(c))


def projection(c: Config, name: str, width: Size, outputs: Size) -> Part:
    """Describe a map to the outputs, or one for each value of their distribution."""
    if not c.values:
        return linear(name, width, outputs)
    return part(name, linear("proj", width, outputs, repeat=c.values), kind="head")


def with_head(c: Config, inner: Part, stream: Size | str) -> Part:
    """Put a head on the encoder."""
    return part("", part("model", encoder(c), kind="backbone"), part("head", inner, kind="head", stream=stream), kind="model")


def prediction(c: Config) -> Part:
    """Describe PatchTSTForPrediction: one map for all channels, or one for each."""
    width = c.hidden if c.pooling or c.marked else c.hidden * c.patches
    if c.shared_head:
        return with_head(c, projection(c, "projection", width, c.ahead), c.channels)
    return with_head(c, replace(projection(c, "projections", width, c.ahead), repeat=c.channels), "one")


CLASSES = {
    "PatchTSTModel": lambda c: part("", encoder(c), kind="model"),
    "PatchTSTForPretraining": lambda c: with_head(c, linear("linear", c.hidden, c.patch), c.channels * tokens(c)),
    "PatchTSTForClassification": lambda c: with_head(c, linear("linear", c.channels * c.hidden, c.targets), "one"),
    "PatchTSTForRegression": lambda c: with_head(c, projection(c, "projection", c.channels * c.hidden, c.targets), "one"),
    "PatchTSTForPrediction": prediction,
}

FAMILIES = {"patchtst": Family("patchtst", FIELDS, CLASSES, "PatchTSTModel", IGNORED_KEYS)}
