"""What :mod:`truth.fuzz` changes in a config: a few of its keys at once, most to what people write, some to what no class builds.

Any key of a config and of its sub-configs may be meant: what our fields declare, what the class alone knows, other names of either, sets of rotary
parameters, whole sub-configs. Numbers are doubled, halved and moved by one, put to 0, 1, -1 and null, lists are longer or shorter by one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from truth import live
from truth.aliases import find_aliases
from truth.changes import ABSENT, IDLE, SPECIAL, Change, words
from weighbridge.config.bind import find_sub_config
from weighbridge.config.fields import Field


class Place(NamedTuple):
    """A key that may be changed.

    Attributes:
        value: What the live config has there.
        stands_for: The key that this one is another name of.
    """

    path: tuple[str, ...]
    value: Any
    stands_for: str = ""


SHARES = {"declared": 8, "undeclared": 4, "alias": 3, "rotary": 2, "general": 1, "part": 1}
"""How often each sort of places is changed."""
GENERAL = """tie_word_embeddings num_labels id2label pad_token_id bos_token_id is_decoder add_cross_attention is_encoder_decoder problem_type dtype
chunk_size_feed_forward layer_types use_cache output_attentions""".split()
"""Keys of every config that may change what is built."""


def places(config: Any, fields: tuple[Field, ...], raw: Mapping[str, Any]) -> dict[str, list[Place]]:
    """Return the places of a live config by their sort; *raw* is what it was made of."""
    found: dict[str, list[Place]] = {sort: [] for sort in SHARES}
    for sort, place in _places(config, fields, raw):
        found[sort].append(place)
    for path, key, value, _ in find_aliases(config, fields, raw):
        found["alias"].append(Place(path, value, key))
    return {sort: listed for sort, listed in found.items() if listed}


def _places(config: Any, fields: tuple[Field, ...], raw: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, Place]]:
    ours = {key for field in fields for key in (field.key, *field.aliases)}
    general = live.general_keys()
    if hasattr(config, "rope_parameters"):
        yield "rotary", Place(above, _turned_width(config))
    yield "general", Place((*above, "rope_scaling"), _turned_width(config))
    for key, value in config.to_dict().items():
        inner = live.value(config, key)
        if key in IDLE or key.startswith("_") or not key:
            continue
        if hasattr(inner, "to_dict"):
            yield "part", Place((*above, key), {})
            field = next((field for field in fields if field.key == key and field.kind == "nested"), None)
            given = raw.get(key)
            known = find_sub_config(field, raw) if field is not None else None
            yield from _places(inner, known.fields if known else (), given if isinstance(given, Mapping) else {}, (*above, key))
        elif key in ours or key not in general:
            yield "declared" if key in ours else "undeclared", Place((*above, key), value)
    yield from (("general", Place((*above, key), live.value(config, key))) for key in GENERAL)


def _turned_width(config: Any) -> int:
    """Return how wide a head is, as nearly as can be told."""
    own, width, heads = (live.value(config, key) for key in ("head_dim", "hidden_size", "num_attention_heads"))
    return own if type(own) is int else width // heads if type(width) is int and type(heads) is int and heads > 0 else 8


def draw_changes(rng: random.Random, found: Mapping[str, list[Place]], text: str, most: int = 4) -> tuple[Change, ...]:
    """Draw 1 to *most* changes of different keys; *text* is the source in which words for a key stand.

    >>> sizes = {"declared": [Place(("hidden_size",), 8), Place(("num_heads",), 2)]}
    >>> draw_changes(random.Random(3), sizes, "") == draw_changes(random.Random(3), sizes, "")
    True
    """
    sorts = list(found)
    drawn: dict[tuple[str, ...], Change] = {}
    for _ in range(rng.choice([number for number in (1, 1, 2, 2, 3, 4) if number <= most])):
        sort = rng.choices(sorts, [SHARES[sort] for sort in sorts])[0]
        for change in draw_change(rng, sort, rng.choice(found[sort]), text):
            drawn[change.path] = change
    return tuple(drawn.values())


def draw_change(rng: random.Random, sort: str, place: Place, text: str) -> list[Change]:
    """Draw what becomes of one place; an alias may stand alone, where its key is taken away."""
    path, key = place.path, place.path[-1] if place.path else ""
    if sort == "rotary" or (sort, key) == ("general", "rope_scaling"):
        older = rng.random() < 0.4
        above = path if sort == "rotary" else path[:-1]
        return [Change((*above, "rope_scaling" if older else "rope_parameters"), draw_rotary(rng, place.value, older))]
    if sort == "part":
        return [Change(path, rng.choice((None, {}, ABSENT)))]
    if key in SPECIAL and rng.random() < 0.7:
        return [Change(path, rng.choice(SPECIAL[key]))]
    value = draw_value(rng, place.value, words(key, text))
    if sort == "alias" and place.stands_for and rng.random() < 0.7:
        return [Change((*path[:-1], place.stands_for), ABSENT), Change(path, value)]
    return [Change(path, value)]


def draw_value(rng: random.Random, value: Any, near: list[str] | tuple[str, ...] = ()) -> Any:
    """Draw another value for a key: most often of the kind that is there, at times what no class is made for; *near* are words for it.

    >>> rng = random.Random(1)
    >>> [draw_value(rng, 8) for _ in range(8)], draw_value(rng, True), draw_value(rng, [1, 2])
    ([1, 7, 4, 7, 0, 4, 9, None], False, None)
    """
    if rng.random() < 0.08:
        return rng.choice(STRANGE)
    rule = next((rule for kind, rule in RULES if isinstance(value, kind)), lambda rng, value, near: None)
    return rule(rng, value, near)


STRANGE: tuple[Any, ...] = (None, -1, 0, 1, True, False, 0.5, "nothing of the kind", [], [8, 8], {})
"""What may stand under any key."""


def _of_number(rng: random.Random, value: int, near: object) -> Any:
    plausible = [2 * value, value // 2, value + 1, value - 1, value + value // 2, 4 * value]
    return rng.choice(plausible) if rng.random() < 0.75 else rng.choice((0, 1, 2, 3, -1, None, float(value), [value, value], True))


def _of_fraction(rng: random.Random, value: float, near: object) -> Any:
    return rng.choice((0.0, 1.0, 0.5, 2 * value, value / 2, round(min(value, 1e6)), -1.0, None))


def _of_word(rng: random.Random, value: str, near: list[str]) -> Any:
    return rng.choice(near) if near and rng.random() < 0.7 else rng.choice(("gelu", "relu", "silu", "prelu", None, value.upper(), ""))


def _of_nothing(rng: random.Random, value: None, near: list[str]) -> Any:
    return rng.choice(near) if near and rng.random() < 0.3 else rng.choice((8, 2, 1, 16, True, False, 0, 0.5, [2, 2]))


def _of_list(rng: random.Random, value: Any, near: list[str]) -> Any:
    items = list(value)
    place = rng.randrange(len(items)) if items else 0
    entries = [draw_value(rng, items[place], near)] if items else []
    return rng.choice(
        (
            [*items[:place], *entries, *items[place + 1 :]],
            [*items[:place], *entries, *items[place + 1 :]],
            items[:-1],
            [*items, *items[-1:]],
            items[::-1],
            items[:1],
            items[0] if items else None,
            [],
            None,
        )
    )


RULES: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (bool, lambda rng, value, near: rng.choice((not value, not value, not value, not value, None, int(not value)))),
    (int, _of_number),
    (float, _of_fraction),
    (str, _of_word),
    (type(None), _of_nothing),
    ((list, tuple), _of_list),
    (Mapping, lambda rng, value, near: rng.choice((None, {}))),
)
"""By the kind of value that is there: what may stand in its place."""

ROTARY: dict[str, dict[str, Any]] = {
    "default": {},
    "linear": {"factor": 2.0},
    "dynamic": {"factor": 2.0},
    "yarn": {"factor": 4.0},
    "llama3": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    "longrope": {"short_factor": [], "long_factor": []},
    "proportional": {"partial_rotary_factor": 0.5},
    "mrope": {"mrope_section": [2, 1, 1]},
    "nothing of the kind": {},
}
"""By the type of rotary positions: what it needs."""


def draw_rotary(rng: random.Random, width: int, older: bool = False) -> dict[str, Any]:
    """Draw a set of rotary parameters for heads of a width, at times without something that it needs; *older* files say ``type``.

    >>> draw_rotary(random.Random(3), 8)
    {'rope_type': 'yarn', 'rope_theta': 10000.0, 'factor': 4.0, 'original_max_position_embeddings': 4096}
    """
    kind = rng.choice(list(ROTARY))
    stated = {"type" if older and rng.random() < 0.5 else "rope_type": kind, "rope_theta": 10000.0, **ROTARY[kind]}
    for name in ("short_factor", "long_factor"):
        if name in stated:
            stated[name] = [1.0] * rng.choice((width // 2, width // 2, width // 2, width // 4, width))
    more = {
        "original_max_position_embeddings": rng.choice((16, 64, 4096)),
        "partial_rotary_factor": rng.choice((0.25, 0.5, 1.0)),
        "mrope_section": rng.choice(([2, 1, 1], [width // 4, width // 8, width // 8], [8])),
    }
    stated |= {name: value for name, value in more.items() if rng.random() < (0.5 if name.startswith("original") else 0.1)}
    return {name: value for name, value in stated.items() if name.endswith("type") or rng.random() < 0.92}
