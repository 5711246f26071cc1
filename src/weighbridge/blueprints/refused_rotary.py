"""Sets of rotary parameters that no class of a model type builds (``refused_rotary.txt``, written by ``python -m truth.refused_rotary``).

A line for each type: the path of a key, and behind it the types of positions that are refused there. ``longrope:SIZE*SHARE`` says how wide
the part of a head is that is turned, half of which are the factors that LongRoPE wants.
"""

from __future__ import annotations

from weighbridge.blueprints import MODULES, family
from weighbridge.blueprints.type_lines import find_line
from weighbridge.config.fields import Config, Field
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

PATH = __file__.removesuffix(".py") + ".txt"
UNKNOWN = "unknown"
"""Stands for every type that was not asked about, such as a misspelt one."""
ABSENT = "absent"
"""Stands for a config that says nothing of rotary positions."""
LENGTHS = "longrope:"
ASKED = frozenset("absent axial default dynamic linear llama3 longrope mrope proportional su yarn".split())
KEYS = ("rope_parameters", "rope_scaling")
"""The key, and its older name, which some classes read otherwise."""


def is_refused(model_type: str, key: str, kind: str) -> bool:
    """Say whether no class of a type builds rotary positions of a kind, stated under a key, by its path.

    >>> is_refused("llama", "rope_scaling", "mrope"), is_refused("llama", "rope_scaling", "yarn")
    (True, False)
    """
    return (kind if kind in ASKED else UNKNOWN) in _entries(model_type).get(key, ())


def refuse_rotary(model_type: str, fields: tuple[Field, ...], sizes: Config, raw: Mapping[str, Any]) -> None:
    """Refuse rotary positions that are wanted and absent, and factors of LongRoPE that do not fit the heads.

    Raises:
        ConfigError: No set of rotary parameters where a class wants one, or a list of another length.
    """
    for key, kinds in _entries(model_type).items():
        for kind in kinds:
            if kind == ABSENT and key.endswith(KEYS[0]):
                _refuse_absent(raw, key)
            elif kind.startswith(LENGTHS):
                _refuse_factors(key, kind, sizes_at(fields, sizes, key.split(".")[:-1]), raw)


def _refuse_absent(raw: Mapping[str, Any], key: str) -> None:
    inner = inside(raw, key.split(".")[:-1])
    if not any(inner.get(name) for name in KEYS):
        raise ConfigError("the class has no rotary parameters of its own; state a set of them for each kind of layer", key=key)


def _refuse_factors(key: str, kind: str, sizes: Config | None, raw: Mapping[str, Any]) -> None:
    *parents, last = key.split(".")
    around = inside(raw, parents)
    stated = around.get(last)
    if not isinstance(stated, dict) or stated.get("rope_type", stated.get("type")) != "longrope" or sizes is None:
        return
    factors, wanted = stated.get("short_factor"), count_factors(kind.removeprefix(LENGTHS), sizes, around, stated)
    if wanted is not None and isinstance(factors, list) and len(factors) not in (1, wanted):
        found = Text("{count:,} entries", count=len(factors))
        text = Text("LongRoPE wants a factor for each of {count:,} pairs that are turned, found {found}", count=wanted, found=found)
        raise ConfigError(text, key=f"{key}.short_factor", value=factors)


def count_factors(turned: str, sizes: Config, around: Mapping[str, Any], stated: Mapping[str, Any]) -> int | None:
    """Return how many pairs rotary positions turn: of the part of a head that *turned* says, or that a config states.

    >>> count_factors("head_dim*0.5", Config(head_dim=64), {}, {}), count_factors("hidden/heads*1.0", Config(hidden=64, heads=4), {}, {})
    (16, 8)
    """
    words, _, usual = turned.partition("*")
    width, *heads = (vars(sizes).get(word, 0) for word in words.split("/"))
    share = stated.get("partial_rotary_factor", around.get("partial_rotary_factor"))
    if share is None:
        share = float(usual)
    if not all(type(size) is int and size > 0 for size in (width, *heads)) or not isinstance(share, (int, float)):
        return None
    for count in heads:
        width //= count
    return (int(width * share) + 1) // 2


def sizes_at(fields: tuple[Field, ...], sizes: Config, parents: Sequence[str]) -> Config | None:
    """Return the sizes of a sub-config by the keys around it; None where there is none, or of a type that reads its own."""
    for parent in parents:
        field = next((field for field in fields if field.kind == "nested" and field.key == parent), None)
        found = vars(sizes).get(field.word) if field is not None else None
        if field is None or not isinstance(found, Config):
            return None
        named = vars(found).get("model_type")
        sizes, fields = found, family(named).fields if named in MODULES else field.fields
    return sizes


def inside(raw: Mapping[str, Any], parents: Sequence[str]) -> Mapping[str, Any]:
    """Return a sub-config by the keys around it, or an empty one."""
    for parent in parents:
        found = raw.get(parent)
        raw = found if isinstance(found, dict) else {}
    return raw


_READ: dict[str, dict[str, tuple[str, ...]]] = {}


def _entries(model_type: str) -> dict[str, tuple[str, ...]]:
    found = _READ.get(model_type)
    if found is None:
        pairs = (entry.partition("=") for entry in find_line(PATH, f"{model_type}: ").split())
        found = _READ[model_type] = {key: tuple(kinds.split(",")) for key, _, kinds in pairs}
    return found


def forget() -> None:
    """Read the file anew when it is next asked for, which was written since."""
    _READ.clear()
