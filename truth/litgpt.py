"""LitGPT's own class on random configs, written down: ``PYTHONPATH=. python -m truth.litgpt`` needs torch and the package litgpt (0.5.13).

Only its config and its model are read: the rest of the package asks for a training framework that counting does not need.
"""

from __future__ import annotations

import json
import random
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

RECORD = Path(__file__).parent.parent / "tests" / "truth" / "packages" / "litgpt.json"


class Missing(ModuleType):
    """A module of which nothing is used, but that names are taken from it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def live() -> tuple[Any, Any]:
    """Return the package's Config and GPT."""
    found = find_spec("litgpt")
    if found is None:
        raise SystemExit("pip install --no-deps litgpt==0.5.13")
    package = ModuleType("litgpt")
    package.__path__ = list(found.submodule_search_locations or ())
    sys.modules["litgpt"] = package
    for name in ("litgpt.utils", "litgpt.scripts", "litgpt.scripts.convert_hf_checkpoint"):
        sys.modules[name] = Missing(name)
    return import_module("litgpt.config").Config, import_module("litgpt.model").GPT


def draw(rng: random.Random) -> dict[str, Any]:
    """Draw a config that the class takes, every switch among it."""
    heads = rng.choice((2, 4, 6))
    raw: dict[str, Any] = {
        "n_layer": rng.randint(1, 4),
        "n_head": heads,
        "n_embd": heads * rng.choice((4, 8)),
        "vocab_size": rng.randint(20, 90),
    }
    raw |= {"padding_multiple": rng.choice((8, 64)), "intermediate_size": rng.randint(8, 40), "block_size": 16}
    raw |= {key: rng.random() < 0.5 for key in ("bias", "attn_bias", "lm_head_bias", "norm_qk", "post_attention_norm", "post_mlp_norm")}
    raw |= {"norm_1": rng.random() < 0.8, "norm_2": rng.random() < 0.8, "shared_attention_norm": rng.random() < 0.3}
    raw |= {"norm_class_name": rng.choice(("LayerNorm", "RMSNorm")), "norm_qk_type": rng.choice(("default", "olmo2"))}
    raw["mlp_class_name"] = rng.choice(("GptNeoxMLP", "LLaMAMLP", "GemmaMLP", "LLaMAMoE"))
    if rng.random() < 0.5:
        raw |= {"n_query_groups": 2, "head_size": rng.choice((4, 10))}
    if rng.random() < 0.2:
        raw["name"] = "OLMo-like"
    if raw["mlp_class_name"] == "LLaMAMoE":
        raw |= {
            "n_expert": 4,
            "n_expert_per_token": 2,
            "moe_intermediate_size": rng.randint(8, 20),
            "n_shared_expert": rng.choice((None, 1, 2)),
        }
        raw |= {"first_k_dense_replace": rng.choice((None, 1))}
    return raw


def record(count: int = 40, seed: int = 20261122) -> None:
    """Write the names and shapes of the class's parameters and buffers for *count* random configs."""
    torch, (config, gpt), rng = import_module("torch"), live(), random.Random(seed)
    cases = []
    for _ in range(count):
        raw = draw(rng)
        with torch.device("meta"):
            model = gpt(config(**raw))
        cases.append({"config": raw, "tensors": {name: list(tensor.shape) for name, tensor in model.named_parameters()}})
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps({"package": "litgpt 0.5.13", "seed": seed, "cases": cases}) + "\n")


if __name__ == "__main__":
    record()
