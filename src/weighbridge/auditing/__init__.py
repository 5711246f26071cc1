"""Check every numeric claim of an article, a model card or notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.auditing.checks import arithmetic, components, configuration, formulas, own_output, shares, tensors
from weighbridge.auditing.checks.context import Scene, understand
from weighbridge.auditing.checks.corrected_total import mended
from weighbridge.auditing.checks.reference_counts import Holdings, holdings
from weighbridge.auditing.claims import Audit, Claim, Left, Line
from weighbridge.auditing.text.reading import read_lines

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def audit(data: bytes | str, *, name: str = "", model: ModelValue | None = None) -> Audit:
    """Check every numeric claim of a text.

    Args:
        data: The text, or the bytes of its file.
        name: The file's name; its ending may say what it is.
        model: The model it is about; without one, the text's names and sizes tell, or it is checked against itself alone.

    Raises:
        ReadError: It is no text.

    >>> [claim.verdict for claim in audit("30522 × 768 = 23,449,856").claims]
    ['wrong']
    """
    lines = read_lines(data.encode() if isinstance(data, str) else data, name)
    written = own_output.recognised(lines, model)
    alone = own_output.letters(lines) if model is None and written is None else None
    scene = understand(lines, model, written.model if written else None, alone=alone)
    checked = arithmetic.check(scene)
    held = {context: holdings(weighed) for context, weighed in scene.models.items()}
    firm = scene.main is not None and scene.main.firm
    lettered = list(formulas.check(scene, held))
    known = {(claim.line, claim.end) for claim in lettered if claim.verdict == "wrong"}
    claims = [claim for claim in checked.claims if claim.verdict != "wrong" or (claim.line, claim.end) not in known]
    claims += [*lettered, *tensors.check(scene), *configuration.check(scene, firm=firm)]
    offered = list(components.offers(scene))
    claims += components.check(scene, checked, held, offered, firm=firm)
    claims += shares.check(scene, held, offered, firm=firm)
    if written is not None:
        claims = own_output.check(lines, written, claims)
    total, left = mended(scene, checked, held, offered)
    main = held.get("")
    reference = main.reference if main is not None and firm else None
    return Audit(_ordered(claims), _name(scene, held), scene.main.why if scene.main else (), total, reference, left, lines)


def _name(scene: Scene, held: dict[str, Holdings]) -> str:
    return f"{held[''].class_name}, {scene.main.name}" if scene.main is not None and "" in held else ""


def _ordered(claims: list[Claim]) -> tuple[Claim, ...]:
    """Return claims in the order of the text, each once."""
    return tuple(dict.fromkeys(sorted(claims, key=lambda claim: (claim.line, claim.end, claim.start))))


__all__ = ["Audit", "Claim", "Left", "Line", "audit"]
