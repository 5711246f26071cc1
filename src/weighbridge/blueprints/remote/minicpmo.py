"""MiniCPM-o 2.6 and 4.5: MiniCPM-V with Whisper's encoder, and a small Llama that speaks; its code stands beside its files.

Source: modeling_minicpmo.py of openbmb/MiniCPM-o-2_6 and MiniCPM-o-4_5. Version 4.5 is held tensor by tensor to the classes of mlx-vlm 0.7.10,
models/minicpmo, which reads its files; what speaks in 2.6 (ChatTTS with its tokenizer of sounds) to the code alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.words import one_of
from weighbridge.blueprints.remote.minicpmv import OUTER as SEEN
from weighbridge.blueprints.remote.minicpmv import SLICES, resampler, with_halves
from weighbridge.blueprints.speech import whisper
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, SubConfig, choice, constant, derived, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv1d, embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

SPEAKING = "speaking"
"""What the parts wait for that speak: no forward pass over text gives it."""
TEXT_OF_VERSION = {"2.6": "qwen2", "4.5": "qwen3"}
BANDS, CODES_WIDTH, INNER, NARROW = 100, 1024, 256, 128
"""Sizes of ChatTTS's tokenizer of sounds, which the code has fixed."""


def two_maps(name: str, inputs: Size, outputs: Size) -> Part:
    """Describe MultiModalProjector."""
    return part(name, linear("linear1", inputs, outputs), linear("linear2", outputs, outputs), kind="projector")


def hearing(c: Config) -> tuple[Part, ...]:
    """Describe Whisper's encoder and two maps; the code takes a quarter of its MLP's width for its own."""
    if c.audio is None:
        return ()
    encoder = replace(whisper.encoder(c.audio), name="apm", kind="audio")
    maps = replace(two_maps("audio_projection_layer", exact(c.audio.mlp, 4), c.text.hidden), stream=c.audio.source)
    return tuple(replace(one, requires="audios", executions="audios") for one in (encoder, maps))


def codes_and_heads(c: Config) -> tuple[Part, ...]:
    """Describe tables of the codes of sounds, and heads over them, whose weights stand as a length and a direction."""
    split = part("weight", Tensor("original0", (c.sounds, 1), "gain"), Tensor("original1", (c.sounds, c.hidden)), kind="weight_norm")
    heads = part("head_code", part("parametrizations", split, kind="weight_norm"), kind="linear", repeat=c.codebooks)
    return embedding("emb_code", c.sounds, c.hidden, repeat=c.codebooks), heads


def speaker(c: Config) -> Part:
    """Describe MiniCPMTTS of version 4.5: a Llama over words and codes, and two maps from the language model's states."""
    maps: tuple[Part, ...]
    if c.projector == "mlp":
        maps = tuple(two_maps(f"projector_{what}", c.inputs, c.hidden) for what in ("spk", "semantic"))
    elif c.projector == "default":
        maps = tuple(linear(f"projector_{what}", c.inputs, c.hidden, bias=False) for what in ("spk", "semantic"))
    else:
        maps = tuple(
            part(
                f"projector_{what}",
                *(linear(f"{gate}_proj", c.states, c.wide) for gate in ("gate", "up")),
                linear("down_proj", c.wide, c.hidden),
                kind="projector",
            )
            for what in ("spk", "semantic")
        )
    words = embedding("emb_text", c.words, c.hidden)
    return part("tts", *maps, words, *codes_and_heads(c), part("model", *llama(c), kind="backbone"), kind="decoder")


def convolutions(name: str, inputs: int, outputs: int) -> Part:
    """Describe DVAEDecoder: two convolutions, twelve blocks of ConvNeXt, and a map."""
    first, second = conv1d("0", inputs, NARROW, 3, padding=1), conv1d("2", NARROW, INNER, 3, padding=1)
    alone = part("dwconv", Tensor("weight", (INNER, 1, 7)), Tensor("bias", (INNER,), "bias"), kind="convolution")
    inside = layer_norm("norm", INNER), linear("pwconv1", INNER, 4 * INNER), linear("pwconv2", 4 * INNER, INNER)
    block = part("decoder_block", Tensor("coef", (INNER,), "gain"), alone, *inside, kind="layer", repeat=12)
    return part(
        name, part("conv_in", first, second, kind="block"), block, conv1d("conv_out", INNER, outputs, 1, bias=False), kind="decoder"
    )


def dvae() -> Part:
    """Describe DVAE: sounds to four codes and back; the table of codes is arithmetic, and no tensor."""
    half = CODES_WIDTH // 2
    quantizer = (part(str(group), linear("project_in", half, 4), linear("project_out", 4, half), kind="codebook") for group in range(2))
    down = part("downsample_conv", conv1d("0", BANDS, half, 3, padding=1), conv1d("2", half, half, 4, stride=2, padding=1), kind="block")
    return part(
        "dvae",
        Tensor("coef", (1, BANDS, 1), "gain"),
        down,
        convolutions("encoder", half, CODES_WIDTH),
        convolutions("decoder", half, half),
        conv1d("out_conv", half, BANDS, 3, padding=1, bias=False),
        part("vq_layer", part("quantizer", part("rvqs", *quantizer, kind="codebook"), kind="codebook"), kind="codebook"),
        kind="codec",
    )


