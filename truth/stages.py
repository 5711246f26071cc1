"""Pipeline stages, expert ranks and ZeRO's first stage: bytes on each device held to torch's own, on several CPU processes (gloo).

    python -m truth.stages NUMBER SEED [--record]

Where a model is cut, ``torch.distributed.pipelining`` decides which parameters each stage needs; experts are cut by DTensor along their
first axis, and by FSDP2 among the devices that hold the same ones; ``ZeroRedundancyOptimizer`` hands whole tensors to devices.
"""

from __future__ import annotations

import json
import os
import random
import sys
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import live
from truth.draw import draw
from truth.parallel import run_ranks
from weighbridge import model
from weighbridge.accounts.parallel.shards import hand_out
from weighbridge.accounts.parallel.stages import layer_names, share_layers
from weighbridge.core.errors import WeighbridgeError

BASES = (
    ("llama", "LlamaForCausalLM"),
    ("qwen3", "Qwen3ForCausalLM"),
    ("gpt2", "GPT2LMHeadModel"),
    ("bert", "BertForMaskedLM"),
    ("opt", "OPTForCausalLM"),
    ("gemma2", "Gemma2ForCausalLM"),
    ("gpt_neox", "GPTNeoXForCausalLM"),
    ("phi", "PhiForCausalLM"),
    ("olmo2", "Olmo2ForCausalLM"),
)
MIXTURES = (
    ("mixtral", "MixtralForCausalLM"),
    ("qwen2_moe", "Qwen2MoeForCausalLM"),
    ("qwen3_moe", "Qwen3MoeForCausalLM"),
    ("olmoe", "OlmoeForCausalLM"),
)
WORLD, SECONDS = 4, 280
RECORD = Path(__file__).parents[1] / "tests" / "truth" / "parallel" / "stages.json"


def draw_work(number: int, seed: str) -> list[dict[str, Any]]:
    """Draw models with the layers that a stage begins with, and mixtures with the ways in which their experts are spread."""
    work: list[dict[str, Any]] = []
    for index in range(number):
        rng = random.Random(f"{seed} {index}")
        mixed = index % 2 == 1
        model_type, class_name = rng.choice(MIXTURES if mixed else BASES)
        config = draw(f"{seed} {index}", model_type)
        layers = rng.randint(WORLD, 9)
        for key in ("add_cross_attention", "tie_word_embeddings" if model_type == "bert" else ""):
            config.pop(key, None)  # what nothing runs through stands on no stage of theirs: BERT's bias of words, where it is not tied
        config |= {key: layers for key in ("num_hidden_layers", "n_layer") if key in config}
        if mixed:
            experts = {key: 4 * rng.randint(1, 3) for key in ("num_local_experts", "num_experts") if key in config}
            config |= experts | {"num_experts_per_tok": 2}
        try:
            names = layer_names(model(config, class_name).tree)
            pieces = share_layers(len(names), WORLD)
            if model(config, class_name).count().unique > 2_000_000:  # type: ignore[operator]
                continue
        except WeighbridgeError:
            continue
        begins = [names[sum(pieces[:stage])] for stage in range(1, WORLD)]
        one: dict[str, Any] = {"model_type": model_type, "class_name": class_name, "config": config}
        work.append(
            {**one, "what": "experts", "ep": rng.choice((2, 4)), "fsdp": rng.random() < 0.5}
            if mixed
            else {**one, "what": "stages", "begins": begins}
        )
        work.append({**one, "what": "zero1"})
    return work


def ours(case: dict[str, Any]) -> list[list[int]]:
    """Return bytes of parameters, gradients and AdamW's states on each device, in order of devices.

    Raises:
        WeighbridgeError: It is refused.
    """
    how: dict[str, Any] = {"stages": {"pp": WORLD}, "zero1": {"dp": WORLD, "zero": 1}}.get(case["what"], {})
    if case["what"] == "experts":
        how = {"dp": WORLD, "ep": case["ep"], "fsdp": case["fsdp"]}
    weighed = model(case["config"], case["class_name"])
    found = weighed.parallel(dtype="float32", **how)
    if case["what"] == "zero1":
        states = hand_out(weighed.tree, WORLD, 8)
        states += [0] * (WORLD - len(states))
        whole = 4 * found.largest.elements  # nothing is padded here
        return sorted([whole, whole, count] for count in states)
    return sorted([one.state.parameters, one.state.gradients, one.state.optimizer] for one in found.devices for _ in range(one.alike))


def compare_cases(number: int, seed: str, record: bool = False) -> int:
    """Compare random cases, or write them down; 1 if any device holds another number of bytes."""
    work = draw_work(number, seed)
    held = run_ranks("truth.stages", work, SECONDS)
    cases = []
    for index, case in enumerate(work):
        theirs = [rank[index] for rank in held]
        if any(isinstance(one, str) for one in theirs):
            print("refused", case["what"], case["class_name"], next(one for one in theirs if isinstance(one, str))[:150])
            continue
        cases.append({**case, "bytes": sorted(theirs)})
    wrong = sum(not _agrees(case) for case in cases)
    if record:
        lines = ",\n".join(json.dumps(case) for case in cases)
        command = f"python -m truth.stages {number} {seed} --record"
        RECORD.write_text(
            f'{{"libraries": {json.dumps(live.versions())}, "command": {json.dumps(command)}, "cases": [\n{lines}\n]}}\n', "utf-8"
        )
    print(f"{len(cases) - wrong} equal, {wrong} wrong of {len(work)}")
    return 1 if wrong else 0


