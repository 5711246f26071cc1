"""BigBird: BERT with block-sparse attention for long texts (Zaheer et al., 2020).

Source: arXiv 2007.14062; class and tensor names as in transformers 5.23.0, models/big_bird/modeling_big_bird.py.
Blocks are used only for texts longer than ``(5 + 2 * num_random_blocks) * block_size`` tokens; shorter ones
are attended to in full.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, feed_forward, output_block
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.modules.bert_family import (
    BERT_HEADS,
    BERT_TASKS,
    ROBERTA_HEADS,
    HeadSpec,
    bert_fields,
    encoder_stack,
    with_heads,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config, choice, size, switch
from weighbridge.core.length import Stream, unknown, valid_up_to
from weighbridge.core.parts import attend, linear, part
from weighbridge.core.tree import Part

FIELDS = (
    *bert_fields(vocab=50358, positions=4096),
    switch("biased", "use_bias", True),
    choice("attention", "attention_type", "block_sparse"),
    size("block", "block_size", 64, "B", "tokens per block"),
    size("random", "num_random_blocks", 3, "R", "random blocks", minimum=0),
    *DECODER,
    POOLED,
    # The class for questions is built without a pooler unless it is asked for.
    switch("asked", "add_pooling_layer", False, report_default=False),
)


def big_bird(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; the pooler is a bare linear map."""
    crossed = (attention(c, "crossattention", "encoder"),) if c.crossed else ()
    layer = part("layer", attention(c, "attention"), *crossed, *feed_forward(c), kind="layer", repeat=c.layers)
    pooler = (linear("pooler", c.hidden, c.hidden, stream="one"),) if pooled or c.asked else ()
    return (bert_embeddings(c), encoder_stack(layer), *pooler)


def attention(c: Config, name: str, keys: str | None = None) -> Part:
    """Describe attention, in full as far as the reference attends in full."""
    H = c.hidden
    blocks = c.attention == "block_sparse" and not c.decoder
    sight: Stream | None = (
        unknown("the reference's BigBird attends to its own cache where it should attend to the encoder") if keys else None
    )
    if blocks and not keys:
        sight = valid_up_to("seq", (5 + 2 * c.random) * c.block, "tokens BigBird attends in full")
    inner = part(
        "self",
        linear("query", H, H, bias=c.biased),
        linear("key", H, H, bias=c.biased, stream=keys),
        linear("value", H, H, bias=c.biased, stream=keys),
        attend(heads=c.heads, head_dim=c.head_dim, keys=sight, causal=keys is None and c.decoder),
        kind="attention",
    )
    return part(name, inner, output_block(H, H), kind="cross_attention" if keys else "self_attention", requires=keys)


def question_answering(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe question answering: a feed-forward network of its own, then always start and end."""
    return (part("qa_classifier", *feed_forward(c), linear("qa_outputs", c.hidden, 2), kind="head"),)


HEADS = {
    **{name: HeadSpec(BERT_HEADS[name].head, True) for name in ("ForPreTraining", "ForCausalLM", "ForMaskedLM")},
    **{name: HeadSpec(worn.head, True) for name, worn in BERT_TASKS.items()},
    "ForSequenceClassification": HeadSpec(ROBERTA_HEADS["ForSequenceClassification"].head, True),
    "ForQuestionAnswering": HeadSpec(question_answering),
}
IGNORED_KEYS = frozenset({"rescale_embeddings"})

FAMILIES = {
    "big_bird": Family("big_bird", FIELDS, with_heads("BigBird", "bert", big_bird, HEADS), "BigBirdModel", ignored_keys=IGNORED_KEYS)
}
