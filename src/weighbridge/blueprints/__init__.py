"""Architectures, one file or a few functions each; :func:`family` finds the one that describes a model type.

Files stand in folders by kind, parts that many share in ``modules``. ``index.py`` says which file describes
which model type; it is made from the files, by ``scripts/index``. A file is loaded when a model of its type is counted.
"""

from __future__ import annotations

import sys

from weighbridge.blueprints.index import MODULES
from weighbridge.config.family import Family
from weighbridge.core.errors import UnknownArchitecture
from weighbridge.core.messages import Text
from weighbridge.core.suggestions import did_you_mean

__all__ = ["MODULES", "family", "is_remote", "model_type_of", "why_undescribed"]

_LOADED: dict[str, Family] = {}


def family(model_type: str) -> Family:
    """Return the family of a model type.

    Raises:
        UnknownArchitecture: No blueprint describes it; the text names the ways forward.

    >>> family("bert").base
    'BertModel'
    """
    known = _LOADED.get(model_type)
    if known is not None:
        return known
    module = MODULES.get(model_type)
    if module is None:
        hint = (
            why_undescribed(model_type)
            or did_you_mean(model_type, MODULES, typos=True)
            or "weigh models lists those known; with torch and transformers installed, --via transformers counts any class"
        )
        raise UnknownArchitecture(
            Text("unknown model type {model_type!r}", model_type=model_type), key="model_type", value=model_type, hint=hint
        )
    path = f"weighbridge.blueprints.{module}"
    __import__(path)  # importlib.import_module, whose import takes a hundredth of a count
    found: Family = sys.modules[path].FAMILIES[model_type]
    _LOADED[model_type] = found
    return found


def why_undescribed(name: str) -> str:
    """Return why a model type or class of the reference library is not weighed; the empty string if there is nothing particular to say.

    >>> why_undescribed("PatchTSTEncoder")
    'it takes the number of patches beside the config; PatchTSTModel works it out and holds it'
    """
    path = "weighbridge.blueprints.refused_classes"
    __import__(path)  # on refusal alone
    reason: str = sys.modules[path].REASONS.get(name, "")
    return reason


def is_remote(model_type: str) -> bool:
    """Say whether a model type's code is not the reference library's: it stands beside its files on the Hub, or in another package.

    >>> is_remote("baichuan"), is_remote("open_clip"), is_remote("llama")
    (True, True, False)
    """
    return MODULES.get(model_type, "").startswith(("remote.", "packages."))


def model_type_of(class_name: str) -> str | None:
    """Return the model type whose family has *class_name*, if one does.

    >>> model_type_of("BertForMaskedLM")
    'bert'
    """
    from weighbridge.blueprints.class_index import CLASSES

    return CLASSES.get(class_name)
