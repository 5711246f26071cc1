"""Kimi K3 (Moonshot AI, 2026): Kimi Linear whose layers also look back at earlier ones, with a vision tower; its code stands beside its files.

Source: modeling_kimi_k3.py and modeling_kimi_linear.py of moonshotai/Kimi-K3, by the ports of SGLang and llama.cpp, which read its files.
Held to the total of the published files (2,779,931,837,184), not to a live class. ``A_log`` is of the class, a number a head; the files
have it filled up with zeros to the head dimension.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.deepseek import latent_attention, latent_fields
from weighbridge.blueprints.modules.layer_types import kinds_by_number
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image
from weighbridge.blueprints.state_space.kimi_linear import NESTED, chunked_delta_rule
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    LAYERS,
    MLP,
    PATCH,
    VOCAB,
    Config,
    Field,
    choice,
    computed,
    constant,
    nested,
    optional,
    sides,
    size,
    switch,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import merge, product_of, unknown
from weighbridge.core.parts import (
    attend,
    conv2d,
    depthwise,
    embedding,
    gated_mlp,
    layer_norm,
    linear,
    part,
    plain_mlp,
    replace,
    rms_norm,
    stack,
)
from weighbridge.core.sizes import exact, layer_range
from weighbridge.core.tree import Node, Part, State, Tensor

if TYPE_CHECKING:
    from typing import Any

LOOKING_BACK = unknown("how many earlier states the attention residuals weigh is not held to a live class")


def kimi_k3(c: Config) -> Part:
    """Describe the vision tower, the projector, and the language model with its head."""
    text = c.text
    words = part("model", *language(text), kind="backbone")
    head = linear("lm_head", text.hidden, text.vocab, bias=False)
    return part(
        "",
        per_image(replace(tower(c.vision), name="vision_tower")),
        per_image(projector(c.vision)),
        part("language_model", words, head, kind="text"),
        kind="model",
    )


def language(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds of attention and of MLP, and what weighs earlier layers' states before the last norm."""
    H = c.hidden

    def layer(kinds: tuple[str, str]) -> tuple[Node, ...]:
        mixer = delta(c) if kinds[0] == "linear_attention" else full(c)
        mlp = mixture(c) if kinds[1] == "sparse" else gated_mlp("mlp", H, c.mlp)
        before, after = rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
        return (mixer, mlp, before, after, *looks_back(c, "self_attention_res"), *looks_back(c, "mlp_res"))

    kinds = list(zip(c.mixers, c.kinds, strict=True))
    layers = stack("layers", kinds, c.layers, layer)
    return (embedding("embed_tokens", c.vocab, H), *layers, rms_norm("norm", H), *looks_back(c, "output_attn_res"))


def looks_back(c: Config, name: str) -> tuple[Part, ...]:
    """Describe an attention residual: a score for each block of earlier layers, of its normed state."""
    if not c.block:
        return ()
    return rms_norm(f"{name}_norm", c.hidden), linear(f"{name}_proj", c.hidden, 1, bias=False, stream=LOOKING_BACK)


def full(c: Config) -> Part:
    """Describe latent attention, its output gated."""
    gate = (linear("g_proj", c.hidden, c.heads * c.value_dim, bias=False),) if c.gated else ()
    return latent_attention(c, *gate)


def delta(c: Config) -> Part:
    """Describe delta attention with a convolution each for queries, keys and values."""
    H, A, D = c.hidden, c.linear.heads, c.linear.dim
    wide = A * D
    low = (linear("g_a_proj", H, D, bias=False), linear("g_b_proj", D, wide, bias=False))
    return part(
        "self_attn",
        *(linear(f"{name}_proj", H, wide, bias=False) for name in "qkv"),
        *(depthwise(f"{name}_conv1d", wide, c.linear.kernel, bias=False) for name in "qkv"),
        Tensor("A_log", (A,), "gain"),
        Tensor("dt_bias", (wide,), "bias"),
        linear("f_a_proj", H, D, bias=False),
        linear("f_b_proj", D, wide, bias=False),
        linear("b_proj", H, A, bias=False),
        *((linear("g_proj", H, wide, bias=False),) if c.linear.full_rank else low),
        rms_norm("o_norm", D),
        linear("o_proj", wide, H, bias=False),
        chunked_delta_rule(A, D),
        State("recurrent_state", A * D * D, "float32"),
        kind="linear_attention",
    )


def mixture(c: Config) -> Part:
    """Describe the router, experts that work on a narrower state, what narrows and widens it, and the shared experts beside them."""
    H, narrow = c.hidden, c.hidden if c.latent is None else c.latent
    gate = part("gate", Tensor("weight", (c.experts, H)), Tensor("e_score_correction_bias", (c.experts,), "buffer"), kind="linear")
    experts = part(
        "experts",
        linear("w1", narrow, c.expert_mlp, bias=False),
        linear("w2", c.expert_mlp, narrow, bias=False),
        linear("w3", narrow, c.expert_mlp, bias=False),
        kind="experts",
        repeat=c.experts,
        experts=c.experts,
        active=c.active,
    )
    shared = (gated_mlp("shared_experts", H, c.shared_experts * c.expert_mlp),) if c.sharing else ()
    if c.latent is None:
        return part("block_sparse_moe", gate, experts, *shared, kind="mixture")
    between = (rms_norm("routed_expert_norm", narrow),) if c.normed else ()
    down, up = linear("routed_expert_down_proj", H, narrow, bias=False), linear("routed_expert_up_proj", narrow, H, bias=False)
    return part("block_sparse_moe", gate, experts, *shared, down, *between, up, kind="mixture")


