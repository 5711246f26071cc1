"""The text tower of ERNIE 4.5 VL: experts for text, others for what is seen, and some that every token passes.

Source: Baidu, ERNIE 4.5 (2025), section 2; class and tensor names as in transformers 5.23.0,
models/ernie4_5_vl_moe/modeling_ernie4_5_vl_moe.py. The experts for images run where there are images.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.causal import FIELDS, NEUTRAL, attention
from weighbridge.blueprints.kinds import told
from weighbridge.config import Sizes, fact, listed, size, switch, variant
from weighbridge.errors import ConfigError
from weighbridge.parts import embedding, fused_experts, gated_mlp, rms_norm, stack
from weighbridge.sizes import Size
from weighbridge.tree import Node, Part, Tensor


def ernie(c: Sizes) -> tuple[Node, ...]:
    """Describe embeddings, layers of attention and an MLP or two mixtures, and a last norm."""
    H = c.hidden

    def layer(kind: str) -> tuple[Node, ...]:
        mlp = mixtures(c) if kind == "sparse" else gated_mlp("mlp", H, c.mlp, bias=c.mlp_bias)
        return (attention(c), mlp, rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm", H))


def mixtures(c: Sizes) -> Part:
    """Describe the experts of text and of images, each with a router, and the shared ones, as wide as those of text."""
    text, vision = c.widths
    shared = (gated_mlp("shared_experts", c.hidden, text * c.shared_experts, bias=c.mlp_bias),) if c.sharing else ()
    seeing = mixture(c, "vision_moe", vision)._replace(given="vision")
    return Part("mlp", (mixture(c, "text_moe", text), seeing, *shared), "mixture")


def mixture(c: Sizes, name: str, inner: Size) -> Part:
    """Describe a router, whose correction is not learned by gradient, and experts."""
    statics = Part("moe_statics", (Tensor("e_score_correction_bias", (1, c.experts), "bias", frozen=True),))
    gate = Part("gate", (Tensor("weight", (c.experts, c.hidden)), statics), "linear")
    return Part(name, (gate, fused_experts(c.experts, c.active, c.hidden, inner)), "mixture")


def _widths(c: Sizes) -> list[int]:
    if len(c.told_widths) != 2 or any(type(width) is not int or width < 1 for width in c.told_widths):
        raise ConfigError("expected two widths, of experts for text and for images", key="moe_intermediate_size", value=c.told_widths)
    return list(c.told_widths)


ERNIE = variant(
    FIELDS,
    size("experts", "moe_num_experts", 64, "E", "experts", "num_experts"),
    size("active", "moe_k", 6, "k", "experts per token", "num_experts_per_tok"),
    size("shared_experts", "moe_num_shared_experts", 2, "N", "shared experts", minimum=0),
    fact("sharing", lambda c: c.shared_experts > 0),
    listed("told_widths", "moe_intermediate_size", [1536, 512]),
    fact("widths", _widths),
    *told(lambda c: ["sparse" if index else "dense" for index in range(c.layers)]),
    vocab=103424, hidden=2560, mlp=12288, layers=28, heads=20, kv_heads=4, tied=True,
    **{word: switch(word, "use_bias", False) for word in ("qkv_bias", "out_bias", "mlp_bias")},
)  # fmt: skip

CLASSES = {name: lambda c: Part("", ernie(c), "model") for name in ("Ernie4_5_VLMoeTextModel", "Ernie4_5_VL_MoeTextModel")}
FAMILIES = {"ernie4_5_vl_moe_text": Family("ernie4_5_vl_moe_text", ERNIE, CLASSES, "Ernie4_5_VLMoeTextModel", NEUTRAL | {"moe_norm_min"})}
