"""MVP: BART with optional prefix prompts in front of the keys and values of every layer (Tang et al., 2022).

Source: arXiv 2206.12131; names as in transformers 5.23.0, models/mvp/modeling_mvp.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.seq2seq import bart
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, switch, variant
from weighbridge.core.length import Stream, per_batch, sum_of
from weighbridge.core.parts import embedding, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Attend, Node, Part

FIELDS = variant(
    fairseq_transformer.fields(50267, 1024, 1024, 4096, (12, 12), 16),
    size("prompt", "prompt_length", 100, "P", "tokens of a prompt"),
    size("prompt_mlp", "prompt_mid_dim", 800, "I_pro", "width of the prompt encoder"),
    switch("prompted", "use_prompt", False),
)
STYLE = fairseq_transformer.Style(offset=2, embed_norm=True)


def prompt(c: Config, name: str, layers: Size) -> Part:
    """Describe the prompts of all layers, made together, once for all examples."""
    maps = (linear("0", c.hidden, c.prompt_mlp), linear("2", c.prompt_mlp, 2 * layers * c.hidden))
    inner = (embedding("prompt_embedding", c.prompt, c.hidden), part("prompt_trans", *maps, kind="transform"))
    return part(name, *inner, kind="prompt", stream=per_batch(c.prompt))


def with_prompts(c: Config, layer: Part, memory: Stream | None = None) -> Part:
    """Let the attentions of *layer* see the prompt as well."""

    def longer(module: Node) -> Node:
        if not isinstance(module, Part) or not module.name.endswith("attn"):
            return module
        *maps, seen = module.children
        assert isinstance(seen, Attend)
        own: Stream = "seq" if memory in (None, "encoder") else "decoder"
        keys = memory if module.name == "encoder_attn" and memory is not None else own
        # a prompt's keys and values are made anew in each pass, and not kept
        return replace(module, children=(*maps, replace(seen, keys=sum_of(c.prompt, keys), kept=keys)))

    return replace(layer, children=tuple(longer(module) for module in layer.children))


def decoder(c: Config, memory: Stream, tied_to: str | None) -> Part:
    """Describe the decoder of both sides, with prompts for itself and for what it sees of the encoder."""
    layer = fairseq_transformer.layer(c, memory=memory)
    if not c.prompted:
        return part("", *fairseq_transformer.stack(c, STYLE, c.vocab, tied_to, layer), kind="model")
    stack = fairseq_transformer.stack(c, STYLE, c.vocab, tied_to, with_prompts(c, layer, memory))
    prompts = (prompt(c, "self_attn_prompt", c.decoder_layers), prompt(c, "cross_attn_prompt", c.decoder_layers))
    return part("", *stack, *prompts, kind="model")


def backbone(c: Config, prefix: str = "") -> tuple[Part, ...]:
    """Describe both sides; the reference passes the encoder its switch in the wrong place, so it has no prompt."""
    shared, reading, _ = fairseq_transformer.backbone(c, STYLE, prefix)
    writing = decoder(c, "seq", f"{prefix}shared.weight" if c.tied else None)
    return shared, reading, replace(writing, name="decoder", kind="decoder", stream="decoder")


CLASSES = {
    "MvpModel": lambda c: part("", *backbone(c), kind="model"),
    "MvpForConditionalGeneration": lambda c: bart.with_lm_head(c, backbone(c, "model.")),
    "MvpForSequenceClassification": lambda c: bart.sequence_classification(c, backbone(c, "model.")),
    "MvpForQuestionAnswering": lambda c: bart.question_answering(c, backbone(c, "model.")),
    # A side alone is built without prompts: its switch is an argument of the class, which no config sets.
    "MvpEncoder": lambda c: bart.encoder(c, STYLE),
    "MvpDecoder": lambda c: bart.decoder(c, STYLE),
    "MvpDecoderWrapper": lambda c: bart.wrapped_decoder(bart.decoder(c, STYLE)),
    "MvpForCausalLM": lambda c: bart.causal_lm(c, bart.decoder(c, STYLE)),
}

FAMILIES = {"mvp": Family("mvp", FIELDS, CLASSES, "MvpModel", fairseq_transformer.IGNORED_KEYS)}
