"""Step 5c: judge new sentences: some words on the command line, a file with one a line, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from examples.sentiment import store
from examples.sentiment.data import LABELS, Example
from examples.sentiment.evaluate import judge
from examples.sentiment.vocabulary import encode


def judge_all(folder: Path, said: Iterable[str]) -> None:
    """Print a line for each sentence: what it is, how sure that is, and the sentence.

    Raises:
        SystemExit: There is no trained model in the folder.
    """
    if not (folder / "model.safetensors").exists():
        raise SystemExit(f"no trained model in {folder}: scripts/sentiment run makes one")
    trained = store.read(folder)
    longest = trained.config["max_position_embeddings"]
    texts = [Example(text, 0) for text in sentences(said)]
    for example, shares in zip(texts, judge(trained.model, encode(trained.tokenizer, texts, longest), longest), strict=True):
        label = shares.index(max(shares))
        print(f"{LABELS[label]}\t{shares[label]:.3f}\t{example.text}")


def sentences(said: Iterable[str]) -> Iterator[str]:
    """Yield what is to be judged: the lines of files and of standard input, and everything else as it is."""
    for one in list(said) or ["-"]:
        lines = sys.stdin if one == "-" else Path(one).read_text("utf-8").splitlines() if is_file(one) else [one]
        yield from (line.strip() for line in lines if line.strip())


def is_file(name: str) -> bool:
    """Tell whether a name is that of a file; a long sentence is no name at all."""
    try:
        return Path(name).is_file()
    except OSError:
        return False
