"""The source of a tree: one function for each live class, with what the shared vocabulary has and what the Fitter found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from truth import live
from truth.forward_lengths import place_streams, stream_argument
from truth.propose import ENOUGH, Fitter, Module, merge, restrict, values_of
from truth.repeated_modules import Shared
from truth.stage_loops import find_maps, stage_word, write_loop
from weighbridge.config.fields import Field

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


def describe(
    class_name: str,
    function: str,
    models: Sequence[Any],
    table: tuple[Field, ...],
    known: dict[str, str],
    facts: dict[str, str],
    watcher: Callable[[Any, int, Module], None] | None = None,
    keys: Iterable[str] = (),
) -> str:
    """Return the source of the function of a class, and of those that it needs.

    Args:
        class_name: Of the live class.
        function: What the function is to be called.
        models: The class, built from several configs.
        table: The fields of these configs.
        known: The functions that are there already, by the class that each describes.
        facts: Takes the declarations of what the tree asks for and no key states.
        keys: Of the configs' lists of whole numbers, one entry a stage.
        watcher: Runs a model and notes the positions that its modules see (:func:`truth.forward_lengths.watch`).
    """
    sizes, switches = values_of(models, table)
    for one in table:
        if one.kind == "nested":
            inner_sizes, inner_switches = values_of([_Inner(model, one.key) for model in models], one.fields, f"c.{one.word}.")
            sizes, switches = sizes | inner_sizes, switches | inner_switches
    lists = {f"c.{key}": tuple(tuple(live.value(model.config, key)) for model in models) for key in keys}
    for word, given in lists.items():  # outside of stages, the first and the last of them are there to be named
        sizes |= {f"{word}[{place}]": tuple(entries[place] for entries in given) for place in (0, -1)}
    fitter = Fitter(sizes, switches, facts, lists)
    root = merge(models)
    for number, model in enumerate(models[:ENOUGH]):
        if watcher:
            watcher(model, number, root)
    sides = {number: live.value(model.config, "image_size") or SIDE for number, model in enumerate(models)}
    image = "(c.image, c.image)" if "c.image" in fitter.values else f"({SIDE}, {SIDE})"
    maps = find_maps(root, fitter, sides, image) if lists and all(type(side) is int for side in sides.values()) else ""
    place_streams(root, fitter)
    shared = Shared(known, class_name)
    for _ in range(9):  # modules inside first: each round finds the classes whose insides are settled
        inside = _join(_children(root, fitter, shared))
        if not shared.settle():
            break
    functions = "".join(f"{one.source}\n\n" for one in shared.settled.values() if one.name in inside or shared.uses(one.name))
    if MAPS in known or "maps(c)" not in functions + inside:
        maps = ""
    elif maps:
        known[MAPS] = "maps"
    return (
        maps
        + functions
        + f'def {function}(c: Config) -> Part:\n    """Describe {class_name}."""\n    return part("", {inside}kind="model"{stream_argument(root)})\n'
    )


MAPS = "the maps behind stages"
"""Where it is noted that their function is written: no class has this name."""
SIDE = 224
"""The side of the image that :mod:`truth.forward` makes for a class without a size of its own."""


class _Inner:
    """A model as its sub-config sees it."""

    def __init__(self, model: Any, key: str) -> None:
        self.config = getattr(model.config, key)


def _children(node: Module, fitter: Fitter, shared: Shared) -> Iterator[str]:
    """Yield the source of a module's tensors and of the modules in it; what holds no tensor is left out."""
    for name, shapes in node.tensors.items():
        role = "buffer" if name in node.buffers else _role(node.kind, name, shapes)
        yield _if(f'Tensor("{name}", {_shape(shapes, fitter)}, "{role}"{_tie(node, name, fitter)})', set(shapes), node.held, fitter)
    for child in node.children.values():
        if _holds(child):
            yield from (_if(piece, _present(child), node.held, fitter) for piece in _part(child, fitter, shared))
    if "Attention" in node.kind and sum(child.kind == "Linear" for child in node.children.values()) > 1:
        causal = "" if not node.causal else f"causal={'True' if node.causal == node.held else fitter.condition(node.causal, node.held)}, "
        yield f"attend({causal}heads=c.heads, head_dim=c.head_dim)"


