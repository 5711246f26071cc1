"""Qwen3-Omni: a mixture-of-experts thinker (text, images, audio), and the talker's code predictor.

Source: arXiv 2509.17765; names as in transformers 5.23.0, models/qwen3_omni_moe/modeling_qwen3_omni_moe.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.mixtures.mixtral import expert_width, mixtral
from weighbridge.blueprints.modules.audio_encoders import CUT, conv_stem, qwen_layer
from weighbridge.blueprints.modules.audio_encoders import QWEN as LISTENING
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS as TEXT_IGNORED_KEYS
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.qwen_vision import FIELDS as VISION
from weighbridge.blueprints.modules.qwen_vision import attention, merged_patches, patches, tower
from weighbridge.blueprints.modules.sliding_window import window, windowed_layers
from weighbridge.blueprints.modules.vlm_common import with_lm_head, without_head
from weighbridge.blueprints.multimodal.qwen2_5_omni import OUTER_IGNORED_KEYS, thinker, thinker_fields
from weighbridge.blueprints.multimodal.qwen_vl_moe import TEXT as EXPERTS
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, size, variant
from weighbridge.core.parts import embedding, layer_norm, linear, part, plain_mlp
from weighbridge.core.tree import Node, Part

AUDIO = variant(LISTENING, hidden=1280, mlp=5120, layers=32, heads=20)
TEXT = variant(
    EXPERTS,
    vocab=3584,
    mlp=18944,
    layers=28,
    heads=28,
    kv_heads=4,
    active=8,
    expert_mlp=expert_width(768),
    experts=size("experts", "num_experts", 128, "E", "experts"),
)
PREDICTOR = variant(
    LLAMA,
    size("groups", "num_code_groups", 32, "G", "groups of codes", minimum=2),
    NO_MLP_BIAS,
    vocab=2048,
    hidden=1024,
    mlp=3072,
    layers=5,
    heads=16,
    kv_heads=8,
    head_dim=128,
    qk_norm="head",
    late=Field("late", "max_window_layers", 28, "choice", report_default=False),
    window=window(default=None),
    windowed=windowed_layers(lambda c: max(0, c.layers - c.late)),
)
THINKER = thinker_fields("qwen3_omni_moe")


def audio_encoder(c: Config) -> Part:
    """Describe the audio encoder: Qwen3-ASR's with its projection."""
    H = c.hidden
    last = linear("proj1", H, H, stream=CUT), linear("proj2", H, c.out, stream=CUT)
    return part("", qwen_layer(c, CUT), layer_norm("ln_post", H, stream=CUT), *conv_stem(c), *last, kind="audio")


def vision_encoder(c: Config) -> Part:
    """Describe the vision encoder: Qwen3-VL's, with other names for what merges."""
    H, wide = c.hidden, c.hidden * c.merge * c.merge
    mlp = part("mlp", linear("0", wide, wide), linear("2", wide, c.out), kind="feed_forward", stream=merged_patches(c))
    deep = part(
        "merger_list", layer_norm("ln_q", wide, stream=merged_patches(c)), mlp, kind="projector", repeat=len(c.deep), executions=c.deep_runs
    )
    feed = plain_mlp("mlp", H, c.mlp, ("linear_fc1", "linear_fc2"), bias=True)
    block = part("blocks", layer_norm("norm1", H), layer_norm("norm2", H), attention(c), feed, kind="layer", repeat=c.layers)
    merger = part("merger", layer_norm("ln_q", H), mlp, kind="projector")
    return tower(*((deep,) if c.deep else ()), patches(c), embedding("pos_embed", c.positions, H), block, merger)


def predictor(c: Config) -> tuple[Node, ...]:
    """Describe the predictor of codes: Qwen3's layers, and a table for each group but the first."""
    _, *rest = llama(c)
    return *rest, embedding("codec_embedding", c.vocab, c.hidden, repeat=c.groups - 1)


def code_predictor(c: Config) -> Part:
    """Describe the predictor under its heads, one for each group but the first, of which one runs at a time."""
    lm_heads = linear("lm_head", c.hidden, c.vocab, bias=False, repeat=c.groups - 1, executions=1)
    return part("", part("model", *predictor(c), kind="backbone"), lm_heads, kind="model")


NAME = "Qwen3OmniMoe"
MORE_IGNORED_KEYS = OUTER_IGNORED_KEYS | frozenset(("conv_chunksize", "n_window_infer"))
THINKS = {f"{NAME}ThinkerModel": without_head(thinker), f"{NAME}ThinkerForConditionalGeneration": with_lm_head(thinker)}
CODES = f"{NAME}TalkerCodePredictorModel"
PREDICTS = {CODES: lambda c: part("", *predictor(c), kind="model"), f"{CODES}ForConditionalGeneration": code_predictor}

FAMILIES = {
    entry.model_type: entry
    for entry in (
        Family("qwen3_omni_moe_audio_encoder", AUDIO, {f"{NAME}AudioEncoder": audio_encoder}, f"{NAME}AudioEncoder", MORE_IGNORED_KEYS),
        Family("qwen3_omni_moe_vision_encoder", VISION, {f"{NAME}VisionEncoder": vision_encoder}, f"{NAME}VisionEncoder"),
        Family("qwen3_omni_moe_text", TEXT, with_heads(f"{NAME}ThinkerText", mixtral, ""), f"{NAME}ThinkerTextModel", TEXT_IGNORED_KEYS),
        Family("qwen3_omni_moe_thinker", THINKER, THINKS, f"{NAME}ThinkerForConditionalGeneration", MORE_IGNORED_KEYS),
        Family("qwen3_omni_moe_talker_code_predictor", PREDICTOR, PREDICTS, CODES, MORE_IGNORED_KEYS | TEXT_IGNORED_KEYS),
    )
}
