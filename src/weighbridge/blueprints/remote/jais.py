"""Jais (Sengupta et al., 2023): GPT-2 with a gated MLP, and with ALiBi in the place of learned positions; its code stands beside its files.

Source: arXiv 2308.16149; names and keys as in modeling_jais.py of core42/jais-13b. Held to the shapes for which llama.cpp's loader asks
and to the published sizes (13.0 and 30.0 billion), not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.gpt2 import dense
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, N_EMBD, N_HEAD, N_INNER, N_LAYER, TIED, VOCAB, Config, Field, constant, derived
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, part
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node


def jais(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, GPT-2's layers with a gate in the MLP, and a last norm."""
    H = c.hidden
    attention = part(
        "attn",
        dense(c, "c_attn", H, 3 * H),
        dense(c, "c_proj", H, H),
        attend(causal=True, heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = (dense(c, "c_fc", H, c.mlp), dense(c, "c_fc2", H, c.mlp), dense(c, "c_proj", c.mlp, H))
    halves = (layer_norm("ln_1", H), attention, layer_norm("ln_2", H), part("mlp", *mlp, kind="feed_forward"))
    return (embedding("wte", c.vocab, H), part("h", *halves, kind="layer", repeat=c.layers), layer_norm("ln_f", H))


def _refuse_others(c: Config) -> bool:
    """Refuse an MLP without a gate, and learned positions: no published model has them."""
    for key, value, known in (("activation_function", c.gate, "swiglu"), ("position_embedding_type", c.places, "alibi")):
        if value != known:
            raise ConfigError(Text("{value!r} is not described, only {known!r}", value=value, known=known), key=key, value=value)
    return True


FIELDS = (
    VOCAB.with_default(84992),
    N_EMBD.with_default(5120),
    N_LAYER.with_default(40),
    N_HEAD.with_default(40),
    N_INNER.with_default(13653),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "n_embd", "n_head"),
    LABELS,
    TIED,
    Field("gate", "activation_function", "swiglu", "choice", report_default=False),
    Field("places", "position_embedding_type", "alibi", "choice", report_default=False),
    constant("usual", _refuse_others),
    constant("transposed", True),
    constant("head_bias", False),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """attn_pdrop embd_pdrop resid_pdrop embeddings_scale mup_embeddings_scale mup_output_alpha mup_scale_qk_dot_by_d mup_width_scale
    n_positions width_scale scale_attn_weights scale_attn_by_inverse_layer_idx reorder_and_upcast_attn scale_qk_dot_by_d
    alibi_scaling""".split()
)
CLASSES = with_heads("JAIS", jais, "lm", prefix="transformer", table="wte", lm="LMHeadModel")
FAMILIES = {"jais": Family("jais", FIELDS, CLASSES, "JAISLMHeadModel", MORE_IGNORED_KEYS)}
