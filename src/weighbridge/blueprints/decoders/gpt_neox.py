"""GPT-NeoX: "GPT-NeoX-20B: An Open-Source Autoregressive Language Model" (Black et al., 2022), and Pythia, which has the same structure.

Source: arXiv 2204.06745, section 2; class and tensor names as in transformers 5.23.0,
models/gpt_neox/modeling_gpt_neox.py and models/gpt_neox_japanese/modeling_gpt_neox_japanese.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, uneven_heads, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LABELS, LAYERS, MLP, TIED, VOCAB, Config, constant, derived, size, switch
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import exact, is_some
from weighbridge.core.tree import Every, Node, Part, Tensor

NAMES = ("dense_h_to_4h", "dense_4h_to_h")

FIELDS = (
    VOCAB.with_default(50432),
    HIDDEN.with_default(6144),
    MLP.with_default(24576),
    LAYERS.with_default(44),
    HEADS.with_default(64),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    LABELS,
    TIED.with_default(False),
    switch("biased", "attention_bias", True),
    constant("head_bias", False),
)
JAPANESE = (
    VOCAB.with_default(32000),
    HIDDEN.with_default(2560),
    LAYERS.with_default(32),
    HEADS.with_default(32),
    size("multiple", "intermediate_multiple_size", 4, "M", "ratio of intermediate to hidden size"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    TIED,
)


def gpt_neox(c: Config) -> tuple[Node, ...]:
    """Describe GPT-NeoX: rotary positions, one fused layer for queries, keys and values, biases throughout."""
    H = c.hidden
    layer = part(
        "layers",
        layer_norm("input_layernorm", H),
        layer_norm("post_attention_layernorm", H),
        part(
            "attention",
            linear("query_key_value", H, 3 * H, bias=c.biased),
            linear("dense", H, H, bias=c.biased),
            attend(causal=True, heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        plain_mlp("mlp", H, c.mlp, NAMES, bias=True),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_in", c.vocab, H), layer, layer_norm("final_layer_norm", H))


def japanese(c: Config) -> tuple[Node, ...]:
    """Describe GPT-NeoX-Japanese: no biases, except for one on the attention of the last layer."""
    H = c.hidden

    def layer(*bias: Tensor) -> tuple[Node, ...]:
        return (
            layer_norm("input_layernorm", H),
            layer_norm("post_attention_layernorm", H),
            part(
                "attention",
                *bias,
                linear("query_key_value", H, 3 * H, bias=False),
                linear("dense", H, H, bias=False),
                attend(causal=True, heads=c.heads, head_dim=c.head_dim),
                kind="self_attention",
            ),
            plain_mlp("mlp", H, c.multiple * H, NAMES),
        )

    layers = (
        part("layers", *layer(), kind="layer", repeat=c.layers - 1),
        part("layers", *layer(Tensor("dense_bias", (H,), "bias")), kind="layer", repeat=1, indices=Every(c.layers - 1)),
    )
    return (
        embedding("embed_in", c.vocab, H),
        *(layers if is_some(c.layers) else ()),
        layer_norm("final_layer_norm", H),
    )


def japanese_lm(c: Config) -> Part:
    """Describe GPTNeoXJapaneseForCausalLM."""
    tied = "gpt_neox_japanese.embed_in.weight" if c.tied else None
    body = part("gpt_neox_japanese", *japanese(c), kind="backbone")
    return part("", body, linear("embed_out", c.hidden, c.vocab, bias=False, tied_to=tied), kind="model")


CLASSES = with_heads("GPTNeoX", gpt_neox, prefix="gpt_neox", table="embed_in", token="classifier")
JAPANESE_CLASSES = {"GPTNeoXJapaneseModel": lambda c: part("", *japanese(c), kind="model"), "GPTNeoXJapaneseForCausalLM": japanese_lm}
MORE_IGNORED_KEYS = IGNORED_KEYS | {"is_decoder", "use_parallel_residual"}

FAMILIES = {
    "gpt_neox": Family("gpt_neox", FIELDS, CLASSES, "GPTNeoXModel", MORE_IGNORED_KEYS),
    "gpt_neox_japanese": Family("gpt_neox_japanese", uneven_heads(JAPANESE), JAPANESE_CLASSES, "GPTNeoXJapaneseModel", MORE_IGNORED_KEYS),
}
