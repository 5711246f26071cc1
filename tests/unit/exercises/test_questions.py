"""Exercises: made from the tree, the same for the same seed, of every level, in both languages; never a number typed in."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

import weighbridge
from weighbridge.blueprints import MODULES
from weighbridge.commands.quiz import LEVELS as COMMAND_LEVELS
from weighbridge.documents.quiz import as_json
from weighbridge.exercises.questions import LEVELS, MODELS, choose_preset, exercise_about
from weighbridge.load import load
from weighbridge.presets import preset


@pytest.mark.parametrize("level", LEVELS)
def test_the_same_seed_gives_the_same_exercise(level: str) -> None:
    one, again = (as_json(weighbridge.exercise(None, level, 5), hints=9, solution=True) for _ in range(2))
    assert one == again
    questions = {
        (found.title.partition(":")[2], found.question) for seed in range(1, 9) if (found := weighbridge.exercise(None, level, seed))
    }
    assert len(questions) > 3, "other seeds ask other things"


@pytest.mark.parametrize("level", LEVELS)
def test_an_exercise_says_what_it_takes_and_keeps_its_answer(level: str) -> None:
    for seed in range(1, 5):
        for lang in ("en", "zh"):
            found = weighbridge.exercise(None, level, seed, lang)
            assert found.choices or found.symbols
            assert found.hints
            assert found.choices or f"{found.answer:,}" not in found.question
            assert not any(f"= {found.answer:,}" in hint for hint in found.hints)
        assert any("\u4e00" <= letter <= "\u9fff" for letter in found.question), "the question is in Chinese"


def test_the_levels_of_the_command_are_those_of_the_library() -> None:
    assert COMMAND_LEVELS == LEVELS
    assert set(MODELS) == set(LEVELS)
    assert all(preset(name) for names in MODELS.values() for name in names)
    assert choose_preset("layer", 7) in MODELS["layer"]


def test_a_table_and_a_layer_are_what_the_live_names_add_up_to() -> None:
    """Held to the tensors by name, not to the derivation that made the exercise."""
    rows = weighbridge.model("bert-base-uncased").tensors()
    layer = weighbridge.exercise("bert-base-uncased", "layer")
    assert layer.answer == sum(int(str(row.count)) for row in rows if row.name.startswith("encoder.layer.0."))
    sizes = {row.name: row.count for row in rows}
    for seed in range(1, 6):
        table = weighbridge.exercise("bert-base-uncased", "table", seed)
        name = table.question.partition("(")[2].partition(")")[0]
        assert table.answer == sizes[f"{name}.weight"]


def test_grouped_heads_are_counted_as_the_config_with_them_is() -> None:
    seen = set()
    for seed in range(1, 12):
        found = weighbridge.exercise("llama-3-8b", "heads", seed)
        if "save" in found.question:
            full, own = (_attention({"num_key_value_heads": n}) for n in (32, 8))
            assert found.answer == full - own
            seen.add("saving")
        elif "would" in found.question:
            assert found.answer == _attention({"num_key_value_heads": int(found.question.split()[-5])})
            seen.add("other")
        else:
            assert found.answer == _attention({})
            seen.add("plain")
    assert seen == {"saving", "other", "plain"}


def _attention(overrides: dict[str, int]) -> int:
    rows = weighbridge.model("llama-3-8b", overrides=overrides).tensors()
    return sum(int(str(row.count)) for row in rows if row.name.startswith("model.layers.0.self_attn."))


@pytest.mark.parametrize("name", ["mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b"])
def test_active_parameters_are_the_tallys_and_the_working_adds_up(name: str) -> None:
    answers = set()
    for seed in range(1, 9):
        found = weighbridge.exercise(name, "active", seed)
        answers.add(found.answer)
        for step in found.working:
            left, _, right = step.replace(",", "").replace("×", "*").replace("−", "-").partition(" = ")
            assert eval(left) == int(right) == found.answer  # our own digits and signs
    assert weighbridge.count(name).active in answers
    assert len(answers) == 2


def test_one_choice_alone_gives_the_number() -> None:
    for seed in range(1, 9):
        found = weighbridge.exercise("bert-base-uncased", "convention", seed)
        number = found.question.rpartition("gives ")[2].rstrip("?")
        names = [match.convention for match in weighbridge.reconcile("bert-base-uncased", number).matches]
        assert [choice in names for choice in found.choices].count(True) == 1
        assert found.choices[found.answer - 1] in names
        assert len(set(found.choices)) == 4


@pytest.mark.parametrize(
    ("source", "level", "what"),
    [
        ("bert-base-uncased", "heads", "no attention whose query heads share key and value heads"),
        ("bert-base-uncased", "active", "no experts of which only some work on a token"),
        ("resnet-50", "table", "no embedding table"),
    ],
)
def test_what_a_model_has_not_is_not_asked_for(source: str, level: str, what: str) -> None:
    with pytest.raises(weighbridge.UsageError) as caught:
        weighbridge.exercise(source, level)
    assert str(caught.value) == f"{source} has {what}: there is no exercise of level {level}"


def test_levels_and_seeds_are_checked() -> None:
    with pytest.raises(weighbridge.UsageError, match="level: expected one of table, module"):
        weighbridge.exercise(None, "hard")
    with pytest.raises(weighbridge.UsageError, match="seed: expected a whole number"):
        weighbridge.exercise(None, "layer", 0)


@pytest.mark.parametrize(
    "source", ["whisper-tiny", "t5-small", "vit-base-patch16-224", "resnet-50", "clip-vit-base-patch32", "deepseek-v3"]
)
def test_any_described_model_can_be_asked_about(source: str) -> None:
    model = load(source)
    for level in ("module", "layer", "model"):
        for seed in (1, 2, 3):
            found = exercise_about(model, level, seed)
            assert found.answer > 0
            assert weighbridge.mark(found, found.answer).correct


def test_a_seed_moves_through_a_model() -> None:
    answers = [weighbridge.exercise("bert-base-uncased", "module", seed).answer for seed in range(1, 10)]
    assert any(one != other for one, other in pairwise(answers))


@pytest.mark.parametrize(("seed", "types"), [(20, 4), pytest.param(21, 12, marks=pytest.mark.sweep)])
def test_types_drawn_at_random_are_asked_about_and_marked(seed: int, types: int) -> None:
    draw, asked = Random(seed), 0
    for name in draw.sample(sorted(MODULES), types):
        for level in LEVELS:
            try:
                found = weighbridge.exercise({"model_type": name}, level, draw.randrange(1, 100))
            except weighbridge.WeighbridgeError:
                continue  # it has nothing of the kind, and says so
            asked += 1
            assert weighbridge.mark(found, found.answer).correct
            assert not weighbridge.mark(found, found.answer + 7).correct
    assert asked > 2.5 * types
