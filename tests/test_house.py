"""The house is in order: imports point down, the core stays light, what is public is documented."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

import weighbridge
from tests.imports import SOURCE, Import, circles, every_import, imports_of, reach, room
from weighbridge.commands.table import COMMANDS

ROOT = Path(__file__).parents[1]
LEVELS = (
    ("core",),
    ("config",),
    ("value",),
    ("blueprints", "readers", "accounts", "presets"),
    ("load",),
    ("explain", "columns"),
    ("conventions", "verification", "designs", "inventory"),
    ("auditing",),
    ("exercises",),
    ("documents",),
    ("api",),
    ("web", "commands", "cli", "__main__"),
)
"""The architecture, lowest first: a module may import what is on its own level or below, wherever in the file the import stands."""

PUTS_OFF = ("", "api", "load", "commands", "cli", "web")
"""The rooms that join all others, and import them when they are asked for, so that one answer does not load what all need."""

BY_NAME = {
    "weighbridge": "the front door fetches a public name from where it stands",
    "weighbridge.blueprints": "one architecture of hundreds is loaded, by the index",
    "weighbridge.blueprints.modules.backbones": "a backbone may be any architecture, and is found by the index",
    "weighbridge.commands.table": "one command is loaded, by its name",
    "weighbridge.documents.renderers": "one renderer is loaded, by the form that is asked for",
    "weighbridge.readers.formats": "a format's reader is loaded by the table of formats",
}
"""Modules that import others of ours by a name made up at run time, and why."""

THIRD_PARTY = {
    "anyio": "comes with the server, which only serve starts",
    "distributed": "only a census on a cluster needs it; an extra",
    "duckdb": "only questions to a census need it; an extra",
    "h5py": "only Keras files need it; it is an extra",
    "jinja2": "only pages need it",
    "markupsafe": "comes with jinja2",
    "matplotlib": "only a figure needs it; 300 ms, an extra",
    "numpy": "only columns need it; 100 ms",
    "obstore": "only object stores need it; an extra",
    "pandas": "only a frame needs it; 400 ms, an extra",
    "polars": "only a frame needs it; an extra",
    "pyarrow": "only Parquet and packed databases of arrays need it; an extra",
    "rich": "only a terminal needs it; 60 ms",
    "rich_argparse": "only help on a terminal needs it",
    "starlette": "only the server needs it; an extra",
    "sympy": "only an export needs it; 500 ms, and never a dependency",
    "torch": "only --via transformers needs it; never a dependency",
    "transformers": "only --via transformers needs it; never a dependency",
    "uvicorn": "only the server needs it; an extra",
    "xlsxwriter": "only spreadsheets need it; an extra",
    "yaml": "only configs in YAML need it; an extra",
}
"""Packages that are imported when they are needed, and why they are put off; none is imported at the top of a file."""

MODULES = sorted(SOURCE.rglob("*.py"))
assert MODULES


@cache
def all_imports() -> dict[str, list[Import]]:
    """Read every import of every module: the first test that asks does it, and no process that runs none of these tests."""
    return every_import(SOURCE)


@cache
def ours() -> dict[str, list[Import]]:
    return {name: [found for found in each if found.module.split(".")[0] == "weighbridge"] for name, each in all_imports().items()}


@cache
def foreign() -> dict[str, list[Import]]:
    known = ("weighbridge", *sys.stdlib_module_names)
    return {name: [found for found in each if found.module.split(".")[0] not in known] for name, each in all_imports().items()}


@cache
def edges() -> dict[str, set[str]]:
    return {name: {found.module for found in each if found.place != "name"} for name, each in ours().items() if name != "weighbridge"}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def level(name: str) -> int:
    return next(number for number, names in enumerate(LEVELS) if name in names)


def upward(name: str, imports: Sequence[Import]) -> list[Import]:
    """Return the imports that lead to a room above; the front door, from which only its own facts may be taken, is above all."""
    return [found for found in imports if room(found.module) and level(room(found.module)) > level(room(name))]


def put_off(imports: Sequence[Import]) -> list[Import]:
    return [found for found in imports if found.place == "function"]


def test_imports_point_down() -> None:
    assert not {name: above for name in ours() if name != "weighbridge" and (above := upward(name, ours()[name]))}


def test_no_import_goes_round_in_a_circle() -> None:
    assert sum(map(len, edges().values())) > 1000
    assert not circles(edges())


def test_rooms_do_not_go_round_in_a_circle() -> None:
    rooms: dict[str, set[str]] = {}
    for name, others in edges().items():
        rooms.setdefault(room(name), set()).update(room(other) for other in others)
    assert not circles({name: others - {name, ""} for name, others in rooms.items()})


def test_blueprints_and_readers_never_meet() -> None:
    for name in edges():
        met = {room(other) for other in reach(edges(), name)} & {"blueprints", "readers"}
        assert len(met) < 2 or level(room(name)) >= level("load"), f"{name} reaches blueprints and readers"


def test_only_rooms_that_join_all_put_imports_of_ours_off() -> None:
    found = {name: put_off(imports) for name, imports in ours().items() if put_off(imports) and room(name) not in PUTS_OFF}
    found.pop("weighbridge.blueprints", None)  # the index looks a class up in the table of classes only where it must
    assert not found


def test_only_tables_import_by_name() -> None:
    found = {
        name for name, imports in all_imports().items() if any(one.place == "name" and one.module in ("", "weighbridge") for one in imports)
    }
    found |= {name for name, imports in ours().items() if any(one.place == "name" for one in imports)}
    assert found <= set(BY_NAME), found - set(BY_NAME)


def test_packages_of_others_are_put_off_for_a_reason() -> None:
    found = {one.module: name for name, imports in foreign().items() for one in imports if one.module and one.place != "typing"}
    assert set(found) <= set(THIRD_PARTY), found
    tops = {name: [one for one in imports if one.place == "top"] for name, imports in foreign().items()}
    assert not {name: imports for name, imports in tops.items() if imports}


WRONG = """
from typing import TYPE_CHECKING
import numpy
from weighbridge.documents import document

