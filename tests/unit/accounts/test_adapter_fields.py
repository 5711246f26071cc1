"""Which fields a method has: those that the library's own recorded configs state."""

import json
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

import weighbridge
from weighbridge import model
from weighbridge.accounts.adapters.account import REFUSED
from weighbridge.accounts.adapters.fields import FIELDS, _fields_of, refuse_unknown
from weighbridge.accounts.adapters.methods import METHODS
from weighbridge.accounts.adapters.prompts import PROMPTS
from weighbridge.core.errors import UsageError, WeighbridgeError

RECORDED = Path(__file__).parents[2] / "truth" / "adapters" / "cases.json"


def recorded_configs() -> list[dict[str, object]]:
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
    configs = recorded_configs()
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


VALUES: tuple[object, ...] = (
    -1, 0, 1.5, float("nan"), float("inf"), True, "x", "(a+)+$", "[", [], [[]], [None], [5], {}, {"query": -1}, {"query": None}, {5: 5}, 10**30,
    [["query", "key"], [1]], [[1, 0]],
)  # fmt: skip


@pytest.mark.parametrize("method", sorted({*METHODS, *PROMPTS, "BITFIT", "FREEZE", "HOULSBY", "ADAPTION_PROMPT"} - {"MIXED"}))
def test_any_value_in_any_field_is_counted_or_refused(method: str) -> None:
    """Of a config that somebody wrote by hand, no value ends in an error of Python's, or in less than nothing."""
    base = weighbridge.model("bert-tiny")
    fields = _fields_of(method)
    assert fields is not None
    given = {key: value for key, value in (("target_modules", ["query"]), ("r", 4)) if key in fields}
    for field in fields:
        for value in Random(f"{method} {field}").sample(VALUES, 3):  # all of them took half a minute, and passed
            with suppress(WeighbridgeError):
                found = base.adapters({"peft_type": method, **given, field: value})
                assert type(found.trainable) is int, (field, value)
                assert 0 <= found.trainable <= found.total, (field, value)


def test_a_field_that_the_method_does_not_have_changes_nothing() -> None:
    """As peft 0.21.2 counts it: it warns of such a field and reads on."""
    config = {"model_type": "gpt2", "vocab_size": 64, "n_positions": 70, "n_embd": 16, "n_layer": 3, "n_head": 4, "n_inner": 26}
    assert model(config, "GPT2LMHeadModel").adapters({"peft_type": "LN_TUNING", "layers_to_transform": [1]}).trainable == 224


@pytest.mark.parametrize(
    ("config", "class_name", "other"),
    [
        ({"model_type": "llama", "num_hidden_layers": 1}, "LlamaForSequenceClassification", "LlamaForCausalLM"),
        ({"model_type": "llama", "num_hidden_layers": 1}, "LlamaModel", "LlamaForCausalLM"),
        ({"model_type": "t5", "num_layers": 1}, "T5EncoderModel", "T5ForConditionalGeneration"),
        ({"model_type": "bert", "num_hidden_layers": 1}, "BertForMaskedLM", "BertLMHeadModel"),
    ],
)
@pytest.mark.parametrize("adapter", ["LORA", "PROMPT_TUNING", "PREFIX_TUNING"])
def test_a_class_that_generates_nothing_takes_no_task_of_generation(
    config: dict[str, object], class_name: str, other: str, adapter: str
) -> None:
    """As the library, which asks each base class for ``prepare_inputs_for_generation`` with these tasks (peft 0.21.2, peft_model.py)."""
    settings = {"num_virtual_tokens": 3} if adapter != "LORA" else {}
    base = model(config, class_name)
    for task in ("CAUSAL_LM", "SEQ_2_SEQ_LM"):
        with pytest.raises(
            UsageError,
            match=rf"^task_type: {task} is for classes that generate text; {class_name} does not: choose the class {other}$",
        ):
            base.adapters({"peft_type": adapter, "task_type": task, **settings})
    assert base.adapters({"peft_type": adapter, "task_type": "FEATURE_EXTRACTION", **settings}).trainable
    assert model(config, other).adapters({"peft_type": adapter, "task_type": "CAUSAL_LM", **settings}).trainable


def test_a_prompt_without_a_task_is_counted_as_of_a_language_model() -> None:
    base = model("gpt2")
    prompt = {"peft_type": "PROMPT_TUNING", "num_virtual_tokens": 3}
    plain, named = base.adapters(prompt), base.adapters({**prompt, "task_type": "CAUSAL_LM"})
    assert plain._replace(notes=()) == named
    assert plain.notes == ("PEFT asks for a task_type with this method; it is counted as with CAUSAL_LM.",)