def _agrees(case: dict[str, Any]) -> bool:
    try:
        found = ours(case)
    except WeighbridgeError as error:
        print("we refuse", case["class_name"], error)
        return True
    if found == case["bytes"]:
        return True
    print(case["what"], case["class_name"], f"theirs {case['bytes']}, ours {found}\n  {json.dumps(case['config'])}")
    return False


def _run(work: list[dict[str, Any]]) -> list[Any]:
    """Cut each model, and return the bytes that this process holds."""
    distributed = import_module("torch.distributed")
    distributed.init_process_group("gloo", timeout=timedelta(seconds=100))
    result: list[Any] = []
    for case in work:
        try:
            built = live.build(case["model_type"], case["class_name"], case["config"], device="cpu")
            result.append({"stages": _stage, "experts": _experts, "zero1": _zero1}[case["what"]](built, case))
        except Exception as error:  # whatever a shape may provoke in there
            result.append(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
    distributed.barrier()
    distributed.destroy_process_group()
    return result


def _stage(built: Any, case: dict[str, Any]) -> list[int]:
    """Cut a model where stages begin, and train this process's stage for one step."""
    torch, pipelining = import_module("torch"), import_module("torch.distributed.pipelining")
    built.set_attn_implementation("eager")
    built.config.use_cache = False
    split = dict.fromkeys(case["begins"], pipelining.SplitPoint.BEGINNING)
    pipe = pipelining.pipeline(built, mb_args=(), mb_kwargs={"input_ids": torch.zeros(1, 8, dtype=torch.long)}, split_spec=split)
    stage = pipe.get_stage_module(int(os.environ["RANK"]))
    owners: dict[int, str] = {}
    for name, parameter in built.named_parameters(remove_duplicate=False):
        owners.setdefault(id(parameter), name)
    named = {name: owners[id(parameter)] for name, parameter in built.named_parameters(remove_duplicate=False)}
    # the first stage has a copy of a tied table under each of its names, of which it uses one
    return _train(list({named[name]: parameter for name, parameter in stage.named_parameters()}.values()))


def _train(parameters: list[Any]) -> list[int]:
    """Make gradients and AdamW's states of parameters, and return the bytes of all three; the counts of steps are left out."""
    torch = import_module("torch")
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    optimizer = torch.optim.AdamW(parameters, foreach=False)
    optimizer.step()
    states = [value for state in optimizer.state.values() for name, value in state.items() if name != "step"]
    return [_bytes(parameters), _bytes([parameter.grad for parameter in parameters]), _bytes(states)]


def _bytes(tensors: list[Any]) -> int:
    pieces = [tensor.to_local() if hasattr(tensor, "to_local") else tensor for tensor in tensors]
    return sum(piece.numel() * piece.element_size() for piece in pieces)


def _experts(built: Any, case: dict[str, Any]) -> list[int]:
    """Cut experts along their first axis among *ep* devices, and, if that is asked, all else by FSDP2."""
    tensors, fsdp = import_module("torch.distributed.tensor"), import_module("torch.distributed.fsdp")
    mesh_of = import_module("torch.distributed.device_mesh").init_device_mesh
    torch = import_module("torch")
    ep = case["ep"]
    mesh = mesh_of("cpu", (WORLD // ep, ep), mesh_dim_names=("same", "ep"))
    everyone = mesh_of("cpu", (WORLD,), mesh_dim_names=("dp",))
    held = [module for name, module in built.named_modules() if name.endswith(".experts")]
    for module in held:
        for name, parameter in list(module.named_parameters(recurse=False)):
            cut = tensors.distribute_tensor(parameter.data, mesh["ep"], [tensors.Shard(0)])
            module.register_parameter(name, torch.nn.Parameter(cut.to_local()))
        if case["fsdp"] and WORLD // ep > 1:
            fsdp.fully_shard(module, mesh=mesh["same"])
    if case["fsdp"]:
        ignored = {parameter for module in held for parameter in module.parameters()}
        fsdp.fully_shard(built, mesh=everyone, ignored_params=ignored)
    return _train(list(built.parameters()))


def _zero1(built: Any, case: dict[str, Any]) -> list[int]:
    """Let ZeroRedundancyOptimizer hand whole tensors to devices."""
    torch, optim = import_module("torch"), import_module("torch.distributed.optim")
    parameters = list(built.parameters())
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    optimizer = optim.ZeroRedundancyOptimizer(parameters, torch.optim.AdamW, lr=0.1)
    optimizer.step()
    states = [value for state in optimizer.optim.state.values() for name, value in state.items() if name != "step"]
    return [_bytes(parameters), _bytes([parameter.grad for parameter in parameters]), _bytes(states)]


if __name__ == "__main__":
    if sys.argv[1].startswith("["):
        print(json.dumps(_run(json.loads(sys.argv[1]))))
    else:
        sys.exit(compare_cases(int(sys.argv[1]), sys.argv[2], "--record" in sys.argv))
