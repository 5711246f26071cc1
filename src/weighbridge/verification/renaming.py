"""From a published file's tensor names to a blueprint's: prefixes, old spellings, merged and split tensors.

The reference renames while it loads. Its own steps are recorded in ``conversions.json`` (written by
``truth/conversions.py``); beside them stand a few that hold for every architecture. A name that the blueprint
has is never renamed, so a step that does not apply does no harm.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

OLD = (
    ("LayerNorm.gamma", "LayerNorm.weight"),
    ("LayerNorm.beta", "LayerNorm.bias"),
    (".gamma", ".weight"),
    (".beta", ".bias"),
    (".kernel", ".weight"),
    (".scale", ".weight"),
    (".embedding", ".weight"),
    (".embeddings", ".weight"),
    (".weight_g", ".parametrizations.weight.original0"),
    (".weight_v", ".parametrizations.weight.original1"),
)
"""Endings of names in files older than the reference's present classes, and in those of Flax and Keras."""

OLD_ENDINGS = tuple(old for old, _ in OLD)

_SPLITS = tuple(
    (rf"\.{fused}\.(weight|bias)$", tuple(rf".{part}.\1" for part in parts))
    for fused in ("qkv_proj", "query_key_value", "c_attn", "Wqkv", "qkv", "in_proj", "attn_qkv_proj")
    for parts in (("q_proj", "k_proj", "v_proj"), ("query", "key", "value"), ("q", "k", "v"), ("q_lin", "k_lin", "v_lin"))
)
_MERGES = tuple(
    (rf"\.(?:{'|'.join(parts)})\.(weight|bias)$", (rf".{fused}.\1",))
    for parts, fused in (
        (("q_proj", "k_proj", "v_proj"), "qkv_proj"),
        (("query", "key", "value"), "query_key_value"),
        (("query", "key", "value"), "qkv"),
        (("q_proj", "k_proj", "v_proj"), "qkv"),
        (("gate_proj", "up_proj"), "gate_up_proj"),
        (("w1", "w3"), "gate_up_proj"),
    )
)
GENERAL: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\.experts\.\d+\.(?:gate_proj|up_proj|w1|w3)\.weight$", (".experts.gate_up_proj",)),
    (r"\.experts\.\d+\.(?:down_proj|w2)\.weight$", (".experts.down_proj",)),
    (r"\.gate_up_proj\.(weight|bias)$", (r".gate_proj.\1", r".up_proj.\1")),
    *_SPLITS,
    *_MERGES,
)
"""Merges and splits that hold for every architecture: what is looked for, and what stands in its place."""


class Step(NamedTuple):
    """One renaming: a pattern, and the one or several texts that take the place of what it finds."""

    pattern: re.Pattern[str]
    targets: tuple[str, ...]

    def apply(self, name: str) -> tuple[str, ...]:
        """Return the names that *name* becomes, or nothing if the pattern does not find anything.

        >>> Step(re.compile("w1"), ("a", "b")).apply("x.w1")
        ('x.a', 'x.b')
        """
        match = self.pattern.search(name)
        if match is None:
            return ()
        group = match.group(1) if self.pattern.groups else ""
        return tuple(name.replace(match.group(0), target.replace(r"\1", group or ""), 1) for target in self.targets)


class Naming(NamedTuple):
    """How a file's names become the blueprint's.

    Attributes:
        strip: A prefix the file has and the blueprint has not.
        add: A prefix the blueprint has and the file has not.
        renames: Steps from one name to one, all taken in order.
        conversions: Steps that merge or split tensors, of which the first that fits is taken.
    """

    strip: str = ""
    add: str = ""
    renames: tuple[Step, ...] = ()
    conversions: tuple[Step, ...] = ()


