"""The parts of ``python -m truth fuzz`` that need no live class: what is drawn, what is said of a trial, how it is made small."""

from __future__ import annotations

import random
from contextlib import nullcontext
from typing import Any

import pytest

from truth import fuzz, fuzz_changes, live
from truth.changes import ABSENT, Change
from truth.fuzz import AGREES, BOTH_REFUSE, BUILT_HERE, CRASHED, DIFFERS, IMPOSSIBLE, REFUSED_HERE, UNKNOWN, Trial
from truth.fuzz_changes import Place
from weighbridge.config.fields import nested, size


class Given:
    """A config of a live class, as far as its places are looked for."""

    attribute_map = {"width": "hidden_size"}
    sub_configs: dict[str, Any] = {}

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def to_dict(self) -> dict[str, Any]:
        return {key: value.to_dict() if isinstance(value, Given) else value for key, value in vars(self).items()}


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Place]]:
    monkeypatch.setattr(live, "general_keys", lambda: {"num_labels", "chunk_size_feed_forward"})
    monkeypatch.setattr(fuzz_changes, "find_aliases", lambda *given: [(("width",), "hidden_size", 24, "size")])
    fields = (size("hidden", "hidden_size", 8, "H", ""), nested("text", "text_config", (size("layers", "num_layers", 2, "L", ""),)))
    text = Given(num_layers=2, rope_parameters={}, model_type="inner", head_dim=16)
    return fuzz_changes.places(Given(hidden_size=24, dropout=0.1, num_labels=2, text_config=text), fields, {})


def test_every_sort_of_place_is_found(found: dict[str, list[Place]]) -> None:
    assert found["declared"] == [Place(("hidden_size",), 24), Place(("text_config", "num_layers"), 2)]
    assert [place.path for place in found["undeclared"]] == [("dropout",), ("text_config", "rope_parameters"), ("text_config", "head_dim")]
    assert found["alias"] == [Place(("width",), 24, "hidden_size")]
    assert found["rotary"] == [Place(("text_config",), 16)]
    assert found["part"] == [Place(("text_config",), {})]
    assert Place(("num_labels",), 2) in found["general"]


def test_a_draw_is_small_and_its_keys_differ(found: dict[str, list[Place]]) -> None:
    drawn = [fuzz_changes.draw_changes(random.Random(number), found, "") for number in range(300)]
    assert all(1 <= len(changes) <= 8 and len({change.path for change in changes}) == len(changes) for changes in drawn)
    assert {change.path for changes in drawn for change in changes} >= {("hidden_size",), ("width",), ("text_config", "rope_scaling")}
    assert any(Change(("hidden_size",), ABSENT) in changes for changes in drawn), "an alias that stands alone"


@pytest.mark.parametrize(
    ("value", "among"),
    [(8, {16, 4, 9, 7, 12, 32}), (True, {False}), (1.5, {3.0, 0.75, 1}), (None, {8, 2, 16}), ("kind", {"wide"})],
)
def test_most_values_are_such_as_people_write(value: Any, among: set[Any]) -> None:
    rng = random.Random(7)
    drawn = [fuzz_changes.draw_value(rng, value, ["wide"] if value == "kind" else []) for _ in range(400)]
    assert sum(isinstance(one, (int, float, str)) and one in among for one in drawn) > 80
    assert None in drawn or value is None


def test_a_list_is_longer_shorter_or_changed_in_one_place() -> None:
    rng = random.Random(7)
    drawn = [fuzz_changes.draw_value(rng, [1, 2, 3]) for _ in range(300)]
    lengths = {len(one) for one in drawn if isinstance(one, list)}
    assert {0, 1, 2, 3, 4} <= lengths


def test_rotary_parameters_are_whole_or_lack_something() -> None:
    drawn = [fuzz_changes.draw_rotary(random.Random(number), 32, older=number % 2 == 1) for number in range(400)]
    yarn = [one for one in drawn if one.get("rope_type", one.get("type")) == "yarn"]
    assert any("factor" in one for one in yarn) and any("factor" not in one for one in yarn)
    assert {len(one["long_factor"]) for one in drawn if "long_factor" in one} == {8, 16, 32}
    assert any("type" in one for one in drawn) and all("type" in one or "rope_type" in one for one in drawn)


