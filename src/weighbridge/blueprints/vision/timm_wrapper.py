"""timm's models inside the reference library: a model by its name, and ResNets as backbones.

Source: transformers 5.23.0, models/timm_wrapper/modeling_timm_wrapper.py and models/timm_backbone/modeling_timm_backbone.py, which build
what timm 1.0.31 has under the name.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints import family
from weighbridge.blueprints.modules import timm_resnet
from weighbridge.blueprints.modules.backbones import constant_batch_norms
from weighbridge.blueprints.modules.composite import as_child, submodel
from weighbridge.blueprints.modules.feature_maps import image
from weighbridge.blueprints.modules.timm_models import built_with
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, SubConfig, choice, switch, variant, with_changes
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import part, replace
from weighbridge.core.sizes import is_some
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any

WHOLE = "timm_model"
"""Where the name and the arguments of timm's model stand once a config is read."""


def _normalize(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Gather what timm is given, and take the number of labels from where timm's configs have it."""
    if WHOLE in raw:  # gathered before: an outer config is read again with symbols
        return dict(raw)
    found = {key: value for key, value in raw.items() if key not in ("architecture", "model_args", "num_classes", "label_names")}
    found[WHOLE] = {key: raw[key] for key in ("architecture", "model_args") if key in raw}
    names, count = raw.get("label_names"), raw.get("num_classes")
    if count:  # it goes before all that the library itself would write
        found["num_labels"] = count
    elif not {"num_labels", "id2label"} & set(found) and isinstance(names, (list, tuple)):
        found["num_labels"] = len(names)
    return found


def _resolve(value: Any, path: str) -> SubConfig:
    """Find the fields of the model that is named, and its arguments.

    Raises:
        ConfigError: It is to hand on its maps, and is none of those that are described so.
    """
    del path  # the keys stand in the config itself
    said = {"architecture": "resnet50", **(value or {})}
    model_type, arguments = built_with(said["architecture"])
    more = said.get("model_args") or {}
    if not isinstance(more, Mapping) or (more.get("features_only") and model_type not in MAPS):
        raise ConfigError("expected arguments of a whole model", key="model_args", value=more)
    known = family(model_type)
    stated = {key: entry for key, entry in more.items() if entry is not None}  # timm leaves out what is null
    told = {**arguments, **stated, **said}  # what was read once is read again, with symbols in place of sizes
    given = {key: entry for key, entry in told.items() if key not in ("num_classes", "model_args")}
    fields = tuple(field for field in known.fields if field.key != "num_classes")  # the labels are the outer config's
    return SubConfig(given, (*fields, *PICKED), known.ignored_keys, model_type)


MAPS: Mapping[str, str] = {"timm_resnet": "layer", "timm_repvit": "stages_"}
"""The types that are described where they hand on their maps, and how their stages are called then."""
PICKED = (switch("maps_alone", "features_only", False, report_default=False), choice("picked", "out_indices", None, report_default=False))


def with_maps_alone(c: Config, tree: Part) -> Part:
    """Return a network up to the last map that is asked for: its stages stand beside the stem, and there is no head.

    Raises:
        ConfigError: These are no indices of its maps.
    """
    repvit, prefix = c.model_type == "timm_repvit", MAPS[c.model_type]
    names = [child.name for child in tree.children if isinstance(child, Part)]
    count = len(c.depths) if repvit else 1 + sum(name.startswith(prefix) for name in names)
    picked = list(range(count)) if c.picked is None else c.picked
    if not isinstance(picked, (list, tuple)) or not picked or any(type(at) is not int or not -count <= at < count for at in picked):
        raise ConfigError("expected a list of indices of maps", key="model_args.out_indices", value=c.picked)
    last = max(at % count for at in picked)
    kept: list[Node] = []
    for child in tree.children:
        if isinstance(child, Part) and child.name == "stages":
            kept += [replace(stage, name=f"{prefix}{stage.name}") for stage in child.children[: last + 1] if isinstance(stage, Part)]
        elif not isinstance(child, Part) or child.name not in ("head", "fc", *(f"{prefix}{index}" for index in range(last + 1, count))):
            kept.append(child)
    return replace(tree, children=tuple(kept))


WRAPPED = (Field("timm", WHOLE, None, "nested", resolve=_resolve), LABELS)


def model(c: Config) -> Part:
    """Describe TimmWrapperModel: timm's model without its labels."""
    inner = submodel(with_changes(c.timm, model_type=c.timm.model_type, headed=False))
    return part("", as_child(WHOLE, with_maps_alone(c.timm, inner) if c.timm.maps_alone else inner), kind="model")


def classification(c: Config) -> Part:
    """Describe TimmWrapperForImageClassification: timm's model with as many labels as the config has."""
    if not is_some(c.labels):
        raise ConfigError("this class needs labels", key="num_labels", value=0, hint="TimmWrapperModel has none")
    if c.timm.maps_alone:
        raise ConfigError("a network that hands on its maps has no labels", key="model_args.features_only", value=True)
    inner = with_changes(c.timm, model_type=c.timm.model_type, headed=True, labels=c.labels)
    return part("", as_child(WHOLE, submodel(inner)), kind="model")


def _indices(value: Any) -> tuple[int, ...]:
    """Take which maps are output, counted from the stem's or, below zero, from the last."""
    if isinstance(value, (list, tuple)) and all(type(index) is int and -5 <= index <= 4 for index in value):
        value = [index % 5 for index in value]
    return timm_resnet.indices(value)


def _network_of(value: Any) -> timm_resnet.Network | None:
    return None if value is None else timm_resnet.network(value)


BACKBONE = (
    *variant(
        timm_resnet.FIELDS,
        choice("outputs", "out_indices", [-1], read=_indices),
        choice("network", "backbone", None, read=_network_of),
    ),
    switch("frozen_norms", "freeze_batch_norm_2d", False),
    switch("maps_alone", "features_only", True),
    image(224, report_default=False),
)


def backbone(c: Config) -> Part:
    """Describe TimmBackbone: a ResNet up to the last map that it hands on.

    Raises:
        ConfigError: No network is named, or a whole one is asked for.
    """
    if c.network is None:
        raise ConfigError("the class needs the name of one of timm's models", key="backbone", hint="resnet50")
    if not c.maps_alone:
        raise ConfigError("only networks that hand on their maps are described", key="features_only", value=False)
    parts, _, _ = timm_resnet.resnet(c, c.image)
    inner = part("_backbone", *parts, kind="backbone")
    return part("", constant_batch_norms(inner) if c.frozen_norms else inner, kind="model")


CLASSES = {"TimmWrapperModel": model, "TimmWrapperForImageClassification": classification}
KEYS = frozenset("architecture do_pooling global_pool model_args num_features pretrained_cfg".split())
FAMILIES = {
    "timm_wrapper": Family("timm_wrapper", WRAPPED, CLASSES, "TimmWrapperModel", KEYS, normalize_config=_normalize),
    "timm_backbone": Family(
        "timm_backbone",
        BACKBONE,
        {"TimmBackbone": backbone},
        "TimmBackbone",
        frozenset("use_pretrained_backbone use_timm_backbone".split()),
    ),
}
