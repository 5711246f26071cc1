"""The quantization that a config says its published file has, and the scheme of ours that gives the same bytes, where there is one.

A scheme is taken only where every setting that moves a byte is one that it knows, and where the modules that the config leaves
alone are those that the scheme leaves alone. Whatever else a config says is told in words, and moves no figure.
"""

from __future__ import annotations

from weighbridge.accounts.memory.groups import grouped_bytes, tensors_in_groups
from weighbridge.accounts.memory.weights import GROUPS, HQQ, OwnedTensor, is_packed, owned_tensors
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.last import keep_last
from weighbridge.core.messages import Text
from weighbridge.core.tree import Part, Tensor, copy_name, list_rows, positions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from weighbridge.value import ModelValue

PUBLISHED = "published"
"""The scheme of a file that is packed in groups, each matrix as its group says."""

MOST_TENSORS = 100_000
"""The most tensors whose names are held against the modules that a config leaves alone."""


class Quantization(NamedTuple):
    """The quantization of a published file, as its config says.

    Attributes:
        method: In words, such as ``gptq, 4 bits, groups of 128``.
        scheme: The scheme with the same bytes; None where none has them, or where the config does not settle them.
        dtype: The type of what is not packed; None where there is no such scheme.
        weights: Bytes of the weights, where the file is packed in groups of its own (:mod:`~weighbridge.accounts.memory.groups`): then the scheme is
            :data:`PUBLISHED`.
    """

    method: Text
    scheme: str | None = None
    dtype: str | None = None
    weights: int | None = None


class Rule(NamedTuple):
    """What a config must say for a scheme to have its bytes.

    Attributes:
        scheme: The scheme.
        fixed: The values that each key may have; None is a key that may be absent.
        free: Keys that move no byte.
        skips: The key of the modules that are left alone; without one, none can be named.
        experts: Whether experts held in one tensor are packed by it.
        step: Of what outputs and inputs must be multiples, so that neither fusing nor transposing them changes a byte.
    """

    scheme: str
    fixed: Mapping[str, tuple[object, ...]]
    free: frozenset[str] = frozenset()
    skips: str | None = None
    experts: bool = False
    step: int = 1


_FP8 = {
    "quant_method": ("fp8",),
    "weight_block_size": ([128, 128],),
    "activation_scheme": ("dynamic", None),
    "fmt": ("e4m3", "float8_e4m3fn", None),
}
_BNB = {
    "quant_method": ("bitsandbytes", None),
    "bnb_4bit_quant_storage": ("uint8", None),
    "llm_int8_has_fp16_weight": (False, None),
}
_BNB_FREE = frozenset(
    "bnb_4bit_compute_dtype bnb_4bit_quant_type llm_int8_enable_fp32_cpu_offload llm_int8_threshold _load_in_4bit _load_in_8bit".split()
)
_FOUR = _BNB | {"load_in_4bit": (True,), "load_in_8bit": (False, None)}
_EIGHT = _BNB | {"load_in_8bit": (True,), "load_in_4bit": (False, None), "bnb_4bit_use_double_quant": (False, None)}
_GPTQ: dict[str, tuple[object, ...]] = {
    "quant_method": ("gptq",),
    "checkpoint_format": ("gptq", None),
    "is_marlin_format": (False, None),
    "lm_head": (False, None),
    "modules_in_block_to_quantize": (None,),
    "block_name_to_quantize": (None,),
    "dynamic": (None, {}),
}
_GPTQ_FREE = frozenset(
    "damp_percent dataset desc_act meta model_file_base_name model_name_or_path static_groups sym true_sequential".split()
)
_AWQ = {"quant_method": ("awq",), "bits": (4,), "zero_point": (True,), "version": ("gemm", "GEMM")}
_COMPRESSED: dict[str, tuple[object, ...]] = {
    "quant_method": ("compressed-tensors",),
    "targets": (["Linear"],),
    "output_activations": (None,),
    "kv_cache_scheme": (None,),
    "sparsity_config": (None, {}),
    "transform_config": (None, {}),
    "weights.dynamic": (False,),
    "weights.symmetric": (True,),
    "weights.block_structure": (None,),
    "weights.scale_dtype": (None,),
    "weights.actorder": (None, "weight", "static"),
}
_COMPRESSED_FREE = frozenset(
    "quantization_status global_compression_ratio version weights.observer weights.observer_kwargs weights.zp_dtype".split()
) | frozenset(
    f"input_activations.{key}"
    for key in "actorder block_structure group_size num_bits observer observer_kwargs scale_dtype strategy symmetric type zp_dtype".split()
)
_PACKED = _COMPRESSED | {"format": ("pack-quantized",), "weights.num_bits": (4,), "weights.type": ("int",), "weights.strategy": ("group",)}
_NVFP4 = _COMPRESSED | {
    "format": ("nvfp4-pack-quantized",),
    "weights.num_bits": (4,),
    "weights.type": ("float",),
    "weights.strategy": ("tensor_group",),
    "weights.group_size": (16,),
    "weights.scale_dtype": (None, "torch.float8_e4m3fn"),
}
_CHANNEL = _COMPRESSED | {
    "weights.num_bits": (8,),
    "weights.strategy": ("channel",),
    "weights.group_size": (None,),
    "input_activations.dynamic": (True, None),
}
_HQQ = {
    "quant_method": ("hqq",),
    "weight_quant_params.channel_wise": (True,),
    "weight_quant_params.view_as_float": (False, None),
    "scale_quant_params": (None,),
    "zero_quant_params": (None,),
    "offload_meta": (False, None),
}
_HQQ_FREE = frozenset(f"weight_quant_params.{key}" for key in ("axis", "optimize", "round_zero"))

