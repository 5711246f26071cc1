"""What a verification finds: the account between a config and a checkpoint, in elements."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """One tensor that is not simply the same on both sides.

    Attributes:
        name: In the file; or in the config's class, if the file lacks it.
        reason: Why, or what is wrong.
        elements: By how many elements it makes the file larger than the class (negative: smaller).
        separate: For a second tensor of a tie: True if its values differ, False if all are the same, None if that is
            not known. For any other finding None.
    """

    name: str
    reason: str
    elements: int
    separate: bool | None = None


class Claim(NamedTuple):
    """A figure that the file states of itself, beside what it holds."""

    name: str
    stated: object
    found: int
    holds: bool


class Verification(NamedTuple):
    """A config held against a checkpoint.

    Attributes:
        source, config: The file or files, and what they are held against, in words.
        class_name: The class that the config was read as.
        expected: Its unique parameters.
        found: The elements in the file, shared storages once, packed weights as the matrices they are.
        matched: Tensors of the class that the file holds as they should be.
        matched_elements: Their elements.
        explained, unexplained: All others. Their elements and *expected* add up to *found*.
        claims: What the file states of itself.
        notes: What a reader should know about how the two were read.
    """

    source: str
    config: str
    class_name: str
    expected: int
    found: int
    matched: int
    matched_elements: int
    explained: tuple[Finding, ...]
    unexplained: tuple[Finding, ...]
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def loaded(self) -> int | None:
        """Unique parameters of the class once it is loaded from this file: ties whose values differ are untied.

        None if every tie of the class holds, or whether it does is not known.
        """
        separate = sum(finding.elements for finding in self.explained if finding.separate)
        return self.expected + separate if separate else None

    @property
    def residual(self) -> int:
        """Elements that nothing accounts for; zero if and only if every element is."""
        accounted = self.expected + sum(finding.elements for finding in (*self.explained, *self.unexplained))
        return sum(abs(finding.elements) for finding in self.unexplained) + abs(self.found - accounted)

    @property
    def holds(self) -> bool:
        """Whether every tensor is accounted for and the file's own claims are true."""
        return not self.unexplained and not self.residual and all(claim.holds for claim in self.claims)
