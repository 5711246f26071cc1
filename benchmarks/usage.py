"""``--help`` of every tool of the repository that is run as ``python -m benchmarks.NAME`` or ``python -m truth.NAME``."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

HELP = ("-h", "--help")


def print_usage(package: str) -> None:
    """Print the docstring of the module of *package* that ``python -m`` is about to run, and stop, where its arguments ask for help.

    The package calls this as it is imported, which is before the module's own imports: what they need may not be installed.
    A module with argparse says more by itself.
    """
    if sys.argv[0] != "-m" or not set(HELP) & set(sys.argv[1:]):
        return
    name = sys.orig_argv[sys.orig_argv.index("-m") + 1]
    folder = Path(__file__).parents[1] / package
    path = folder / f"{name.removeprefix(package).lstrip('.') or '__main__'}.py"
    if path.is_file() and "argparse" not in (source := path.read_text(encoding="utf-8")):
        print(ast.get_docstring(ast.parse(source)))
        sys.exit()
