"""Bytes of a file whose config packs its matrices in several groups, or says of each layer how it is packed.

compressed-tensors names the modules of each group by name, by pattern or by class, and those that no group packs; ModelOpt lists layers
with their algorithm, or packs all linear maps by one but for those that it names with wildcards. Every matrix is packed as its group says,
one by one: what experts hold together, a file has apart. Whatever is not understood whole makes no figure at all.

Source: compressed-tensors 0.20.0, utils/match.py (``match_targets``), compressors; nvidia-modelopt 0.47.0, torch/export/quant_utils.py
(``to_quantized_weight``, ``get_quantization_format``), torch/export/convert_hf_config.py.
"""

from __future__ import annotations

from weighbridge.accounts.memory.values import elements
from weighbridge.accounts.memory.weights import OwnedTensor, bits, blocks_of
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, Tensor, copy_name, positions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from weighbridge.value import ModelValue

    Bytes = Callable[[int, int], int]

MOST_MODULES = 20_000
"""The most modules whose names are held against the groups of a config."""

MOST_NAMES = 2_000
"""The most names and patterns of a config that are held against every module."""


class Group(NamedTuple):
    """Modules that are packed alike: those whose name fits, or, with *linear*, all linear maps that no name has taken."""

    fits: Callable[[str], bool]
    linear: bool
    size: Bytes


class Groups(NamedTuple):
    """The groups of a config, the first that fits first, and the modules that none of them packs.

    Attributes:
        groups, left: The groups, and what tells whether a module is left alone.
        names: The plain names among those of the config.
        cache_scales: Whether each layer keeps two float32 scales of its cached keys and values.
    """

    groups: tuple[Group, ...]
    left: Callable[[str], bool]
    names: tuple[str, ...]
    cache_scales: bool = False


def grouped_bytes(model: ModelValue, said: Mapping[str, Any], dtype: str) -> int | None:
    """Return the bytes of a model whose file is packed in groups, the rest in *dtype*; None where its config is not understood whole.

    >>> from weighbridge import model
    >>> llama = model({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1, "num_attention_heads": 4,
    ...                "num_key_value_heads": 2, "vocab_size": 100, "architectures": ["LlamaForCausalLM"]})
    >>> layers = {f"model.layers.0.mlp.{name}_proj": {"quant_algo": "FP8"} for name in ("gate", "up", "down")}
    >>> grouped_bytes(llama, {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers}, "bfloat16")
    69016
    """
    found, width = tensors_in_groups(model, said), bits(dtype) // 8
    return None if found is None else sum(width * elements(entry.tensor.shape) if size is None else size for entry, size in found)


