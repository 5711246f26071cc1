"""GPT-2: "Language Models are Unsupervised Multitask Learners" (Radford et al., 2019); and GPT-BigCode, which can use multi-query attention.

Source: openai/gpt-2, src/model.py; class and tensor names as in transformers 5.23.0, models/gpt2/modeling_gpt2.py and
models/gpt_bigcode/modeling_gpt_bigcode.py. GPT-2's linear layers are stored as ``[inputs, outputs]``.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    LABELS,
    N_EMBD,
    N_HEAD,
    N_INNER,
    N_LAYER,
    TIED,
    VOCAB,
    Config,
    constant,
    derived,
    size,
    switch,
    variant,
)
from weighbridge.core.length import Stream
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    VOCAB.with_default(50257),
    size("positions", "n_positions", 1024, "S", "positions", "max_position_embeddings"),
    N_EMBD.with_default(768),
    N_LAYER.with_default(12),
    N_HEAD.with_default(12),
    N_INNER.with_default(lambda c: 4 * c.hidden),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "n_embd", "n_head"),
    LABELS,
    TIED,
    switch("cross", "add_cross_attention", False),
    switch("summarized", "summary_use_proj", True),
    switch("to_labels", "summary_proj_to_labels", True),
    constant("transposed", True),
    constant("head_bias", False),
)


def gpt2(c: Config, norm: Callable[[str, Size], Part] = layer_norm) -> tuple[Node, ...]:
    """Describe token and position embeddings, layers with a *norm* before each half, and a last one."""
    H = c.hidden
    crossed = (attention(c, "crossattention", keys="encoder"), norm("ln_cross_attn", H)) if c.cross else ()
    layer = part(
        "h",
        norm("ln_1", H),
        attention(c, "attn"),
        norm("ln_2", H),
        *crossed,
        part("mlp", dense(c, "c_fc", H, c.mlp), dense(c, "c_proj", c.mlp, H), kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("wte", c.vocab, H), embedding("wpe", c.positions, H), layer, norm("ln_f", H))


def attention(c: Config, name: str, *, keys: str | None = None) -> Part:
    """Describe attention with one fused layer for queries, keys and values; over an encoder's states, queries stand apart."""
    H, kept = c.hidden, c.kv_heads * c.head_dim
    if keys is None:
        fused: tuple[Part, ...] = (dense(c, "c_attn", H, H + 2 * kept),)
    else:
        fused = (dense(c, "c_attn", H, 2 * H, stream=keys), dense(c, "q_attn", H, H))
    op = attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=c.head_dim, keys=keys, causal=keys is None)
    return part(name, *fused, dense(c, "c_proj", H, H), op, kind="cross_attention" if keys else "self_attention", requires=keys)


def dense(c: Config, name: str, inputs: Size, outputs: Size, *, stream: Stream | None = None) -> Part:
    """Describe a linear layer, stored as ``[inputs, outputs]`` in GPT-2 and the usual way in GPT-BigCode."""
    if not c.transposed:
        return linear(name, inputs, outputs, stream=stream)
    return part(name, Tensor("weight", (inputs, outputs)), Tensor("bias", (outputs,), "bias"), kind="linear", stream=stream)


def double_heads(c: Config) -> Part:
    """Describe GPT2DoubleHeadsModel: the language model, and one score for a whole sequence, regardless of the number of labels."""
    model = GPT2["GPT2LMHeadModel"](c)
    summary = (linear("summary", c.hidden, 1 if c.to_labels else c.hidden, stream="one"),) if c.summarized else ()
    return replace(model, children=(*model.children, part("multiple_choice_head", *summary, kind="head")))


def _kv_heads(c: Config) -> Size:
    return 1 if c.shared else c.heads


GPT2 = with_heads("GPT2", gpt2, prefix="transformer", table="wte", lm="LMHeadModel", token="classifier")
GPT2_CLASSES = {**GPT2, "GPT2DoubleHeadsModel": double_heads}
BIGCODE = with_heads("GPTBigCode", gpt2, "lm sequence token", prefix="transformer", table="wte", token="classifier")

GPT2_FIELDS = variant(FIELDS, constant("shared", False), derived("kv_heads", _kv_heads, "n_head"))
BIGCODE_FIELDS = variant(FIELDS, switch("shared", "multi_query", True), derived("kv_heads", _kv_heads, "n_head"), transposed=False)
MORE_IGNORED_KEYS = frozenset(
    """activation_function attention_softmax_in_fp32 n_ctx num_key_value_heads reorder_and_upcast_attn scale_attn_by_inverse_layer_idx
    scale_attention_softmax_in_fp32 scale_attn_weights summary_activation summary_first_dropout summary_type""".split()
)

FAMILIES = {
    "gpt2": Family("gpt2", GPT2_FIELDS, GPT2_CLASSES, "GPT2Model", IGNORED_KEYS | MORE_IGNORED_KEYS),
    "gpt-sw3": Family("gpt-sw3", GPT2_FIELDS, GPT2_CLASSES, "GPT2Model", IGNORED_KEYS | MORE_IGNORED_KEYS),
    "gpt_bigcode": Family("gpt_bigcode", BIGCODE_FIELDS, BIGCODE, "GPTBigCodeModel", IGNORED_KEYS | MORE_IGNORED_KEYS),
}
