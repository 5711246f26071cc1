"""Backbones of detectors and segmenters: any model type with feature maps, read by its own fields.

A type takes part by a function ``features(c, picture)`` in its module, which describes its ``...Backbone`` class over
a picture of the outer model's size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from weighbridge.blueprints import MODULES, family, is_remote
from weighbridge.blueprints.modules import timm_resnet
from weighbridge.blueprints.modules.composite import submodel
from weighbridge.blueprints.modules.feature_maps import Grid
from weighbridge.blueprints.modules.stage_fields import numbers, out_stages
from weighbridge.blueprints.modules.timm_models import built_with, is_built_by
from weighbridge.blueprints.modules.vit_common import grid
from weighbridge.config.bind import bind
from weighbridge.config.fields import Config, Field, SubConfig, choice, with_changes
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError, UnknownArchitecture
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

TYPES = "resnet rt_detr_resnet hgnet_v2 swin swinv2 maskformer-swin convnext convnextv2 dinov3_convnext".split()
"""The types that have ``features``; besides, timm's ResNets."""
TRANSFORMERS = """beit dinov2 dinov2_with_registers dinov3_vit lw_detr_vit pixio rf_detr_dinov2 sapiens2 tipsv2_vision_model vitdet
    vitpose_backbone""".split()
