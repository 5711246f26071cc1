"""Tensors as other tools print them: PyTorch's loop, torchinfo, Keras's ``model.summary()``, TensorFlow's list of variables.

What a style has no place for is said in the last lines, which begin with ``#``: tied tensors, buffers, shapes of outputs.

Source: torchinfo 1.8.0, ``formatting.py`` and ``layer_info.py``; Keras 3.15, ``utils/summary_utils.py``; tf_slim 1.1,
``model_analyzer.analyze_vars``; the loop over ``named_parameters()`` of hand-written articles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import UsageError
from weighbridge.core.escape import escape_invisible
from weighbridge.core.messages import Say, Text, mark, translator
from weighbridge.core.tree import Part, Row, Tensor, copy_name, positions
from weighbridge.documents.renderers.wrapping import measure
from weighbridge.verification.checkpoint_names import list_tensors

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

MOST = 200_000
"""Rows that are printed."""
UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
TORCH = {"linear": "Linear", "embedding": "Embedding", "layer_norm": "LayerNorm", "group_norm": "GroupNorm", "rms_norm": "RMSNorm"}
"""From the kind of a part to the class that PyTorch has for it."""
KERAS = {
    "linear": "Dense",
    "embedding": "Embedding",
    "layer_norm": "LayerNormalization",
    "group_norm": "GroupNormalization",
    "rms_norm": "RMSNormalization",
    "batch_norm": "BatchNormalization",
}
"""From the kind of a part to the class that Keras has for it."""


def print_tensors(model: ModelValue, style: str, names: str = "reference", lang: str = "en") -> str:
    """Return a model's tensors as another tool prints them.

    Args:
        model: Any model.
        style: ``torch``, ``torchinfo``, ``keras`` or ``tensorflow``.
        names: As for :func:`weighbridge.verification.checkpoint_names.list_tensors`.
        lang: The language of what is said beside it; the lines themselves are the tool's.

    Raises:
        UsageError: The style cannot say it: no such names, too many rows.

    >>> from weighbridge import model
    >>> print_tensors(model("bert-base-uncased"), "torch").splitlines()[0]
    'embeddings.word_embeddings.weight torch.Size([30522, 768]) parameters: 23440896'
    """
    if names != "reference" and style in ("torchinfo", "keras"):
        raise UsageError(Text("--style {style} lists modules, which have only the reference's own names", style=style))
    lines: list[str] = []
    say = translator(lang)
    own = _torch(model, names, say) if style == "torch" else STYLES[style](model, names)
    for line in (*own, *_remarks(model, style, say)):
        lines.append(line)
        if len(lines) > MOST:
            raise UsageError(Text("--style {style}: more than {most:,} rows", style=style, most=MOST))
    return "\n".join(lines) + "\n"


def _torch(model: ModelValue, names: str, say: Say = str) -> Iterator[str]:
    """Print what ``for name, p in model.named_parameters(): print(name, p.size(), 'parameters:', p.numel())`` does."""
    label = say("parameters:")
    for row in _parameters(model, names):
        if row.tied_to is None:
            yield f"{escape_invisible(row.name)} torch.Size([{', '.join(map(str, row.shape))}]) {label} {row.count}"


def _tensorflow(model: ModelValue, names: str) -> Iterator[str]:
    yield from ("---------", "Variables: name (type shape) [size]", "---------")
    total = 0
    for row in _parameters(model, "tensorflow" if names == "reference" else names):
        if row.tied_to is None:
            count = prod(int(str(size)) for size in row.shape)
            total += count
            shape = "x".join(map(str, row.shape))
            yield f"{escape_invisible(row.name)}:0 (float32_ref {shape}) [{count}, bytes: {4 * count}]"
    yield from (f"Total size of variables: {total}", f"Total bytes of variables: {4 * total}")


def _parameters(model: ModelValue, names: str) -> list[Row]:
    return [row for row in list_tensors(model, names) if row.role != "buffer"]


class _Module(NamedTuple):
    """One module that holds parameters, somewhere inside or of its own.

    Attributes:
        path, name: Its full name, and the last piece of it.
        depth: How deep it stands; 0 is the model.
        kind: The kind of its part; ``list`` for one that only holds numbered copies.
        tensors: Its own parameters.
    """

    path: str
    name: str
    depth: int
    kind: str
    tensors: tuple[Tensor, ...]

    @property
    def elements(self) -> int:
        """Parameters of its own, whether or not they are another's storage."""
        return sum(map(_size, self.tensors))

    @property
    def storages(self) -> dict[str, int]:
        """The size of each storage that it holds, by the full name of the tensor that owns it."""
        return {tensor.tied_to or f"{self.path}.{tensor.name}".lstrip("."): _size(tensor) for tensor in self.tensors}


