"""What can be asked of a live class about a sentence: each check tries it on parameters and forward functions, and says true, false, or that it cannot tell."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, cast

from truth import live, rotary
from weighbridge.core.formula import Symbol
from weighbridge.core.tree import Attend, Part
from weighbridge.explain.section import Line, Section, lines
from weighbridge.explain.symbolic import symbolic

INDEX = re.compile(r"(^|\.)\d+(?=\.|$)")


class Said(NamedTuple):
    """A sentence, the place it is said of, and the live model."""

    ours: Any
    theirs: Any
    raw: dict[str, Any]
    place: Section | Line
    start: tuple[str, frozenset[int]]
    values: dict[str, Any]

    def paths(self) -> list[str]:
        """Return the modules of the place, repeats folded."""
        inside = [self.place] if isinstance(self.place, Line) else list(lines(self.place))
        return list(dict.fromkeys(path for line in inside for path in line.paths))

    def modules(self, *titles: str) -> list[Any]:
        """Return the live modules of the place, of one copy each kind; with *titles*, those of the lines called so."""
        inside = [self.place] if isinstance(self.place, Line) else list(lines(self.place))
        wanted = dict.fromkeys(path for line in inside for path, title in _paths_with_titles(line) if not titles or title in titles)
        own = {name: module for name, module in self.theirs.named_modules() if next(module.parameters(recurse=False), None) is not None}
        found = (self._first(path, own) for path in wanted)
        return [own[name] for name in found if name]

    def tensors(self) -> dict[str, Any]:
        """Return the live parameters of the place, of one copy each."""
        own = dict(self.theirs.named_parameters(remove_duplicate=False))
        owners: dict[str, list[str]] = {}
        for name in own:
            owners.setdefault(name.rpartition(".")[0], []).append(name)
        found: dict[str, Any] = {}
        for path in self.paths():
            tensor, module = self._first(path, own), self._first(path, owners)
            if tensor:
                found[tensor] = own[tensor]
            elif module:
                found |= {name: own[name] for name in owners[module]}
            else:  # a part whose tensors stand deeper
                deeper = [name for name in own if _pattern(path, whole=False).match(name) and self._stands_here(name)]
                found |= {name: own[name] for name in {INDEX.sub("", name): name for name in reversed(deeper)}.values()}
        return found

    def _first(self, path: str, names: Any) -> str:
        pattern = _pattern(path)
        return next((name for name in names if pattern.match(name) and self._stands_here(name)), "")

    def _stands_here(self, name: str) -> bool:
        path, indices = self.start
        match = re.match(_between(path) + r"\.(\d+)(?:\.|$)", name) if indices else None
        return match is None or int(match[1]) in indices


@cache
def _pattern(path: str, *, whole: bool = True) -> re.Pattern[str]:
    """Return what matches a path with the indices of layers in it."""
    return re.compile(_between(path) + r"(?:\.\d+)*" + ("$" if whole else r"\."))


def _between(path: str) -> str:
    return r"(?:\.\d+)*\.".join(map(re.escape, path.split(".")))


def _paths_with_titles(line: Line) -> Iterator[tuple[str, str]]:
    """Yield the modules of a line, each with what it is called: ``query, output`` is the title of two."""
    names = line.title.split(", ")
    yield from zip(line.paths, names, strict=True) if len(names) == len(line.paths) else ((path, line.title) for path in line.paths)


def outcome(said: Said, values: dict[str, int]) -> Any | None:
    """Build the live class with other values at key paths; None where it refuses."""
    raw = {**said.raw}
    for path, value in values.items():
        *outer, key = path.split(".")
        inside = raw
        for name in outer:
            inside[name] = dict(inside.get(name) or {})
            inside = inside[name]
        inside[key] = value
    try:
        return live.build(said.raw["model_type"], said.ours.class_name, raw)
    except live.RefusedError:
        return None


def size(said: Said) -> int:
    """Count the live parameters of a place, of one copy."""
    return sum(tensor.numel() for tensor in said.tensors().values())


def head_keys(said: Said) -> tuple[list[str], Attend | None]:
    """Return the keys of the numbers of heads of the attention of a place, and one of its attentions."""
    tree, _, _ = symbolic(said.ours)
    tops, keys, found = said.paths(), [], None
    for (path, ours), (_, theirs) in zip(_walk(said.ours.tree), _walk(tree), strict=True):
        if not any(top == path or top.startswith(f"{path}.") or path.startswith(f"{top}.") for top in tops):
            continue
        for a, b in zip(ours.children, theirs.children, strict=True):
            if isinstance(a, Attend) and isinstance(b, Attend):
                keys += [size.key for size in (b.heads, b.kv_heads) if isinstance(size, Symbol)]
                found = found or a
    return list(dict.fromkeys(keys)), found


def _walk(part: Part, path: str = "") -> Iterator[tuple[str, Part]]:
    yield path, part
    for child in part.children:
        if isinstance(child, Part):
            yield from _walk(child, f"{path}.{child.name}".strip(".") if child.name else path)


def with_heads(said: Said, *times: Fraction) -> list[int]:
    """Return how many parameters the place has as it is, and with so many times the heads, where the class builds that."""
    keys, attend = head_keys(said)
    if not keys or attend is None or not size(said):
        return []
    heads = int(str(attend.heads))
    width = heads * int(str(attend.head_dim))
    numbers = [heads, *(int(heads * factor) for factor in times if (heads * factor).denominator == 1 and width % int(heads * factor) == 0)]
    # What is compared has the same keys written: a sub-config that is there at all changes the defaults of some classes.
    found = (outcome(said, dict.fromkeys(keys, number)) for number in numbers)
    counts = [size(said._replace(theirs=other)) if other is not None else None for other in found]
    return [] if counts[0] is None else [count for count in counts if count is not None]


def heads_do_not_count(said: Said) -> bool | None:
    counts = with_heads(said, Fraction(2), Fraction(1, 2), Fraction(3), Fraction(1, 3))
    return len(set(counts)) == 1 if len(counts) > 1 else None


def heads_count(said: Said) -> bool | None:
    counts = with_heads(said, Fraction(2))
    return counts[1] > counts[0] if len(counts) > 1 else None


def shared_heads(said: Said) -> bool | None:
    """Keys come out as many times narrower than queries as heads are shared, in the live matrices."""
    heads, shared = _whole(said.values["heads"]), _whole(said.values.get("shared", "1"))
    rows = {title: sum(_outputs(module) for module in said.modules(title)) for title in ("query", "key")}
    if all(rows.values()):
        return rows["query"] * shared in (rows["key"] * heads, 2 * rows["key"] * heads)  # twice with a gate beside the queries
    stated = {value for holder in (*_configs(said.theirs), *said.theirs.modules()) for value in vars(holder).values() if type(value) is int}
    return heads in stated and (shared in stated or shared == 1)


def _configs(module: Any) -> list[Any]:
    found = {id(inner.config): inner.config for inner in module.modules() if hasattr(inner, "config")}
    return list(found.values())


def _outputs(module: Any) -> int:
    weight = getattr(module, "weight", None)
    if weight is None or weight.dim() != 2:
        return 0
    return int(weight.shape[1] if type(module).__name__ == "Conv1D" else weight.shape[0])


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


def normalizes(*, centred: bool, shift: bool) -> Callable[[Said], bool | None]:
    """Try each live norm on numbers: an equal amount added to all components goes away where it centres, and only there."""

    def check(said: Said) -> bool | None:
        torch = import_module("torch")
        seen = None
        for module in said.modules():
            own = dict(module.named_parameters(recurse=False))
            if len(own) != (2 if shift else 1):
                return False
            tried = _as_numbers(module)
            width = next(iter(own.values())).shape[-1]
            x = torch.linspace(-3, 5, 2 * width).reshape(2, width) ** 2
            try:
                with torch.no_grad():
                    out, moved = tried(x), tried(x + 100)
            except Exception:  # it takes more than a vector, such as a gate
                continue
            seen = bool(torch.allclose(out, moved, atol=2e-2)) == centred
            if not seen:
                return False
        return seen

    return check


def _as_numbers(module: Any) -> Any:
    """Return a copy of a live module on the CPU, with gains of 1 and shifts of 0."""
    torch = import_module("torch")
    # A copy of a module on the meta device has no numbers; all of them are given.
    tried = copy.deepcopy(module).to_empty(device="cpu").float()
    with torch.no_grad():
        for name, tensor in tried.named_parameters():
            tensor.fill_(0.0 if name.endswith("bias") else 1.0)
    return tried


def one_gain(said: Said) -> bool | None:
    return _vectors(said, 1)


def gain_and_shift(said: Said) -> bool | None:
    return _vectors(said, 2)


def _vectors(said: Said, number: int) -> bool | None:
    found = [list(module.parameters(recurse=False)) for module in said.modules()]
    return all(len(own) == number for own in found) if found else None  # one gain for each component may be a row for each head


def is_linear(*, bias: bool) -> Callable[[Said], bool | None]:
    def check(said: Said) -> bool | None:
        found = [sorted(tensor.dim() for tensor in module.parameters(recurse=False)) for module in said.modules()]
        return all(sizes == ([1, 2] if bias else [2]) for sizes in found) if found else None

    return check


def is_learned(said: Said) -> bool | None:
    found = said.tensors().values()
    return all(tensor.requires_grad for tensor in found) if found else None


def is_fixed(said: Said) -> bool | None:
    found = said.tensors().values()
    return not any(tensor.requires_grad for tensor in found) if found else None


def maps(inner: int) -> Callable[[Said], bool | None]:
    """So many maps lead to the inner width for each that leads back, by the elements of the live matrices."""

    def check(said: Said) -> bool | None:
        weights = {name: tensor for name, tensor in said.tensors().items() if tensor.dim() == 2}
        assert isinstance(said.place, Section)
        back = [_pattern(path, whole=False) for line in lines(said.place) if line.title == "down" for path in line.paths]
        down = sum(tensor.numel() for name, tensor in weights.items() if any(path.match(name) for path in back))
        return sum(tensor.numel() for tensor in weights.values()) == (inner + 1) * down if down else None

    return check


def rotates(said: Said) -> bool | None:
    inside = said.paths()
    for name, module in said.theirs.named_modules():
        folded = INDEX.sub("", name).strip(".")
        if folded and any(path.startswith(f"{folded}.") for path in inside) and rotary.rotates(cast(Hashable, type(module))):
            return True
    return False


def rotates_a_part(said: Said) -> bool | None:
    """It rotates, and as many dimensions as the frequencies of a rotary embedding have sines and cosines."""
    if not rotates(said):
        return False
    tables = [*said.theirs.named_buffers()]
    widths = {2 * table.numel() for name, table in tables if name.endswith("inv_freq") and table.dim() == 1}
    widths |= {table.shape[-1] for name, table in tables if name.endswith("embed_positions")}  # GPT-J's sines and cosines
    return _whole(said.values["part"]) in widths if widths else None


def has_experts(said: Said) -> bool | None:
    """So many experts stand in the live class, and its config or router says how many are picked."""
    number, active = _whole(said.values["experts"]), _whole(said.values["active"])
    stacked = any(number in tensor.shape[:1] or tensor.shape[0] % number == 0 for tensor in said.tensors().values())
    nn = import_module("torch").nn
    lists = [module for module in said.theirs.modules() if isinstance(module, (nn.ModuleList, nn.ModuleDict))]
    # An activation may be among them, which is no expert.
    listed = any(sum(next(one.parameters(), None) is not None for one in module.children()) == number for module in lists)
    holders = [*_configs(said.theirs), *said.theirs.modules()]
    picked = {value for holder in holders for value in vars(holder).values() if type(value) is int}
    named = any(f"Top{active}" in type(module).__name__ for module in said.theirs.modules())  # NllbMoeTop2Router has no other number
    return (stacked or listed) and (active in picked or named)


def is_stacked(said: Said) -> bool | None:
    """The first size of the array is a number of the config that is called after experts."""
    numbers = {value for config in _configs(said.theirs) for key, value in vars(config).items() if "expert" in key and type(value) is int}
    found = said.tensors().values()
    return all(tensor.dim() == 3 and tensor.shape[0] in numbers for tensor in found) if found else None


def is_compressed(said: Said) -> bool | None:
    """What is compressed is mapped to no more numbers than it is expanded from, and the rotary part of a key."""
    pairs = [(said.modules(f"{name}, compressed"), said.modules(f"{name}, expanded")) for name in ("key and value", "query")]
    found = [(down[0].weight.shape[0], up[0].weight.shape[1]) for down, up in pairs if down and up]
    return all(narrow >= used for narrow, used in found) if found else None


def only_linear(said: Said) -> bool | None:
    found = said.modules()
    return all(_outputs(module) and len(list(module.children())) == 0 for module in found) if found else None


def is_convolution(*, bias: bool) -> Callable[[Said], bool | None]:
    def check(said: Said) -> bool | None:
        found = [module for module in said.modules() if getattr(module, "weight", None) is not None]
        return all(module.weight.dim() > 2 and (module.bias is not None) == bias for module in found) if found else None

    return check


def hears_frames(said: Said) -> bool | None:
    bins = _whole(said.values["bins"])
    return any(bins in tensor.shape[1:] for tensor in said.tensors().values()) and any(
        bins in vars(c).values() for c in _configs(said.theirs)
    )


def layers_of_their_own(said: Said) -> bool | None:
    return _copies(said, lambda first, second: first is not second and first.shape == second.shape)


def _copies(said: Said, holds: Callable[[Any, Any], bool]) -> bool | None:
    """Hold the tensors of two copies of a repeated part against each other."""
    assert isinstance(said.place, Section)
    layer = re.compile(f"({_between(said.place.path)})" + r"\.\d+\.(.+)$")
    stands: dict[tuple[str, str], list[Any]] = {}
    for name, tensor in said.theirs.named_parameters(remove_duplicate=False):
        match = layer.match(name)
        if match and said._stands_here(name):
            stands.setdefault((match[1], match[2]), []).append(tensor)
    pairs = [found for found in stands.values() if len(found) > 1]
    return all(holds(found[0], found[1]) for found in pairs) if pairs else None


def convolves(*, wide: bool) -> Callable[[Said], bool | None]:
    def check(said: Said) -> bool | None:
        found = said.tensors().items()
        kernels = [tensor.shape[2:] for name, tensor in found if tensor.dim() > 2 and not name.endswith(("original0", "weight_g"))]
        return all(any(side > 1 for side in kernel) == wide for kernel in kernels) if kernels else None

    return check


def scores_words(said: Said) -> bool | None:
    vocabularies = {
        value for config in _configs(said.theirs) for key, value in vars(config).items() if "vocab" in key and type(value) is int
    }
    return all(tensor.shape[0] in vocabularies for tensor in said.tensors().values()) if said.tensors() else None


def is_cut_into_patches(said: Said) -> bool | None:
    """A convolution whose kernels do not overlap makes the vectors."""
    found = [module for module in said.modules() if hasattr(module, "kernel_size")]
    return all(module.kernel_size == module.stride for module in found) if found else None


def in_config(name: str) -> Callable[[Said], bool | None]:
    """Ask whether a number that a sentence gives stands in the live config."""

    def check(said: Said) -> bool | None:
        return _whole(said.values[name]) in {
            value for config in _configs(said.theirs) for value in vars(config).values() if type(value) is int
        }

    return check


def is_cached_compressed(said: Said) -> bool | None:
    """What a token leaves in the cache is the compressed vector and the rotary part of its key."""
    compressed = said.modules("key and value, compressed")
    return _whole(said.values["kept"]) == _outputs(compressed[0]) if compressed else None


CHECKS: dict[str, Callable[[Said], bool | None]] = {
    "The heads share the width, so any number of heads that divides it gives the same count.": heads_do_not_count,
    "The head dimension is set independently, so more heads mean more parameters.": heads_count,
    "All {heads} query heads share one key-value head: keys and values are mapped to one head only.": shared_heads,
    "{heads} query heads share {shared} key-value heads, {each} to each: keys and values are mapped to {shared} heads only.": shared_heads,
    "Positions enter by rotating queries and keys (rotary embeddings), which takes no parameters.": rotates,
    "Positions enter by rotating {part} of the {whole} dimensions of each query and key (rotary embeddings), which takes no parameters.": rotates_a_part,
    "Each vector is divided by its root mean square, then each component is multiplied by a learned gain.": normalizes(
        centred=False, shift=False
    ),
    "Each vector is centred and divided by its standard deviation, then each component is multiplied by a learned gain.": normalizes(
        centred=True, shift=False
    ),
    "Each vector is centred and divided by its standard deviation, then multiplied by learned gains and moved by learned shifts.": normalizes(
        centred=True, shift=True
    ),
    "One gain γ for each component, no shift.": one_gain,
    "One gain γ and one shift β for each component.": gain_and_shift,
    "Linear map without bias: inputs × outputs weights.": is_linear(bias=False),
    "Linear map: inputs × outputs weights, and one bias for each output.": is_linear(bias=True),
    "A table with one learned vector in each row.": is_learned,
    "Learned vectors.": is_learned,
    "Learned values that are added.": is_learned,
    "Learned factors.": is_learned,
    "A learned factor.": is_learned,
    "A learned vector.": is_learned,
    "One learned number for each relative position and head.": is_learned,
    "Fixed values: stored and counted, but not trained.": is_fixed,
    "One linear map widens to the inner width, one leads back; the activation between them has no parameters.": maps(1),
    "Gated: the input is mapped twice to the inner width, one result gates the other, and the product is mapped back: three maps, where a"
    " plain network has two.": maps(2),
    "A router scores {experts} experts for each token and picks {active}; all {experts} are stored, {active} are used.": has_experts,
    "A router scores {experts} experts for each token and picks 1; all {experts} are stored, 1 is used.": has_experts,
    "Of {experts} experts, {active} process a token; all {experts} are stored.": has_experts,
    "Of {experts} experts, 1 processes a token; all {experts} are stored.": has_experts,
    "The matrices of all experts in one array; its first size is the number of experts.": is_stacked,
    "Keys and values are compressed to one vector that all heads share, and expanded from it to each head.": is_compressed,
    "Queries too are compressed to a vector first, and expanded from it to the heads.": is_compressed,
    "Scores, softmax and the weighted sum have no parameters.": only_linear,
    "Convolution without bias: output channels × input channels of a group × kernel.": is_convolution(bias=False),
    "Convolution: output channels × input channels of a group × kernel, and one bias for each output channel.": is_convolution(bias=True),
    "Its input is a spectrogram, with {bins} mel bins in each frame.": hears_frames,
    "Layers of the same shape, each with parameters of its own.": layers_of_their_own,
    "Neighbouring positions are mixed by learned kernels.": convolves(wide=True),
    "Kernels of size 1: a linear map of each position separately.": convolves(wide=False),
    "Gives each token of the vocabulary a score (a logit).": scores_words,
    "An image is cut into patches, and one convolution maps each patch to a vector.": is_cut_into_patches,
    "A token sees at most {window} tokens (a sliding window), which saves cache and arithmetic, but no parameters.": in_config("window"),
    "Stored once, run {run} times: all runs share the parameters.": in_config("run"),
    "The cache keeps {kept} numbers for each token and layer, not the {whole} of all heads' keys and values.": is_cached_compressed,
    "A linear map of one vector that stands for the whole input.": only_linear,
}
"""By sentence, what is asked of the live class: True where it holds, False where not, None where this class cannot tell."""
