"""Qwen, the first (2023), Qwen-VL and Qwen-Audio: "Qwen Technical Report" (Bai et al.); its code stands beside its files on the Hub.

Source: arXiv 2309.16609, 2308.12966 and 2311.07919; modeling_qwen.py of Qwen/Qwen-7B, visual.py of Qwen/Qwen-VL, audio.py of Qwen/Qwen-Audio. Held to published
totals, not to a live class; Qwen-Audio's file has 8,396,222,464 elements, of which 1,920,000 are positions that its code keeps as a buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    LABELS,
    LAYERS,
    TIED,
    VOCAB,
    Config,
    Field,
    SubConfig,
    choice,
    computed,
    constant,
    size,
    switch,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, conv1d, conv2d, embedding, layer_norm, linear, part, plain_mlp, rms_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

TABLE = 256
VISUAL = (
    size("hidden", "width", 1664, "W", "width of the tower"),
    size("layers", "layers", 48, "L", "layers"),
    size("heads", "heads", 16, "A", "attention heads"),
    size("image", "image_size", 448, "R", "image size"),
    size("patch", "patch_size", 14, "P", "patch size"),
    choice("ratio", "mlp_ratio", 4.9231),
    computed("mlp", lambda c: int(c.hidden * c.ratio)),
    size("queries", "n_queries", 256, "Q", "queries of the resampler"),
    size("outputs", "output_dim", 512, "H", "width of the words"),
)

AUDIO = (
    size("hidden", "n_state", 1280, "W", "width of the encoder"),
    size("layers", "n_layer", 32, "L", "layers"),
    size("heads", "n_head", 20, "A", "attention heads"),
    size("mels", "n_mels", 80, "M", "mel bins"),
    size("source", "n_ctx", 1500, "F", "positions of the encoder"),
    size("outputs", "output_dim", 512, "H", "width of the words"),
    switch("ends", "add_audio_bos_eos_token", True),
)

SOUND = unknown("how many frames a sound has is not said by a config")


def _tower(fields: tuple[Field, ...], ignored: frozenset[str]) -> Callable[[Any, str], SubConfig | None]:
    """Return what reads a tower, where the config has one."""

    def resolve(value: Any, path: str) -> SubConfig | None:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise ConfigError("expected a sub-config", key=path)
        return SubConfig(value, fields, ignored)

    return resolve


FIELDS = (
    VOCAB.with_default(151936),
    HIDDEN.with_default(4096),
    size("mlp", "intermediate_size", 22016, "I", "width of the gate and up projections together"),
    LAYERS.with_default(32),
    HEADS.with_default(32),
    size("head_dim", "kv_channels", 128, "D", "head dimension"),
    LABELS,
    TIED.with_default(False),
    switch("unbiased", "no_bias", True),
    constant("head_bias", False),
    Field("visual", "visual", None, "nested", resolve=_tower(VISUAL, frozenset(("image_start_id",)))),
    Field("audio", "audio", None, "nested", resolve=_tower(AUDIO, frozenset(("avg_pool", "audio_start_id")))),
)


def qwen(c: Config) -> tuple[Node, ...]:
    """Describe GPT-2's outline with Llama's parts; only queries, keys and values have biases."""
    H, width, half, biased = c.hidden, c.heads * c.head_dim, exact(c.mlp, 2), not c.unbiased
    layer = part(
        "h",
        rms_norm("ln_1", H),
        part(
            "attn",
            linear("c_attn", H, 3 * width),
            linear("c_proj", H, width, bias=biased),
            attend(causal=True, heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        rms_norm("ln_2", H),
        part(
            "mlp",
            linear("w1", H, half, bias=biased),
            linear("w2", H, half, bias=biased),
            linear("c_proj", half, H, bias=biased),
            kind="feed_forward",
        ),
        kind="layer",
        repeat=c.layers,
    )
    towers = (() if c.visual is None else (visual(c.visual),)) + (() if c.audio is None else (audio(c.audio),))
    return (embedding("wte", c.vocab, H), layer, rms_norm("ln_f", H), *towers)


def visual(c: Config) -> Part:
    """Describe Qwen-VL's tower, OpenCLIP's ViT-bigG, and attention of learned queries over its patches."""
    W, E, side = c.hidden, c.outputs, c.image // c.patch
    attends = part(
        "attn",
        linear("in_proj", W, 3 * W),
        linear("out_proj", W, W),
        attend(heads=c.heads, head_dim=exact(W, c.heads)),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", W, c.mlp, ("c_fc", "c_proj"), bias=True)
    block = part("resblocks", layer_norm("ln_1", W), layer_norm("ln_2", W), attends, mlp, kind="layer", repeat=c.layers)
    patches = side * side
    # The table has a vector for each of 256 patches, and is stretched over more.
    tower = (
        Tensor("positional_embedding", (TABLE, W), "embedding"),
        Tensor("proj", (E, E)),
        conv2d("conv1", 3, W, c.patch, bias=False),
        layer_norm("ln_pre", W),
        part("transformer", block, kind="encoder"),
        resampler(c, patches),
        layer_norm("ln_post", E, stream=c.queries),
    )
    return part("visual", *tower, kind="vision", stream=patches, requires="images", executions="images")


def resampler(c: Config, patches: Size) -> Part:
    """Describe attention of learned queries, which sees the patches through a map, with heads of 128."""
    E = c.outputs
    inner = part(
        "attn",
        Tensor("in_proj_weight", (3 * E, E)),
        Tensor("in_proj_bias", (3 * E,), "bias"),
        linear("out_proj", E, E),
        attend(heads=E // 128, head_dim=128, queries=c.queries, keys=patches),
        kind="cross_attention",
    )
    tables = Tensor("pos_embed", (c.queries, E), "embedding", frozen=True), Tensor("query", (c.queries, E), "embedding")
    return part(
        "attn_pool",
        *tables,
        linear("kv_proj", c.hidden, E, bias=False),
        inner,
        layer_norm("ln_q", E),
        layer_norm("ln_kv", E),
        kind="projector",
    )


def audio(c: Config) -> Part:
    """Describe the encoder; one table has the words that stand before and after a sound."""
    W = c.hidden
    ends = (embedding("audio_bos_eos_token", 2, c.outputs),) if c.ends else ()
    return part(
        "audio",
        Tensor("positional_embedding", (c.source, W), "buffer"),
        conv1d("conv1", c.mels, W, 3, padding=1, of=SOUND),
        conv1d("conv2", W, W, 3, stride=2, padding=1, of=SOUND),
        block(c),
        layer_norm("ln_post", W),
        linear("proj", W, c.outputs),
        *ends,
        kind="audio",
        stream=SOUND,
        requires="audios",
        executions="audios",
    )


def block(c: Config) -> Part:
    """Describe a layer of Whisper's encoder."""
    W = c.hidden
    maps = (linear(name, W, W, bias=name != "key") for name in ("query", "key", "value", "out"))
    attends = part("attn", *maps, attend(heads=c.heads, head_dim=exact(W, c.heads)), kind="self_attention")
    mlp = part("mlp", linear("0", W, 4 * W), linear("2", 4 * W, W), kind="feed_forward")
    return part("blocks", attends, layer_norm("attn_ln", W), mlp, layer_norm("mlp_ln", W), kind="layer", repeat=c.layers)


MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """attn_dropout_prob bf16 emb_dropout_prob fp16 fp32 onnx_safe scale_attn_weights seq_length softmax_in_fp32 use_cache_kernel
    use_cache_quantization use_dynamic_ntk use_flash_attn use_logn_attn""".split()
)
CLASSES = with_heads("QWen", qwen, "lm", prefix="transformer", table="wte", lm="LMHeadModel")
FAMILIES = {"qwen": Family("qwen", FIELDS, CLASSES, "QWenModel", MORE_IGNORED_KEYS)}
