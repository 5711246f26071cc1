"""Inkling 2: layers that attend to the blocks of layers before them, windowed and full attention with sinks and gates, and experts.

Queries, keys and values of full attention each have a mix of earlier blocks of their own, and short convolutions whose weights a token
makes. Source: Thinking Machines, Inkling 2 (2026); names as in transformers 5.23.0, models/inkling2/modeling_inkling2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.inkling import ATTENTION, FULL, WINDOW, convolution
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.layer_types import checked_kinds
from weighbridge.blueprints.modules.mixture_of_experts import correction
from weighbridge.blueprints.modules.stage_fields import ratio, scale_width
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    ACTIVE_EXPERTS,
    HEADS,
    HIDDEN,
    LAYERS,
    MLP,
    PATCH,
    SPATIAL_MERGE,
    Config,
    Field,
    constant,
    size,
    switch,
    variant,
)
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import length, unknown
from weighbridge.core.parts import (
    attend,
    embedding,
    fairseq_attention,
    fused_experts,
    layer_norm,
    linear,
    matmul,
    part,
    plain_mlp,
    replace,
    rms_norm,
    stack,
)
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, State, Tensor

PATCHES = unknown("the number of patches depends on the size of the image")


def text(c: Config) -> tuple[Node, ...]:
    """Describe normalized embeddings, layers over what earlier blocks of them output, a last norm, and a last mix of all blocks."""
    H = c.hidden
    table = part("embed_tokens", Tensor("weight", (c.vocab, H), "embedding"), rms_norm("embed_norm", H), kind="embedding")
    kinds = list(zip(c.mixers, c.blocks, c.blocks[1:], strict=False))
    layers = stack("layers", kinds, c.layers, lambda kind: layer(c, full=kind[0] == FULL, before=kind[1], behind=kind[2]))
    return table, *layers, rms_norm("norm", H), mix(c, "final_input", c.blocks[-1])


def mix(c: Config, name: str, blocks: int, queries: int = 1) -> Part:
    """Describe what weighs the *blocks* before, and the one begun: a vector, or one for each of queries, keys and values."""
    shape = (c.hidden,) if queries == 1 else (queries, c.hidden)
    product = ("seq", queries, blocks + 1, c.hidden)
    return part(name, Tensor("query", shape, "gain"), matmul("blocks", product, product), kind="attention")


def layer(c: Config, *, full: bool, before: int, behind: int) -> tuple[Node, ...]:
    """Describe a layer, with the blocks that are done *before* it and *behind* its attention; the first has none before it."""
    H = c.hidden
    norms = ("q_input_layernorm", "k_input_layernorm", "v_input_layernorm") if full else ("input_layernorm",)
    router = part("gate", Tensor("weight", (c.experts, H)), correction(c), kind="linear")
    return (
        *((mix(c, "attention_input", before, 3 if full else 1),) if before else ()),
        mix(c, "mlp_input", behind),
        attention(c, full=full),
        part("mlp", fused_experts(c.experts, c.active, H, c.expert_mlp), router, kind="mixture"),
        *(rms_norm(name, H) for name in (*norms, "post_attention_layernorm")),
        convolution(c, "post_attention_convolution", H),
        convolution(c, "post_mlp_convolution", H),
    )


def attention(c: Config, *, full: bool) -> Part:
    """Describe attention with a gate, a sink made by the token, and biases by distance."""
    H, A, K, D = (c.hidden, c.heads, c.kv_heads, c.head_dim) if full else (c.hidden, c.window_heads, c.window_kv_heads, c.window_dim)
    biases = Tensor("proj", (c.relative, c.extent if full else c.window))

    def short_convolution(name: str) -> Part:
        if not full:
            return convolution(c, name, K * D)
        own = Tensor("static_weight", (c.kernel, K * D), "gain")
        kept = State("conv_state", K * D * c.kernel, "float32")
        return part(name, own, linear("weight_proj", H, K * c.kernel, bias=False), kept, kind="convolution")

    return part(
        "self_attn",
        linear("q_proj", H, A * D, bias=False),
        *(linear(f"{name}_proj", H, K * D, bias=False) for name in "kv"),
        linear("r_proj", H, A * c.relative, bias=False),
        linear("o_proj", A * D, H, bias=False),
        short_convolution("k_sconv"),
        short_convolution("v_sconv"),
        part("rel_logits_proj", biases, kind="linear", stream=length("seq") * A),
        linear("gate_proj", H, A * D, bias=False),
        linear("sink_proj", H, A, bias=False),
        part("q_l2_clip", Tensor("scale", (A, D), "gain"), kind="scale"),
        part("rel_l2_clip", Tensor("scale", (A, c.relative), "gain"), kind="scale"),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=None if full else c.window),
        kind="self_attention",
    )


def vision(c: Config) -> Part:
    """Describe Inkling2VisionModel: patches laid out flat, layers with gains of their own, and a merger of squares."""
    H, square = c.hidden, c.merge * c.merge
    tables = (
        Tensor("class_embedding", (H,), "embedding"),
        Tensor("cls_position_embedding", (H,), "embedding"),
        linear("patch_embedding", c.channels * c.patch * c.patch, H, bias=False),
        embedding("position_embedding", c.grid * c.grid, H),
    )
    layer = (
        Tensor("lambda_1", (H,), "gain"),
        Tensor("lambda_2", (H,), "gain"),
        fairseq_attention("self_attn", H, c.heads, H // c.heads),
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        layer_norm("layernorm_before", H),
        layer_norm("layernorm_after", H),
    )
    merged = linear("linear_1", square * H, c.projection, bias=c.bias), linear("linear_2", c.projection, c.out, bias=c.bias)
    return part(
        "",
        part("embeddings", *tables, kind="embeddings"),
        layer_norm("pre_layernorm", H),
        part("layers", *layer, kind="layer", repeat=c.layers),
        part("merger", *merged, kind="projector"),
        kind="model",
        stream=PATCHES,
    )


def _mixers(c: Config) -> list[str]:
    return [WINDOW if (index + 1) % 6 else FULL for index in layer_range(c.layers)]


def _blocks(c: Config) -> list[int]:
    """Return how many blocks are done before each layer, and behind the last."""
    if c.block < 1:
        raise ConfigError("a block has at least one layer", key="n_layers_per_attn_res_block", value=c.block)
    return [(index + c.block - 1) // c.block for index in layer_range(c.layers + 1)]


TEXT = (
    *variant(ATTENTION, hidden=4608, layers=48, heads=48, window_heads=48, window_kv_heads=8, window=1024),
    size("expert_mlp", "moe_intermediate_size", 2304, "M", "intermediate size of an expert", "intermediate_size"),
    size("experts", "n_routed_experts", 384, "E", "routed experts", "num_local_experts"),
    ACTIVE_EXPERTS.with_default(8),
    Field("stated_mixers", "layer_types", _mixers, "choice"),
    constant("mixers", lambda c: checked_kinds(c, c.stated_mixers, "layer_types", (FULL, WINDOW))),
    Field("block", "n_layers_per_attn_res_block", 6, "choice"),
    constant("blocks", _blocks),
    constant("tied", False),
    constant("head_bias", False),
)
VISION = (
    HIDDEN.with_default(1024),
    ratio("ratio", "mlp_ratio", 4.0),
    MLP.with_default(lambda c: scale_width(c.hidden, c.ratio)),
    LAYERS.with_default(23),
    HEADS.with_default(16),
    size("channels", "num_channels", 3, "N", "image channels"),
    replace(PATCH, default=20, aliases=("native_patch_size",)),
    replace(SPATIAL_MERGE, default=2, aliases=("adapter_merge_size",)),
    size("grid", "posemb_grid_size", 32, "G", "positions along a side"),
    size("projection", "projection_hidden_dim", 4096, "J", "inner width of the merger"),
    switch("bias", "projector_bias", False),
    size("out", "text_hidden_size", 4608, "O", "hidden size of the text model"),
)
BOTH = (
    model_config("text", "text_config", "inkling2_text", fixed=True),
    model_config("vision", "vision_config", "inkling2_vision", fixed=True),
    constant("tied", False),
)


def body(c: Config) -> tuple[Part, ...]:
    """Describe the text and the image encoder."""
    return as_child("language_model", submodel(c.text)), as_child("vision_tower", submodel(c.vision), requires="images")


TEXT_KEYS = IGNORED_KEYS | frozenset(
    """log_scaling_alpha log_scaling_n_floor mlp_gate_softcap mlp_up_softcap model_max_length
    number_of_conv_states qk_l2_clip_threshold rel_l2_clip_threshold route_scale tie_word_embeddings unpadded_vocab_size""".split()
)
FAMILIES = {
    "inkling2_text": Family("inkling2_text", TEXT, with_heads("Inkling2", text, "lm", base="TextModel"), "Inkling2TextModel", TEXT_KEYS),
    "inkling2_vision": Family(
        "inkling2_vision", VISION, {"Inkling2VisionModel": vision}, "Inkling2VisionModel", frozenset({"layer_scale_init_value"})
    ),
    "inkling2": Family(
        "inkling2",
        BOTH,
        {"Inkling2Model": without_head(body), "Inkling2ForConditionalGeneration": with_lm_head(body)},
        "Inkling2Model",
        VISION_IGNORED_KEYS | {"tie_word_embeddings"},
    ),
}
