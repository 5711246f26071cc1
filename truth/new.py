"""The skeleton of a blueprint: fields, ignored keys, classes, and a tree proposed from the live class."""

from __future__ import annotations

import keyword
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from truth import census, live
from truth.aliases import values
from truth.live import RefusedError
from truth.probe import hurry
from truth.propose import CLOSE, OPEN, Fitter, Module, build_random, fields_of, known_words, merge, restrict, values_of
from truth.trials import digest
from weighbridge.config.fields import Field, nested

KINDS = (
    ("CrossAttention", "cross_attention"),
    ("Attention", "self_attention"),
    ("MLP", "feed_forward"),
    ("FeedForward", "feed_forward"),
    ("FFN", "feed_forward"),
    ("Embedding", "embeddings"),
    ("Encoder", "encoder"),
    ("Decoder", "decoder"),
    ("Layer", "layer"),
    ("Block", "layer"),
    ("Head", "head"),
    ("Project", "projector"),
)
"""What a module is, by a piece of its live class's name."""

ARITHMETIC = ("heads", "kv_heads", "head_dim", "active")
"""Words that may change no tensor and still are told, since the arithmetic needs them."""

HEAD = '''"""{model_type}: TODO the paper's title and the one thing that is particular about it.

Source: TODO arXiv; names as in transformers {version}, models/{package}/modeling_{package}.py.
"""

from __future__ import annotations

{imports}

FIELDS = (
{fields}
)
IGNORED_KEYS = frozenset("{ignored}".split())

'''


def skeleton(model_type: str, seed: str = "new") -> str:
    """Return the source of a module that describes a type, as far as live classes tell it.

    Raises:
        RefusedError: None of its classes builds.
    """
    config = live.config_class(model_type)
    words = known_words()
    table = _whole_table(config, words)
    names, ignored = census.classes(model_type), _ignored_keys(model_type, table)
    ignored -= {one.key for one in table if one.word in ARITHMETIC}
    lists = [line for key, line in _lists(config) if key not in ignored]
    table = tuple(one for one in table if one.key not in ignored)
    functions: dict[str, str] = {}
    bodies = []
    for name in names:
        found = build_random(model_type, name, table, seed)
        if not found:
            bodies.append(f"# {name} does not build from random configs of these fields.\n")
            continue
        function = _function_name(name, model_type)
        bodies.append(_description(name, function, [model for _, model in found], table, functions))
        functions[name] = function
    if not functions:
        raise RefusedError(f"no class of {model_type} builds from random configs: {', '.join(names)}")
    body = "\n\n".join(bodies)
    if any(one.word == "kv_heads" for one in table):
        body = body.replace("attend(heads=c.heads, ", "attend(heads=c.heads, kv_heads=c.kv_heads, ")
    package = config.__module__.split(".")[-2]
    classes = ", ".join(f'"{name}": {function}' for name, function in functions.items())
    text = (
        HEAD.format(
            model_type=model_type,
            version=live.versions()["transformers"],
            package=package,
            imports=_imports(body, table, lists),
            fields="\n".join((*(_declaration(one) for one in table), *lists, *_implied_fields(body, table))),
            ignored=" ".join(sorted(ignored)),
        )
        + body
        + f'\n\nFAMILIES = {{"{model_type}": Family("{model_type}", FIELDS, {{{classes}}}, "{next(iter(functions))}", IGNORED_KEYS)}}\n'
    )
    return _format(re.sub(f"[{OPEN}{CLOSE}]", "", text))


def _whole_table(config: Any, words: dict[str, tuple[str, str, str]]) -> tuple[Field, ...]:
    inner = []
    for key, found in config.sub_configs.items():
        if found.__name__ != "AutoConfig":
            inner.append(nested(key.removesuffix("_config"), key, fields_of(found, words)))
    return (*fields_of(config, words), *inner)


def _implied_fields(body: str, table: tuple[Field, ...]) -> Iterator[str]:
    """Yield declarations of what a tree reads and no key of its own states: the width of a head, and the number of labels."""
    stated = {one.word for one in table}
    if "c.head_dim" in body and "head_dim" not in stated and stated >= {"hidden", "heads"}:
        yield '    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),'
    if "c.labels" in body and "labels" not in stated:
        yield "    LABELS,"


