"""Which fields a method has: those that the library's own recorded configs state."""

import json
from pathlib import Path

import pytest

from weighbridge.accounts.adapters.account import REFUSED
from weighbridge.accounts.adapters.fields import FIELDS, refuse_unknown
from weighbridge.accounts.adapters.methods import METHODS
from weighbridge.accounts.adapters.prompts import PROMPTS
from weighbridge.core.errors import UsageError

RECORDED = Path(__file__).parents[2] / "truth" / "adapters" / "cases.json"


def recorded() -> list[dict[str, object]]:
    """Return every adapter config of the recorded cases."""
    found: list[dict[str, object]] = []
    pending = [json.loads(RECORDED.read_text("utf-8"))]
    while pending:
        value = pending.pop()
        if isinstance(value, dict) and isinstance(value.get("peft_type"), str):
            found.append(value)
        elif isinstance(value, dict | list):
            pending += value.values() if isinstance(value, dict) else value
    return found


def test_every_recorded_config_states_fields_that_its_method_has() -> None:
    configs = recorded()
    assert len(configs) > 100
    for config in configs:
        refuse_unknown(str(config["peft_type"]), list(config))


@pytest.mark.parametrize("method", sorted({*METHODS, *PROMPTS, *REFUSED} - {"MIXED"}))
def test_no_method_takes_any_field(method: str) -> None:
    assert f"\n{method}: " in FIELDS
    with pytest.raises(UsageError, match=f"{method.lower()} has no field nonsense"):
        refuse_unknown(method, ["nonsense"])


DEFAULTS = json.loads((RECORDED.parent / "defaults.json").read_text("utf-8"))["methods"]


GIVEN = {**{name: method.given for name, method in METHODS.items()}, **{name: prompt.given for name, prompt in PROMPTS.items()}}


@pytest.mark.parametrize("method", sorted(name for name, given in GIVEN.items() if given))
def test_defaults_are_the_library_s(method: str) -> None:
    given = GIVEN[method]
    assert {key: (type(value), value) for key, value in given.items()} == {
        key: (type(DEFAULTS[method][key]), DEFAULTS[method][key]) for key in given
    }
