"""The front door: what ``weighbridge`` gives is what it says it gives, however its parts were loaded."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module

import weighbridge


def test_all_is_the_truth() -> None:
    assert weighbridge.__all__ == sorted(set(weighbridge.__all__))
    for name in weighbridge.__all__:
        assert getattr(weighbridge, name).__doc__, name
        assert name in dir(weighbridge)
    public = {name for name in vars(weighbridge) if not name.startswith("_") and name[0].isupper() and name != "TYPE_CHECKING"}
    assert public <= set(weighbridge.__all__)


def test_no_submodule_shadows_a_public_name() -> None:
    before = {name: getattr(weighbridge, name) for name in weighbridge.__all__}
    inner = {module.name for module in pkgutil.iter_modules(weighbridge.__path__)}
    assert len(inner) > 10
    for name in inner - {"__main__"}:
        import_module(f"weighbridge.{name}")
    assert {name: getattr(weighbridge, name) for name in weighbridge.__all__} == before
    assert inner & set(weighbridge.__all__) == {"columns"}


def test_the_front_door_loads_nothing() -> None:
    program = "import sys, weighbridge; print([name for name in sys.modules if name.startswith('weighbridge')])"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert eval(shown) == ["weighbridge"]


def test_what_is_no_public_name() -> None:
    assert not hasattr(weighbridge, "nothing")
