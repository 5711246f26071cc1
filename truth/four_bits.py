"""Models in bitsandbytes' 4 bits: parameters after the library has replaced their modules, beside ours: ``python -m truth.four_bits TYPE...``.

bitsandbytes is needed beside torch and transformers. Nothing is quantized: of each replaced matrix the elements of its packed form are
counted, as ``bitsandbytes.functional.quantize_4bit`` makes them (two values a byte, in elements of the storage type).
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

from truth import live, loading
from weighbridge.blueprints import family
from weighbridge.conventions.quantized_counts import BITSANDBYTES, STORAGE_BYTES

ENDINGS = ("ForCausalLM", "Model", "ForSequenceClassification", "LMHeadModel")
SKIPPED: tuple[list[str] | None, ...] = (None, ["lm_head"], ["q_proj", "lm_head"], ["layers.1", "lm_head"])


def configs(model_type: str, number: int, seed: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield classes with shallow configs in 4 bits."""
    rng = random.Random(f"{seed} {model_type}")
    known = live.config_class(model_type).__dataclass_fields__
    names = [name for name in family(model_type).classes if name.endswith(ENDINGS)]
    for _ in range(number):
        keys = {"num_hidden_layers": rng.choice([2, 3]), "n_layer": 2, "num_layers": 2, "tie_word_embeddings": rng.choice([True, False])}
        said: dict[str, Any] = {"quant_method": "bitsandbytes", "load_in_4bit": True}
        said["bnb_4bit_quant_storage"] = rng.choice(sorted(STORAGE_BYTES))
        skipped = rng.choice(SKIPPED)
        if skipped is not None:
            said["llm_int8_skip_modules"] = skipped
        raw = {key: value for key, value in keys.items() if key in known}
        yield rng.choice(names), {"model_type": model_type, **raw, "quantization_config": said}


def count_live(model_type: str, class_name: str, raw: dict[str, Any]) -> int:
    """Count the parameters of the live class after its modules are replaced.

    Raises:
        RefusedError: The class does not build.
    """
    said = raw["quantization_config"]
    model = live.build(model_type, class_name, {key: value for key, value in raw.items() if key != "quantization_config"})
    packing: Any = import_module("transformers.integrations.bitsandbytes")
    packing.bnb = import_module("bitsandbytes")
    settings = import_module("transformers").BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_storage=said["bnb_4bit_quant_storage"])
    quantizer = import_module("transformers.quantizers.base").HfQuantizer
    kept = quantizer.get_modules_to_not_convert(model, said.get("llm_int8_skip_modules"), model._keep_in_fp32_modules)
    model = packing.replace_with_bnb_linear(model, modules_to_not_convert=kept, quantization_config=settings)
    packed = {id(module.weight) for module in model.modules() if isinstance(module, packing.bnb.nn.Linear4bit)}
    size = STORAGE_BYTES[said["bnb_4bit_quant_storage"]]
    return sum((tensor.numel() + 1) // (2 * size) if id(tensor) in packed else tensor.numel() for tensor in model.parameters())


def counted_classes(types: list[str], number: int, seed: str) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield random configs of the types, with what the live class counts; classes that do not build are left out."""
    for model_type in types:
        for class_name, raw in configs(model_type, number, seed):
            with suppress(live.RefusedError):
                yield class_name, raw, count_live(model_type, class_name, raw)


def main(types: list[str], number: int = 6, seed: str = "20261122") -> int:
    """Compare, print what differs, and return 1 if anything does."""
    _, differ = loading.compare(counted_classes(types or sorted(BITSANDBYTES), number, seed))
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
