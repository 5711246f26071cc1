"""Mutants: small faults put into one module at a time, to see whether the tests notice (``python -m benchmarks.mutants core config``).

Each mutant changes one operator, comparison, constant or branch of one module. It lives in a process of its own, forked with
pytest already loaded, in which the changed module is compiled in place of the file's; nothing is written. A mutant is
killed if a test fails or takes too long, and survives if all pass. The sample is drawn with a seed, so that a run can be repeated.
With ``--reach`` (a table written by ``benchmarks.reach``) the tests are those that run the changed line, wherever they stand.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import os
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import hypothesis  # noqa: F401  (loaded before the fork, as are the next three)
import numpy  # noqa: F401
import pytest
import sympy  # noqa: F401

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
SECONDS = 90.0
"""Seconds of processor time (what a busy machine makes of them does not matter) after which a mutant is taken to run for ever: killed."""
BUDGET = 20.0
"""Seconds of tests, as they were measured, that one mutant is held against: those of its room first, the shortest first."""
BUDGET_NEAR = 10.0
"""The same, of its nearest tests that do not run its line by the table."""
BROKEN = 99
CONVENTIONS, ACCOUNTS = "tests/unit/conventions", "tests/unit/accounts"
TESTS = {
    "accounts": (ACCOUNTS, "tests/unit/test_formula_command.py", "tests/unit/test_model.py", "tests/property/test_core_laws.py"),
    "accounts/adapters": tuple(f"{ACCOUNTS}/test_adapter{one}.py" for one in ("s", "_refusals", "_bases_and_ties")),
    "accounts/cache": (f"{ACCOUNTS}/test_cache.py", f"{ACCOUNTS}/test_fits.py"),
    "accounts/fits": (f"{ACCOUNTS}/test_fits.py", f"{ACCOUNTS}/test_accelerators.py"),
    "accounts/memory": (f"{ACCOUNTS}/test_side_by_side.py", f"{ACCOUNTS}/memory", f"{ACCOUNTS}/test_fits.py"),
    "accounts/parallel": tuple(f"{ACCOUNTS}/test_parallel{one}.py" for one in ("", "_estimates", "_stages", "_traffic")),
    "config": ("tests/unit/config", "tests/unit/test_model.py", "tests/unit/blueprints/test_composite.py", "tests/unit/explain/test_outlines.py"),
    "conventions": (f"{CONVENTIONS}/test_laws.py", f"{CONVENTIONS}/test_customs_of_others.py", f"{CONVENTIONS}/test_counts.py", CONVENTIONS),
    "conventions/arithmetic": (f"{CONVENTIONS}/test_arithmetic.py",),
    "conventions/loading": (f"{CONVENTIONS}/test_loading.py", f"{CONVENTIONS}/test_laws.py"),
    "conventions/reconcile": (f"{CONVENTIONS}/test_reconcile.py", CONVENTIONS),
    "conventions/rounding": (f"{CONVENTIONS}/test_written_numbers.py", f"{CONVENTIONS}/test_reconcile.py"),
    "core": (
        *(f"tests/unit/core/test_{name}.py" for name in "errors files fold formula json length namedtuple notation parts sizes".split()),
        "tests/unit/test_model.py", "tests/property/test_core_laws.py",
    ),
    "core/messages": ("tests/unit/core/test_messages.py",),
    "explain": (
        "tests/unit/explain/test_sentence_truth.py", "tests/unit/explain/test_outlines.py", "tests/unit/explain/test_derive.py", "tests/unit/test_formula_command.py",
        "tests/property/test_derivations.py", "tests/unit/documents",
    ),
    "explain/sentences": ("tests/unit/explain/test_sentence_truth.py", "tests/unit/explain/test_derive.py", "tests/property/test_sentences.py"),
    "explain/attention_sentences": ("tests/unit/explain/test_sentence_truth.py", "tests/unit/explain/test_derive.py", "tests/property/test_sentences.py"),
}  # fmt: skip
"""From a room, or a folder or file of it, to the tests that are to notice; the module's own doctests are asked first, the nearest tests next."""

