"""The five steps, one after the other: ``scripts/sentiment`` runs this."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer
from torch import nn

from examples.bert import bert
from examples.sentiment import card, evaluate, measure, plan, pretrain, store
from examples.sentiment.data import Split, chinese_reviews, split
from examples.sentiment.train import Epoch, Settings, Steps, train
from examples.sentiment.vocabulary import Batch, Encoded, encode, group_texts, learn, stack


class Size(NamedTuple):
    """How large a run is: reviews (None: all), pieces of the vocabulary, what the model may take, and how it is trained."""

    reviews: int | None
    vocabulary: int
    budget: plan.Budget
    pretraining: Settings
    tuning: Settings


FULL = Size(None, 8000, plan.Budget(650_000, 50_000_000, 32, 64), Settings(6, 3e-3), Settings(4, 7e-4, patience=2))
QUICK = Size(2000, 3000, plan.Budget(320_000, 20_000_000, 32, 32), Settings(1, 3e-3), Settings(3, 2e-3, patience=2))


class Texts(NamedTuple):
    """The three parts as tokens."""

    train: list[Encoded]
    validation: list[Encoded]
    test: list[Encoded]


def run(size: Size, folder: Path, seed: int) -> dict[str, Any]:
    """Do all five steps in a folder; a run that was stopped goes on, one that has ended is told again.

    Raises:
        SystemExit: The folder holds another run.
    """
    claim(folder, size, seed)
    torch.use_deterministic_algorithms(True)
    parts = data(size, seed)
    tokenizer, texts = words(size, parts, folder)
    config, predicted = plan_model(size, tokenizer, texts, seed)
    pretraining = pretrain_model(size, config, texts, folder, seed)
    model, history = tune_model(size, config, texts, folder, seed)
    file = store.write(folder / "model", model, config, tokenizer)
    found = judge_model(model, texts, size, history, pretraining, folder)
    rows = measure_model(model, config, texts, size, file, predicted, history, pretraining)
    result = {
        "config": config,
        "parts": [len(part) for part in parts],
        "batch": [size.budget.batch, size.budget.tokens],
        "seed": seed,
        "predicted": predicted._asdict(),
        "pretraining": [epoch._asdict() for epoch in pretraining],
        "tuning": [epoch._asdict() for epoch in history],
        **{name: one._asdict() for name, one in found.items()},
        "rows": [{**row._asdict(), "holds": row.holds} for row in rows],
        "machine": {"threads": torch.get_num_threads(), "load": os.getloadavg()[0], "torch": torch.__version__},
    }
    (folder / "run.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", "utf-8")
    (folder / "model" / "README.md").write_text(card.card(result), "utf-8")
    print(
        f"\nThe model: {folder / 'model'} (weigh it, verify it), its card: {folder / 'model' / 'README.md'}, the picture: {folder / 'run.png'}"
    )
    return result


def claim(folder: Path, size: Size, seed: int) -> None:
    """Take a folder for a run, or go on in it.

    Raises:
        SystemExit: It holds a run with other settings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    asked = json.dumps([size, seed])
    settings = folder / "settings.json"
    if settings.exists() and settings.read_text("utf-8") != asked:
        raise SystemExit(f"{folder} holds a run with other settings: give another folder (--out), or --fresh to begin anew there")
    settings.write_text(asked, "utf-8")


def clear(folder: Path) -> None:
    """Take away an earlier run, and nothing that is none."""
    if (folder / "settings.json").exists():
        shutil.rmtree(folder)


def data(size: Size, seed: int) -> Split:
    """Step 1: the reviews."""
    reviews = chinese_reviews()
    parts = split(reviews, seed, size.reviews)
    print(f"1 Data: {len(reviews):,} reviews in the package; without doubles, balanced, split at random (seed {seed}):")
    print("  " + ", ".join(f"{name} {len(part):,}" for name, part in zip(Split._fields, parts, strict=True)))
    return parts


def words(size: Size, parts: Split, folder: Path) -> tuple[Tokenizer, Texts]:
    """Step 2: the vocabulary, from the training part alone."""
    tokenizer = learn([example.text for example in parts.train], size.vocabulary)
    texts = Texts(*(encode(tokenizer, part, size.budget.tokens) for part in parts))
    mean = sum(len(text.tokens) for text in texts.train) / len(texts.train)
    print(f"2 Vocabulary: {tokenizer.get_vocab_size():,} pieces; a review has {mean:.1f} tokens of at most {size.budget.tokens}")
    return tokenizer, texts


