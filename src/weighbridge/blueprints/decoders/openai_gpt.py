"""The original GPT: "Improving Language Understanding by Generative Pre-Training" (Radford et al., 2018).

Source: openai/finetune-transformer-lm, train.py; class and tensor names as in transformers 5.23.0,
models/openai/modeling_openai.py. Norms come after each half of a layer, and there is no last one.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.gpt2 import FIELDS as GPT2
from weighbridge.blueprints.decoders.gpt2 import dense
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, variant
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace
from weighbridge.core.tree import Node, Part

FIELDS = tuple(field for field in variant(GPT2, vocab=40478, positions=512) if field.word not in ("mlp", "cross"))


def openai(c: Config) -> tuple[Node, ...]:
    """Describe token and position embeddings, and layers with a norm after each half."""
    H = c.hidden
    layer = part(
        "h",
        part(
            "attn",
            dense(c, "c_attn", H, 3 * H),
            dense(c, "c_proj", H, H),
            attend(heads=c.heads, head_dim=c.head_dim),
            kind="self_attention",
        ),
        layer_norm("ln_1", H),
        part("mlp", dense(c, "c_fc", H, 4 * H), dense(c, "c_proj", 4 * H, H), kind="feed_forward"),
        layer_norm("ln_2", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("tokens_embed", c.vocab, H), embedding("positions_embed", c.positions, H), layer)


def double_heads(c: Config) -> Part:
    """Describe OpenAIGPTDoubleHeadsModel: the language model, and one score for a whole sequence."""
    model = CLASSES["OpenAIGPTLMHeadModel"](c)
    summary = (linear("summary", c.hidden, 1 if c.to_labels else c.hidden, stream="one"),) if c.summarized else ()
    return replace(model, children=(*model.children, part("multiple_choice_head", *summary, kind="head")))


CLASSES = with_heads("OpenAIGPT", openai, "lm sequence", prefix="transformer", table="tokens_embed", lm="LMHeadModel")
MORE_IGNORED_KEYS = IGNORED_KEYS | {"afn", "summary_activation", "summary_first_dropout", "summary_type"}
ALL = {**CLASSES, "OpenAIGPTDoubleHeadsModel": double_heads}
FAMILIES = {"openai-gpt": Family("openai-gpt", FIELDS, ALL, "OpenAIGPTModel", MORE_IGNORED_KEYS)}
