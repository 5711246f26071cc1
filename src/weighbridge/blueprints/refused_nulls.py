"""Keys that no class of a model type builds at null, though its config class may take it (``refused_nulls.txt``).

The file is written by ``python -m truth.refused_nulls``.
"""

from __future__ import annotations

from weighbridge.blueprints.type_lines import find_line
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PATH = __file__.removesuffix(".py") + ".txt"


def refuse_nulls(model_type: str, raw: Mapping[str, Any]) -> None:
    """Refuse a null where no class of a type builds with it.

    Raises:
        ConfigError: Such a null.

    >>> refuse_nulls("clip", {"vision_config": {"image_size": None}})
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: vision_config.image_size: null is not possible, the class wants a value
    """
    for path in find_line(PATH, f"{model_type}: ").split():
        *parents, key = path.split(".")
        inner: Any = raw
        for parent in parents:
            inner = inner.get(parent) if isinstance(inner, dict) else None
        if isinstance(inner, dict) and inner.get(key, 0) is None:
            raise ConfigError("null is not possible, the class wants a value", key=path)