def plan_model(size: Size, tokenizer: Tokenizer, texts: Texts, seed: int) -> tuple[dict[str, Any], plan.Prediction]:
    """Step 3: the model, and what it will cost."""
    config = plan.choose(tokenizer.get_vocab_size(), size.budget)
    shapes = [(len(batch.labels), batch.input_ids.size(1)) for batch in batches(texts.train, size, f"{seed}/tuning/0")]
    exercises = [
        (*one.input_ids.shape, int((one.words != bert.IGNORED).sum()))
        for one in pretrain.exercises(texts.train, size.budget.batch, size.budget.tokens, config["vocab_size"], f"{seed}/pretraining/0")
    ]
    found = plan.predict(config, size.budget, shapes, exercises)
    print(
        f"3 Plan: at most {size.budget.parameters:,} parameters and {size.budget.memory_bytes:,} bytes of training: "
        f"{config['num_hidden_layers']} layers, hidden {config['hidden_size']}, {config['num_attention_heads']} heads\n"
        f"  parameters                  {found.parameters:>18,}\n"
        f"  bytes: weights              {found.weight_bytes:>18,}\n"
        f"         gradients            {found.gradient_bytes:>18,}\n"
        f"         optimizer            {found.optimizer_bytes:>18,}\n"
        f"         kept for backward    {found.activation_bytes:>18,}\n"
        f"         together             {found.memory_bytes:>18,}\n"
        f"  FLOPs of an epoch           {found.epoch_flops:>18,}\n"
        f"        of one of pre-training{found.pretraining_epoch_flops:>18,}\n"
        f"  at {found.matmul_rate / 1e9:.1f} GFLOP/s (measured), {size.pretraining.epochs} and {size.tuning.epochs} epochs take no less than"
        f" {found.seconds(size.tuning.epochs, size.pretraining.epochs):.0f} s"
    )
    return config, found


def pretrain_model(size: Size, config: dict[str, Any], texts: Texts, folder: Path, seed: int) -> list[Epoch]:
    """Step 4a: hidden words and next sentences."""
    print("4 Training")
    torch.manual_seed(seed)
    model = bert.BertForPreTraining(bert.Config.of(config))

    def steps(epoch: int) -> Steps:
        made = pretrain.exercises(texts.train, size.budget.batch, size.budget.tokens, config["vocab_size"], f"{seed}/pretraining/{epoch}")
        return pretrain.steps(made)

    history = train(model, steps, size.pretraining, folder / "pretraining.pt", title="  pre-training")
    torch.save(model.bert.state_dict(), folder / "encoder.pt")
    return history


def tune_model(size: Size, config: dict[str, Any], texts: Texts, folder: Path, seed: int) -> tuple[nn.Module, list[Epoch]]:
    """Step 4b: sentiment."""
    torch.manual_seed(seed + 1)
    model = bert.BertForSequenceClassification(bert.Config.of(config))
    store.take_encoder(model, torch.load(folder / "encoder.pt", weights_only=True))

    def steps(epoch: int) -> Steps:
        return classifying(batches(texts.train, size, f"{seed}/tuning/{epoch}"))

    def validate(model: nn.Module) -> float:
        return evaluate.test(model, texts.validation, size.budget.tokens).accuracy

    return model, train(model, steps, size.tuning, folder / "tuning.pt", title="  fine-tuning", validate=validate)


def batches(texts: Sequence[Encoded], size: Size, seed: str) -> list[Batch]:
    """Return the batches of an epoch, in the order that a seed draws."""
    return [stack(group, size.budget.tokens) for group in group_texts(texts, size.budget.batch, size.budget.tokens, random.Random(seed))]


def classifying(made: Sequence[Batch]) -> Steps:
    """Return the steps of an epoch on labelled texts."""
    return [lambda model, one=one: model(one.input_ids, one.attention_mask, labels=one.labels)[1] for one in made]


def judge_model(
    model: nn.Module, texts: Texts, size: Size, history: Sequence[Epoch], pretraining: Sequence[Epoch], folder: Path
) -> dict[str, evaluate.Scores]:
    """Step 5a: the test, and the baseline beside it."""
    found = {"test": evaluate.test(model, texts.test, size.budget.tokens), "baseline": evaluate.baseline(*texts)}
    print("5 Test               accuracy  precision  recall     F1")
    for name, one in (("BERT", found["test"]), ("bag of words", found["baseline"])):
        print(f"  {name:<18} {one.accuracy:.4f}    {one.precision:.4f}     {one.recall:.4f}     {one.f1:.4f}")
    (tn, fp), (fn, tp) = found["test"].table
    print(f"  of {tn + fp} negative reviews {tn} were judged so, of {fn + tp} positive ones {tp}")
    if found["test"].accuracy < found["baseline"].accuracy:
        print("  The bag of words is better: so small a BERT, or so few reviews, are not worth their arithmetic.")
    evaluate.picture(history, pretraining, found["test"], found["baseline"], folder / "run.png")
    return found


def measure_model(
    model: nn.Module, config: dict[str, Any], texts: Texts, size: Size, file: Path, predicted: plan.Prediction,
    history: Sequence[Epoch], pretraining: Sequence[Epoch],
) -> list[measure.Row]:  # fmt: skip
    """Step 5b: predicted and measured, side by side."""
    longest = sorted(texts.train, key=lambda text: -len(text.tokens))[: size.budget.batch]
    rows = list(measure.compare(model, config, stack(longest, size.budget.tokens), file))
    rows.append(
        measure.Row(
            "seconds of training",
            predicted.seconds(len(history), len(pretraining)),
            sum(one.seconds for one in (*history, *pretraining)),
            None,
        )
    )
    print("  Predicted and measured (one batch of the longest texts)")
    for row in rows:
        places = 1 if row.within is None else 0
        how = "at least" if row.within is None else "equal" if not row.within else f"within {row.within:.0%}"
        verdict = "" if row.holds else "  DOES NOT HOLD"
        print(f"  {row.name:<32} {row.predicted:>18,.{places}f} {row.measured:>18,.{places}f}  {how}{verdict}")
    return rows
