"""Switch Transformers: T5 with top-1 mixtures of experts in some layers (Fedus et al., 2021).

Source: arXiv 2101.03961; names as in transformers 5.23.0, models/switch_transformers/modeling_switch_transformers.py. An expert
takes only so many tokens of an example; beyond that, who is left out depends on the data.
"""

from __future__ import annotations

from weighbridge.blueprints.seq2seq import t5
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    D_MODEL,
    NUM_EXPERTS,
    TIED,
    AtInit,
    Config,
    Field,
    computed,
    constant,
    size,
    switch,
    variant,
)
from weighbridge.core.length import Stream, valid_up_to
from weighbridge.core.parts import embedding, linear, part, replace, rms_norm
from weighbridge.core.parts import stack as stacked
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part


def step(layers: int, sparse: int) -> int:
    """Return the steps in which layers with experts stand: as many as there are layers, where none has any."""
    return layers // sparse if sparse else layers


def kinds(layers: int, step: int) -> list[tuple[bool, bool]]:
    """Return for each layer whether it is the first, and whether it has experts, which stand in equal steps."""
    return [(index == 0, step == 1 or (step > 0 and index % step == 1)) for index in layer_range(layers)]


FIELDS = variant(
    tuple(field for field in t5.fields(32128, 2048, 12, 12, "relu") if field.word not in ("labels", "long")),
    NUM_EXPERTS.with_default(8),
    size("capacity", "expert_capacity", 64, "M", "tokens of an example that an expert takes"),
    size("sparse", "num_sparse_encoder_layers", 3, "L_moe", "encoder layers with experts", minimum=0),
    size("decoder_sparse", "num_sparse_decoder_layers", 3, "L_moe_dec", "decoder layers with experts", minimum=0),
    Field("step", "encoder_sparse_step", AtInit(lambda c: step(c.layers, c.sparse)), "choice", report_default=False),
    Field(
        "decoder_step", "decoder_sparse_step", AtInit(lambda c: step(c.decoder_layers, c.decoder_sparse)), "choice", report_default=False
    ),
    computed("kinds", lambda c: kinds(c.layers, c.step)),
    computed("decoder_kinds", lambda c: kinds(c.decoder_layers, c.decoder_step)),
    TIED,
    switch("router_bias", "router_bias", False),
    hidden=D_MODEL.with_default(768),
    head_dim=t5.WIDTH,
    decoder_layers=size("decoder_layers", "num_decoder_layers", 12, "L_dec", "decoder layers", null=AtInit(lambda c: c.layers)),
    gated=constant("gated", False),
)
IGNORED_KEYS = t5.IGNORED_KEYS | set(
    """router_dtype router_ignore_padding_tokens router_z_loss_coef add_router_probs
    add_cross_attention""".split()
)


def feed_forward(c: Config, sparse: bool, tokens: Stream) -> Part:
    """Describe T5's feed-forward step, or a router and its experts."""
    maps = t5.feed_forward(c).children
    if not sparse:
        return part("mlp", *maps, kind="feed_forward")
    router = part("router", linear("classifier", c.hidden, c.experts, bias=c.router_bias), kind="router")
    kept = valid_up_to(tokens, c.capacity, "tokens that an expert takes")
    experts = part("expert_", *maps, kind="experts", repeat=c.experts, experts=c.experts, active=1, stream=kept)
    return part("mlp", router, part("experts", experts, kind="experts"), kind="feed_forward")


def stack(
    c: Config, layers: Size, kinds: list[tuple[bool, bool]], *, memory: Stream | None = None, tokens: Stream = "seq"
) -> tuple[Node, ...]:
    """Describe one side; *memory* is what a decoder attends to."""
    crossed = (
        (t5.sublayer(c, t5.attention(c, "EncDecAttention", keys=memory), "encoder" if memory == "encoder" else None),) if memory else ()
    )

    def block(kind: tuple[bool, bool]) -> tuple[Node, ...]:
        own = t5.sublayer(c, t5.attention(c, "SelfAttention", bias=kind[0], causal=memory is not None))
        steps = (own, *crossed, t5.sublayer(c, feed_forward(c, kind[1], tokens)))
        return tuple(replace(module, indices=(index,)) for index, module in enumerate(steps))

    return (*stacked("block", kinds, layers, block), rms_norm("final_layer_norm", c.hidden))


def words(c: Config, tied_to: str | None = None) -> Part:
    """Describe the word embeddings."""
    return embedding("embed_tokens", c.vocab, c.hidden, tied_to=tied_to)


def shared_embedding(c: Config) -> str | None:
    """Return what the tables and the head share, if the config ties them."""
    return "shared.weight" if c.tied else None


def stack_alone(c: Config) -> tuple[Node, ...]:
    """Describe one stack by itself: an encoder, or a decoder if the config says so."""
    return stack(c, c.decoder_layers, c.decoder_kinds, memory="encoder") if c.decoder else stack(c, c.layers, c.kinds)


def backbone(c: Config) -> tuple[Part, ...]:
    """Describe the shared table and both sides."""
    reading = stack(c, c.layers, c.kinds)
    writing = stack(c, c.decoder_layers, c.decoder_kinds, memory="seq", tokens="decoder")
    return (
        embedding("shared", c.vocab, c.hidden),
        part("encoder", words(c, shared_embedding(c)), *reading, kind="encoder"),
        part("decoder", words(c, shared_embedding(c)), *writing, kind="decoder", stream="decoder"),
    )


def generation(c: Config) -> Part:
    """Describe SwitchTransformersForConditionalGeneration."""
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=shared_embedding(c), stream="decoder")
    return part("", *backbone(c), head, kind="model")


def encoder(c: Config) -> Part:
    """Describe SwitchTransformersEncoderModel."""
    inner = part("encoder", words(c, shared_embedding(c)), *stack_alone(c), kind="encoder")
    return part("", embedding("shared", c.vocab, c.hidden), inner, kind="model")


CLASSES = {
    "SwitchTransformersModel": lambda c: part("", *backbone(c), kind="model"),
    "SwitchTransformersForConditionalGeneration": generation,
    "SwitchTransformersEncoderModel": encoder,
    "SwitchTransformersStack": lambda c: part("", words(c), *stack_alone(c), kind="model"),
}

FAMILIES = {"switch_transformers": Family("switch_transformers", FIELDS, CLASSES, "SwitchTransformersModel", IGNORED_KEYS)}
