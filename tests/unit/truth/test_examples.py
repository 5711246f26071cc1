"""The examples in the docstrings of ``truth``, as far as its modules can be imported without torch."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

TRUTH = Path(__file__).parents[3] / "truth"
NOT_HERE = {"torch", "transformers", "peft", "timm", "diffusers", "open_clip", "accelerate", "numpy"}
"""What the environment with the live classes has, and the ordinary tests need not."""


def test_the_examples_hold() -> None:
    failed, tried = {}, 0
    for path in sorted(TRUTH.glob("*.py")):
        if ">>> " not in path.read_text("utf-8"):
            continue
        try:
            module = import_module(f"truth.{path.stem}")
        except ModuleNotFoundError as error:
            assert (error.name or "").partition(".")[0] in NOT_HERE, error  # noqa: PT017  (which one is looked at)
            continue
        found = doctest.testmod(module)
        failed[path.name] = found.failed
        tried += found.attempted
    assert not any(failed.values()), failed
    assert tried > 30
