"""Writes a file of one line for each model type anew: all of it, or the lines of the types that are named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from weighbridge.blueprints import MODULES, is_remote, type_lines


def renew_lines(path: str, line_of: Callable[[str], str], forget: Callable[[], None]) -> None:
    """Ask anew about the types on the command line, or about all.

    Args:
        path: The file.
        line_of: What stands behind a type's name; nothing if the type needs no line.
        forget: What makes the reader of the file read it again.
    """
    types = sys.argv[1:] or [name for name in sorted(MODULES) if not is_remote(name)]
    lines = {line.partition(": ")[0]: line for line in Path(path).read_text("utf-8").splitlines()}
    kept = {name: line for name, line in lines.items() if name not in types}
    _write(path, kept, forget)  # so that ours builds what the classes refuse
    for model_type in types:
        if found := line_of(model_type):
            kept[model_type] = f"{model_type}: {found}"
            print(kept[model_type], flush=True)
    _write(path, kept, forget)


def _write(path: str, lines: Mapping[str, str], forget: Callable[[], None]) -> None:
    Path(path).write_text("".join(f"{lines[name]}\n" for name in sorted(lines)), "utf-8")
    type_lines.forget(path)
    forget()
