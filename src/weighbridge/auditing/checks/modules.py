"""Modules as ``print(model)`` shows them: ``(q_proj): Linear(in_features=768, ...)``. Its numbers are sizes, and never counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from weighbridge.auditing.checks.main_model import sizes_of
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import LEAST_MODULES, SMALLEST_WIDTH, SURE_MODULES
from weighbridge.blueprints import model_type_of
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark
from weighbridge.core.tree import list_rows
from weighbridge.presets.aliases import MODEL, preset_configs

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_SHOWN = pattern(
    r"\((?P<name>\w+)\): (?:\w*Linear\w*\(in_features=(?P<inner>\d+), out_features=(?P<outer>\d+)"
    r"|Conv1D\(nf=(?P<nf>\d+), nx=(?P<nx>\d+)|\w*Embedding\w*\((?P<rows>\d+), (?P<width>\d+)|\w*Norm\w*\(\(?(?P<norm>\d+),?\)?)"
)
_REPEATED = pattern(r"\((?P<first>\d{1,4})-(?P<last>\d{1,4})\): (?P<times>\d{1,4}) x \w+")
_CLASS = pattern(r"^[\s#>*]*(?:\(\w+\): )?([A-Z]\w*(?:Model|LM\w*|For[A-Z]\w*))\(\s*$")


class PrintedModule(NamedTuple):
    """A module as printed: its name, the sizes of its weight in ascending order, where it stands, and what goes in and comes out."""

    name: str
    sizes: tuple[int, ...]
    line: int
    start: int
    end: int
    inner: int
    outer: int


def check(scene: Scene) -> Iterator[Claim]:
    """Hold the sizes of printed modules against the model that is named, or else against the presets of the class printed."""
    yield from _check_repeats(scene)
    for block in printed_models(scene):
        model, named = _model(scene, block)
        own = shapes_by_module(model) if model is not None else {}
        for one in block:
            known = own.get(one.name)
            token = Token("num", "", one.line, one.start, one.end)
            if model is None or known is None:
                continue
            if one.sizes in known:
                yield claim(scene.lines, token, token, "component", "exact", value=max(one.sizes), expected=max(one.sizes), difference=0)
            elif (
                (named or _is_all_but_one(block, own))
                and (right := find_meant_shape(one.sizes, known)) is not None
                and _agreement(block, own) * 2 > len(block)
            ):
                wrong = next((size for size in one.sizes if size not in right), one.sizes[0])
                other = next((size for size in right if size not in one.sizes), right[0])
                reason = because(mark("in the model its shape is {shape}"), shape=Sentence("[" + ", ".join(map(str, right)) + "]"))
                facts: dict[str, object] = {"value": wrong, "expected": other, "difference": wrong - other, "reason": reason}
                yield claim(scene.lines, token, token, "component", "wrong", **facts)


def find_meant_shape(sizes: tuple[int, ...], known: frozenset[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the one shape of a module's name, or of several the one that differs by a slip of the keys in one size."""
    if len(known) == 1:
        return next(iter(known))
    near = [right for right in known if len(right) == len(sizes) and is_mistyped(sizes, right)]
    return near[0] if len(near) == 1 else None


def is_mistyped(sizes: Sequence[int], right: Sequence[int]) -> bool:
    """Tell whether a shape is another but for a slip of the keys in one of its sizes.

    >>> is_mistyped((768, 8072), (768, 3072))
    True
    """
    rest, meant = list(sizes), list(right)
    for size in sizes:
        if size in meant:
            rest.remove(size)
            meant.remove(size)
    return len(rest) == len(meant) == 1 and is_slip(str(rest[0]), str(meant[0]))


def _check_repeats(scene: Scene) -> Iterator[Claim]:
    """Hold how often a module is repeated against the indices printed beside it: ``(0-11): 12 x GPT2Block``."""
    for index, line in enumerate(scene.lines):
        for match in _REPEATED.finditer(line.text) if " x " in line.text else ():
            said, right = int(match["times"]), int(match["last"]) - int(match["first"]) + 1
            token = Token("num", "", index, *match.span("times"))
            verdict = "exact" if said == right else "wrong"
            reason = () if said == right else because(mark("should be {right}"), right=right)
            facts: dict[str, object] = {"value": said, "expected": right, "difference": said - right, "reason": reason}
            yield claim(scene.lines, token, token, "component", verdict, **facts)


