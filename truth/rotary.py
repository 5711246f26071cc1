"""Which attention turns its queries and keys by their positions: read out of the reference's forward functions.

The tree cannot tell, as rotary positions own no parameter. ``python -m truth.rotary`` writes ``explain/rotary.py`` anew.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any

from truth import live
from weighbridge.blueprints import MODULES, family, is_remote

TRUTH = Path(__file__).parents[1] / "tests" / "truth"
TARGET = Path(__file__).parents[1] / "src" / "weighbridge" / "explain" / "rotary.py"
ROTATES = re.compile(r"_?(apply|rotate)\w*(rotary|rope|queries_or_keys)\w*")


@cache
def rotates(cls: Hashable) -> bool:
    """Tell whether the forward function of a class always rotates something, whatever its config says."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls.forward)))  # type: ignore[attr-defined]
    except (OSError, TypeError, AttributeError):
        return False
    return _always(tree)


def _always(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if ROTATES.fullmatch(name):
            return True
    if isinstance(node, ast.If):
        return any(map(_always, node.body)) and any(map(_always, node.orelse))
    if isinstance(node, ast.IfExp):
        return _always(node.body) and _always(node.orelse)
    if isinstance(node, (ast.For, ast.While, ast.Lambda, ast.Try)):
        return False
    return any(map(_always, ast.iter_child_nodes(node)))


def places(model: Any) -> list[str]:
    """Return the paths of the modules that rotate, without the indices of layers."""
    modules: list[tuple[str, Any]] = [(name, type(module)) for name, module in model.named_modules()]
    found = (re.sub(r"(^|\.)\d+(?=\.|$)", "", name).strip(".") for name, cls in modules if rotates(cls))
    return sorted(set(found))


def places_of(model_type: str) -> list[str]:
    """Return the places of a type's base class, built from its defaults or, where these build none, from a recorded config."""
    path = TRUTH / f"{model_type}.json"
    recorded = json.loads(path.read_text("utf-8"))["configs"] if path.exists() else []
    for config in ({}, *recorded):
        try:
            return places(live.build(model_type, family(model_type).base, config))
        except live.RefusedError:
            continue
    return []


def table() -> dict[str, list[str]]:
    """Return, by path, the model types whose base class rotates there."""
    found: dict[str, list[str]] = {}
    for model_type in MODULES:
        if is_remote(model_type):
            continue
        for place in places_of(model_type):
            found.setdefault(place, []).append(model_type)
    return {place: sorted(types) for place, types in sorted(found.items())}


def source(found: dict[str, list[str]]) -> str:
    """Write the module."""
    rows = "".join(f'    "{place}": """{_fill(types)}""",\n' for place, types in found.items())
    return (
        '"""Where the reference library turns queries and keys by their positions (rotary positions), whatever the config says.\n\n'
        "A rotation owns no parameter, so the tree does not tell; this table was read out of the reference's own forward functions\n"
        "(transformers 5.23.0). ``python -m truth.rotary`` writes it.\n"
        '"""\n\nfrom __future__ import annotations\n\n'
        f"_PLACES = {{\n{rows}}}\n"
        '"""By the path of an attention in the base class, indices left out: the model types."""\n\n\n'
        "def rotary_places(model_type: str) -> tuple[str, ...]:\n"
        '    """Return the paths of the attention that rotates queries and keys, in a model of a type with its usual sub-configs.\n\n'
        '    >>> rotary_places("llama"), rotary_places("bert")\n'
        "    (('layers.self_attn',), ())\n"
        '    """\n'
        "    return tuple(place for place, types in _PLACES.items() if model_type in types.split())\n"
    )


def _fill(types: list[str]) -> str:
    return "\n    ".join(textwrap.wrap(" ".join(types), 130))


if __name__ == "__main__":
    TARGET.write_text(source(table()), "utf-8")
    sys.exit(0)
