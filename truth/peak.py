"""The most memory that one step of training takes, by torch's own tracker under fake tensors: nothing is computed."""

from __future__ import annotations

import json
import random
from importlib import import_module
from typing import Any

from truth import check, live, storages
from truth.costs import TOUCHES, Case, add_labels, attend_by, small, write
from truth.draw import draw
from truth.forward import Pass, inputs
from truth.live import RefusedError
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import memory_of, settings
from weighbridge.accounts.memory.styles import STYLES
from weighbridge.core.errors import WeighbridgeError
from weighbridge.load import load

OPTIMIZERS = {"adamw": "AdamW", "adam": "Adam", "sgd": "SGD", "rmsprop": "RMSprop", "adagrad": "Adagrad"}


def measure_step(
    model_type: str, class_name: str, raw: dict[str, Any], lengths: Pass, optimizer: str = "adamw", attention: str = "eager"
) -> int:
    """Run two steps of training (the second has the optimizer's states from the start) and return the peak in bytes.

    Raises:
        RefusedError: The class does not build or run, or its labels are not known here.
    """
    torch = import_module("torch")
    tracker_of = import_module("torch.distributed._tools.mem_tracker").MemTracker
    with import_module("torch._subclasses.fake_tensor").FakeTensorMode():
        model = live.build(model_type, class_name, raw, "cpu")
        attend_by(model, attention)
        model.train()
        made = add_labels(model, inputs(model, lengths))
        stepper = getattr(torch.optim, OPTIMIZERS[optimizer])(model.parameters(), lr=0.001)
        tracker = tracker_of()
        tracker.track_external(model, stepper, *made.values())
        try:
            with tracker:
                for turn in range(2):
                    loss = model(**made).loss
                    loss.backward()
                    stepper.step()
                    stepper.zero_grad()
                    del loss
                    if not turn:
                        tracker.reset_mod_stats()
        except Exception as error:  # whatever a step may meet under fake tensors
            raise RefusedError(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}") from error
        return int(tracker.get_tracker_snapshot("peak")[torch.device("cpu")]["Total"])


def measure_live_storages(
    model_type: str,
    class_name: str,
    raw: dict[str, Any],
    lengths: Pass,
    optimizer: str = "adamw",
    attention: str = "eager",
    checkpointing: str = "none",
    dtype: str = "float32",
) -> int:
    """Return the same of a small model with values, by all storages that are alive.

    Raises:
        RefusedError: As above, and of a model that is large.
    """
    torch = import_module("torch")
    model = small(model_type, class_name, raw, dtype)
    attend_by(model, attention)
    model.train()
    try:
        if checkpointing == "full":
            model.gradient_checkpointing_enable()
        made = add_labels(model, inputs(model, lengths))
        made = {
            name: value.to(model.dtype) if hasattr(value, "dtype") and value.is_floating_point() else value for name, value in made.items()
        }
        return storages.peak(model, made, getattr(torch.optim, OPTIMIZERS[optimizer])(model.parameters(), lr=0.001))
    except RefusedError:
        raise
    except Exception as error:  # whatever a step may meet
        raise RefusedError(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}") from error


WAYS: tuple[dict[str, Any], ...] = (
    {"checkpointing": "none", "attention": "eager", "dtype": "float32", "dropout": False},
    {"checkpointing": "full", "attention": "eager", "dtype": "float32", "dropout": False},
    {"checkpointing": "none", "attention": "eager", "dtype": "bfloat16", "dropout": False},
    {"checkpointing": "none", "attention": "sdpa", "dtype": "float32", "dropout": False},
    {"checkpointing": "none", "attention": "eager", "dtype": "float32", "dropout": True},
)
"""Ways to run that draws take in turn."""

HEADS = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration", "ForImageClassification", "ForSequenceClassification")
SETTLED = {"hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout", "classifier_dropout_prob", "dropout", "dropout_rate"} | {
    "attention_dropout", "activation_dropout", "residual_dropout", "resid_pdrop", "attn_pdrop", "embd_pdrop", "seq_classif_dropout", "qa_dropout",
}  # fmt: skip
"""Probabilities that are nothing here, so that every draw drops nothing."""


def compare_peaks(types: list[str], n: int, seed: str | None, record: bool) -> int:
    """Hold the peak to the tracker's on random configs, print both, and with *record* write what was measured; beyond 5 % the exit code is 1."""
    seed = seed or str(random.SystemRandom().randrange(10**6))
    print(f"peak: seed {seed}, {n} random configs per class", flush=True)
    cases, errors = [], []
    for model_type in types or list(STYLES):
        for class_name in (name for name in check.classes(model_type) if name.endswith(HEADS)):
            for index in range(n):
                case = _draw_case(model_type, class_name, f"{seed}/{index}", index)
                if case is None:
                    continue
                try:
                    found = memory_of(load(case.config, case.class_name), Inputs(**case.lengths), settings(**case.settings), training=True)  # type: ignore[arg-type]
                except WeighbridgeError:
                    continue
                if found.peak is None:
                    continue
                errors.append(found.peak / case.bytes - 1)
                cases.append(case)
                way = " ".join(f"{value}" for key, value in case.settings.items() if key != "loss")
                print(f"{errors[-1]:+8.2%} {class_name} {way} {case.lengths} {json.dumps(case.config)[:160]}", flush=True)
    worst = max(map(abs, errors), default=1)
    print(f"{len(cases)} cases, worst {worst:.2%}")
    if record:
        write("peaks_ways", cases)
    return 1 if worst > 0.05 else 0


def _draw_case(model_type: str, class_name: str, seed: str, index: int) -> Case | None:
    """Draw a config, a way to run it and its lengths, and measure it; what a draw cannot be run as is drawn again."""
    rng = random.Random(f"{seed} {class_name}")
    way, optimizer = WAYS[index % len(WAYS)], rng.choice(sorted(OPTIMIZERS))
    lengths = Pass(rng.choice((1, 2, 4)), rng.choice((16, 32, 48, 64, 96)), rng.choice((16, 32, 40)))
    for attempt, touch in enumerate(TOUCHES):
        raw = draw(f"{seed}/{attempt}", model_type, touch)
        raw |= {} if way["dropout"] else dict.fromkeys(SETTLED, 0.0)
        if raw.get("add_cross_attention") or raw.get("num_hidden_groups", 1) > raw.get("num_hidden_layers", 12):
            continue  # parameters that nothing runs through get no gradient
        try:
            found = _measure(model_type, class_name, raw, lengths, optimizer, way)
        except RefusedError:
            continue
        asked = {"batch": lengths.batch, "seq": lengths.seq, "decoder_seq": lengths.decoder_seq}
        return Case(model_type, class_name, raw, asked, {**way, "loss": True, "optimizer": optimizer}, found)
    return None


def _measure(model_type: str, class_name: str, raw: dict[str, Any], lengths: Pass, optimizer: str, way: dict[str, Any]) -> int:
    """Ask the tracker, where fake tensors will do: what asks its values for their size, as experts do, runs on real ones alone.

    Raises:
        RefusedError: The class does not build or run.
    """
    if way == WAYS[0]:
        try:
            return measure_step(model_type, class_name, raw, lengths, optimizer)
        except RefusedError:
            pass
    how = (way["attention"], way["checkpointing"], way["dtype"])
    return measure_live_storages(model_type, class_name, raw, lengths, optimizer, *how)