def _size(tensor: Tensor) -> int:
    return prod(int(str(size)) for size in tensor.shape)


def _modules(part: Part, name: str, path: str = "", depth: int = 0) -> Iterator[_Module]:
    """Yield the modules of one copy of a part, the outer before the inner; those without parameters are not in a tree."""
    own = tuple(node for node in part.children if isinstance(node, Tensor) and node.role != "buffer")
    yield _Module(path, name, depth, part.kind, own)
    yield from _lines_of_children(part, path, depth)


def _lines_of_children(part: Part, path: str, depth: int) -> Iterator[_Module]:
    children = [node for node in part.children if isinstance(node, Part) and _holds(node)]
    for (name, repeated), run in groupby(children, key=lambda child: (child.name, child.repeat is not None)):
        found = list(run)
        if not repeated:
            for child in found:
                inner = f"{path}.{name}" if path and name else path or name
                yield from _modules(child, name, inner, depth + 1) if name else _without_wrapper(child, path, depth)
            continue
        copies = sorted((index, child) for child in found for index in positions(child))
        outer = _outer_name(name)
        here = f"{path}.{outer}" if path and outer else path or outer
        level = depth
        if outer:
            level += 1
            yield _Module(here, outer, level, "list", ())
        for index, child in copies:
            last = copy_name(name, index).rpartition(".")[2]
            yield from _modules(child, last, f"{here}.{last}" if here else last, level + 1)


def _without_wrapper(part: Part, path: str, depth: int) -> Iterator[_Module]:
    """Yield what stands in a part that adds no level to the names."""
    own = tuple(node for node in part.children if isinstance(node, Tensor) and node.role != "buffer")
    if own:
        yield _Module(path, path.rpartition(".")[2], depth, part.kind, own)
    yield from _lines_of_children(part, path, depth)


def _outer_name(name: str) -> str:
    return "" if not name or name.endswith("_") else name


def _holds(part: Part) -> bool:
    return any((isinstance(node, Tensor) and node.role != "buffer") or (isinstance(node, Part) and _holds(node)) for node in part.children)


def _torch_class(module: _Module) -> str:
    if module.kind == "list":
        return "ModuleList"
    weight = next((tensor for tensor in module.tensors if tensor.name == "weight"), None)
    if module.kind == "convolution" and weight is not None and len(weight.shape) > 2:
        return f"Conv{len(weight.shape) - 2}d"
    return TORCH.get(module.kind, "Module") if module.tensors else "Module"


