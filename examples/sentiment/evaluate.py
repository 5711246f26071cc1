"""Step 5a: how good is it? Four numbers and a table, a baseline so that they mean something, and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from examples.sentiment.data import LABELS, NEGATIVE, POSITIVE
from examples.sentiment.train import Epoch
from examples.sentiment.vocabulary import Encoded, group_texts, stack


class Scores(NamedTuple):
    """What came out of a test.

    Attributes:
        table: How many texts of each label (row) were taken for each label (column).
        accuracy: The share that was judged rightly.
        precision: Of those judged positive, the share that is.
        recall: Of those that are positive, the share that was found.
        f1: The harmonic mean of these two.
    """

    table: tuple[tuple[int, int], tuple[int, int]]
    accuracy: float
    precision: float
    recall: float
    f1: float


def scores(truth: Sequence[int], judged: Sequence[int]) -> Scores:
    """Compare what is so with what was judged.

    >>> scores([1, 1, 1, 0, 0], [1, 1, 0, 1, 0]).table
    ((1, 1), (1, 2))
    """
    pairs = list(zip(truth, judged, strict=True))
    (tn, fp), (fn, tp) = table = tuple(tuple(pairs.count((is_, said)) for said in (NEGATIVE, POSITIVE)) for is_ in (NEGATIVE, POSITIVE))
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return Scores(table, (tp + tn) / len(pairs), precision, recall, f1)


def judge(model: nn.Module, texts: Sequence[Encoded], longest: int, batch: int = 128) -> list[list[float]]:
    """Return the probability of each label for each text, in the order of the texts."""
    model.eval()
    found: dict[int, list[float]] = {}
    numbered = [Encoded(text.tokens, number) for number, text in enumerate(texts)]
    with torch.no_grad():
        for group in group_texts(numbered, batch, longest):
            made = stack(group, longest)
            shares = torch.softmax(model(made.input_ids, made.attention_mask)[0], dim=-1)
            found |= dict(zip((text.label for text in group), shares.tolist(), strict=True))
    return [found[number] for number in range(len(texts))]


def test(model: nn.Module, texts: Sequence[Encoded], longest: int) -> Scores:
    """Judge texts and compare with their labels."""
    return scores([text.label for text in texts], [row.index(max(row)) for row in judge(model, texts, longest)])


test.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


def baseline(train: Sequence[Encoded], validation: Sequence[Encoded], judged: Sequence[Encoded]) -> Scores:
    """Judge by which pieces are in a text, whatever their order: logistic regression, its strength chosen on the validation part."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    fitted = []
    for strength in (0.03, 0.1, 0.3, 1.0):
        bag = CountVectorizer(analyzer=lambda text: text.tokens[1:-1], binary=True)
        model = make_pipeline(bag, LogisticRegression(C=strength, max_iter=2000)).fit(train, [text.label for text in train])
        fitted.append((model.score(validation, [text.label for text in validation]), -strength, model))
    best = max(fitted, key=lambda one: one[:2])[2]
    return scores([text.label for text in judged], [int(label) for label in best.predict(judged)])


def picture(history: Sequence[Epoch], pretraining: Sequence[Epoch], found: Scores, bag: Scores, path: Path) -> None:
    """Draw what was learned in each epoch, and the table of the test."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (before, learning, confusion) = pyplot.subplots(1, 3, figsize=(13, 4), layout="constrained")
    before.plot(range(1, len(pretraining) + 1), [epoch.loss for epoch in pretraining], "o-", color="#4c72b0")
    before.set(title="Pre-training", xlabel="epoch", ylabel="loss: hidden words + next sentence")
    epochs = range(1, len(history) + 1)
    learning.plot(epochs, [epoch.score for epoch in history], "o-", color="#55a868", label="validation accuracy")
    learning.axhline(bag.accuracy, linestyle="--", color="#888888", label="bag of words (test)")
    learning.set(title="Fine-tuning", xlabel="epoch", ylabel="accuracy")
    loss = learning.twinx()
    loss.plot(epochs, [epoch.loss for epoch in history], "s:", color="#c44e52", label="training loss")
    loss.set_ylabel("loss")
    lines = [*learning.get_lines(), *loss.get_lines()]
    names = [str(line.get_label()) for line in lines]
    learning.legend(lines, names, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize=8, frameon=False)
    confusion.imshow(found.table, cmap="Blues")
    for row, counts in enumerate(found.table):
        for column, count in enumerate(counts):
            confusion.text(column, row, f"{count:,}", ha="center", va="center", color="white" if row == column else "black", fontsize=14)
    confusion.set(title=f"Test: accuracy {found.accuracy:.4f}", xlabel="judged", ylabel="is", xticks=(0, 1), yticks=(0, 1))
    confusion.set_xticklabels(LABELS)
    confusion.set_yticklabels(LABELS, rotation=90, va="center")
    for axes in (before, learning):
        axes.xaxis.get_major_locator().set_params(integer=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
