"""Step 4: the loop that trains everything here: a bar that moves, a checkpoint that Ctrl-C writes, and a stop when nothing is gained.

A run that was stopped goes on where it was and ends with the same weights, to the bit, as one that was not: the checkpoint holds weights, the
optimizer's states, the place in the epoch and the state of the random numbers that dropout draws.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class Settings(NamedTuple):
    """How a model is trained.

    Attributes:
        epochs: At most so many.
        rate: The learning rate at its highest: it rises over the first tenth of the steps and falls to 0 by the last.
        patience: So many epochs without a better validation end the training; None trains to the end.
        decay, clip: Weight decay of AdamW, and the longest gradient.
    """

    epochs: int
    rate: float
    patience: int | None = None
    decay: float = 0.01
    clip: float = 1.0


class Epoch(NamedTuple):
    """What one epoch came to: mean loss, the validation's score if there is one, seconds on the clock and of the processor."""

    loss: float
    score: float | None
    seconds: float
    cpu_seconds: float


Steps = Sequence[Callable[[nn.Module], Tensor]]
"""The steps of one epoch: each is given the model and returns its loss."""


def train(
    model: nn.Module,
    epoch_steps: Callable[[int], Steps],
    settings: Settings,
    checkpoint: Path,
    *,
    title: str,
    validate: Callable[[nn.Module], float] | None = None,
) -> list[Epoch]:
    """Train a model, or go on from its checkpoint; at the end it has the weights of its best epoch.

    Args:
        epoch_steps: Returns the steps of an epoch, which must be the same whenever it is asked.
        checkpoint: Where the training is kept; that of one that has ended only gives its result back.

    Raises:
        SystemExit: Ctrl-C: the checkpoint is written, and the same call goes on (exit code 130).
    """
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=settings.rate, weight_decay=settings.decay)
    state = restore(model, optimizer, checkpoint)
    with interrupts() as interrupted:
        while not state["ended"]:
            epoch = len(state["history"])
            for step, steps in run_epoch(model, optimizer, epoch_steps(epoch), settings, state):
                bar(f"{title} {epoch + 1}/{settings.epochs}", step, steps, state["losses"])
                if interrupted() and step < steps:
                    break
            else:
                score = None if validate is None else validate(model)
                end_epoch(model, state, score, settings)
                print(f"\r{title} {epoch + 1}/{settings.epochs}: {summary(Epoch(*state['history'][-1]))}".ljust(79), file=sys.stderr)
            save(model, optimizer, state, checkpoint)
            if interrupted():
                print(f"\n{title}: stopped; the same command goes on from here", file=sys.stderr)
                raise SystemExit(130)
    if state["best"] is not None:
        model.load_state_dict(state["best"])
    return [Epoch(*row) for row in state["history"]]


def run_epoch(
    model: nn.Module, optimizer: torch.optim.Optimizer, steps: Steps, settings: Settings, state: dict[str, Any]
) -> Iterator[tuple[int, int]]:
    """Take the steps of an epoch that are still to be taken; yields after each how many are done, and of how many."""
    model.train()
    learned = optimizer.param_groups[0]["params"]
    before, total = len(state["history"]) * len(steps), settings.epochs * len(steps)
    for index in range(state["step"], len(steps)):
        clock, cpu = time.perf_counter(), time.process_time()
        optimizer.param_groups[0]["lr"] = settings.rate * schedule(before + index, total)
        loss = steps[index](model)
        loss.backward()
        nn.utils.clip_grad_norm_(learned, settings.clip)
        optimizer.step()
        optimizer.zero_grad()
        state["losses"].append(loss.item())
        state["step"] = index + 1
        state["seconds"] += time.perf_counter() - clock
        state["cpu_seconds"] += time.process_time() - cpu
        yield index + 1, len(steps)


def end_epoch(model: nn.Module, state: dict[str, Any], score: float | None, settings: Settings) -> None:
    """Note an epoch; keep the weights if they are the best so far, and end when they have not been for too long."""
    losses = state["losses"]
    state["history"].append((sum(losses) / len(losses), score, state["seconds"], state["cpu_seconds"]))
    state |= {"step": 0, "losses": [], "seconds": 0.0, "cpu_seconds": 0.0}
    scores = [row[1] for row in state["history"]]
    stale = 0 if score is None else len(scores) - 1 - scores.index(max(scores))
    if score is not None and stale == 0:
        state["best"] = {name: value.clone() for name, value in model.state_dict().items()}
    state["ended"] = len(scores) == settings.epochs or (settings.patience is not None and stale >= settings.patience)


def restore(model: nn.Module, optimizer: torch.optim.Optimizer, checkpoint: Path) -> dict[str, Any]:
    """Return where a training stands: at its beginning, or as its checkpoint has it, with weights, states and random numbers put back."""
    if not checkpoint.exists():
        return {"history": [], "step": 0, "losses": [], "seconds": 0.0, "cpu_seconds": 0.0, "best": None, "ended": False}
    kept = torch.load(checkpoint, weights_only=True)
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    torch.set_rng_state(kept["random"])
    state: dict[str, Any] = kept["state"]
    return state


def save(model: nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, Any], checkpoint: Path) -> None:
    """Write a checkpoint: wholly, or not at all."""
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    kept = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "random": torch.get_rng_state(), "state": state}
    torch.save(kept, checkpoint.with_suffix(".new"))
    os.replace(checkpoint.with_suffix(".new"), checkpoint)


def schedule(step: int, total: int) -> float:
    """Return the share of the highest learning rate: up over the first tenth of the steps, then down to 0."""
    return min((step + 1) / (0.1 * total), (total - step) / (0.9 * total), 1.0)


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C be asked for, so that a step is never cut in two; a second one ends at once."""
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)


def bar(title: str, step: int, steps: int, losses: list[float]) -> None:
    """Draw how far an epoch is, on a terminal."""
    if sys.stderr.isatty():
        filled, recent = 24 * step // steps, losses[-50:]
        line = f"{title} {'█' * filled}{'░' * (24 - filled)} {step}/{steps} loss {sum(recent) / len(recent):.3f}"
        print(f"\r{line}", end="", file=sys.stderr, flush=True)


def summary(epoch: Epoch) -> str:
    """Return an epoch in words."""
    score = "" if epoch.score is None else f", validation {epoch.score:.4f}"
    return f"loss {epoch.loss:.4f}{score}, {epoch.seconds:.1f} s"
