"""PEGASUS-X: PEGASUS with block-local attention and global tokens for long inputs (Phang et al., 2022).

Source: arXiv 2208.04347; names as in transformers 5.23.0, models/pegasus_x/modeling_pegasus_x.py. The encoder pads its input to
whole blocks; every second layer shifts them by half a block, which makes one more.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.seq2seq import bart
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, computed, size, switch, variant
from weighbridge.core.length import Stream, length, sum_of
from weighbridge.core.parts import attend, embedding, layer_norm, linear, matmul, part, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Operation, Part

FIELDS = variant(
    tuple(
        field for field in fairseq_transformer.fields(96103, 16384, 1024, 4096, (16, 16), 16) if field.word not in ("positions", "labels")
    ),
    size("globals", "num_global_tokens", 32, "G", "global tokens"),
    size("block", "block_size", 512, "B", "tokens per block"),
    switch("stagger", "stagger_local_blocks", True),
    computed("lone", lambda c: c.globals == 1),
    computed("staggered", lambda c: [c.stagger and index % 2 == 1 for index in layer_range(c.layers)]),
)
IGNORED_KEYS = fairseq_transformer.IGNORED_KEYS | {"max_position_embeddings"}
STYLE = fairseq_transformer.Style("computed", final_norm=True, logits_bias=False)


def attention(c: Config, local: Stream) -> Part:
    """Describe attention: tokens see their block and the global tokens, which see everything."""
    every, blocks = sum_of(local, c.globals), length(local) // c.block
    # The weight of a single global token scales its value; that is no matrix product.
    seen: tuple[Operation, ...] = (attend(heads=c.heads, head_dim=c.head_dim, queries=c.block, keys=c.globals + c.block, groups=blocks),)
    if c.lone:
        within = attend(heads=c.heads, head_dim=c.head_dim, queries=c.block, keys=c.block, groups=blocks)
        seen = (within, matmul("beyond", (c.heads, blocks, c.block, c.globals, c.head_dim)))
    return part(
        "self_attn",
        *(linear(f"{name}_proj", c.hidden, c.hidden, bias=False, stream=every) for name in ("k", "v", "q", "out")),
        attend(heads=c.heads, head_dim=c.head_dim, queries=c.globals, keys=every),
        *seen,
        kind="self_attention",
    )


def encoder(c: Config, tied_to: str | None) -> tuple[Node, ...]:
    """Describe the encoder."""
    H = c.hidden
    padded = ((length("seq") + c.block - 1) // c.block) * c.block

    def layer(staggered: bool) -> tuple[Node, ...]:
        every = sum_of(padded, c.globals)
        return (
            attention(c, length(padded) + c.block if staggered else padded),
            layer_norm("self_attn_layer_norm", H, stream=padded),
            layer_norm("global_self_attn_layer_norm", H, stream=c.globals),
            linear("fc1", H, c.mlp, stream=every),
            linear("fc2", c.mlp, H, stream=every),
            layer_norm("final_layer_norm", H, stream=every),
        )

    tables = (embedding("embed_tokens", c.vocab, H, tied_to=tied_to), embedding("embed_global", c.globals, H))
    return (*tables, *stack("layers", c.staggered, c.layers, layer), layer_norm("layer_norm", H))


def decoder(c: Config) -> Part:
    """Describe the decoder alone, whose attention has no biases."""
    layer = fairseq_transformer.layer(c, memory="encoder", bias=False)
    return part("", *fairseq_transformer.stack(c, STYLE, c.vocab, None, layer), kind="model")


def backbone(c: Config, prefix: str = "") -> tuple[Part, ...]:
    """Describe the shared table and both sides."""
    return fairseq_transformer.backbone(c, STYLE, prefix, encoder, bias=False)


CLASSES = {
    "PegasusXModel": lambda c: part("", *backbone(c), kind="model"),
    "PegasusXForConditionalGeneration": lambda c: bart.with_lm_head(c, backbone(c, "model."), False),
    "PegasusXEncoder": lambda c: part("", *encoder(c, None), kind="model"),
    "PegasusXDecoder": decoder,
    "PegasusXDecoderWrapper": lambda c: bart.wrapped_decoder(decoder(c)),
}

FAMILIES = {"pegasus_x": Family("pegasus_x", FIELDS, CLASSES, "PegasusXModel", IGNORED_KEYS)}
