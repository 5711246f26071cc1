"""Fields of networks with stages: concrete lists with one entry per stage, and the stages that a backbone outputs."""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.config.fields import Config, Field, choice, computed, derived
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import replace
from weighbridge.core.sizes import Quantity, Size, layer_range

if TYPE_CHECKING:
    from typing import Any


WRITTEN_OUT = 512
"""The most parts of a stage that are written out one by one, as those of a U-Net are: published ones have four."""


def number(word: str, key: str, default: int | None, *aliases: str, minimum: int = 1, most: int | None = None) -> Field:
    """Declare a whole number that is concrete, because it is compared with others; *most* bounds one whose parts are written out one by one."""

    def read(value: Any) -> int | None:
        if value is None and default is None:
            return None
        if type(value) is not int or value < minimum:
            raise ConfigError(
                Text("expected a whole number from {minimum} up, found {value!r:.60}", minimum=minimum, value=value), key=key, value=value
            )
        if most is not None and value > most:
            raise ConfigError(Text("at most {most:,} are described", most=most), key=key, value=value)
        return value

    return choice(word, key, default, *aliases, read=read)


def optional_number(word: str, key: str, default: int | None) -> Field:
    """Declare a whole number that is concrete, or null, which stays None."""
    known = number(word, key, None)
    return known._replace(default=default, nullable=True, report_default=False)


def numbers(word: str, key: str, default: tuple[int, ...], *aliases: str, minimum: int = 1, most: int | None = None) -> Field:
    """Declare a list of whole numbers, one for each stage; *most* as for :func:`number`."""

    def read(value: Any) -> tuple[int, ...]:
        wrong = [entry for entry in value if type(entry) is not int or entry < minimum]
        if wrong or not value:
            raise ConfigError(
                Text("expected a list of whole numbers from {minimum} up, found {value!r:.60}", minimum=minimum, value=value),
                key=key,
                value=value,
            )
        if most is not None and max(value) > most:
            raise ConfigError(Text("at most {most:,} are described", most=most), key=key, value=value)
        return tuple(value)

    return Field(word, key, default, "sequence", aliases=aliases, read=read)  # type: ignore[arg-type]


def entries(word: str, key: str, default: list[Any], kind: type) -> Field:
    """Declare a list of names or switches, one for each stage."""

    def read(value: Any) -> tuple[Any, ...]:
        if any(type(entry) is not kind for entry in value):
            raise ConfigError(Text("expected a list of {name}, found {value!r:.60}", name=kind.__name__, value=value), key=key, value=value)
        return tuple(value)

    return Field(word, key, default, "sequence", read=read)


def ratio(word: str, key: str, default: float) -> Field:
    """Declare a ratio of widths as numerator and denominator of what is written; :func:`scale_width` multiplies with it."""

    def read(value: Any) -> tuple[int, int]:
        if type(value) not in (int, float) or not 0 <= value < 2**20:
            raise ConfigError(Text("expected a ratio, found {value!r:.60}", value=value), key=key, value=value)
        return simplest_fraction(value)

    return choice(word, key, default, read=read)


def binary_ratio(word: str, key: str, default: float) -> Field:
    """Declare a ratio of widths that is multiplied with more than once; one whose products the reference rounds is refused."""

    def read(value: Any) -> tuple[int, int]:
        if type(value) not in (int, float) or not 0 < value < 2**20:
            raise ConfigError(Text("expected a ratio, found {value!r:.60}", value=value), key=key, value=value)
        above, below = value.as_integer_ratio()
        if below > 2**20:
            hint = "a ratio of few binary digits, such as 4.0 or 2.75"
            raise ConfigError(
                Text("{value}: the products with widths are rounded, and not described", value=value), key=key, value=value, hint=hint
            )
        return above, below

    return choice(word, key, default, read=read)


def simplest_fraction(value: float) -> tuple[int, int]:
    """Return the first convergent of a number's continued fraction that is the number itself, as a float.

    >>> simplest_fraction(4.9231), simplest_fraction(2.6666666666666665), simplest_fraction(4)
    ((49231, 10000), (8, 3), (4, 1))
    """
    above, below = value.as_integer_ratio()
    last, found = (0, 1), (1, 0)
    while True:
        whole = above // below
        last, found = found, (whole * found[0] + last[0], whole * found[1] + last[1])
        if found[0] / found[1] == value:
            return found
        above, below = below, above - whole * below


