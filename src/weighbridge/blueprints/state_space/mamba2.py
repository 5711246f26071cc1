"""Mamba-2: state-space duality with heads, computed in chunks; and Bamba, with attention in some layers.

Source: arXiv 2405.21060 (Mamba-2); ibm-ai-platform/Bamba-9B; names as in transformers 5.23.0,
models/mamba2/modeling_mamba2.py and models/bamba/modeling_bamba.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, attention, with_heads
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS as CAUSAL
from weighbridge.blueprints.state_space.mamba import FIELDS_OF_MAMBA, IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import MAMBA_D_CONV, MAMBA_D_STATE, MAMBA_EXPAND, Config, Field, constant, size, switch, variant
from weighbridge.core.length import length
from weighbridge.core.parts import depthwise, embedding, gated_mlp, linear, matmul, part, rms_norm, stack
from weighbridge.core.sizes import Size, exact, layer_range
from weighbridge.core.tree import Matmul, Node, Part, State, Tensor


def mixer(c: Config, name: str, *, kept: bool = True, inner: Size | None = None, normed: bool = True, out_bias: bool | None = None) -> Part:
    """Describe the state space with heads: one matrix in, a convolution over inputs, B and C, a gated norm, one matrix out.

    Args:
        kept: Whether its state is kept: in a hybrid, only where some layer attends.
        inner: The inner width, if it is not a multiple of the hidden size.
        normed: Whether it has the gated norm.
        out_bias: Whether the last matrix has a bias, if it is not as the first.
    """
    H, A = c.hidden, c.state_heads
    inner = c.expand * H if inner is None else inner
    convolved = inner + 2 * c.groups * c.state
    return part(
        name,
        Tensor("dt_bias", (A,), "bias"),
        Tensor("A_log", (A,), "gain"),
        Tensor("D", (A,), "gain"),
        depthwise("conv1d", convolved, c.kernel, bias=c.conv_bias, filled=kept),
        linear("in_proj", H, inner + convolved + A, bias=c.bias),
        *((rms_norm("norm", inner),) if normed else ()),
        linear("out_proj", inner, H, bias=c.bias if out_bias is None else out_bias),
        scan(c, inner),
        *((State("recurrent_state", inner * c.state, "float32"),) if kept else ()),
        kind="state_space",
    )


def scan(c: Config, inner: Size) -> Matmul:
    """Describe the products of one scan: within each chunk, from chunk to its state, from state to state, and back."""
    A, N, P, chunk = c.state_heads, c.state, exact(inner, c.state_heads), c.chunk
    chunks = (length("seq") + chunk - 1) // chunk
    states = length(chunks) + 1
    return matmul(
        "scan", (A, chunks, chunk, chunk, N), (A, chunks, chunk, chunk, P), (2, A, chunks, chunk, N, P), (A, states, states, N, P)
    )


def mamba2(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of one norm and one mixer, and a last norm."""
    layer = part("layers", rms_norm("norm", c.hidden), mixer(c, "mixer"), kind="layer", repeat=c.layers)
    return (embedding("embeddings", c.vocab, c.hidden), layer, rms_norm("norm_f", c.hidden))


def bamba(c: Config) -> tuple[Node, ...]:
    """Describe layers of Mamba-2, some of them with attention in its place, and an MLP in each."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        norms = (rms_norm("input_layernorm", H), rms_norm("pre_ff_layernorm", H))
        mlp = gated_mlp("feed_forward", H, c.mlp, bias=c.mlp_bias)
        return (mlp, *norms, attention(c) if kind == "attention" else mixer(c, "mamba", kept="attention" in c.kinds))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("final_layernorm", H))


MAMBA2 = (
    *(field for field in variant(FIELDS_OF_MAMBA, vocab=32768, hidden=4096, state=128, layers=64, tied=False) if field.word != "rank"),
    size("state_heads", "num_heads", 128, "A", "heads"),
    size("groups", "n_groups", 8, "G", "head groups that share B and C"),
    size("chunk", "chunk_size", 256, "Q", "tokens per chunk"),
)

BAMBA = variant(
    FIELDS,
    Field("attended", "attn_layer_indices", lambda c: [], "sequence"),
    size("state_heads", "mamba_n_heads", 128, "M", "heads of the state space"),
    size("groups", "mamba_n_groups", 1, "G", "head groups that share B and C"),
    MAMBA_D_STATE.with_default(256),
    MAMBA_D_CONV.with_default(4),
    MAMBA_EXPAND.with_default(2),
    size("chunk", "mamba_chunk_size", 256, "Q", "tokens per chunk"),
    switch("conv_bias", "mamba_conv_bias", True),
    switch("bias", "mamba_proj_bias", False),
    constant("kinds", lambda c: ["attention" if index in c.attended else "mamba" for index in layer_range(c.layers)]),
    vocab=128000,
    hidden=4096,
    mlp=14336,
    kv_heads=8,
)

FAMILIES = {
    "mamba2": Family(
        "mamba2",
        MAMBA2,
        with_heads("Mamba2", mamba2, "lm", prefix="backbone", table="embeddings"),
        "Mamba2Model",
        IGNORED_KEYS | {"head_dim", "time_step_rank", "norm_before_gate", "rms_norm"},
    ),
    "bamba": Family(
        "bamba",
        BAMBA,
        with_heads("Bamba", bamba, "lm"),
        "BambaModel",
        CAUSAL | IGNORED_KEYS | {"mamba_d_head", "num_logits_to_keep", "z_loss_coefficient", "attn_rotary_emb"},
    ),
}