def chat_tts(c: Config) -> Part:
    """Describe ConditionalChatTTS of version 2.6."""
    maps = two_maps("projector", c.inputs, c.hidden) if c.two else linear("projector", c.inputs, c.hidden, bias=False)
    words = embedding("emb_text", c.words, c.hidden)
    return part("tts", maps, *codes_and_heads(c), words, dvae(), part("model", *llama(c), kind="backbone"), kind="decoder")


def speaking(c: Config) -> tuple[Part, ...]:
    """Describe what speaks, if anything does."""
    if c.tts is None:
        return ()
    return (replace(speaker(c.tts) if c.tts.fifth else chat_tts(c.tts), requires=SPEAKING, stream=1),)


def minicpmo(c: Config) -> Part:
    """Describe MiniCPMO: MiniCPM-V, what hears, and what speaks."""
    tower = replace(submodel(c.vision), stream=SLICES)
    return part(
        "",
        as_child("llm", submodel(c.text, *CAUSAL)),
        as_child("vpm", tower, requires="images", executions="images"),
        resampler(c),
        *hearing(c),
        *speaking(c),
        kind="model",
    )


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Move the text's keys into a config of their own; what is not built has none.

    >>> found = normalize_config({"version": "2.6", "hidden_size": 8, "init_tts": False})
    >>> found["text_config"], found["tts_config"], found["audio_config"]
    ({'hidden_size': 8, 'model_type': 'qwen2'}, None, {})
    """
    version = str(raw.get("version", "2.6"))
    kind = TEXT_OF_VERSION.get(version)
    if kind is None:
        known = ", ".join(TEXT_OF_VERSION)
        raise ConfigError(
            Text("version {version} is not described, only {known}", version=version, known=known), key="version", value=version
        )
    seen = with_halves({key: value for key, value in raw.items() if key not in MORE}, kind)
    said = {key: value for key, value in raw.items() if key in MORE}
    for key, switch_key in (("audio_config", "init_audio"), ("tts_config", "init_tts")):
        stated = raw.get(key)
        said[key] = {**(stated if isinstance(stated, Mapping) else {})} if raw.get(switch_key, True) else None
    if said["tts_config"] is not None:
        said["tts_config"] = {**said["tts_config"], "model_type": SPEAKERS[version]}
    return {**seen, **said}


def resolve_speaker(value: Any, path: str) -> SubConfig | None:
    """Read what speaks by the fields of its version."""
    if value is None:
        return None
    return SubConfig(value, TTS if value.get("model_type") == SPEAKERS["4.5"] else CHAT, TTS_KEYS)


def seen_too(value: Any) -> bool:
    """Refuse a model that does not see."""
    if value is not True:
        raise ConfigError("a model without its tower is not described", key="init_vision", value=value)
    return True


SPEAKERS = {"2.6": "conditional_chattts", "4.5": "minicpmtts"}
SMALL = variant(LLAMA, hidden=768, mlp=3072, layers=20, heads=12)
SPOKEN = (
    size("inputs", "llm_dim", 2560, "E", "width of the language model's states"),
    size("sounds", "num_audio_tokens", 626, "C", "codes of sounds"),
    size("words", "num_text_tokens", 21178, "T", "words that are spoken"),
    size("codebooks", "num_vq", 4, "B", "codebooks"),
)
TTS = (
    *variant(SMALL, vocab=size("vocab", "backbone_vocab_size", 32000, "V", "rows of the Llama's own table")),
    *variant(SPOKEN, inputs=4096, sounds=6562, words=152064, codebooks=1),
    choice("projector", "projector_type", "mlp", read=one_of("projector_type", "mlp", "minicpm", "default")),
    size("states", "llm_hidden_size", lambda c: c.inputs, "S", "width of the states that are read", null=lambda c: c.inputs),
    size("wide", "llm_intermediate_size", 768, "J", "inner width of the projector"),
    choice("backbone", "backbone_model", "llama", read=one_of("backbone_model", "llama"), report_default=False),
    constant("fifth", True),
)
CHAT = (
    *(field for field in SMALL if field.word not in ("vocab", "kv_heads")),
    constant("vocab", 32000),
    derived("kv_heads", lambda c: c.heads, "num_attention_heads"),
    *SPOKEN,
    switch("two", "use_mlp", True),
    constant("fifth", False),
)
TTS_KEYS = frozenset(
    """model_type top_p top_k repetition_penalty num_mel_bins use_speaker_embedding use_llm_hidden_state spk_emb_token_id num_spk_embs
    audio_bos_token_id text_eos_token_id use_text streaming streaming_text_chunk_size streaming_text_reserved_len streaming_audio_chunk_size
    attn_implementation aug_loss_weight aug_layer_loss_weight do_sample condition_type normalize_projected_hidden temperature interleaved
    max_position_embeddings""".split()
)
MORE = frozenset("audio_config tts_config init_vision init_audio init_tts audio_pool_step audio_chunk_length stream_input".split())
FIELDS = (
    model_config("text", "text_config", "qwen2 qwen3"),
    model_config("vision", "vision_config", "siglip_vision_model", fixed=True),
    model_config("audio", "audio_config", "whisper", fixed=True, optional=True),
    Field("tts", "tts_config", None, "nested", resolve=resolve_speaker),
    size("queries", "query_num", 64, "Q", "queries of the resampler"),
    choice("seeing", "init_vision", True, read=seen_too, report_default=False),
)
KEYS = SEEN | MORE | frozenset(("vision_batch_size", "patch_size"))
FAMILIES = {
    "minicpmo": Family("minicpmo", FIELDS, {"MiniCPMO": minicpmo}, "MiniCPMO", KEYS, normalize_config=normalize_config),
}
