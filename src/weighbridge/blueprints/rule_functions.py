"""What the rules of config classes may call (:mod:`weighbridge.blueprints.class_rules`)."""

from __future__ import annotations

from weighbridge.blueprints.chosen_functions import ACTIVATIONS
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.interfaces import Mapping

if TYPE_CHECKING:
    from typing import Any

SMALLEST_ODD = 5
"""The width from which on an odd head is refused: smaller ones are those of tests."""


def turns_pairs(width: int, heads: int, head_dim: int | None, share: float | None, rotary: Any) -> bool:
    """Say whether rotary positions find pairs in heads whose width follows from others, or turn a *share* of them.

    >>> turns_pairs(64, 8, None, None, {}), turns_pairs(56, 8, None, None, {}), turns_pairs(56, 8, None, 0.5, {})
    (True, False, True)
    """
    own = width // heads
    return head_dim is not None or share is not None or "partial_rotary_factor" in str(rotary) or own % 2 == 0 or own < SMALLEST_ODD


def sections_fit(hidden: int, heads: int, head_dim: int | None, rotary: Any) -> bool:
    """Say whether the pairs of a head are as many as its rotary positions have for rows, columns and time, of which the class makes one row.

    >>> sections_fit(2560, 20, None, {}), sections_fit(2560, 40, None, {}), sections_fit(64, 2, None, {"mrope_section": [4, 4, 8]})
    (True, False, True)
    """
    rows, columns, time = (rotary or {}).get("mrope_section", (22, 22, 20))
    pairs = ((head_dim or hidden // heads) + 1) // 2
    return bool(min(rows + columns, pairs) == (pairs - min(time, pairs) if time else 0))


def stages_exist(stages: int, out_indices: Any, out_features: Any) -> bool:
    """Say whether a backbone of a stem and so many stages has all those whose maps it is to give.

    >>> stages_exist(4, [2, 4], None), stages_exist(4, [5], None), stages_exist(4, None, ["stem", "stage5"])
    (True, False, False)
    """
    numbers = [number_of(name) for name in out_features or ()]
    return all(-stages - 1 <= index <= stages for index in out_indices or ()) and all(0 <= number <= stages for number in numbers)


def number_of(name: str) -> int:
    """Return the number of a stage, which is 0 for the stem; below 0 stands what is neither.

    >>> number_of("stem"), number_of("stage3"), number_of("stage03"), number_of("last")
    (0, 3, -1, -1)
    """
    digits = name.removeprefix("stage")
    number = int(digits) if digits.isdecimal() and len(digits) < 9 else 0
    return 0 if name == "stem" else number if number and name == f"stage{number}" else -1


def stages_ordered(stages: int, out_indices: Any, out_features: Any) -> bool:
    """Say whether those stages of a backbone are asked for in their order and once, and the same ones by number and by name.

    >>> stages_ordered(4, [2, 4], ["stage2", "stage4"]), stages_ordered(4, [4, 2], None), stages_ordered(4, [2], ["stage1"])
    (True, False, False)
    """
    listed = [
        [index % (stages + 1) for index in out_indices] if out_indices is not None else None,
        [number_of(name) for name in out_features] if out_features is not None else None,
    ]
    given = [places for places in listed if places is not None]
    return all(places == sorted(set(places)) for places in given) and all(places == given[0] for places in given)


def unscaled(rotary: Any) -> bool:
    """Say whether rotary positions are of a type that is worked out without the width of a head, if it is not the default.

    >>> unscaled(None), unscaled({"rope_type": "linear"}), unscaled({"type": "yarn"})
    (True, True, False)
    """
    stated = rotary if isinstance(rotary, Mapping) else {}
    return stated.get("rope_type", stated.get("type")) not in ("dynamic", "yarn", "longrope")


def squared(image_size: Any, patch_size: Any) -> bool:
    """Say whether an image has a square number of patches, whose sides are one number.

    >>> squared(224, 16), squared([64, 32], 16), squared([128, 32], 16), squared(224, [16, 16])
    (True, False, True, False)
    """
    height, width = image_size if isinstance(image_size, (list, tuple)) else (image_size, image_size)
    if isinstance(patch_size, (list, tuple)):
        return False
    count = (height // patch_size) * (width // patch_size)
    return any(root * root == count for root in (int(count**0.5), int(count**0.5) + 1))


def is_activation(name: Any) -> bool:
    """Say whether the library knows an activation by this name."""
    return name in ACTIVATIONS


FUNCTIONS: dict[str, Any] = {
    "__builtins__": {},
    **{
        call.__name__: call
        for call in (
            all,
            any,
            is_activation,
            len,
            list,
            max,
            min,
            sections_fit,
            sorted,
            squared,
            stages_exist,
            stages_ordered,
            turns_pairs,
            type,
            unscaled,
        )
    },
}
"""What a rule may call."""
