"""Derivations, formulas and conventions hold for every family that can be weighed, with its defaults."""

import pytest

from weighbridge import ConfigError, Model, UsageError, model
from weighbridge.blueprints import MODULES, family
from weighbridge.conventions.rules import convention
from weighbridge.documents.explain import document
from weighbridge.documents.renderers import render
from weighbridge.explain.formulas import flops_formula
from weighbridge.explain.section import Section


def default(model_type: str) -> Model:
    try:
        return model({"model_type": model_type}, family(model_type).base)
    except ConfigError as error:
        pytest.skip(f"the reference's own defaults build no {model_type}: {error}")


assert MODULES


@pytest.mark.sweep
@pytest.mark.parametrize("model_type", MODULES)
def test_every_family_is_derived(model_type: str) -> None:
    weighed = default(model_type)
    unique = weighed.count().unique
    derivation = weighed.explain("zh")
    assert derivation.total == unique
    assert f"{unique:,}" in render(document(derivation))
    assert all(isinstance(part, Section) for part in derivation.root.parts)
    assert weighed.formula().value == unique


@pytest.mark.sweep
@pytest.mark.parametrize("model_type", MODULES)
def test_every_family_has_its_conventions(model_type: str) -> None:
    weighed = default(model_type)
    unique = weighed.count().unique
    assert isinstance(unique, int)
    found = convention(weighed, unique)
    assert found is not None
    assert found.cost == 0
    # Of a codebook that is frozen as a whole, nothing is trainable.
    assert all(row.value is None or row.value > 0 for row in weighed.counts() if row.key != "trainable")


@pytest.mark.sweep
@pytest.mark.parametrize("model_type", MODULES)
def test_every_family_has_a_formula_of_its_flops(model_type: str) -> None:
    weighed = default(model_type)
    try:
        formula, own = flops_formula(weighed), weighed.flops(batch=1, seq=128).forward_matmul
    except UsageError as error:
        pytest.skip(f"a pass of {model_type} is told by more than its tokens: {error}")
    assert formula.value == own
