"""The text model of Gemma 3n: AltUp (several copies of the hidden state), per-layer embeddings, LAuReL, and shared keys and values.

Source: arXiv 2301.13310 (AltUp), 2411.07501 (LAuReL); class and tensor names as in transformers 5.23.0, models/gemma3n/modeling_gemma3n.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.gemma import SANDWICH
from weighbridge.blueprints.decoders.gemma4 import reuse
from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, constant, optional, size, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, matmul, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor


def gemma3n(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers, a last norm, the tables of the layers, and the ways from one copy to the others and back."""
    H, wide = c.hidden, c.layers * c.table
    layers = stack("layers", list(zip(c.mixers, c.reusing, c.widths, strict=True)), c.layers, lambda kinds: layer(c, *kinds))
    return (
        embedding("embed_tokens", c.vocab, H),
        *layers,
        rms_norm("norm", H),
        embedding("embed_tokens_per_layer", c.table_rows, wide),
        linear("per_layer_model_projection", H, wide, bias=False),
        rms_norm("per_layer_projection_norm", c.table),
        *(linear(f"altup_{name}projections", H, H, bias=False, repeat=c.copies - 1) for name in ("", "unembed_")),
    )


def layer(c: Config, kind: str, reusing: bool, width: int) -> tuple[Node, ...]:
    """Describe a layer: attention, MLP, four norms, the mixing of the copies, a residual of small rank, and the way in from its table."""
    H, R = c.hidden, c.laurel
    ranks = (linear("linear_left", H, R, bias=False), linear("linear_right", R, H, bias=False), rms_norm("post_laurel_norm", H))
    return (
        attention(c, kind, reusing),
        gated_mlp("mlp", H, width),
        *(rms_norm(name, H) for name in SANDWICH),
        altup(c),
        part("laurel", *ranks, kind="residual"),
        linear("per_layer_input_gate", H, c.table, bias=False),
        linear("per_layer_projection", c.table, H, bias=False),
        rms_norm("post_per_layer_input_norm", H),
    )


def altup(c: Config) -> Part:
    """Describe how the copies are predicted from each other and corrected by the one that worked; the router looks twice."""
    H, N = c.hidden, c.copies
    return part(
        "altup",
        Tensor("correct_output_scale", (H,), "gain"),
        linear("correction_coefs", N, N, bias=False),
        linear("prediction_coefs", N, N * N, bias=False),
        linear("modality_router", H, N, bias=False, executions=2),
        rms_norm("router_norm", H, executions=2),
        matmul("predict", ("seq", H, N, N)),
        kind="mixer",
    )


def attention(c: Config, kind: str, reusing: bool) -> Part:
    """Describe attention, without keys and values of its own where it reuses them."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    own = (linear("k_proj", H, K * D, bias=c.qkv_bias), linear("v_proj", H, K * D, bias=c.qkv_bias), rms_norm("k_norm", D))
    return part(
        "self_attn",
        linear("q_proj", H, A * D, bias=c.qkv_bias),
        rms_norm("q_norm", D),
        *(() if reusing else own),
        linear("o_proj", A * D, H, bias=c.out_bias),
        attend(
            causal=True,
            heads=A,
            kv_heads=K,
            head_dim=D,
            window=c.window if kind != "full_attention" else None,
            cache=0 if reusing else None,
        ),
        kind="self_attention",
    )


def _widths(c: Config) -> list[int]:
    stated = c.stated_widths if isinstance(c.stated_widths, (list, tuple)) else [c.stated_widths] * len(layer_range(c.layers))
    if len(stated) != c.layers or any(type(width) is not int or width < 1 for width in stated):
        raise ConfigError(
            Text("expected a width, or one for each of {layers} layers", layers=c.layers), key="intermediate_size", value=c.stated_widths
        )
    return list(stated)


def _kinds(c: Config) -> list[str]:
    return ["sliding_attention" if (index + 1) % 5 else "full_attention" for index in layer_range(c.layers)]


GEMMA3N = variant(
    tuple(field for field in FIELDS if field.word not in ("mlp", "mlp_bias")),
    Field("stated_widths", "intermediate_size", 16384, "choice"),
    constant("widths", _widths),
    size("table", "hidden_size_per_layer_input", 256, "T", "width of a layer's table"),
    size("table_rows", "vocab_size_per_layer_input", 262144, "U", "rows of a layer's table"),
    size("copies", "altup_num_inputs", 4, "N", "copies of the hidden state", minimum=2),
    size("laurel", "laurel_rank", 64, "R", "rank of the second residual"),
    size("shared_layers", "num_kv_shared_layers", 15, "Z", "layers that reuse keys", minimum=0),
    Field("stated_kinds", "layer_types", _kinds, "choice"),
    constant("mixers", lambda c: checked_kinds(c, c.stated_kinds, "layer_types", ("sliding_attention", "full_attention"))),
    constant("reusing", reuse),
    vocab=262400,
    hidden=2048,
    layers=35,
    heads=8,
    kv_heads=2,
    head_dim=256,
    tied=True,
    window=optional("window", "sliding_window", 512, "W", "attention window"),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {"activation_sparsity_pattern", "altup_active_idx", "altup_coef_clip", "altup_correct_scale"}
CLASSES = with_heads("Gemma3n", gemma3n, "lm", base="TextModel")
FAMILIES = {"gemma3n_text": Family("gemma3n_text", GEMMA3N, CLASSES, "Gemma3nTextModel", MORE_IGNORED_KEYS)}
