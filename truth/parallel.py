"""Shards: bytes on each device held to torch's own DTensor and FSDP2, on several CPU processes (gloo).

    python -m truth parallel --n 12 --seed 3

Which layers are column- and which row-parallel is taken from the reference library's own plan (``base_model_tp_plan``)
where a config has one, so that it, too, is somebody else's.
"""

from __future__ import annotations

import json
import os
import random
import re
import socket
import subprocess
import sys
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import live
from truth.draw import draw
from weighbridge import model
from weighbridge.accounts.parallel.shards import style
from weighbridge.core.errors import WeighbridgeError

BASES = (
    ("llama", "LlamaForCausalLM"), ("qwen2", "Qwen2ForCausalLM"), ("qwen3", "Qwen3ForCausalLM"), ("mistral", "MistralForCausalLM"),
    ("gemma2", "Gemma2ForCausalLM"), ("phi", "PhiForCausalLM"), ("bert", "BertForMaskedLM"), ("opt", "OPTForCausalLM"),
    ("vit", "ViTForImageClassification"), ("t5", "T5ForConditionalGeneration"), ("gemma", "GemmaForCausalLM"), ("granite", "GraniteForCausalLM"),
    ("olmo2", "Olmo2ForCausalLM"), ("starcoder2", "Starcoder2ForCausalLM"), ("cohere", "CohereForCausalLM"), ("roberta", "RobertaForMaskedLM"),
    ("distilbert", "DistilBertForMaskedLM"), ("bart", "BartForConditionalGeneration"), ("gpt_neox", "GPTNeoXForCausalLM"),
    ("stablelm", "StableLmForCausalLM"), ("electra", "ElectraForMaskedLM"), ("glm4", "Glm4ForCausalLM"),
)  # fmt: skip
WORLD = 4
LARGEST = 3_000_000
SECONDS = 300
MESHES = ((1, 4), (2, 2), (4, 1))


RECORD = Path(__file__).parents[1] / "tests" / "truth" / "parallel" / "cases.json"


def compare_cases(number: int, seed: str, record: bool = False) -> int:
    """Compare *number* random cases on each mesh, or write them down; 1 if any device holds another number of bytes."""
    work = []
    for index in range(number):
        rng = random.Random(f"{seed} {index}")
        model_type, class_name = rng.choice(BASES)
        config = draw(f"{seed} {index}", model_type)
        try:
            if _size(config, class_name) > LARGEST:  # a draw may leave a size at its default
                continue
        except WeighbridgeError:  # nor does every draw fit together
            continue
        work.append([model_type, class_name, {key: value for key, value in config.items() if key != "model_type"}])
    held = run_ranks("truth.parallel", work, SECONDS)
    return _record(work, held, f"python -m truth parallel --n {number} --seed {seed} --record") if record else _judge(work, held)


