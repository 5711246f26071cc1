"""Inkling: windowed and full attention with learned biases by distance, short convolutions everywhere, and experts; it sees and hears.

An image is folded to one vector by a perceptron over ever larger squares, whose widths a plan picks; sounds are embedded as the codes of
mel bins. Source: Thinking Machines, Inkling (2026); names as in transformers 5.23.0, models/inkling/modeling_inkling.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.folded_patches import patch_scales
from weighbridge.blueprints.modules.layer_types import checked_kinds, dense_before, listed_or
from weighbridge.blueprints.modules.mixture_of_experts import correction
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    ACTIVE_EXPERTS,
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MLP,
    VOCAB,
    Config,
    Field,
    constant,
    size,
    with_changes,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import length, product_of, unknown
from weighbridge.core.parts import attend, depthwise, embedding, fused_experts, gated_mlp, linear, part, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

CUT = unknown("the number of patches depends on the size of the image")
FULL, WINDOW = "hybrid", "hybrid_sliding"


def text(c: Config) -> tuple[Node, ...]:
    """Describe normalized embeddings, layers with convolutions after attention and MLP, and a last norm."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        norms = rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
        mlp = mixture(c) if kinds[1] == "sparse" else dense(c)
        return attention(c, windowed=kinds[0] == WINDOW), mlp, *norms, convolution(c, "attn_sconv", H), convolution(c, "mlp_sconv", H)

    table = part("embed_tokens", Tensor("weight", (c.vocab, H), "embedding"), rms_norm("embed_norm", H), kind="embedding")
    return table, *stack("layers", list(zip(c.mixers, c.kinds, strict=True)), c.layers, layer), rms_norm("norm", H)


def attention(c: Config, *, windowed: bool) -> Part:
    """Describe attention whose scores get a bias for each distance up to an extent, made of a few channels of the query."""
    H, A, K, D = (c.hidden, c.window_heads, c.window_kv_heads, c.window_dim) if windowed else (c.hidden, c.heads, c.kv_heads, c.head_dim)
    biases = Tensor("proj", (c.relative, c.window if windowed else c.extent))
    return part(
        "self_attn",
        linear("q_proj", H, A * D, bias=False),
        *(linear(f"{name}_proj", H, K * D, bias=False) for name in "kv"),
        linear("r_proj", H, A * c.relative, bias=False),
        linear("o_proj", A * D, H, bias=False),
        *(convolution(c, f"{name}_sconv", K * D) for name in "kv"),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D),
        part("rel_logits_proj", biases, kind="linear", stream=length("seq") * A),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.window if windowed else None),
        kind="self_attention",
    )


def convolution(c: Config, name: str, width: Size) -> Part:
    """Describe a short causal convolution of each channel with itself, which runs in float32."""
    return part(name, depthwise("conv1d", width, c.kernel, bias=False, dtype="float32"), kind="convolution")


def dense(c: Config) -> Part:
    """Describe a gated MLP with a scale."""
    plain = gated_mlp("mlp", c.hidden, c.mlp)
    return part("mlp", Tensor("global_scale", (1,), "gain"), *plain.children, kind="feed_forward")


def mixture(c: Config) -> Part:
    """Describe a router that weighs the shared experts too, the routed experts, and the shared ones."""
    H, I, shared = c.hidden, c.expert_mlp, c.shared_experts
    router = Tensor("weight", (c.experts + shared, H)), Tensor("global_scale", (1,), "gain"), correction(c)
    maps = Tensor("gate_proj", (shared, I, H)), Tensor("up_proj", (shared, I, H)), Tensor("down_proj", (shared, H, I))
    return part(
        "mlp",
        part("gate", *router, kind="linear"),
        fused_experts(c.experts, c.active, H, I),
        part("shared_experts", *maps, kind="feed_forward"),
        kind="mixture",
    )


def audio(c: Config) -> Part:
    """Describe InklingAudioModel: a table with a row for each level of each mel bin, whose rows are added up."""
    table = part("embed_audio_tokens", embedding("embed_audio_tokens", c.bins * c.levels, c.hidden), kind="embeddings")
    return part("", table, rms_norm("norm", c.hidden), kind="model", stream=unknown("the number of audio frames depends on the input"))


