"""Trainable, total and saved elements of a model with an adapter.

Source: huggingface/peft 0.21.2, tuners/tuners_utils.py (inject_adapter), peft_model.py (get_nb_trainable_parameters),
utils/save_and_load.py (get_peft_model_state_dict), utils/other.py (ModulesToSaveWrapper, set_additional_trainable_modules)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from weighbridge.accounts.adapters import low_rank, matching, vectors
from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.kinds import check_kinds
from weighbridge.accounts.adapters.lora import lora
from weighbridge.accounts.adapters.methods import METHODS, Method
from weighbridge.accounts.adapters.modules import Module
from weighbridge.accounts.adapters.partial import PARTIAL
from weighbridge.accounts.adapters.prompts import PROMPTS, adaption_prompts, prepare_prompt
from weighbridge.accounts.adapters.replication import replicate
from weighbridge.accounts.adapters.rules import check_rules
from weighbridge.accounts.adapters.sites import BASE, AddedTensor, Site, site
from weighbridge.accounts.adapters.targets import (
    CLASSIFIER_NAMES,
    EMBEDDINGS,
    find_parameters,
    find_targets,
    list_targets,
    names_of,
    refuse_others,
    resolve_config,
)
from weighbridge.accounts.adapters.tokens import trainable_rows
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import product
from weighbridge.core.tree import Row

if TYPE_CHECKING:
    from typing import Any

BYTES = {"float64": 8, "float32": 4, "int64": 8, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2, "uint8": 1, "int8": 1, "bool": 1}
WIDENED = ("float16", "bfloat16")
"""Element types of a base model beside which adapters are kept in float32."""


COUNTER = ".num_batches_tracked"
"""A batch norm's count of batches, a whole number of 64 bits."""


REFUSED = {
    "MIXED": "count each of its adapters",
}
"""Methods that are known and not counted, and why."""


class AdapterCount(NamedTuple):
    """A model with an adapter, counted.

    Attributes:
        method: The adapter's ``peft_type``.
        trainable: Elements that are trained: what ``get_nb_trainable_parameters`` gives first.
        total: Elements of the base model and the adapter: what it gives second.
        saved: Elements that ``get_peft_model_state_dict`` holds.
        saved_bytes: Bytes that it holds.
        sites: The adapted modules, each with what it got.
        shared: What the modules share.
        copies: Modules that are trained and saved whole.
        biases: Elements of the base's own biases that are trained.
        formula: What the method adds to one linear layer.
        notes: What a reader should know.
        saved_sizes: How many of the saved elements have each number of bytes.
        added_sizes: Elements of the parameters that are added, copies of modules too, each with its element type.
        learned: The shape of every tensor that is trained, and its element type.
    """

    method: str
    trainable: int
    total: int
    saved: int
    saved_bytes: int
    sites: tuple[tuple[Site, tuple[AddedTensor, ...]], ...]
    shared: tuple[AddedTensor, ...]
    copies: tuple[tuple[str, int], ...]
    biases: int
    formula: str
    notes: tuple[str, ...]
    saved_sizes: tuple[tuple[int, int], ...]
    added_sizes: tuple[tuple[int, str], ...]
    learned: tuple[tuple[tuple[int, ...], str], ...]


