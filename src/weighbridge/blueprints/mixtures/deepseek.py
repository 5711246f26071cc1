"""DeepSeek-V2 and V3: multi-head latent attention and fine-grained experts (DeepSeek-AI, 2024); and models with the same attention.

Source: arXiv 2405.04434, section 2.1; 2412.19437, section 2; class and tensor names as in transformers 5.23.0,
models/deepseek_v2/modeling_deepseek_v2.py and models/deepseek_v3/modeling_deepseek_v3.py. The published V3 file has one layer
more (``num_nextn_predict_layers``), which predicts further tokens and which the class ignores.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.layer_types import dense_before, first_dense, legacy_sparse_step, listed_or
from weighbridge.blueprints.modules.mixture_of_experts import EXPERT_MLP, EXPERTS, MIXTURE, SHARED, mlp
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, optional, size, switch, variant
from weighbridge.core.parts import attend, embedding, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part


def deepseek(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of latent attention and an MLP or experts, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        return (latent_attention(c), mlp(c, kind), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def latent_attention(c: Config, *after: Part, cached: Size = 0) -> Part:
    """Describe attention whose keys and values are kept compressed: the cache holds the latent and the rotary part once for all heads.

    Args:
        after: Further parts, after the output.
        cached: What they keep for each token.
    """
    H, A, width = c.hidden, c.heads, c.plain_dim + c.rope_dim
    if c.q_lora is None:
        queries: tuple[Part, ...] = (linear("q_proj", H, A * width, bias=False),)
    else:
        queries = (
            linear("q_a_proj", H, c.q_lora, bias=c.qkv_bias),
            rms_norm("q_a_layernorm", c.q_lora),
            linear("q_b_proj", c.q_lora, A * width, bias=False),
        )
    return part(
        "self_attn",
        *queries,
        linear("kv_a_proj_with_mqa", H, c.kv_lora + c.rope_dim, bias=c.qkv_bias),
        rms_norm("kv_a_layernorm", c.kv_lora),
        linear("kv_b_proj", c.kv_lora, A * (c.plain_dim + c.value_dim), bias=False),
        linear("o_proj", A * c.value_dim, H, bias=c.out_bias),
        *after,
        attend(causal=True, heads=A, head_dim=width, value_dim=c.value_dim, cache=c.kv_lora + c.rope_dim + cached),
        kind="latent_attention",
    )


def latent_fields(*aliases: str, q: int, kv: int, plain: int, rope: int, value: object) -> tuple[Field, ...]:
    """Declare the widths of latent attention; *aliases* are other keys of the width with rotary positions."""
    return (
        optional("q_lora", "q_lora_rank", q, "Q", "rank of the queries"),
        size("kv_lora", "kv_lora_rank", kv, "R", "rank of keys and values"),
        size("plain_dim", "qk_nope_head_dim", plain, "P", "head dimensions without rotary positions"),
        size("rope_dim", "qk_rope_head_dim", rope, "O", "head dimensions with rotary positions", *aliases),
        size("value_dim", "v_head_dim", value, "U", "value head dimension"),  # type: ignore[arg-type]
    )


LATENT = tuple(field for field in (*FIELDS, *MIXTURE) if field.word not in ("head_dim", "kv_heads", "kinds"))
DENSE = constant("kinds", ("dense",))
SPARSE = (EXPERT_MLP, SHARED, constant("block", "experts gate shared_experts"))
V3_BLOCK = "experts corrected_gate shared_experts"

TYPES: dict[str, tuple[str, str, tuple[Field, ...]]] = {
    "deepseek_v2": (
        "DeepseekV2",
        "lm sequence",
        variant(
            LATENT,
            *latent_fields(q=1536, kv=512, plain=128, rope=64, value=128),
            *first_dense(0),
            *SPARSE,
            vocab=102400,
            experts=replace(EXPERTS, aliases=("num_experts",)),
            active=None,
            expert_mlp=1407,
            shared_experts=2,
        ),
    ),
    "deepseek_v3": (
        "DeepseekV3",
        "lm sequence token",
        variant(
            LATENT,
            *latent_fields(q=1536, kv=512, plain=128, rope=64, value=128),
            *first_dense(3),
            *SPARSE,
            NO_MLP_BIAS,
            vocab=129280,
            hidden=7168,
            mlp=18432,
            layers=61,
            heads=128,
            experts=replace(EXPERTS, default=256, aliases=("num_local_experts",)),
            active=8,
            expert_mlp=2048,
            block=V3_BLOCK,
        ),
    ),
    "mistral4": (
        "Mistral4",
        "lm sequence token",
        variant(
            LATENT,
            *latent_fields(q=1024, kv=256, plain=64, rope=64, value=128),
            *first_dense(0),
            *SPARSE,
            NO_MLP_BIAS,
            vocab=131072,
            mlp=12288,
            layers=36,
            experts=replace(EXPERTS, default=128, aliases=("num_local_experts",)),
            active=4,
            expert_mlp=2048,
        ),
    ),
    "axk1": (
        "AXK1",
        "lm sequence token",
        variant(
            LATENT,
            *latent_fields(q=1536, kv=512, plain=128, rope=64, value=128),
            *legacy_sparse_step(1, longer=True),
            *SPARSE,
            NO_MLP_BIAS,
            vocab=163840,
            hidden=7168,
            mlp=18432,
            layers=61,
            heads=64,
            experts=replace(EXPERTS, default=192, aliases=("num_local_experts",)),
            active=8,
            expert_mlp=2048,
            block=V3_BLOCK + " post_norm",
        ),
    ),
    "glm4_moe_lite": (
        "Glm4MoeLite",
        "lm",
        variant(
            LATENT,
            *latent_fields("head_dim", q=768, kv=512, plain=192, rope=64, value=256),
            *listed_or(lambda c: dense_before(c, 1), longer=True),
            *SPARSE,
            NO_MLP_BIAS,
            vocab=154880,
            hidden=2048,
            mlp=10240,
            layers=47,
            heads=20,
            experts=replace(EXPERTS, aliases=("num_local_experts",)),
            active=4,
            expert_mlp=1536,
            block=V3_BLOCK,
        ),
    ),
    "minicpm3": (
        "MiniCPM3",
        "lm sequence",
        variant(
            LATENT,
            *latent_fields(q=768, kv=256, plain=64, rope=32, value=lambda c: c.hidden // c.heads),
            DENSE,
            vocab=73448,
            hidden=2560,
            mlp=6400,
            layers=62,
            heads=40,
            tied=True,
            mlp_bias=switch("mlp_bias", "mlp_bias", False),
        ),
    ),
    "youtu": (
        "Youtu",
        "lm",
        variant(
            LATENT,
            *latent_fields(q=1536, kv=512, plain=128, rope=64, value=128),
            DENSE,
            NO_MLP_BIAS,
            vocab=128256,
            hidden=2048,
            mlp=6144,
            heads=16,
            tied=True,
        ),
    ),
}

MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """aux_loss_alpha dim_model_base ep_size head_dim moe_layer_freq n_group num_key_value_heads num_mtp_layers
    num_nextn_predict_layers qk_head_dim rope_interleave routed_scaling_factor scale_depth scale_emb scoring_func seq_aux
    topk_method""".split()
)

FAMILIES = {
    model_type: Family(model_type, fields, with_heads(name, deepseek, having), name + "Model", MORE_IGNORED_KEYS)
    for model_type, (name, having, fields) in TYPES.items()
}
