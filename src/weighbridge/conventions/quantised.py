"""How many parameters more or less there are when a config with a ``quantization_config`` is loaded: FP8's scales, bitsandbytes' packing.

Source: transformers 5.23.0, quantizers/quantizer_finegrained_fp8.py, integrations/finegrained_fp8.py (``FP8Linear``, ``FP8Experts``),
integrations/bitsandbytes.py (``replace_with_bnb_linear``), quantizers/quantizers_utils.py (``should_convert_module``), quantizers/base.py
(``get_keys_to_not_convert``); bitsandbytes 0.50.2, nn/modules.py (``Linear8bitLt``, ``Params4bit``), backends/default/ops.py (``quantize_4bit``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.tree import Part, Row, Tensor, list_rows, walk

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.value import ModelValue

ROUTERS = frozenset(("gate", "router"))
"""What stands beside experts and chooses among them: a parameter of its own, no linear map that would be replaced."""


MOST_NAMES = 5_000
MOST_ROWS = 20_000
"""Longer lists of modules, or of tensors, are not gone through."""
FULL_PRECISION = "indexer.weights_proj"
"""A map that the classes that have it keep in float32 (``_keep_in_fp32_modules``)."""


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
    try:
        rows = list_rows(model.tree, MOST_ROWS)
    except UsageError:
        return None
    kept = _unquantized_modules(rows, skipped)
    if kept is None or any(row.tied_to is not None and row.role == "weight" and not kept(row.name.rpartition(".")[0]) for row in rows):
        return None  # a tied head that would be replaced: which of the two is loaded, no config says
    return [(shape, fused) for name, shape, fused in _matrices(model.tree, rows) if not kept(name)]


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


def _unquantized_modules(rows: list[Row], stated: Any) -> Any:
    """Return a function that tells which modules stay as they are, or None if their list is not understood."""
    if stated is None:
        last = rows[-1].name.rpartition(".")[0]
        # Without a list: the output head, what is tied to it, and the last module of all.
        return lambda name: name == "lm_head" or name == last
    if (
        not isinstance(stated, (list, tuple))
        or len(stated) > MOST_NAMES
        or not all(type(name) is str and _is_plain(name) for name in stated)
    ):
        return None  # the library takes them for regular expressions, which nobody should run who did not write them
    whole = frozenset(stated)
    ends = tuple(whole)

    def is_kept(name: str) -> bool:
        pieces = name.split(".")
        return name.endswith(ends) or any(".".join(pieces[:count]) in whole for count in range(1, len(pieces) + 1))

    return is_kept


def _is_plain(name: str) -> bool:
    return 0 < len(name) <= 200 and all(letter.isalnum() or letter in "_.-" for letter in name)


def _matrices(tree: Part, rows: list[Row]) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """Yield module, shape and whether it is a gate and an up-projection in one, for each matrix that the quantizer may replace."""
    kinds = {(_fold(path), node.name): part.kind for path, part in walk(tree) for node in part.children if isinstance(node, Tensor)}
    beside = {_fold(path).rpartition(".")[0] for path, part in walk(tree) if part.kind == "experts"}
    for row in rows:
        name, _, tensor = row.name.rpartition(".")
        folded = _fold(name)
        outer, _, last = folded.rpartition(".")
        kind = kinds.get((folded, tensor))
        if (
            row.tied_to is None
            and row.role == "weight"
            and _is_replaced(kind, row, tensor)
            and not (last in ROUTERS and outer in beside)
            and not folded.endswith(FULL_PRECISION)
        ):
            yield name, row.shape, tensor == "gate_up_proj"  # type: ignore[misc]


def _is_replaced(kind: str | None, row: Row, tensor: str) -> bool:
    return (kind == "linear" and len(row.shape) == 2 and tensor == "weight") or (kind == "experts" and len(row.shape) == 3)


def _fold(name: str) -> str:
    return ".".join(piece for piece in name.split(".") if not piece.isdigit())


def _scales(shape: tuple[int, ...], block: Any, *, fused: bool, static: bool) -> int:
    """Count the scales of one matrix, or of those of all experts; with static activations each has one more."""
    rows, columns = shape[-2:]
    high, wide = (1, 1) if block is None else (-(-rows // block[0]), -(-columns // block[1]))
    if len(shape) == 2:
        return high * wide + static
    return shape[0] * (max(high, 2 if fused else 1) * wide + static)
