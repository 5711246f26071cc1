"""Derivations, their words, formulas and conventions hold for every family that can be weighed, with its defaults.

A derivation takes longer than most that is asked of it, so each family is derived once, a third of them in Chinese too, and is one test.
"""

import random

import pytest

from tests.property.test_sentences import assert_changes_cost_what_is_said, assert_true
from truth.record import FOLDER, read
from weighbridge import ConfigError, Model, UsageError, model
from weighbridge.auditing import audit
from weighbridge.blueprints import MODULES, family, is_remote
from weighbridge.conventions.rules import convention
from weighbridge.documents.explain import document
from weighbridge.documents.renderers import render
from weighbridge.explain.derive import Derivation
from weighbridge.explain.formulas import flops_formula
from weighbridge.explain.section import Section

assert MODULES
pytestmark = pytest.mark.sweep


@pytest.mark.parametrize("model_type", MODULES)
def test_what_is_said_of_a_family(model_type: str) -> None:
    """Its derivation, sentences, conventions and formulas; what takes longest is asked of a third of the families."""
    try:
        weighed = model({"model_type": model_type}, family(model_type).base)
    except ConfigError as error:
        pytest.skip(f"the reference's own defaults build no {model_type}: {error}")
    english = weighed.explain("en")
    assert_is_derived(weighed, english)
    assert assert_true(weighed, english)
    assert_has_its_conventions(weighed)
    assert_has_a_formula_of_its_flops(weighed)
    if is_one_of_a_third(model_type):
        chinese = weighed.explain("zh")
        assert_is_derived(weighed, chinese)
        assert_changes_are_as_said(model_type, weighed, english)
        if not is_remote(model_type):
            assert_passes_the_audit(english if language_of(model_type) == "en" else chinese)


def is_one_of_a_third(model_type: str) -> bool:
    """Tell whether a family is one of the third that slower laws are held to."""
    return sum(map(ord, model_type)) % 3 == 0


def language_of(model_type: str) -> str:
    """Return the language in which a family's derivation is audited, whatever a config is called: its sizes stand in the table of symbols."""
    return random.Random(model_type).choice(["en", "zh"])


def assert_is_derived(weighed: Model, derivation: Derivation) -> None:
    unique = weighed.count().unique
    assert derivation.total == unique
    assert all(isinstance(part, Section) for part in derivation.root.parts)
    assert f"{unique:,}" in render(document(derivation))
    assert weighed.formula().value == unique


def assert_has_its_conventions(weighed: Model) -> None:
    unique = weighed.count().unique
    assert isinstance(unique, int)
    found = convention(weighed, unique)
    assert found is not None
    assert found.cost == 0
    # Of a codebook that is frozen as a whole, nothing is trainable.
    assert all(row.value is None or row.value > 0 for row in weighed.counts() if row.key != "trainable")


def assert_has_a_formula_of_its_flops(weighed: Model) -> None:
    try:
        formula, own = flops_formula(weighed), weighed.flops(batch=1, seq=128).forward_matmul
    except UsageError:  # a pass is told by more than its tokens
        return
    assert formula.value == own


def assert_changes_are_as_said(model_type: str, weighed: Model, derivation: Derivation) -> None:
    """Hold the costs of changes to counts, unless sizes are in sub-configs that the config leaves out, or are worked out before any is read."""
    insight = derivation.insight
    if insight and not any("." in change.symbol.key for change in insight.changes) and not family(model_type).normalize_config:
        assert_changes_cost_what_is_said(weighed, derivation, {"model_type": model_type})


def assert_passes_the_audit(derivation: Derivation) -> None:
    found = audit(render(document(derivation), "text"), name="derivation.txt")
    assert found.wrong == ()
    assert found.summary["carried"] == 0


def test_true_derivations_of_families_without_defaults_pass_the_audit() -> None:
    audited = 0
    for model_type in sorted(MODULES):
        path = FOLDER / f"{model_type}.json"
        if path.exists() and not is_remote(model_type) and is_one_of_a_third(model_type):
            try:
                model({"model_type": model_type}, family(model_type).base)
            except ConfigError:  # a field without a default
                assert_passes_the_audit(model(next(read(path)).raw).explain(language_of(model_type)))
                audited += 1
    assert audited > 3
