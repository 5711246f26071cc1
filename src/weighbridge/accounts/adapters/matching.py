"""Which modules an adapter adapts: lists, regular expressions, exclusions, layers, ``all-linear``.

Source: huggingface/peft 0.21.2, tuners/tuners_utils.py (check_target_module_exists, _maybe_include_all_linear_layers,
_find_minimal_target_modules) and utils/other.py (get_pattern_key)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.base import Base
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

ALL_LINEAR = "all-linear"
MANY_TARGETS = 20
"""From this many targets on, the library looks for the fewest suffixes that name the same modules."""

CLASSIFIERS = ("score", "classifier")
"""Heads of sequence classifiers, which ``all-linear`` leaves out."""

LONGEST_PATTERN = 1_000
"""Characters of a pattern that is tried."""

_RUNAWAY = r"\([^()]*[*+][^()]*\)[*+{]"
"""A repeated group with a repetition in it, which can take forever on a name that does not match."""


def pattern(text: object, key: str) -> re.Pattern[str]:
    """Compile a pattern of an adapter's config; *key* says where it stands.

    Raises:
        ConfigError: It is no regular expression.
    """
    if not isinstance(text, str) or len(text) > LONGEST_PATTERN:
        raise ConfigError("expected a regular expression of at most 1,000 characters", key=key, value=text)
    import re

    if re.search(_RUNAWAY, text):
        raise ConfigError("repeats a group that repeats something itself, and could take forever; write it without", key=key, value=text)
    try:
        return re.compile(text)
    except re.error as error:
        raise ConfigError(Text("is not a regular expression ({error})", error=error), key=key, value=text) from None


def ends_with(name: str, targets: Collection[str]) -> bool:
    """Tell whether *name* is one of *targets*, or ends with a dot and one of them.

    >>> ends_with("layers.0.q_proj", {"q_proj"}), ends_with("layers.0.xq_proj", {"q_proj"})
    (True, False)
    """
    if name in targets:
        return True
    start = name.find(".") + 1
    while start:
        if name[start:] in targets:
            return True
        start = name.find(".", start) + 1
    return False


def selector(config: Mapping[str, Any], targets: str | Collection[str] | None) -> Callable[[str], bool]:
    """Return the test of whether a module is adapted, for the resolved *targets* of *config*."""
    excluded, saved = config.get("exclude_modules"), config.get("modules_to_save") or ()
    out = pattern(excluded, "exclude_modules").fullmatch if isinstance(excluded, str) and excluded else None
    kept = [pattern(rf"(^|.*\.){name}($|\..*)", "modules_to_save") for name in saved]
    whole = pattern(targets, "target_modules").fullmatch if isinstance(targets, str) else None
    layers = _layer_test(config)
    short = targets is not None and whole is None and not any("." in target for target in targets)

    def is_selected(name: str) -> bool:
        if out is not None and out(name):
            return False
        if out is None and excluded and ends_with(name, excluded):
            return False
        if kept and any(entry.match(name) for entry in kept):
            return False
        if targets is None:
            return False
        if whole is not None:
            return whole(name) is not None
        if name in targets:
            return True
        if short:  # none of them has a dot: only the last piece of a name can be one
            return name[name.rfind(".") + 1 :] in targets and "." in name and (layers is None or layers(name))
        return ends_with(name, targets) and (layers is None or layers(name))

    return is_selected


def _layer_test(config: Mapping[str, Any]) -> Callable[[str], bool] | None:
    """Return the test of ``layers_to_transform``, or None where every layer is."""
    layers, names = config.get("layers_to_transform"), config.get("layers_pattern")
    if layers is None or layers == []:
        return None
    wanted = {layers} if isinstance(layers, int) else set(layers)
    if not names:
        patterns = [pattern(r".*?\.[^.]*\.(?P<idx>\d+)\.", "layers_pattern")]
    else:
        patterns = [
            pattern(rf"(?:^|.*?\.){name}\.(?P<idx>\d+)\.", "layers_pattern") for name in ([names] if isinstance(names, str) else names)
        ]

    def is_inside(name: str) -> bool:
        found = next((match for match in (entry.match(name) for entry in patterns) if match), None)
        return found is not None and int(found["idx"]) in wanted

    return is_inside


def all_linear(base: Base, config: Mapping[str, Any]) -> set[str]:
    """Return every linear layer but the output embedding, or a sequence classifier's head."""
    linear = {module.path for module in base.modules.values() if module.kind in ("linear", "conv1d")}
    if base.output_embedding is not None:
        return linear - {base.output_embedding}
    if config.get("task_type") == "SEQ_CLS":
        head = next((name for name in CLASSIFIERS if name in base.modules), None)
        return linear - {head} if head else linear
    return linear


def fewest_suffixes(targets: Collection[str], names: Iterable[str]) -> set[str]:
    """Return the fewest suffixes that name the *targets* and no other of the *names*.

    >>> sorted(fewest_suffixes({"a.0.q", "a.1.q"}, ["a", "a.0", "a.1", "a.0.k"]))
    ['q']
    """
    known, names = set(targets), tuple(names)
    # A last piece that no other name has names all targets that end in it; only the others need longer ones.
    last = {name[name.rfind(".") + 1 :] for name in known}
    alike = [name for name in names if name[name.rfind(".") + 1 :] in last and name not in known]
    required = last.difference(name[name.rfind(".") + 1 :] for name in alike if not ends_with(name, known))
    unsettled = [name for name in known if name[name.rfind(".") + 1 :] not in required]
    apart = (ends for name in names if known.isdisjoint(ends := _suffixes(name))) if unsettled else ()
    others = {suffix for ends in apart for suffix in ends}
    for suffixes in sorted(map(_suffixes, unsettled)):
        if not required.isdisjoint(suffixes[:-1]):
            continue  # a shorter suffix of it is there already
        found = next((suffix for suffix in suffixes if suffix not in required and suffix not in others), None)
        if found is not None:
            required.add(found)
    return required or set(targets)


def _suffixes(name: str) -> list[str]:
    found, start = [], len(name)
    while (start := name.rfind(".", 0, start)) >= 0:
        found.append(name[start + 1 :])
    return [*found, name]


def by_pattern(patterns: Mapping[str, Any] | None, name: str, default: Any) -> Any:
    """Return the value of the first pattern that *name* matches, else *default*.

    >>> by_pattern({"q_proj": 16}, "layers.0.q_proj", 8)
    16
    """
    for key, value in (patterns or {}).items():
        if pattern(rf"(.*\.)?({key})$", "rank_pattern").match(name):
            return value
    return default
