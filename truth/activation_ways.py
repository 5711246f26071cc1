"""What autograd keeps in other ways to run than the plainest: fused attention, dropout, a loss, 16 bits, layers that are computed again.

    python -m truth.activation_ways NUMBER SEED [TYPE ...] [--record]

Where layers are computed again, ``torch.utils.checkpoint`` (not reentrant, as the reference library calls it) keeps what a layer is given by position,
and the hooks see it; for selective checkpointing the library's own function of eager attention is called through it. ``--record`` adds the cases to those of the ordinary tests.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any

from truth import activations, check
from truth.costs import RECORDS, TOUCHES, Case, add_labels, attend_by, our_activations, small, vary
from truth.draw import draw
from truth.forward import Pass, inputs
from truth.live import RefusedError
from truth.peak import SETTLED
from weighbridge.accounts.memory.styles import STYLES
from weighbridge.core.errors import WeighbridgeError

RECORD = RECORDS / "activations_ways.jsonl"
NOTHING = dict.fromkeys((*SETTLED, "summary_first_dropout", "summary_last_dropout"), 0.0)
"""Probabilities of nothing, so that a model in training drops nothing."""
ALL_LAYERS = dict.fromkeys(("layerdrop", "encoder_layerdrop", "decoder_layerdrop"), 0.0)
"""The same of whole layers, which are never left out: how many would be is chance."""


def random_case(seed: str, types: list[str]) -> Case | None:
    """Draw a class, how it is run and a config that builds and runs, and measure it; None if no draw does."""
    rng = random.Random(seed)
    model_type = rng.choice(types)
    class_name = rng.choice(list(check.classes(model_type)))
    how: dict[str, Any] = {
        "attention": rng.choice(("eager", "sdpa")),
        "dropout": rng.random() < 0.4,
        "loss": rng.random() < 0.4,
        "dtype": rng.choice(("float32", "float32", "bfloat16")),
        "checkpointing": rng.choice(("none", "full", "selective")),
    }
    if how["checkpointing"] == "selective":
        how["attention"] = "eager"
    lengths = Pass(rng.randint(1, 4), rng.choice((4, 6, 12, 17)), rng.choice((2, 5, 8)))
    for attempt, touch in enumerate(TOUCHES[:4]):
        raw = vary(draw(f"{seed}/{attempt}", model_type, touch), attempt + len(seed)) | ALL_LAYERS | ({} if how["dropout"] else NOTHING)
        try:
            asked, found = theirs(model_type, class_name, raw, lengths, how)
        except RefusedError:
            continue
        return Case(model_type, class_name, raw, {"batch": asked.batch, "seq": asked.seq, "decoder_seq": asked.decoder_seq}, how, found)
    return None


def theirs(model_type: str, class_name: str, raw: dict[str, Any], lengths: Pass, how: dict[str, Any]) -> tuple[Pass, int]:
    """Return the lengths and the bytes that the hooks see in a live class.

    Raises:
        RefusedError: It does not build or run.
    """
    model = small(model_type, class_name, raw, how["dtype"])
    try:
        attend_by(model, how["attention"])
        model.train()
        if how["checkpointing"] == "full":
            model.gradient_checkpointing_enable({"use_reentrant": False})
        if model_type == "whisper" and not class_name.endswith(("ForCausalLM", "Decoder", "DecoderWrapper")):
            lengths = lengths._replace(seq=2 * model.config.max_source_positions)
        made = add_labels(model, inputs(model, lengths)) if how["loss"] else inputs(model, lengths)
        made = {
            name: value.to(model.dtype) if hasattr(value, "dtype") and value.is_floating_point() else value for name, value in made.items()
        }
        import_module("torch").manual_seed(1)
        with recomputed_attention(model) if how["checkpointing"] == "selective" else nullcontext():
            return lengths, sum(storage.bytes for storage in activations.saved_storages(model, lengths, made=made))
    except RefusedError:
        raise
    except Exception as error:  # whatever a class may meet
        raise RefusedError(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}") from error


@contextmanager
def recomputed_attention(model: Any) -> Iterator[None]:
    """Call eager attention through ``torch.utils.checkpoint`` for a while.

    Raises:
        RefusedError: The class has attention of its own.
    """
    place = sys.modules[type(model).__module__]
    plain = getattr(place, "eager_attention_forward", None)
    if plain is None:
        raise RefusedError("attention of its own")
    again = import_module("torch.utils.checkpoint").checkpoint

    def attend(module: Any, query: Any, key: Any, value: Any, mask: Any, **words: Any) -> Any:
        return again(lambda *given: plain(module, *given, **words), query, key, value, mask, use_reentrant=False)

    place.eager_attention_forward = attend  # type: ignore[attr-defined]
    try:
        yield
    finally:
        place.eager_attention_forward = plain  # type: ignore[attr-defined]


def compare_cases(number: int, seed: str, types: list[str], record: bool = False) -> int:
    """Compare random cases, or write them down; 1 if any differs."""
    found, wrong, refused = [], 0, 0
    for index in range(number):
        case = random_case(f"{seed} {index}", types or sorted(STYLES))
        if case is None:
            continue
        try:
            own = our_activations(case)
        except (RefusedError, WeighbridgeError):
            refused += 1
            continue
        found.append(case)
        if own != case.bytes:
            wrong += 1
            print(f"DIFFERS {own / max(case.bytes, 1) - 1:+.2%} {case.bytes:,}, ours {own:,} {json.dumps(list(case))}", flush=True)
    if record:
        with RECORD.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(list(case)) + "\n" for case in found)
    print(f"{len(found) - wrong} equal, {wrong} wrong, {refused} refused by us alone")
    return 1 if wrong else 0


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    sys.exit(compare_cases(int(words[0]), words[1], words[2:], "--record" in sys.argv))
