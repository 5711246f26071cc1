"""What the reference's config classes refuse at sight, asked of every type that is described.

``python -m truth.refused_values`` sets every size of every described type to null, and every head to an odd width, and writes into
``blueprints/refused_values.json`` which nulls are taken, and which types want an even width.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from truth import live
from truth.live import RefusedError
from weighbridge.blueprints import MODULES, family
from weighbridge.blueprints.refused_values import PATH, wants_number

REFUSED_LABELS = "TypeError: 'NoneType' object cannot be interpreted as an integer"


def find_refused_values() -> dict[str, Any]:
    """Ask every config class that builds from its defaults."""
    nulls: dict[str, list[str]] = {}
    even: list[str] = []
    for model_type in MODULES:
        try:
            config = live.config_class(model_type)
        except RefusedError:  # code of its own, or another package's
            continue
        if "RoPE requires an even" in _refusal(config, head_dim=7):
            even.append(model_type)
        if not _refusal(config):
            keys = {key for field in family(model_type).fields if wants_number(field) for key in (field.key, *field.aliases) if key}
            nulls[model_type] = sorted(key for key in keys if not _is_refused(config, key))
    return {"even_heads": even, "nulls": nulls}


def _is_refused(config: Any, key: str) -> bool:
    """Say whether a null is refused for its own sake, and not for what other keys make of it."""
    named = config.attribute_map.get(key, key)
    return _refusal(config, **{key: None}).startswith(
        (f"StrictDataclassFieldValidationError: Validation error for field '{named}'", REFUSED_LABELS)
    )


def _refusal(config: Any, **values: Any) -> str:
    try:
        config(**values)
    except Exception as error:  # whatever a value may provoke in there
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    """Write the file."""
    lines = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in find_refused_values().items())
    Path(PATH).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
