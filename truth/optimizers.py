"""States of optimizers after a step of live models, beside ours, to the byte.

    python -m truth.optimizers NUMBER SEED

bitsandbytes (0.50) and lion-pytorch are needed for those of theirs. Muon takes what its authors give it: the matrices inside layers, tables of
embeddings left out; AdamW takes the rest.
"""

from __future__ import annotations

import json
import random
import re
import sys
from importlib import import_module
from typing import Any

from truth import live
from truth.draw import draw
from truth.frozen_modules import BASES
from truth.live import RefusedError
from weighbridge import model
from weighbridge.accounts.memory.optimizers import OPTIMIZERS, optimizer_bytes
from weighbridge.blueprints import family
from weighbridge.core.errors import WeighbridgeError

TORCH: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {}),
    "momentum": ("SGD", {"momentum": 0.9}),
    "adam": ("Adam", {}),
    "adamw": ("AdamW", {}),
    "amsgrad": ("AdamW", {"amsgrad": True}),
    "adamax": ("Adamax", {}),
    "nadam": ("NAdam", {}),
    "radam": ("RAdam", {}),
    "rmsprop": ("RMSprop", {}),
    "adagrad": ("Adagrad", {}),
    "adadelta": ("Adadelta", {}),
    "asgd": ("ASGD", {}),
    "rprop": ("Rprop", {}),
    "adafactor": ("Adafactor", {}),
}
EIGHT = {"adam8bit": "Adam8bit", "adamw8bit": "AdamW8bit", "lion8bit": "Lion8bit"}
LARGEST = 3_000_000


def theirs(built: Any, name: str) -> int:
    """Return the bytes of all states after one step.

    Raises:
        RefusedError: The library is not there.
    """
    torch: Any = import_module("torch")
    learned = [parameter for parameter in built.parameters() if parameter.requires_grad]
    for parameter in learned:
        parameter.grad = torch.zeros_like(parameter)
    if name == "muon":
        tables = {id(module.weight) for module in built.modules() if isinstance(module, torch.nn.Embedding)}
        inside = [
            parameter
            for path, parameter in built.named_parameters()
            if re.search(r"\.\d+\.|^\d+\.", path)
            and parameter.ndim == 2
            and path.endswith("weight")
            and id(parameter) not in tables
            and parameter.requires_grad
        ]
        chosen = {id(parameter) for parameter in inside}
        rest = [parameter for parameter in learned if id(parameter) not in chosen]
        steppers = [torch.optim.Muon(inside)] if inside else []
        steppers += [torch.optim.AdamW(rest)] if rest else []
    elif name in TORCH:
        kind, words = TORCH[name]
        steppers = [getattr(torch.optim, kind)(learned, lr=0.1, **words)]
    elif name == "lion":
        steppers = [import_module("lion_pytorch").Lion(learned, lr=0.1)]
    else:
        return _eight_bits(import_module("bitsandbytes").optim, learned, EIGHT[name])
    for stepper in steppers:
        stepper.step()
    return sum(_bytes(state.values()) for stepper in steppers for state in stepper.state.values())


def _eight_bits(optim: Any, learned: list[Any], kind: str) -> int:
    """Make the states of bitsandbytes without a step, whose kernels need a GPU; tables that all parameters share count once."""
    stepper = getattr(optim, kind)(learned)
    tensors: dict[int, Any] = {}
    for index, parameter in enumerate(learned):
        stepper.init_state(stepper.param_groups[0], parameter, 0, index)
        for value in stepper.state[parameter].values():
            if hasattr(value, "untyped_storage"):
                tensors[value.untyped_storage().data_ptr()] = value
    return _bytes(tensors.values())


def _bytes(values: Any) -> int:
    return sum(value.numel() * value.element_size() for value in values if hasattr(value, "numel"))


def compare_cases(number: int, seed: str) -> int:
    """Compare every optimizer on random configs; 1 if any differs."""
    equal = wrong = refused = 0
    for index in range(number):
        rng = random.Random(f"{seed} {index}")
        model_type = rng.choice(BASES)
        class_name = rng.choice(list(family(model_type).classes))
        config = draw(f"{seed} {index}", model_type)
        for name in OPTIMIZERS:
            try:
                built = live.build(model_type, class_name, config, "cpu")
                if sum(parameter.numel() for parameter in built.parameters()) > LARGEST:
                    raise RefusedError("large")
                found = theirs(built, name)
                own = optimizer_bytes(model(config, class_name).tree, name, 4)
            except (RefusedError, WeighbridgeError, ImportError):
                refused += 1
                continue
            equal += own == found
            if own != found:
                wrong += 1
                print(f"DIFFERS {name} {class_name}: theirs {found:,}, ours {own:,} {json.dumps(config)[:400]}", flush=True)
    print(f"{equal} equal, {wrong} wrong, {refused} refused by either")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(compare_cases(int(sys.argv[1]), sys.argv[2]))
