"""What an omission looks at is all in an atom's traits: a file's many atoms are looked at once for each of these."""

from itertools import product

from weighbridge.conventions.atoms import EMBEDDINGS, Atom
from weighbridge.conventions.omissions import OMISSIONS, QKV, traits

COMPONENTS = (
    *EMBEDDINGS.values(),
    "embedding",
    "embedding_norm",
    "layer_norm",
    "norm",
    "attention",
    "cross_attention",
    "feed_forward",
    "pooler",
    "head:a",
)
ROLES = ("weight", "bias", "gain", "shift", "embedding")


def test_atoms_of_the_same_traits_are_covered_by_the_same_omissions() -> None:
    seen: dict[object, list[bool]] = {}
    for component, role, path, frozen, sense, rest in product(
        COMPONENTS, ROLES, (f"a.{min(QKV)}", "a.other", "b.third"), (False, True), ("", "vision", "text"), ((1, 1, 0), (7, 3, 5))
    ):
        each, copies, rows = rest
        atom = Atom(component, role, path, "layer.0" if copies > 1 else "", each, copies, rows, frozen, sense, rows, rows)
        covered = [omission.covers(atom) for omission in OMISSIONS]
        assert seen.setdefault(traits(atom), covered) == covered, atom
    assert len(seen) < 1000
