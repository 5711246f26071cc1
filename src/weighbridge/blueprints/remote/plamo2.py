"""PLaMo 2 (Preferred Networks, 2025): Samba's pairs of a state space and attention, with norms around both halves of a layer.

Source: names and keys as in modeling_plamo.py of pfnet/plamo-2-1b. Held to mlx-lm's live class, tensor by tensor.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MAMBA_D_CONV,
    MAMBA_D_STATE,
    MLP,
    TIED,
    VOCAB,
    Config,
    Field,
    constant,
    derived,
    size,
)
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, depthwise, embedding, linear, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, State, Tensor


def plamo2(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of a state space or of attention, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mixer = attention(c) if kind == "attention" else state_space(c)
        up = linear("gate_up_proj", H, 2 * c.mlp, bias=False)
        mlp = part("mlp", up, linear("down_proj", c.mlp, H, bias=False), kind="feed_forward")
        norms = (f"{side}_{half}_norm" for half in ("mixer", "mlp") for side in ("pre", "post"))
        return (mixer, mlp, *(rms_norm(name, H) for name in norms))

    layers = part("layers", *stack("layers", c.kinds, c.layers, layer))
    return (embedding("embed_tokens", c.vocab, H), layers, rms_norm("norm", H))


def attention(c: Config) -> Part:
    """Describe attention whose queries and keys are normalized, with a gain for each head."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        "mixer",
        linear("qkv_proj", H, (A + 2 * K) * D, bias=False),
        linear("o_proj", A * D, H, bias=False),
        Tensor("q_weight", (A, D), "gain"),
        Tensor("k_weight", (K, D), "gain"),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )


def state_space(c: Config) -> Part:
    """Describe a state space with one decay a head, whose step, inputs and outputs are normed."""
    H, A, N, R, inner = c.hidden, c.state_heads, c.state, c.rank, c.inner
    return part(
        "mixer",
        Tensor("dt_bias", (A,), "bias"),
        Tensor("A_log", (A,), "gain"),
        Tensor("D", (A,), "gain"),
        Tensor("dt_norm_weight", (R,), "gain"),
        Tensor("B_norm_weight", (N,), "gain"),
        Tensor("C_norm_weight", (N,), "gain"),
        linear("in_proj", H, 2 * inner, bias=False),
        depthwise("conv1d", inner, c.kernel, bias=False),
        linear("bcdt_proj", inner, R + 2 * N, bias=False),
        linear("dt_proj", R, A, bias=False),
        linear("out_proj", inner, H, bias=False),
        State("recurrent_state", inner * N, "float32"),
        kind="state_space",
        stream=unknown("the arithmetic of this recurrence is not held to a live class"),
    )


def causal_lm(c: Config) -> Part:
    """Describe Plamo2ForCausalLM, whose head is the embeddings unless the config says otherwise."""
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to="model.embed_tokens.weight" if c.tied else None)
    return part("", part("model", *plamo2(c), kind="backbone"), head, kind="model")


def _kinds(c: Config) -> list[str]:
    """Return each layer's kind: one of *step* has attention; of fewer than half of them the last."""
    middle, count = c.step // 2, c.layers
    last = [index == count - 1 for index in layer_range(count)]
    attends = last if count <= middle else [index % c.step == middle for index in layer_range(count)]
    return ["attention" if here or not c.mixed else "state_space" for here in attends]


FIELDS = (
    VOCAB.with_default(32000),
    HIDDEN.with_default(4096),
    MLP.with_default(13312),
    LAYERS.with_default(32),
    HEADS.with_default(32),
    KV_HEADS.with_default(4),
    size("head_dim", "hidden_size_per_head", 128, "D", "head dimension"),
    MAMBA_D_STATE.with_default(64),
    MAMBA_D_CONV.with_default(4),
    size("state_heads", "mamba_num_heads", 64, "B", "heads of the state space"),
    derived("inner", lambda c: c.state_heads * c.head_dim, "mamba_num_heads", "hidden_size_per_head"),
    constant("narrow", lambda c: c.hidden < 1024),
    derived("rank", lambda c: 64 if c.narrow else c.hidden // 16, "hidden_size"),
    Field("step", "mamba_step", 2, "choice", report_default=False),
    Field("mixed", "mamba_enabled", True, "choice", report_default=False),
    constant("kinds", _kinds),
    TIED.with_default(True),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """attention_window_size capacity_factor expert_dropout full_attention_idx group_id_for_eps k_expert linear_type mamba_chunk_size
    n_expert shared_intermediate_size sliding_window eval_attention_n_bit eval_mlp_n_bit fp8_accum_dtype""".split()
)
CLASSES = {"Plamo2Model": lambda c: part("", *plamo2(c), kind="model"), "Plamo2ForCausalLM": causal_lm}
FAMILIES = {"plamo2": Family("plamo2", FIELDS, CLASSES, "Plamo2ForCausalLM", MORE_IGNORED_KEYS)}
