"""Llama variants: Apertus (learned activation xIELU), BitNet (norms before the output projections), DiffLlama (differential attention),
Helium (a square output), nanochat (no norms).

Source: arXiv 2509.14233 (Apertus), 2402.17764 (BitNet b1.58), 2410.05258 (differential attention); class and tensor names as in
transformers 5.23.0, models/apertus, models/bitnet, models/diffllama, models/helium, models/nanochat.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, NO_MLP_BIAS, NO_OUT_BIAS, Body, attention, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, variant
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, part, plain_mlp, replace, rms_norm
from weighbridge.core.tree import Node, Part, Tensor

BEFORE = ("input_layernorm", "post_attention_layernorm")


def decoder(c: Config, attended: Part, mlp: Part, norms: tuple[str, ...] = BEFORE) -> tuple[Node, ...]:
    """Describe embeddings, layers, and a last norm where the layers have norms."""
    layer = part("layers", attended, mlp, *(rms_norm(name, c.hidden) for name in norms), kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab, c.hidden), layer, *((rms_norm("norm", c.hidden),) if norms else ()))


def apertus(c: Config) -> tuple[Node, ...]:
    """Describe Apertus: no gate, but an activation with two learned parameters (xIELU)."""
    learned = (Tensor("alpha_p", (1,), "gain"), Tensor("alpha_n", (1,), "gain"), Tensor("beta", (), "buffer"), Tensor("eps", (), "buffer"))
    mlp = plain_mlp("mlp", c.hidden, c.mlp)
    if c.activation == "xielu":
        mlp = replace(mlp, children=(*mlp.children, part("act_fn", *learned, kind="activation")))
    return decoder(c, attention(c), mlp, ("attention_layernorm", "feedforward_layernorm"))


def bitnet(c: Config) -> tuple[Node, ...]:
    """Describe BitNet: a further norm before the last layer of attention and of the MLP."""
    mlp = gated_mlp("mlp", c.hidden, c.mlp)
    mlp = replace(mlp, children=(*mlp.children, rms_norm("ffn_sub_norm", c.mlp)))
    return decoder(c, attention(c, rms_norm("attn_sub_norm", c.hidden)), mlp)


def helium(c: Config) -> tuple[Node, ...]:
    """Describe Helium: the last layer of attention is square, whatever the width of the heads."""
    attended = attention(c)
    square = linear("o_proj", c.hidden, c.hidden, bias=False)
    children = tuple(square if isinstance(child, Part) and child.name == "o_proj" else child for child in attended.children)
    return decoder(c, replace(attended, children=children), gated_mlp("mlp", c.hidden, c.mlp, bias=c.mlp_bias))


def diffllama(c: Config) -> tuple[Node, ...]:
    """Describe DiffLlama: four learned vectors weigh one attention against another; both halves of the values are attended to, one after the other."""
    learned = tuple(Tensor(f"lambda_{name}", (c.head_dim,), "gain") for name in ("q1", "k1", "q2", "k2"))
    attended = attention(c, before=learned)
    twice = attend(causal=True, heads=c.heads, kv_heads=c.kv_heads, head_dim=c.head_dim, groups=2)
    attended = replace(attended, children=(*attended.children[:-1], twice))
    return decoder(c, attended, gated_mlp("mlp", c.hidden, c.mlp))


def nanochat(c: Config) -> tuple[Node, ...]:
    """Describe nanochat: an MLP without a gate, and no parameters in the norms."""
    return decoder(c, attention(c), plain_mlp("mlp", c.hidden, c.mlp, ("fc1", "fc2")), ())


APERTUS = variant(
    FIELDS, Field("activation", "hidden_act", "xielu", "choice", report_default=False), NO_MLP_BIAS, vocab=131072, mlp=14336, qk_norm="head"
)
BITNET = variant(FIELDS, NO_MLP_BIAS, vocab=128256, hidden=2560, mlp=6912, layers=30, heads=20, kv_heads=5)
HELIUM = variant(FIELDS, NO_OUT_BIAS, vocab=48000, hidden=2560, mlp=7040, layers=24, heads=20, kv_heads=20, head_dim=128)
DIFFLLAMA = variant(FIELDS, NO_MLP_BIAS, hidden=2048, mlp=8192, layers=16)
NANOCHAT = variant(FIELDS, NO_MLP_BIAS, vocab=50304, hidden=768, mlp=8192, layers=12, heads=6)


def family(name: str, having: str, body: Body, fields: tuple[Field, ...]) -> Family:
    """Return the family of one of them."""
    return Family(name.lower(), fields, with_heads(name, body, having, qa="transformer"), name + "Model", IGNORED_KEYS | {"lambda_std_dev"})


FAMILIES = {
    "apertus": family("Apertus", "lm token", apertus, APERTUS),
    "bitnet": family("BitNet", "lm", bitnet, BITNET),
    "diffllama": family("DiffLlama", "lm sequence token qa", diffllama, DIFFLLAMA),
    "helium": family("Helium", "lm sequence token", helium, HELIUM),
    "nanochat": family("NanoChat", "lm", nanochat, NANOCHAT),
}
