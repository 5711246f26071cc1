"""The defaults of every method's config class in the PEFT library, recorded (``python -m truth.adapter_defaults``; peft must be installed)."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "tests" / "truth" / "adapters" / "defaults.json"


def defaults(config_class: type) -> dict[str, Any]:
    """Return the plain values (numbers, booleans, texts, null, empty lists) that a config class takes where a field is left out."""
    found = {}
    for field in fields(config_class):
        made = field.default_factory() if field.default_factory is not MISSING else field.default
        value = getattr(made, "value", made)
        if value == [] or (value is not MISSING and isinstance(value, bool | int | float | str | None)):
            found[field.name] = value
    return found


def main() -> None:
    """Write the file, one method a line."""
    own = ("peft_type", "auto_mapping", "base_model_name_or_path", "revision", "inference_mode", "peft_version")
    methods = {
        str(getattr(name, "value", name)): {key: value for key, value in defaults(known).items() if key not in own}
        for name, known in import_module("peft.mapping").PEFT_TYPE_TO_CONFIG_MAPPING.items()
    }
    head = f'{{"libraries": {{"peft": "{version("peft")}"}}, "command": "python -m truth.adapter_defaults",\n"methods": {{\n'
    FILE.write_text(head + ",\n".join(f'"{name}": {json.dumps(methods[name])}' for name in sorted(methods)) + "\n}}\n", "utf-8")


if __name__ == "__main__":
    main()
