"""What autograd keeps where a part of a model is trained: LoRA over PEFT's own models, BitFit, and modules that are frozen or trained alone.

    python -m truth.partial_training NUMBER SEED [--record]

The PEFT library (0.21) must be installed. Dropout is off, attention eager; the base is in float32 or in bfloat16.
"""

from __future__ import annotations

import json
import random
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import activations, live
from truth.costs import add_labels, small, vary
from truth.draw import draw
from truth.forward import Pass, inputs
from truth.frozen_modules import random_names
from truth.live import RefusedError
from truth.peak import SETTLED
from weighbridge import model
from weighbridge.accounts.adapters.activations import adapter_activations
from weighbridge.accounts.adapters.source import adapters_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import settings
from weighbridge.accounts.memory.styles import STYLES
from weighbridge.blueprints import family
from weighbridge.core.errors import WeighbridgeError

RECORD = Path(__file__).parents[1] / "tests" / "costs" / "partly.jsonl"
PASSES = (Pass(2, 7, 5), Pass(1, 9, 4), Pass(3, 11, 6))
HEADS = (
    "ForCausalLM",
    "LMHeadModel",
    "ForMaskedLM",
    "ForConditionalGeneration",
    "ForImageClassification",
    "ForSequenceClassification",
    "ForTokenClassification",
)


def random_case(index: int, seed: str) -> tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any], Pass]:
    """Draw a class, a config, an adapter, how it is run, and lengths."""
    rng = random.Random(f"{seed} {index}")
    model_type = rng.choice(sorted(STYLES))
    class_name = rng.choice([name for name in family(model_type).classes if name.endswith(HEADS)] or list(family(model_type).classes))
    config = {**vary(draw(f"{seed} {index}", model_type), index), **dict.fromkeys(SETTLED, 0.0)}
    built = live.build(model_type, class_name, config)
    torch: Any = import_module("torch")
    linear = sorted({name.rpartition(".")[2] for name, module in built.named_modules() if isinstance(module, torch.nn.Linear)})
    sort = rng.choice(("LORA", "LORA", "FREEZE", "BITFIT"))
    adapter: dict[str, Any] = {"peft_type": sort}
    if sort == "LORA":
        adapter |= {"r": rng.choice((2, 4, 8)), "target_modules": rng.sample(linear, min(len(linear), rng.randint(1, 4)))}
    if sort == "FREEZE":
        how, names = random_names(built, rng)
        adapter[how] = names
    return (
        model_type,
        class_name,
        config,
        adapter,
        {"dtype": rng.choice(("float32", "bfloat16")), "loss": rng.random() < 0.5},
        rng.choice(PASSES),
    )


def theirs(model_type: str, class_name: str, config: dict[str, Any], adapter: dict[str, Any], how: dict[str, Any], lengths: Pass) -> int:
    """Return the bytes that autograd keeps of a live model.

    Raises:
        RefusedError: It does not build or run.
    """
    built = small(model_type, class_name, config, how["dtype"])
    built.set_attn_implementation("eager")
    if model_type == "whisper" and not class_name.endswith("ForCausalLM"):
        lengths = lengths._replace(seq=2 * built.config.max_source_positions)
    made = add_labels(built, inputs(built, lengths)) if how["loss"] else inputs(built, lengths)
    made = {name: value.to(built.dtype) if value.is_floating_point() else value for name, value in made.items()}
    if adapter["peft_type"] == "LORA":
        peft: Any = import_module("peft")
        try:
            peft.inject_adapter_in_model(peft.LoraConfig(r=adapter["r"], target_modules=adapter["target_modules"]), built)
            if how["dtype"] != "float32":
                _widen(built)
        except ValueError as error:
            raise RefusedError(str(error)) from error
    else:
        _freeze(built, adapter)
    built.train()
    return sum(storage.bytes for storage in activations.saved_storages(built, lengths, made=made))


def _widen(built: Any) -> None:
    """Keep the adapter in float32, as ``get_peft_model`` does beside a base in 16 bits."""
    for name, parameter in built.named_parameters():
        if "lora_" in name:
            parameter.data = parameter.data.float()


def _freeze(built: Any, adapter: dict[str, Any]) -> None:
    if adapter["peft_type"] == "BITFIT":
        for name, parameter in built.named_parameters():
            parameter.requires_grad_(name.endswith("bias"))
        return
    names, train = adapter.get("train") or adapter["freeze"], "train" in adapter
    if train:
        built.requires_grad_(False)
    for path, module in built.named_modules():
        if any(path == name or path.endswith(f".{name}") for name in names):
            for parameter in module.parameters():
                parameter.requires_grad_(train)


def ours(class_name: str, config: dict[str, Any], adapter: dict[str, Any], how: dict[str, Any], lengths: Pass) -> int:
    """Return ours.

    Raises:
        RefusedError: It is not known.
    """
    base = model(config, class_name)
    found = adapters_of(base, adapter, dtype=how["dtype"])
    given = Inputs(batch=lengths.batch, seq=lengths.seq, decoder_seq=lengths.decoder_seq)
    kept, why = adapter_activations(base, adapter, found, given, settings(attention="eager", **how))
    if kept is None:
        raise RefusedError(str(why))
    return kept.bytes


def compare_cases(number: int, seed: str, record: bool = False) -> int:
    """Compare random cases, or write them down; 1 if any differs."""
    found, wrong, refused = [], 0, 0
    for index in range(number):
        try:
            case = random_case(index, seed)
            measured = theirs(*case)
            own = ours(*case[1:])
        except (RefusedError, WeighbridgeError):
            refused += 1
            continue
        found.append([*case[:5], list(case[5])[:3], measured])
        if own != measured:
            wrong += 1
            print(
                f"DIFFERS {own / max(measured, 1) - 1:+.1%} {measured} {own} {case[1]} {case[3]} {case[4]} {tuple(case[5])[:3]} {json.dumps(case[2])}",
                flush=True,
            )
    if record:
        head = {"versions": live.versions(), "command": f"python -m truth.partial_training {number} {seed} --record"}
        RECORD.write_text("".join(json.dumps(line) + "\n" for line in (head, *found)), "utf-8")
    print(f"{len(found) - wrong} equal, {wrong} wrong, {refused} refused by either")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(compare_cases(int(sys.argv[1]), sys.argv[2], "--record" in sys.argv))