def _torchinfo(model: ModelValue, names: str) -> Iterator[str]:
    """Print what ``summary(model, depth=99, row_settings=("var_names",))`` does, without modules that have no parameters."""
    root = model.class_name or "Module"
    modules = list(_modules(model.tree, root))
    titles = [escape_invisible(f"{root if module.depth == 0 else _torch_class(module)} ({module.name})") for module in modules]
    longest = max((len(title) + 5 * module.depth + 1 for title, module in zip(titles, modules, strict=True)), default=0)
    width = 40 if longest < 40 else -(-longest // 5) * 5
    rule = "=" * (width + 25)
    yield from (rule, f"{'Layer (type (var_name))':<{width}} {'Param #':<25}".rstrip(), rule)
    figures = _figures(modules)
    for title, module, figure in zip(titles, modules, figures, strict=True):
        frozen = bool(module.tensors) and all(tensor.frozen for tensor in module.tensors)
        shown = "--" if not figure else f"({figure:,})" if frozen else f"{figure:,}"
        start = "" if module.depth == 0 else "├─" if module.depth == 1 else "│    " * (module.depth - 1) + "└─"
        yield f"{start + title:<{width}} {shown}".rstrip()
    total = sum(figures)
    frozen_total = sum(_size(tensor) for module in modules for tensor in module.tensors if tensor.frozen)
    sums = (f"Total params: {total:,}", f"Trainable params: {total - frozen_total:,}", f"Non-trainable params: {frozen_total:,}")
    yield from (rule, *sums, rule)


def _figures(modules: Sequence[_Module]) -> list[int]:
    """Count each module as torchinfo does: one without others inside whole, one with others what these leave of its storages.

    So a tied weight counts in every module that has it, but once where one module holds both names of it.
    """
    figures = [0] * len(modules)
    for index in reversed(range(len(modules))):
        module = modules[index]
        inside = range(index + 1, next((at for at in range(index + 1, len(modules)) if modules[at].depth <= module.depth), len(modules)))
        storages = dict(module.storages)
        if module.tensors and len(inside):
            for at in inside:
                storages |= modules[at].storages
            figures[index] = max(sum(storages.values()) - sum(figures[at] for at in inside), 0)
        else:
            figures[index] = module.elements
    return figures


def _keras_class(module: _Module) -> str:
    weight = next((tensor for tensor in module.tensors if tensor.name == "weight"), None)
    if module.kind == "convolution" and weight is not None and len(weight.shape) > 2:
        return f"Conv{len(weight.shape) - 2}D"
    return KERAS.get(module.kind, "Layer")


def _keras(model: ModelValue, names: str) -> Iterator[str]:
    """Print what ``model.summary()`` prints of layers whose input is not known yet: a row for each that has parameters of its own."""
    rows = [
        (escape_invisible(f"{module.path or module.name} ({_keras_class(module)})"), module.elements)
        for module in _modules(model.tree, model.class_name)
        if module.tensors
    ]
    widths = max([measure(name) for name, _ in rows] + [12]), 12, max([len(f"{count:,}") for _, count in rows] + [7])
    tally = tally_of(model)
    frozen = int(str(tally.unique)) - int(str(tally.trainable))
    yield escape_invisible(f'Model: "{model.class_name or model.source}"')
    yield _rule("┏┳┓", "━", widths)
    yield _cells("┃", ("Layer (type)", "Output Shape", "Param #"), widths)
    yield _rule("┡╇┩", "━", widths)
    for number, (name, count) in enumerate(rows):
        if number:
            yield _rule("├┼┤", "─", widths)
        yield _cells("│", (name, "?", f"{count:,}"), widths)
    yield _rule("└┴┘", "─", widths)
    for title, amount in (("Total", tally.unique), ("Trainable", tally.trainable), ("Non-trainable", frozen)):
        yield f" {title} params: {amount:,} ({keras_bytes(4 * int(str(amount)))})"


def _rule(corners: str, line: str, widths: tuple[int, int, int]) -> str:
    return corners[0] + corners[1].join(line * (width + 2) for width in widths) + corners[2]


def _cells(edge: str, cells: tuple[str, str, str], widths: tuple[int, int, int]) -> str:
    name, shape, count = cells
    padded = name + " " * (widths[0] - measure(name)), f"{shape:<{widths[1]}}", f"{count:>{widths[2]}}"
    return f"{edge} " + f" {edge} ".join(padded) + f" {edge}"


def keras_bytes(size: float) -> str:
    """Write bytes as Keras does, in steps of 1024.

    >>> keras_bytes(4 * 109482240)
    '417.64 MB'
    """
    for unit in UNITS[:-1]:
        if size < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} {UNITS[-1]}"


STYLES: dict[str, Callable[[ModelValue, str], Iterator[str]]] = {
    "torch": _torch,
    "torchinfo": _torchinfo,
    "keras": _keras,
    "tensorflow": _tensorflow,
}
"""A style's lines, by its name."""


def _remarks(model: ModelValue, style: str, say: Say) -> Iterator[str]:
    """Yield notes on what the style cannot show."""
    tally = tally_of(model)
    tied, buffers = int(str(tally.duplicated)) - int(str(tally.unique)), int(str(tally.buffers))
    if style in ("torch", "tensorflow") and tied:
        yield "# " + say(mark("Tied tensors are listed once, under the name that owns them."))
    if style == "torchinfo":
        yield "# " + say(mark("A type says what a module is; its class may have another name. Modules without parameters are left out."))
        if tied:
            yield "# " + say(
                mark("Tied weights count under every name here, as torchinfo counts them; each once, they are {unique}.")
            ).format(unique=f"{tally.unique:,}")
    if style == "keras":
        yield "# " + say(mark("Shapes of outputs and layers without parameters are not known from a config; sizes are those of float32."))
        if tied:
            yield "# " + say(mark("Tied weights are shown in every layer that has them, and count once in the total."))
    if style == "tensorflow":
        yield "# " + say(mark("Types are those of float32 variables."))
    if buffers:
        yield "# " + say(mark("{buffers} elements are in buffers, not parameters, and are not listed.")).format(buffers=f"{buffers:,}")
