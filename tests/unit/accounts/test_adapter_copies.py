"""What is saved of modules that are trained whole, in other modules that are trained whole."""

from __future__ import annotations

import pytest

from weighbridge.api.model import Model
from weighbridge.core.fold import fold
from weighbridge.core.tree import Row

SHAPES = {"q": (4, 4)} | {f"blocks.{n}.fc{k}": shape for n in range(2) for k, shape in ((1, (5, 4)), (2, (4, 5)))}


@pytest.mark.parametrize(
    ("names", "bias", "saved"),
    [(["fc1"], "all", 98), (["blocks.1"], "all", 96), (["blocks.1", "1.fc1"], "all", 106), (["blocks.1", "1.fc1"], "none", 65)],
)
def test_what_is_saved_of_copies_in_copies(names: list[str], bias: str, saved: int) -> None:
    """Held to PEFT 0.21.2: every bias is saved on both sides of each wrapper that it stands in."""
    rows = [Row(f"{name}.weight", shape, "weight", None, None, False) for name, shape in SHAPES.items()]
    rows += [Row(f"{name}.bias", shape[:1], "bias", None, None, False) for name, shape in SHAPES.items()]
    base = Model("mine", "module", fold(rows))
    assert base.adapters({"r": 2, "target_modules": ["q"], "modules_to_save": names, "bias": bias}).saved == saved
