"""Derivations, their words, formulas and conventions hold for every family that can be weighed, with its defaults.

A derivation takes longer than most that is asked of it, so each family is derived once, a third of them in Chinese too, and the tests of one family stand together.
"""

import random
from typing import NamedTuple

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


class Case(NamedTuple):
    """A family's base class with its defaults, weighed, and derived in English; one of the third that slower laws are held to in Chinese too."""

    model_type: str
    model: Model
    derivations: dict[str, Derivation]


@pytest.fixture(scope="module", params=MODULES)
def case(request: pytest.FixtureRequest) -> Case:
    try:
        weighed = model({"model_type": request.param}, family(request.param).base)
    except ConfigError as error:
        pytest.skip(f"the reference's own defaults build no {request.param}: {error}")
    languages = ("en", "zh") if is_one_of_a_third(request.param) else ("en",)
    return Case(request.param, weighed, {lang: weighed.explain(lang) for lang in languages})


def is_one_of_a_third(model_type: str) -> bool:
    """Tell whether a family is one of the third that slower laws are held to."""
    return sum(map(ord, model_type)) % 3 == 0


def test_every_family_is_derived(case: Case) -> None:
    unique = case.model.count().unique
    for derivation in case.derivations.values():
        assert derivation.total == unique
        assert all(isinstance(part, Section) for part in derivation.root.parts)
        assert f"{unique:,}" in render(document(derivation))
    assert case.model.formula().value == unique


def test_every_sentence_of_every_family_is_true(case: Case) -> None:
    assert assert_true(case.model, case.derivations["en"])


def test_every_family_has_its_conventions(case: Case) -> None:
    unique = case.model.count().unique
    assert isinstance(unique, int)
    found = convention(case.model, unique)
    assert found is not None
    assert found.cost == 0
    # Of a codebook that is frozen as a whole, nothing is trainable.
    assert all(row.value is None or row.value > 0 for row in case.model.counts() if row.key != "trainable")


def test_every_family_has_a_formula_of_its_flops(case: Case) -> None:
    try:
        formula, own = flops_formula(case.model), case.model.flops(batch=1, seq=128).forward_matmul
    except UsageError as error:
        pytest.skip(f"a pass of {case.model_type} is told by more than its tokens: {error}")
    assert formula.value == own


def test_a_change_costs_what_is_said(case: Case) -> None:
    if not is_one_of_a_third(case.model_type):
        pytest.skip("a third of the families: the changes of each are counted anew")
    insight = case.derivations["en"].insight
    if insight is None or any("." in change.symbol.key for change in insight.changes) or family(case.model_type).normalize_config:
        pytest.skip("its sizes are in sub-configs that the config leaves out, or are worked out before any is read")
    assert_changes_cost_what_is_said(case.model, case.derivations["en"], {"model_type": case.model_type})


def assert_passes_the_audit(derivation: Derivation) -> None:
    found = audit(render(document(derivation), "text"), name="derivation.txt")
    assert found.wrong == ()
    assert found.summary["carried"] == 0


def language_of(model_type: str) -> str:
    return random.Random(model_type).choice(["en", "zh"])


def test_a_true_derivation_of_any_family_passes_the_audit(case: Case) -> None:
    """Whatever a config is called: its sizes stand in the table of symbols."""
    if not is_one_of_a_third(case.model_type) or is_remote(case.model_type):
        pytest.skip("a third of the families: the audit is the same for all")
    assert_passes_the_audit(case.derivations[language_of(case.model_type)])


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
