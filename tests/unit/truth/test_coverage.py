"""The coverage that is published: its figures add up, its page says the same, and its claims have blueprints."""

from __future__ import annotations

from truth import census, coverage
from weighbridge.blueprints import MODULES, family


def test_the_figures_add_up() -> None:
    found = coverage.read()
    assert found["classes"] == sum(total for _, total in found["by_type"].values())
    assert found["classes_exact"] == sum(exact for exact, _ in found["by_type"].values())
    assert found["types"] == len(found["by_type"])
    assert all(0 <= exact <= total for exact, total in found["by_type"].values())


def test_the_denominator_is_the_census() -> None:
    built = coverage.buildable()
    found = coverage.read()
    assert {name: len(names) for name, names in built.items()} == {name: total for name, (_, total) in found["by_type"].items()}
    assert found["classes"] < sum(map(len, census.read().values())), "some classes cannot be built, and are told apart"


def test_what_agrees_is_claimed_by_a_blueprint() -> None:
    for name, (exact, _) in coverage.read()["by_type"].items():
        if exact:
            assert name in MODULES
            assert exact <= len(family(name).classes)


def test_the_page_says_what_the_data_says() -> None:
    assert coverage.PAGE.read_text("utf-8") == coverage.page(coverage.read())
