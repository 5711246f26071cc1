"""NLLB-MoE: M2M-100 with experts in every few layers (NLLB team, 2022).

Source: arXiv 2207.04672; names as in transformers 5.23.0, models/nllb_moe/modeling_nllb_moe.py. Two experts are chosen for a
token. The reference takes the mask of its choice for indices, and so runs as many experts for a token as there are.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.seq2seq import bart
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, computed, size, switch, variant
from weighbridge.core.length import Stream
from weighbridge.core.parts import embedding, layer_norm, linear, matmul, part, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part

CHOSEN = 2
FIELDS = variant(
    tuple(
        field for field in fairseq_transformer.fields(128112, 1024, 1024, 4096, (12, 12), 16) if field.word not in ("positions", "labels")
    ),
    size("experts", "num_experts", 128, "E", "experts", minimum=CHOSEN),
    size("step", "encoder_sparse_step", 4, "P", "interval between encoder layers with experts", minimum=0),
    size("decoder_step", "decoder_sparse_step", 4, "P_dec", "interval between decoder layers with experts", minimum=0),
    computed("sparse", lambda c: [c.step > 0 and (index + 1) % c.step == 0 for index in layer_range(c.layers)]),
    computed(
        "decoder_sparse", lambda c: [c.decoder_step > 0 and (index + 1) % c.decoder_step == 0 for index in layer_range(c.decoder_layers)]
    ),
    switch("router_bias", "router_bias", False),
)
IGNORED_KEYS = fairseq_transformer.IGNORED_KEYS | set(
    """max_position_embeddings router_dtype router_ignore_padding_tokens expert_capacity router_z_loss_coef second_expert_policy
    normalize_router_prob_before_dropping batch_prioritized_routing moe_eval_capacity_token_fraction moe_token_dropout""".split()
)


def feed_forward(c: Config, mlp: Size, sparse: bool, tokens: Stream) -> Part:
    """Describe two linear maps, or as many pairs of them as there are experts."""
    maps = (linear("fc1", c.hidden, mlp), linear("fc2", mlp, c.hidden))
    if not sparse:
        return part("ffn", *maps, kind="feed_forward")
    router = part("router", linear("classifier", c.hidden, c.experts, bias=c.router_bias), kind="router")
    experts = part("expert_", *maps, kind="experts", repeat=c.experts, experts=c.experts, active=CHOSEN)
    others = matmul("others", (tokens, c.experts - CHOSEN, 2 * c.hidden * mlp))
    return part("ffn", router, part("experts", experts, others, kind="experts"), kind="feed_forward")


def layers(c: Config, memory: Stream | None = None, tokens: Stream = "seq") -> tuple[Part, ...]:
    """Describe the encoder's layers, or with *memory* the decoder's."""
    repeat, kinds, mlp = (c.layers, c.sparse, c.mlp) if memory is None else (c.decoder_layers, c.decoder_sparse, c.decoder_mlp)
    crossed = fairseq_transformer.attention(c, "cross_attention", decoder=True, keys=memory) if memory is not None else ()
    attentions = (*fairseq_transformer.attention(c, "self_attn", decoder=memory is not None), *crossed)

    def layer(sparse: bool) -> tuple[Node, ...]:
        return (*attentions, feed_forward(c, mlp, sparse, tokens), layer_norm("ff_layer_norm", c.hidden))

    return stack("layers", kinds, repeat, layer)


def side(c: Config, parts: tuple[Part, ...], tied_to: str | None = None) -> tuple[Part, ...]:
    """Describe one side; positions are computed."""
    return embedding("embed_tokens", c.vocab, c.hidden, tied_to=tied_to), *parts, layer_norm("layer_norm", c.hidden)


def backbone(c: Config, prefix: str = "") -> tuple[Part, ...]:
    """Describe the shared table and both sides."""
    words = f"{prefix}shared.weight" if c.tied else None
    return (
        embedding("shared", c.vocab, c.hidden),
        part("encoder", *side(c, layers(c), words), kind="encoder"),
        part("decoder", *side(c, layers(c, "seq", "decoder"), words), kind="decoder", stream="decoder"),
    )


def generation(c: Config) -> Part:
    """Describe NllbMoeForConditionalGeneration."""
    return bart.with_lm_head(c, backbone(c, "model."), False)


CLASSES = {
    "NllbMoeModel": lambda c: part("", *backbone(c), kind="model"),
    "NllbMoeForConditionalGeneration": generation,
    "NllbMoeEncoder": lambda c: part("", *side(c, layers(c)), kind="model"),
    "NllbMoeDecoder": lambda c: part("", *side(c, layers(c, "encoder")), kind="model"),
}

FAMILIES = {"nllb-moe": Family("nllb-moe", FIELDS, CLASSES, "NllbMoeModel", IGNORED_KEYS)}