def _role(kind: str, name: str, shapes: dict[int, tuple[int, ...]]) -> str:
    """Say what a parameter is that no layer of torch holds, by its class, its name and its axes; those of length 1 do not count.

    >>> _role("Snake1d", "alpha", {0: (1, 8, 1)}), _role("LevitAttention", "attention_biases", {0: (4, 196)}), _role("ViT", "cls_token", {0: (1, 1, 8)})
    ('gain', 'embedding', 'embedding')
    >>> _role("Experts", "up", {0: (4, 8, 16)}), _role("Attention", "q_bias", {0: (8,)}), _role("CohereLayerNorm", "weight", {0: (4, 8)})
    ('weight', 'bias', 'gain')
    """
    axes = sum(any(size != 1 for size in sizes) for sizes in zip(*shapes.values(), strict=True)) if shapes else 0
    if "bias" in name:
        return "embedding" if axes > 1 else "bias"
    if any(piece in name for piece in ("token", "embed", "position", "quer", "latent")):
        return "embedding"
    if axes > 1 and "Norm" not in kind:
        return "weight"
    return "shift" if any(piece in name for piece in ("beta", "shift", "offset")) else "gain"


def _present(node: Module) -> set[int]:
    """Return the configs in which a module holds a tensor: a norm may be there and learn nothing."""
    own = {number for shapes in node.tensors.values() for number in shapes}
    return own.union(*(_present(child) for child in node.children.values()))


def _layers(node: Module, fitter: Fitter, shared: Shared) -> Iterator[str]:
    """Yield the source of a list of modules, one part for each kind of them, which stands where copies of it do."""
    kinds: dict[Any, dict[int, list[int]]] = {}
    apart = not all(_alike(list(node.children.values()), number) for number in node.held)
    for index, child in enumerate(node.children.values()):
        for number in sorted(child.held):
            kinds.setdefault((_names(child, number), apart and index == 0), {}).setdefault(number, []).append(index)
    if all(sum(number in places for places in kinds.values()) == 1 for number in node.held):
        # Each config has one kind of layers: what differs between configs hangs on a switch, not on the layer.
        kinds = {None: {number: indices for places in kinds.values() for number, indices in places.items()}}
    children, everywhere = list(node.children.values()), sorted(node.held)
    for places in kinds.values():
        first = restrict({number: children[indices[0]] for number, indices in places.items()})
        count = tuple(len(places.get(number, ())) for number in everywhere)
        place_streams(first, fitter, node.stream or node.outer)
        inside = _leaf(first, fitter, "") + ", " if _leaf(first, fitter, "") else _join(_children(first, fitter, shared))
        kind = next((kind for piece, kind in KINDS if piece in first.kind), "layer")
        run = len(kinds) > 1 and {tuple(range(at[0], at[0] + len(at))) == tuple(at) for at in places.values()} == {True}
        start = {at[0] for at in places.values()} if run else set()
        repeat = fitter.expression(count, everywhere) if len(kinds) == 1 or len(start) == 1 else "TODO"
        if len(start) == 1:
            repeat += f", indices=Every({start.pop()})"
        elif len(kinds) > 1:
            yield f"\n# at {'; '.join(str(places.get(number, [])) for number in everywhere)}\n"
        yield f'part("{node.name}", {inside}kind="{kind}", repeat={repeat}{stream_argument(node)})'


def _are_equal(node: Module) -> bool:
    """Say whether all members of a list are equal in each config."""
    return all(len({_signature(child, number) for child in node.children.values() if number in child.held}) < 2 for number in node.held)


