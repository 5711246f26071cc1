"""What an adapter's checkpoint holds beside the adapter's own tensors: modules that are copied and trained whole, biases, embeddings.

Source: huggingface/peft 0.21.2, utils/save_and_load.py (get_peft_model_state_dict), utils/other.py (ModulesToSaveWrapper)
"""

from __future__ import annotations

from weighbridge.accounts.adapters import matching
from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.modules import Module
from weighbridge.accounts.adapters.sites import Site
from weighbridge.accounts.adapters.targets import EMBEDDINGS
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import product
from weighbridge.core.tree import Row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

BYTES = {"float64": 8, "float32": 4, "int64": 8, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2, "uint8": 1, "int8": 1, "bool": 1}
"""Bytes of one element of each type."""
COUNTER = ".num_batches_tracked"
"""A batch norm's count of batches, a whole number of 64 bits."""


class SavedTensors:
    """Elements and bytes that are saved, each tensor once by its key.

    >>> saved = SavedTensors()
    >>> saved.put("lora_A", 8, "float32")
    >>> saved.put("lora_A", 8, "float32")
    >>> saved.sums(), saved.sizes()
    ((8, 32), ((4, 8),))
    """

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: dict[str, tuple[int, str]] = {}

    def put(self, key: str, count: int, dtype: str) -> None:
        """Save a tensor; one that is saved under the same key already counts once."""
        self.entries[key] = (count, dtype)

    def sums(self) -> tuple[int, int]:
        """Return how many elements are saved, and their bytes."""
        kinds = self._kinds()
        return sum(many * count for (count, _), many in kinds.items()), sum(
            many * count * BYTES[dtype] for (count, dtype), many in kinds.items()
        )

    def _kinds(self) -> dict[tuple[int, str], int]:
        """Return how often each number of elements is saved in each type: of a hundred thousand tensors few differ."""
        return count_equal(self.entries.values())

    def sizes(self) -> tuple[tuple[int, int], ...]:
        """Return how many elements have each number of bytes."""
        found: dict[int, int] = {}
        for (count, dtype), many in self._kinds().items():
            found[BYTES[dtype]] = found.get(BYTES[dtype], 0) + many * int(count)
        return tuple(sorted((size, count) for size, count in found.items() if count))


def count_equal(values: Iterable[Any]) -> dict[Any, int]:
    """Count how often each value comes. (Importing ``collections`` takes a fifth of an interpreter's start.)

    >>> count_equal("abba")
    {'a': 2, 'b': 2}
    """
    found: dict[Any, int] = {}
    for value in values:
        found[value] = found.get(value, 0) + 1
    return found


def count_elements(rows: Iterable[Row]) -> int:
    """Add up the elements of tensors, whose sizes are whole numbers here."""
    total = 0
    for shape, many in count_equal(row.shape for row in rows).items():  # of a hundred thousand tensors few differ in their shape
        size = product(shape)
        assert isinstance(size, int)
        total += many * size
    return total


def owner(row: Row) -> str:
    """Return the name of the tensor whose storage a row is."""
    return row.tied_to or row.name


def train_biases(base: Base, config: Mapping[str, Any], places: list[Site], saved: SavedTensors) -> set[str]:
    """Return the names of the base's biases that are trained, each at its owner, and save them."""
    bias = config.get("bias", "none") or "none"
    if bias == "none":
        return set()
    if bias == "all":
        rows = [row for row in base.rows if row.name == "bias" or row.name.endswith(".bias")]
    elif isinstance(bias, str) and bias.endswith("_only"):
        modules = {place.module.path: place.module for place in places if place.kind != "multihead_attention"}
        rows = [module.bias for module in modules.values() if module.bias is not None]
    else:
        raise ConfigError("expected none, all or an ending in _only, such as lora_only", key="bias", value=bias)
    for row in rows:
        saved.put(f"base:{row.name}", count_elements((row,)), base.dtype)
    return {owner(row) for row in rows if row.role != "buffer"}


