"""Speech decoders: Moshi, whole and its text model, and Moshi's and CSM's depth decoders of one audio frame's codebooks.

Source: arXiv 2410.00037; Sesame, CSM (2025); class and tensor names as in transformers 5.23.0, models/moshi/modeling_moshi.py and
models/csm/modeling_csm.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.sliding_window import window
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    CODEBOOKS,
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    VOCAB,
    Config,
    choice,
    computed,
    size,
    variant,
    with_changes,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import length, valid_up_to
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def moshi(c: Config) -> tuple[Node, ...]:
    """Describe words (and one row for none), layers of attention and a gated MLP whose halves are one matrix, and a last norm."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim

    def wrapped_linear(name: str, inputs: Size, outputs: Size) -> Part:
        return part(name, linear("linear", inputs, outputs, bias=False))

    attention = part(
        "self_attn",
        wrapped_linear("q_proj", H, A * D),
        wrapped_linear("k_proj", H, K * D),
        wrapped_linear("v_proj", H, K * D),
        wrapped_linear("o_proj", A * D, H),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.window),
        kind="self_attention",
    )
    mlp = part("mlp", linear("fc1", H, c.mlp, bias=False), linear("fc2", c.mlp // 2, H, bias=False), kind="feed_forward")
    norms = (rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))
    layer = part("layers", attention, mlp, *norms, kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab + 1, H), layer, rms_norm("norm", H))


def causal_lm(c: Config) -> Part:
    """Describe MoshiForCausalLM, whose head is not tied."""
    return part("", part("model", *moshi(c), kind="backbone"), linear("lm_head", c.hidden, c.vocab, bias=False), kind="model")


def depth(c: Config) -> tuple[Node, ...]:
    """Describe Llama over the codebooks of a frame: all tables in one, as wide as the backbone, and a way from there."""
    _, *rest = llama(c)
    table = embedding("embed_tokens", c.codebooks * c.vocab, c.backbone)
    return (table, *rest, linear("inputs_embeds_projector", c.backbone, c.hidden, bias=False))


def speech(c: Config) -> Part:
    """Describe MoshiForConditionalGeneration: tables for the codes of both speakers, the codec, the text model, and the depth decoder."""
    if c.codes is None:
        raise ConfigError("the class takes it of the codec's config", key="audio_vocab_size", hint="state audio_encoder_config")
    frame = with_changes(c.frame, vocab=c.vocab, series=c.hidden, codes=c.codes, codebooks=c.codebooks, single=c.single)
    return part(
        "",
        embedding("embed_tokens", c.codes + 1, c.hidden, repeat=2 * c.codebooks),
        as_child("audio_encoder", submodel(c.codec), requires="audios"),
        as_child("decoder", causal_lm(c)),
        as_child("depth_decoder", moshi_depth(frame if c.frame_stated else c.frame), requires="labels"),
        kind="model",
    )


def number_of_codes(c: Config) -> Size | None:
    """Return how many codes the codec has, where the config has one."""
    return c.codec.codes if c.codec_stated else None


HANDED_ON = ("audio_vocab_size", "input_size", "num_codebooks", "vocab_size")
"""What the whole model puts into the depth decoder's config, whatever that says."""


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of the depth decoder's config what the whole model puts there."""
    inner = raw.get("depth_decoder_config")
    if not isinstance(inner, Mapping):
        return dict(raw)
    return {**raw, "depth_decoder_config": {key: value for key, value in inner.items() if key not in HANDED_ON}}


def _has_books(c: Config) -> bool:
    """Refuse more codebooks than the codec has."""
    if c.codebooks > c.codec.quantizers:
        raise ConfigError(Text("the codec has {books}", books=c.codec.quantizers), key="num_codebooks", value=c.codebooks)
    return True


def codebooks(c: Config) -> Part:
    """Describe CsmDepthDecoderForCausalLM: the token at each place has a head of its own, the first, which is the backbone's, none."""
    weight = Tensor("weight", (c.codebooks - 1, c.hidden, c.vocab))
    head = part("codebooks_head", weight, kind="head", experts=c.codebooks - 1, active=1, stream=length("seq") - 1)
    return part("", part("model", *depth(c), kind="backbone"), head, kind="model")


def _is_even(c: Config) -> bool:
    """Refuse an odd width, which has no halves."""
    if c.mlp % 2:
        raise ConfigError("gate and up projection are halves of it, so it is even", key="ffn_dim", value=c.mlp)
    return True


def per_codebook(c: Config, name: str, inputs: Size, outputs: Size) -> Part:
    """Describe a linear map of its own for every codebook, all in one tensor; a token passes that of its place."""
    weight = Tensor("weight", (c.codebooks, outputs, inputs))
    return part(name, weight, kind="linear", experts=c.codebooks, active=1)


