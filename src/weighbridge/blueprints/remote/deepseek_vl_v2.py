"""DeepSeek-VL2: SigLIP's tower over tiles, a projector that merges squares of patches, and DeepSeek's mixtures of experts; its code stands beside its files.

Source: arXiv 2412.10302; modeling_deepseek_vl_v2.py, siglip_vit.py and modeling_deepseek.py of deepseek-ai/DeepSeek-VL2. Held tensor by tensor to the
classes of mlx-vlm 0.7.10, models/deepseek_vl_v2, which reads its files.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.deepseek import latent_attention
from weighbridge.blueprints.modules.causal_lm import attention
from weighbridge.blueprints.modules.words import one_of
from weighbridge.blueprints.remote.deepseek_moe import DEEPSEEK, mixture
from weighbridge.config.family import Family
from weighbridge.config.fields import PATCH, Config, choice, computed, nested, optional, size, switch, variant
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, conv2d, embedding, gated_mlp, layer_norm, linear, part, plain_mlp, replace, rms_norm, stack
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

TILES = unknown("how many tiles an image is cut into depends on its sides")


def language(c: Config, name: str = "language") -> Part:
    """Describe DeepseekV2ForCausalLM of this code under a name: latent attention, or plain attention in the smallest; experts of their own matrices."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        attends = latent_attention(c) if c.latent else attention(c)
        mlp = with_correction(c, mixture(c)) if kind == "sparse" else gated_mlp("mlp", H, c.mlp)
        return (attends, mlp, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    words = embedding("embed_tokens", c.vocab, H)
    layers = stack("layers", c.kinds, c.layers, layer)
    body = part("model", words, *layers, rms_norm("norm", H), kind="backbone")
    tied = f"{name}.model.embed_tokens.weight".removeprefix(".") if c.tied else None
    return part(name, body, linear("lm_head", H, c.vocab, bias=False, tied_to=tied), kind="text")


def with_correction(c: Config, module: Part) -> Part:
    """Give the router the correction of its scores, where experts are chosen without a loss that balances them."""
    if c.method != "noaux_tc":
        return module
    bias = Tensor("e_score_correction_bias", (c.experts,), "bias")
    gate = part("gate", Tensor("weight", (c.experts, c.hidden)), bias, kind="linear")
    return replace(
        module, children=tuple(gate if child == linear("gate", c.hidden, c.experts, bias=False) else child for child in module.children)
    )


def attention_pool(c: Config) -> Part:
    """Describe the pooling query, which is in the files and which images do not go through."""
    W = c.hidden
    return part(
        "attn_pool",
        Tensor("latent", (1, 1, W), "embedding"),
        linear("q", W, W),
        linear("kv", W, 2 * W),
        linear("proj", W, W),
        layer_norm("norm", W),
        plain_mlp("mlp", W, c.mlp, ("fc1", "fc2"), bias=True),
        kind="pooler",
        stream=0,
    )


def vision(c: Config) -> Part:
    """Describe the tower under timm's names."""
    W, side = c.hidden, c.image // c.patch
    attends = part(
        "attn", linear("qkv", W, 3 * W), linear("proj", W, W), attend(heads=c.heads, head_dim=exact(W, c.heads)), kind="self_attention"
    )
    block = part(
        "blocks",
        layer_norm("norm1", W),
        attends,
        layer_norm("norm2", W),
        plain_mlp("mlp", W, c.mlp, ("fc1", "fc2"), bias=True),
        kind="layer",
        repeat=c.layers,
    )
    return part(
        "vision",
        Tensor("pos_embed", (1, side * side, W), "embedding"),
        part("patch_embed", conv2d("proj", 3, W, c.patch), kind="embeddings"),
        block,
        layer_norm("norm", W),
        attention_pool(c),
        kind="vision",
    )


def projector(c: Config) -> Part:
    """Describe the maps from patches to words."""
    inputs, outputs, inner = c.inputs, c.outputs, c.outputs * c.ratio
    wide = inputs * c.down * c.down
    widths: list[tuple[Size, Size]]
    if c.kind == "identity":
        widths = []
    elif c.kind == "linear":
        widths = [(inputs, outputs)]
    elif c.kind == "mlp_gelu":
        widths = [(inputs, outputs), *[(outputs, outputs)] * (c.depth - 1)]
    else:
        widths = [(wide, inner), *[(inner, inner)] * (c.depth - 2), (inner, outputs)]
    maps = (linear("" if c.kind == "linear" else str(2 * index), *pair) for index, pair in enumerate(widths))
    pooling = (linear("token_pooling_layer", 4 * inputs, inputs),) if c.pooling else ()
    return part("projector", part("layers", *maps, kind="projector"), *pooling, kind="projector")


def deepseek_vl_v2(c: Config) -> Part:
    """Describe DeepseekVLV2ForCausalLM; two learned vectors end rows of tiles and part the whole image from its tiles."""
    images = (
        replace(module, stream=TILES, requires="images", executions="images") for module in (vision(c.vision), projector(c.projector))
    )
    marks = (Tensor(name, (c.projector.outputs,), "embedding") for name in ("image_newline", "view_seperator"))
    return part("", *images, *marks, language(c.text), kind="model")


TEXT = variant(
    DEEPSEEK,
    switch("latent", "use_mla", True),
    optional("q_lora", "q_lora_rank", 1536, "Q", "rank of the queries"),
    optional("kv_lora", "kv_lora_rank", 512, "R", "rank of keys and values"),
    size("plain_dim", "qk_nope_head_dim", 128, "P", "head dimensions without rotary positions", minimum=0),
    size("rope_dim", "qk_rope_head_dim", 64, "O", "head dimensions with rotary positions", minimum=0),
    size("value_dim", "v_head_dim", 128, "U", "value head dimension", minimum=0),
    choice("method", "topk_method", "greedy", report_default=False),
    layers=30,
    shared_experts=size("shared_experts", "n_shared_experts", 2, "N", "shared experts"),
    expert_mlp=1407,
)
VISION = (
    size("hidden", "width", 1152, "W", "width"),
    size("layers", "layers", 27, "L", "layers"),
    size("heads", "heads", 16, "A", "attention heads", "num_attention_heads"),
    size("image", "image_size", 384, "R", "image size"),
    PATCH.with_default(14),
    choice("ratio", "mlp_ratio", 3.7362),
    computed("mlp", lambda c: int(c.hidden * c.ratio)),
)
PROJECTOR = (
    choice(
        "kind",
        "projector_type",
        "downsample_mlp_gelu",
        read=one_of("projector_type", "downsample_mlp_gelu", "mlp_gelu", "linear", "identity"),
    ),
    size("inputs", "input_dim", 1152, "D", "width of the tower"),
    size("outputs", "n_embed", 2048, "H", "width of the words"),
    choice("depth", "depth", 2),
    size("ratio", "mlp_ratio", 1, "X", "how much wider the inner layer is"),
    size("down", "downsample_ratio", 2, "M", "patches merged along an axis"),
    switch("pooling", "token_pooling", False),
)
FIELDS = (
    nested("text", "language_config", TEXT),
    nested("vision", "vision_config", VISION),
    nested("projector", "projector_config", PROJECTOR),
    choice("tag", "tile_tag", "2D", read=one_of("tile_tag", "2D")),
)
KEYS = frozenset(
    """aux_loss_alpha scoring_func seq_aux ep_size n_group topk_group norm_topk_prob routed_scaling_factor max_position_embeddings
    candidate_resolutions global_view_pos cls params model_name model_type head_dim tie_word_embeddings lm_head rm_head attention_bias
    class_token global_pool ignore_head weight_init num_classes deterministic num_recomputing_layers""".split()
)
CLASS = "DeepseekVLV2ForCausalLM"
FAMILIES = {"deepseek_vl_v2": Family("deepseek_vl_v2", FIELDS, {CLASS: deepseek_vl_v2}, CLASS, KEYS)}
