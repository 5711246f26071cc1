"""What a module is for, and the colour that says so: the same on the page, in reports, in notebooks and in comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from weighbridge.accounts.ledger import Entry
from weighbridge.core.messages import mark
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part
from weighbridge.explain.part_titles import NAMES
from weighbridge.explain.semantic_tree import HEAD_NAMES, PROJECTIONS, Pair, leaf_at

ROLES = {
    "embedding": (mark("embedding"), "#9cc4ee", "#2f5f92"),
    "attention": (mark("attention"), "#f3d08b", "#7d6023"),
    "mlp": (mark("MLP"), "#a5d8b3", "#2f6b45"),
    "experts": (mark("MoE experts"), "#86d3cf", "#1d6663"),
    "norm": (mark("norm"), "#efb0a4", "#884439"),
    "head": (mark("head"), "#d9b8e4", "#6c4a7c"),
    "convolution": (mark("convolution"), "#f0b88c", "#86501f"),
    "state": (mark("state space"), "#b7c0f0", "#46518f"),
    "other": (mark("other"), "#c9d0d8", "#535c66"),
    "mixed": (mark("several"), "#e9edf1", "#2b3239"),
}
"""Each role: what it is called, its colour on white, and its colour on black. ``mixed`` is a module of several roles, and none itself."""

FROM_TOPIC = {
    "embedding": "embedding",
    "attention": "attention",
    "cross_attention": "attention",
    "latent_attention": "attention",
    "feed_forward": "mlp",
    "experts": "experts",
    "norm": "norm",
    "head": "head",
    "pooler": "head",
    "convolution": "convolution",
    "mixer": "state",
}
"""From what derivations call a module's purpose to its role."""

OWN = {**dict.fromkeys(("ffn", "ffn_output", "pwconv1", "pwconv2"), "mlp")}
"""Names that tell a module's role where derivations call it by none: the linear maps of layers without a part around them."""

TELLING = (
    HEAD_NAMES
    | PROJECTIONS
    | {"proj_out", "pooler"}
    | {name for topic in ("feed_forward", "attention") for name in NAMES[topic]}
    | set(OWN)
)
"""Names of modules that tell what they are for."""

MOST = 0.9
"""A module of which one role has at least this part is of that role."""


def role_of(part: Part, around: Sequence[Part] = ()) -> str:
    """Tell the role of a part that owns tensors.

    >>> role_of(Part("dense", kind="linear"), (Part("layer", kind="layer"), Part("mlp", kind="feed_forward")))
    'mlp'
    """
    repeated = part.repeat not in (None, 1) or any(outer.repeat not in (None, 1) for outer in around)
    return _role(part.name if part.name in TELLING else "", part.kind, repeated, tuple([outer.kind for outer in around]))


@lru_cache(maxsize=4096)
def _role(name: str, kind: str, repeated: bool, around: tuple[str, ...]) -> str:
    """Return the role of a module from its kind, name and surroundings; cached, since modules of a large file repeat them."""
    part = Part(name, kind=kind, repeat=2 if repeated else None)
    topic = leaf_at(name, Pair(part, part), tuple(Pair(outer, outer) for outer in (Part("", kind=one) for one in around))).topic
    return FROM_TOPIC.get(topic) or OWN.get(name, "other")


def roles_within(entry: Entry, around: tuple[Part, ...] = ()) -> tuple[str, tuple[tuple[str, int], ...]]:
    """Return the role of nearly all elements of an entry; with the elements of each role, where none has nearly all."""
    if entry.children:
        held = amounts(entry, around)
        role = main_role(held)
        return role, tuple(held.items()) if role == "mixed" else ()
    return role_of(entry.part, around) if entry.amount else "other", ()


def own_amounts(entry: Entry, around: tuple[Part, ...] = ()) -> dict[str, int]:
    """Return what one copy of an entry holds itself, under its role."""
    own = sum(as_int(line.amount) for line in entry.lines)
    return {role_of(entry.part, around): own} if own else {}


def amounts(entry: Entry, around: tuple[Part, ...] = ()) -> dict[str, int]:
    """Return what all copies of an entry hold of each role, in the order of :data:`ROLES`."""
    found = own_amounts(entry, around)
    if not entry.children:
        return {role: amount * as_int(entry.times) for role, amount in found.items() if entry.times}
    among = (*around, entry.part)
    for child in entry.children:
        for role, amount in amounts(child, among).items():
            found[role] = found.get(role, 0) + amount
    return {role: found[role] * as_int(entry.times) for role in ROLES if found.get(role)}


def main_role(found: dict[str, int]) -> str:
    """Return the role of nearly all elements; ``mixed`` if there is none.

    >>> main_role({"mlp": 95, "norm": 5}), main_role({"mlp": 60, "attention": 40})
    ('mlp', 'mixed')
    """
    whole = sum(found.values())
    return next((role for role, amount in found.items() if amount >= MOST * whole), "mixed") if whole else "other"


def style(prefix: str = "") -> str:
    """Write the style sheet of the colours, light and dark; *prefix* stands before each selector."""
    light = "".join(_rule(prefix, role, colour) for role, (_, colour, _) in ROLES.items())
    dark = "".join(_rule(prefix, role, colour) for role, (_, _, colour) in ROLES.items())
    return f"{light}@media(prefers-color-scheme:dark){{{dark}}}"


def _rule(prefix: str, role: str, colour: str) -> str:
    return f"{prefix}.role-{role}{{fill:{colour};background-color:{colour}}}"
