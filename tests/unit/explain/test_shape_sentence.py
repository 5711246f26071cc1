"""What the letters of a module's formula are said to be: inputs and outputs, rows, kernels; which of two sizes comes first hangs on the bias."""

from __future__ import annotations

import pytest

from weighbridge.core.formula import Symbol
from weighbridge.core.tree import Tensor
from weighbridge.explain.line_sentences import shape_sentence

SIZES = {"I": 3072, "H": 768, "C": 64}


def pairs(*tensors: tuple[str, str, tuple[str | int, ...]]) -> list[tuple[Tensor, Tensor]]:
    """Return tensors in numbers and in letters, side by side."""
    return [
        (
            Tensor(name, tuple(SIZES[size] if isinstance(size, str) else size for size in shape), role),
            Tensor(name, tuple(Symbol(size) if isinstance(size, str) else size for size in shape), role),
        )
        for name, role, shape in tensors
    ]


@pytest.mark.parametrize(
    ("kind", "tensors", "said"),
    [
        ("linear", [("weight", "weight", ("I", "H"))], "from H inputs to I outputs"),
        ("linear", [("weight", "weight", ("I", "H")), ("bias", "bias", ("I",))], "from H inputs to I outputs"),
        ("linear", [("weight", "weight", ("H", "I")), ("bias", "bias", ("I",))], "from H inputs to I outputs"),  # GPT-2's Conv1D
        ("linear", [("weight", "weight", ("H", "I")), ("gain", "gain", ("I",))], "from I inputs to H outputs"),
        ("linear", [("weight", "weight", (1, "H")), ("bias", "bias", (1,))], "from H inputs to 1 output"),
        ("embedding", [("weight", "embedding", (512, "H"))], "512 rows of H"),
        ("embedding", [("weight", "embedding", (1, "H"))], "1 row of H"),
        ("convolution", [("weight", "weight", ("H", "C", 3)), ("bias", "bias", ("H",))], "H kernels of C × 3"),
        ("convolution", [("weight", "weight", (1, "C", 3)), ("bias", "bias", (1,))], "1 kernel of C × 3"),
        ("convolution", [("weight", "weight", ("C", "H", 3)), ("bias", "bias", ("H",))], ""),  # transposed
        ("layer_norm", [("weight", "weight", ("H", "I"))], ""),
        ("linear", [("weight", "weight", (3, 4))], ""),
    ],
)
def test_what_the_letters_are(kind: str, tensors: list[tuple[str, str, tuple[str | int, ...]]], said: str) -> None:
    assert str(shape_sentence(kind, pairs(*tensors))) == said