def _lists(config: Any) -> Iterator[tuple[str, str]]:
    """Yield the keys of a config class whose default is a list of whole numbers, each with its declaration; a recipe draws them."""
    for key, one in config.__dataclass_fields__.items():
        default = one.default_factory() if callable(one.default_factory) else one.default
        if isinstance(default, (list, tuple)) and default and all(type(entry) is int and entry > 0 for entry in default):
            yield (
                key,
                f'    numbers("{key}", "{key}", {tuple(default)}),  # TODO what is numbered up to {len(default) - 1} below may stand once for each',
            )


def _ignored_keys(model_type: str, table: tuple[Field, ...]) -> set[str]:
    """Return the keys of a config class that change no tensor of its first class, each tried alone."""
    name, config = census.classes(model_type)[0], live.config_class(model_type)
    found = build_random(model_type, name, table, "ignored")
    if not found:
        return set()
    raw, model = found[0]
    before = digest(live.listing(model))
    general = live.general_keys()
    candidates = [key for key in config.__dataclass_fields__ if key not in general and key not in config.sub_configs]
    return {key for key in candidates if not _matters(model_type, name, raw, key, getattr(model.config, key, None), before)}


def _matters(model_type: str, class_name: str, raw: dict[str, Any], key: str, value: Any, before: str) -> bool:
    """Say whether some other value of a key changes the tensors; one that the class never builds with may."""
    if isinstance(value, (str, float)):
        return False
    accepted = False
    for other in values(value):
        try:
            with hurry():
                after = digest(live.listing(live.build(model_type, class_name, {**raw, key: other})))
        except (RefusedError, TimeoutError):
            continue
        accepted = True
        if after != before:
            return True
    return not accepted and not key.endswith(("_token_id", "_index"))


def _declaration(one: Field) -> str:
    if one.kind == "nested":
        inner = "\n".join(_declaration(field) for field in one.fields)
        return f'    nested("{one.word}", "{one.key}", (\n{inner}\n    )),'
    if one.kind == "switch":
        return f'    switch("{one.word}", "{one.key}", {one.default}),'
    maker = "optional" if one.nullable else "size"
    return f'    {maker}("{one.word}", "{one.key}", {one.default}, "{one.letter}", "{one.meaning}"),'


def _function_name(class_name: str, model_type: str) -> str:
    """Return a name for the function of a class.

    >>> _function_name("BertForMaskedLM", "bert"), _function_name("BertModel", "bert")
    ('for_masked_lm', 'model')
    """
    plain = "".join(piece for piece in model_type if piece.isalnum()).lower()
    rest = class_name[len(plain) :] if class_name.lower().startswith(plain) else class_name
    made = "".join(f"_{c.lower()}" if c.isupper() and (i == 0 or not rest[i - 1].isupper()) else c.lower() for i, c in enumerate(rest))
    name = made.strip("_") or "model"
    return f"{name}_" if keyword.iskeyword(name) else name


def _description(class_name: str, function: str, models: Sequence[Any], table: tuple[Field, ...], known: dict[str, str]) -> str:
    sizes, switches = values_of(models, table)
    for one in table:
        if one.kind == "nested":
            inner_sizes, inner_switches = values_of([_Inner(model, one.key) for model in models], one.fields, f"c.{one.word}.")
            sizes, switches = sizes | inner_sizes, switches | inner_switches
    fitter = Fitter(sizes, switches)
    root = merge(models)
    shared = Shared(known, class_name)
    for _ in range(9):  # modules inside first: each round finds the classes whose insides are settled
        inside = _join(_children(root, fitter, shared))
        if not shared.settle():
            break
    functions = "".join(f"{one.source}\n\n" for one in shared.settled.values() if one.name in inside or shared.uses(one.name))
    return functions + f'def {function}(c: Config) -> Part:\n    """Describe {class_name}."""\n    return part("", {inside}kind="model")\n'


