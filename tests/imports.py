"""Every import of every file, at its top, inside its functions and by name: what the tests of the house read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

PACKAGE = "weighbridge"
SOURCE = Path(__file__).parents[1] / "src" / PACKAGE


class Import(NamedTuple):
    """One import.

    Attributes:
        module: What is imported: a module of ours in full where it is one, else the name before the first dot.
        place: ``top`` of the file, ``typing`` where only type checkers see it, ``function`` where it is put off, and
            ``name`` where ``import_module`` is given its name.
        line: Where it stands.
    """

    module: str
    place: str
    line: int


def module_of(path: Path, source: Path = SOURCE) -> str:
    """Return the name of the module in a file."""
    parts = (source.name, *path.relative_to(source).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(text: str, known: Iterable[str]) -> list[Import]:
    """Read all imports of a file.

    Args:
        text: The file.
        known: Our modules, by which ``from weighbridge.core import tree`` is told from a name in ``core``.
    """
    named = "import_module" in text or "__import__" in text
    return list(_within(ast.parse(text), "top", frozenset(known), named))


def _within(node: ast.AST, place: str, known: frozenset[str], named: bool) -> Iterator[Import]:
    """Yield the imports below a node; expressions are looked through only if modules are *named* in calls of the file."""
    for child in ast.iter_child_nodes(node):
        if not named and not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            continue
        inside = place
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            inside = "function"
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in map(_last_name, ast.walk(child.test)):
            inside = "typing"
        if isinstance(child, ast.Import):
            yield from (Import(_ours_or_root(alias.name), place, child.lineno) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert not child.level, "relative imports hide where they lead"
            names = (f"{child.module}.{alias.name}" for alias in child.names)
            found = (name if name in known else child.module or "" for name in names)
            yield from (Import(_ours_or_root(name), place, child.lineno) for name in dict.fromkeys(found))
        elif isinstance(child, ast.Call) and _last_name(child.func) in ("import_module", "__import__"):
            yield Import(_ours_or_root(_literal(child.args[0])), "name", child.lineno)
        yield from _within(child, inside, known, named)


def _last_name(node: ast.AST) -> str:
    """Return a name, or the last one of a dotted name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _ours_or_root(name: str) -> str:
    return name if name.split(".")[0] == PACKAGE else name.split(".")[0]


def _literal(node: ast.expr) -> str:
    """Return what a name begins with, as far as it is written out."""
    if isinstance(node, ast.JoinedStr):
        first = node.values[0]
        return _literal(first).rstrip(".") if isinstance(first, ast.Constant) else ""
    return str(node.value) if isinstance(node, ast.Constant) else ""


def every_import(source: Path = SOURCE) -> dict[str, list[Import]]:
    """Return the imports of each module under *source*."""
    paths = {module_of(path, source): path for path in sorted(source.rglob("*.py"))}
    return {name: imports_of(path.read_text("utf-8"), paths) for name, path in paths.items()}


def room(module: str) -> str:
    """Return the room of a module of ours: the package or file right under ``weighbridge``; the front door is the empty string.

    >>> room("weighbridge.core.tree"), room("weighbridge.api"), room("weighbridge")
    ('core', 'api', '')
    """
    return f"{module}.".split(".")[1]


def circles(edges: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other (Tarjan's strongly connected components of two or more)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in edges.get(name, ()):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1 or name in edges.get(name, ()):
                found.append(sorted(group))

    for name in edges:
        if name not in index:
            visit(name)
    return found


def reach(edges: Mapping[str, Iterable[str]], start: str) -> set[str]:
    """Return every module that one reaches, itself among them."""
    seen, pending = {start}, [start]
    while pending:
        more = set(edges.get(pending.pop(), ())) - seen
        seen |= more
        pending += more
    return seen
