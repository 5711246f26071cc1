"""ZeRO's three stages: what each device holds, held to DeepSpeed's own optimizers on several CPU processes (gloo).

    python -m truth.zero NUMBER SEED [--record]

DeepSpeed (0.19.8) is needed. It pads the one flat buffer of stages 1 and 2 so that each device's piece begins at an even element, and in stage 3 each
tensor to a multiple of the devices.
"""

from __future__ import annotations

import json
import os
import random
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import live
from truth.draw import draw
from truth.parallel import WORLD, run_ranks
from truth.stages import BASES, MIXTURES
from weighbridge import model
from weighbridge.core.errors import WeighbridgeError

SECONDS = 400
RECORD = Path(__file__).parents[1] / "tests" / "truth" / "parallel" / "zero.json"


def draw_work(number: int, seed: str) -> list[dict[str, Any]]:
    """Draw models and a stage for each."""
    work: list[dict[str, Any]] = []
    for index in range(number):
        rng = random.Random(f"{seed} {index}")
        model_type, class_name = rng.choice(BASES + MIXTURES)
        config = draw(f"{seed} {index}", model_type)
        try:
            if model(config, class_name).count().unique > 1_000_000:  # type: ignore[operator]
                continue
        except WeighbridgeError:
            continue
        work.append({"model_type": model_type, "class_name": class_name, "config": config, "zero": 1 + index % 3})
    return work


def ours(case: dict[str, Any]) -> list[int]:
    """Return bytes of parameters, and of what the optimizer keeps, on one device.

    Raises:
        WeighbridgeError: It is refused.
    """
    found = model(case["config"], case["class_name"]).parallel(dp=WORLD, zero=case["zero"]).largest
    return [found.parameters, found.optimizer]


def compare_cases(number: int, seed: str, record: bool = False) -> int:
    """Compare random cases, or write them down; 1 if any device holds another number of bytes."""
    work = draw_work(number, seed)
    held = run_ranks("truth.zero", work, SECONDS)
    cases, wrong = [], 0
    for index, case in enumerate(work):
        theirs = [rank[index] for rank in held]
        if any(isinstance(one, str) for one in theirs):
            print("refused", case["class_name"], next(one for one in theirs if isinstance(one, str))[:150])
            continue
        assert all(one == theirs[0] for one in theirs), "devices differ"
        cases.append({**case, "bytes": theirs[0]})
        try:
            found = ours(case)
        except WeighbridgeError as error:
            print("we refuse", case["class_name"], error)
            continue
        if found != theirs[0]:
            wrong += 1
            print(
                f"DIFFERS zero {case['zero']} {case['class_name']}: theirs {theirs[0]}, ours {found}\n  {json.dumps(case['config'])[:300]}"
            )
    if record:
        lines = ",\n".join(json.dumps(case) for case in cases)
        libraries = {**live.versions(), "deepspeed": import_module("deepspeed").__version__.partition("+")[0]}
        command = f"python -m truth.zero {number} {seed} --record"
        RECORD.write_text(f'{{"libraries": {json.dumps(libraries)}, "command": {json.dumps(command)}, "cases": [\n{lines}\n]}}\n', "utf-8")
    print(f"{len(cases) - wrong} equal, {wrong} wrong of {len(work)}")
    return 1 if wrong else 0


def _run(work: list[dict[str, Any]]) -> list[Any]:
    """Hand each model to DeepSpeed, and return the bytes that this process holds."""
    os.environ |= {"DS_ACCELERATOR": "cpu", "LOCAL_RANK": os.environ["RANK"], "DEEPSPEED_LOG_LEVEL": "error"}
    deepspeed = import_module("deepspeed")
    # its kernels for messages between processors are built at run time, and are not needed
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # type: ignore[attr-defined]
    deepspeed.init_distributed("gloo", verbose=False)
    result: list[Any] = []
    for case in work:
        try:
            built = live.build(case["model_type"], case["class_name"], case["config"], device="cpu")
            result.append(_hold(deepspeed, built, case["zero"]))
        except Exception as error:  # whatever a shape may provoke in there
            result.append(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
    return result


def _hold(deepspeed: Any, built: Any, stage: int) -> list[int]:
    """Return bytes of parameters, and of master weights and AdamW's moments, which have their shapes."""
    torch = import_module("torch")
    built = built.to(torch.bfloat16)
    learned = list(built.parameters())
    said = {
        "train_micro_batch_size_per_gpu": 1,
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": stage, "stage3_param_persistence_threshold": 0},
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
    }
    _, optimizer, _, _ = deepspeed.initialize(model=built, optimizer=torch.optim.AdamW(learned, lr=0.1), config=said)
    if stage == 3:
        parameters, master = [parameter.ds_tensor for parameter in learned], optimizer.fp32_partitioned_groups_flat
    else:
        parameters, master = optimizer.bit16_groups_flat, optimizer.single_partition_of_fp32_groups
    return [_bytes(parameters), 3 * _bytes(master)]


def _bytes(tensors: list[Any]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


if __name__ == "__main__":
    if sys.argv[1].startswith("["):
        print(json.dumps(_run(json.loads(sys.argv[1]))), flush=True)
        os._exit(0)  # its threads wait for each other
    else:
        sys.exit(compare_cases(int(sys.argv[1]), sys.argv[2], "--record" in sys.argv))