SWAPS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Lt: ast.LtE, ast.LtE: ast.Lt,
    ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


class Mutant(NamedTuple):
    """One fault: which node of a module's tree, in which variant, and how to say it."""

    path: Path
    node: int
    what: str
    lines: tuple[int, int]
    at_import: bool


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every fault that can be put into a file; annotations, docstrings and type aliases are left alone."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = list(_live(tree))
    called = {id(node) for function in nodes if isinstance(function, (ast.FunctionDef, ast.Lambda)) for node in ast.walk(function)}
    for index, node in enumerate(nodes):
        changed = _apply_fault(copy.deepcopy(node))
        if changed is not None:
            lines = (getattr(node, "lineno", 0), getattr(node, "end_lineno", 0))
            what = f"{path.relative_to(SOURCE)}:{lines[0]}: {ast.unparse(node)[:60]} -> {changed}"
            yield Mutant(path, index, what, lines, id(node) not in called)


def _live(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, (ast.ImportFrom, ast.Import, ast.arguments)) or (
            isinstance(child, ast.AnnAssign) and (child.value is None or "TypeAlias" in ast.unparse(child.annotation))
        ):
            continue
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        yield child
        yield from _live(child)


def _apply_fault(node: ast.AST) -> str | None:
    """Change a node in place and say what it has become; None if there is no fault for it."""
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in SWAPS:
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
        ast.fix_missing_locations(node)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        node.value = not node.value
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
    elif isinstance(node, (ast.Continue, ast.Break)):
        return "continue/break exchanged" if _exchange(node) else None
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    else:
        return None
    return ast.unparse(node)[:60]


def _exchange(node: ast.AST) -> bool:
    node.__class__ = ast.Break if isinstance(node, ast.Continue) else ast.Continue
    return True


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module's changed code in place of its file's."""

    def __init__(self, name: str, code: object) -> None:
        self.name, self.code = name, code

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """Answer for the one module."""
        if name != self.name:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path)  # type: ignore[arg-type]
        if found is not None:
            found.loader = self
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code."""
        exec(self.code, module.__dict__)  # type: ignore[call-overload]


def tests_of(path: Path, room: str) -> tuple[str, ...]:
    """Return the tests of the longest entry that a module's path begins with."""
    name = path.relative_to(SOURCE / "weighbridge").with_suffix("").as_posix()
    return TESTS[max((key for key in TESTS if name.startswith(key)), key=len, default=room)]


def reaching(mutant: Mutant, table: dict[str, Any] | None) -> list[str] | None:
    """Return the tests that run a mutant's line, then its nearest: each those of its room first, the shortest first, as many as there is time for.

    The nearest are asked too since a test that finds its model in a cache runs fewer lines than it depends on. For a line that runs when its
    module is loaded, in a function or not, it is all tests that run some line of it. None without a table: then it is the nearest tests alone.
    """
    if table is None:
        return None
    room = _room(mutant)
    lines: dict[str, list[int]] = table["lines"].get(str(mutant.path.relative_to(ROOT)), {})
    first, last = mutant.lines
    found = {number for line in range(first, last + 1) for number in lines.get(str(line), ())}
    if not found and (mutant.at_import or any(str(line) in lines for line in range(first, last + 1))):
        found = {number for numbers in lines.values() for number in numbers}
    nearest = tests_of(mutant.path, room)
    near = {number for number, (test, _) in enumerate(table["tests"]) if test.startswith(nearest)}
    return [*_shortest(table, found, room, BUDGET), *_shortest(table, near - found, room, BUDGET_NEAR)]


