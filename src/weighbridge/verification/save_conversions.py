"""Weight conversions that transformers reverses on save, for a class and the models inside it.

``published.json`` (written by ``python -m truth.published``) has, for each class, the models inside it, which name
of tied tensors is kept, and what is not saved; and for each class or model type the steps back.

Source: transformers 5.23.0, conversion_mapping.py (``get_model_conversion_mapping``) and core_model_loading.py (``WeightTransform``)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.blueprints import MODULES, family, is_remote
from weighbridge.blueprints.modules.composite import CAUSAL
from weighbridge.config.bind import find_sub_config
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from weighbridge.config.fields import Field
    from weighbridge.value import Description


class Inside(NamedTuple):
    """A model of the library inside another: where it stands, its class, its model type, and the class that holds it."""

    path: str
    class_name: str
    model_type: str
    holder: str = ""

    @property
    def is_bare(self) -> bool:
        """Whether the class that holds it held only its inside, as CLIP's own classes do: the files have no level for it."""
        stem = re.sub("(Text|Vision)Model$", "", self.class_name)
        return bool(self.holder) and self.holder.startswith(stem)


class Step(NamedTuple):
    """One conversion to reverse.

    Attributes:
        find: What is looked for in a name; one group for each of *sources*.
        sources: The patterns of memory that a conversion takes together.
        targets: What stands in their place in a file, where ``*`` is a number.
        by: What a conversion does to the tensors, each an operation and its dimensions; None only renames.
        scope: The path of the model inside that the step is about; None is the whole model.
        base: The prefix of the base model inside the class, with which names may begin.
        tower: Whether it puts a tower under a name of its own, which files of a class with its inside have not.
    """

    find: re.Pattern[str]
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    by: tuple[tuple[Any, ...], ...] | None
    scope: str | None = None
    base: str = ""
    tower: bool = False

    def apply(self, name: str) -> tuple[str, str] | None:
        """Return the new name and the pattern that was found, or None.

        >>> Step(re.compile("(?P<g0>mlp)"), ("mlp",), ("ffn",), None, "text").apply("text.0.mlp")
        ('text.0.ffn', 'mlp')
        """
        prefix = ""
        if self.scope is not None:
            scope, base = (f"{part}." if part else "" for part in (self.scope, self.base))
            fitting = [start for start in (base + scope, scope) if name.startswith(start)]
            if not fitting:
                return None
            prefix = fitting[0]
        rest = name.removeprefix(prefix)
        match = self.find.search(rest)
        if match is None:
            return None
        group = next(key for key, value in match.groupdict().items() if value is not None)
        target = self.targets[0]
        if r"\1" in target:
            target = target.replace(r"\1", match.group(self.find.groupindex[group] + 1))
        source = self.sources[int(group[1:])] if self.sources else ""
        return prefix + rest.replace(match.group(0), target, 1), source


def models(known: Description, class_name: str) -> Iterator[Inside]:
    """Yield a class and the models of the library inside it, outermost first, with the types that the config names."""
    own = known.family
    model_type = entry(class_name).get("as", own.model_type)  # some classes take the config of what is inside
    return _models(Inside("", class_name, model_type), own.fields, known.raw)


def _models(outer: Inside, fields: tuple[Field, ...], raw: Mapping[str, Any]) -> Iterator[Inside]:
    if outer.model_type in MODULES and not is_remote(outer.model_type) and outer.model_type not in _types():
        raise UsageError(
            Text(
                "how the files of {model_type} name their tensors is not recorded; the reference's own names are known",
                model_type=outer.model_type,
            )
        )
    yield outer
    for path, (key, class_name, model_type) in entry(outer.class_name).get("inside", {}).items():
        place = f"{outer.path}.{path}" if outer.path else path
        field = next((field for field in fields if field.kind == "nested" and field.key == key), None)
        if field is None:
            yield from _models(Inside(place, class_name, model_type, outer.class_name), () if key else fields, {} if key else raw)
            continue
        inner = find_sub_config(field, raw)
        if inner is None:
            continue
        if inner.model_type and inner.model_type != model_type:
            model_type, class_name = inner.model_type, _like(class_name, inner.model_type)
        yield from _models(Inside(place, class_name, model_type, outer.class_name), inner.fields, inner.raw)


def _like(class_name: str, model_type: str) -> str:
    """Return the class of another type that stands where *class_name* does: its causal language model, its backbone, or its base class."""
    known = family(model_type)
    endings = next((endings for endings in (CAUSAL, ("Backbone",)) if class_name.endswith(endings)), ())
    return next((name for name in known.classes if name.endswith(endings)), known.base) if endings else known.base


def steps(known: Description, class_name: str) -> list[Step]:
    """Return the steps of models inside each other; of two of a kind, where one holds the other, only the outer one's."""
    ways, found = _conversion_steps(), []
    base = entry(class_name).get("base", "")
    seen: dict[str, list[str]] = {}
    for one in models(known, class_name):
        key = one.class_name if one.class_name in ways else one.model_type
        if key not in ways or any(_is_within(one.path, seen.get(name, ())) for name in (one.class_name, key)):
            continue
        scope = one.path.removeprefix(base).removeprefix(".") if one.path else None
        found += [step._replace(scope=scope, base=base) for step in ways[key] if not (step.tower and one.is_bare)]
        for name in {one.class_name, key}:
            seen.setdefault(name, []).append(one.path)
    return found


def entry(class_name: str) -> dict[str, Any]:
    """Return what is recorded of a class; nothing, where nothing in it is saved under another name."""
    found: dict[str, Any] = _table()["models"].get(class_name, {})
    return found


def _is_within(path: str, outer: Iterable[str]) -> bool:
    return any(not other or path.startswith(other + ".") for other in outer)


@cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(__file__).parent / "published.json").read_text("utf-8"))
    return found


@cache
def _types() -> frozenset[str]:
    return frozenset(_table()["types"])


@cache
def _conversion_steps() -> dict[str, list[Step]]:
    told = _table()["steps"]
    return {key: [_step(one) for one in (told[found] if isinstance(found, str) else found)] for key, found in told.items()}


def _step(one: Mapping[str, Any]) -> Step:
    by = tuple(tuple(operation) for operation in one["by"]) if "by" in one else None
    return Step(re.compile(one["find"]), tuple(one.get("from", ())), tuple(one["to"]), by, tower=one.get("tower", False))