RULES = (
    Rule("fp8-block", _FP8, skips="modules_to_not_convert", experts=True, step=256),
    Rule("mxfp4-experts", {"quant_method": ("mxfp4",)}, skips="modules_to_not_convert", experts=True, step=32),
    Rule("bnb-4bit", _FOUR | {"bnb_4bit_use_double_quant": (False, None)}, _BNB_FREE, "llm_int8_skip_modules"),
    Rule("bnb-4bit-double", _FOUR | {"bnb_4bit_use_double_quant": (True,)}, _BNB_FREE, "llm_int8_skip_modules"),
    Rule("bnb-8bit", _EIGHT, _BNB_FREE, "llm_int8_skip_modules"),
    *(
        rule
        for group, suffix in ((128, ""), *((size, f"-g{size}") for size in GROUPS))
        for rule in (
            Rule(f"gptq-4bit{suffix}", _GPTQ | {"bits": (4,), "group_size": (group,)}, _GPTQ_FREE, step=group),
            Rule(f"gptq-8bit{suffix}", _GPTQ | {"bits": (8,), "group_size": (group,)}, _GPTQ_FREE, step=group),
            Rule(f"awq-4bit{suffix}", _AWQ | {"group_size": (group,)}, skips="modules_to_not_convert", step=group),
            Rule(f"w4a16{suffix}", _PACKED | {"weights.group_size": (group,)}, _COMPRESSED_FREE, "ignore", step=group),
        )
    ),
    Rule("nvfp4", _NVFP4 | {"input_activations": (None,)}, _COMPRESSED_FREE, "ignore", step=16),
    Rule("nvfp4-w4a4", _NVFP4 | {"input_activations.dynamic": ("local", False)}, _COMPRESSED_FREE, "ignore", step=16),
    *(
        Rule(
            f"hqq-{width}bit{'' if group == 64 else f'-g{group}'}",
            _HQQ | {"weight_quant_params.nbits": (width,), "weight_quant_params.group_size": (group,)},
            _HQQ_FREE,
            "skip_modules",
            step=group,
        )
        for width, group in HQQ
    ),
    Rule("w8a8", _CHANNEL | {"format": ("int-quantized",), "weights.type": ("int",)}, _COMPRESSED_FREE, "ignore", step=8),
    Rule("fp8-channel", _CHANNEL | {"format": ("float-quantized",), "weights.type": ("float",)}, _COMPRESSED_FREE, "ignore", step=8),
)
"""By which scheme each method's files are packed; group scales, zeros and names as in the sources of the schemes."""


