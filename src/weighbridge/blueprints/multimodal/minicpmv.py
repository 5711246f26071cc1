"""MiniCPM-V 4.6, 4.7 and MiniCPM-OCR: SigLIP's tower with a merger of windows among its layers, and Qwen 3.5's language model.

Source: OpenBMB, MiniCPM-V 4.6 (2026); names as in transformers 5.23.0, models/minicpmv4_6/modeling_minicpmv4_6.py, minicpmv4_7
and minicpm_ocr.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image, with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import IMAGE, PATCH, TIED, Config, choice, computed, sides, with_changes
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, merge, product_of
from weighbridge.core.parts import attend, conv2d, embedding, fairseq_attention, layer_norm, linear, part, plain_mlp, replace, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part

VISION = (
    *stack_fields(768, 3072, 12),
    CHANNELS,
    IMAGE.with_default(224),
    PATCH.with_default(16),
    choice("insert", "insert_layer_id", 6),
    *sides("window", "window_kernel_size", 2, "W", "patches per window along an axis"),
    computed("kinds", lambda c: _kinds(c, c.insert)),
    computed("inserted", lambda c: 0 <= c.insert < c.layers),
)


def _kinds(c: Config, insert: int) -> list[str]:
    """Return for each layer whether it sees all patches or what the merger leaves of them."""
    return ["whole" if insert < 0 or index <= insert else "merged" for index in layer_range(c.layers)]


def _refuse_many_rounds(c: Config) -> bool:
    """Refuse more rounds than any image has patches for."""
    if c.rounds > 32:
        raise ConfigError("an image of this size cannot be halved that many times", key="merger_times", value=c.rounds)
    return True


def merged_patches(times: int) -> Stream:
    """Return what is left of an image's patches once squares of four have been merged so often."""
    rows: Stream = "rows"
    columns: Stream = "columns"
    for _ in range(times):
        rows, columns = merge(rows, 2), merge(columns, 2)
    return product_of(rows, columns)


def vision(c: Config, *, merges: bool = True) -> Part:
    """Describe the tower: layers on all patches, a merger of windows of four, layers on what it leaves; it may be passed by."""
    H, many = c.hidden, c.window_height * c.window_width
    left = merged_patches(1) if merges else PATCHES

    def layer(kind: str) -> tuple[Node, ...]:
        inner = (
            layer_norm("layer_norm1", H),
            fairseq_attention("self_attn", H, c.heads, c.head_dim),
            layer_norm("layer_norm2", H),
            plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        )
        return (part("", *inner, stream=left),) if kind == "merged" else inner

    runs = merges and c.inserted
    windows = fairseq_attention("self_attn", H, c.heads, c.head_dim)
    windows = replace(
        windows, children=(*windows.children[:-1], attend(heads=c.heads, head_dim=c.head_dim, queries=4, keys=4, groups=left))
    )
    merger = part(
        "vit_merger",
        replace(windows, stream=PATCHES if runs else 0),
        layer_norm("layer_norm1", H),
        layer_norm("pre_norm", many * H),
        linear("linear_1", many * H, many * c.mlp),
        linear("linear_2", many * c.mlp, H),
        kind="projector",
        stream=left if runs else 0,
    )
    if not runs:
        merger = replace(merger, children=(replace(windows, children=windows.children[:-1], stream=0), *merger.children[1:]))
    table = embedding("position_embedding", (c.image // c.patch) * (c.image // c.patch), H)
    embeddings = part("embeddings", conv2d("patch_embedding", c.channels, H, c.patch), table, kind="embeddings")
    layers = part("encoder", *stack("layers", c.kinds if merges else ["whole"] * len(c.kinds), c.layers, layer), kind="encoder")
    return part("", embeddings, layers, layer_norm("post_layernorm", H), merger, kind="vision", stream=PATCHES)


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, two linear maps over squares of four as often as they are merged, and the text."""
    merges = c.mode != "4x" and c.insert >= 0
    inner = with_changes(c.vision, kinds=c.kinds, inserted=c.inserted)
    tower = as_child("vision_tower", vision(inner, merges=merges), requires="images", executions="images")
    wide: Size = 4 * c.vision.hidden
    rounds = []
    for index in range(c.rounds):
        out = c.text.hidden if index == c.rounds - 1 else c.vision.hidden
        maps = layer_norm("pre_norm", wide), linear("linear_1", wide, wide), linear("linear_2", wide, out)
        rounds.append(part(str(index), *maps, kind="projector", stream=merged_patches(index + (2 if merges and c.inserted else 1))))
    merger = per_image(part("merger", part("mlp", *rounds), kind="projector"))
    return tower, as_child("language_model", submodel(c.text)), merger


def families_of(name: str, prefix: str, mode: str, *, tied: bool) -> dict[str, Family]:
    """Return one generation: the whole and its tower."""
    fields = (
        model_config("vision", "vision_config", f"{name}_vision", fixed=True),
        model_config("text", "text_config", "qwen3_5_text"),
        choice("insert", "insert_layer_id", 6),
        computed("kinds", lambda c: _kinds(c.vision, c.insert)),
        computed("inserted", lambda c: 0 <= c.insert < c.vision.layers),
        choice("mode", "downsample_mode", mode),
        number("rounds", "merger_times", 1),
        computed("few", _refuse_many_rounds),
        TIED.with_default(tied),
    )
    classes = {f"{prefix}Model": without_head(body), f"{prefix}ForConditionalGeneration": with_lm_head(body)}
    marks = (
        "drop_vision_last_layer image_size merge_kernel_size patch_size image_start_id image_end_id slice_start_id slice_end_id newline_id"
    )
    eyes = f"{prefix}VisionModel"
    return {
        name: Family(name, fields, classes, f"{prefix}Model", IGNORED_KEYS | frozenset(marks.split())),
        f"{name}_vision": Family(f"{name}_vision", VISION, {eyes: vision}, eyes, frozenset(("vision_use_head",))),
    }


FAMILIES = {
    **families_of("minicpmv4_6", "MiniCPMV4_6", "16x", tied=False),
    **families_of("minicpmv4_7", "MiniCPMV4_7", "16x", tied=False),
    **families_of("minicpm_ocr", "MiniCPMOcr", "4x", tied=True),
}
