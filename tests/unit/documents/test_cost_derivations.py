"""Derivations of memory and caches: every line's arithmetic is worked out again, and the lines add up to the figure."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.cache import cache_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import memory_of, settings
from weighbridge.core.formula import Expression, Symbol, evaluate
from weighbridge.core.messages import translator
from weighbridge.documents import cache, memory
from weighbridge.documents.cache_derivation import derivation as derive_cache
from weighbridge.documents.document import Equation, Heading
from weighbridge.documents.memory_derivation import derivation as derive_memory
from weighbridge.explain.traced_ints import TracedInt, formula_of, with_letters

TRAINED: list[tuple[Any, dict[str, Any]]] = [
    ("bert-tiny", {"attention": "eager"}),
    ("bert-tiny", {"optimizer": "adafactor", "precision": "megatron", "dtype": "bfloat16"}),
    ("gpt2", {"dropout": True}),
    ("gemma-3-1b", {"dtype": "bfloat16", "precision": "mixed"}),
    ("qwen3-0.6b", {"quantization": "bnb-4bit-double", "dtype": "bfloat16"}),
    ({"model_type": "mixtral", "num_hidden_layers": 2}, {"attention": "eager"}),
    ("t5-small", {"optimizer": "muon"}),
    ("vit-base-patch16-224", {"attention": "eager", "loss": True}),
    ("whisper-tiny", {"checkpointing": "full"}),
]
CACHED = [
    "llama-3.2-1b",
    "deepseek-v3",
    "gemma-3-1b",
    "mamba-1.4b",
    "t5-small",
    {"model_type": "deepseek_v4"},
    {"model_type": "xlnet"},
    {"model_type": "qwen3_next"},
]


def values_of(equation: Equation, letters: dict[str, int]) -> set[int]:
    return {int(evaluate(step, letters)) for step in equation.steps}  # type: ignore[arg-type]


@pytest.mark.parametrize(("source", "said"), TRAINED)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_line_of_a_derivation_of_memory_holds(source: Any, said: dict[str, Any], lang: str) -> None:
    weighed, given, how = model(source), Inputs(batch=3, seq=13), settings(**said)
    found = memory_of(weighed, given, how, training=True)
    blocks = list(derive_memory(weighed, given, how, found, translator(lang)))
    letters = with_letters(weighed, given).values
    equations = [block for block in blocks if isinstance(block, Equation)]
    for equation in equations:
        assert len(values_of(equation, letters)) == 1, equation.steps
    assert values_of(equations[-1], letters) == {found.total}
    sections = {int(block.figure.replace(",", "")) for block in blocks if isinstance(block, Heading) and block.level == 1}
    assert {found.weights, found.gradients, found.activations} <= sections | {None}
    written = memory.document(weighed, given, how, training=True, derive=derive_memory, lang=lang)
    assert any(isinstance(block, Equation) for block in written.blocks)


@pytest.mark.parametrize("source", CACHED)
@pytest.mark.parametrize("engine", ["reference", "llama.cpp", "vllm"])
def test_each_line_of_a_derivation_of_a_cache_holds(source: Any, engine: str) -> None:
    weighed, given = model(source), Inputs(batch=2, seq=333)
    letters = with_letters(weighed, given).values
    equations = [block for block in derive_cache(weighed, given, "float16", engine, translator("zh")) if isinstance(block, Equation)]
    for equation in equations:
        assert len(values_of(equation, letters)) == 1, equation.steps
    found = cache_of(weighed, given, "float16", engine)
    assert values_of(equations[-1], letters) == {found.bytes} and len(equations) == len(found.layers) + (len(found.layers) > 1)
    assert cache.document(weighed, given, "float16", engine, derive=derive_cache).blocks


def test_a_derivation_is_in_letters() -> None:
    given = Inputs(batch=2, seq=100)
    (line,) = [b for b in derive_cache(model("llama-3.2-1b"), given, "bfloat16", "reference", translator("en")) if isinstance(b, Equation)]
    assert str(line.steps[0]) == "2*B*L*n*K*(D + D)" and str(line.steps[-1]) == str(2 * 2 * 16 * 100 * 8 * 128)


@pytest.mark.parametrize("by", [0, 1, 3, TracedInt(5, Symbol("K"))])
def test_a_traced_int_is_an_int_and_remembers(by: int) -> None:
    hidden = TracedInt(768, Symbol("H"))
    values = {"H": 768, "K": 5}
    for made, plain in (
        (hidden + by, 768 + by),
        (by + hidden, by + 768),
        (hidden - by, 768 - by),
        (by - hidden, by - 768),
        (hidden * by, 768 * by),
        (by * hidden, by * 768),
        (by // hidden, by // 768),
        (-hidden, -768),
        *(((hidden // by, 768 // by),) if by else ()),
    ):
        formula: Expression = formula_of(made)
        assert made == plain == evaluate(formula, values)