@keep_last
def quantization_of(model: ModelValue) -> Quantization | None:
    """Return the quantization that a model's config states; None where it states none.

    >>> from weighbridge import model
    >>> said = {"quantization_config": {"quant_method": "gptq", "bits": 3, "group_size": 64}}
    >>> quantization_of(model({"model_type": "llama", **said}))
    Quantization(method='gptq, 3 bits, groups of 64', scheme=None, dtype=None, weights=None)
    """
    if model.kind != "config" or model.description is None:
        return None
    raw = model.description.raw
    said = _find_settings(raw)
    if not said:
        return None
    top = _flatten_settings(said) if raw.get("quantization_config") is said else {}  # what a part of a model says holds for that part alone
    rule = next((rule for rule in RULES if _agrees(rule, top)), None)
    dtype = _rest(raw, rule)
    if rule is None or dtype is None or not _packs_same_modules(model, rule, top):
        in_groups = None if dtype is None or raw.get("quantization_config") is not said else grouped_bytes(model, said, dtype)
        return Quantization(_in_words(said), *(() if in_groups is None else (PUBLISHED, dtype, in_groups)))
    return Quantization(_in_words(said), rule.scheme, dtype)


def published_tensors(model: ModelValue) -> list[tuple[OwnedTensor, int | None]]:
    """Return every parameter of a model whose file is packed in groups, and the bytes that its group packs it in, None where none does."""
    assert model.description is not None
    return tensors_in_groups(model, _find_settings(model.description.raw)) or []