@pytest.mark.parametrize(
    ("counted", "built", "same", "verdict"),
    [
        ("yes", "yes", True, AGREES),
        ("yes", "yes", False, DIFFERS),
        ("refused", "refused", False, BOTH_REFUSE),
        ("refused", "yes", False, REFUSED_HERE),
        ("yes", "refused", False, BUILT_HERE),
        (CRASHED, "refused", False, CRASHED),
        ("yes", UNKNOWN, False, UNKNOWN),
        (UNKNOWN, "refused", False, UNKNOWN),
    ],
)
def test_what_becomes_of_both_sides_is_one_verdict(counted: str, built: str, same: bool, verdict: str) -> None:
    assert fuzz._verdict(counted, built, same=same) == verdict


def test_a_refusal_of_either_side_is_told_from_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "_live_digest", lambda *given: "7:aa")
    monkeypatch.setattr(fuzz, "hurry", lambda seconds: nullcontext())
    assert fuzz.judge("bert", "BertModel", {"model_type": "bert", "hidden_size": "wide"}).verdict == REFUSED_HERE
    assert fuzz.judge("bert", "BertModel", {"model_type": "bert", "hidden_size": -1}).verdict == IMPOSSIBLE
    assert fuzz.judge("bert", "BertModel", {"model_type": "bert", "num_hidden_layers": 1}).verdict == DIFFERS

    def crash(*given: object) -> str:
        raise KeyError("hidden")

    monkeypatch.setattr(fuzz, "_own_digest", crash)
    found = fuzz.judge("bert", "BertModel", {})
    assert (found.verdict, found.ours) == (CRASHED, "KeyError: 'hidden'")


def test_a_fault_is_shown_with_the_keys_that_make_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of a base config is left out, and the changes that do nothing."""

    def judge(model_type: str, class_name: str, raw: dict[str, Any]) -> Trial:
        return Trial(model_type, class_name, raw, DIFFERS if raw.get("heads") == 3 else AGREES)

    monkeypatch.setattr(fuzz, "judge", judge)
    base = {"model_type": "bert", "layers": 2, "heads": 2}
    changes = (Change(("heads",), 3), Change(("vocab",), 7))
    tried = judge("bert", "BertModel", fuzz._with_changes(base, changes))
    assert fuzz.shrunk((tried, changes)).raw == {"model_type": "bert", "heads": 3}
    assert fuzz.shrunk((judge("bert", "BertModel", base), ())).raw == base


def test_causes_are_told_apart_by_what_is_wrong_and_not_by_its_values() -> None:
    listed = [
        Trial("bert", "BertModel", {"hidden_size": 12}, BUILT_HERE, "1:a", "ValueError: 12 is no multiple of 5"),
        Trial("vit", "ViTModel", {"hidden_size": 7, "b": 1}, BUILT_HERE, "1:a", "ValueError: 7 is no multiple of 2"),
        Trial("vit", "ViTModel", {"depths": []}, BUILT_HERE, "1:a", "IndexError: list index out of range"),
        Trial("vit", "ViTModel", {}, DIFFERS, "1:a", "2:b"),
    ]
    text = list(fuzz.summarize(listed))
    assert text[0] == "4 trials: 1 differs, 3 built here alone"
    assert [line for line in text if line[:1] != " "][1:] == [
        "differs: 1 of vit: vit",
        "built here alone: 2 of bert, vit: ValueError: N is no multiple of N",
        "built here alone: 1 of vit: IndexError: list index out of range",
    ]
    assert any(line.endswith("""BertModel '{"hidden_size": 12}'""") for line in text), "the smaller of two configs"


def test_published_configs_are_those_of_the_presets_and_of_a_folder(tmp_path: Any) -> None:
    (tmp_path / "one.json").write_text('{"model_type": "bert", "own": 1}')
    found = fuzz.published_configs(str(tmp_path))["bert"]
    assert {"model_type": "bert", "own": 1} in found and len(found) > 3
    assert {"model_type": "bert", "own": 1} not in fuzz.published_configs(None)["bert"]
