"""Check every numeric claim of an article, a model card or notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.proofs.audit.arithmetic import check
from weighbridge.proofs.audit.claims import Audit, Claim, Left, Line
from weighbridge.proofs.audit.reading import read_lines
from weighbridge.proofs.audit.scene import understand

if TYPE_CHECKING:
    from weighbridge.model import Model


def audit(data: bytes | str, *, name: str = "", model: Model | None = None) -> Audit:
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
    scene = understand(lines, model)
    checked = check(scene)
    main, weighed = scene.main, scene.models.get("")
    named = f"{weighed.class_name or weighed.kind}, {main.name}" if main is not None and weighed is not None else ""
    return Audit(checked.claims, named, main.why if main is not None else (), None, None, (), lines)


__all__ = ["Audit", "Claim", "Left", "Line", "audit"]