def count_adapter(base: Base, raw: Mapping[str, Any], *, autocast: bool = True, resized: bool = False) -> AdapterCount:
    """Count a model with an adapter.

    Args:
        base: The model below.
        raw: The adapter's config, as its ``adapter_config.json`` says it.
        autocast: Whether the adapter is kept in float32 beside a base in 16 bits, as the library does by itself.
        resized: Whether the base's vocabulary was resized, so that its embeddings are saved too.

    Raises:
        ConfigError: The config is wrong.
        UsageError: The method cannot adapt these modules, or nothing of the base is adapted.
    """
    name = raw.get("peft_type", "LORA")
    if isinstance(name, str) and name.upper() in REFUSED:
        raise UsageError(Text("{name}: {refused}", name=name, refused=REFUSED[name.upper()]))
    check_kinds(raw)
    check_rules({**raw, "peft_type": name.upper() if isinstance(name, str) else name})
    if isinstance(name, str) and name.upper() in (*PROMPTS, "ADAPTION_PROMPT"):
        return _count_prompt(base, raw, name.upper(), resized)
    if isinstance(name, str) and name.upper() in PARTIAL:
        return _in_part(base, raw, name.upper())
    method, config = _method(raw)
    if config.get("layer_replication") and method.add in (lora, low_rank.adalora):
        base = replicate(base, config["layer_replication"])
    config = resolve_config(base, method, config)
    if config["heads"]:
        _refuse_whole(config["modules_to_save"])
    found = [site(base, base.modules[path]) for path in find_targets(base, config)]
    refuse_others(found, method, config)
    places = [*found, *find_parameters(base, config)]
    if config.get("proportional_parameters"):
        config["shares"] = vectors.proportional(found, config)
    if not places:
        raise UsageError(
            Text("no module of the base model is adapted: target_modules {shown}", shown=list_targets(config["target_modules"]))
        )
    given = tuple((place, tuple(method.add(place, config))) for place in places)
    shared = (*(method.share(places, config, base) if method.share else ()), *trainable_rows(base, config, {place.path for place in found}))
    return _sum_up(base, config, method, given, shared, autocast, resized)


def _method(raw: Mapping[str, Any]) -> tuple[Method, dict[str, Any]]:
    """Return the method of an adapter's config, and the config with its defaults."""
    name = raw.get("peft_type", "LORA")
    if not isinstance(name, str) or name.upper() not in METHODS:
        raise ConfigError(
            Text("expected one of {value}", value=", ".join(sorted((*METHODS, *PROMPTS, *PARTIAL, "ADAPTION_PROMPT", "XLORA")))),
            key="peft_type",
            value=name,
        )
    method = METHODS[name.upper()]
    config = {**method.given, **{key: value for key, value in raw.items() if value is not None or key not in method.given}}
    return method, {**config, "peft_type": name.upper(), "target_modules": raw.get("target_modules")}