def run_ranks(module: str, work: list[Any], seconds: int) -> list[Any]:
    """Run a module on the ranks of a world of processes, each with all the work, and return what each prints last, as JSON."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(WORLD), "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", module, json.dumps(work)],
            env={**environment, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(WORLD)
    ]
    try:
        return [json.loads(process.communicate(timeout=seconds)[0].strip().splitlines()[-1]) for process in processes]
    finally:
        for process in processes:
            process.kill()


def _size(config: dict[str, Any], class_name: str) -> int:
    unique = model(config, class_name).count().unique
    assert isinstance(unique, int)
    return unique


def _record(work: list[list[Any]], held: list[dict[str, Any]], command: str) -> int:
    cases = []
    for index, (model_type, class_name, config) in enumerate(work):
        for tp, dp in MESHES:
            theirs = [rank[f"{index} {tp}"] for rank in held]
            if not any(isinstance(entry, str) for entry in theirs) and _divides(model_type, class_name, config, tp):
                cases.append(
                    {"model_type": model_type, "class_name": class_name, "config": config, "tp": tp, "dp": dp, "bytes": sorted(theirs)}
                )
    lines = ",\n".join(json.dumps(case) for case in cases)
    RECORD.parent.mkdir(exist_ok=True)
    libraries = json.dumps(live.versions())
    RECORD.write_text(f'{{"libraries": {libraries}, "command": {json.dumps(command)}, "cases": [\n{lines}\n]}}\n', "utf-8")
    print(f"{len(cases)} cases: {RECORD}")
    return 0


def _divides(model_type: str, class_name: str, config: dict[str, Any], tp: int) -> bool:
    """Tell whether heads are kept whole: torch would cut one in pieces, we refuse, or keep it whole on several devices."""
    try:
        return not _heads_are_cut(model({**config, "model_type": model_type}, class_name).parallel(tp=tp))
    except WeighbridgeError:
        return False


def _judge(work: list[list[Any]], held: list[dict[str, Any]]) -> int:
    equal = wrong = refused = 0
    for index, (model_type, class_name, config) in enumerate(work):
        for tp, dp in MESHES:
            theirs = [rank[f"{index} {tp}"] for rank in held]
            try:
                found = model({**config, "model_type": model_type}, class_name).parallel(tp=tp, dp=dp, fsdp=dp > 1, dtype="float32")
            except WeighbridgeError:
                refused += 1
                continue
            if any(isinstance(entry, str) for entry in theirs) or _heads_are_cut(found):
                refused += 1
                continue
            ours = sorted(device.state.parameters for device in found.devices for _ in range(device.alike))
            if ours == sorted(theirs):
                equal += 1
            else:
                wrong += 1
                print(f"{class_name} tp={tp} dp={dp}: theirs {sorted(theirs)}, ours {ours}\n  {json.dumps(config)}")
    print(f"{equal} equal, {wrong} wrong, {refused} refused by either")
    return 1 if wrong else 0


def _heads_are_cut(found: Any) -> bool:
    """Tell whether torch would cut a key-value head in pieces, where we keep it whole on several devices."""
    return any("key-value head" in note for note in found.notes)


def _plan(built: Any) -> dict[str, str]:
    """Return the style of every linear layer and table: the library's plan where it has one, else by our names."""
    stated = getattr(built.config, "base_model_tp_plan", None) or {}
    torch = import_module("torch")
    names = {name: module for name, module in built.named_modules() if isinstance(module, (torch.nn.Linear, torch.nn.Embedding))}
    plan = {}
    inputs, outputs = built.get_input_embeddings(), built.get_output_embeddings()
    for name, module in names.items():
        pattern = re.sub(r"\.\d+\.", ".*.", name)
        found = next((way for key, way in stated.items() if pattern.endswith(key)), None)
        if module is outputs:
            plan[name] = "column"
        elif module is inputs or (isinstance(module, torch.nn.Embedding) and module.weight is inputs.weight):
            plan[name] = "row"
        elif isinstance(module, torch.nn.Linear) and found is not None:
            plan[name] = "column" if found.startswith("colwise") else "row" if found.startswith("rowwise") else "whole"
        elif isinstance(module, torch.nn.Linear) and not stated:
            plan[name] = style(name)
    return plan


def _ties(built: Any) -> dict[str, str]:
    """Return the parameters that are another's object, and whose."""
    owners: dict[int, str] = {}
    found = {}
    for name, parameter in built.named_parameters(remove_duplicate=False):
        owner = owners.setdefault(id(parameter), name)
        if owner != name:
            found[name] = owner
    return found


def _run(work: list[list[Any]]) -> dict[str, Any]:
    """Shard each model on each mesh, and return the bytes that this process holds."""
    distributed = import_module("torch.distributed")
    fsdp = import_module("torch.distributed.fsdp")
    styles = import_module("torch.distributed.tensor.parallel")
    mesh_of = import_module("torch.distributed.device_mesh").init_device_mesh
    distributed.init_process_group("gloo", timeout=timedelta(seconds=40))
    result: dict[str, Any] = {}
    for index, (model_type, class_name, config) in enumerate(work):
        for tp, dp in MESHES:
            try:
                built = live.build(model_type, class_name, config, device="cpu")
                mesh = mesh_of("cpu", (dp, tp), mesh_dim_names=("dp", "tp"))
                if tp > 1:
                    ways = {"column": styles.ColwiseParallel(), "row": styles.RowwiseParallel()}
                    chosen = {name: ways[way] for name, way in _plan(built).items() if way in ways}
                    ties = _ties(built)
                    styles.parallelize_module(built, mesh["tp"], chosen)
                    for name, owner in ties.items():  # each name was cut by itself
                        holder, _, last = name.rpartition(".")
                        built.get_submodule(holder).register_parameter(last, built.get_parameter(owner))
                if dp > 1:
                    fsdp.fully_shard(built, mesh=mesh["dp"])
                seen: dict[int, int] = {}
                for parameter in built.parameters():
                    local = parameter.to_local() if hasattr(parameter, "to_local") else parameter
                    seen[id(parameter)] = local.numel() * local.element_size()
                result[f"{index} {tp}"] = sum(seen.values())
            except Exception as error:  # whatever a shape may provoke in there
                result[f"{index} {tp}"] = f"{type(error).__name__}: {str(error)[:120]}"
    distributed.barrier()
    distributed.destroy_process_group()
    return result


if __name__ == "__main__":
    print(json.dumps(_run(json.loads(sys.argv[1]))))