def choose_naming(
    keys: Iterable[str], names: list[str], expected: Container[str], first_pieces: Iterable[str], *, steps: tuple[Step, ...] = ()
) -> Naming:
    """Choose the naming by which most of a sample of *names* are found in *expected*.

    Args:
        keys: Model types and classes whose recorded steps apply.
        names: The file's names.
        expected: The blueprint's names.
        first_pieces: The blueprint's names again, to take prefixes from.
        steps: Renamings that the file's own format asks for, taken before the recorded ones.
    """
    renames, conversions = recorded_steps(keys)
    renames = (*(step for step in steps if len(step.targets) == 1), *renames)
    conversions = (*(step for step in steps if len(step.targets) > 1), *conversions)
    plain = Naming(renames=renames, conversions=conversions)
    sample = [tuple(dict.fromkeys(_spellings(name, plain))) for name in names[:: max(1, len(names) // 400)]]
    strips, adds = prefixes(spelling for spellings in sample for spelling in spellings), prefixes(first_pieces)
    rest = [spellings for spellings in sample if not any(text in expected for text in spellings)]  # the others no prefix can lose
    best, plainly = plain, len(sample) - len(rest)
    most = plainly
    alone = [plain._replace(strip=strip) for strip in strips] + [plain._replace(add=add) for add in adds]
    both = [plain._replace(strip=strip, add=add) for strip in strips for add in adds]
    for candidates in (alone, both):
        if 2 * most > len(sample):
            candidates = candidates if candidates is alone and most < len(sample) else []
        for candidate in candidates:
            found = plainly + _score(rest, candidate, expected)
            if found > most:
                best, most = candidate, found
    return best


def _score(names: list[tuple[str, ...]], candidate: Naming, expected: Container[str]) -> int:
    """Count the names, each in some spellings, that are found with a candidate's prefixes, merges and splits left aside."""
    strip, add = candidate.strip, candidate.add
    found = 0
    for spellings in names:
        for text in spellings:
            short = text.removeprefix(strip)
            if short in expected or (add and (add + text in expected or add + short in expected)):
                found += 1
                break
    return found


MOST_PREFIXES = 24
"""Prefixes that are tried."""


def prefixes(names: Iterable[str]) -> list[str]:
    """Return what one to three leading modules of *names* could be as a prefix, shortest first.

    >>> prefixes(["bert.encoder.layer.0.weight"])
    ['bert.', 'bert.encoder.', 'bert.encoder.layer.']
    """
    found: dict[str, None] = {}
    single = 0
    for name in names:
        pieces = name.split(".", 3)[:-1]
        for count, piece in enumerate(pieces, 1):
            if piece.isdigit():
                break
            prefix = ".".join(pieces[:count]) + "."
            single += count == 1 and prefix not in found
            found[prefix] = None
        if single == MOST_PREFIXES:
            break  # the longer ones come after them
    return sorted(found, key=lambda prefix: prefix.count("."))[:MOST_PREFIXES]


def resolve(name: str, naming: Naming, expected: Container[str]) -> tuple[str, ...]:
    """Return the blueprint's name for a file's tensor, several if it is split, or nothing.

    >>> resolve("encoder.LayerNorm.gamma", Naming(add="bert."), {"bert.encoder.LayerNorm.weight"})
    ('bert.encoder.LayerNorm.weight',)
    """
    if name in expected:
        return (name,)
    spellings = list(dict.fromkeys(_spellings(name, naming)))
    for spelling in spellings:
        if spelling in expected:
            return (spelling,)
        if naming.strip and (put := spelling.removeprefix(naming.strip)) in expected:
            return (put,)
        if naming.add and (put := naming.add + spelling) in expected:
            return (put,)
        if naming.strip and naming.add and (put := naming.add + spelling.removeprefix(naming.strip)) in expected:
            return (put,)
    for spelling in spellings:
        if not _is_found(_any_of(naming.conversions), spelling):
            continue
        for step in [step for step in naming.conversions if step.pattern.search(spelling) is not None]:  # most of forty find nothing
            for several in _with_prefixes(step.apply(spelling), naming):
                if all(target in expected for target in several):
                    return several
    return ()


_JOINED: dict[int, tuple[tuple[Step, ...], re.Pattern[str] | None]] = {}
"""Joined patterns by the identity of their steps, which stand beside them: to hash all steps takes longer than to look for them in a name."""


def _any_of(steps: tuple[Step, ...]) -> re.Pattern[str] | None:
    """Return one pattern that finds what any of the steps' does, or None if theirs cannot be joined."""
    found = _JOINED.get(id(steps))
    if found is None:
        if len(_JOINED) > 64:
            _JOINED.clear()
        found = _JOINED[id(steps)] = steps, _join(steps)
    return found[1]


def _join(steps: tuple[Step, ...]) -> re.Pattern[str] | None:
    sources = [step.pattern.pattern for step in steps]
    if any(re.search(r"\\\d|\(\?P", source) for source in sources):
        return None  # what refers to a group, or names one
    return re.compile("|".join(f"(?:{source})" for source in sources))


def _is_found(pattern: re.Pattern[str] | None, name: str) -> bool:
    return pattern is None or pattern.search(name) is not None


def _spellings(name: str, naming: Naming) -> Iterator[str]:
    """Yield the name, its modern ending, and what the recorded steps make of either."""
    yield name
    modern = name
    for old, new in OLD if name.endswith(OLD_ENDINGS) else ():
        if modern.endswith(old):
            modern = modern[: -len(old)] + new
            yield modern
            break
    for spelling in (name, modern) if modern is not name else (name,):
        if not naming.renames or not _is_found(_any_of(naming.renames), spelling):
            continue  # as of nearly all names of most files: no step changes it
        renamed = spelling
        for step in naming.renames:
            renamed = next(iter(step.apply(renamed)), renamed)
        yield renamed


def _with_prefixes(names: tuple[str, ...], naming: Naming) -> Iterator[tuple[str, ...]]:
    yield names
    stripped = tuple(name.removeprefix(naming.strip) for name in names)
    if naming.strip:
        yield stripped
    if naming.add:
        yield tuple(naming.add + name for name in names)
        if naming.strip:
            yield tuple(naming.add + name for name in stripped)


@cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(__file__).parent / "conversions.json").read_text("utf-8"))["steps"]
    return found


def recorded_steps(keys: Iterable[str]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return the steps recorded for model types or classes: renames, and merges and splits with the general ones.

    >>> [len(steps) > 0 for steps in recorded_steps(["mixtral"])]
    [True, True]
    """
    table = _table()
    renames: list[Step] = []
    conversions: list[Step] = []
    for key in dict.fromkeys(keys):
        steps = table.get(key, [])
        for step in table[steps] if isinstance(steps, str) else steps:
            target = conversions if "by" in step else renames
            target += [Step(re.compile(source), tuple(step["to"])) for source in step["from"]]
    conversions += [Step(re.compile(source), targets) for source, targets in GENERAL]
    return tuple(renames), tuple(conversions)
