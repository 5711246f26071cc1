"""The decoder of CLVP, which writes speech tokens (the autoregressive half of Tortoise).

Source: arXiv 2305.07243; class and tensor names as in transformers 5.23.0, models/clvp/modeling_clvp.py. The MLP is GPT-2's, with
matrices stored as ``[inputs, outputs]``.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.gpt2 import dense
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, N_INNER, POSITIONS, VOCAB, Config, constant, derived, switch
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part


def clvp(c: Config) -> tuple[Node, ...]:
    """Describe tokens and positions, layers with a norm before each half, and a last norm."""
    H = c.hidden
    attention = part(
        "attn",
        *(linear(f"{name}_proj", H, H, bias=c.qkv_bias) for name in "kvq"),
        linear("out_proj", H, H),
        attend(causal=True, heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = part(
        "layers",
        layer_norm("input_layernorm", H),
        attention,
        layer_norm("post_attention_layernorm", H),
        part("mlp", dense(c, "c_fc", H, c.mlp), dense(c, "c_proj", c.mlp, H), kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )
    tables = (embedding("input_embeds_layer", c.vocab, H), embedding("position_embeds_layer", c.positions, H))
    return (*tables, layer, layer_norm("layer_norm", H))


def inner(c: Config) -> Part:
    """Describe the body by its name."""
    return part("decoder", *clvp(c), kind="decoder")


def causal(c: Config) -> Part:
    """Describe ClvpForCausalLM: one norm more, and a head of its own."""
    head = (layer_norm("final_norm", c.hidden), linear("lm_head", c.hidden, c.vocab))
    return part("", part("model", inner(c), kind="backbone"), *head, kind="model")


FIELDS = (
    VOCAB.with_default(8194),
    POSITIONS.with_default(608),
    HIDDEN.with_default(1024),
    N_INNER.with_default(lambda c: 4 * c.hidden),
    LAYERS.with_default(30),
    HEADS.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    switch("qkv_bias", "use_attention_bias", True),
    constant("transposed", True),
)
CLASSES = {
    "ClvpDecoder": lambda c: part("", *clvp(c), kind="model"),
    "ClvpModel": lambda c: part("", inner(c), kind="model"),
    "ClvpForCausalLM": causal,
}
MORE_IGNORED_KEYS = frozenset(
    """activation_function add_cross_attention decoder_fixing_codes feature_size max_text_tokens num_mel_attn_blocks summary_activation
    summary_first_dropout summary_proj_to_labels summary_type summary_use_proj""".split()
)
FAMILIES = {"clvp_decoder": Family("clvp_decoder", FIELDS, CLASSES, "ClvpForCausalLM", MORE_IGNORED_KEYS)}