class Settled:
    """A class of modules that stands in several places: its function, and which of its sizes are arguments.

    Attributes:
        name: Of the function.
        pieces: The source between the sizes.
        constant: The sizes that are the same everywhere, by their place; the others are arguments.
        places: For each argument, the first place of it.
    """

    def __init__(self, kind: str, name: str, pieces: list[str], columns: list[tuple[str, ...]]) -> None:
        self.name, self.pieces = name, pieces
        varying = list(dict.fromkeys(column for column in columns if len(set(column)) > 1))
        words = ("width",) if len(varying) == 1 else tuple(f"size{number}" for number in range(1, len(varying) + 1))
        self.places = [columns.index(column) for column in varying]
        self.constant = {place: column[0] for place, column in enumerate(columns) if len(set(column)) == 1}
        sizes = [self.constant[place] if place in self.constant else words[varying.index(columns[place])] for place in range(len(columns))]
        body = pieces[0] + "".join(size + piece for size, piece in zip(sizes, pieces[1:], strict=True))
        self.config = "c." in body or "(c," in body
        arguments = ", ".join((*(("c: Config",) if self.config else ()), "name: str", *(f"{word}: Size" for word in words)))
        self.source = f'def {name}({arguments}) -> Part:\n    """Describe {kind}."""\n    return part(name, {body})\n'

    def call(self, name: str, pieces: list[str], sizes: list[str]) -> str | None:
        """Return the call that makes one of these modules, or None if this one is another."""
        if pieces != self.pieces or any(sizes[place] != size for place, size in self.constant.items()):
            return None
        arguments = "".join(f", {OPEN}{sizes[place]}{CLOSE}" for place in self.places)
        return f'{self.name}({"c, " if self.config else ""}"{name}"{arguments})'


class Shared:
    """Classes of modules that stand in several places of one model, each to be written once, as a function."""

    def __init__(self, known: dict[str, str], class_name: str) -> None:
        self.known = known
        self.class_name = class_name
        self.settled: dict[str, Settled] = {}
        self.found: dict[str, list[tuple[list[str], list[str]]]] = {}

    def write(self, kind: str, name: str, inside: str) -> str:
        """Return the source of a module: a call where its class is settled, else the whole, which is remembered."""
        split = re.split(f"{OPEN}(.*?){CLOSE}", inside)
        pieces, sizes = split[::2], split[1::2]
        if kind in self.settled:
            call = self.settled[kind].call(name, pieces, sizes)
            if call is not None:
                return call
        self.found.setdefault(kind, []).append((pieces, sizes))
        return f'part("{name}", {inside})'

    def settle(self) -> bool:
        """Make functions of the classes that stand in several places and hold no other such class; say whether there was one."""
        again = {
            kind: places
            for kind, places in self.found.items()
            if len(places) > 1 and kind not in self.settled and all(pieces == places[0][0] for pieces, _ in places)
        }
        self.found = {}
        if not again:
            return False
        shortest = min(len(places[0][1]) for places in again.values())
        for kind, places in again.items():
            if len(places[0][1]) == shortest:
                columns = list(zip(*(sizes for _, sizes in places), strict=True))
                self.settled[kind] = Settled(kind, _function_name(kind, _prefix(kind, self.class_name)), places[0][0], columns)
        return True

    def uses(self, name: str) -> bool:
        """Say whether one of the functions calls another."""
        return any(f"{name}(" in one.source for one in self.settled.values() if one.name != name)


def _prefix(kind: str, class_name: str) -> str:
    """Return what two classes of one model begin with.

    >>> _prefix("DacEncoderBlock", "DacModel"), _prefix("Snake1d", "DacModel")
    ('Dac', '')
    """
    same = next((at for at, (a, b) in enumerate(zip(kind, class_name, strict=False)) if a != b), 0)
    while same and not kind[same : same + 1].isupper():
        same -= 1
    return kind[:same]


class _Inner:
    """A model as its sub-config sees it."""

    def __init__(self, model: Any, key: str) -> None:
        self.config = getattr(model.config, key)


