"""BigBird-PEGASUS: a PEGASUS decoder behind BigBird's encoder (Zaheer et al., 2020).

Source: arXiv 2007.14062; names as in transformers 5.23.0, models/bigbird_pegasus/modeling_bigbird_pegasus.py. Texts that
are not longer than a few blocks are attended to in full; the rest is not described.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.seq2seq import bart
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, size, switch, variant
from weighbridge.core.length import Stream, valid_up_to
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.tree import Node, Part

FIELDS = variant(
    fairseq_transformer.fields(96103, 4096, 1024, 4096, (16, 16), 16),
    switch("biased", "use_bias", False),
    choice("attention", "attention_type", "block_sparse"),
    size("block", "block_size", 64, "B", "tokens per block"),
    size("random", "num_random_blocks", 3, "R", "random blocks", minimum=0),
)
STYLE = fairseq_transformer.Style(embed_norm=True)


def encoder(c: Config, tied_to: str | None = None) -> tuple[Node, ...]:
    """Describe the encoder."""
    H = c.hidden
    sight: Stream = (
        valid_up_to("seq", (5 + 2 * c.random) * c.block, "tokens BigBird attends in full") if c.attention == "block_sparse" else "seq"
    )
    inner = part(
        "self",
        *(linear(name, H, H, bias=c.biased) for name in ("query", "key", "value")),
        attend(heads=c.heads, head_dim=c.head_dim, keys=sight),
        kind="attention",
    )
    layer = part(
        "layers",
        part("self_attn", inner, linear("output", H, H, bias=c.biased), kind="self_attention"),
        layer_norm("self_attn_layer_norm", H),
        linear("fc1", H, c.mlp),
        linear("fc2", c.mlp, H),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    tables = (embedding("embed_tokens", c.vocab, H, tied_to=tied_to), embedding("embed_positions", c.positions, H))
    return (*tables, layer, layer_norm("layernorm_embedding", H))


def decoder(c: Config) -> Part:
    """Describe the decoder alone."""
    layer = fairseq_transformer.layer(c, memory="encoder", bias=c.biased)
    return part("", *fairseq_transformer.stack(c, STYLE, c.vocab, None, layer), kind="model")


def backbone(c: Config, prefix: str = "") -> tuple[Part, ...]:
    """Describe the shared table and both sides."""
    return fairseq_transformer.backbone(c, STYLE, prefix, encoder, bias=c.biased)


CLASSES = {
    "BigBirdPegasusModel": lambda c: part("", *backbone(c), kind="model"),
    "BigBirdPegasusForConditionalGeneration": lambda c: bart.with_lm_head(c, backbone(c, "model.")),
    "BigBirdPegasusForSequenceClassification": lambda c: bart.sequence_classification(c, backbone(c, "model.")),
    "BigBirdPegasusForQuestionAnswering": lambda c: bart.question_answering(c, backbone(c, "model.")),
    # The reference declares no tie for this one.
    "BigBirdPegasusForCausalLM": lambda c: bart.causal_lm(c, decoder(c), tied=False),
    "BigBirdPegasusEncoder": lambda c: part("", *encoder(c), kind="model"),
    "BigBirdPegasusDecoder": decoder,
    "BigBirdPegasusDecoderWrapper": lambda c: bart.wrapped_decoder(decoder(c)),
}

FAMILIES = {"bigbird_pegasus": Family("bigbird_pegasus", FIELDS, CLASSES, "BigBirdPegasusModel", fairseq_transformer.IGNORED_KEYS)}
