"""xLSTM 7B: mLSTM layers (matrix memory with gates) instead of attention (Beck et al., 2025).

Source: arXiv 2405.04517, 2503.13427; names as in transformers 5.23.0, models/xlstm/modeling_xlstm.py.
"""

from __future__ import annotations

from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, VOCAB, Config, Field, choice, computed, derived, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, layer_norm, linear, matmul, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, State

if TYPE_CHECKING:
    from typing import Any

MEMORY = unknown("how the memory is written depends on the kernel that is installed")


def share(word: str, key: str, default: float) -> Field:
    """Declare a factor of a width as the numerator and denominator of the decimal number that it is written as."""

    def read(value: Any) -> tuple[int, int]:
        if type(value) not in (int, float) or not 0 < value < 1000:
            raise ConfigError(Text("expected a positive number, found {value!r:.60}", value=value), key=key, value=value)
        whole, _, rest = f"{value:.12f}".partition(".")
        return int(whole + rest), 10 ** len(rest)

    return choice(word, key, default, read=read)


def times(width: Size, by: tuple[int, int]) -> Size:
    """Multiply a width by a factor, and drop the fraction.

    >>> times(4096, (5, 10))
    2048
    """
    return width * by[0] // by[1]


def mlp_width(c: Config) -> Size:
    """Return the width of the feed-forward step: a share of the hidden size, brought to a multiple."""
    wide: Size = (c.hidden * c.up[0] + (c.multiple - 1) * c.up[1]) // (c.multiple * c.up[1]) * c.multiple
    return wide


def refuse_rounding(c: Config) -> bool:
    """Refuse widths that the reference's floating-point numbers round to others than these."""
    up, qk, v = (by[0] / by[1] for by in (c.up, c.qk, c.v))
    theirs = int((c.hidden * up + c.multiple - 1) // c.multiple * c.multiple), int(c.hidden * qk), int(c.hidden * v)
    if theirs != (mlp_width(c), times(c.hidden, c.qk), times(c.hidden, c.v)):
        raise ConfigError("the products of the factors and the hidden size are rounded, and not described", key="ffn_proj_factor")
    return True


FIELDS = (
    VOCAB.with_default(50304),
    size("stated", "embedding_dim", None, "E", "width of the embeddings"),
    HIDDEN.with_default(4096),
    derived("words", lambda c: c.hidden if c.stated is None else c.stated, "hidden_size", "embedding_dim"),
    size("named", "num_hidden_layers", 32, "L", "layers"),
    size("layers", "num_blocks", lambda c: c.named, "B", "layers"),
    size("heads", "num_heads", 8, "A", "heads"),
    size("multiple", "ffn_round_up_to_multiple_of", 64, "M", "multiple to which the intermediate size is rounded up"),
    share("qk", "qk_dim_factor", 0.5),
    share("v", "v_dim_factor", 1.0),
    share("up", "ffn_proj_factor", 2.667),
    computed("exact", refuse_rounding),
    switch("bias", "use_bias", False),
    choice("fused", "weight_mode", "single", read=lambda mode: mode == "fused"),
)


def norm(c: Config, name: str, width: Size) -> Part:
    """Describe a norm."""
    return layer_norm(name, width) if c.bias else rms_norm(name, width)


def memory(c: Config) -> Part:
    """Describe the memory: queries, keys, values and gates, one each or fused."""
    H, A, qk, v = c.hidden, c.heads, times(c.hidden, c.qk), times(c.hidden, c.v)
    apart = (
        ("q", qk, c.bias),
        ("k", qk, c.bias),
        ("v", v, c.bias),
        ("ogate_preact", v, c.bias),
        ("igate_preact", A, True),
        ("fgate_preact", A, True),
    )
    fused = (("qkv_opreact", 2 * qk + 2 * v, c.bias), ("ifgate_preact", 2 * A, True))
    return part(
        "mlstm_layer",
        *(linear(name, H, width, bias=bias) for name, width, bias in (fused if c.fused else apart)),
        norm(c, "multihead_norm", v // A * A),
        linear("out_proj", v, H, bias=c.bias),
        matmul("memory", (MEMORY,)),
        State("rnn_state", A * ((qk // A) * (v // A) + qk // A + 1)),
        kind="mixer",
    )


def xlstm(c: Config) -> tuple[Node, ...]:
    """Describe words, layers and a last norm."""
    H, wide = c.hidden, mlp_width(c)
    up = (("proj_up_gate_z", 2 * wide),) if c.fused else (("proj_up_gate", wide), ("proj_up", wide))
    mlp = (*(linear(name, H, width, bias=c.bias) for name, width in up), linear("proj_down", wide, H, bias=c.bias))
    layer = (norm(c, "norm_mlstm", H), memory(c), norm(c, "norm_ffn", H), part("ffn", *mlp, kind="feed_forward"))
    return embedding("embeddings", c.vocab, c.words), part("blocks", *layer, kind="layer", repeat=c.layers), rms_norm("out_norm", H)


def causal_lm(c: Config) -> Part:
    """Describe xLSTMForCausalLM, whose head is not tied."""
    return part("", part("backbone", *xlstm(c), kind="backbone"), linear("lm_head", c.hidden, c.vocab, bias=False), kind="model")


IGNORED_KEYS = frozenset(
    """add_out_norm autocast_kernel_dtype chunk_size chunkwise_kernel eps gate_soft_cap inference_state_dtype max_inference_chunksize mode
    norm_eps norm_reduction_force_float32 output_logit_soft_cap return_last_states sequence_kernel step_kernel
    tie_word_embeddings""".split()
)
CLASSES = {"xLSTMModel": lambda c: part("", *xlstm(c), kind="model"), "xLSTMForCausalLM": causal_lm}
FAMILIES = {"xlstm": Family("xlstm", FIELDS, CLASSES, "xLSTMForCausalLM", IGNORED_KEYS)}
