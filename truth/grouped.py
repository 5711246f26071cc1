"""Files packed in several groups: bytes that compressed-tensors makes of a small live Llama, beside ours.

    python -m truth.grouped NUMBER SEED [--record]

compressed-tensors (0.20) is needed beside torch and transformers.
"""

from __future__ import annotations

import json
import random
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import live
from weighbridge import model

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
    "tie_word_embeddings": False,
    "dtype": "bfloat16",
}
TARGETS = [
    "Linear",
    "model.layers.0.mlp.up_proj",
    "re:.*[qkv]_proj",
    "re:.*down_proj",
    "re:.*layers.1.*",
    "re:.*mlp\\.(gate|up)_proj",
    "re:.*self_attn.*",
]
IGNORED: list[list[str]] = [[], ["lm_head"], ["re:.*lm_head"], ["lm_head", "model.layers.0.self_attn.q_proj"]]
EIGHT = {"num_bits": 8, "type": "float", "symmetric": True}
INPUTS = ({**EIGHT, "strategy": "token", "dynamic": True}, {**EIGHT, "strategy": "tensor", "dynamic": False})
NVFP4 = {
    "num_bits": 4,
    "type": "float",
    "strategy": "tensor_group",
    "group_size": 16,
    "symmetric": True,
    "scale_dtype": "torch.float8_e4m3fn",
}
MXFP4 = {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32, "symmetric": True, "scale_dtype": "torch.uint8"}
RECORD = Path(__file__).parents[1] / "tests" / "costs" / "groups.jsonl"


def random_group(rng: random.Random, target: str) -> dict[str, Any]:
    """Draw a group: its weights, what goes in, and its format."""
    form = rng.choice(("pack", "pack", "channel", "tensor", "int", "nvfp4", "nvfp4-a4", "mxfp4"))
    packed = {"num_bits": rng.choice((2, 3, 4, 5, 8)), "type": "int", "symmetric": rng.random() < 0.6}
    weights, inputs, name = {
        "pack": (
            {**packed, **rng.choice(({"strategy": "channel"}, {"strategy": "group", "group_size": rng.choice((16, 32))}))},
            None,
            "pack-quantized",
        ),
        "channel": ({**EIGHT, "strategy": "channel"}, rng.choice((None, *INPUTS)), "float-quantized"),
        "tensor": ({**EIGHT, "strategy": "tensor"}, rng.choice(INPUTS), "float-quantized"),
        "int": ({**EIGHT, "type": "int", "strategy": "channel"}, {**INPUTS[0], "type": "int"}, "int-quantized"),
        "nvfp4": (NVFP4, None, "nvfp4-pack-quantized"),
        "nvfp4-a4": (NVFP4, {**NVFP4, "dynamic": "local"}, "nvfp4-pack-quantized"),
        "mxfp4": (MXFP4, None, "mxfp4-pack-quantized"),
    }[form]
    return {"targets": [target], "weights": weights, "input_activations": inputs, "format": name}


def random_settings(index: int, seed: str) -> dict[str, Any]:
    """Draw a ``quantization_config`` with two or three groups."""
    rng = random.Random(f"{seed} {index}")
    groups = {f"group_{place}": random_group(rng, target) for place, target in enumerate(rng.sample(TARGETS, rng.randint(2, 3)))}
    return {"quant_method": "compressed-tensors", "config_groups": groups, "ignore": rng.choice(IGNORED), "format": "mixed-precision"}


def theirs(said: dict[str, Any]) -> int:
    """Return the bytes of a live Llama's tensors after the library has packed them."""
    quantization: Any = import_module("compressed_tensors.quantization")
    compressor: Any = import_module("compressed_tensors.compressors").ModelCompressor
    built = live.build("llama", "LlamaForCausalLM", {key: value for key, value in LLAMA.items() if key != "dtype"}, "cpu")
    built = built.to(import_module("torch").bfloat16)
    settings = quantization.QuantizationConfig(**said, quantization_status="initialized")
    quantization.apply_quantization_config(built, settings, show_progress=False)
    compressor(quantization_config=settings).compress_model(built)
    return sum(tensor.numel() * tensor.element_size() for tensor in built.state_dict().values())


def compare_cases(number: int, seed: str, record: bool = False) -> int:
    """Compare random configs, or write them down; 1 if any differs."""
    found, wrong = [], 0
    for index in range(number):
        said = random_settings(index, seed)
        figure, own = theirs(said), model({**LLAMA, "quantization_config": said}).memory().weights
        found.append([said, figure])
        if own != figure:
            wrong += 1
            print(f"DIFFERS theirs {figure}, ours {own} {json.dumps(said)}")
    if record:
        library = import_module("importlib.metadata").version("compressed-tensors")
        versions = {**live.versions(), "compressed-tensors": library}
        head = {"versions": versions, "command": f"python -m truth.grouped {number} {seed} --record", "config": LLAMA}
        RECORD.write_text("".join(json.dumps(line) + "\n" for line in (head, *found)), "utf-8")
    print(f"{len(found) - wrong} equal, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(compare_cases(int(sys.argv[1]), sys.argv[2], "--record" in sys.argv))
