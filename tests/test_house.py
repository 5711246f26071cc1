"""The house is in order: imports point down, the core stays light, what is public is documented."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import weighbridge
from weighbridge.cli import COMMANDS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "weighbridge"
LEVELS = (
    ("core",),
    ("config",),
    ("value",),
    ("blueprints", "readers", "accounts", "presets"),
    ("load",),
    ("explain", "conventions", "verification", "auditing", "columns", "designs", "census"),
    ("documents",),
    ("api",),
    ("web", "commands", "cli", "__main__"),
)
"""The architecture, lowest first: a module may import what is on its own level or below, at the top of the file."""

MODULES = sorted(SOURCE.rglob("*.py"))


def level(module: str) -> int:
    return next(number for number, names in enumerate(LEVELS) if module in names)


def top_level_imports(path: Path) -> set[str]:
    """Return our modules that *path* imports when it is loaded; imports inside functions are on demand."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("weighbridge."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.ImportFrom) and node.module == "weighbridge":
            found.update(alias.name for alias in node.names if (SOURCE / alias.name).exists() or (SOURCE / f"{alias.name}.py").exists())
    return found


assert MODULES


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    name = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if name == "__init__":
        return
    upward = {imported for imported in top_level_imports(path) if level(imported) > level(name)}
    assert not upward, f"{name} imports {upward}, which stand above it"


def test_blueprints_and_readers_never_meet() -> None:
    for path in MODULES:
        name = path.relative_to(SOURCE).parts[0]
        other = {"blueprints": "readers", "readers": "blueprints"}.get(name)
        assert other is None or other not in top_level_imports(path), path


def test_an_upward_import_is_found(tmp_path: Path) -> None:
    path = tmp_path / "sizes.py"
    path.write_text("from weighbridge.documents.document import Table\n")
    assert top_level_imports(path) == {"documents"}
    assert level("documents") > level("core")


def modules_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nsys.stdout = sys.__stdout__\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT / "src")
    return set(done.stdout.split())


def test_a_plain_count_imports_nothing_heavy() -> None:
    loaded = modules_after("import io\nsys.stdout = io.StringIO()\nfrom weighbridge.cli import main\nmain(['bert-base-uncased', '--json'])")
    assert "weighbridge.blueprints.encoders.bert" in loaded
    heavy = {
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
    architectures = {name for name in loaded if name.startswith("weighbridge.blueprints.") and name.count(".") == 3}
    assert architectures == {"weighbridge.blueprints.encoders.bert"}
    assert "weighbridge.blueprints.class_index" not in loaded


def test_public_names_are_exported_and_documented() -> None:
    for name in weighbridge.__all__:
        assert getattr(weighbridge, name).__doc__, name


def public_functions(path: Path) -> list[ast.FunctionDef | ast.ClassDef]:
    body = ast.parse(path.read_text("utf-8")).body
    return [node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_public_name_has_a_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree), "the module has none"
    bare = [node.name for node in public_functions(path) if not ast.get_docstring(node)]
    assert not bare


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