def tower(c: Config) -> Part:
    """Describe the vision tower: patches, a table of positions that is stretched over the image, layers, a norm."""
    H = c.hidden
    positions = part("pos_emb", Tensor("weight", (c.tall, c.broad, H), "embedding"), kind="embeddings")
    patch = part("patch_embed", conv2d("proj", 3, H, c.patch, bias=c.patch_bias), positions, kind="embeddings")

    def norm(name: str) -> Part:
        return rms_norm(name, H) if c.rms else layer_norm(name, H)

    block = part(
        "blocks",
        norm("norm0"),
        norm("norm1"),
        plain_mlp("mlp", H, c.mlp, ("fc0", "fc1"), bias=c.mlp_bias),
        linear("wqkv", H, 3 * c.inner, bias=c.attention_bias),
        linear("wo", c.inner, H, bias=c.attention_bias),
        attend(heads=c.heads, head_dim=exact(c.inner, c.heads)),
        kind="layer",
        repeat=c.layers,
    )
    encoder = part("encoder", block, norm("final_layernorm"), kind="encoder")
    return part("", patch, encoder, kind="vision", stream=PATCHES)


def projector(c: Config) -> Part:
    """Describe two linear layers over squares of patches, and a norm."""
    wide = c.projected * c.merge_height * c.merge_width
    merged = product_of(merge("rows", c.merge_height), merge("columns", c.merge_width))
    layers = part("proj", linear("0", wide, wide, bias=False), linear("2", wide, c.text_hidden, bias=False), kind="feed_forward")
    return part("mm_projector", layers, rms_norm("post_norm", c.text_hidden), kind="projector", stream=merged)


def _mixers(c: Config) -> list[Any]:
    named = {"full_attn_layers": ("full_attention", c.linear.full or ()), "kda_layers": ("linear_attention", c.linear.delta or ())}
    found = kinds_by_number(c, named, "linear_attn_config.")
    if None in found:
        number = found.index(None) + 1
        raise ConfigError(
            "a layer in neither list", key="linear_attn_config.full_attn_layers", value=number, hint="name every layer in one"
        )
    return found


def _mlps(c: Config) -> list[str]:
    return ["sparse" if index >= c.dense and index % c.step == 0 else "dense" for index in layer_range(c.layers)]


def _is_rms(value: object) -> bool:
    if value not in ("rmsnorm", "layernorm"):
        raise ConfigError("only rmsnorm and layernorm are described", key="vision_config.norm_type", value=value)
    return value == "rmsnorm"


LINEAR = replace(NESTED, fields=(*NESTED.fields, switch("full_rank", "use_full_rank_gate", False)))
TEXT = (
    VOCAB.with_default(163840),
    HIDDEN.with_default(7168),
    MLP.with_default(33792),
    LAYERS.with_default(93),
    HEADS.with_default(96),
    *latent_fields(q=1536, kv=512, plain=128, rope=64, value=128),
    constant("qkv_bias", False),
    constant("out_bias", False),
    LINEAR,
    size("experts", "num_experts", 896, "E", "routed experts"),
    size("active", "num_experts_per_token", 16, "k", "experts per token"),
    size("shared_experts", "num_shared_experts", 2, "N", "shared experts", minimum=0),
    computed("sharing", lambda c: c.shared_experts > 0),
    size("expert_mlp", "moe_intermediate_size", 3072, "M", "intermediate size of an expert"),
    optional("latent", "routed_expert_hidden_size", None, "W", "width that experts work in"),
    switch("normed", "latent_moe_use_norm", False),
    switch("gated", "mla_use_output_gate", False),
    choice("block", "attn_res_block_size", None),
    Field("dense", "first_k_dense_replace", 1, "choice"),
    Field("step", "moe_layer_freq", 1, "choice"),
    constant("mixers", _mixers),
    constant("kinds", _mlps),
)
VISION = (
    size("hidden", "vt_hidden_size", 1024, "H", "hidden size"),
    size("mlp", "vt_intermediate_size", 4096, "I", "intermediate size"),
    size("heads", "vt_num_attention_heads", 12, "A", "attention heads"),
    size("layers", "vt_num_hidden_layers", 27, "L", "layers"),
    size("inner", "qkv_hidden_size", lambda c: c.hidden, "D", "width of queries, keys and values"),
    PATCH.with_default(14),
    size("tall", "init_pos_emb_height", 64, "Y", "rows of the table of positions"),
    size("broad", "init_pos_emb_width", 64, "X", "columns of the table of positions"),
    *sides("merge", "merge_kernel_size", 2, "M", "patches merged along an axis"),
    size("projected", "mm_hidden_size", lambda c: c.hidden, "E", "width that the projector takes"),
    size("text_hidden", "text_hidden_size", 7168, "T", "hidden size of the text"),
    switch("patch_bias", "patch_embed_proj_bias", True),
    switch("attention_bias", "attn_bias", True),
    switch("mlp_bias", "linear_bias", True),
    choice("rms", "norm_type", "layernorm", read=_is_rms),
)
FIELDS = (nested("text", "text_config", TEXT), nested("vision", "vision_config", VISION))

MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """image_placeholder media_placeholder_token_id activation_situ_beta activation_situ_linear_beta mla_use_nope moe_renormalize
    moe_router_activation_func num_expert_group num_nextn_predict_layers routed_scaling_factor topk_group topk_method use_grouped_topk
    activation_func init_pos_emb_time merge_type mlp_type mm_projector_type pos_emb_interpolation_mode pos_emb_type projector_ln_eps
    gate_lower_bound num_key_value_heads hidden_act tie_word_embeddings
    add_cross_attention is_decoder max_position_embeddings""".split()
)
CLASS = "KimiK3ForConditionalGeneration"
FAMILIES = {"kimi_k3": Family("kimi_k3", FIELDS, {CLASS: kimi_k3}, CLASS, MORE_IGNORED_KEYS)}
