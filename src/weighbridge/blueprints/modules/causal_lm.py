"""Shared parts of causal language models: common fields, attention, and heads.

Source: class and tensor names as in transformers 5.23.0, modeling_layers.py for the generic heads.
"""

from __future__ import annotations

from weighbridge.config.family import Blueprint
from weighbridge.config.fields import HEADS, HIDDEN, LABELS, LAYERS, MLP, TIED, VOCAB, Config, Field, constant, derived, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.interfaces import Callable
from weighbridge.core.parts import attend, linear, part, rms_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import TypeAlias

Body: TypeAlias = Callable[[Config], tuple[Node, ...]]
"""What describes the parts of a model without a head."""

IGNORED_KEYS = frozenset(
    """attention_multiplier attn_logit_softcapping embedding_multiplier eod_token_id final_logit_softcapping
    hidden_activation input_jitter_noise layer_types logit_scale logits_scaling max_position_embeddings
    max_window_layers mlp_only_layers n_group norm_epsilon norm_topk_prob num_experts_per_tok num_mtp_layers
    num_nextn_predict_layers original_max_position_embeddings partial_rotary_factor residual_multiplier
    rope_interleave rope_local_base_freq rope_pct rotary_dim rotary_emb_base rotary_pct routed_scaling_factor sliding_window_pattern
    scoring_func sliding_window topk_group topk_method use_sliding_window""".split()
)
"""Keys that change what a causal model computes but none of its tensors."""


def default_head_dim(c: Config) -> Size:
    """Divide the hidden size among the heads; what is left over where they do not divide is dropped, as the reference does."""
    return exact(c.hidden, c.heads) if c.heads_divide else c.hidden // c.heads


HEADS_DIVIDE = constant("heads_divide", lambda c: c.hidden % c.heads == 0)


def uneven_heads(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the fields of a class that builds with any number of heads: what they leave over of the hidden size is dropped.

    >>> from weighbridge.config.bind import bind
    >>> from weighbridge.config.fields import HEADS
    >>> fields = (HIDDEN.with_default(32), HEADS.with_default(5), derived("head_dim", lambda c: exact(c.hidden, c.heads)))
    >>> bind(uneven_heads(fields), {}).head_dim
    6
    """
    width = next(field for field in fields if field.word == "head_dim")
    place = fields.index(width)
    return (*fields[:place], HEADS_DIVIDE, width.with_default(default_head_dim), *fields[place + 1 :])


FIELDS = (
    VOCAB.with_default(32000),
    HIDDEN.with_default(4096),
    MLP.with_default(11008),
    LAYERS.with_default(32),
    HEADS.with_default(32),
    size("kv_heads", "num_key_value_heads", lambda c: c.heads, "K", "key-value heads", null=lambda c: c.heads),
    HEADS_DIVIDE,
    size("head_dim", "head_dim", default_head_dim, "D", "head dimension", null=default_head_dim),
    LABELS,
    TIED.with_default(False),
    switch("qkv_bias", "attention_bias", False),
    switch("out_bias", "attention_bias", False),
    switch("mlp_bias", "mlp_bias", False),
    constant("head_bias", False),
    constant("qk_norm", ""),
    constant("qk_names", ("q_norm", "k_norm")),
    constant("limited", None),
    constant("late", None),
    constant("pattern", None),
    constant("window", None),
    constant("windowed", None),
)

"""Llama's fields; a family says with :func:`~weighbridge.config.fields.variant` what it has otherwise."""

NO_QKV_BIAS, NO_OUT_BIAS, NO_MLP_BIAS = (constant(word, False) for word in ("qkv_bias", "out_bias", "mlp_bias"))
NO_BIAS = (NO_QKV_BIAS, NO_OUT_BIAS, NO_MLP_BIAS)
"""For a family that cannot have biases, whatever its config says."""

HEAD_DIM = derived("head_dim", default_head_dim, "hidden_size", "num_attention_heads")
"""The width of a head where the config cannot state it."""


def attention(c: Config, *after: Part, name: str = "self_attn", out: str = "o_proj", before: tuple[Node, ...] = ()) -> Part:
    """Describe causal attention whose keys and values may be shared by several query heads; *before* and *after* stand around it."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    return part(
        name,
        *before,
        linear("q_proj", H, A * D, bias=c.qkv_bias),
        linear("k_proj", H, K * D, bias=c.qkv_bias),
        linear("v_proj", H, K * D, bias=c.qkv_bias),
        linear(out, A * D, H, bias=c.out_bias),
        *qk_norms(c),
        *after,
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.window, windowed=c.windowed),
        kind="self_attention",
    )


def qk_norms(c: Config) -> tuple[Part, ...]:
    """Describe norms on queries and keys: of one head's width (``head``), over all heads (``whole``), or as in OLMoE (``hidden``)."""
    widths: dict[str, tuple[Size, ...]] = {
        "": (),
        "head": (c.head_dim, c.head_dim),
        "whole": (c.heads * c.head_dim, c.kv_heads * c.head_dim),
        "hidden": (c.hidden, c.kv_heads * default_head_dim(c)),
    }
    return tuple(rms_norm(name, width) for name, width in zip(c.qk_names, widths[c.qk_norm], strict=False))


def with_heads(
    name: str,
    body: Body,
    having: str = "lm sequence token qa",
    *,
    prefix: str = "model",
    table: str = "embed_tokens",
    base: str = "Model",
    lm: str = "ForCausalLM",
    token: str = "score",
    qa: str = "",
    qa_labels: bool = False,
) -> dict[str, Blueprint]:
    """Return the classes of one model type: the body alone, and the body under each of the heads it is published with.

    Args:
        name: What the class names begin with, such as ``Llama``.
        body: Describes the parts without a head.
        having: Which heads there are: ``lm``, ``sequence``, ``token``, ``qa``.
        prefix: The name under which a head holds the body.
        table: Where the body holds the embeddings, which a tied head shares.
        base, lm: What the names of the base class and of the language model end in.
        token: The name of the classifier over tokens.
        qa: The name under which question answering holds the body, if it is another.
        qa_labels: Whether question answering has as many outputs as there are labels, and not two.
    """

    def backbone(c: Config, at: str = prefix) -> Part:
        return part(at, *body(c), kind="backbone")

    def causal(c: Config) -> Part:
        tied = f"{prefix}.{table}.weight" if c.tied else None
        return part("", backbone(c), linear("lm_head", c.hidden, c.vocab, bias=c.head_bias, tied_to=tied), kind="model")

    def sequence(c: Config) -> Part:
        return part("", backbone(c), linear("score", c.hidden, c.labels, bias=False), kind="model")

    def tokens(c: Config) -> Part:
        return part("", backbone(c), linear(token, c.hidden, c.labels), kind="model")

    def answers(c: Config) -> Part:
        return part("", backbone(c, qa or prefix), linear("qa_outputs", c.hidden, c.labels if qa_labels else 2), kind="model")

    table_of_heads: dict[str, tuple[str, Blueprint]] = {
        "lm": (lm, causal),
        "sequence": ("ForSequenceClassification", sequence),
        "token": ("ForTokenClassification", tokens),
        "qa": ("ForQuestionAnswering", answers),
    }
    chosen = (table_of_heads[word] for word in having.split())
    return {name + base: lambda c: part("", *body(c), kind="model"), **{name + ending: blueprint for ending, blueprint in chosen}}
