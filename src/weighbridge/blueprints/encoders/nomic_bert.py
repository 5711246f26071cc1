"""BERT with rotary positions, for long embeddings: Nomic Embed (Nussbaum et al., 2024) and Jina Embeddings v3.

Source: arXiv 2402.01613, 2409.10173; class and tensor names as in transformers 5.23.0,
models/nomic_bert/modeling_nomic_bert.py and models/jina_embeddings_v3/modeling_jina_embeddings_v3.py. Published configs
of Nomic's have GPT-2's keys: those of the same structure are read, others (experts, biases, an MLP without a gate) refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, ROBERTA_HEADS, HeadSpec, bert_fields, vocabulary_projection, with_heads
from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, computed, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

IGNORED_KEYS = frozenset({"max_position_embeddings"})
GPT2 = {"hidden_size": "n_embd", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head", "intermediate_size": "n_inner"}
GPT2_NEUTRAL = IGNORED_KEYS | frozenset(
    """attn_pdrop causal dense_seq_output embd_pdrop expert_choice_router ffn_div fused_bias_fc fused_dropout_add_ln
    max_trained_positions n_positions reorder_and_upcast_attn rotary_emb_base rotary_emb_fraction rotary_emb_interleaved
    rotary_emb_scale_base rotary_scaling_factor scale_attn_by_inverse_layer_idx scale_attn_weights summary_activation
    summary_first_dropout summary_proj_to_labels summary_type summary_use_proj use_flash_attn use_xentropy""".split()
)


def body(c: Config, mlp: Part, *, bias: bool, pooled: bool, words: str | None) -> tuple[Part, ...]:
    """Describe embeddings, pooler and layers, in the order of names."""
    H, wide = c.hidden, c.heads * c.head_dim
    embeddings = part(
        "embeddings",
        embedding("word_embeddings", c.vocab, H, tied_to=words),
        embedding("token_type_embeddings", c.types, H),
        layer_norm("LayerNorm", H),
        kind="embeddings",
    )
    attention = part(
        "self_attn",
        linear("q_proj", H, wide, bias=bias),
        linear("k_proj", H, wide, bias=bias),
        linear("v_proj", H, wide, bias=bias),
        linear("o_proj", wide, H, bias=bias),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    children = (layer_norm("post_attention_layernorm", H), mlp, attention, layer_norm("post_mlp_layernorm", H))
    return (embeddings, *((pooler(c),) if pooled else ()), part("layers", *children, kind="layer", repeat=c.layers))


def nomic_bert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe Nomic's encoder: gated feed-forward, no biases."""
    H, I = c.hidden, c.mlp
    gated = (linear("gate_proj", H, I, bias=False), linear("up_proj", H, I, bias=False), linear("down_proj", I, H, bias=False))
    return body(c, part("mlp", *gated, kind="feed_forward"), bias=False, pooled=pooled, words=words)