class _Book:
    """Elements and bytes that are saved, each tensor once by its key."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: dict[str, tuple[int, str]] = {}

    def put(self, key: str, count: int, dtype: str) -> None:
        self.entries[key] = (count, dtype)

    def sums(self) -> tuple[int, int]:
        return sum(count for count, _ in self.entries.values()), sum(count * BYTES[dtype] for count, dtype in self.entries.values())

    def sizes(self) -> tuple[tuple[int, int], ...]:
        """Return how many elements have each number of bytes."""
        found: dict[int, int] = {}
        for count, dtype in self.entries.values():
            found[BYTES[dtype]] = found.get(BYTES[dtype], 0) + int(count)
        return tuple(sorted((size, count) for size, count in found.items() if count))


def _sum_up(
    base: Base,
    config: Mapping[str, Any],
    method: Method,
    given: tuple[tuple[Site, tuple[AddedTensor, ...]], ...],
    shared: tuple[AddedTensor, ...],
    autocast: bool,
    resized: bool,
) -> AdapterCount:
    own = "float32" if autocast and base.dtype in WIDENED else base.dtype
    given = tuple((place, tuple(_with_dtype(tensor, base.dtype) for tensor in tensors)) for place, tensors in given)
    shared = tuple(_with_dtype(tensor, base.dtype) for tensor in shared)
    added = [tensor for _, tensors in given for tensor in tensors] + list(shared)
    book = _Book()
    for tensor in added:
        if tensor.saved:
            book.put(tensor.name, tensor.count, tensor.dtype or own)
    adapted_paths = {place.path for place, _ in given if config["peft_type"] != "OSF" or place.kind == "linear"}
    trainable = sum(tensor.count for tensor in added if tensor.parameter and tensor.trainable)
    total = _elements(row for row in base.rows if row.role != "buffer" and row.tied_to is None)
    total += sum(tensor.count for tensor in added if tensor.parameter)
    thawed = _biases(base, config, [place for place, _ in given], book)
    copies = _copies(base, config, adapted_paths, book)
    # a module that is copied whole brings its biases in its copy: the base's own stay frozen
    for path in (path for path, _ in copies):
        thawed -= {_owner(row) for row in base.within(path)}
    biases = _elements(row for row in base.rows if row.name in thawed)
    whole, twice = sum(count for _, count in copies), _frozen_copies(copies)
    rows = _copied_rows(base, copies)
    rows += [row for row in base.rows if row.name in thawed]
    _save_embeddings(base, config, adapted_paths, resized, book)
    return AdapterCount(
        config["peft_type"],
        trainable + whole - twice + biases,
        total + whole,
        *book.sums(),
        given,
        shared,
        copies,
        biases,
        method.formula,
        tuple(filter(None, (method.note([place for place, _ in given], config),))) if method.note else (),
        book.sizes(),
        *_merge_sizes(added, own, whole, rows, base.dtype),
    )


def _with_dtype(tensor: AddedTensor, dtype: str) -> AddedTensor:
    return tensor._replace(dtype=dtype) if tensor.dtype == BASE else tensor


def _count_prompt(base: Base, raw: Mapping[str, Any], name: str, resized: bool) -> AdapterCount:
    """Count a model with a learned prompt: all of the base is frozen but what stands in no module."""
    task = raw.get("task_type")
    config: dict[str, Any] = {**{key: value for key, value in raw.items() if value is not None}, "peft_type": name}
    saves = names_of(config, "modules_to_save")
    heads = CLASSIFIER_NAMES.get(task, ()) if isinstance(task, str) and name != "ADAPTION_PROMPT" else ()
    config |= {"modules_to_save": saves, "heads": heads, "tied_saves": ()}
    if name == "ADAPTION_PROMPT":
        added, formula, own = tuple(adaption_prompts(base, config)), "adapter_len*hidden + 1", base.dtype
    else:
        method = PROMPTS[name]
        added = tuple(method.add(prepare_prompt(base, {**method.given, **config})))
        formula, own = method.formula, "float32"
    book = _Book()
    for tensor in added:
        if tensor.saved:
            book.put(tensor.name, tensor.count, tensor.dtype or own)
    if name != "ADAPTION_PROMPT":
        _refuse_whole(saves)
    copies = _copies(base, config, (), book) if name != "ADAPTION_PROMPT" else ()
    if resized:
        _save_embeddings(base, {**config, "target_modules": ()}, (), True, book)
    parameters = [row for row in base.rows if row.role != "buffer" and row.tied_to is None]
    # the library freezes a base module by module: what stands in none of them goes on learning
    loose = _elements(row for row in parameters if "." not in row.name and not row.frozen) if name in PROMPTS else 0
    whole, twice = sum(count for _, count in copies), _frozen_copies(copies)
    rows = _copied_rows(base, copies)
    rows += [row for row in parameters if loose and "." not in row.name and not row.frozen]
    return AdapterCount(
        name,
        sum(tensor.count for tensor in added if tensor.parameter and tensor.trainable) + whole - twice + loose,
        _elements(parameters) + sum(tensor.count for tensor in added if tensor.parameter) + whole,
        *book.sums(),
        (),
        added,
        copies,
        loose,
        formula,
        (),
        book.sizes(),
        *_merge_sizes(added, own, whole, rows, base.dtype),
    )


def _in_part(base: Base, raw: Mapping[str, Any], name: str) -> AdapterCount:
    """Count a model of which a part is trained; what is saved is what is trained, heads named by ``modules_to_save`` too."""
    config = {key: value for key, value in raw.items() if value is not None}
    part, saves = PARTIAL[name], names_of(config, "modules_to_save")
    inside = [path for path in base.modules if saves and matching.ends_with(path, saves)]
    rows = [*part.train(base, config), *(row for path in inside for row in base.within(path) if row.role != "buffer")]
    trained = {_owner(row) for row in rows}
    added = tuple(part.add(base, config))
    own = _elements(row for row in base.rows if row.name in trained)
    extra = sum(tensor.count for tensor in added)
    total = _elements(row for row in base.rows if row.role != "buffer" and row.tied_to is None) + extra
    size = BYTES[base.dtype]
    saved = own + extra
    sizes = _merge_sizes(added, base.dtype, 0, [row for row in base.rows if row.name in trained], base.dtype)
    return AdapterCount(name, saved, total, saved, saved * size, (), added, (), own, part.formula, (), ((size, saved),), *sizes)


def _merge_sizes(
    added: Iterable[AddedTensor], own: str, whole: int, rows: list[Row], dtype: str
) -> tuple[tuple[tuple[int, str], ...], tuple[tuple[tuple[int, ...], str], ...]]:
    """Return what is added, and what is trained; *whole* and *rows* are the base's own, copied or trained in place, of *dtype*."""
    parameters = [tensor for tensor in added if tensor.parameter]
    learned = [(tensor.shape, tensor.dtype or own) for tensor in parameters if tensor.trainable]
    learned += [(row.shape, dtype) for row in rows]  # type: ignore[misc]
    return (*((tensor.count, tensor.dtype or own) for tensor in parameters), (whole, dtype)), tuple(learned)


