"""Classes of mlx-lm and mlx-vlm, held to ours: models whose own code stands beside their files; needs mlx-lm 0.32.2 and mlx-vlm 0.7.10.

PYTHONPATH=src:. python -m truth.mlx_models            # random configs against ours
PYTHONPATH=src:. python -m truth.mlx_models --record   # write tests/truth/packages/mlx.json

MLX keeps the channels of a convolution last, all experts of a layer in one tensor, and some modules under other names: what it has is
brought to the files' names and shapes, by the way in which its classes read these files.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from truth.packages import print_differences, tensors_of
from weighbridge import WeighbridgeError, model

RECORD = Path(__file__).parent.parent / "tests" / "truth" / "packages" / "mlx.json"
Shapes = dict[str, list[int]]


def heads(rng: random.Random, width: int = 8) -> dict[str, Any]:
    """Draw heads, grouped or not."""
    groups = rng.choice((1, 2))
    many = groups * rng.randint(1, 3)
    return {"hidden_size": many * width, "num_attention_heads": many, "num_key_value_heads": many // groups}


def draw_phi3small(rng: random.Random) -> dict[str, Any]:
    """Draw a small Phi-3-small."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "ff_intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    return raw | {"dense_attention_every_n_layers": 2, "gegelu_limit": 20.0, "layer_norm_epsilon": 1e-5}


def draw_hunyuan(rng: random.Random) -> dict[str, Any]:
    """Draw a small Hunyuan-Large, tied, as MLX always has it."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 5), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    raw |= {"num_experts": rng.choice((1, 3, 4)), "moe_topk": 1, "num_shared_expert": rng.randint(1, 2), "use_mixed_mlp_moe": rng.random() < 0.7}
    raw |= {"use_qk_norm": rng.random() < 0.5, "use_cla": rng.random() < 0.7, "cla_share_factor": rng.randint(1, 3), "rms_norm_eps": 1e-5}
    raw |= {"attention_bias": rng.random() < 0.4, "moe_intermediate_size": rng.choice((None, 7)), "rope_theta": 1e4}
    return raw | {"tie_word_embeddings": True, "rope_scaling": {"type": "dynamic", "factor": 1.0, "alpha": 10.0}}


def as_published(rows: Shapes) -> Shapes:
    """Take experts that stand together one by one."""
    found: Shapes = {}
    for name, shape in rows.items():
        if ".switch_mlp." in name:
            found |= {name.replace(".switch_mlp.", f".experts.{index}."): shape[1:] for index in range(shape[0])}
        else:
            found[name] = shape
    return found


class Case:
    """One model type: MLX's module, the class that is ours, random configs, and what brings MLX's names to the files'."""

    def __init__(self, module: str, name: str, draw: Callable[[random.Random], dict[str, Any]], rename: Callable[[Shapes], Shapes]) -> None:
        """Take what the class says."""
        self.module, self.name, self.draw, self.rename = module, name, draw, rename


CASES = {
    "phi3small": Case("mlx_lm.models.phi3small", "Phi3SmallForCausalLM", draw_phi3small, as_published),
    "hunyuan": Case("mlx_lm.models.hunyuan", "HunYuanForCausalLM", draw_hunyuan, as_published),
}


def theirs(model_type: str, raw: dict[str, Any]) -> Shapes:
    """Return the names and shapes that MLX's class has, as the published files have them."""
    case = CASES[model_type]
    module = import_module(case.module)
    arguments = getattr(module, "ModelArgs", None) or module.ModelConfig
    built = module.Model(arguments.from_dict(json.loads(json.dumps(raw))))
    flat = import_module("mlx.utils").tree_flatten(built.parameters())
    return case.rename({name: list(value.shape) for name, value in flat})


def ours(raw: dict[str, Any]) -> Shapes:
    """Return ours without the second name of what is tied."""
    found = model(raw)
    tied = {row.name for row in found.tensors() if row.tied_to is not None}
    return {name: shape for name, shape in tensors_of(found).items() if name not in tied}


def cases(count: int, seed: int) -> list[dict[str, Any]]:
    """Return random configs, as many of each type."""
    rng = random.Random(seed)
    named = ((name, case) for name, case in CASES.items() for _ in range(count))
    return [{"model_type": name, "architectures": [case.name], **case.draw(rng)} for name, case in named]


def compare_models(count: int = 40, seed: int = 20261128) -> int:
    """Compare names and shapes of random configs; return 1 if anything differs."""
    same = wrong = 0
    for raw in cases(count, seed):
        left = theirs(raw["model_type"], raw)
        try:
            right = ours(raw)
        except WeighbridgeError as error:
            wrong += 1
            print(f"{error}: {json.dumps(raw)}")
            continue
        if right == left:
            same += 1
        else:
            wrong += 1
            print_differences(json.dumps(raw), right, left)
    print(f"{same} agree tensor for tensor; {wrong} differ")
    return 1 if wrong else 0


def record(count: int = 3, seed: int = 20261128) -> int:
    """Write the tensors of random configs."""
    drawn = [{"config": raw, "tensors": theirs(raw["model_type"], raw)} for raw in cases(count, seed)]
    RECORD.write_text(json.dumps({"packages": "mlx-lm 0.32.2, mlx-vlm 0.7.10", "seed": seed, "cases": drawn}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(record() if "--record" in sys.argv else compare_models())
