"""What GPTQ, AWQ and compressed-tensors make of a model's parameters when it is loaded.

Source: transformers 5.23.0, integrations/awq.py (``replace_with_awq_linear``), quantizers/quantizer_compressed_tensors.py; optimum 2.3.0,
gptq/quantizer.py (``convert_model``); gptqmodel 7.7.0, nn_modules/qlinear/__init__.py (``register_buffer``); compressed-tensors 0.20.0,
compressors and quantization/lifecycle/initialize.py.
"""

from __future__ import annotations

from weighbridge.conventions.replaced_modules import MOST_NAMES, matrices, rows_of, unquantized_modules
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.interfaces import Mapping
from weighbridge.core.tree import Row

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.value import ModelValue


def count_in_buffers(model: ModelValue, said: Mapping[str, Any], method: str) -> int | None:
    """Count what GPTQ's and AWQ's modules keep in buffers: the matrices that they replace, and their biases, are parameters no more."""
    rows = rows_of(model)
    if rows is None or not (model.model_type in HELD or (method == "gptq" and model.model_type == "gpt2")):
        return None  # of GPT-2's maps, whose matrices lie the other way round, GPTQ alone knows
    linear = {name: shape for name, shape, _ in matrices(model.tree, rows) if len(shape) == 2}
    if any(row.role == "weight" and len(row.shape) == 3 and ".experts." in row.name for row in rows):
        return None  # fused experts: which of a file's single ones they take, the library decides
    replaces = _gptq_replaces(rows, said) if method == "gptq" else _awq_replaces(rows, said)
    if replaces is None:
        return None
    gone = {name for name in linear if replaces(name)}
    return -sum(
        elements
        for row in rows
        if row.tied_to is None and row.role != "buffer" and row.name.rpartition(".")[0] in gone
        for elements in (row.count,)
        if isinstance(elements, int)
    )


def _gptq_replaces(rows: list[Row], said: Mapping[str, Any]) -> Any:
    """Return a function that tells which linear maps GPTQ replaces: those of the layers, or the ones that the config names."""
    modules, prefix = said.get("modules_in_block_to_quantize"), said.get("block_name_to_quantize")
    if prefix is None:
        prefix = next((pattern for pattern in BLOCKS if any(row.name.startswith(pattern) for row in rows)), None)
    if type(prefix) is not str or not (modules is None or _is_list_of_lists(modules)):
        return None
    ends = None if modules is None else tuple(name for inner in modules for name in inner)
    return lambda name: name.startswith(prefix) and (ends is None or name.endswith(ends))


BLOCKS = (
    "transformer.h",
    "model.decoder.layers",
    "gpt_neox.layers",
    "model.layers",
    "model.language_model.layers",
    "h",
    "decoder.layers",
    "layers",
)
"""optimum 2.3.0, gptq/constants.py, ``BLOCK_PATTERNS``: where the layers of a model stand, the first that fits."""


def _is_list_of_lists(stated: Any) -> bool:
    return (
        isinstance(stated, list)
        and len(stated) <= MOST_NAMES
        and all(isinstance(inner, list) and len(inner) <= MOST_NAMES and all(type(name) is str for name in inner) for inner in stated)
    )


def _awq_replaces(rows: list[Row], said: Mapping[str, Any]) -> Any:
    """Return a function that tells which linear maps AWQ replaces: all but the output head, the last module and the ones that the config names."""
    always, stated = unquantized_modules(rows, None), said.get("modules_to_not_convert")
    named = unquantized_modules(rows, stated) if stated is not None else lambda name: False
    if named is None:
        return None
    tied = {name for row in rows if row.tied_to for name in (row.name.rpartition(".")[0], row.tied_to.rpartition(".")[0])}
    return lambda name: not (always(name) or named(name) or name in tied)


HELD = frozenset(
    """apertus arcee bamba bloom codegen cohere cohere2 exaone4 gemma gemma2 gemma3_text glm glm4 gpt_bigcode gpt_neo gpt_neox gptj granite
    helium hunyuan_v1_dense llama mistral mpt nemotron olmo olmo2 olmo3 opt phi phi3 qwen2 qwen3 seed_oss smollm3 stablelm starcoder2""".split()
)
"""Types whose counts under GPTQ and AWQ were held to the modules that optimum and transformers choose, live on the meta device."""