def _elements(rows: Iterable[Row]) -> int:
    """Add up the elements of tensors, whose sizes are whole numbers here."""
    total = 0
    for row in rows:
        size = product(row.shape)
        assert isinstance(size, int)
        total += size
    return total


def _owner(row: Row) -> str:
    return row.tied_to or row.name


def _biases(base: Base, config: Mapping[str, Any], places: list[Site], book: _Book) -> set[str]:
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
        book.put(f"base:{row.name}", _elements((row,)), base.dtype)
    return {_owner(row) for row in rows if row.role != "buffer"}


def _copies(base: Base, config: Mapping[str, Any], adapted_paths: Collection[str], book: _Book) -> tuple[tuple[str, int], ...]:
    """Return the modules that are trained whole, each with the elements of its copy, and save them.

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
        rows = base.within(path)
        found.append((path, _elements(_distinct(rows))))
        for row in rows:
            book.put(f"copy:{row.name}", _elements((row,)), "int64" if row.name.endswith(COUNTER) else base.dtype)
            if config.get("bias") == "all" and row.name.endswith(".bias"):
                book.put(f"wrapped:{row.name}", _elements((row,)), base.dtype)
    for path in config["tied_saves"]:
        weight = base.modules[path].weight
        if weight is not None:
            found.append((path, 0))
            book.put(f"copy:{weight.name}", _elements((weight,)), base.dtype)
    return tuple(found)


def _copied_rows(base: Base, copies: tuple[tuple[str, int], ...]) -> list[Row]:
    """Return what is trained of copied modules: each tensor once, whichever copy it is trained in."""
    outermost = [path for path, count in copies if count and not any(path.startswith(f"{outer}.") for outer, _ in copies)]
    return [row for path in outermost for row in _distinct(base.within(path))]


def _frozen_copies(copies: tuple[tuple[str, int], ...]) -> int:
    """Return how many elements of copied modules are copied once more, further inside, and so stay as they are."""
    return sum(count for path, count in copies if any(path.startswith(f"{outer}.") for outer, _ in copies))


def _refuse_whole(saves: tuple[str, ...]) -> None:
    """Refuse names that the library finds again in ``base_model.model``, around the model."""
    if any(wrapper.endswith(name) for name in saves for wrapper in ("base_model", "base_model.model")):
        raise UsageError(Text("modules_to_save: {saves} names the whole model too, which the library then copies", saves=", ".join(saves)))


def _distinct(rows: list[Row]) -> list[Row]:
    """Return the parameters of a copied module, those tied with each other once."""
    owners: dict[str, Row] = {}
    for row in rows:
        if row.role != "buffer":
            owners.setdefault(_owner(row), row)
    return list(owners.values())


def _refuse_copy(path: str, module: Module, base: Base, adapted_paths: Collection[str]) -> None:
    if path in adapted_paths or any(name.startswith(f"{path}.") for name in adapted_paths):
        raise UsageError(Text("modules_to_save: {path} is adapted too; the library refuses or copies the adapter with it", path=path))
    if module.kind == "container" and any(f"{path}.{index}" in base.modules for index in range(2)):
        raise UsageError(Text("modules_to_save: {path} is a list of modules, which cannot be saved whole", path=path))


def _save_embeddings(base: Base, config: Mapping[str, Any], adapted_paths: Collection[str], resized: bool, book: _Book) -> None:
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
            book.put(f"base:{row.name}", _elements((row,)), base.dtype)
