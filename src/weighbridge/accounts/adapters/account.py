"""Trainable, total and saved elements of a model with an adapter.

Source: huggingface/peft 0.21.2, tuners/tuners_utils.py (inject_adapter), peft_model.py (get_nb_trainable_parameters),
utils/other.py (set_additional_trainable_modules); what is saved is in ``checkpoint.py``
"""

from __future__ import annotations

from math import prod

from weighbridge.accounts.adapters import low_rank, matching, vectors
from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.checkpoint import (
    BYTES,
    SavedTensors,
    copied_rows,
    copy_modules,
    count_elements,
    frozen_copies,
    owner,
    refuse_whole_model,
    save_embeddings,
    train_biases,
)
from weighbridge.accounts.adapters.kinds import check_kinds
from weighbridge.accounts.adapters.lora import lora
from weighbridge.accounts.adapters.matching import all_linear
from weighbridge.accounts.adapters.methods import METHODS, Method
from weighbridge.accounts.adapters.packed_base import holds_integers, in_float32
from weighbridge.accounts.adapters.partial import PARTIAL
from weighbridge.accounts.adapters.prompts import PROMPTS, adaption_prompts, prepare_prompt
from weighbridge.accounts.adapters.replication import replicate
from weighbridge.accounts.adapters.rules import check_rules
from weighbridge.accounts.adapters.sites import BASE, AddedTensor, Site, site
from weighbridge.accounts.adapters.targets import (
    CLASSIFIER_NAMES,
    find_parameters,
    find_targets,
    list_targets,
    names_of,
    refuse_others,
    resolve_config,
)
from weighbridge.accounts.adapters.tokens import trainable_rows, wrapped_tables
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text, mark
from weighbridge.core.tree import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

WIDENED = ("float16", "bfloat16")
"""Element types of a base model beside which adapters are kept in float32."""


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
        trust: ``exact``, or ``bound`` where the weights' values decide and the figures are the most there can be.
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
    trust: str = "exact"


MOST_NAMES = 12
"""Names of linear layers that an error lists at most."""


def count_adapter(
    base: Base, raw: Mapping[str, Any], *, autocast: bool = True, resized: bool = False, packed: bool = False
) -> AdapterCount:
    """Count a model with an adapter.

    Args:
        base: The model below.
        raw: The adapter's config, as its ``adapter_config.json`` says it.
        autocast: Whether the adapter is kept in float32 beside a base in 16 bits, as the library does by itself.
        resized: Whether the base's vocabulary was resized, so that its embeddings are saved too.
        packed: Whether the linear layers inside the base's layers hold integers, which give an adapter no type: it stays in float32.

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
        return _count_partial(base, raw, name.upper())
    method, config = _method(raw)
    if config.get("layer_replication") and method.add in (lora, low_rank.adalora):
        base = replicate(base, config["layer_replication"])
    config = resolve_config(base, method, config)
    if config["heads"]:
        refuse_whole_model(config["modules_to_save"])
    found = [site(base, base.modules[path], config["peft_type"]) for path in find_targets(base, config)]
    refuse_others(found, method, config)
    places = [*found, *find_parameters(base, config)]
    if config.get("proportional_parameters"):
        config["shares"] = vectors.proportional_shares(found, config)
    if not places:
        if raw.get("target_modules") is None and not config["target_modules"]:
            raise UsageError(
                Text("target_modules is required: by default the PEFT library adapts no module of {model_type}", model_type=base.model_type)
            )
        refuse_emptied(base, config)
        shown = list_targets(config["target_modules"])
        linear = dict.fromkeys(path.rpartition(".")[2] for path in sorted(all_linear(base, {})))
        if not 0 < len(linear) <= MOST_NAMES:
            raise UsageError(Text("no module of the base model is adapted: target_modules {shown}", shown=shown))
        names = Text(
            "no module of the base model is adapted: target_modules {shown}; its linear layers are {names}",
            shown=shown,
            names=", ".join(linear),
        )
        raise UsageError(names)
    given = tuple(zip(places, _add(method, places, config), strict=True))
    if packed:
        given = tuple((place, in_float32(tensors) if holds_integers(place) else tensors) for place, tensors in given)
    shared = (*(method.share(places, config, base) if method.share else ()), *trainable_rows(base, config, {place.path for place in found}))
    shared = in_float32(shared) if packed and config["peft_type"] == "VERA" else shared
    return _count_sites(base, config, method, given, shared, autocast, resized)


def refuse_emptied(base: Base, config: Mapping[str, Any]) -> None:
    """Say which other field leaves none of the modules that are named, if one does.

    Raises:
        UsageError: With the field and its value.
    """
    for key in ("layers_to_transform", "layers_pattern", "exclude_modules"):
        if config.get(key) is not None and find_targets(base, {**config, key: None}):
            raise UsageError(
                Text(
                    "no module of the base model is adapted: {key} {value} leaves none of those that target_modules names",
                    key=key,
                    value=str(config[key])[:80],
                )
            )


NAMING = ("rank_pattern", "use_bdlora")
"""Fields of LoRA that tell modules apart by their names."""


def _add(method: Method, places: list[Site], config: Mapping[str, Any]) -> Iterator[tuple[AddedTensor, ...]]:
    """Yield what each module gets; of LoRA, modules that differ by their names alone get the same: of a hundred thousand few differ."""
    if method.add is not lora or any(config.get(name) for name in NAMING):
        yield from (tuple(method.add(place, config)) for place in places)
        return
    alike: dict[tuple[object, ...], list[tuple[str, tuple[Any, ...]]]] = {}
    for place in places:
        path, like = place.path, place[1:6]  # all but the module itself, of which LoRA asks nothing
        if like not in alike:
            alike[like] = [(tensor.name[len(path) :], tensor[1:]) for tensor in lora(place, config)]
        yield tuple([_make(AddedTensor, (path + ending, *rest)) for ending, rest in alike[like]])


_make = tuple.__new__
"""What a named tuple's constructor ends in."""


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


