"""GPTQ, AWQ and compressed-tensors: parameters after the libraries have replaced their modules, beside ours: ``python -m truth.packed_modules METHOD [TYPE...]``.

Which modules GPTQ replaces optimum says, which AWQ replaces transformers; both put gptqmodel's modules there, of which a stand-in is
used: it has no parameter at all, as gptqmodel registers every tensor as a buffer. compressed-tensors replaces and packs them itself. The library of
the method must be installed beside torch and transformers.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from truth import live, loading
from weighbridge.blueprints import family
from weighbridge.conventions.packed_modules import HELD

ENDINGS = ("ForCausalLM", "Model", "LMHeadModel", "ForSequenceClassification")
GROUPS: tuple[dict[str, Any], ...] = (
    {"weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 16, "symmetric": True}},
    {"weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 8, "symmetric": False}},
    {"weights": {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": True}},
    {"weights": {"num_bits": 3, "type": "int", "strategy": "channel", "symmetric": True}},
    {
        "weights": {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": True},
        "input_activations": {"num_bits": 8, "type": "int", "strategy": "token", "dynamic": True},
    },
    {
        "weights": {"num_bits": 8, "type": "float", "strategy": "tensor", "symmetric": True},
        "input_activations": {"num_bits": 8, "type": "float", "strategy": "tensor", "dynamic": False},
    },
    {
        "weights": {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [32, 24], "symmetric": True},
        "input_activations": {"num_bits": 8, "type": "float", "strategy": "group", "group_size": 8, "dynamic": True},
    },
    {"weights": {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}},
)


def draw_settings(method: str, rng: random.Random) -> dict[str, Any]:
    """Draw a ``quantization_config`` of a method."""
    if method == "gptq":
        named = rng.choice([None, None, [["self_attn.q_proj", "self_attn.k_proj"], ["mlp.down_proj", "fc2"]]])
        return {"quant_method": "gptq", "bits": 4, "group_size": 128} | ({"modules_in_block_to_quantize": named} if named else {})
    if method == "awq":
        kept = rng.choice([None, None, ["lm_head"], ["q_proj"], ["layers.1", "visual"]])
        return {"quant_method": "awq", "bits": 4, "group_size": 128} | ({"modules_to_not_convert": kept} if kept else {})
    ignore = rng.choice(
        [["lm_head"], ["lm_head", "re:.*q_proj"], ["lm_head", "model.layers.0.mlp.down_proj"], ["lm_head", "re:.*layers\\.1\\."]]
    )
    group = {"targets": ["Linear"], **rng.choice(GROUPS)}
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": group},
        "ignore": ignore,
        "quantization_status": "compressed",
    }


def configs(method: str, model_type: str, number: int, seed: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield classes with shallow configs and the settings of a quantizer."""
    rng = random.Random(f"{seed} {method} {model_type}")
    known = live.config_class(model_type).__dataclass_fields__
    names = [name for name in family(model_type).classes if name.endswith(ENDINGS)]
    for _ in range(number):
        keys = {
            "num_hidden_layers": rng.choice([2, 3]),
            "n_layer": 2,
            "num_layers": 2,
            "hidden_size": 64,
            "n_embd": 64,
            "intermediate_size": 96,
        }
        keys |= {"num_attention_heads": 4, "num_key_value_heads": 2, "n_head": 4, "vocab_size": 96, "head_dim": 16, "ffn_dim": 96}
        keys |= {
            "word_embed_proj_dim": 64,
            "d_model": 64,
            "pad_token_id": 0,
            "n_heads": 4,
            "rotary_dim": 8,
            "tie_word_embeddings": rng.choice([True, False]),
        }
        raw = {key: value for key, value in keys.items() if key in known and not (key == "num_layers" and model_type == "gpt_neo")}
        yield rng.choice(names), {"model_type": model_type, **raw, "quantization_config": draw_settings(method, rng)}


def without_parameters() -> type:
    """Return a class of modules that holds no parameter, for gptqmodel's."""
    nn: Any = import_module("torch.nn")

    class Packed(nn.Module):  # type: ignore[misc]
        def __init__(self, *_: object, **__: object) -> None:
            super().__init__()

    return Packed


def replace(model: Any, stated: dict[str, Any]) -> Any:
    """Let the library of the method replace the modules of a live model."""
    method, packed = stated["quant_method"], without_parameters()
    if method == "gptq":
        utils: Any = import_module("optimum.gptq.utils")
        chosen = utils.get_layers(model, prefix=utils.get_block_name_with_pattern(model))
        ends = tuple(name for inner in stated.get("modules_in_block_to_quantize", ()) for name in inner)
        for name in chosen:
            if not ends or name.endswith(ends):
                model.set_submodule(name, packed())
    elif method == "awq":
        stand_in(packed)
        base: Any = import_module("transformers.quantizers.base").HfQuantizer
        stated = {key: value for key, value in stated.items() if key != "quant_method"}
        settings = import_module("transformers").AwqConfig(**stated)
        kept = base.get_modules_to_not_convert(model, settings.modules_to_not_convert, model._keep_in_fp32_modules, add_default_skips=True)
        import_module("transformers.integrations").replace_with_awq_linear(model, modules_to_not_convert=kept, quantization_config=settings)
    else:
        settings = import_module("transformers").CompressedTensorsConfig(**{k: v for k, v in stated.items() if k != "quant_method"})
        quantizer = import_module("transformers.quantizers.quantizer_compressed_tensors").CompressedTensorsHfQuantizer(settings)
        quantizer.validate_environment()
        quantizer._process_model_before_weight_loading(model)
    return model


def stand_in(packed: type) -> None:
    """Put the two names that transformers asks of gptqmodel into modules of that name."""
    for name in ("gptqmodel", "gptqmodel.quantization", "gptqmodel.utils", "gptqmodel.utils.importer"):
        sys.modules.setdefault(name, ModuleType(name))
    sys.modules["gptqmodel.quantization"].METHOD = type("METHOD", (), {"AWQ": "awq"})  # type: ignore[attr-defined]
    sys.modules["gptqmodel.utils.importer"].hf_select_quant_linear_v2 = lambda **_: packed  # type: ignore[attr-defined]


def counted_classes(method: str, types: list[str], number: int, seed: str) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield random configs of the types, with what the live class counts; of classes that do not build it is said why."""
    for model_type in types:
        for class_name, raw in configs(method, model_type, number, seed):
            plain = {key: value for key, value in raw.items() if key != "quantization_config"}
            try:
                model = live.build(model_type, class_name, plain, "cpu" if method == "compressed-tensors" else "meta")
                there = sum(tensor.numel() for tensor in replace(model, raw["quantization_config"]).parameters())
            except (live.RefusedError, ValueError) as error:
                print(model_type, str(error)[:120])
                continue
            yield class_name, raw, there


def main(method: str, types: list[str], number: int = 6, seed: str = "20261122") -> int:
    """Compare, print what differs, and return 1 if anything does, or if nothing was compared."""
    known = HELD | ({"gpt2"} if method == "gptq" else set())
    equal, differ = loading.compare(counted_classes(method, types or sorted(known), number, seed))
    return int(differ > 0 or not equal)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