def tensors_in_groups(model: ModelValue, said: Mapping[str, Any]) -> list[tuple[OwnedTensor, int | None]] | None:
    """Return every parameter and the bytes that its group packs it in, None where none does; None where a config is not understood whole."""
    groups = _read(said)
    if groups is None:
        return None
    found, known = [], []
    for name, entry in _owners(model.tree):
        known.append(name)
        packing = _packed_bytes(name, entry, groups) if len(known) <= MOST_MODULES else None
        if packing is None:
            return None
        found.append((entry, packing[0] if packing else None))
    scales = _cache_scales(model, known) if groups.cache_scales else 0
    if scales is None or not _are_known(groups.names, known) or _packs_tied(model.tree, groups):
        return None
    if scales:
        beside = Tensor("k_scale, v_scale", (scales // 4,))
        found.append((OwnedTensor(beside, 1, Part("self_attn"), True), scales))
    return found


def _packs_tied(tree: Part, groups: Groups) -> bool:
    """Say whether a tied map would be packed: a file then has it twice, packed and as the table."""
    waiting = [("", tree)]
    while waiting:
        path, part = waiting.pop()
        tied = any(isinstance(node, Tensor) and node.tied_to is not None and node.role == "weight" for node in part.children)
        if tied and part.kind == "linear" and _size(path, groups) is not None:
            return True
        above = f"{path}." if path else ""
        waiting += [(above + node.name, node) for node in part.children if isinstance(node, Part) and node.repeat is None]
    return False


def _cache_scales(model: ModelValue, known: list[str]) -> int | None:
    """Return the bytes of the scales of cached keys and values; None where it is not certain which attention has them."""
    raw = model.description.raw if model.description is not None else {}
    keys, values = ({name for name in known if name.endswith(f".{letter}_proj")} for letter in "kv")
    towers = any(key.endswith("_config") and key != "quantization_config" for key in raw)
    return None if towers or not keys or len(keys) != len(values) else 4 * (len(keys) + len(values))


def _owners(part: Part, path: str = "", inside: bool = False) -> Iterator[tuple[str, OwnedTensor]]:
    """Yield every parameter that owns its storage with the name of its module, repeats unrolled."""
    for node in part.children:
        if isinstance(node, Tensor):
            if node.tied_to is None and node.role != "buffer":
                yield path, OwnedTensor(node, 1, part, inside)
        elif isinstance(node, Part):
            above = f"{path}." if path and node.name else path
            if node.repeat is None:
                yield from _owners(node, above + node.name, inside)
            else:
                for index in positions(node):
                    yield from _owners(node, above + copy_name(node.name, index), True)


def _packed_bytes(name: str, entry: OwnedTensor, groups: Groups) -> tuple[int, ...] | None:
    """Return the bytes of a tensor that a group packs, nothing where none does, and None where that cannot be told."""
    tensor, kind = entry.tensor, entry.part.kind
    if tensor.role != "weight" or len(tensor.shape) < 2 or kind not in ("linear", "experts"):
        return ()
    try:
        shape = tuple(as_int(size) for size in tensor.shape)
    except (TypeError, ValueError, AssertionError):
        return None
    if kind == "linear" and len(shape) == 2:
        found = _size(name, groups)
        routes = entry.part.name in ("gate", "router")  # whether a file's class has a linear map there, its tree does not say
        return None if found is None and routes and _has_linear(groups) and not groups.left(name) else _sizes(found, [shape])
    matrices = _matrices(tensor, shape)
    if len(shape) != 3 or not matrices:
        return None if _size(name, groups) is not None or _has_linear(groups) else ()
    sizes = [_size(f"{name}.0.{each}", groups) or _size(name, groups) for each, _ in matrices]
    if any(size is None for size in sizes):
        return () if all(size is None for size in sizes) else None
    return (shape[0] * sum(size(*pair) for size, (_, pair) in zip(sizes, matrices, strict=True) if size is not None),)


def _sizes(size: Bytes | None, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    return () if size is None else (sum(size(*shape) for shape in shapes),)


def _matrices(tensor: Tensor, shape: tuple[int, ...]) -> list[tuple[str, tuple[int, int]]]:
    """Return the matrices that each expert has in a file, ``[outputs, inputs]``, by the names that most files give them."""
    outputs, inputs = shape[1:][::-1] if tensor.inputs_first else shape[1:]
    if tensor.name == "gate_up_proj" and outputs % 2 == 0:
        return [("gate_proj", (outputs // 2, inputs)), ("up_proj", (outputs // 2, inputs))]
    return [(tensor.name, (outputs, inputs))] if tensor.name in ("up_proj", "down_proj") else []


def _size(name: str, groups: Groups) -> Bytes | None:
    """Return how a linear map is packed; None where it is left alone."""
    if groups.left(name):
        return None
    by_name = next((group for group in groups.groups if group.fits(name)), None)
    found = by_name or next((group for group in groups.groups if group.linear), None)
    return None if found is None else found.size


def _has_linear(groups: Groups) -> bool:
    return any(group.linear for group in groups.groups)


def _are_known(names: Sequence[str], known: Sequence[str]) -> bool:
    """Say whether everything that a config names by a plain name is in the tree, or stands beside it (further layers that predict tokens)."""
    above = set()
    for name in known:
        while name and name not in above:
            above.add(name)
            name = name.rpartition(".")[0]
    return all(name in above or name.startswith("mtp") for name in names)


def _read(said: Mapping[str, Any]) -> Groups | None:
    """Read the groups of a config, by whoever wrote it."""
    method, producer = said.get("quant_method"), said.get("producer")
    if method == "compressed-tensors":
        return _compressed_groups(said)
    if method == "modelopt" or (isinstance(producer, dict) and producer.get("name") == "modelopt" and method is None):
        return _modelopt_groups(said)
    return None


def _compressed_groups(said: Mapping[str, Any]) -> Groups | None:
    """Read the groups of compressed-tensors: names first, then patterns, then classes."""
    stated, ignored = said.get("config_groups"), _list(said.get("ignore"))
    if (
        not isinstance(stated, dict)
        or ignored is None
        or said.get("kv_cache_scheme")
        or said.get("sparsity_config")
        or said.get("transform_config")
    ):
        return None
    found: dict[str, Bytes] = {}
    for group in stated.values():
        size = _compressed_size(group, said.get("format")) if isinstance(group, dict) else None
        targets = _list(group.get("targets")) if isinstance(group, dict) else None
        if size is None or targets is None:
            return None
        found |= dict.fromkeys(targets, size)
    left = _one_of([name for name in ignored if name != "Linear"])
    matchers = [(target, _one_of([target])) for target in sorted(found, key=lambda name: ("re:" in name, name)) if target != "Linear"]
    if left is None or any(matcher is None for _, matcher in matchers) or "Linear" in ignored:
        return None
    groups = [Group(matcher, False, found[target]) for target, matcher in matchers if matcher is not None]
    if "Linear" in found:
        groups.append(Group(lambda name: False, True, found["Linear"]))
    return Groups(tuple(groups), left, tuple(name for name in (*found, *ignored) if not name.startswith("re:") and name != "Linear"))


def _list(stated: object) -> list[str] | None:
    if stated is None:
        return []
    good = isinstance(stated, list) and len(stated) <= MOST_NAMES and all(isinstance(name, str) and 0 < len(name) <= 200 for name in stated)
    return stated if good else None  # type: ignore[return-value]


_SIMPLE = r"\^?(?:\.\*|\\\.|\\d\+?|\((?:\?:)?[\w|]+\)|\[\w+\]|[\w.-])*\$?"
"""Patterns that take no longer than their text: literal letters, choices between words, and a few stars."""


def _one_of(names: list[str]) -> Callable[[str], bool] | None:
    """Return a function that tells whether a name is one of these, or fits one of the patterns among them; None for one nobody should run."""
    import re

    patterns = [name[3:] for name in names if name.startswith("re:")]
    if any(not re.fullmatch(_SIMPLE, each) or each.count("*") + each.count("+") > 3 for each in patterns):
        return None
    exact, compiled = frozenset(names), [re.compile(each) for each in patterns]
    return lambda name: name in exact or any(each.match(name) is not None for each in compiled)


def _compressed_size(group: Mapping[str, Any], outer: object) -> Bytes | None:
    """Return what a group of compressed-tensors keeps for a matrix, scales in 16 bits beside it."""
    weights, inputs, form = group.get("weights"), group.get("input_activations"), group.get("format") or outer
    if not isinstance(weights, dict) or not (inputs is None or isinstance(inputs, dict)) or group.get("output_activations"):
        return None
    if weights.get("dynamic") or weights.get("actorder") == "group" or weights.get("block_structure"):
        return None
    width, kind, strategy, size = (weights.get(key) for key in ("num_bits", "type", "strategy", "group_size"))
    even, grouped = weights.get("symmetric", True) is not False, type(size) is int and size > 0
    beside = _scales_of_inputs(inputs)
    if form == "nvfp4-pack-quantized" and (width, kind, strategy, size) == (4, "float", "tensor_group", 16):
        whole_scales = 4 if inputs is None else 8
        return lambda o, i: o * blocks_of(i, 2) + o * blocks_of(i, 16) + whole_scales
    if form == "mxfp4-pack-quantized" and (width, kind, strategy, size, inputs) == (4, "float", "group", 32, None):
        return lambda o, i: o * blocks_of(i, 2) + o * blocks_of(i, 32)
    columns = _columns_of_scales(strategy, size)
    if columns is None or type(width) is not int or beside is None:
        return None
    if form == "pack-quantized" and kind in ("int", None) and 1 <= width <= 8 and inputs is None and strategy in ("group", "channel"):
        zeros: Bytes = (lambda o, i: 0) if even else lambda o, i: 4 * blocks_of(o * width, 32) * columns(i)
        return lambda o, i: 4 * o * blocks_of(i * width, 32) + 2 * o * columns(i) + zeros(o, i) + 16
    if form in ("int-quantized", "float-quantized", "naive-quantized") and width == 8 and even:
        if strategy == "tensor":
            return lambda o, i: o * i + 2 + beside
        return lambda o, i: o * i + 2 * o * columns(i) + beside if grouped or strategy == "channel" else 0
    return None


def _columns_of_scales(strategy: object, size: object) -> Callable[[int], int] | None:
    """Return how many scales each row has, by the length of the row."""
    if strategy in ("channel", "tensor"):
        return lambda inputs: 1
    if strategy == "group" and isinstance(size, int) and type(size) is int and size > 0:
        return lambda inputs: blocks_of(inputs, size)
    return None


def _scales_of_inputs(inputs: Mapping[str, Any] | None) -> int | None:
    """Return the bytes of what is kept for static activations: one scale of 16 bits."""
    if inputs is None or inputs.get("dynamic") is True:
        return 0
    fixed = not inputs.get("dynamic") and inputs.get("strategy", "tensor") == "tensor" and inputs.get("symmetric", True) is not False
    return 2 if fixed else None


ALGORITHMS: dict[str, Bytes] = {
    "FP8": lambda o, i: o * i + 8,
    "NVFP4": lambda o, i: o * blocks_of(i, 2) + o * blocks_of(i, 16) + 8,
    "W4A16_NVFP4": lambda o, i: o * blocks_of(i, 2) + o * blocks_of(i, 16) + 4,
}
"""What ModelOpt keeps for a matrix by each algorithm: float32 scales of the weights, and of what goes in."""


EIGHT_BITS = {"dynamic": False, "num_bits": 8, "type": "float"}
"""How ModelOpt says that keys and values are cached in FP8."""


def _modelopt_groups(said: Mapping[str, Any]) -> Groups | None:
    """Read what ModelOpt says: an algorithm for each layer, or one for all linear maps but those that it leaves out."""
    ignored = _list(said.get("ignore", said.get("exclude_modules")))
    left = None if ignored is None else _wildcards(ignored)
    scheme = said.get("kv_cache_scheme") or said.get("kv_cache_quant_algo")
    if ignored is None or left is None or scheme not in (None, "FP8", EIGHT_BITS):
        return None
    scales = scheme is not None
    plain, layers = tuple(name for name in ignored if "*" not in name), said.get("quantized_layers")
    if said.get("quant_algo") == "MIXED_PRECISION":
        if not isinstance(layers, dict) or not layers or len(layers) > MOST_MODULES:
            return None
        sizes = {name: _algorithm(own) for name, own in layers.items() if isinstance(own, dict)}
        if len(sizes) != len(layers) or any(size is None for size in sizes.values()):
            return None
        by_size: dict[Bytes, set[str]] = {}
        for name, size in sizes.items():
            assert size is not None
            by_size.setdefault(size, set()).add(name)
        return Groups(tuple(Group(names.__contains__, False, size) for size, names in by_size.items()), left, (*layers, *plain), scales)
    only = _algorithm({"quant_algo": said.get("quant_algo"), "group_size": _group_size(said)})
    return None if only is None else Groups((Group(lambda name: False, True, only),), left, plain, scales)


def _group_size(said: Mapping[str, Any]) -> object:
    """Return the size of groups of ModelOpt's only algorithm, wherever it is said."""
    groups = said.get("config_groups")
    for group in groups.values() if isinstance(groups, dict) else ():
        weights = group.get("weights") if isinstance(group, dict) else None
        if isinstance(weights, dict) and weights.get("group_size") is not None:
            return weights["group_size"]
    return said.get("group_size")


def _algorithm(own: Mapping[str, Any]) -> Bytes | None:
    name, size = own.get("quant_algo"), own.get("group_size")
    known = ALGORITHMS.get(name) if isinstance(name, str) else None
    return known if size in ((None,) if name == "FP8" else (None, 16)) else None


def _wildcards(names: list[str]) -> Callable[[str], bool] | None:
    """Return a function that tells whether a name, or a module above it, fits one of these names with stars; None for too many stars."""
    if any(name.count("*") > 3 or "[" in name or "?" in name for name in names):
        return None
    exact = frozenset(name for name in names if "*" not in name)
    starts = tuple({name[:-1] for name in names if name.endswith("*") and name.count("*") == 1})
    import re
    from fnmatch import translate

    others = [re.compile(translate(name)) for name in names if "*" in name and not (name.endswith("*") and name.count("*") == 1)]

    def fits(name: str) -> bool:
        above = name
        while above:
            if above in exact:
                return True
            above = above.rpartition(".")[0]
        return name.startswith(starts) or any(each.match(name) is not None for each in others)

    return fits
