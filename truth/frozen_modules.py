"""Models of which a part is trained: ``requires_grad`` of live modules, gradients and AdamW's states after a step, beside ours.

    python -m truth.frozen_modules NUMBER SEED [--record]

Modules are named as a user would name them, whole or by the end of their path; the rest is frozen, or they are.
"""

from __future__ import annotations

import json
import random
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import live
from truth.draw import draw
from truth.live import RefusedError
from weighbridge import model
from weighbridge.blueprints import family
from weighbridge.core.errors import WeighbridgeError

BASES = (
    "albert bart bert blip-2 bloom clip deberta deepseek_v3 distilbert electra falcon funnel gemma2 git gpt2 gpt_neox gptj llama mamba marian"
    " mistral mixtral mobilebert olmo2 opt phi qwen3 resnet roberta rwkv squeezebert stablelm swin t5 vit wav2vec2 whisper xlnet"
).split()
LARGEST = 4_000_000
RECORD = Path(__file__).parents[1] / "tests" / "costs" / "frozen.jsonl"


def theirs(model_type: str, class_name: str, config: dict[str, Any], how: str, names: list[str]) -> list[int]:
    """Return trainable and all parameters of a live model, the bytes of its gradients, and of AdamW's states after a step.

    Raises:
        RefusedError: The class does not build.
    """
    torch: Any = import_module("torch")
    built = live.build(model_type, class_name, config, "cpu")
    if how == "train":
        built.requires_grad_(False)
    for path, module in built.named_modules():
        if any(path == name or path.endswith(f".{name}") for name in names):
            for parameter in module.parameters():
                parameter.requires_grad_(how == "train")
    learned = [parameter for parameter in built.parameters() if parameter.requires_grad]
    for parameter in learned:
        parameter.grad = torch.zeros_like(parameter)
    optimizer = torch.optim.AdamW(learned or [torch.zeros(1, requires_grad=True)])
    optimizer.step()
    states = [value for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)]
    return [
        sum(parameter.numel() for parameter in learned),
        sum(parameter.numel() for parameter in built.parameters()),
        sum(parameter.grad.numel() * parameter.grad.element_size() for parameter in learned),
        sum(state.numel() * state.element_size() for state in states),
    ]


def ours(class_name: str, config: dict[str, Any], how: str, names: list[str]) -> list[int]:
    """Return the same of ours."""
    base, adapter = model(config, class_name), {"peft_type": "FREEZE", how: names}
    found, costs = base.adapters(adapter), base.adapter_costs(adapter)
    return [found.trainable, found.total, costs.gradients, costs.optimizer]


def random_case(index: int, seed: str) -> tuple[str, str, dict[str, Any], str, list[str]]:
    """Draw a class, a config, and modules to train or to freeze.

    Raises:
        RefusedError: The class does not build, or is large.
    """
    rng = random.Random(f"{seed} {index}")
    model_type = rng.choice(BASES)
    class_name = rng.choice(list(family(model_type).classes))
    config = draw(f"{seed} {index}", model_type)
    built = live.build(model_type, class_name, config)
    if sum(parameter.numel() for parameter in built.parameters()) > LARGEST:
        raise RefusedError("large")
    return model_type, class_name, config, *random_names(built, rng)


def random_names(built: Any, rng: random.Random) -> tuple[str, list[str]]:
    """Draw modules of a live model, whole or by the end of their path, and whether they are trained or frozen."""
    paths = [path for path, module in built.named_modules() if path and any(True for _ in module.parameters())]
    chosen = rng.sample(paths, min(len(paths), rng.randint(1, 3)))
    names = [path if rng.random() < 0.4 else path.rpartition(".")[2] for path in chosen]
    return rng.choice(("train", "freeze")), names


def compare_cases(number: int, seed: str, record: bool = False) -> int:
    """Compare random cases, or write them down; 1 if any differs."""
    found, wrong, refused = [], 0, 0
    for index in range(number):
        try:
            model_type, class_name, config, how, names = random_case(index, seed)
            live_figures = theirs(model_type, class_name, config, how, names)
            own = ours(class_name, config, how, names)
        except (RefusedError, WeighbridgeError):
            refused += 1
            continue
        found.append([model_type, class_name, config, how, names, live_figures])
        if own != live_figures:
            wrong += 1
            print(f"DIFFERS {class_name} {how} {names}: theirs {live_figures}, ours {own} {json.dumps(config)}")
    if record:
        head = {"versions": live.versions(), "command": f"python -m truth.frozen_modules {number} {seed} --record"}
        RECORD.write_text("".join(json.dumps(line) + "\n" for line in (head, *found)), "utf-8")
    print(f"{len(found) - wrong} equal, {wrong} wrong, {refused} refused by either")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(compare_cases(int(sys.argv[1]), sys.argv[2], "--record" in sys.argv))
