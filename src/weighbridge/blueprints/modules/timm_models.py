"""timm's models by name: which class each is built with, and with which arguments; and what a config of timm's on the Hub says.

Source: timm 1.0.31, whose constructors ``python -m truth.timm_models --record`` has asked (``timm_models.json`` beside this file).
"""

from __future__ import annotations

import os

from weighbridge.config.bind import say_value
from weighbridge.core._json import loads
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UnknownArchitecture
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text
from weighbridge.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from typing import Any

TYPES = {
    "VisionTransformer": "timm_vit",
    "VisionTransformerDistilled": "timm_vit",
    "VisionTransformerRelPos": "timm_relpos",
    "ConvNeXt": "timm_convnext",
    "Eva": "timm_eva",
    "SwinTransformer": "timm_swin",
    "FastVit": "timm_fastvit",
    "RepVit": "timm_repvit",
    "ResNet": "timm_resnet",
    "Xcit": "timm_xcit",
}
"""The classes described, with the model types that describe them here."""
ANY_SIDE = frozenset({"timm_convnext", "timm_fastvit", "timm_repvit", "timm_resnet"})
"""Those whose tensors do not tell the side of the image, so that only what the pretrained weights were made for does."""

_KNOWN: dict[str, tuple[str, dict[str, Any], dict[str, dict[str, Any]]]] = {}


def built_with(name: Any, key: str = "architecture") -> tuple[str, dict[str, Any]]:
    """Return the model type that describes a model of timm's, and the arguments of its class.

    The tag of published weights, behind a point, may change them: other labels, another side of the image.

    Raises:
        UnknownArchitecture: No such model, or one of a class that is not described.

    >>> built_with("vit_base_patch16_224.augreg_in21k")[1]["num_classes"]
    21843
    """
    plain, _, tag = name.partition(".") if isinstance(name, str) else ("", "", "")
    if plain not in _models():
        raise UnknownArchitecture(
            Text("timm's {name!r:.60} is not described", name=name), key=key, value=name, hint=did_you_mean(plain, _KNOWN, typos=True)
        )
    class_name, arguments, tags = _models()[plain]
    distilled = {"distilled": True} if class_name.endswith("Distilled") else {}
    return TYPES[class_name], {**arguments, **tags.get(tag, {}), **distilled}


def is_built_by(model_type: str, name: Any) -> bool:
    """Say whether a name is that of one of timm's models, whose class this type describes.

    >>> is_built_by("timm_swin", "swin_tiny_patch4_window7_224"), is_built_by("timm_swin", "resnet50")
    (True, False)
    """
    plain = name.partition(".")[0] if isinstance(name, str) else ""
    return plain in _models() and TYPES.get(_models()[plain][0]) == model_type


def timm_model(name: str) -> dict[str, Any] | None:
    """Return a config that names one of timm's models, with the tag of its weights or without; None if there is no such model.

    >>> timm_model("timm/convnext_atto"), timm_model("vit_base_patch16_224.no_such_weights")
    ({'architecture': 'convnext_atto', 'model_args': {}}, None)
    """
    plain, _, tag = name.removeprefix("timm/").partition(".")
    if plain not in _models() or (tag and tag not in _models()[plain][2]):
        return None
    return {"architecture": name.removeprefix("timm/"), "model_args": {}}


def _models() -> Mapping[str, tuple[str, dict[str, Any], dict[str, dict[str, Any]]]]:
    if not _KNOWN:
        with open(os.path.join(os.path.dirname(__file__), "timm_models.json"), encoding="utf-8") as file:
            _KNOWN.update(loads(file.read()))
    return _KNOWN


def is_timm(raw: Mapping[str, Any]) -> bool:
    """Say whether a config is one of timm's on the Hub.

    >>> is_timm({"architecture": "resnet50", "num_features": 2048}), is_timm({"architecture": "encoder"})
    (True, False)
    """
    return isinstance(raw.get("architecture"), str) and bool({"num_features", "pretrained_cfg", "model_args"} & set(raw))


def arguments_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with which a class is built from a config of the Hub's.

    They are the model's own; what the config says of the pretrained weights (labels, colours, the image's side); and ``model_args``.

    >>> found = arguments_of({"architecture": "vit_tiny_patch16_224", "num_features": 192, "num_classes": 10})
    >>> found["num_classes"], found["embed_dim"]
    (10, 192)
    """
    if "architecture" not in raw:
        return dict(raw)
    model_type, arguments = built_with(raw["architecture"])
    if model_type in ANY_SIDE:
        arguments = {"img_size": 224, **arguments}
    inner = raw.get("pretrained_cfg")
    pretrained = dict(inner) if isinstance(inner, Mapping) else dict(raw)
    found = {**arguments, **_pretrained_arguments(pretrained, arguments)}
    if type(raw.get("num_classes")) is int:
        found["num_classes"] = raw["num_classes"]
    more = raw.get("model_args") or {}
    if not isinstance(more, Mapping):
        raise ConfigError(Text("expected an object, found {what}", what=say_value(more)), key="model_args", value=more)
    stated = {key: value for key, value in more.items() if value is not None}  # timm leaves out what is null
    return {**found, **stated, **({"model_type": raw["model_type"]} if "model_type" in raw else {})}


def _pretrained_arguments(said: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    size = said.get("input_size")
    if isinstance(size, (list, tuple)) and len(size) == 3:
        found["in_chans"] = size[0]
        if "img_size" in arguments:
            found["img_size"] = list(size[1:])
    if type(said.get("num_classes")) is int:
        found["num_classes"] = said["num_classes"]
    if "global_pool" not in arguments and isinstance(said.get("global_pool"), str):
        found["global_pool"] = said["global_pool"]
    return found