def jina_embeddings(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe Jina's encoder, XLM-R with rotary positions."""
    plain = (linear("fc1", c.hidden, c.mlp), linear("fc2", c.mlp, c.hidden))
    return body(c, part("mlp", *plain, kind="feed_forward"), bias=True, pooled=pooled, words=words)


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head."""
    H = c.hidden
    transform = part("transform", linear("dense", H, H), layer_norm("layer_norm", H), kind="transform")
    decoder = vocabulary_projection(c, "decoder", H, words=words, bias="cls.predictions.bias" if c.tied else None)
    return (part("cls", part("predictions", Tensor("bias", (c.vocab,), "bias"), transform, decoder, kind="lm_head"), kind="head"),)


def pre_training(c: Config) -> Part:
    """Describe NomicBertForPreTraining, as in the code beside the published files: a vocabulary head without biases."""
    words = "bert.embeddings.word_embeddings.weight" if c.tied else None
    transform = part("transform", linear("dense", c.hidden, c.hidden, bias=False), layer_norm("layer_norm", c.hidden), kind="transform")
    predictions = part("predictions", transform, linear("decoder", c.hidden, c.vocab, bias=False, tied_to=words), kind="lm_head")
    return part("", part("bert", *nomic_bert(c, pooled=False), kind="backbone"), part("cls", predictions, kind="head"), kind="model")


def only_value(key: str, *known: bool | int | str) -> Field:
    """Declare a key of published configs that may have one value: another is another structure, which is refused."""

    def check_value(value: object) -> object:
        if value not in known:
            raise ConfigError(Text("{value!r} is not described, only {known!r}", value=value, known=known[0]), key=key, value=value)
        return value

    return Field(key, key, known[0], "choice", read=check_value, report_default=False)


def refuse_unpadded(c: Config) -> bool:
    """Refuse a vocabulary, or an inner width, that the published code would round up."""
    for key, value, multiple in (("vocab_size", c.vocab, c.pad_to), ("n_inner", c.mlp, c.inner_to)):
        if value % multiple:
            raise ConfigError(
                Text("the published code rounds it up to a multiple of {multiple}", multiple=multiple),
                key=key,
                value=value,
                hint="state it rounded",
            )
    return True


def refuse_two_namings(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse a config whose GPT-2 names disagree with its others: the published code takes the former, the library's class the latter.

    Raises:
        ConfigError: Such as ``n_embd`` 768 beside ``hidden_size`` 1024.
    """
    for key, older in GPT2.items():
        if raw.get(older) is not None and raw.get(key) not in (None, raw[older]):
            said = Text(
                "the published code takes {older}: {value}, the library's class {key}", older=older, value=f"{raw[older]!r:.40}", key=key
            )
            raise ConfigError(said, key=key, value=raw[key], hint="keep one")
    return dict(raw)


PUBLISHED = (
    *(
        only_value(key, False)
        for key in """qkv_proj_bias mlp_fc1_bias mlp_fc2_bias prenorm parallel_block parallel_block_tied_norm
        use_rms_norm norm_mlp""".split()
    ),
    only_value("num_experts", 0),
    only_value("moe_every_n_layers", 0, -1),
    only_value("activation_function", "swiglu"),
    Field("pad_to", "pad_vocab_size_multiple", 1, "choice", report_default=False),
    Field("inner_to", "n_inner", None, "choice", read=lambda stated: 1 if stated is None else 256, report_default=False),
    computed("padded", refuse_unpadded),
)
HEADS = {"ForMaskedLM": HeadSpec(masked_lm), **{name: BERT_TASKS[name] for name in ("ForSequenceClassification", "ForTokenClassification")}}
JINA_HEADS = {name: head for name, head in ROBERTA_HEADS.items() if name not in ("ForCausalLM", "ForMultipleChoice")}
HEAD_DIM = size("head_dim", "head_dim", lambda c: exact(c.hidden, c.heads), "D", "head dimension")
NOMIC = tuple(
    replace(field, aliases=(GPT2[field.key],)) if field.key in GPT2 else field
    for field in bert_fields(vocab=30528)
    if field.word not in ("positions", "head_dim")
)
JINA = tuple(
    HEAD_DIM if field.word == "head_dim" else field
    for field in bert_fields(vocab=250002, types=1, hidden=1024, mlp=4096, layers=24, heads=16)
    if field.word != "positions"
)

FAMILIES = {
    "nomic_bert": Family(
        "nomic_bert",
        (
            *uneven_heads((*NOMIC, HEAD_DIM)),
            switch("pooled", "add_pooling_layer", False, report_default=False),
            *PUBLISHED,
        ),
        {**with_heads("NomicBert", "nomic_bert", nomic_bert, HEADS), "NomicBertForPreTraining": pre_training},
        "NomicBertModel",
        ignored_keys=GPT2_NEUTRAL,
        normalize_config=refuse_two_namings,
        remote=frozenset({"NomicBertForPreTraining"}),
    ),
    "jina_embeddings_v3": Family(
        "jina_embeddings_v3",
        (*uneven_heads(JINA), POOLED),
        with_heads("JinaEmbeddingsV3", "roberta", jina_embeddings, JINA_HEADS, first=True),
        "JinaEmbeddingsV3Model",
        ignored_keys=IGNORED_KEYS,
    ),
}