def _count_sites(
    base: Base,
    config: Mapping[str, Any],
    method: Method,
    given: tuple[tuple[Site, tuple[AddedTensor, ...]], ...],
    shared: tuple[AddedTensor, ...],
    autocast: bool,
    resized: bool,
) -> AdapterCount:
    own = "float32" if autocast and base.dtype in WIDENED else base.dtype
    if any(tensor.dtype == BASE for _, tensors in given for tensor in tensors):
        given = tuple((place, tuple(_with_dtype(tensor, base.dtype) for tensor in tensors)) for place, tensors in given)
    shared = tuple(_with_dtype(tensor, base.dtype) for tensor in shared)
    added = [tensor for _, tensors in given for tensor in tensors] + list(shared)
    saved = SavedTensors()
    trainable = extra = 0
    alike: dict[tuple[Any, ...], tuple[int, str]] = {}  # of a hundred thousand tensors few differ in more than their names
    for tensor in added:
        rest = tensor[1:]
        size = alike.get(rest)
        if size is None:
            size = alike[rest] = tensor.count, tensor.dtype or own
        if rest[3]:  # tensor.saved
            saved.entries[tensor[0]] = size
        if rest[2]:  # tensor.parameter
            extra += size[0]
            trainable += size[0] if rest[1] else 0
    adapted_paths = {place.path for place, _ in given if config["peft_type"] != "OSF" or place.kind == "linear"}
    total = count_elements(row for row in base.rows if row.role != "buffer" and row.tied_to is None) + extra
    thawed = train_biases(base, config, [place for place, _ in given], saved)
    types = dict.fromkeys(wrapped_tables(base, config), own)
    copies = copy_modules(base, config, adapted_paths, saved, types)
    # a module that is copied whole brings its biases in its copy: the base's own stay frozen
    for path in (path for path, _ in copies):
        thawed -= {owner(row) for row in base.within(path)}
    biases = count_elements(row for row in base.rows if row.name in thawed)
    whole, twice = sum(count for _, count in copies), frozen_copies(copies)
    rows = copied_rows(base, copies, types)
    rows += [(row, base.dtype) for row in base.rows if row.name in thawed]
    save_embeddings(base, config, adapted_paths, resized, saved)
    why = method.at_most([place for place, _ in given], config) if method.at_most else ""
    return AdapterCount(
        config["peft_type"],
        trainable + whole - twice + biases,
        total + whole,
        *saved.sums(),
        given,
        shared,
        copies,
        biases,
        method.formula,
        (why,) if why else (),
        saved.sizes(),
        *_merge_sizes(added, own, [(count, types.get(path, base.dtype)) for path, count in copies], rows),
        trust="bound" if why else "exact",
    )


