"""CSM (speech generation) and Kyutai's speech-to-text model: language models over Mimi's codes.

Source: arXiv 2410.00037; Sesame, CSM (2025); Kyutai, Delayed Streams Modeling (2025); names as in transformers 5.23.0,
models/csm/modeling_csm.py and models/kyutai_speech_to_text/modeling_kyutai_speech_to_text.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.speech.moshi import MOSHI, moshi
from weighbridge.config.family import Family
from weighbridge.config.fields import CODEBOOKS, Config, size, switch, variant
from weighbridge.core.parts import embedding, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

CODEC = model_config("codec", "codec_config", "mimi")
CSM = (
    *variant(
        tuple(field for field in LLAMA if field.word not in ("labels", "tied")),
        CODEBOOKS.with_default(32),
        size("words", "text_vocab_size", 128256, "V_tex", "text vocabulary size"),
        switch("tied", "tie_codebooks_embeddings", True),
        vocab=size("vocab", "vocab_size", 2051, "V", "vocabulary size", "codebook_size"),
        hidden=2048,
        mlp=8192,
        layers=16,
        heads=32,
        kv_heads=8,
    ),
    model_config("depth", "depth_decoder_config", "csm_depth_decoder_model", fixed=True),
    CODEC,
)
KYUTAI = (
    *variant(
        MOSHI,
        CODEBOOKS.with_default(32),
        size("sounds", "codebook_vocab_size", 2049, "V_cod", "entries of a codebook"),
        switch("tied", "tie_word_embeddings", False),
        vocab=4001,
        hidden=2048,
        mlp=11264,
        layers=48,
    ),
    CODEC,
)
TABLE = "backbone_model.embed_tokens.embed_audio_tokens.weight"


def codec(c: Config) -> Part:
    """Describe the codec, which an ordinary pass leaves alone."""
    return as_child("codec_model", submodel(c.codec), requires="audios")


def backbone(c: Config, shape: tuple[Size, Size]) -> tuple[Node, ...]:
    """Describe CSM's backbone: Llama over frames, whose codes are looked up in one table and added."""
    _, *rest = llama(c)
    return part("embed_tokens", embedding("embed_audio_tokens", *shape), kind="embeddings"), *rest


def csm(c: Config) -> Part:
    """Describe CSM: text words, the backbone, and the small decoder, which may share its table of codes."""
    small = as_child("depth_decoder", submodel(c.depth, "ForCausalLM"))
    body, head = small.children
    assert isinstance(body, Part)
    rows, width = c.depth.codebooks * c.depth.vocab, c.depth.backbone
    table = embedding("embed_tokens", rows, width, tied_to=TABLE if c.tied else None)
    small = replace(small, children=(replace(body, children=(table, *body.children[1:])), head), requires="labels")
    shape = (rows, width) if c.tied else (c.codebooks * c.vocab, c.hidden)
    return part(
        "",
        linear("lm_head", c.hidden, c.vocab, bias=False),
        embedding("embed_text_tokens", c.words, c.hidden),
        part("backbone_model", *backbone(c, shape), kind="backbone"),
        small,
        codec(c),
        kind="model",
    )


def kyutai(c: Config) -> tuple[Node, ...]:
    """Describe Kyutai's decoder: Moshi's, with words and codes in one table."""
    _, *rest = moshi(c)
    rows = c.vocab + c.codebooks * c.sounds + 1
    return part("embed_tokens", embedding("embed_tokens", rows, c.hidden), kind="embeddings"), *rest


def decoder_with_head(c: Config) -> Part:
    """Describe the decoder under its head; one that is tied has a row for each code too."""
    rows = c.vocab + c.codebooks * c.sounds + 1 if c.tied else c.vocab
    head = linear("lm_head", c.hidden, rows, bias=False, tied_to="model.embed_tokens.embed_tokens.weight" if c.tied else None)
    return part("", part("model", *kyutai(c), kind="backbone"), head, codec(c), kind="model")


MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """audio_bos_token_id audio_eos_token_id audio_pad_token_id audio_token_id codebook_eos_token_id codebook_pad_token_id frame_size
    tie_word_embeddings""".split()
)
SPEAKS = {
    "CsmBackboneModel": lambda c: part("", *backbone(c, (c.codebooks * c.vocab, c.hidden)), kind="model"),
    "CsmForConditionalGeneration": csm,
}
NAME = "KyutaiSpeechToText"
WRITES = {f"{NAME}Model": lambda c: part("", *kyutai(c), kind="model"), f"{NAME}ForConditionalGeneration": decoder_with_head}
FAMILIES = {
    "csm": Family("csm", CSM, SPEAKS, "CsmForConditionalGeneration", MORE_IGNORED_KEYS),
    "kyutai_speech_to_text": Family("kyutai_speech_to_text", KYUTAI, WRITES, f"{NAME}ForConditionalGeneration", MORE_IGNORED_KEYS),
}