if TYPE_CHECKING:
    from weighbridge.api import Model

class Late:
    def late(self):
        from weighbridge.core.tree import Part
        import weighbridge.readers.hub
        return lambda: import_module(f"weighbridge.blueprints.{self}"), import_module("torch")
"""


def test_every_kind_of_import_is_read() -> None:
    found = imports_of(WRONG, ["weighbridge.documents.document", "weighbridge.core.tree"])
    assert [(one.module, one.place) for one in found] == [
        ("typing", "top"), ("numpy", "top"), ("weighbridge.documents.document", "top"), ("weighbridge.api", "typing"),
        ("weighbridge.core.tree", "function"), ("weighbridge.readers.hub", "function"), ("weighbridge.blueprints", "name"), ("torch", "name"),
    ]  # fmt: skip
    assert [one.module for one in upward("weighbridge.core.sizes", found[2:6])] == [
        "weighbridge.documents.document", "weighbridge.api", "weighbridge.readers.hub",
    ]  # fmt: skip
    assert [one.module for one in put_off(found)] == ["weighbridge.core.tree", "weighbridge.readers.hub"]
    with pytest.raises(AssertionError, match="relative"):
        imports_of("from . import tree", ())


def test_circles_are_found() -> None:
    assert circles({"a": ["b"], "b": ["c"], "c": ["b"], "d": ["a"], "e": ["e"]}) == [["b", "c"], ["e"]]
    assert circles({"a": ["b", "c"], "b": ["c"], "c": []}) == []
    assert reach({"a": ["b"], "b": ["c"], "d": ["a"]}, "a") == {"a", "b", "c"}


def modules_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nsys.stdout = sys.__stdout__\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT / "src")
    return set(done.stdout.split())


def test_a_plain_count_imports_nothing_heavy() -> None:
    loaded = modules_after("import io\nsys.stdout = io.StringIO()\nfrom weighbridge.cli import main\nmain(['bert-base-uncased', '--json'])")
    assert "weighbridge.blueprints.encoders.bert" in loaded
    loaded -= modules_after("")
    heavy = {
        "argparse",
        "enum",
        "functools",
        "gettext",
        "importlib",
        "json",
        "locale",
        "re",
        "typing",
        "pathlib",
        "shutil",
        "rich",
        "numpy",
        "sympy",
        "torch",
        "dataclasses",
        "inspect",
        "importlib.metadata",
        "fractions",
        "difflib",
        "h5py",
        "starlette",
    }
    assert not heavy & loaded, heavy & loaded
    architectures = {
        name for name in loaded if name.startswith("weighbridge.blueprints.") and name.count(".") == 3 and ".modules." not in name
    }
    assert architectures == {"weighbridge.blueprints.encoders.bert"}
    assert "weighbridge.blueprints.class_index" not in loaded


@pytest.mark.parametrize(
    "words",
    [
        ["cache", "llama-3-8b"],
        ["memory", "llama-3-8b", "--training", "--attention", "eager"],
        ["fits", "llama-3-8b", "--device", "a100-80g", "--for", "lora"],
        ["adapters", "llama-3-8b", "lora:r=8,target_modules=all-linear,use_rslora=true"],
        ["parallel", "llama-3-8b", "--tp", "4", "--pp", "2", "--dp", "2", "--zero", "1", "--seq", "512"],
    ],
    ids=lambda words: words[0],
)
def test_costs_import_nothing_heavy(words: list[str]) -> None:
    loaded = modules_after(
        f"import io\nsys.stdout = io.StringIO()\nfrom weighbridge.cli import main\nassert not main({[*words, '--json']})"
    )
    heavy = {"argparse", "bisect", "contextlib", "dataclasses", "enum", "fnmatch", "fractions", "json", "numpy", "pathlib", "re", "typing"}
    assert not heavy & (loaded - modules_after("")), heavy & loaded


def test_public_names_are_exported_and_documented() -> None:
    for name in weighbridge.__all__:
        assert getattr(weighbridge, name).__doc__, name


def public_functions(tree: ast.Module) -> list[ast.FunctionDef | ast.ClassDef]:
    return [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")]


LONGEST, MOST_BRANCHES = 60, 20
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.match_case)
BRANCH_WORDS = ("if", "for", "while", "except", "case")
"""The words without which there is no branch: a function with few of them need not be looked through."""


def own_nodes(function: ast.AST) -> list[ast.AST]:
    """Return what stands in a function, but not in functions and classes of its own."""
    found: list[ast.AST] = []
    waiting = [function]
    while waiting:
        inside = [
            child
            for child in ast.iter_child_nodes(waiting.pop())
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        ]
        found += inside
        waiting += inside
    return found


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function of a file, those within others too; they stand among statements, never in an expression."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child
        if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield from functions(child)


def too_long(text: str, tree: ast.Module | None = None) -> list[str]:
    """Return the functions with more lines of code or branches of their own than a reader holds, and no comment that says why."""
    found = []
    lines = text.split("\n")
    for node in functions(tree or ast.parse(text)):
        body = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        if body.count("\n") >= LONGEST or sum(body.count(word) for word in BRANCH_WORDS) > MOST_BRANCHES:
            inside = own_nodes(node)
            code = {at.lineno for at in inside if isinstance(at, (ast.stmt, ast.expr))}
            branches = sum(isinstance(at, BRANCHES) for at in inside)
            reason = "# Long because" in "\n".join(lines[max(0, node.lineno - 2) : node.end_lineno])
            if (len(code) > LONGEST or branches > MOST_BRANCHES) and not reason:
                found.append(f"{node.name}: {len(code)} lines, {branches} branches")
    return found


def test_a_long_function_says_why() -> None:
    found = {str(path.relative_to(SOURCE)): too_long(path.read_text("utf-8"), tree_of(path)) for path in MODULES}
    assert not {path: names for path, names in found.items() if names}, 'split it, or say "# Long because ..." in it'


def test_long_functions_are_found() -> None:
    body = "".join(f"    x = {n}\n" for n in range(LONGEST + 1))
    assert too_long(f"def f():\n{body}") == ["f: 61 lines, 0 branches"]
    assert too_long(f"def f():\n    # Long because it is one table.\n{body}") == []
    assert too_long("def f(x):\n" + "    if x: pass\n" * 21) == ["f: 21 lines, 21 branches"]


def test_every_public_name_has_a_docstring() -> None:
    for path in MODULES:
        tree = tree_of(path)
        assert ast.get_docstring(tree), path
        assert not [node.name for node in public_functions(tree) if not ast.get_docstring(node)], path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_and_stands_in_the_docs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    from weighbridge.cli import main

    assert main([command, "--help"]) == 0
    assert "example" in capsys.readouterr().out
    pages = "\n".join(page.read_text("utf-8") for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))])
    assert f"weigh {command}" in pages, f"weigh {command} stands in no page"


def test_no_two_test_files_have_one_name() -> None:
    """Pytest imports a test file by its bare name where no package holds it."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py") if not (path.parent / "__init__.py").exists()]
    assert names
    assert sorted(names) == sorted(set(names))
