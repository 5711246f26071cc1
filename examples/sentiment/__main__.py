"""``scripts/sentiment``: the run, and what can be done with what it made."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch

from examples.sentiment import run

FOLDER = Path("artifacts/sentiment")


def main(arguments: list[str] | None = None) -> int:
    """Run a command of the example."""
    parser = argparse.ArgumentParser(prog="scripts/sentiment", description="A BERT for sentiment, weighed first, then trained.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        one = commands.add_parser(name, help=text, description=text)
        one.add_argument("--out", type=Path, default=FOLDER, help=f"folder of the run (default: {FOLDER})")
        one.add_argument("--seed", type=int, default=0, help="of every random choice (default: 0)")
        one.add_argument("--threads", type=int, help="of torch (default: its own choice)")
        if name == "predict":
            one.add_argument("texts", nargs="*", help="sentences, files with one a line, or - for standard input")
        else:
            one.add_argument("--quick", action="store_true", help="a small run, to see that all works")
        if name == "run":
            one.add_argument("--fresh", action="store_true", help="take an earlier run in the folder away first")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(asked.threads or torch.get_num_threads())
    return {"run": do_run, "predict": do_predict, "encoder": do_encoder, "heads": do_heads, "tutorial": do_tutorial}[asked.command](asked)


COMMANDS = {
    "run": "the five steps, from the reviews to the model card",
    "predict": "judge new sentences",
    "encoder": "fine-tune a published English encoder, frozen and whole",
    "heads": "a small run of every other class: pairs, choices, tokens, questions, the next word",
    "tutorial": "write docs/tutorial-sentiment from these runs",
}


def do_run(asked: argparse.Namespace) -> int:
    """Do the five steps; the exit code is 1 where a prediction does not hold."""
    if asked.fresh:
        run.clear(asked.out)
    result = run.run(run.QUICK if asked.quick else run.FULL, asked.out, asked.seed)
    return 0 if all(row["holds"] for row in result["rows"]) else 1


def do_predict(asked: argparse.Namespace) -> int:
    """Judge sentences."""
    from examples.sentiment.predict import judge_all

    judge_all(asked.out / "model", asked.texts)
    return 0


def do_encoder(asked: argparse.Namespace) -> int:
    """Fine-tune a published encoder; the exit code is 1 where another number of parameters learns than was predicted."""
    from examples.sentiment import encoder

    found = encoder.run(asked.out / "english", asked.seed, quick=asked.quick)
    (asked.out / "english.json").write_text(json.dumps(found), "utf-8")
    return 0 if all(one["learned"] == one["predicted"] for one in found["ways"]) else 1


def do_heads(asked: argparse.Namespace) -> int:
    """Run every other class; the exit code is 1 where one has not as many parameters as was predicted."""
    from examples.sentiment import heads

    found = heads.run(asked.out, quick=asked.quick)
    (asked.out / "heads.json").write_text(json.dumps(found), "utf-8")
    return 0 if all(one["parameters"] == one["predicted"] for one in found) else 1


def do_tutorial(asked: argparse.Namespace) -> int:
    """Write the tutorial from what the other commands left in the folder."""
    from examples.sentiment import tutorial

    tutorial.write(asked.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