def moshi_depth(c: Config) -> Part:
    """Describe MoshiDepthDecoder: the text's token and the codes of one frame, each with maps of its own in every layer."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    sizes = (("q_proj", H, A * D), ("k_proj", H, K * D), ("v_proj", H, K * D), ("o_proj", A * D, H))
    maps = (part(name, per_codebook(c, "linear", inputs, outputs)) for name, inputs, outputs in sizes)
    attention = part("self_attn", *maps, attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.window), kind="self_attention")
    halves = ("fc1", H, c.mlp), ("fc2", c.mlp // 2, H)
    mlp = (linear(*half, bias=False) if c.single else per_codebook(c, *half) for half in halves)
    norms = rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
    return part(
        "",
        embedding("text_embed_tokens", c.vocab + 1, H),
        embedding("embed_tokens", c.codes + 1, H, repeat=c.codebooks - 1),
        per_codebook(c, "input_projections", c.series, H),
        part("layers", attention, part("mlp", *mlp, kind="feed_forward"), *norms, kind="layer", repeat=c.layers),
        per_codebook(c, "lm_heads", H, c.codes),
        kind="model",
        stream=valid_up_to("seq", c.codebooks, "codebooks of a frame"),
    )


MOSHI = variant(
    tuple(field for field in FIELDS if field.word not in ("labels", "tied", "qkv_bias", "out_bias", "mlp_bias")),
    mlp=size("mlp", "ffn_dim", 22528, "I", "width of the gate and up projections together", minimum=2),
    window=window(default=3000),
)
MOSHI_WHOLE = (
    *MOSHI,
    CODEBOOKS.with_default(8),
    model_config("codec", "audio_encoder_config", "mimi"),
    model_config("frame", "depth_decoder_config", "moshi_depth", fixed=True),
    choice("codec_stated", "audio_encoder_config", None, read=lambda value: value is not None, report_default=False),
    choice("frame_stated", "depth_decoder_config", None, read=lambda value: value is not None, report_default=False),
    size("codes", "audio_vocab_size", number_of_codes, "E", "codes of a codebook", null=number_of_codes),
    computed("single", lambda c: c.codebooks == 1),
    computed("enough", _has_books),
)
MOSHI_DEPTH = (
    VOCAB.with_default(32000),
    HIDDEN.with_default(1024),
    size("series", "input_size", 4096, "U", "hidden size of the backbone"),
    LAYERS.with_default(6),
    HEADS.with_default(16),
    KV_HEADS.with_default(lambda c: c.heads),
    HEAD_DIM.with_default(lambda c: c.hidden // c.heads),
    size("codes", "audio_vocab_size", 2048, "E", "codes in a codebook"),
    size("mlp", "ffn_dim", 5632, "I", "width of the gate and up projections together", minimum=2),
    CODEBOOKS.with_default(8),
    computed("single", lambda c: c.codebooks == 1),
    computed("halved", _is_even),
    window(default=8),
)
DEPTH = variant(
    LLAMA,
    CODEBOOKS.with_default(32),
    size("backbone", "backbone_hidden_size", 2048, "E", "hidden size of the backbone"),
    vocab=size("vocab", "vocab_size", 2051, "V", "vocabulary size", "codebook_size"),
    hidden=1024,
    mlp=8192,
    layers=4,
    heads=8,
    kv_heads=2,
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {"tie_word_embeddings"}
CLASSES = {
    "MoshiModel": lambda c: part("", *moshi(c), kind="model"),
    "MoshiForCausalLM": causal_lm,
    "MoshiForConditionalGeneration": speech,
}
IGNORED_BY_DEPTH = frozenset(("max_position_embeddings", "tie_word_embeddings"))
DEPTH_CLASSES = {"CsmDepthDecoderModel": lambda c: part("", *depth(c), kind="model"), "CsmDepthDecoderForCausalLM": codebooks}
FAMILIES = {
    "moshi": Family("moshi", MOSHI_WHOLE, CLASSES, "MoshiForCausalLM", MORE_IGNORED_KEYS, normalize_config=normalize_config),
    "moshi_depth": Family("moshi_depth", MOSHI_DEPTH, {"MoshiDepthDecoder": moshi_depth}, "MoshiDepthDecoder", IGNORED_BY_DEPTH),
    "csm_depth_decoder_model": Family("csm_depth_decoder_model", DEPTH, DEPTH_CLASSES, "CsmDepthDecoderForCausalLM", MORE_IGNORED_KEYS),
}