"""Vision transformers, which can hand on the states of each layer; their maps under these necks are not described, but their widths are."""
PYRAMIDS: dict[str, Callable[[Config], tuple[Size, ...]]] = {
    "bit": lambda c: (c.stem, *c.widths),
    "dinat": lambda c: (c.hidden, *(c.hidden * 2**stage for stage in range(len(c.depths)))),
    "focalnet": lambda c: (c.hidden, *c.handed_widths),
    "hiera": lambda c: (c.embed, *(c.embed * c.wider[0] ** stage // c.wider[1] ** stage for stage in range(len(c.depths)))),
    "pp_lcnet": lambda c: (c.stem, *(int(blocks[-1][2] * c.scale) for blocks in c.blocks)),
    "pp_lcnet_v3": lambda c: (c.stem, *(int(blocks[-1][2] * c.scale) for blocks in c.blocks)),
    "pp_lcnet_v4": lambda c: (c.stem, *(int(blocks[-1][2] * c.scale) for blocks in c.blocks)),
    "pvt_v2": lambda c: c.widths,
    "textnet": lambda c: c.widths,
}
"""Networks of stages, with the widths of stem and stages; their maps under these necks are not described."""
MORE: dict[str, tuple[Field, ...]] = {
    **dict.fromkeys(TRANSFORMERS, out_stages(lambda c: c.layers)),
    "focalnet": (*out_stages(lambda c: len(c.depths)), numbers("handed_widths", "hidden_sizes", (192, 384, 768, 768))),
    "pvt_v2": out_stages(lambda c: len(c.depths), stem=False),
}
"""What a type's own fields lack where it is a backbone."""


class Features(NamedTuple):
    """A backbone over an image: its parts, and the maps it outputs with their widths, the largest first."""

    parts: tuple[Node, ...]
    maps: tuple[Grid, ...]
    widths: tuple[Size, ...]


def selected_outputs(c: Config, parts: tuple[Node, ...], maps: tuple[Grid, ...], widths: tuple[Size, ...]) -> Features:
    """Return the features of a backbone that can output *maps*, stem first, and outputs those its config says.

    Raises:
        ConfigError: It says a stage that is not built, since its lists of stages are not equally long.
    """
    built = min(len(maps), len(widths))
    if any(index >= built for index in c.outputs):
        raise ConfigError(
            Text("stage {last} is to be output, and {stages} are built", last=max(c.outputs), stages=built - 1),
            key="out_indices",
            value=list(c.outputs),
            hint="lists of stages that are equally long",
        )
    return Features(parts, tuple(maps[index] for index in c.outputs), tuple(widths[index] for index in c.outputs))


def backbone(types: str, absent: Mapping[str, Any] | None = None) -> Field:
    """Declare ``backbone_config``, which must name its type; where it is absent, *absent* or None stands in its place.

    Args:
        types: Those that are common there.
        absent: What the outer class takes in its place.
    """
    return Field("backbone", "backbone_config", types.split(), "nested", resolve=partial(_resolve, absent))


def _resolve(absent: Mapping[str, Any] | None, value: Any, path: str) -> SubConfig | None:
    raw = absent if value is None else value
    if raw is None:
        return None
    stated = raw.get("model_type")
    if stated in ("timm_backbone", "timm_swin") and is_built_by("timm_swin", raw.get("backbone")):
        return _timm_swin(raw)
    if stated == "timm_backbone":
        return SubConfig(raw, timm_resnet.FIELDS, timm_resnet.MORE_IGNORED_KEYS, stated)
    if stated not in (*TYPES, *TRANSFORMERS, *PYRAMIDS) or stated not in MODULES:
        hint = f"described as backbones: {', '.join((*TYPES, *TRANSFORMERS, *PYRAMIDS))}, timm_backbone"
        error = UnknownArchitecture(
            Text("no backbone described for {stated!r:.60}", stated=stated), key=f"{path}.model_type", value=stated, hint=hint
        )
        if stated not in MODULES or is_remote(stated):
            raise error
        return SubConfig(raw, (), frozenset(raw), stated, error)  # which a decoder alone does not read
    known = family(stated)
    words = {field.word for field in known.fields}
    more = MORE.get(stated, ()) if "outputs" not in words else ()
    return SubConfig(raw, (*known.fields, *more), known.ignored_keys, stated)


def _timm_swin(raw: Mapping[str, Any]) -> SubConfig:
    """Read one of timm's Swins: the arguments that its name stands for, and those that the config has beside it."""
    known = family("timm_swin")
    keys = {field.key for field in known.fields}
    given = {key: value for key, value in raw.items() if key in keys and value is not None}
    channels = {} if raw.get("num_channels") is None else {"in_chans": raw["num_channels"]}
    # What was read once is read again, with symbols in place of sizes.
    stated = {**raw, **built_with(raw["backbone"])[1], **channels, **given, "out_indices": raw.get("out_indices")}
    ignored = known.ignored_keys | timm_resnet.MORE_IGNORED_KEYS | {"backbone", "num_channels", "output_stride"}
    return SubConfig(stated, (*known.fields, *TIMM_MAPS), ignored, "timm_swin")


def _timm_indices(value: object) -> tuple[int, ...]:
    """Take which of four maps are output, the last where nothing is said."""
    chosen = [-1] if value is None else value
    if not isinstance(chosen, (list, tuple)) or not chosen or any(type(index) is not int or not -4 <= index < 4 for index in chosen):
        raise ConfigError(Text("expected indices from 0 to 3, found {value!r:.60}", value=value), key="out_indices", value=value)
    return tuple(sorted({index % 4 for index in chosen}))


TIMM_MAPS = (choice("outputs", "out_indices", None, read=_timm_indices, report_default=False),)


def _timm_swin_features(c: Config) -> Features:
    """Describe one of timm's Swins up to the last map that it outputs: its stages stand beside the patches, and there is no norm behind them."""
    tree = submodel(with_changes(c, headed=False))
    patches, stages = tree.children[:2]
    kept = [replace(stage, name=f"layers_{stage.name}") for stage in stages.children[: c.outputs[-1] + 1]]  # type: ignore[union-attr]
    nobody = unknown("the maps of timm's Swin under this neck")
    maps = ((nobody, nobody),) * len(c.outputs)
    return Features((part("_backbone", patches, *kept, kind="backbone"),), maps, tuple(c.widths[index] for index in c.outputs))  # type: ignore[arg-type]


def named_backbone(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Put the network into ``backbone_config`` that older keys name: ``backbone``, one of timm's, and its arguments, ``backbone_kwargs``.

    Transformers 4.40 to 4.57 saved them, ``in_chans`` among the arguments, which the backbone's config class in 5.23.0 does not read.

    Raises:
        ConfigError: A model on the Hub, whose config is not at hand.

    >>> named_backbone({"backbone": "resnet18", "backbone_kwargs": {"in_chans": 3, "out_indices": [2, 3, 4]}})["backbone_config"]
    {'model_type': 'timm_backbone', 'backbone': 'resnet18', 'out_indices': [2, 3, 4]}
    """
    name, arguments = raw.get("backbone"), raw.get("backbone_kwargs") or {}
    if name is None or raw.get("backbone_config") is not None:
        return dict(raw)
    if not isinstance(name, str) or "/" in name or not isinstance(arguments, Mapping):
        raise ConfigError("a model on the Hub, whose config is not at hand", key="backbone", value=name, hint="state backbone_config")
    read = {field.key for field in timm_resnet.FIELDS} - {"backbone"}
    given = {key: value for key, value in arguments.items() if key in read}
    return {**raw, "backbone_config": {"model_type": "timm_backbone", "backbone": name, "out_indices": [4], **given}}


def refuse_named_backbone(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config of a type that takes no network by its name alone; the class would build another one than its own default.

    Raises:
        ConfigError: The older key ``backbone`` names a network, and no ``backbone_config`` describes it.

    >>> refuse_named_backbone({"backbone": None})
    {'backbone': None}
    >>> refuse_named_backbone({"backbone": "resnet50"})
    Traceback (most recent call last):
        ...
    weighbridge.core.errors.ConfigError: backbone: this model over a network that is only named is not described (state backbone_config)
    """
    name = raw.get("backbone")
    if name is not None and raw.get("backbone_config") is None:
        raise ConfigError(
            "this model over a network that is only named is not described", key="backbone", value=name, hint="state backbone_config"
        )
    return dict(raw)


def bind_backbone(model_type: str, raw: Mapping[str, Any]) -> Config:
    """Return the sizes of a backbone that the outer class makes by itself."""
    fields = timm_resnet.FIELDS if model_type == "timm_backbone" else family(model_type).fields
    sizes = bind(fields, raw)
    sizes.__dict__["model_type"] = model_type
    return sizes


def features(c: Config, picture: Grid) -> Features:
    """Describe a backbone over an image."""
    if c.model_type == "timm_swin":
        return _timm_swin_features(c)
    if c.model_type == "timm_backbone":
        found = selected_outputs(c, *timm_resnet.resnet(c, picture))
        return replace(found, parts=(part("_backbone", *found.parts, kind="backbone"),))
    if c.model_type not in TYPES:
        nobody = unknown(Text("the maps of {model_type} under this neck", model_type=c.model_type))
        wide = PYRAMIDS[c.model_type](c) if c.model_type in PYRAMIDS else None
        widths = tuple(c.hidden if wide is None else wide[index] for index in c.outputs)
        return Features(submodel(c, "Backbone").children, ((nobody, nobody),) * len(widths), widths)  # type: ignore[arg-type]
    described: Features = import_module(f"weighbridge.blueprints.{MODULES[c.model_type]}").features(c, picture)
    return described


def hidden_size(c: Config, otherwise: Size | None = None) -> Size:
    """Return the one width that a backbone's config class has, which the necks of vision transformers ask for; else *otherwise*, or nothing.

    Classes with a width for each stage alone have none.
    """
    if c.model_type == "focalnet" or not hasattr(c, "hidden"):
        if otherwise is None:
            raise ConfigError(
                Text("{model_type} has no one width that this neck could take", model_type=c.model_type),
                key="backbone_config.model_type",
                value=c.model_type,
            )
        return otherwise
    width: Size = c.hidden
    return width


def patch_grid(c: Config) -> Grid:
    """Return the map of patches of a vision transformer; of what has maps of several sizes it is not known."""
    if "image_height" in vars(c) and "patch_height" in vars(c):
        return grid(c)
    nobody = unknown(Text("the maps of {model_type} under this neck", model_type=c.model_type))
    return nobody, nobody  # type: ignore[return-value]


def constant_batch_norms(node: Part, *, frozen: bool = False) -> Part:
    """Return a part whose batch norms are constants, gains and shifts and all; *frozen* if its weights are not trained either."""
    if node.kind == "batch_norm":
        width = node.children[0].shape  # type: ignore[union-attr]
        names = ("weight", "bias", "running_mean", "running_var")
        return replace(node, children=tuple(Tensor(name, width, "buffer") for name in names))
    return replace(node, children=tuple(_constant_batch_norm(child, frozen) for child in node.children))


def _constant_batch_norm(node: Node, frozen: bool) -> Node:
    if isinstance(node, Part):
        return constant_batch_norms(node, frozen=frozen)
    return replace(node, frozen=frozen) if isinstance(node, Tensor) and frozen and node.role != "buffer" else node
