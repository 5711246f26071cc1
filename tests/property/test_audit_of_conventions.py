"""The audit and ``weigh reconcile`` count by one table: a number that one calls exact, the other never calls wrong."""

import random

import pytest

from tests.shares import share
from weighbridge import model, reconcile
from weighbridge.auditing import audit
from weighbridge.conventions.rules import conventions

NAMES = [
    "bert-base-uncased",
    "bert-base-chinese",
    "gpt2",
    "gpt2-medium",
    "albert-base-v2",
    "roberta-base",
    "t5-small",
    "llama-3.2-1b",
    "vit-base-patch16-224",
]


@pytest.mark.parametrize("name", share(NAMES, 3))
def test_what_reconcile_calls_exact_is_never_wrong(name: str) -> None:
    """Any count of the whole model in any convention, said of the model by its name, and with the model given."""
    table = conventions(model(name))
    values = sorted(value for value, ways in table.by_value.items() if any(not made.view.scope for made in ways))
    assert len(values) >= 10
    choose = random.Random(name)
    for value in choose.sample(values, min(8, len(values))):
        assert reconcile(name, value).matches
        text = f"`{name}` has {value:,} parameters."
        assert audit(text).wrong == (), text
        assert audit(text, model=model(name)).wrong == (), text
