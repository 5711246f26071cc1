"""Record how the reference library renames, merges and splits the tensors of published checkpoints.

Run in the environment with transformers: ``python truth/conversions.py``. It writes
``src/weighbridge/verification/conversions.json``: for each model type or class the steps that its loader takes, each with
the patterns it looks for and what it puts in their place; several replacements mean that one tensor becomes several.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "src" / "weighbridge" / "verification" / "conversions.json"


def pattern(source: str) -> str:
    """Return the regular expression that the reference compiles for a source (WeightTransform.__init__)."""
    compiled = source.replace("*.", r".*\.")
    return compiled + r"(?!\w)" if re.search(r"[a-zA-Z0-9]$", compiled) else compiled


def step(transform: Any) -> dict[str, Any] | None:
    """Return one step in our form, or None for the few kinds that depend on what came before."""
    kind = type(transform).__name__
    if kind not in ("WeightRenaming", "WeightConverter", "PrefixChange"):
        return None
    found: dict[str, Any] = {"from": [pattern(source) for source in transform.source_patterns], "to": transform.target_patterns}
    if kind == "WeightConverter":
        found["by"] = [type(operation).__name__ for operation in transform.operations]
    return found


def main() -> None:
    """Write the table; a key whose steps are another's stands as that key's name."""
    import transformers  # type: ignore[import-not-found]
    from transformers import conversion_mapping

    table: dict[str, Any] = {}
    seen: dict[str, str] = {}
    for key, transforms in conversion_mapping._build_checkpoint_conversion_mapping().items():
        steps = [found for found in map(step, transforms) if found is not None]
        text = json.dumps(steps)
        table[key] = seen.get(text, steps)
        seen.setdefault(text, key)
    head = {"source": f"transformers {transformers.__version__}, conversion_mapping.py", "command": "python truth/conversions.py"}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(steps)}" for key, steps in sorted(table.items()))
    TARGET.write_text(f'{{"about": {json.dumps(head)},\n"steps": {{\n{lines}\n}}}}\n', "utf-8")


if __name__ == "__main__":
    main()