def _is_list(node: Module) -> bool:
    """Say whether a module is a list of which configs have more or less, or equal members."""
    children = list(node.children.values())
    if not children or node.tensors or not all(child.name.isdigit() and _holds(child) for child in children):
        return False
    return len(children) > 1 and (
        all(_alike(children, number) for number in node.held)
        or (len(children) > 2 and all(_alike(children[1:], number) for number in node.held))
    )


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
    elif (word := stage_word(node, fitter)) and not _are_equal(node):
        yield write_loop(node, word, fitter, lambda stage, inner: _stage(stage, inner, shared, node.stream or node.outer))
    elif _is_list(node):
        yield from _layers(node, fitter, shared)
    else:
        yield shared.write(node.kind, node.name, f'{_join(_children(node, fitter, shared))}kind="{kind}"{stream_argument(node)}')


def _stage(stage: Module, fitter: Fitter, shared: Shared, outer: str) -> str:
    """Return the source of what is in a stage, or of the stage as a leaf."""
    place_streams(stage, fitter, outer)
    stage.name = ""
    if _is_list(stage):
        return _join(_layers(stage, fitter, shared)) + 'kind="stage"'
    return f'{_join(_children(stage, fitter, shared))}kind="stage"{stream_argument(stage)}'


def _join(pieces: Iterable[str]) -> str:
    """Join pieces of source by commas; a comment among them stays on a line of its own."""
    return "".join(piece if piece.startswith("\n#") else f"{piece}, " for piece in pieces)


def _leaf(node: Module, fitter: Fitter, name: str) -> str:
    """Return the source of a module that the shared vocabulary has."""
    shapes = {key: fit for key, value in node.tensors.items() if (fit := _sizes(value, fitter))}
    there, biased = set(node.tensors.get("weight", ())), set(node.tensors.get("bias", ()))
    bias = "" if biased == there else f", bias={fitter.condition(biased, there) if biased else False}"
    weight, tie = shapes.get("weight", []), _tie(node, "weight", fitter)
    stream = stream_argument(node)
    if node.kind == "Linear" and len(weight) == 2:
        return f'linear("{name}", {weight[1]}, {weight[0]}{bias}{tie}{stream})'
    if node.kind == "Embedding" and len(weight) == 2:
        return f'embedding("{name}", {weight[0]}, {weight[1]}{tie})'
    if node.kind == "LayerNorm" and weight:
        return f'layer_norm("{name}", {weight[0]}{bias}{stream})'
    if node.kind == "GroupNorm" and list(shapes) == ["weight", "bias"]:
        return f'group_norm("{name}", {weight[0]})'
    if "RMSNorm" in node.kind and list(shapes) == ["weight"]:
        return f'rms_norm("{name}", {weight[0]}{stream})'
    if node.kind.startswith("BatchNorm") and weight:
        return f'batch_norm("{name}", {weight[0]}{stream})'
    if node.kind == "Conv2d" and len(weight) == 4:
        kernel = weight[2] if weight[2] == weight[3] else f"({weight[2]}, {weight[3]})"
        return f'conv2d("{name}", {weight[1]}, {weight[0]}, {kernel}{bias}{stream})'
    if node.kind == "ConvTranspose1d" and len(weight) == 3:
        return f'conv_transpose1d("{name}", {weight[0]}, {weight[1]}, {weight[2]}, seen=TODO{bias})'
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


def _tie(node: Module, name: str, fitter: Fitter) -> str:
    """Return the argument that says whose storage a parameter is, and on which switch that hangs."""
    owners = node.ties.get(name)
    if not owners:
        return ""
    there = set(node.tensors[name])
    condition = "" if set(owners) == there else f" if {fitter.condition(set(owners), there)} else None"
    return f', tied_to="{next(iter(owners.values()))}"{condition}'


def _if(text: str, held: set[int], of: set[int], fitter: Fitter) -> str:
    return text if held == of or text.startswith("\n#") else f"*(({text},) if {fitter.condition(held, of)} else ())"