def _shortest(table: dict[str, Any], found: set[int], room: str, budget: float) -> list[str]:
    chosen: list[str] = []
    spent = 0.0
    for test, seconds in sorted((table["tests"][number] for number in found), key=lambda each: (f"/{room}/" not in each[0], each[1])):
        spent += seconds
        if chosen and spent > budget:
            break
        chosen.append(test)
    return chosen


def survives(mutant: Mutant, room: str, tests: list[str] | None = None) -> bool:
    """Run the tests against a mutant in a forked process; of given tests none are its nearest."""
    if tests == []:
        return True
    child = os.fork()
    if child == 0:
        code = BROKEN
        try:
            code = _verdict(mutant, room, tests)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code != BROKEN, "the run itself failed"
    return code == 0


def _verdict(mutant: Mutant, room: str, chosen: list[str] | None) -> int:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    tree = ast.parse(mutant.path.read_text("utf-8"))
    if mutant.node >= 0:
        _apply_fault(list(_live(tree))[mutant.node])
    name = ".".join(mutant.path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    sys.meta_path.insert(0, Finder(name, compile(tree, str(mutant.path), "exec")))
    try:
        importlib.import_module(name)  # before pytest imports the file of that name by its path
    except Exception:
        return 1
    tests = chosen or [test for test in tests_of(mutant.path, room) if (ROOT / test).exists()]
    quiet = ["-x", "-q", "--doctest-modules", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore"]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        doctests = pytest.main([*quiet, str(mutant.path)]) if chosen is None else 0
        found = pytest.main([*quiet, *tests]) if doctests in (0, 5) else doctests
    return int(found)


def main() -> None:
    """Draw mutants and say which survive, with the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="+", help="rooms, or files under src/weighbridge")
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="how many of the sample to leave out, looked at before")
    parser.add_argument("--reach", type=Path, help="a table of benchmarks.reach: which tests run which line")
    parser.add_argument("--only", default="", help="of the sample, those whose line holds one of these words, separated by |")
    args = parser.parse_args()
    os.chdir(ROOT)
    os.environ["WEIGHBRIDGE_EXAMPLES"] = "15"
    sys.path.insert(0, str(ROOT))
    table = json.loads(args.reach.read_text("utf-8")) if args.reach else None
    if table is not None:  # a test that is there no more makes pytest fail, which would be taken for a kill
        files = {ROOT / test.partition("::")[0] for test, _ in table["tests"]}
        changed = [file.name for file in files if not file.exists() or file.stat().st_mtime > args.reach.stat().st_mtime]
        assert not changed, f"tests have changed since the table was written: {', '.join(sorted(changed))}"
    paths = [path for name in args.rooms for path in _files(SOURCE / "weighbridge" / name)]
    every = [mutant for path in paths for mutant in mutants(path)]
    drawn = random.Random(args.seed).sample(every, min(args.sample, len(every)))
    drawn = [mutant for mutant in drawn if any(word in mutant.what for word in args.only.split("|"))]
    for mutant in drawn[:3]:
        assert survives(mutant._replace(node=-1), _room(mutant), reaching(mutant, table)), f"the tests fail without a fault: {mutant.path}"
    scores: dict[str, list[bool]] = {}
    for number, mutant in enumerate(drawn[args.skip :], 1 + args.skip):
        alive = survives(mutant, _room(mutant), reaching(mutant, table))
        scores.setdefault(_room(mutant), []).append(not alive)
        print(f"{number:4} {'SURVIVES' if alive else 'killed  '} {mutant.what}", flush=True)
    for room, verdicts in (*sorted(scores.items()), ("all", [each for found in scores.values() for each in found])):
        print(f"{room:12} {sum(verdicts):4} of {len(verdicts):4} killed ({100 * sum(verdicts) / max(1, len(verdicts)):.0f} %)")
    print(f"drawn from {len(every):,}, seed {args.seed}")


def _room(mutant: Mutant) -> str:
    return mutant.path.relative_to(SOURCE).parts[1]


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


if __name__ == "__main__":
    main()
