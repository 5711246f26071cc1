"""Classes of modules that stand in several places of a model: in a skeleton each is written once, as a function."""

from __future__ import annotations

import keyword
import re

from truth.propose import CLOSE, OPEN


def function_name(class_name: str, model_type: str) -> str:
    """Return a name for the function of a class.

    >>> function_name("BertForMaskedLM", "bert"), function_name("BertModel", "bert")
    ('for_masked_lm', 'model')
    """
    plain = "".join(piece for piece in model_type if piece.isalnum()).lower()
    rest = class_name[len(plain) :] if class_name.lower().startswith(plain) else class_name
    made = "".join(f"_{c.lower()}" if c.isupper() and (i == 0 or not rest[i - 1].isupper()) else c.lower() for i, c in enumerate(rest))
    name = made.strip("_") or "model"
    return f"{name}_" if keyword.iskeyword(name) else name


class Settled:
    """A class of modules that stands in several places: its function, and which of its sizes are arguments.

    Attributes:
        name: Of the function.
        pieces: The source between the sizes.
        constant: The sizes that are the same everywhere, by their place; the others are arguments.
        places: For each argument, the first place of it.
    """

    def __init__(self, kind: str, name: str, pieces: list[str], columns: list[tuple[str, ...]]) -> None:
        self.name, self.pieces = name, pieces
        varying = list(dict.fromkeys(column for column in columns if len(set(column)) > 1))
        words = ("width",) if len(varying) == 1 else tuple(f"size{number}" for number in range(1, len(varying) + 1))
        self.places = [columns.index(column) for column in varying]
        self.constant = {place: column[0] for place, column in enumerate(columns) if len(set(column)) == 1}
        sizes = [self.constant[place] if place in self.constant else words[varying.index(columns[place])] for place in range(len(columns))]
        body = pieces[0] + "".join(size + piece for size, piece in zip(sizes, pieces[1:], strict=True))
        self.config = "c." in body or "(c," in body
        self.staged = re.search(r"\bstage\b", body) is not None
        given = (*(("c: Config",) if self.config else ()), *(("stage: int",) if self.staged else ()))
        arguments = ", ".join((*given, "name: str", *(f"{word}: Size" for word in words)))
        self.source = f'def {name}({arguments}) -> Part:\n    """Describe {kind}."""\n    return part(name, {body})\n'

    def call(self, name: str, pieces: list[str], sizes: list[str]) -> str | None:
        """Return the call that makes one of these modules, or None if this one is another."""
        if pieces != self.pieces or any(sizes[place] != size for place, size in self.constant.items()):
            return None
        arguments = "".join(f", {OPEN}{sizes[place]}{CLOSE}" for place in self.places)
        return f'{self.name}({"c, " if self.config else ""}{"stage, " if self.staged else ""}"{name}"{arguments})'


class Shared:
    """Classes of modules that stand in several places of one model, each to be written once, as a function."""

    def __init__(self, known: dict[str, str], class_name: str) -> None:
        self.known = known
        self.class_name = class_name
        self.settled: dict[str, Settled] = {}
        self.found: dict[str, list[tuple[list[str], list[str]]]] = {}

    def write(self, kind: str, name: str, inside: str) -> str:
        """Return the source of a module: a call where its class is settled, else the whole, which is remembered."""
        split = re.split(f"{OPEN}(.*?){CLOSE}", inside)
        pieces, sizes = split[::2], split[1::2]
        if kind in self.settled:
            call = self.settled[kind].call(name, pieces, sizes)
            if call is not None:
                return call
        self.found.setdefault(kind, []).append((pieces, sizes))
        return f'part("{name}", {inside})'

    def settle(self) -> bool:
        """Make functions of the classes that stand in several places and hold no other such class; say whether there was one."""
        again = {
            kind: places
            for kind, places in self.found.items()
            if len(places) > 1 and kind not in self.settled and all(pieces == places[0][0] for pieces, _ in places)
        }
        self.found = {}
        if not again:
            return False
        shortest = min(len(places[0][1]) for places in again.values())
        for kind, places in again.items():
            if len(places[0][1]) == shortest:
                columns = list(zip(*(sizes for _, sizes in places), strict=True))
                self.settled[kind] = Settled(kind, function_name(kind, _prefix(kind, self.class_name)), places[0][0], columns)
        return True

    def uses(self, name: str) -> bool:
        """Say whether one of the functions calls another."""
        return any(f"{name}(" in one.source for one in self.settled.values() if one.name != name)


def _prefix(kind: str, class_name: str) -> str:
    """Return what two classes of one model begin with.

    >>> _prefix("DacEncoderBlock", "DacModel"), _prefix("Snake1d", "DacModel")
    ('Dac', '')
    """
    same = next((at for at, (a, b) in enumerate(zip(kind, class_name, strict=False)) if a != b), 0)
    while same and not kind[same : same + 1].isupper():
        same -= 1
    return kind[:same]
