"""How many parameters more or less there are when a config with a ``quantization_config`` is loaded.

FP8 adds scales; of bitsandbytes' 4 bits two or more values share an element; GPTQ and AWQ keep packed values, scales and biases in buffers, which
``parameters()`` does not list; compressed-tensors has packed words, scales and shapes as parameters.

Source: transformers 5.23.0, quantizers/quantizer_finegrained_fp8.py, integrations/finegrained_fp8.py (``FP8Linear``, ``FP8Experts``),
integrations/bitsandbytes.py (``replace_with_bnb_linear``), integrations/awq.py (``replace_with_awq_linear``), quantizers/quantizers_utils.py
(``should_convert_module``), quantizers/base.py (``get_keys_to_not_convert``); bitsandbytes 0.50.2, nn/modules.py (``Linear8bitLt``,
``Params4bit``), backends/default/ops.py (``quantize_4bit``); for the others packed_modules.py.
"""

from __future__ import annotations

from weighbridge.conventions.packed_modules import count_compressed, count_in_buffers
from weighbridge.conventions.replaced_modules import matrices, rows_of, unquantized_modules
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.interfaces import Mapping

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.value import ModelValue


def stated_quantizer(model: ModelValue) -> Mapping[str, Any] | None:
    """Return the ``quantization_config`` of a model's config, or None."""
    stated = model.description.raw.get("quantization_config") if model.description else None
    return stated if isinstance(stated, Mapping) and quantizer_name(stated) else None


def quantizer_name(stated: Mapping[str, Any]) -> str:
    """Return the method that a ``quantization_config`` means, or the empty string: ModelOpt's own configs say who made them instead.

    >>> quantizer_name({"quant_method": "awq"}), quantizer_name({"load_in_4bit": True})
    ('awq', 'bitsandbytes')
    >>> quantizer_name({"producer": {"name": "modelopt"}, "quant_algo": "NVFP4"})
    'modelopt'
    """
    if stated.get("quant_method"):
        return str(stated["quant_method"])
    if stated.get("load_in_8bit") or stated.get("load_in_4bit"):
        return "bitsandbytes"
    producer = stated.get("producer")
    if isinstance(producer, Mapping) and producer.get("name"):
        return str(producer["name"])
    return "modelopt" if stated.get("quant_algo") else ""


def quantizer_change(model: ModelValue) -> int | None:
    """Return how many parameters more (or, below 0, less) loading makes of a model whose config names a quantizer; None where it is not known.

    >>> from weighbridge import model
    >>> four_bits = {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}
    >>> quantizer_change(model("llama-3-8b", overrides=four_bits)), quantizer_change(model("bert-base-uncased"))
    (-3489660928, None)
    """
    said = stated_quantizer(model)
    match quantizer_name(said) if said else "":
        case "fp8":
            return fp8_scales(model)
        case "bitsandbytes" if said:
            return _bitsandbytes(model, said)
        case "gptq" | "awq" as method if said:
            return count_in_buffers(model, said, method)
        case "compressed-tensors" if said:
            return count_compressed(model, said)
        case _:
            return None


def _bitsandbytes(model: ModelValue, said: Mapping[str, Any]) -> int | None:
    """8 bits leave every value an element of its own; of 4 bits, as many share one as the storage type holds."""
    if said.get("load_in_8bit") or said.get("_load_in_8bit"):
        return 0
    stated = said.get("bnb_4bit_quant_storage") or "uint8"
    storage = STORAGE_BYTES.get(stated) if isinstance(stated, str) else None
    if storage is None or not (said.get("load_in_4bit") or said.get("_load_in_4bit")) or model.model_type not in BITSANDBYTES:
        return None
    found = _replaced_matrices(model, said.get("llm_int8_skip_modules"))
    if found is None:
        return None
    values = [shape[0] * shape[1] for shape, _ in found if len(shape) == 2]
    if any((count + 1) // 2 % storage for count in values):
        return None  # an odd number of bytes is no row of wider elements: the library fails
    return sum((count + 1) // (2 * storage) - count for count in values)


STORAGE_BYTES = {"uint8": 1, "int8": 1, "float16": 2, "bfloat16": 2, "float32": 4}


def fp8_scales(model: ModelValue) -> int | None:
    """Count the scales that loading adds to a model whose config says FP8; None where the config says another method, or nothing.

    >>> from weighbridge import model
    >>> fp8_scales(model("qwen3-30b-a3b-fp8")), fp8_scales(model("bert-base-uncased"))
    (1824768, None)
    """
    said = stated_quantizer(model)
    if said is None or said.get("quant_method") != "fp8" or said.get("dequantize") or said.get("modules_to_convert"):
        return None
    block = said.get("weight_block_size", (128, 128))
    if not (
        block is None or (isinstance(block, (list, tuple)) and len(block) == 2 and all(type(side) is int and side > 0 for side in block))
    ):
        return None
    if said.get("expert_dtype", "fp8") != "fp8" or model.model_type not in TRIED:
        return None
    found = _replaced_matrices(model, said.get("modules_to_not_convert", said.get("ignored_layers")))
    if found is None:
        return None
    static = said.get("activation_scheme") == "static"
    return sum(_scales(shape, block, fused=fused, static=static) for shape, fused in found)


def _replaced_matrices(model: ModelValue, skipped: Any) -> list[tuple[tuple[int, ...], bool]] | None:
    """Return the matrices that a quantizer replaces: shape, and whether gate and up-projection are one; None if that is not known."""
    rows = rows_of(model)
    if rows is None:
        return None
    kept = unquantized_modules(rows, skipped)
    if kept is None or any(row.tied_to is not None and row.role == "weight" and not kept(row.name.rpartition(".")[0]) for row in rows):
        return None  # a tied head that would be replaced: which of the two is loaded, no config says
    return [(shape, fused) for name, shape, fused in matrices(model.tree, rows) if not kept(name)]


TRIED = frozenset(
    """apertus cohere deepseek_v3 ernie4_5_moe exaone4 gemma2 glm4_moe glm_moe_dsa granite hunyuan_v1_dense llama minimax_m2 mistral mixtral nemotron
    olmo2 olmoe phi3 qwen2 qwen2_moe qwen3 qwen3_moe qwen3_next seed_oss smollm3 starcoder2""".split()
)
"""Types whose count was held to the library's own (``FineGrainedFP8HfQuantizer`` on the meta device); of others nothing is said."""


BITSANDBYTES = TRIED | frozenset(
    """arcee bamba bloom codegen cohere2 cwm exaone_moe gemma gemma3_text glm glm4 glm4_moe_lite gpt_bigcode gpt_neo gpt_neox gpt_oss
    gptj granitemoe granitemoehybrid helium jamba jetmoe lfm2 mpt olmo olmo3 opt phi phimoe qwen3_5_text stablelm""".split()
)
"""Types whose count in 4 bits was held to ``replace_with_bnb_linear`` on the meta device."""


def _scales(shape: tuple[int, ...], block: Any, *, fused: bool, static: bool) -> int:
    """Count the scales of one matrix, or of those of all experts; with static activations each has one more."""
    rows, columns = shape[-2:]
    high, wide = (1, 1) if block is None else (-(-rows // block[0]), -(-columns // block[1]))
    if len(shape) == 2:
        return high * wide + static
    return shape[0] * (max(high, 2 if fused else 1) * wide + static)
