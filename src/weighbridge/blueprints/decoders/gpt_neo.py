"""GPT-Neo, GPT-J and CodeGen (2021 and 2022): query, key and value projections without biases.

Source: EleutherAI/gpt-neo; kingoflolz/mesh-transformer-jax; class and tensor names as in transformers 5.23.0,
models/gpt_neo/modeling_gpt_neo.py, models/gptj/modeling_gptj.py, models/codegen/modeling_codegen.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HIDDEN,
    LABELS,
    MLP,
    N_EMBD,
    N_HEAD,
    N_INNER,
    N_LAYER,
    NUM_HEADS,
    NUM_LAYERS,
    POSITIONS,
    TIED,
    VOCAB,
    Config,
    Field,
    constant,
    derived,
    size,
    variant,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node

if TYPE_CHECKING:
    from typing import Any

NEO = (
    VOCAB.with_default(50257),
    POSITIONS.with_default(2048),
    HIDDEN.with_default(2048),
    NUM_LAYERS.with_default(24),
    NUM_HEADS.with_default(16),
    MLP.with_default(lambda c: 4 * c.hidden),
    size("window", "window_size", 256, "W", "attention window"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_heads"),
    LABELS,
    TIED,
    Field("kinds", "attention_types", [[["global", "local"], 12]], "choice"),
    constant("windowed", lambda c: _local_layers(c)),
    constant("head_bias", False),
)
J = (
    VOCAB.with_default(50400),
    N_EMBD.with_default(4096),
    N_LAYER.with_default(28),
    N_HEAD.with_default(16),
    N_INNER.with_default(lambda c: 4 * c.hidden),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "n_embd", "n_head"),
    LABELS,
    TIED.with_default(False),
    constant("fused", False),
    constant("head_bias", True),
)


def gpt_neo(c: Config) -> tuple[Node, ...]:
    """Describe GPT-Neo: attention that is alternately global and local, a norm before each half of a layer."""
    H = c.hidden
    inner = part(
        "attention",
        *(linear(name, H, H, bias=False) for name in ("k_proj", "v_proj", "q_proj")),
        linear("out_proj", H, H),
        attend(causal=True, heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = part(
        "h",
        layer_norm("ln_1", H),
        part("attn", inner, kind="self_attention"),
        layer_norm("ln_2", H),
        plain_mlp("mlp", H, c.mlp, ("c_fc", "c_proj"), bias=True),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("wte", c.vocab, H), embedding("wpe", c.positions, H), layer, layer_norm("ln_f", H))


def gptj(c: Config) -> tuple[Node, ...]:
    """Describe GPT-J: rotary positions, attention and MLP in parallel after one norm. CodeGen fuses its three projections."""
    H = c.hidden
    inputs = (("qkv_proj", 3 * H),) if c.fused else (("k_proj", H), ("v_proj", H), ("q_proj", H))
    layer = part(
        "h",
        layer_norm("ln_1", H),
        part(
            "attn",
            *(linear(name, H, width, bias=False) for name, width in inputs),
            linear("out_proj", H, H, bias=False),
            attend(causal=True, heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        plain_mlp("mlp", H, c.mlp, ("fc_in", "fc_out"), bias=True),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("wte", c.vocab, H), layer, layer_norm("ln_f", H))


def _local_layers(c: Config) -> int:
    """Count the layers that attend to a window only; the list must give the kind of every layer."""
    kinds = [kind for group, times in c.kinds for kind in list(group) * times]
    if len(kinds) != c.layers:
        raise ConfigError(
            Text("gives the kinds of {count} layers, but num_layers is {layers}", count=len(kinds), layers=c.layers),
            key="attention_types",
            value=c.kinds,
        )
    return kinds.count("local")


UNDER_TRANSFORMER: dict[str, Any] = {"prefix": "transformer", "table": "wte", "token": "classifier"}
MORE_IGNORED_KEYS = IGNORED_KEYS | {"activation_function", "attention_layers", "embed_dropout", "n_ctx", "n_positions", "resid_dropout"}

FAMILIES = {
    "gpt_neo": Family("gpt_neo", NEO, with_heads("GPTNeo", gpt_neo, **UNDER_TRANSFORMER), "GPTNeoModel", MORE_IGNORED_KEYS),
    "gptj": Family(
        "gptj", J, with_heads("GPTJ", gptj, "lm sequence qa", qa_labels=True, **UNDER_TRANSFORMER), "GPTJModel", MORE_IGNORED_KEYS
    ),
    "codegen": Family(
        "codegen", variant(J, fused=True), with_heads("CodeGen", gptj, "lm", **UNDER_TRANSFORMER), "CodeGenModel", MORE_IGNORED_KEYS
    ),
}