def vision(c: Config) -> Part:
    """Describe InklingVisionModel: layers that fold squares of pixels, and frames, into channels."""
    layers = []
    scales = patch_scales(c.frames, c.patch, len(layer_range(c.layers)), c.channels)
    for index, (start, end) in enumerate(pairwise(scales)):
        folded = (end[0] // start[0]) * (end[1] // start[1]) ** 2
        last = index == c.layers - 1
        places = (c.frames // end[0]) * (c.patch // end[1]) ** 2
        width: Size = c.hidden if last else end[2]
        norm = () if last else (rms_norm("layer_norm", width),)
        project = linear("projection", start[2] * folded, width, bias=False)
        layers.append(part(f"encoder_layers.{index}", project, *norm, kind="layer", stream=product_of("images", places)))
    return part("", *layers, rms_norm("final_norm", c.hidden), kind="model")


def _mixers(c: Config) -> list[str]:
    local = set(c.local) if c.local is not None else {index for index in layer_range(c.layers) if (index + 1) % 6}
    return [WINDOW if index in local else FULL for index in layer_range(c.layers)]


ATTENTION = (
    VOCAB.with_default(201024),
    HIDDEN.with_default(6144),
    LAYERS.with_default(66),
    HEADS.with_default(64),
    KV_HEADS.with_default(8),
    HEAD_DIM.with_default(128),
    size("window_heads", "swa_num_attention_heads", 64, "B", "attention heads in window attention"),
    size("window_kv_heads", "swa_num_key_value_heads", 16, "C", "key-value heads in window attention"),
    size("window_dim", "swa_head_dim", 128, "F", "head dimension in window attention"),
    size("window", "sliding_window_size", 512, "W", "tokens per window", "sliding_window"),
    size("relative", "d_rel", 16, "R", "channels of a query for its biases"),
    size("extent", "rel_extent", 1024, "X", "distances with a bias"),
    size("kernel", "conv_kernel_size", 4, "Z", "kernel size of the convolutions", "sconv_kernel_size"),
)
"""The sizes of attention in full and in a window, which Inkling 2 has too."""
TEXT = (
    *ATTENTION,
    MLP.with_default(24576),
    size("expert_mlp", "moe_intermediate_size", 3072, "M", "intermediate size of an expert"),
    size("experts", "n_routed_experts", 256, "E", "routed experts", "num_local_experts"),
    ACTIVE_EXPERTS.with_default(6),
    size("shared_experts", "n_shared_experts", 2, "N", "shared experts"),
    Field("local", "local_layer_ids", None, "choice"),
    Field("stated_mixers", "layer_types", _mixers, "choice"),
    constant("mixers", lambda c: checked_kinds(c, c.stated_mixers, "layer_types", (FULL, WINDOW))),
    Field("dense", "dense_mlp_idx", 0, "choice", report_default=False),
    *listed_or(lambda c: dense_before(c, c.dense)),
    constant("tied", False),
    constant("head_bias", False),
)
AUDIO = (
    size("bins", "n_mel_bins", 80, "B", "mel bins", "num_codebooks"),
    size("levels", "mel_vocab_size", 256, "V", "levels of a mel bin", "codebook_size"),
    size("hidden", "text_hidden_size", 6144, "H", "hidden size of the text model", "hidden_size"),
)
VISION = (
    size("hidden", "text_hidden_size", 6144, "H", "hidden size of the text model"),
    number("patch", "patch_size", 40),
    number("frames", "temporal_patch_size", 2),
    number("channels", "num_channels", 3),
    number("layers", "num_hidden_layers", 24, "n_layers"),
)
BOTH = (
    model_config("text", "text_config", "inkling_text", fixed=True),
    model_config("audio", "audio_config", "inkling_audio", fixed=True),
    model_config("vision", "vision_config", "inkling_vision", fixed=True),
    constant("tied", False),
)


def body(c: Config) -> tuple[Part, ...]:
    """Describe the text, and the two towers, whose width is the text's whatever they say."""
    return (
        as_child("language_model", submodel(c.text)),
        as_child("audio_tower", submodel(with_changes(c.audio, hidden=c.text.hidden)), requires="sounds"),
        as_child("vision_tower", submodel(with_changes(c.vision, hidden=c.text.hidden)), streams={"images": CUT}, requires="images"),
    )


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read a published text config, whose intermediate size is that of the experts where it states a dense one beside it.

    >>> normalize_config({"intermediate_size": 3072, "dense_intermediate_size": 24576})
    {'intermediate_size': 24576, 'moe_intermediate_size': 3072}
    """
    if raw.get("dense_intermediate_size") is None:
        return dict(raw)
    changed = {key: value for key, value in raw.items() if key != "dense_intermediate_size"}
    inner = raw.get("intermediate_size")
    return changed | {"intermediate_size": raw["dense_intermediate_size"], "moe_intermediate_size": 24576 if inner is None else inner}


MTP = """chain_hidden_post_norm mtp_config mtp_hidden_states_first mtp_local_layer_ids num_mtp_layers"""
TEXT_KEYS = IGNORED_KEYS | frozenset(
    f"""{MTP} log_scaling_alpha log_scaling_n_floor logits_mup_width_multiplier model_max_length number_of_conv_states
    rms_norm_eps_moe_gate route_scale shared_expert_sink tie_word_embeddings unpadded_vocab_size""".split()
)
MARKS = frozenset(f"{MTP} audio_bos_token_id audio_token_id image_bos_token_id tie_word_embeddings".split())
FAMILIES = {
    "inkling_text": Family(
        "inkling_text",
        TEXT,
        with_heads("Inkling", text, "lm", base="TextModel"),
        "InklingTextModel",
        TEXT_KEYS,
        normalize_config=normalize_config,
    ),
    "inkling_audio": Family("inkling_audio", AUDIO, {"InklingAudioModel": audio}, "InklingAudioModel", frozenset()),
    "inkling_vision": Family(
        "inkling_vision",
        VISION,
        {"InklingVisionModel": vision},
        "InklingVisionModel",
        frozenset(("hidden_size", "num_attention_heads")),
    ),
    "inkling_mm_model": Family(
        "inkling_mm_model",
        BOTH,
        {"InklingModel": without_head(body), "InklingForConditionalGeneration": with_lm_head(body)},
        "InklingModel",
        VISION_IGNORED_KEYS | MARKS,
    ),
}
