"""DeepSeek-OCR, DeepSeek-OCR 2 and Baidu's Unlimited-OCR by their own code: Segment Anything's encoder, CLIP's or Qwen2's layers behind it, and a small mixture of experts.

Their configs call themselves ``deepseek_vl_v2``. Source: arXiv 2510.18234; modeling_deepseekocr.py and deepencoder.py of deepseek-ai/DeepSeek-OCR, and the same
files of deepseek-ai/DeepSeek-OCR-2; modeling_unlimitedocr.py of baidu/Unlimited-OCR, which has the first one's tensors and forgets what it wrote a while ago.
Held tensor by tensor to the classes of mlx-vlm 0.7.10, models/deepseekocr, models/deepseekocr_2 and models/unlimited_ocr; the first to the listing of its
published file too.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.deepseek_sam import with_one_way
from weighbridge.blueprints.modules.words import one_of
from weighbridge.blueprints.remote.deepseek_vl_v2 import KEYS, TEXT, language
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Config, Field, choice, nested, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, conv2d, embedding, gated_mlp, layer_norm, linear, part, plain_mlp, replace, rms_norm
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

VIEWS = unknown("how many views an image is cut into depends on its sides")
IMAGE, CLIP, QWEN = 1024, 1024, 896
SIZES: dict[str, dict[str, Any]] = {
    "clip-l-14-224": {"width": CLIP, "layers": 24, "heads": 16, "image_size": 224, "patch_size": 14},
    "qwen2-0-5b": {"dim": QWEN},
}
SAM = {"width": 768, "layers": 12, "heads": 12, "global_attn_indexes": [2, 5, 8, 11]}
"""What published configs say of towers whose sizes the code has fixed."""


def clip() -> Part:
    """Describe CLIP-L/14 with queries, keys and values in one map; its patches are in the files, but it sees Segment Anything's map."""
    W, inner = CLIP, 4 * CLIP
    attends = part(
        "self_attn", linear("qkv_proj", W, 3 * W), linear("out_proj", W, W), attend(heads=16, head_dim=W // 16), kind="self_attention"
    )
    layer = part(
        "layers",
        attends,
        layer_norm("layer_norm1", W),
        plain_mlp("mlp", W, inner, ("fc1", "fc2"), bias=True),
        layer_norm("layer_norm2", W),
        kind="layer",
        repeat=24,
    )
    tables = Tensor("class_embedding", (W,), "embedding"), embedding("position_embedding", 257, W)
    patches = conv2d("patch_embedding", 3, W, 14, bias=False, requires="nothing")
    inside = part("embeddings", *tables, patches, kind="embeddings")
    return part("vision_model", inside, layer_norm("pre_layrnorm", W), part("transformer", layer, kind="encoder"), kind="vision")


def qwen() -> Part:
    """Describe Qwen2-0.5B's layers without its words, and the queries that are put behind the map."""
    W, heads, shared, width = QWEN, 14, 2, 64
    attends = part(
        "self_attn",
        linear("q_proj", W, heads * width),
        *(linear(f"{name}_proj", W, shared * width) for name in "kv"),
        linear("o_proj", heads * width, W, bias=False),
        attend(heads=heads, kv_heads=shared, head_dim=width),
        kind="self_attention",
    )
    norms = rms_norm("input_layernorm", W), rms_norm("post_attention_layernorm", W)
    layer = part("layers", attends, gated_mlp("mlp", W, 4864), *norms, kind="layer", repeat=24)
    inner = part("model", part("model", layer, rms_norm("norm", W), kind="encoder"), kind="encoder")
    queries = (embedding(f"query_{side}", (side // 64) ** 2, W) for side in (768, 1024))
    return part("qwen2_model", inner, *queries, kind="vision")


def whole(encoder: Part, outputs: int, separators: tuple[str, ...]) -> Blueprint:
    """Return the blueprint of a class with this encoder behind Segment Anything's, which puts out as many channels."""

    def deepseek_ocr(c: Config) -> Part:
        p = c.projector
        projection = part("projector", linear("layers", p.inputs, p.outputs), kind="projector")
        towers = with_one_way(IMAGE, "sam_model", outputs), encoder, projection
        images = (replace(one, stream=VIEWS, requires="images", executions="images") for one in towers)
        marks = (Tensor(name, (p.outputs,), "embedding") for name in separators)
        body, head = language(c.text, "").children
        assert isinstance(body, Part)
        return part("", replace(body, children=(*body.children, *images, *marks)), head, kind="model")

    return deepseek_ocr


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Take the text's keys, which stand among the others and in a config of their own too, as the code does: those among the others count.

    >>> normalize_config({"hidden_size": 8, "language_config": {"hidden_size": 9, "vocab_size": 7}})["language_config"]
    {'hidden_size': 8, 'vocab_size': 7}
    """
    stated = raw.get("language_config")
    inner = {key: value for key, value in raw.items() if key not in OUTER and not key.startswith("_")}
    outer = {key: value for key, value in raw.items() if key in OUTER}
    return {**outer, "language_config": {**(stated if isinstance(stated, Mapping) else {}), **inner}}


def refuse_sizes(value: Any) -> None:
    """Refuse towers of other sizes than the code has fixed."""
    known: dict[str, dict[str, Any]] = {**SIZES, "sam_vit_b": SAM}
    stated = value if isinstance(value, Mapping) else {}
    for name, said in stated.items():
        sizes = said if isinstance(said, Mapping) else {}
        fixed = known.get(name)
        if fixed is None or any(key in sizes and sizes[key] != size for key, size in fixed.items()):
            raise ConfigError("towers of other sizes are not described", key=f"vision_config.width.{name}", value=said)


OUTER = frozenset(
    """model_type architectures auto_map language_config vision_config projector_config candidate_resolutions global_view_pos tile_tag
    torch_dtype dtype transformers_version""".split()
)
TOWERS: tuple[Field, ...] = (
    choice("widths", "width", None, read=refuse_sizes, report_default=False),
    choice("image", "image_size", IMAGE, report_default=False),
)
PROJECTOR = (
    choice("kind", "projector_type", "linear", read=one_of("projector_type", "linear")),
    size("inputs", "input_dim", 2 * CLIP, "D", "width of what the towers see"),
    size("outputs", "n_embed", 1280, "H", "width of the words"),
)
FIELDS = (
    nested("text", "language_config", TEXT),
    nested("towers", "vision_config", TOWERS),
    nested("projector", "projector_config", PROJECTOR),
    choice("tag", "tile_tag", "2D", read=one_of("tile_tag", "2D")),
)
NAMES = {
    "deepseek_ocr": ("DeepseekOCRForCausalLM", whole(clip(), 1024, ("image_newline", "view_seperator"))),
    "unlimited-ocr": ("UnlimitedOCRForCausalLM", whole(clip(), 1024, ("image_newline", "view_seperator"))),
    "deepseek_ocr_2": ("DeepseekOCR2ForCausalLM", whole(qwen(), QWEN, ("view_seperator",))),
}
FAMILIES = {
    name: Family(name, FIELDS, {cls: blueprint}, cls, KEYS | OUTER | {"mlp_ratio"}, normalize_config=normalize_config)
    for name, (cls, blueprint) in NAMES.items()
}