def _children(node: Module, fitter: Fitter, shared: Shared) -> Iterator[str]:
    """Yield the source of a module's tensors and of the modules in it; what holds no tensor is left out."""
    for name, shapes in node.tensors.items():
        role = "buffer" if name in node.buffers else "bias" if name.endswith("bias") else "weight"
        yield _if(f'Tensor("{name}", {_shape(shapes, fitter)}, "{role}"{_tie(node, name)})', set(shapes), node.held, fitter)
    for child in node.children.values():
        if _holds(child):
            yield from (_if(piece, child.held, node.held, fitter) for piece in _part(child, fitter, shared))
    if "Attention" in node.kind and sum(child.kind == "Linear" for child in node.children.values()) > 1:
        yield "attend(heads=c.heads, head_dim=c.head_dim)"


def _layers(node: Module, fitter: Fitter, shared: Shared) -> Iterator[str]:
    """Yield the source of a list of modules, one part for each kind of them, which stands where copies of it do."""
    kinds: dict[Any, dict[int, list[int]]] = {}
    for index, child in enumerate(node.children.values()):
        for number in sorted(child.held):
            kinds.setdefault(_names(child, number), {}).setdefault(number, []).append(index)
    if all(sum(number in places for places in kinds.values()) == 1 for number in node.held):
        # Each config has one kind of layers: what differs between configs hangs on a switch, not on the layer.
        kinds = {None: {number: indices for places in kinds.values() for number, indices in places.items()}}
    children, everywhere = list(node.children.values()), sorted(node.held)
    for places in kinds.values():
        first = restrict({number: children[indices[0]] for number, indices in places.items()})
        count = tuple(len(places.get(number, ())) for number in everywhere)
        inside = _leaf(first, fitter, "") + ", " if _leaf(first, fitter, "") else _join(_children(first, fitter, shared))
        kind = next((kind for piece, kind in KINDS if piece in first.kind), "layer")
        repeat = fitter.expression(count, everywhere) if len(kinds) == 1 else "TODO"
        if len(kinds) > 1:
            yield f"\n# at {'; '.join(str(places.get(number, [])) for number in everywhere)}\n"
        yield f'part("{node.name}", {inside}kind="{kind}", repeat={repeat})'


def _is_list(node: Module) -> bool:
    """Say whether a module is a list of which configs have more or less, or equal members."""
    children = list(node.children.values())
    if not children or node.tensors or not all(child.name.isdigit() and _holds(child) for child in children):
        return False
    return len(children) > 1 and all(_alike(children, number) for number in node.held)


def _alike(children: Sequence[Module], number: int) -> bool:
    """Say whether the members of a list that are of one kind have equal shapes in a config; stages, whose widths grow, have not."""
    shapes: dict[Any, Any] = {}
    return all(
        shapes.setdefault(_names(child, number), _signature(child, number)) == _signature(child, number)
        for child in children
        if number in child.held
    )


def _signature(node: Module, number: int) -> Any:
    """Return all shapes of a module in a config."""
    own = tuple((name, shapes[number]) for name, shapes in node.tensors.items() if number in shapes)
    return own, tuple((name, _signature(child, number)) for name, child in node.children.items() if number in child.held)


def _names(node: Module, number: int) -> Any:
    """Return what tells one kind of layer from another in a config: classes and names, not shapes."""
    tensors = tuple(name for name, shapes in node.tensors.items() if number in shapes)
    return node.kind, tensors, tuple((name, _names(child, number)) for name, child in node.children.items() if number in child.held)


def _holds(node: Module) -> bool:
    return bool(node.tensors) or any(_holds(child) for child in node.children.values())


def _part(node: Module, fitter: Fitter, shared: Shared) -> Iterator[str]:
    simple = _leaf(node, fitter, node.name)
    kind = next((kind for piece, kind in KINDS if piece in node.kind), "block")
    if simple:
        yield simple
    elif node.kind in shared.known:
        yield f'replace({shared.known[node.kind]}(c), name="{node.name}")'
    elif _is_list(node):
        yield from _layers(node, fitter, shared)
    else:
        yield shared.write(node.kind, node.name, f'{_join(_children(node, fitter, shared))}kind="{kind}"')


def _join(pieces: Iterable[str]) -> str:
    """Join pieces of source by commas; a comment among them stays on a line of its own."""
    return "".join(piece if piece.startswith("\n#") else f"{piece}, " for piece in pieces)


