"""MVP: BART with prompts, learned vectors that stand before the keys and values of every layer (Tang et al., 2022).

Source: arXiv 2206.12131; names as in transformers 5.23.0, models/mvp/modeling_mvp.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.seq2seq import bart
from weighbridge.config.family import Family
from weighbridge.config.fields import Sizes, size, switch, variant
from weighbridge.core.parts import attend, embedding, linear
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Once, Part, Stream, Together

FIELDS = variant(
    fairseq_transformer.fields(50267, 1024, 1024, 4096, (12, 12), 16),
    size("prompt", "prompt_length", 100, "P", "tokens of a prompt"),
    size("prompt_mlp", "prompt_mid_dim", 800, "I_pro", "width in which prompts are made"),
    switch("prompted", "use_prompt", False),
)
STYLE = fairseq_transformer.Style(offset=2, embed_norm=True)


def prompt(c: Sizes, name: str, layers: Size) -> Part:
    """Describe the prompts of all layers, made together, once for all examples."""
    maps = (linear("0", c.hidden, c.prompt_mlp), linear("2", c.prompt_mlp, 2 * layers * c.hidden))
    inner = (embedding("prompt_embedding", c.prompt, c.hidden), Part("prompt_trans", maps, "transform"))
    return Part(name, inner, "prompt", stream=Once(c.prompt))


def prompted(c: Sizes, layer: Part, memory: Stream | None = None) -> Part:
    """Let the attentions of *layer* see the prompt as well."""

    def longer(part: Node) -> Node:
        if not isinstance(part, Part) or not part.name.endswith("attn"):
            return part
        heads, head_dim = (c.heads, c.head_dim) if memory is None else (c.decoder_heads, c.decoder_head_dim)
        own: Stream = "seq" if memory in (None, "encoder") else "decoder"
        keys = memory if part.name == "encoder_attn" and memory is not None else own
        return part._replace(children=(*part.children[:-1], attend(heads=heads, head_dim=head_dim, keys=Together((c.prompt, keys)))))

    return layer._replace(children=tuple(longer(part) for part in layer.children))


def encoder(c: Sizes) -> Part:
    """Describe MvpEncoder alone, the only place where the encoder's prompt is heard of."""
    if not c.prompted:
        return bart.encoder(c, STYLE)
    stack = fairseq_transformer.stack(c, STYLE, c.vocab, None, prompted(c, fairseq_transformer.layer(c)))
    return Part("", (*stack, prompt(c, "self_attn_prompt", c.layers)), "model")


def decoder(c: Sizes, memory: Stream = "encoder", tied_to: str | None = None) -> Part:
    """Describe the decoder, with prompts for itself and for what it sees of the encoder."""
    layer = fairseq_transformer.layer(c, memory=memory)
    if not c.prompted:
        return Part("", fairseq_transformer.stack(c, STYLE, c.vocab, tied_to, layer), "model")
    stack = fairseq_transformer.stack(c, STYLE, c.vocab, tied_to, prompted(c, layer, memory))
    prompts = (prompt(c, "self_attn_prompt", c.decoder_layers), prompt(c, "cross_attn_prompt", c.decoder_layers))
    return Part("", (*stack, *prompts), "model")


def backbone(c: Sizes, prefix: str = "") -> tuple[Part, ...]:
    """Describe both sides; the reference passes the encoder its switch in the wrong place, so it has no prompt."""
    shared, reading, _ = fairseq_transformer.backbone(c, STYLE, prefix)
    writing = decoder(c, "seq", f"{prefix}shared.weight" if c.tied else None)
    return shared, reading, writing._replace(name="decoder", kind="decoder", stream="decoder")


CLASSES = {
    "MvpModel": lambda c: Part("", backbone(c), "model"),
    "MvpForConditionalGeneration": lambda c: bart.writing(c, backbone(c, "model.")),
    "MvpForSequenceClassification": lambda c: bart.sequence_classification(c, backbone(c, "model.")),
    "MvpForQuestionAnswering": lambda c: bart.question_answering(c, backbone(c, "model.")),
    "MvpEncoder": encoder,
    "MvpDecoder": decoder,
    # What stands alone under a head is built without prompts.
    "MvpDecoderWrapper": lambda c: bart.wrapped(bart.decoder(c, STYLE)),
    "MvpForCausalLM": lambda c: bart.causal(c, bart.decoder(c, STYLE)),
}

FAMILIES = {"mvp": Family("mvp", FIELDS, CLASSES, "MvpModel", fairseq_transformer.NEUTRAL)}