def _find_settings(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the config, or of its language model's; none where there are none."""
    text = raw.get("text_config")
    for config in (raw, text if isinstance(text, dict) else {}):
        found = config.get("quantization_config")
        if isinstance(found, dict) and found:
            return found
    return {}


def _flatten_settings(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings, those of the one group of compressed-tensors beside the others: ``weights.num_bits``, ``targets``."""
    if said.get("quant_method") == "hqq":
        return {**_without(said, "quant_config"), **_inside(said.get("quant_config"), "weight_quant_params")}
    groups = said.get("config_groups")
    if said.get("quant_method") != "compressed-tensors" or not isinstance(groups, dict) or len(groups) != 1:
        return said
    found = {key: value for key, value in said.items() if key != "config_groups"}
    for key, value in next(iter(groups.values())).items() if isinstance(next(iter(groups.values())), dict) else ():
        nested = key in ("weights", "input_activations") and isinstance(value, dict)
        if key == "format" and value == found.get("format", value):
            found["format"] = value
        else:
            found |= {f"{key}.{name}": inner for name, inner in value.items()} if nested else {f"{key}": value}
    return found


def _without(said: Mapping[str, Any], left_out: str) -> dict[str, Any]:
    return {key: value for key, value in said.items() if key != left_out}


def _inside(said: object, nested: str) -> dict[str, Any]:
    """Return settings, those of one key under names with a dot: ``weight_quant_params.nbits``."""
    if not isinstance(said, dict) or not isinstance(said.get(nested), dict):
        return {}
    return _without(said, nested) | {f"{nested}.{key}": value for key, value in said[nested].items()}


def _agrees(rule: Rule, said: Mapping[str, Any]) -> bool:
    known = rule.fixed.keys() | rule.free | {rule.skips}
    same = all(any(_is_same(said.get(key), value) for value in values) for key, values in rule.fixed.items())
    return bool(said) and same and known >= {key for key, value in said.items() if value is not None}


def _is_same(found: object, value: object) -> bool:
    return type(found) is type(value) and found == value


def _rest(raw: Mapping[str, Any], rule: Rule | None) -> str | None:
    """Return the type of what is not packed."""
    said = raw.get("dtype") or raw.get("torch_dtype")
    if said is None and rule is not None and rule.scheme == "mxfp4-experts":
        return "bfloat16"  # gpt-oss states none; its published files hold the rest in it
    return said if said in ("bfloat16", "float16") else None


def _packs_same_modules(model: ModelValue, rule: Rule, said: Mapping[str, Any]) -> bool:
    """Say whether the scheme packs exactly the modules that the config has packed."""
    if rule.scheme == "mxfp4-experts":
        left = _names(said.get("modules_to_not_convert"))
        return model.model_type == "gpt_oss" and left is not None and not any("experts" in name for name in left)
    if not model.class_name.endswith("ForCausalLM") or _has_towers(model):
        return False  # other classes have maps outside their layers
    for entry in owned_tensors(model.tree):
        if is_packed(entry, rule.scheme) and not _divides(entry, rule):
            return False
    return _skips_same_modules(model.tree, rule, said.get(rule.skips) if rule.skips else None)


def _has_towers(model: ModelValue) -> bool:
    raw = model.description.raw if model.description is not None else {}
    return any(key.endswith("_config") and key not in ("text_config", "quantization_config") for key in raw)


def _divides(entry: OwnedTensor, rule: Rule) -> bool:
    fused = len(entry.tensor.shape) > 2
    if fused and not rule.experts:
        return False
    free = rule.scheme == "fp8-block" and not fused  # its blocks at the edges are filled up, which the scheme does too
    return free or all(isinstance(size, int) and size % rule.step == 0 for size in entry.tensor.shape[-2:])


def _skips_same_modules(tree: Part, rule: Rule, skips: object) -> bool:
    """Say whether the modules that the config leaves alone are those that the scheme leaves alone."""
    left = _names(skips)
    if left is None:
        return False
    try:
        rows = list(list_rows(tree, MOST_TENSORS))
    except UsageError:
        return False
    names = [row.name for row in rows]
    if rule.skips in HEADS_TOO and any(row.tied_to and not (left and row.name.removesuffix(".weight").endswith(left)) for row in rows):
        return False  # these pack a tied head that they are not told to leave alone, beside the table
    known, heads = _starts(names), _starts(left)
    if not all(name in known or any(other.endswith("." + name) for other in known) for name in left):
        return False  # a name for something that this tree calls otherwise
    for name, entry in _modules(tree):
        left_alone = name.endswith(left) or not _starts((name,)).isdisjoint(left) if left else False
        if is_packed(entry, rule.scheme):
            if left_alone or name in heads:
                return False
        elif entry.part.kind == "linear" and not entry.inside and not left_alone and (left or not _leaves_head(entry, rule)):
            return False
    return True


def _leaves_head(entry: OwnedTensor, rule: Rule) -> bool:
    """Say whether a map outside the layers is a head that the method leaves alone without being told."""
    return entry.part.name == "lm_head" and rule.skips not in HEADS_TOO


HEADS_TOO = ("ignore", "skip_modules")
"""How methods call the modules that are left alone which pack a head too where it is not among them: compressed-tensors and HQQ."""


def _names(skips: object) -> tuple[str, ...] | None:
    """Return names of modules; None where they are patterns, or no names at all."""
    if skips is None:
        return ()
    if not isinstance(skips, list) or not all(isinstance(name, str) and name for name in skips):
        return None
    patterns = any(not all(letter.isalnum() or letter in "._-*" for letter in name) for name in skips)
    return None if patterns else tuple(dict.fromkeys(skips))


def _starts(names: tuple[str, ...] | list[str]) -> set[str]:
    """Return the names and everything above them."""
    found = set()
    for name in names:
        while name and name not in found:
            found.add(name)
            name = name.rpartition(".")[0]
    return found


def _modules(part: Part, path: str = "", inside: bool = False) -> Iterator[tuple[str, OwnedTensor]]:
    """Yield every matrix that owns its storage with the name of its module, repeats unrolled."""
    for node in part.children:
        if isinstance(node, Tensor) and node.tied_to is None and node.role == "weight":
            yield path, OwnedTensor(node, 1, part, inside)
        elif isinstance(node, Part):
            above = f"{path}." if path and node.name else path
            if node.repeat is None:
                yield from _modules(node, above + node.name, inside)
            else:
                for index in positions(node):
                    yield from _modules(node, above + copy_name(node.name, index), True)


def published_bits(model: ModelValue) -> int:
    """Return the fewest bits in which the published file may hold a weight: 16 where its config states no quantization.

    Where the config names a method whose bits it does not state, it is 1, which no method goes below.

    >>> from weighbridge import model
    >>> [published_bits(model("llama-3.2-1b", overrides={"quantization_config": {"quant_method": "gptq", "bits": bits}})) for bits in (8, 3)]
    [8, 3]
    """
    said = _find_settings(model.description.raw) if model.description is not None else {}
    if model.description is None or not said:
        return 16
    apart = (
        config.get("expert_dtype")
        for config in (model.description.raw, model.description.raw.get("text_config"))
        if isinstance(config, dict)
    )
    found = [*_stated_bits(said), *(BITS[word] for word in (*_words(said), *apart) if isinstance(word, str) and word in BITS)]
    return max(1, min(16, *found)) if found else 1


BITS = {"fp8": 8, "fp4": 4, "nvfp4": 4, "w4a16_awq": 4, "w4a8_awq": 4, "mxfp4": 4, "mxfp8": 8, "fbgemm_fp8": 8}
"""Bits of the methods and algorithms whose name says them."""


def _stated_bits(said: Mapping[str, Any]) -> Iterator[int]:
    """Yield every number of bits of weights that is stated anywhere inside the settings."""
    for key, value in said.items():
        if key in ("bits", "num_bits", "nbits", "w_bit") and _is_size(value):
            yield value
        elif key in ("load_in_4bit", "load_in_8bit") and value is True:
            yield int(key[len("load_in_")])
        elif isinstance(value, dict) and key not in ("input_activations", "output_activations", "kv_cache_scheme"):
            yield from _stated_bits(value)


def _words(said: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of methods and algorithms that are stated anywhere inside the settings."""
    for key, value in said.items():
        if key in ("quant_method", "quant_algo") and isinstance(value, str):
            yield value.lower()
        elif isinstance(value, dict):
            yield from _words(value)


def _in_words(said: Mapping[str, Any]) -> Text:
    """Say a quantization in words: its method, bits and groups, as far as the config tells them plainly."""
    method = (
        said.get("quant_method") or said.get("quant_algo") or ("bitsandbytes" if "load_in_4bit" in said or "load_in_8bit" in said else "")
    )
    name = method[:40] if isinstance(method, str) and method.replace("-", "").replace("_", "").isalnum() else "?"
    weights = _weights_of(said)
    width, group, block = (
        next((weights[key] for key in ("bits", "num_bits", "nbits") if key in weights), None),
        weights.get("group_size"),
        weights.get("weight_block_size"),
    )
    if width is None and said.get("load_in_4bit") is True:
        width = 4
    if width is None and (said.get("load_in_8bit") is True or method == "fp8"):
        width = 8
    if not _is_size(width):
        return Text(name)
    if _is_size(group):
        return Text("{method}, {bits} bits, groups of {group}", method=name, bits=width, group=group)
    if isinstance(block, list) and len(block) == 2 and all(map(_is_size, block)):
        return Text("{method}, {bits} bits, blocks of {rows} × {columns}", method=name, bits=width, rows=block[0], columns=block[1])
    return Text("{method}, {bits} bits", method=name, bits=width)


def _weights_of(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of the weights: those of the one group, where a config has groups."""
    if said.get("quant_method") == "hqq":
        inner = said.get("quant_config")
        own = inner.get("weight_quant_params") if isinstance(inner, dict) else None
        return own if isinstance(own, dict) else {}
    groups = said.get("config_groups")
    if not isinstance(groups, dict):
        return said
    only = next(iter(groups.values()), None) if len(groups) == 1 else None
    found = only.get("weights") if isinstance(only, dict) else None
    return found if isinstance(found, dict) else {}


def _is_size(value: object) -> bool:
    return type(value) is int and 0 < value < 1 << 31
