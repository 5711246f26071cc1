"""Janus, Janus-Pro and DeepSeek-VL by their own code (``multi_modality``): SigLIP's tower, Segment Anything's beside it or not, Llama, and what draws.

Source: arXiv 2410.13848, 2501.17811 and 2403.05525; janus/models of deepseek-ai/Janus and deepseek_vl/models of deepseek-ai/DeepSeek-VL. What
reads images and text is held tensor by tensor to the classes of mlx-vlm 0.7.10, models/multi_modality; what draws, by its count, to the
library's Janus. The library's own ``janus`` and ``deepseek_vl`` have the same towers under other names, without the query that pools.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.deepseek_sam import with_second_way
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image
from weighbridge.blueprints.modules.vq_model import CODES, WIDTH, vq_model
from weighbridge.blueprints.modules.words import one_of
from weighbridge.blueprints.multimodal.janus import DRAWING
from weighbridge.blueprints.remote.deepseek_vl_v2 import vision as siglip
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, SubConfig, choice, nested, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SO400M = {"hidden": 1152, "layers": 27, "heads": 16, "patch": 14, "mlp": 4304}
TOWERS = {
    "siglip_large_patch16_384": {"hidden": 1024, "layers": 24, "heads": 16, "patch": 16, "mlp": 4096},
    "siglip_so400m_patch14_384": SO400M,
    "siglip_so400m_patch14_224": SO400M,
}
"""SigLIP's sizes, which the code has by name."""


def tower_sizes(params: Mapping[str, Any]) -> Config:
    """Return the sizes of a tower that is stated by its name; its last layers may be left out."""
    stated = TOWERS.get(str(params.get("model_name", "siglip_large_patch16_384")))
    if stated is None:
        known = ", ".join(TOWERS)
        raise ConfigError(Text("expected one of {expected}", expected=known), key="vision_config.params.model_name")
    image, picked = params.get("image_size", 336), params.get("select_layer", -2)
    if type(image) is not int or type(picked) is not int or not (0 < image <= 4096 and -stated["layers"] <= picked <= stated["layers"]):
        raise ConfigError("the sizes of the tower cannot be read", key="vision_config.params")
    layers = stated["layers"] + picked + 1 if picked <= 0 else picked
    return Config(**{**stated, "image": image, "layers": min(layers, stated["layers"])})


def read_tower(value: Any) -> dict[str, Any]:
    """Take what a config says of its towers: one, or one for large and one for small images."""
    params = value if isinstance(value, Mapping) else {}
    if "high_res_cfg" not in params:
        return {"low": tower_sizes(params)}
    fine, coarse = params["high_res_cfg"], params.get("low_res_cfg")
    if not isinstance(fine, Mapping) or not isinstance(coarse, Mapping) or fine.get("model_name") != "sam_b_downsample":
        raise ConfigError("only sam_b_downsample beside SigLIP is described", key="vision_config.params.high_res_cfg")
    image, widths = fine.get("image_size", 1024), (fine.get("output_dim", 1024), coarse.get("output_dim", 1024))
    if image != 1024 or widths != (1024, 1024) or params.get("concat_type", "tuple") != "tuple":
        raise ConfigError("towers of other sizes, or otherwise put together, are not described", key="vision_config.params")
    return {"high": image, "low": tower_sizes(coarse)}


def vision(c: Config) -> Part:
    """Describe CLIPVisionTower, or HybridVisionTower, whose two norms no image goes through."""
    towers = c.towers
    small = siglip(towers["low"])
    side = towers["low"].image // towers["low"].patch
    low = per_image(replace(small, name="vision_tower", stream=side * side))
    if "high" not in towers:
        return part("vision_model", low, kind="vision")
    high = per_image(with_second_way(towers["high"], "vision_tower"))
    norms = (layer_norm(f"{name}_layer_norm", 1024, requires="nothing") for name in ("high", "low"))
    return part("vision_model", part("vision_tower_high", high), part("vision_tower_low", low), *norms, kind="vision")


def aligner(c: Config, name: str, stream: Size) -> Part:
    """Describe MlpProjector: maps to the width of the words, from one tower or half and half from two."""
    p = c.params
    more = (linear(str(2 * index), p.outputs, p.outputs) for index in range(1, p.depth))
    if p.kind == "low_high_hybrid_split_mlp_gelu":
        half = p.outputs // 2
        more = (linear(str(2 * index - 1), p.outputs, p.outputs) for index in range(1, p.depth))
        ups = linear("high_up_proj", p.inputs, half), linear("low_up_proj", p.inputs, half)
        return part(name, *ups, part("layers", *more, kind="feed_forward"), kind="projector", stream=stream)
    if p.kind == "linear":
        return part(name, linear("layers", p.inputs, p.outputs), kind="projector", stream=stream)
    first = linear("0", p.inputs, p.outputs)
    return part(name, part("layers", first, *more, kind="feed_forward"), kind="projector", stream=stream)