def _leaf(node: Module, fitter: Fitter, name: str) -> str:
    """Return the source of a module that the shared vocabulary has."""
    shapes = {key: fit for key, value in node.tensors.items() if (fit := _sizes(value, fitter))}
    bias = "" if "bias" in shapes and len(node.tensors["bias"]) == len(node.held) else ", bias=False"
    if "bias" in shapes and bias:
        bias = f", bias={fitter.condition(set(node.tensors['bias']), node.held)}"
    weight, tie = shapes.get("weight", []), _tie(node, "weight")
    if node.kind == "Linear" and len(weight) == 2:
        return f'linear("{name}", {weight[1]}, {weight[0]}{bias}{tie})'
    if node.kind == "Embedding" and len(weight) == 2:
        return f'embedding("{name}", {weight[0]}, {weight[1]}{tie})'
    if node.kind == "LayerNorm" and weight:
        return f'layer_norm("{name}", {weight[0]}{bias})'
    if node.kind == "GroupNorm" and list(shapes) == ["weight", "bias"]:
        return f'group_norm("{name}", {weight[0]})'
    if "RMSNorm" in node.kind and list(shapes) == ["weight"]:
        return f'rms_norm("{name}", {weight[0]})'
    if node.kind.startswith("BatchNorm") and weight:
        return f'batch_norm("{name}", {weight[0]})'
    if node.kind == "Conv2d" and len(weight) == 4:
        kernel = weight[2] if weight[2] == weight[3] else f"({weight[2]}, {weight[3]})"
        return f'conv2d("{name}", {weight[1]}, {weight[0]}, {kernel}{bias})'
    if node.kind == "Conv1d" and len(weight) == 3:
        return f'conv1d("{name}", {weight[1]}, {weight[0]}, {weight[2]}{bias})'
    return ""


def _sizes(shapes: dict[int, tuple[int, ...]], fitter: Fitter) -> list[str]:
    held = sorted(shapes)
    if len({len(shapes[i]) for i in held}) != 1:
        return []
    return [fitter.expression(tuple(shapes[i][axis] for i in held), held) for axis in range(len(shapes[held[0]]))]


def _shape(shapes: dict[int, tuple[int, ...]], fitter: Fitter) -> str:
    found = _sizes(shapes, fitter)
    return f"({', '.join(found)}{',' if len(found) == 1 else ''})"


def _tie(node: Module, name: str) -> str:
    return f', tied_to="{node.ties[name]}"' if name in node.ties else ""


def _if(text: str, held: set[int], of: set[int], fitter: Fitter) -> str:
    return text if held == of or text.startswith("\n#") else f"*(({text},) if {fitter.condition(held, of)} else ())"


def _imports(body: str, table: tuple[Field, ...], lists: Sequence[str]) -> str:
    makers = sorted(
        {"nested" if one.kind == "nested" else "switch" if one.kind == "switch" else "size" for one in table}
        | ({"optional"} if any(one.nullable for one in table) else set())
    )
    parts = [
        name
        for name in ("attend", "batch_norm", "conv1d", "conv2d", "embedding", "layer_norm", "linear", "part", "replace", "rms_norm")
        if f"{name}(" in body
    ]
    nodes = ["Part", *(["Tensor"] if "Tensor(" in body else [])]
    implied = "\n".join(_implied_fields(body, table))
    fields = [*(["LABELS"] if "LABELS" in implied else []), "Config", *(["derived"] if "derived" in implied else []), *makers]
    sizes = [*(["Size"] if ": Size" in body else []), *(["exact"] if "exact(" in implied else [])]
    return "\n".join(
        (
            *(["from weighbridge.blueprints.modules.convolutions import group_norm"] if "group_norm(" in body else []),
            *(["from weighbridge.blueprints.modules.stage_fields import numbers"] if lists else []),
            "from weighbridge.config.family import Family",
            f"from weighbridge.config.fields import {', '.join(fields)}",
            f"from weighbridge.core.parts import {', '.join(parts)}",
            *([f"from weighbridge.core.sizes import {', '.join(sizes)}"] if sizes else []),
            f"from weighbridge.core.tree import {', '.join(nodes)}",
        )
    )


def _format(text: str) -> str:
    """Return source as the formatter lays it out, or as it is where there is no formatter."""
    try:
        return subprocess.run(["ruff", "format", "-"], input=text, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return text