def decimal_ratio(width: str) -> tuple[Field, Field]:
    """Declare ``mlp_ratio`` as it is written in decimals, and the inner width that it makes of *width*.

    >>> from weighbridge.config.bind import bind
    >>> from weighbridge.config.fields import size
    >>> bind((size("hidden", "width", 1664, "H", ""), *decimal_ratio("width")), {"mlp_ratio": 4.9231}).mlp
    8192
    """

    return (
        ratio("ratio", "mlp_ratio", 4.0),
        derived("mlp", lambda c: scale_width(c.hidden, c.ratio), width, "mlp_ratio"),
    )


def scale_width(width: Size, by: tuple[int, int]) -> Size:
    """Multiply a width by a ratio and drop the fraction, as ``int(ratio * width)`` does.

    Raises:
        ConfigError: The product is a whole number, and the floats of the reference just miss it.

    >>> scale_width(96, (4, 1)), scale_width(7, (5, 2)), scale_width(5, (12, 5))
    (384, 17, 12)
    >>> scale_width(100, (29, 100))
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: 100 times 0.29 is rounded
    """
    above, below = by
    if isinstance(width, Quantity):
        return width.scale(above, below)
    product = width * above // below
    if below & (below - 1) and int(width * (above / below)) != product:
        raise ConfigError(Text("{hidden} times {ratio} is rounded", hidden=width, ratio=above / below), value=above / below)
    return product


def equal_length(**lists: tuple[Any, ...]) -> int:
    """Return how many entries lists of stages have, which must be equally many.

    >>> equal_length(depths=(2, 2), hidden_sizes=(32, 64))
    2
    """
    (first, length), *others = ((key, len(entries)) for key, entries in lists.items())
    for key, other in others:
        if other != length:
            raise ConfigError(
                Text("{other} entries, but {first} has {length}", other=other, first=first, length=length),
                key=key,
                value=lists[key],
                hint="one for each stage",
            )
    return length


def first_stages(key: str, count: int, **lists: tuple[Any, ...]) -> int:
    """Return the number of stages that a config says under *key*: lists of stages may have more entries, which are left out, but not fewer.

    >>> first_stages("num_stages", 2, depths=(3, 3, 9))
    2
    """
    for name, entries in lists.items():
        if len(entries) < count:
            raise ConfigError(
                Text("{count} entries, but {key} is {count2}", count=len(entries), key=key, count2=count),
                key=name,
                value=entries,
                hint="one for each stage",
            )
    return count


def out_stages(stages: Callable[[Config], int], *, stem: bool = True) -> tuple[Field, ...]:
    """Declare which stages a backbone outputs, by names or by indices: the stem is 0, if it is one, and by default it is the last."""
    names, indices = choice("out_features", "out_features", None), choice("out_indices", "out_indices", None)
    return (
        replace(names, report_default=False),
        replace(indices, report_default=False),
        computed("outputs", lambda c: _outputs(c, stages(c), stem)),
    )


def _outputs(c: Config, stages: int, stem: bool) -> tuple[int, ...]:
    known = [*(["stem"] if stem else []), *(f"stage{index + 1}" for index in layer_range(stages))]
    if c.out_features is None and c.out_indices is None:
        return (len(known) - 1,)
    key, given = ("out_features", c.out_features) if c.out_features is not None else ("out_indices", c.out_indices)
    try:
        found = [known.index(entry) if key == "out_features" else range(len(known))[entry] for entry in given]
    except (ValueError, IndexError, TypeError):
        raise ConfigError(
            Text("expected some of {known}, or their indices, found {given!r:.60}", known=", ".join(known), given=given),
            key=key,
            value=given,
        ) from None
    both = c.out_features is not None and c.out_indices is not None
    if found != sorted(set(found)) or (both and [known[index] for index in c.out_indices] != list(c.out_features)):
        raise ConfigError(
            Text("stages out of order or twice, or names and indices that differ: {given!r:.60}", given=given), key=key, value=given
        )
    return tuple(found)