def _with_dtype(tensor: AddedTensor, dtype: str) -> AddedTensor:
    return tensor._replace(dtype=dtype) if tensor.dtype == BASE else tensor


def _count_prompt(base: Base, raw: Mapping[str, Any], name: str, resized: bool) -> AdapterCount:
    """Count a model with a learned prompt; the base is frozen, except parameters that belong to no module."""
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
    saved = SavedTensors()
    for tensor in added:
        if tensor.saved:
            saved.put(tensor.name, tensor.count, tensor.dtype or own)
    if name != "ADAPTION_PROMPT":
        refuse_whole_model(saves)
    copies = copy_modules(base, config, (), saved, {}) if name != "ADAPTION_PROMPT" else ()
    if resized:
        save_embeddings(base, {**config, "target_modules": ()}, (), True, saved)
    parameters = [row for row in base.rows if row.role != "buffer" and row.tied_to is None]
    # the library freezes a base module by module: what stands in none of them goes on learning
    loose = count_elements(row for row in parameters if "." not in row.name and not row.frozen) if name in PROMPTS else 0
    whole, twice = sum(count for _, count in copies), frozen_copies(copies)
    rows = copied_rows(base, copies, {})
    rows += [(row, base.dtype) for row in parameters if loose and "." not in row.name and not row.frozen]
    return AdapterCount(
        name,
        sum(tensor.count for tensor in added if tensor.parameter and tensor.trainable) + whole - twice + loose,
        count_elements(parameters) + sum(tensor.count for tensor in added if tensor.parameter) + whole,
        *saved.sums(),
        (),
        added,
        copies,
        loose,
        formula,
        () if task is not None or name == "ADAPTION_PROMPT" else (WITHOUT_TASK,),
        saved.sizes(),
        *_merge_sizes(added, own, [(whole, base.dtype)], rows),
    )


WITHOUT_TASK = mark("PEFT asks for a task_type with this method; it is counted as with CAUSAL_LM.")


def _count_partial(base: Base, raw: Mapping[str, Any], name: str) -> AdapterCount:
    """Count a model of which a part is trained; what is saved is what is trained, heads named by ``modules_to_save`` too."""
    config = {key: value for key, value in raw.items() if value is not None}
    part, saves = PARTIAL[name], names_of(config, "modules_to_save")
    inside = [path for path in base.modules if saves and matching.ends_with(path, saves)]
    rows = [*part.train(base, config), *(row for path in inside for row in base.within(path) if row.role != "buffer")]
    trained = {owner(row) for row in rows}
    added = tuple(part.add(base, config))
    own = count_elements(row for row in base.rows if row.name in trained)
    extra = sum(tensor.count for tensor in added)
    total = count_elements(row for row in base.rows if row.role != "buffer" and row.tied_to is None) + extra
    size = BYTES[base.dtype]
    saved = own + extra
    sizes = _merge_sizes(added, base.dtype, [], [(row, base.dtype) for row in base.rows if row.name in trained])
    return AdapterCount(name, saved, total, saved, saved * size, (), added, (), own, part.formula, (), ((size, saved),), *sizes)


def _merge_sizes(
    added: Iterable[AddedTensor], own: str, copies: list[tuple[int, str]], rows: list[tuple[Row, str]]
) -> tuple[tuple[tuple[int, str], ...], tuple[tuple[tuple[int, ...], str], ...]]:
    """Return what is added, and what is trained; *copies* and *rows* are the base's own, copied or trained in place, each with its type."""
    seen: dict[Any, Any] = {}  # equal pairs are one object: of a hundred thousand tensors few differ
    learned, sizes = [], []
    for _, shape, is_trained, is_parameter, _, kind in added:
        if is_parameter:
            pair = shape, kind or own
            if pair not in seen:
                seen[pair] = pair, (prod(shape), kind or own)
            pair, size = seen[pair]
            sizes.append(size)
            if is_trained:
                learned.append(pair)
    learned += [(row.shape, dtype) for row, dtype in rows]
    return (*sizes, *copies), tuple(learned)
