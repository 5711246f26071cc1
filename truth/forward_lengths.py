"""How many positions the modules of a live class see in a forward pass: what a skeleton says about streams."""

from __future__ import annotations

from importlib import import_module
from math import prod
from typing import Any

from truth import forward
from truth.forward import Pass
from truth.propose import CLOSE, OPEN, Fitter, Module

LENGTHS = (16, 11)
"""Of the two texts that are passed: what is as long as these sees the tokens, what is the same for both does not."""
SURE = 3
"""Configs from which the positions of a module are taken."""
MULTIPLIED = ("Linear", "Conv2d")
"""Layers that cost arithmetic, so that not to know their positions counts."""


def watch(model: Any, number: int, root: Module) -> None:
    """Note in *root*, the tree of merged modules, how many positions each module of the model with this number sees; nothing if it does not run."""
    torch = import_module("torch")
    found: list[dict[str, int]] = []
    for length in LENGTHS:
        seen: dict[str, set[int]] = {}
        hooks = [module.register_forward_hook(_noter(seen, name)) for name, module in model.named_modules()]
        try:
            with model.device, torch.no_grad():
                model(**forward.inputs(model, Pass(1, length)))
        except Exception:  # whatever a forward may do without data
            return
        finally:
            for hook in hooks:
                hook.remove()
        found.append({name: next(iter(counts)) for name, counts in seen.items() if len(counts) == 1})
    for name in found[0].keys() & found[1].keys():
        node: Module | None = root
        for step in name.split("."):
            node = node.children.get(step) if node else None
        if node:
            node.seen[number] = (found[0][name], found[1][name])


def _noter(seen: dict[str, set[int]], name: str) -> Any:
    """Return a hook that notes the positions of what a module puts out."""

    def note(module: Any, _: Any, out: Any) -> None:
        shape = tuple(getattr(out, "shape", ()))
        kind = type(module).__name__
        if len(shape) == 4 and kind in ("Conv2d", "BatchNorm2d"):
            seen.setdefault(name, set()).add(prod(shape[2:]))
        elif shape and (kind == "Linear" or "LayerNorm" in kind or "RMSNorm" in kind):
            seen.setdefault(name, set()).add(prod(shape[:-1]))

    return note


def place_streams(node: Module, fitter: Fitter, outer: str = "") -> None:
    """Say at each module that sees other positions than the one around it how many: the whole of a part at once, where all in it agree."""
    inside = _streams(node, fitter)
    node.outer = outer
    if len(inside) == 1 and None not in inside and (only := inside.copy().pop()) != outer:
        node.stream = outer = only or ""
    for child in node.children.values():
        place_streams(child, fitter, outer)


def _streams(node: Module, fitter: Fitter) -> set[str | None]:
    """Return the streams of the layers in a module; the empty text for the tokens, None for what is not known."""
    if 0 < len(node.seen) < SURE:
        return set()  # a layer that few of the configs have
    if not node.children:
        found = _stream(node, fitter)
        return {found} if found is not None or node.kind in MULTIPLIED else set()
    return set[str | None]().union(*(_streams(child, fitter) for child in node.children.values()))


def _stream(node: Module, fitter: Fitter) -> str | None:
    pairs = [node.seen[number] for number in sorted(node.seen)]
    if not pairs:
        return None
    if all(pair == LENGTHS for pair in pairs):
        return ""
    if all(pair == (1, 1) for pair in pairs):
        return '"one"'
    if any(first != second for first, second in pairs):
        return None
    mapped = fitter.map_text({number: count for number, (count, _) in node.seen.items()})
    if mapped:
        return f"{OPEN}{mapped}{CLOSE}"
    text = fitter.plain(tuple(first for first, _ in pairs), sorted(node.seen))
    return None if "TODO" in text else f"{OPEN}{text}{CLOSE}"


def stream_argument(node: Module) -> str:
    """Return the argument that a part is given, if it sees other positions than its parent."""
    return f", stream={node.stream}" if node.stream else ""
