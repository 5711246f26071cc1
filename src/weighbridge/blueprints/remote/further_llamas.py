"""Llama's layers under other model types: TeleChat 3, K2-Horizon, SDAR, Nanbeige's and Ouro's loops, IQuest's LoopCoder, the first PLaMo and Youtu-LLM.

Their code stands beside their files.

Source: modeling_telechat3.py of Tele-AI/TeleChat3-36B-Thinking, modeling_nanbeige.py of Nanbeige, modeling_iquestloopcoder.py of
IQuestLab/IQuest-Coder-V1-40B-Loop-Instruct, modeling_plamo.py of pfnet/plamo-13b, modeling_youtu.py of tencent/Youtu-LLM-2B, which is
DeepSeek-V3's attention without experts. Held tensor by tensor to the classes of mlx-lm 0.32.2, and of mlx-vlm 0.7.10 for K2-Horizon; SDAR (arXiv 2510.06303), which
is Qwen3 and writes blocks at once, and Ouro (arXiv 2510.25741; modeling_ouro.py of ByteDance/Ouro-1.4B) to the totals of their files (8,190,735,360; 1,434,652,673).
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, QWEN3, llama
from weighbridge.blueprints.mixtures.deepseek import DENSE, LATENT, MORE_IGNORED_KEYS, deepseek, latent_fields
from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, NO_BIAS, NO_MLP_BIAS, attention, with_heads
from weighbridge.blueprints.modules.words import read_none
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, constant, derived, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, gated_mlp, linear, part, replace, rms_norm
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LOOPED = unknown("the arithmetic of layers that are run again is not held to a live class")


def looped(c: Config) -> tuple[Node, ...]:
    """Describe Llama's layers, which the states may go through several times."""
    return tuple(_in_a_loop(child) for child in llama(c)) if c.again else llama(c)


def _in_a_loop(child: Node) -> Node:
    return replace(child, stream=LOOPED) if isinstance(child, Part) and child.kind == "layer" else child


def ouro(c: Config) -> tuple[Node, ...]:
    """Describe Llama's layers with a norm behind each half as well, gone through several times, and what says when to stop."""
    return (*looped(c), linear("early_exit_gate", c.hidden, 1, stream=LOOPED))


def loop_coder(c: Config) -> tuple[Node, ...]:
    """Describe Llama's layers, gone through twice, and gates that mix what the second pass sees near by with the first one's keys and values."""
    gate = part(
        "gate_projections",
        Tensor("weight", (c.heads, c.head_dim), "gain"),
        Tensor("bias", (c.heads,), "bias"),
        kind="gate",
        repeat=c.layers,
        stream=LOOPED,
    )
    return (*looped(c), gate)


def plamo(c: Config) -> tuple[Node, ...]:
    """Describe layers whose attention and MLP see the same states, inside a module of their own."""
    H = c.hidden
    layer = part("layers", attention(c), gated_mlp("mlp", H, c.mlp), rms_norm("norm", H), kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab, H), part("layers", layer), rms_norm("norm", H))


def _passes(c: Config) -> bool:
    """Say whether the states go through the layers more than once: the weights of further losses count the passes, or a key does."""
    return len(c.losses) > 0 if c.losses else c.passes != 1


NANBEIGE = (
    *LLAMA,
    choice("passes", "num_loops", 1, report_default=False),
    choice("losses", "loop_loss_weights", None, report_default=False),
    *(read_none(key) for key in ("enable_double_loop_split", "loop_share_kv", "enable_depth_attention")),
    constant("again", _passes),
)
OURO = (
    *variant(
        LLAMA,
        *NO_BIAS,
        vocab=49152,
        hidden=2048,
        mlp=5632,
        layers=24,
        heads=16,
        norms=("input_layernorm", "input_layernorm_2", "post_attention_layernorm", "post_attention_layernorm_2"),
    ),
    choice("passes", "total_ut_steps", 4, report_default=False),
    constant("again", lambda c: c.passes != 1),
)
K2 = variant(LLAMA, NO_MLP_BIAS, vocab=250624, mlp=12288, layers=36, kv_heads=8, head_dim=128)
LOOP_CODER = (
    *variant(LLAMA, vocab=76800, hidden=5120, mlp=27648, layers=80, heads=40, kv_heads=8, head_dim=128),
    read_none("loop_num", 2),
    constant("again", True),
)
PLAMO = variant(
    (Field("group", "n_shared_head", 8, "choice"), *FIELDS),
    *NO_BIAS,
    hidden=5120,
    mlp=13824,
    layers=40,
    heads=40,
    vocab=50432,
    head_dim=HEAD_DIM,
    kv_heads=derived("kv_heads", lambda c: (c.heads + c.group - 1) // c.group, "num_attention_heads", "n_shared_head"),
    tied=constant("tied", False),
)
YOUTU = variant(
    LATENT,
    *latent_fields(q=1536, kv=512, plain=128, rope=64, value=128),
    DENSE,
    vocab=128256,
    hidden=2048,
    mlp=6144,
    heads=16,
    tied=True,
)
TYPES = {
    "telechat3": ("TeleChat3", variant(LLAMA, vocab=131072, hidden=6144, mlp=24576, layers=64, heads=48), llama, frozenset[str]()),
    "k2_horizon": ("K2Horizon", K2, llama, frozenset[str]()),
    "sdar": ("SDAR", QWEN3, llama, frozenset({"block_size", "fuse_cross_entropy"})),
    "ouro": ("Ouro", OURO, ouro, frozenset({"early_exit_step", "early_exit_threshold"})),
    "nanbeige": ("Nanbeige", NANBEIGE, looped, frozenset({"skip_loop_final_norm"})),
    "iquestloopcoder": ("IQuestLoopCoder", LOOP_CODER, loop_coder, frozenset({"loop_window_size"})),
    "youtu_llm": ("Youtu", YOUTU, deepseek, MORE_IGNORED_KEYS),
    "plamo": ("Plamo", PLAMO, plamo, frozenset({"tokenizer_class"})),
}
FAMILIES = {
    name: Family(name, fields, with_heads(prefix, body, "lm"), f"{prefix}ForCausalLM", IGNORED_KEYS | more)
    for name, (prefix, fields, body, more) in TYPES.items()
}
FAMILIES["telechat3"] = replace(
    FAMILIES["telechat3"],
    classes={**FAMILIES["telechat3"].classes, "Telechat3ForCausalLM": FAMILIES["telechat3"].classes["TeleChat3ForCausalLM"]},
)


def refuse_experts(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse the models of this type that have experts, whatever they call them: only the dense ones are described.

    >>> refuse_experts({"hidden_size": 8})
    {'hidden_size': 8}
    """
    for key, value in raw.items():
        if value and ("expert" in key or "moe" in key.split("_")):
            raise ConfigError("only the dense models of this type are described", key=key, value=value)
    return dict(raw)


FAMILIES["k2_horizon"] = replace(FAMILIES["k2_horizon"], normalize_config=refuse_experts)
