"""CLAP: contrastive text (RoBERTa) and audio (HTS-AT, a Swin transformer over mel patches) encoders.

Source: arXiv 2211.06687, section 3, and 2202.00874 (HTS-AT); names as in transformers 5.23.0, models/clap/modeling_clap.py.
Fusion, which runs only for clips longer than the spectrogram, is stored and counted as not running.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import layer as text_layer
from weighbridge.blueprints.encoders.bert import pooler
from weighbridge.blueprints.encoders.roberta import roberta_embeddings
from weighbridge.blueprints.modules.clip_towers import PROJECTED, similarity, stack_fields, text_fields
from weighbridge.blueprints.modules.feature_maps import area, height_width, module_list
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers, ratio
from weighbridge.blueprints.modules.swin_common import patch_merging
from weighbridge.blueprints.multimodal.blip import POOLED
from weighbridge.blueprints.vision.swin import layer
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HIDDEN,
    MEL_BINS,
    TOKEN_TYPES,
    Config,
    Field,
    choice,
    computed,
    constant,
    nested,
    sides,
    size,
    switch,
    with_changes,
)
from weighbridge.core.parts import batch_norm, conv2d, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

AUDIO: tuple[Field, ...] = (
    size("width", "patch_embeds_hidden_size", 96, "B", "width of the first stage"),
    HIDDEN.with_default(768),
    number("window", "window_size", 8),
    MEL_BINS.with_default(64),
    size("channels", "patch_embed_input_channels", 1, "N", "channels of the spectrogram"),
    *sides("patch", "patch_size", 4, "P", "patch size"),
    size("reduction", "aff_block_r", 4, "R", "reduction factor in the fusion"),
    number("side", "spec_size", 256),
    height_width("stride", "patch_stride", [4, 4]),
    numbers("depths", "depths", (2, 2, 6, 2)),
    numbers("heads", "num_attention_heads", (4, 8, 16, 32)),
    computed("stages", lambda c: first_stages("depths", len(c.depths), num_attention_heads=c.heads)),
    ratio("mlp_ratio", "mlp_ratio", 4.0),
    switch("fused", "enable_fusion", False),
    choice("fusion", "fusion_type", None),
    switch("normed", "enable_patch_layer_norm", True),
    switch("qkv_bias", "qkv_bias", True),
    PROJECTED,
)
LONG = "clips longer than the spectrogram"
"""A stream that is not given: shorter clips are repeated, and do not run what fuses the parts of longer ones."""


def maps(c: Config) -> list[tuple[int, int]]:
    """Return the map of every stage: the spectrogram's patches, then halves of it."""
    rows, columns = (c.side // stride for stride in c.stride)
    return [(rows // 2**index, columns // 2**index) for index in range(len(c.depths))]


def audio(c: Config) -> Part:
    """Describe ClapAudioModel: patches, stages of windowed attention, and the mean of what they output."""
    grids, inner = maps(c), with_changes(c, hidden=c.width, older=True)
    stages: list[tuple[Part, ...]] = []
    for index, grid in enumerate(grids):
        width, below = c.width * 2**index, grids[index + 1 : index + 2]
        down = (patch_merging(width, 4 * width, below[0]),) if below else ()
        stages.append((replace(layer(inner, index, grid, whole=False), stream=area(grid)), *down))
    encoder = part(
        "audio_encoder",
        replace(patches(c), stream=area(grids[0])),
        module_list("layers", *stages),
        batch_norm("batch_norm", c.mels, stream=c.side * c.side // c.mels),
        layer_norm("norm", c.width * 2 ** (len(grids) - 1), stream=area(grids[-1])),
        kind="encoder",
    )
    return part("", encoder, kind="audio")


def patches(c: Config) -> Part:
    """Describe the map of each patch of the spectrogram and, where long clips are fused, what mixes their parts in."""
    channels = c.channels * 4 if c.fused and c.fusion == "channel_map" else c.channels
    wide = (c.patch_height, c.patch_width * 3)
    fusion = (
        part("fusion_model", _fusion_branch("local_att", c, 0), _fusion_branch("global_att", c, 1), kind="block", requires=LONG),
        replace(conv2d("mel_conv2d", c.channels, c.width, wide), requires=LONG),
    )
    return part(
        "patch_embed",
        conv2d("proj", channels, c.width, (c.patch_height, c.patch_width)),
        *((layer_norm("norm", c.width),) if c.normed else ()),
        *(fusion if c.fused else ()),
        kind="embeddings",
    )


def _fusion_branch(name: str, c: Config, first: int) -> Part:
    """Describe two convolutions of one place each, narrower and back; the global one pools before them."""
    inner = c.width // c.reduction
    return part(
        name,
        conv2d(str(first), c.width, inner, 1),
        batch_norm(str(first + 1), inner),
        conv2d(str(first + 3), inner, c.width, 1),
        batch_norm(str(first + 4), c.width),
    )


TEXT = (
    *text_fields(50265, 514, *stack_fields(768, 3072, 12)),
    TOKEN_TYPES.with_default(1),
    PROJECTED,
    constant("crossed", False),
)


def text_parts(c: Config) -> tuple[Part, ...]:
    """Describe RoBERTa's embeddings, whose counters are saved, and its layers."""
    counters = (Tensor(name, (1, c.positions), "buffer") for name in ("position_ids", "token_type_ids"))
    return (roberta_embeddings(c, *counters), part("encoder", text_layer(c), kind="encoder"))


def text(c: Config) -> Part:
    """Describe ClapTextModel."""
    return part("", *text_parts(c), *((pooler(c),) if c.pooled else ()), kind="text")


def text_tower(c: Config) -> Part:
    """Describe the text tower as the others hold it, with its pooler."""
    return part("text_model", *text_parts(c), pooler(c), kind="text")


def projection_layers(name: str, c: Config, width: Size) -> Part:
    """Describe the two linear maps from a tower's one vector into the space that both share."""
    return part(name, linear("linear1", c.hidden, width), linear("linear2", width, width), kind="projector", stream="one")


def clap(c: Config) -> Part:
    """Describe ClapModel: both towers and their projections, and a temperature for each direction."""
    return part(
        "",
        Tensor("logit_scale_a", (), "gain"),
        Tensor("logit_scale_t", (), "gain"),
        text_tower(c.text),
        projection_layers("text_projection", c.text, c.projected),
        replace(audio(c.audio), name="audio_model"),
        projection_layers("audio_projection", c.audio, c.projected),
        replace(similarity(c.projected), name="of_texts"),
        replace(similarity(c.projected), name="of_sounds"),
        kind="model",
    )


def projected_text(c: Config) -> Part:
    """Describe ClapTextModelWithProjection."""
    return part("", text_tower(c), projection_layers("text_projection", c, c.projected), kind="model")


def projected_audio(c: Config) -> Part:
    """Describe ClapAudioModelWithProjection."""
    return part("", replace(audio(c), name="audio_model"), projection_layers("audio_projection", c, c.projected), kind="model")


IGNORED_KEYS = frozenset(
    "logit_scale_init_value projection_hidden_act num_classes flatten_patch_embeds drop_path_rate num_hidden_layers hidden_size".split()
)
FIELDS = (nested("text", "text_config", TEXT), nested("audio", "audio_config", AUDIO), PROJECTED)
TEXTS = {"ClapTextModel": text, "ClapTextModelWithProjection": projected_text}
SOUNDS = {"ClapAudioModel": audio, "ClapAudioModelWithProjection": projected_audio}
FAMILIES = {
    "clap": Family("clap", FIELDS, {"ClapModel": clap}, "ClapModel", IGNORED_KEYS),
    "clap_text_model": Family("clap_text_model", (*TEXT, POOLED), TEXTS, "ClapTextModel", IGNORED_KEYS),
    "clap_audio_model": Family("clap_audio_model", AUDIO, SOUNDS, "ClapAudioModel", IGNORED_KEYS),
}
