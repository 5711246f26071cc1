"""What a derivation says of a part, held to the parameters and the forward functions of a live class.

``python -m truth.sentences TYPES --n 3`` draws random configs of these types (``--some 40`` draws the types too), builds the live class,
and asks it about every sentence of the derivation: whether a norm centres is tried on numbers, whether heads count by building the class
with others, whether a table is learned by ``requires_grad``.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from truth import draw, live
from truth.sentence_checks import CHECKS, Said
from weighbridge import WeighbridgeError, model
from weighbridge.blueprints import MODULES, family, is_remote
from weighbridge.core.messages import Text
from weighbridge.explain.section import Line, Section, lines, sections


def said_of(raw: dict[str, Any], class_name: str) -> Iterator[tuple[str, Said]]:
    """Yield every sentence of a config's derivation, with all that a check may look at.

    Raises:
        RefusedError: The live class, or the blueprint, refuses the config.
    """
    theirs = live.build(raw["model_type"], class_name, raw)
    try:
        ours = model(raw, class_name)
    except WeighbridgeError as error:
        raise live.RefusedError(str(error)) from error
    derivation = ours.explain()
    places: list[Section | Line] = [*sections(derivation.root), *lines(derivation.root)]
    stacks = [section for section in sections(derivation.root) if section.where]
    for place in places:
        around = [s for s in stacks if place.number == s.number or place.number.startswith(f"{s.number}.")]
        start = (around[-1].path, frozenset(_indices(around[-1].where))) if around else ("", frozenset[int]())
        for text in place.says:
            template, values = (text.template, text.values) if isinstance(text, Text) else (text, {})
            yield template, Said(ours, theirs, raw, place, start, dict(values))


def verdicts(raw: dict[str, Any], class_name: str) -> Iterator[tuple[str, Said, bool | None]]:
    """Yield every sentence of a config's derivation with what the live class says to it; none where the class refuses the config."""
    try:
        for template, said in said_of(raw, class_name):
            yield template, said, CHECKS[template](said) if template in CHECKS else None
    except (live.RefusedError, WeighbridgeError):
        return


def _indices(where: str) -> Iterator[int]:
    for first, last in re.findall(r"(\d+)(?:–(\d+))?", where):
        yield from range(int(first), int(last or first) + 1)


def main() -> int:
    """Hold the sentences of random configs to live classes; the exit code is 1 if one does not hold."""
    parser = argparse.ArgumentParser("python -m truth.sentences", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="*", help="model types; random ones if none is named")
    parser.add_argument("--n", type=int, default=2, help="random configs of each type, beside its default")
    parser.add_argument("--some", type=int, default=20, help="so many random types")
    parser.add_argument("--heads", action="store_true", help="all classes of each type, not the base class alone")
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**6)))
    options = parser.parse_args()
    known = [name for name in MODULES if not is_remote(name)]
    types = options.types or random.Random(options.seed).sample(known, options.some)
    print(f"seed {options.seed}, {len(types)} types", flush=True)
    held, wrong, unasked = Counter[str](), 0, Counter[str]()
    for model_type in types:
        found = family(model_type)
        for number in range(options.n + 1):
            raw = draw.draw(f"{options.seed} {number}", model_type) if number else {"model_type": model_type}
            for class_name in found.classes if options.heads else (found.base,):
                for template, said, verdict in verdicts(raw, class_name):
                    if verdict is None:
                        unasked[template] += 1
                    elif verdict:
                        held[template] += 1
                    else:
                        wrong += 1
                        print(f"{class_name} {said.place.number} {said.place.title}: {template} {said.values} {raw}", flush=True)
    for template, count in held.most_common():
        print(f"{count:6,} held  {template}")
    for template, count in unasked.most_common():
        print(f"{count:6,} not asked  {template}")
    print(f"{sum(held.values()):,} sentences hold, {wrong:,} do not, {sum(unasked.values()):,} were not asked")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