def copy_modules(
    base: Base, config: Mapping[str, Any], adapted_paths: Collection[str], saved: SavedTensors, types: Mapping[str, str]
) -> tuple[tuple[str, int], ...]:
    """Return the modules that are trained whole, each with the elements of its copy, and save them; *types* has those not kept in the base's type.

    A module inside another one that is copied is copied once more: the inner copy is trained, that part of the outer one is not.
    """
    names = tuple(dict.fromkeys((*config["modules_to_save"], *config["heads"])))
    found: list[tuple[str, int]] = []
    for path, module in base.modules.items():
        if not names or not path.endswith(names):
            continue
        _refuse_copy(path, module, base, adapted_paths)
        if any(path.startswith(f"{outer}.") and outer != path.rpartition(".")[0] for outer, _ in found):
            raise UsageError(Text("modules_to_save: {path} stands deep inside another module that is saved whole", path=path))
        rows, is_inner = base.within(path), any(path.startswith(f"{outer}.") for outer, _ in found)
        found.append((path, count_elements(_parameters(rows))))
        for row in rows:
            saved.put(f"copy:{row.name}", count_elements((row,)), "int64" if row.name.endswith(COUNTER) else types.get(path, base.dtype))
            if config.get("bias") == "all" and row.name.endswith(".bias"):  # whatever has bias in its key: both sides of a wrapper
                for key in ("wrapped", "inner copy", "inner wrapped") if is_inner else ("wrapped",):
                    saved.put(f"{key}:{row.name}", count_elements((row,)), base.dtype)
    for path in config["tied_saves"]:
        weight = base.modules[path].weight
        if weight is not None:
            found.append((path, 0))
            saved.put(f"copy:{weight.name}", count_elements((weight,)), types.get(path, base.dtype))
    return tuple(found)


def copied_rows(base: Base, copies: tuple[tuple[str, int], ...], types: Mapping[str, str]) -> list[tuple[Row, str]]:
    """Return what is trained of copied modules, with its type: each tensor once, whichever copy it is trained in."""
    outermost = [path for path, count in copies if count and not any(path.startswith(f"{outer}.") for outer, _ in copies)]
    return [(row, types.get(path, base.dtype)) for path in outermost for row in _parameters(base.within(path))]


def frozen_copies(copies: tuple[tuple[str, int], ...]) -> int:
    """Return how many elements of copied modules are copied once more, further inside, and so stay as they are."""
    return sum(count for path, count in copies if any(path.startswith(f"{outer}.") for outer, _ in copies))


def refuse_whole_model(saves: tuple[str, ...]) -> None:
    """Refuse names that the library finds again in ``base_model.model``, around the model."""
    if any(wrapper.endswith(name) for name in saves for wrapper in ("base_model", "base_model.model")):
        raise UsageError(Text("modules_to_save: {saves} names the whole model too, which the library then copies", saves=", ".join(saves)))


def _parameters(rows: list[Row]) -> list[Row]:
    """Return the parameters of a copied module, those tied with each other once."""
    owners: dict[str, Row] = {}
    for row in rows:
        if row.role != "buffer":
            owners.setdefault(owner(row), row)
    return list(owners.values())


def _refuse_copy(path: str, module: Module, base: Base, adapted_paths: Collection[str]) -> None:
    if path in adapted_paths or any(name.startswith(f"{path}.") for name in adapted_paths):
        raise UsageError(Text("modules_to_save: {path} is adapted too; the library refuses or copies the adapter with it", path=path))
    if module.kind == "container" and any(f"{path}.{index}" in base.modules for index in range(2)):
        raise UsageError(Text("modules_to_save: {path} is a list of modules, which cannot be saved whole", path=path))


def save_embeddings(base: Base, config: Mapping[str, Any], adapted_paths: Collection[str], resized: bool, saved: SavedTensors) -> None:
    """Save the tables of embeddings that are targets by name, or were resized."""
    targets = config["target_modules"]
    if isinstance(targets, str):
        whole = matching.pattern(targets, "target_modules")
        names = [path for path in base.modules if path.rpartition(".")[2] in EMBEDDINGS]
        targeted = any(whole.fullmatch(path) for path in names)
    else:
        targeted = any(name in (targets or ()) for name in EMBEDDINGS)
    sparse = config["peft_type"] == "TRAINABLE_TOKENS" or config.get("trainable_token_indices") is not None
    if not resized and (not targeted or sparse):
        return
    for path in (base.input_embedding, base.output_embedding):
        if path is None or (targeted and path not in adapted_paths):
            continue
        for row in base.within(path):
            saved.put(f"base:{row.name}", count_elements((row,)), base.dtype)
