"""Nomic Embed v2 (Nussbaum and Duderstadt, 2025): XLM-R with rotary positions and, in every second layer, experts.

Source: arXiv 2502.07972; names and keys as in modeling_hf_nomic_bert.py of nomic-ai/nomic-bert-2048, whose experts are MegaBlocks'.
Held to the published total 475,292,928, not to a live class. Configs give it the type ``nomic_bert``; their experts tell it apart.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.nomic_bert import GPT2, GPT2_NEUTRAL, only_value, refuse_unpadded
from weighbridge.blueprints.modules.bert_family import bert_fields
from weighbridge.config.family import Family
from weighbridge.config.fields import NUM_EXPERTS, Config, Field, computed, constant, size, switch
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor


def nomic_bert_moe(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, and layers of attention and of an MLP or experts, each half normed after it is added."""
    H = c.hidden
    tables = (embedding("word_embeddings", c.vocab, H), embedding("token_type_embeddings", c.types, H))

    def layer(kind: str) -> tuple[Node, ...]:
        second = experts(c) if kind == "sparse" else part("mlp", *dense(c), kind="feed_forward")
        return (attention(c), second, layer_norm("norm1", H), layer_norm("norm2", H))

    layers = part("encoder", *stack("layers", c.kinds, c.layers, layer), kind="encoder")
    return (part("embeddings", *tables, kind="embeddings"), layers, layer_norm("emb_ln", H))


def attention(c: Config) -> Part:
    """Describe attention whose queries, keys and values come from one layer."""
    H, bias = c.hidden, c.qkv_bias
    op = attend(heads=c.heads, head_dim=c.head_dim)
    return part("attn", linear("Wqkv", H, 3 * H, bias=bias), linear("out_proj", H, H, bias=bias), op, kind="self_attention")


def dense(c: Config) -> tuple[Part, Part]:
    """Describe the two linear maps of an MLP without a gate."""
    return linear("fc1", c.hidden, c.mlp, bias=c.first_bias), linear("fc2", c.mlp, c.hidden, bias=c.second_bias)


def experts(c: Config) -> Part:
    """Describe router and experts, whose matrices stand one below another, and the bias that they share."""
    H, E, rows = c.hidden, c.experts, c.experts * c.mlp
    matrices = (Tensor(name, (rows, H), "weight", inputs_first=name == "w2") for name in ("w1", "w2"))
    held = part("mlp", *matrices, kind="experts", experts=E, active=c.active)
    shared = part("experts", held, Tensor("bias", (H,), "bias"), kind="experts")
    return part("mlp", part("router", linear("layer", H, E, bias=False), kind="router"), shared, kind="mixture")


def _kinds(c: Config) -> list[str]:
    return ["sparse" if c.every > 0 and index % c.every == 1 else "dense" for index in layer_range(c.layers)]


FIELDS = (
    *(
        replace(field, aliases=(GPT2[field.key],)) if field.key in GPT2 else field
        for field in bert_fields(vocab=250048, types=1)
        if field.word != "positions"
    ),
    NUM_EXPERTS.with_default(8),
    size("active", "moe_top_k", 2, "k", "experts per token"),
    Field("every", "moe_every_n_layers", 2, "choice", report_default=False),
    switch("qkv_bias", "qkv_proj_bias", True),
    switch("first_bias", "mlp_fc1_bias", True),
    switch("second_bias", "mlp_fc2_bias", True),
    constant("kinds", _kinds),
    Field("pad_to", "pad_vocab_size_multiple", 1, "choice", report_default=False),
    constant("inner_to", 1),
    computed("padded", refuse_unpadded),
    *(only_value(key, False) for key in "prenorm parallel_block use_rms_norm norm_mlp add_pooling_layer".split()),
    only_value("activation_function", "gelu"),
    only_value("num_shared_experts", 0),
)
MORE_IGNORED_KEYS = GPT2_NEUTRAL | frozenset(
    """expert_choice_router ffn_div moe_impl moe_normalize_expert_weights moe_resid_pdrop router_aux_loss_coef
    parallel_block_tied_norm""".split()
)
CLASSES = {"NomicBertModel": lambda c: part("", *nomic_bert_moe(c), kind="model")}
FAMILIES = {"nomic_bert_moe": Family("nomic_bert_moe", FIELDS, CLASSES, "NomicBertModel", MORE_IGNORED_KEYS)}