def count_compressed(model: ModelValue, said: Mapping[str, Any]) -> int | None:
    """Count what one group of linear maps has instead of its matrices; None for several groups, experts, and formats of 4-bit floats."""
    groups, rows = said.get("config_groups"), rows_of(model)
    if (
        not isinstance(groups, Mapping)
        or len(groups) != 1
        or rows is None
        or said.get("kv_cache_scheme")
        or said.get("quantization_status", "compressed") != "compressed"
        or model.model_type not in HELD
        or any(".experts." in row.name for row in rows)
    ):
        return None
    group = next(iter(groups.values()))
    ignores = _ignored_names(said.get("ignore") or ())
    if not isinstance(group, Mapping) or group.get("targets") != ["Linear"] or group.get("output_activations") or ignores is None:
        return None
    sizes = [compressed_size(shape, group) for name, shape, _ in matrices(model.tree, rows) if len(shape) == 2 and not ignores(name)]
    if any(size is None for size in sizes) or any(
        row.tied_to and row.role == "weight" and not ignores(row.name.rpartition(".")[0]) for row in rows
    ):
        return None
    return sum(size for size in sizes if size is not None)


def compressed_size(shape: tuple[int, ...], group: Mapping[str, Any]) -> int | None:
    """Return how many elements more (or, below 0, less) than its matrix a linear map of a compressed-tensors group has; None if not known.

    >>> compressed_size((64, 64), {"weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32}})
    -3454
    >>> compressed_size((64, 64), {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}})
    64
    """
    weights, inputs = group.get("weights"), group.get("input_activations")
    if not isinstance(weights, Mapping) or not (inputs is None or isinstance(inputs, Mapping)):
        return None
    bits, kind, rows, columns = weights.get("num_bits"), weights.get("type", "int"), *shape
    scales = _scales_of_group(shape, weights)
    static = _input_scales(inputs)
    if type(bits) is not int or scales is None or static is None or weights.get("dynamic") or weights.get("actorder") == "group":
        return None
    symmetric = weights.get("symmetric", True)
    if kind == "int" and inputs is None and 1 <= bits <= 8:  # packed along a row, 32 bits to a word
        if not symmetric and weights.get("strategy") not in ("group", "channel"):
            return None
        zeros = 0 if symmetric else -(-rows * bits // 32) * (scales // rows)
        return rows * -(-columns * bits // 32) + scales + zeros + 2 - rows * columns
    if bits == 8 and kind in ("int", "float") and symmetric:
        return scales + static
    return None


def _scales_of_group(shape: tuple[int, ...], weights: Mapping[str, Any]) -> int | None:
    """Return how many scales a matrix has, by the strategy of its group."""
    rows, columns = shape
    size, block = weights.get("group_size"), weights.get("block_structure")
    match weights.get("strategy") or ("group" if size and size != -1 else "tensor"):
        case "tensor":
            return 1
        case "channel":
            return rows
        case "group" if type(size) is int and size > 0 and columns % size == 0:
            return rows * (columns // size)
        case "block" if isinstance(block, (list, tuple)) and len(block) == 2 and all(type(side) is int and side > 0 for side in block):
            high, wide = block
            count: int = -(-rows // high) * -(-columns // wide)
            return count
        case _:
            return None


def _input_scales(inputs: Mapping[str, Any] | None) -> int | None:
    """Return how many parameters static activations add to a linear map: a scale, and a zero point if they are not symmetric."""
    if inputs is None or inputs.get("dynamic") is True:
        return 0
    if inputs.get("dynamic") or inputs.get("strategy", "tensor") != "tensor":
        return None
    return 1 if inputs.get("symmetric", True) else 2


def _ignored_names(stated: Any) -> Any:
    """Return a function that tells which modules a list of names and ``re:`` patterns leaves out; None for a pattern that nobody should run."""
    import re

    if (
        not isinstance(stated, (list, tuple))
        or len(stated) > MOST_NAMES
        or not all(type(name) is str and len(name) <= 200 for name in stated)
    ):
        return None
    patterns = [name[3:] for name in stated if name.startswith("re:")]
    if len(patterns) > 50 or not all(re.fullmatch(r"\^?(?:\.\*|\\.|[\w.-])*\$?", each) and each.count("*") <= 2 for each in patterns):
        return None
    whole, compiled = frozenset(stated), [re.compile(each) for each in patterns]
    return lambda name: name in whole or any(pattern.match(name) is not None for pattern in compiled)
