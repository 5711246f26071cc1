"""DBRX: "Introducing DBRX: A New State-of-the-Art Open LLM" (Databricks Mosaic Research, 2024).

Source: class and tensor names as in transformers 5.23.0, models/dbrx/modeling_dbrx.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, default_head_dim, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import D_MODEL, VOCAB, AtInit, Config, Field, choice, constant, derived, nested, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.tree import Node, Part, Tensor


def dbrx(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of attention and experts whose norms have no shift, and a last norm."""
    H = c.hidden
    layer = part(
        "blocks",
        part(
            "norm_attn_norm",
            layer_norm("norm_1", H, bias=False),
            attention(c),
            layer_norm("norm_2", H, bias=False),
        ),
        part("ffn", part("router", linear("layer", H, c.ffn.experts, bias=False), kind="router"), experts(c), kind="mixture"),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("wte", c.vocab, H), layer, layer_norm("norm_f", H, bias=False))


def attention(c: Config) -> Part:
    """Describe attention whose queries, keys and values come from one layer; they are clipped, which takes no parameters."""
    H, K, D = c.hidden, c.attn.kv_heads, c.head_dim
    return part(
        "attn",
        linear("Wqkv", H, H + 2 * K * D, bias=False),
        linear("out_proj", H, H, bias=False),
        attend(causal=True, heads=c.heads, kv_heads=K, head_dim=D),
        kind="self_attention",
        stream=None if c.attn.clipped else unknown("DBRX runs only with clip_qkv: without it, there is nothing to clip to"),
    )


def experts(c: Config) -> Part:
    """Describe the experts: their matrices stand one below another, all three kinds as ``[experts * inner, hidden]``."""
    E, rows = c.ffn.experts, c.ffn.experts * c.ffn.expert_mlp
    matrices = (Tensor(name, (rows, c.hidden), "weight", inputs_first=name == "w2") for name in ("w1", "v1", "w2"))
    return part("experts", part("mlp", *matrices, kind="experts", experts=E, active=c.ffn.active), kind="experts")


def refuse_tied(tied: bool) -> bool:
    """Refuse a head that shares the embeddings, as the config class does."""
    if tied:
        raise ConfigError("the head of this class shares no embeddings", key="tie_word_embeddings", value=tied, hint="set it to false")
    return tied


def refuse_missing_theta(_: Config) -> None:
    """Refuse a config without a base of the rotary positions: the class asks for one, and its config class has none."""
    raise ConfigError("the config does not state it, and the reference has no default that builds", key="attn_config.rope_theta")


def refuse_two_widths(c: Config) -> bool:
    """Refuse another name of the width that says another: the experts have it from ``d_model``, and the class would not run."""
    if c.expert_hidden != c.hidden:
        text = Text("the experts have the width of d_model ({width:,}), the other layers this one", width=c.expert_hidden)
        raise ConfigError(text, key="hidden_size", value=c.hidden, hint="state d_model alone")
    return True


ATTENTION = (
    size("kv_heads", "kv_n_heads", 1, "K", "key-value heads"),
    Field("theta", "rope_theta", refuse_missing_theta, "choice", nullable=True),
    choice("clipped", "clip_qkv", False, read=lambda limit: limit is not False, report_default=False),
)


def activation(value: object) -> object:
    """Take the activation function, which the class wants by its name in an object."""
    if value is not None and not isinstance(value, dict):
        raise ConfigError("the class wants an object with a name here", key="ffn_config.ffn_act_fn", value=value)
    return value


EXPERTS = (
    choice("activation", "ffn_act_fn", None, read=activation, report_default=False),
    size("expert_mlp", "ffn_hidden_size", 3584, "M", "intermediate size of an expert"),
    size("experts", "moe_num_experts", 4, "E", "experts"),
    size("active", "moe_top_k", 1, "k", "experts per token"),
)
FIELDS = (
    VOCAB.with_default(32000),
    D_MODEL.with_default(2048),
    Field("expert_hidden", "", AtInit(lambda c: c.hidden), "choice", report_default=False),
    constant("agreed", refuse_two_widths),
    size("layers", "n_layers", 24, "L", "layers", "num_hidden_layers"),
    size("heads", "n_heads", 16, "A", "attention heads", "num_attention_heads"),
    constant("heads_divide", lambda c: c.hidden % c.heads == 0),
    derived("head_dim", default_head_dim, "d_model", "n_heads"),
    nested("attn", "attn_config", ATTENTION),
    nested("ffn", "ffn_config", EXPERTS),
    choice("said_tied", "tie_word_embeddings", False, read=refuse_tied),
    constant("tied", False),
    constant("head_bias", False),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | set(
    """attn_pdrop clip_qkv emb_pdrop ffn_act_fn max_seq_len moe_jitter_eps moe_loss_weight moe_normalize_expert_weights num_key_value_heads
    resid_pdrop""".split()
)
CLASSES = with_heads("Dbrx", dbrx, "lm", prefix="transformer", table="wte")
FAMILIES = {"dbrx": Family("dbrx", FIELDS, CLASSES, "DbrxModel", MORE_IGNORED_KEYS)}
