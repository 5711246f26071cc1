"""StableLM 2 and Persimmon: layer norms, and optional norms on the queries and keys of each head.

Source: arXiv 2402.17834; class and tensor names as in transformers 5.23.0, models/stablelm/modeling_stablelm.py and
models/persimmon/modeling_persimmon.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, HEAD_DIM, IGNORED_KEYS, NO_BIAS, attention, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, switch, variant
from weighbridge.core.parts import attend, embedding, gated_mlp, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part


def stablelm(c: Config) -> tuple[Node, ...]:
    """Describe StableLM: Llama with layer norms, of which a parallel layer has but one."""
    H = c.hidden
    norms = (by_head(c, "q_layernorm", c.heads), by_head(c, "k_layernorm", c.kv_heads)) if c.normed else ()
    layer = part(
        "layers",
        attention(c, *norms),
        gated_mlp("mlp", H, c.mlp),
        layer_norm("input_layernorm", H),
        *(() if c.parallel else (layer_norm("post_attention_layernorm", H),)),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, layer_norm("norm", H))


def by_head(c: Config, name: str, number: Size) -> Part:
    """Describe a norm for each head, with weights of its own."""
    norm = layer_norm("norms", c.head_dim, bias=False)
    return part(name, replace(norm, repeat=number), kind="layer_norm")


def persimmon(c: Config) -> tuple[Node, ...]:
    """Describe Persimmon: fused queries, keys and values, biases throughout."""
    H = c.hidden
    norms = (layer_norm("q_layernorm", c.head_dim), layer_norm("k_layernorm", c.head_dim)) if c.normed else ()
    layer = part(
        "layers",
        part(
            "self_attn",
            linear("query_key_value", H, 3 * H),
            linear("dense", c.heads * c.head_dim, H),
            *norms,
            attend(causal=True, heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        plain_mlp("mlp", H, c.mlp, ("dense_h_to_4h", "dense_4h_to_h"), bias=True),
        layer_norm("input_layernorm", H),
        layer_norm("post_attention_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, layer_norm("final_layernorm", H))


STABLELM = variant(
    FIELDS,
    switch("normed", "qk_layernorm", False),
    switch("parallel", "use_parallel_residual", False),
    *NO_BIAS,
    vocab=50304,
    hidden=2560,
    mlp=6912,
    kv_heads=32,
    head_dim=HEAD_DIM,
    qkv_bias=switch("qkv_bias", "use_qkv_bias", False),
)
PERSIMMON = variant(
    tuple(field for field in FIELDS if field.word not in ("kv_heads", "qkv_bias", "out_bias", "mlp_bias")),
    switch("normed", "qk_layernorm", True),
    vocab=262144,
    mlp=16384,
    layers=36,
    heads=64,
    head_dim=HEAD_DIM,
)

FAMILIES = {
    "stablelm": Family("stablelm", STABLELM, with_heads("StableLm", stablelm, "lm sequence token"), "StableLmModel", IGNORED_KEYS),
    "persimmon": Family("persimmon", PERSIMMON, with_heads("Persimmon", persimmon, "lm sequence token"), "PersimmonModel", IGNORED_KEYS),
}
