"""LongCat-Flash: two attention blocks and two MLPs per layer, and a mixture of experts some of which are the identity.

Source: arXiv 2509.01322; class and tensor names as in transformers 5.23.0, models/longcat_flash/modeling_longcat_flash.py. How many of
the experts that a token is sent to do nothing depends on the token, and so does the arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.mixtures.deepseek import LATENT, latent_attention, latent_fields
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.mixture_of_experts import EXPERTS
from weighbridge.config.family import Family
from weighbridge.config.fields import Q_LORA_RANK, Config, computed, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, gated_mlp, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def longcat(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of everything twice, and a last norm."""
    H = c.hidden
    norms = (rms_norm("input_layernorm", H, repeat=2), rms_norm("post_attention_layernorm", H, repeat=2))
    layer = part(
        "layers",
        mixture(c),
        replace(latent_attention(c), repeat=2),
        gated_mlp("mlps", H, c.mlp, repeat=2),
        *norms,
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


def mixture(c: Config) -> Part:
    """Describe experts and router; the experts that do nothing have rows in the first matrix all the same."""
    H, I, rows = c.hidden, c.expert_mlp, c.experts + c.idle
    correction = Tensor("e_score_correction_bias", (rows,), "buffer")
    experts = (
        expert_matrix(Tensor("gate_up_proj", (rows, 2 * I, H)), rows, c.active),
        expert_matrix(Tensor("down_proj", (c.experts, H, I)), c.experts, c.active),
    )
    return part(
        "mlp",
        part("experts", *experts, kind="experts", stream=unknown("LongCat sends a varying number of tokens to zero-computation experts")),
        part("router", correction, linear("classifier", H, rows, bias=c.router_bias), kind="router"),
        kind="mixture",
    )


def expert_matrix(matrix: Tensor, experts: Size, active: Size) -> Part:
    """Describe one matrix of all experts, of which a token sees at most a few."""
    return part("", matrix, kind="experts", experts=experts, active=active)


def _refuse_head_mismatch(c: Config) -> bool:
    if c.qk_dim != c.plain_dim + c.rope_dim:
        raise ConfigError(
            Text("the two parts of a head are {plain_dim} and {rope_dim} wide", plain_dim=c.plain_dim, rope_dim=c.rope_dim),
            key="qk_head_dim",
            value=c.qk_dim,
        )
    return True


LONGCAT = variant(
    (
        *(field for field in LATENT if field.word not in ("shared_experts", "shared_mlp", "block")),
        *latent_fields(q=1536, kv=512, plain=128, rope=64, value=128),
    ),
    size("qk_dim", "qk_head_dim", lambda c: c.plain_dim + c.rope_dim, "Y", "head dimension"),
    computed("joined", _refuse_head_mismatch),
    size("idle", "zero_expert_num", 256, "Z", "zero-computation experts", minimum=0),
    NO_MLP_BIAS,
    vocab=131072,
    hidden=6144,
    heads=64,
    layers=size("layers", "num_layers", 28, "L", "layers"),
    mlp=size("mlp", "ffn_hidden_size", 12288, "I", "intermediate size", "intermediate_size"),
    experts=EXPERTS.with_default(512),
    active=size("active", "moe_topk", 12, "k", "experts per token", "num_experts_per_tok"),
    expert_mlp=size("expert_mlp", "expert_ffn_hidden_size", 2048, "M", "intermediate size of an expert", "moe_intermediate_size"),
    q_lora=Q_LORA_RANK.with_default(1536),
    router_bias=switch("router_bias", "router_bias", False),
)


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Take layers from the number of attentions, of which a layer has two; the class sets that last.

    >>> normalize_config({"num_layers": 28, "num_hidden_layers": 6})
    {'num_layers': 3}
    """
    if "num_hidden_layers" not in raw:
        return dict(raw)
    attentions = raw["num_hidden_layers"]
    if type(attentions) is not int:
        raise ConfigError("expected a whole number", key="num_hidden_layers", value=attentions)
    return {**{key: value for key, value in raw.items() if key != "num_hidden_layers"}, "num_layers": attentions // 2}


MORE_IGNORED_KEYS = IGNORED_KEYS | {"head_dim", "num_key_value_heads"}
FAMILIES = {
    "longcat_flash": Family(
        "longcat_flash",
        LONGCAT,
        with_heads("LongcatFlash", longcat, "lm"),
        "LongcatFlashModel",
        MORE_IGNORED_KEYS,
        normalize_config=normalize_config,
    )
}
