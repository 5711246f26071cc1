"""diffusers: further transformers that turn text into images, CogView4, Chroma and HiDream-I1.

Source: diffusers 0.42.1, models/transformers/{transformer_cogview4,transformer_chroma,transformer_hidream_image}.py. As in
``diffusers.py``, what has tensors is described, and the arithmetic is refused.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.blueprints.packages.diffusers import (
    FLUX,
    HEAD_DIM,
    HEADS,
    PASS,
    WIDTH,
    diffusers_family,
    feed_forward,
    flux_attention,
    to_out,
    two_maps,
)
from weighbridge.blueprints.packages.diffusers_transformers import LAYERS, OUTPUTS, channels, patch
from weighbridge.config.fields import Config, computed, size
from weighbridge.core.parts import attend, linear, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Every, Node, Part, Tensor

COGVIEW4 = (
    patch(2),
    channels(16),
    OUTPUTS.with_default(16),
    LAYERS.with_default(30),
    HEAD_DIM.with_default(40),
    HEADS.with_default(64),
    WIDTH,
    size("text", "text_embed_dim", 4096, "T", "width of the text states"),
    size("time", "time_embed_dim", 512, "E", "width of the time embedding"),
    size("condition", "condition_dim", 256, "C", "width of each of six further conditions"),
)


def cogview4(c: Config) -> Part:
    """Describe CogView4Transformer2DModel: text and image share all weights but those that modulate them."""
    H, E = c.hidden, c.time
    maps: tuple[Node, ...] = *(linear(f"to_{letter}", H, H) for letter in "qkv"), to_out(H, H)
    layer = part(
        "transformer_blocks",
        part("norm1", linear("linear", E, 12 * H), kind="adaptive_norm"),
        part("attn1", *maps, attend(heads=c.heads, head_dim=c.head_dim), kind="self_attention"),
        feed_forward("ff", H),
        kind="layer",
        repeat=c.layers,
    )
    patches = linear("proj", c.channels * c.patch * c.patch, H), linear("text_proj", c.text, H)
    times = two_maps("timestep_embedder", H, E), two_maps("condition_embedder", 6 * c.condition, E)
    return part(
        "",
        part("patch_embed", *patches, kind="embeddings"),
        part("time_condition_embed", *times, kind="embeddings"),
        layer,
        part("norm_out", linear("linear", E, 2 * H), kind="adaptive_norm"),
        linear("proj_out", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


CHROMA = (
    *(field for field in FLUX if field.word not in ("pooled", "guided")),
    size("conditions", "approximator_num_channels", 64, "C", "channels of what modulates the layers"),
    size("approximator", "approximator_hidden_dim", 5120, "E", "width of the network that modulates all layers"),
    size("approximator_layers", "approximator_layers", 5, "K", "layers of the network that modulates all layers", minimum=0),
)


def chroma(c: Config) -> Part:
    """Describe ChromaTransformer2DModel: FLUX, in which one network of time and guidance modulates all layers."""
    H, E = c.hidden, c.approximator
    guidance = part(
        "distilled_guidance_layer",
        linear("in_proj", c.conditions, E),
        part("layers", linear("linear_1", E, E), linear("linear_2", E, E), kind="layer", repeat=c.approximator_layers),
        part("norms", Tensor("weight", (E,), "gain"), kind="rms_norm", repeat=c.approximator_layers),
        linear("out_proj", E, H),
        kind="embeddings",
    )
    ff = feed_forward("ff", H), feed_forward("ff_context", H)
    single = linear("proj_mlp", H, 4 * H), linear("proj_out", 5 * H, H), flux_attention(c, joint=False)
    return part(
        "",
        guidance,
        linear("context_embedder", c.text, H),
        linear("x_embedder", c.channels, H),
        part("transformer_blocks", flux_attention(c, joint=True), *ff, kind="layer", repeat=c.layers),
        part("single_transformer_blocks", *single, kind="layer", repeat=c.single_layers),
        linear("proj_out", H, c.patch * c.patch * c.outputs),
        kind="model",
        stream=PASS,
    )


def _multiple_of_256(width: float) -> int:
    return (int(width) + 255) // 256 * 256


HIDREAM = (
    patch(2),
    channels(64),
    OUTPUTS,
    LAYERS.with_default(16),
    size("single_layers", "num_single_layers", 32, "M", "single-stream layers", minimum=0),
    HEAD_DIM,
    HEADS.with_default(20),
    WIDTH,
    numbers("captions", "caption_channels", (4096, 4096)),
    size("pooled", "text_emb_dim", 2048, "U", "width of the pooled text"),
    size("experts", "num_routed_experts", 4, "X", "experts", minimum=0),
    size("active", "num_activated_experts", 2, "k", "experts per token"),
    computed("routed", lambda c: c.experts > 0),
    computed("mlp", lambda c: _multiple_of_256(2 * (4 * c.hidden) / 3)),
    computed("shared_mlp", lambda c: _multiple_of_256(2 * (2 * c.hidden) / 3)),
)


def _gated_mlp(name: str, width: Size, inner: Size) -> Part:
    maps = linear("w1", width, inner, bias=False), linear("w2", inner, width, bias=False), linear("w3", width, inner, bias=False)
    return part(name, *maps, kind="feed_forward")


def experts(c: Config, name: str) -> Part:
    """Describe a feed-forward network of experts, one of which works on every token; or a plain one where there are none."""
    H = c.hidden
    if not c.routed:
        return _gated_mlp(name, H, c.mlp)
    routed = part("experts", *_gated_mlp("", H, c.mlp).children, kind="experts", repeat=c.experts, experts=c.experts, active=c.active)
    gate = part("gate", Tensor("weight", (c.experts, H)), kind="router")
    return part(name, _gated_mlp("shared_experts", H, c.shared_mlp), routed, gate, kind="feed_forward")


def hidream_layer(c: Config, name: str, repeat: Size, *, joint: bool) -> Part:
    """Describe a layer of image tokens; *joint* with those of the text, which have weights of their own."""
    H = c.hidden

    def maps(ending: str) -> tuple[Node, ...]:
        names = (f"to_q{ending}", f"to_k{ending}", f"to_v{ending}", f"to_out{ending}")
        return *(linear(name, H, H) for name in names), rms_norm(f"q_rms_norm{ending}", H), rms_norm(f"k_rms_norm{ending}", H)

    attn = part("attn1", *maps(""), *(maps("_t") if joint else ()), attend(heads=c.heads, head_dim=c.head_dim), kind="self_attention")
    modulated = part("adaLN_modulation", linear("1", H, (12 if joint else 6) * H), kind="adaptive_norm")
    text = (_gated_mlp("ff_t", H, c.mlp),) if joint else ()
    return part(name, part("block", modulated, attn, experts(c, "ff_i"), *text, kind="layer"), kind="layer", repeat=repeat)


def hidream(c: Config) -> Part:
    """Describe HiDreamImageTransformer2DModel: states of every layer of a language model go into the layer of the same number."""
    H, (last, every) = c.hidden, c.captions[:2]
    last_layer = linear("linear", H, c.patch * c.patch * c.outputs), part("adaLN_modulation", linear("1", H, 2 * H), kind="adaptive_norm")
    projections = (
        part("", linear("linear", every, H, bias=False), kind="projector", repeat=c.layers + c.single_layers),
        part("", linear("linear", last, H, bias=False), kind="projector", repeat=1, indices=Every(c.layers + c.single_layers)),
    )
    return part(
        "",
        part("t_embedder", two_maps("timestep_embedder", 256, H), kind="embeddings"),
        part("p_embedder", two_maps("pooled_embedder", c.pooled, H), kind="embeddings"),
        part("x_embedder", linear("proj", c.channels * c.patch * c.patch, H), kind="embeddings"),
        hidream_layer(c, "double_stream_blocks", c.layers, joint=True),
        hidream_layer(c, "single_stream_blocks", c.single_layers, joint=False),
        part("final_layer", *last_layer, kind="head"),
        part("caption_projection", *projections, kind="projector"),
        kind="model",
        stream=PASS,
    )


COGVIEW4_KEYS = frozenset("pos_embed_max_size rope_axes_dim".split())
HIDREAM_KEYS = frozenset("axes_dims_rope force_inference_output llama_layers max_resolution".split())
FAMILIES = {
    "diffusers_cogview4": diffusers_family("diffusers_cogview4", COGVIEW4, "CogView4Transformer2DModel", cogview4, COGVIEW4_KEYS),
    "diffusers_chroma": diffusers_family("diffusers_chroma", CHROMA, "ChromaTransformer2DModel", chroma, frozenset(("axes_dims_rope",))),
    "diffusers_hidream": diffusers_family("diffusers_hidream", HIDREAM, "HiDreamImageTransformer2DModel", hidream, HIDREAM_KEYS),
}
