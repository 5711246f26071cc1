"""OpenELM (Apple, 2024): Llama's parts with heads and an MLP that grow from layer to layer; its code stands beside its files.

Source: arXiv 2404.14619; names and keys as in modeling_openelm.py of apple/OpenELM-270M. Held to mlx-lm's live class, tensor by
tensor, and to the four published totals.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, VOCAB, Config, Field, constant, sequence, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any


class Block(NamedTuple):
    """The sizes of one layer: heads, key-value heads, and the MLP's width."""

    heads: int
    kv_heads: int
    mlp: int


def ffn_width(multiple: float, hidden: int, divisor: int) -> int:
    """Return *multiple* times *hidden*, rounded to a multiple of *divisor* that is at most a tenth less, as the class does.

    >>> ffn_width(0.5, 1280, 256), ffn_width(4.0, 1280, 256)
    (768, 5120)
    """
    wanted = multiple * hidden
    rounded = max(divisor, int(wanted + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * wanted else rounded


def _blocks(c: Config) -> list[Block]:
    lists = {"num_query_heads": c.query_heads, "num_kv_heads": c.key_heads, "ffn_multipliers": c.multiples}
    count = len(layer_range(c.layers))
    for key, values in lists.items():
        if not isinstance(values, list | tuple) or len(values) != count:
            found = len(values) if isinstance(values, list | tuple) else 0
            raise ConfigError(Text("{found} entries for {layers} layers", found=found, layers=c.layers), key=key, hint="one for each layer")
    return [_block(c, *values) for values in zip(*lists.values(), strict=True)]


def _block(c: Config, heads: Any, kv_heads: Any, multiple: Any) -> Block:
    if type(heads) is not int or type(kv_heads) is not int or kv_heads < 1 or heads < 1 or heads % kv_heads:
        text = Text("expected a divisor of the {heads} heads, found {value!r:.60}", heads=heads, value=kv_heads)
        raise ConfigError(text, key="num_kv_heads", value=kv_heads)
    if type(multiple) not in (int, float) or not 0 < multiple < 10**4:
        raise ConfigError(Text("expected a multiple, found {value!r:.60}", value=multiple), key="ffn_multipliers", value=multiple)
    return Block(heads, kv_heads, ffn_width(multiple, c.hidden, c.divisor))


def openelm(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers that widen, and a last norm."""
    H = c.hidden
    layers = stack("layers", c.blocks, c.layers, lambda block: layer(c, block))
    return (embedding("token_embeddings", c.vocab, H), *layers, rms_norm("norm", H))


def layer(c: Config, block: Block) -> tuple[Node, ...]:
    """Describe a layer: attention whose queries and keys are normalized, and a gated MLP, each with two matrices in one."""
    H, D, A, K = c.hidden, c.head_dim, block.heads, block.kv_heads
    norms = (rms_norm("q_norm", D), rms_norm("k_norm", D)) if c.normed else ()
    attention = part(
        "attn",
        linear("qkv_proj", H, (A + 2 * K) * D, bias=False),
        *norms,
        linear("out_proj", A * D, H, bias=False),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )
    up = linear("proj_1", H, 2 * block.mlp if c.gated else block.mlp, bias=False)
    mlp = part("ffn", up, linear("proj_2", block.mlp, H, bias=False), kind="feed_forward")
    return (attention, mlp, rms_norm("ffn_norm", H), rms_norm("attn_norm", H))


def causal_lm(c: Config) -> Part:
    """Describe OpenELMForCausalLM, whose head is the embeddings unless the config says otherwise."""
    tied = "transformer.token_embeddings.weight" if c.tied else None
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=tied)
    return part("", part("transformer", *openelm(c), kind="backbone"), head, kind="model")


FIELDS = (
    VOCAB.with_default(32000),
    size("hidden", "model_dim", 2048, "H", "hidden size"),
    size("layers", "num_transformer_layers", 12, "L", "layers"),
    HEAD_DIM.with_default(128),
    Field("divisor", "ffn_dim_divisor", 256, "choice", report_default=False),
    sequence("query_heads", "num_query_heads", None),
    sequence("key_heads", "num_kv_heads", None),
    sequence("multiples", "ffn_multipliers", None),
    switch("normed", "normalize_qk_projections", True),
    switch("gated", "ffn_with_glu", True),
    switch("tied", "share_input_output_layers", True),
    constant("blocks", _blocks),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """activation_fn_name max_context_length normalization_layer_name num_gqa_groups qkv_multipliers rope_freq_constant rope_max_length
    tie_word_embeddings""".split()
)
CLASSES = {"OpenELMModel": lambda c: part("", *openelm(c), kind="model"), "OpenELMForCausalLM": causal_lm}
FAMILIES = {"openelm": Family("openelm", FIELDS, CLASSES, "OpenELMModel", MORE_IGNORED_KEYS)}