def places(scene: Scene) -> frozenset[int]:
    """Return the lines that print modules: no number there is a count."""
    return frozenset(one.line for one in _printed_modules(scene)) | {
        i for i in scene.counted_lines if " x " in scene.lines[i].text and _REPEATED.search(scene.lines[i].text)
    }


def _printed_modules(scene: Scene) -> list[PrintedModule]:
    """Return the modules that lines print, one or many on a line."""
    found = []
    for index, line in enumerate(scene.lines):
        for match in _SHOWN.finditer(line.text) if "): " in line.text else ():
            numbers = [int(match[key]) for key in ("inner", "nx", "rows", "norm", "outer", "nf", "width") if match[key]]
            found.append(PrintedModule(match["name"], tuple(sorted(numbers)), index, *match.span(), numbers[0], numbers[-1]))
    return found


def printed_models(scene: Scene) -> list[list[PrintedModule]]:
    """Return the modules that stand together: one printed model each."""
    blocks: list[list[PrintedModule]] = []
    for one in _printed_modules(scene):
        if not blocks or one.line - blocks[-1][-1].line > _APART:
            blocks.append([])
        blocks[-1].append(one)
    return blocks


_APART = 12
"""Lines without a module that end one printed model."""


def _model(scene: Scene, block: Sequence[PrintedModule]) -> tuple[ModelValue | None, bool]:
    """Return the model that a block prints, and whether the text names it."""
    first = block[0].line
    model = scene.model_at(first, 0)
    if (
        model is not None
        and (scene.given or (scene.main is not None and scene.main.named))
        and _agreement(block, shapes_by_module(model)) >= LEAST_MODULES
    ):
        return model, True
    named = {m.name for found in scene.mentions.values() for m in found if m.kind == MODEL}
    only = preset_model(str(named.pop())) if model is None and len(named) == 1 and not scene.given else None
    if only is not None and _agreement(block, shapes_by_module(only)) >= LEAST_MODULES:
        return only, True  # ``from_pretrained("gpt2")`` below a heading that speaks of GPT
    classes = [match[1] for i in range(max(0, first - _APART), first + 1) if (match := _CLASS.search(scene.lines[i].text))]
    types = {model_type_of(name) for name in classes} - {None}
    best: tuple[int, ModelValue] | None = None
    printed = {size for one in block for size in one.sizes}
    for name, config in preset_configs().items():
        if config.get("model_type") not in types or sizes_of(config).get("hidden") not in printed:
            continue
        if (candidate := preset_model(name)) is not None:
            agreed = _agreement(block, shapes_by_module(candidate))
            if best is None or agreed > best[0]:
                best = (agreed, candidate)
    return (best[1], False) if best is not None and best[0] >= LEAST_MODULES else (None, False)


def _is_all_but_one(block: Sequence[PrintedModule], own: Mapping[str, frozenset[tuple[int, ...]]]) -> bool:
    """Tell whether a printed model that nothing names is a preset but for one module, and that is no table of words."""
    odd = [one for one in block if one.sizes not in own.get(one.name, ())]
    if len(odd) != 1 or len(block) <= SURE_MODULES:
        return False
    near = [right for right in own.get(odd[0].name, ()) if is_mistyped(odd[0].sizes, right)]
    meant = {size for right in near for size in right} - set(odd[0].sizes)
    words = _TABLES.search(odd[0].name) is not None and any(max(right) in meant for right in near)
    return min(meant, default=0) >= SMALLEST_WIDTH and not words  # no number of labels, nor of words: those are resized


_TABLES = pattern(r"emb|^w[tp]e$|head|^decoder$|^score$|classifier|^output")
"""Tables of words and positions, and maps onto words or labels."""


def _agreement(block: Sequence[PrintedModule], own: Mapping[str, frozenset[tuple[int, ...]]]) -> int:
    return sum(one.sizes in own.get(one.name, ()) for one in block)


@lru_cache(maxsize=256)
def shapes_by_module(model: ModelValue) -> Mapping[str, frozenset[tuple[int, ...]]]:
    """Return the shapes of a model's weights, sizes in ascending order, by the last name of their modules."""
    found: dict[str, set[tuple[int, ...]]] = {}
    for row in list_rows(model.tree):
        module, _, last = row.name.rpartition(".")
        if last in ("weight", "gamma"):
            found.setdefault(module.rpartition(".")[2], set()).add(tuple(sorted(int(size) for size in row.shape)))  # type: ignore[arg-type]
    return {name: frozenset(shapes) for name, shapes in found.items()}