def drawing(c: Config) -> tuple[Part, ...]:
    """Describe what draws: the tokenizer of images, the way from its codes to words, and a head over codes."""
    if c.gen_head is None:
        return ()
    head = c.gen_head.params
    maps = linear("output_mlp_projector", head.inputs, head.inner), linear("vision_head", head.inner, head.entries)
    parts = (
        vq_model("gen_vision_model"),
        aligner(c.gen_aligner, "gen_aligner", 1),
        part("gen_head", *maps, kind="head"),
        embedding("gen_embed", CODES, WIDTH),
    )
    return tuple(replace(one, requires=DRAWING, stream=1) for one in parts)


def multi_modality(c: Config) -> Part:
    """Describe MultiModalityCausalLM."""
    low = c.vision.towers["low"]
    side = low.image // low.patch
    return part(
        "",
        vision(c.vision),
        per_image(aligner(c.aligner, "aligner", side * side)),
        *drawing(c),
        as_child("language_model", submodel(c.text, *CAUSAL)),
        kind="model",
    )


KINDS = "mlp_gelu", "linear", "low_high_hybrid_split_mlp_gelu"


def projector_fields() -> tuple[Field, ...]:
    """List the fields of a projector."""
    params = (
        choice("kind", "projector_type", "mlp_gelu", read=one_of("projector_type", *KINDS)),
        size("inputs", "input_dim", 1024, "D", "width of the tower"),
        size("outputs", "n_embed", 4096, "H", "width of the words"),
        choice("depth", "depth", 1, read=read_depth),
    )
    return (nested("params", "params", params), choice("cls", "cls", "MlpProjector", read=one_of("cls", "MlpProjector")))


def read_depth(value: Any) -> int:
    """Take a number of linear layers."""
    if type(value) is not int or not 0 < value <= 16:
        raise ConfigError(Text("expected a whole number from 1 to 16, found {value!r:.60}", value=value), key="depth", value=value)
    return value


def exactly(key: str, known: int) -> Callable[[Any], int]:
    """Return what reads a size that the code has fixed."""

    def read(value: Any) -> int:
        if value != known:
            raise ConfigError(Text("{value!r:.60} is not described, only {known}", value=value, known=known), key=key, value=value)
        return known

    return read


def when_stated(word: str, key: str, fields: tuple[Field, ...]) -> Field:
    """Declare a sub-config of which there may be none."""

    def resolve(value: Any, path: str) -> SubConfig | None:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise ConfigError("expected a sub-config", key=path)
        return SubConfig(value, fields, KEYS)

    return Field(word, key, None, "nested", resolve=resolve)


def refuse_flow(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse JanusFlow, whose config has other parts."""
    found = next((key for key in raw if key.startswith("vision_") and key != "vision_config"), None)
    if found is not None:
        raise ConfigError("only the towers of Janus and DeepSeek-VL are described, which vision_config states", key=found)
    missing = [key for key in DRAWS if raw.get(key) is None]
    if missing and len(missing) < len(DRAWS):
        raise ConfigError("missing, where other parts that draw are stated", key=missing[0])
    return dict(raw)


DRAWS = "gen_vision_config", "gen_aligner_config", "gen_head_config"
KEYS = frozenset("model_type cls params".split())
VISION = (
    choice("towers", "params", lambda c: read_tower({}), read=read_tower),
    choice("cls", "cls", "CLIPVisionTower", read=one_of("cls", "CLIPVisionTower", "HybridVisionTower")),
)
CODEBOOK = (
    choice("entries", "image_token_size", CODES, read=exactly("image_token_size", CODES)),
    choice("width", "n_embed", WIDTH, read=exactly("n_embed", WIDTH)),
)
HEAD = (
    size("inputs", "n_embed", 4096, "H", "width of the words"),
    size("inner", "image_token_embed", 4096, "I", "inner width of the head"),
    size("entries", "image_token_size", CODES, "V", "codes"),
)
FIELDS = (
    nested("vision", "vision_config", VISION),
    nested("aligner", "aligner_config", projector_fields()),
    when_stated(
        "gen_vision",
        "gen_vision_config",
        (nested("params", "params", CODEBOOK), choice("cls", "cls", "VQ-16", read=one_of("cls", "VQ-16"))),
    ),
    when_stated("gen_aligner", "gen_aligner_config", projector_fields()),
    when_stated(
        "gen_head",
        "gen_head_config",
        (nested("params", "params", HEAD), choice("cls", "cls", "vision_head", read=one_of("cls", "vision_head"))),
    ),
    model_config("text", "language_config", "llama", fixed=True),
)
CLASS = "MultiModalityCausalLM"
FAMILIES = {
    "multi_modality": Family(
        "multi_modality",
        FIELDS,
        {CLASS: multi_modality},
        CLASS,
        IGNORED_KEYS | KEYS | {"tie_word_embeddings"},
        normalize_config=refuse_flow,
    ),
}
