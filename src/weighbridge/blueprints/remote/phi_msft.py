"""Phi, in the code that Microsoft published beside its files in 2023 (phi-msft), before the reference library had it.

Source: arXiv 2309.05463; modeling_phi.py of microsoft/phi-1_5 and microsoft/phi-2 as of late 2023, whose layers are GPT-2's in name.
Held to published totals, not to a live class; they are those of the reference's own Phi.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import N_EMBD, N_HEAD, N_INNER, N_LAYER, VOCAB, Config, Field, computed, derived, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part


def phi(c: Config) -> tuple[Node, ...]:
    """Describe words and layers in which attention and the MLP read the same norm."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    layer = part(
        "h",
        layer_norm("ln", H),
        part(
            "mixer",
            linear("Wqkv", H, (A + 2 * K) * D),
            linear("out_proj", H, H),
            attend(causal=True, heads=A, kv_heads=K, head_dim=D),
            kind="self_attention",
        ),
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        kind="layer",
        repeat=c.layers,
    )
    return (part("embd", embedding("wte", c.vocab, H), kind="embeddings"), layer)


def causal_lm(c: Config) -> Part:
    """Describe PhiForCausalLM: the last norm belongs to the head, which has a bias."""
    head = part("lm_head", layer_norm("ln", c.hidden), linear("linear", c.hidden, c.vocab), kind="head")
    return part("", part("transformer", *phi(c), kind="backbone"), head, kind="model")


def _refuse_remainder(c: Config) -> bool:
    if c.vocab % c.multiple:
        raise ConfigError(
            Text("the published code rounds it up to a multiple of {multiple}", multiple=c.multiple),
            key="vocab_size",
            value=c.vocab,
            hint="state it rounded",
        )
    return True


def _refuse_tie(value: object) -> object:
    if value:
        raise ConfigError("the published code ties nothing", key="tie_word_embeddings", value=value)
    return value


FIELDS = (
    VOCAB.with_default(51200),
    N_EMBD.with_default(1024),
    N_LAYER.with_default(20),
    N_HEAD.with_default(16),
    size("kv_heads", "n_head_kv", lambda c: c.heads, "K", "key-value heads"),
    N_INNER.with_default(lambda c: 4 * c.hidden),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "n_embd", "n_head"),
    Field("multiple", "pad_vocab_size_multiple", 64, "choice", report_default=False),
    computed("whole", _refuse_remainder),
    Field("shared", "tie_word_embeddings", False, "choice", read=_refuse_tie, report_default=False),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {"activation_function", "flash_attn", "flash_rotary", "fused_dense", "n_positions"}
CLASSES = {"PhiModel": lambda c: part("", *phi(c), kind="model"), "PhiForCausalLM": causal_lm}
FAMILIES = {"phi-msft": Family("phi-msft", FIELDS, CLASSES, "PhiForCausalLM", MORE_IGNORED_KEYS)}
