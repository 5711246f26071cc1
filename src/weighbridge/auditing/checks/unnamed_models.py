"""Wrong claims that a sentence, a call or a comment makes of another model than the one at hand, whichever check made them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import field_values
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.openings import sentence_of
from weighbridge.auditing.text.other_models import brings_another_model


def leave_out(scene: Scene, claims: Iterable[Claim], tabled: Collection[int]) -> list[Claim]:
    """Return the claims without those that are wrong of a model, and stand in a sentence about another that it does not name, whichever check made them.

    Args:
        tabled: The numbers of the lines whose rows or columns are models.
    """
    index_of = {line.number: index for index, line in enumerate(scene.lines)}
    found = list(claims)
    right, agreed = (
        _starts(found, ("exact",), ("configuration",)),
        _starts(found, ("exact", "rounded", "convention"), ("configuration", "total")),
    )
    return [
        one
        for one in found
        if one.verdict != "wrong"
        or one.kind not in ("configuration", "total")
        or one.line in tabled
        or not _is_anothers(scene, index_of[one.line], one, right, agreed)
    ]


def _starts(claims: Iterable[Claim], verdicts: Collection[str], kinds: Collection[str]) -> dict[int, list[int]]:
    """Return where the claims of some kinds begin that have one of some verdicts, by line."""
    found: dict[int, list[int]] = {}
    for one in claims:
        if one.verdict in verdicts and one.kind in kinds:
            found.setdefault(one.line, []).append(one.start)
    return found


def _is_anothers(scene: Scene, index: int, claim: Claim, right: Mapping[int, Sequence[int]], agreed: Mapping[int, Sequence[int]]) -> bool:
    text = scene.lines[index].text
    mentions = scene.mentions.get(index, ())
    at = _column(scene, index, claim.start)
    return (
        _SAME_AS.search(text, 0, at) is not None
        or brings_another_model(text, at, tuple(m.column for m in mentions))
        or _is_of_a_demo(text, at)
        or _is_of_the_next(scene, index, at, claim)
        or _is_of_a_bare_size(scene, index, at, [_column(scene, index, start) for start in agreed.get(claim.line, ())])
        or _is_called_with_others(text, at, [_column(scene, index, start) for start in right.get(claim.line, ())])
    )


_SAME_AS = pattern(r"与[^,，。;；()（）]{2,40}(?:相同|一样|类似)的[^,，。;；()（）]{0,12}[(（][^()（）]*$")
"""What goes on about a model that is likened to the one named: ``使用与 RoBERTa-large 相同的编码器架构（12 层``."""


def _is_of_a_bare_size(scene: Scene, index: int, at: int, agreed: Sequence[int]) -> bool:
    """Tell whether a number is said of a size that has no name beside it, ``large 版本有 2.3 亿参数``, and nothing else there is that model's: it may be the author's own."""
    text = scene.lines[index].text
    mentions = scene.mentions.get(index, ())
    before = [m for m in mentions if m.column <= at]
    if not before or _BARE_SIZE.match(text, before[-1].column) is None:
        return False
    stops = [*(m.column for m in mentions[1:]), len(text)]
    bare = [(m.end, stop) for m, stop in zip(mentions, stops, strict=True) if _BARE_SIZE.match(text, m.column) is not None]
    return not any(start <= place < stop for start, stop in bare for place in agreed)


_BARE_SIZE = pattern(r"(?:large|base|mini|small|medium|tiny|huge|xl)\s?(?:号|尺寸|规模)?的?版", re.IGNORECASE)


def _column(scene: Scene, index: int, at: int) -> int:
    """Return where a place of a line as it was written stands in the line as it is read."""
    places = scene.lines[index].at
    return bisect_left(places, at) if places else at


def _is_of_a_demo(text: str, at: int) -> bool:
    """Tell whether a comment says that what its line sets is not what the model has: ``n_layer = 2  # reduced for the demo``."""
    comment = _COMMENT.search(text, at)
    set_before = comment is not None and ("=" in text[: comment.start()] or ":" in text[: comment.start()])
    return comment is not None and set_before and _DEMO.search(text, comment.end()) is not None


_COMMENT = pattern(r"#|(?<!:)//")
_DEMO = pattern(
    r"\b(?:reduced|smaller|small|tiny|toy|demo|debug\w*|test\w*|instead of|was|originally|default|example|faster|speed|lower|changed?|modified|original)\b",
    re.IGNORECASE,
)


def _is_of_the_next(scene: Scene, index: int, at: int, claim: Claim) -> bool:
    """Tell whether a size opens the sentence of a model that is named behind it, and is that model's: ``With 24 layers, GPT-2 medium is``."""
    text = scene.lines[index].text
    start, stop = sentence_of(text, at)
    inside = [m for m in scene.mentions.get(index, ()) if start <= m.column < stop]
    if claim.kind != "configuration" or not inside or inside[0].column < at or _WITH.match(text, start) is None:
        return False
    subject = of_mention(scene, inside[0], firm=False)
    return subject is not None and any(claim.value in sizes for model in subject.models for sizes in field_values(model).values())


_WITH = pattern(r"\W*(?:with|at|having|featuring|despite|using|thanks to)\b", re.IGNORECASE)


def _is_called_with_others(text: str, at: int, right: Sequence[int]) -> bool:
    """Tell whether a size is an argument of a call, none of whose others is the model's: ``Transformer(dim=512, depth=6, heads=8)``."""
    call = next((found for found in _CALL.finditer(text) if found.start("arguments") <= at < found.end("arguments")), None)
    if call is None or len(_ARGUMENT.findall(call["arguments"])) < _ARGUMENTS:
        return False
    return not any(call.start("arguments") <= place < call.end("arguments") for place in right)


_CALL = pattern(r"\w\((?P<arguments>[^()]*=[^()]*)\)")
_ARGUMENT = pattern(r"\w\s?=\s?\d")
_ARGUMENTS = 2
"""Numbers that a call is given at least."""
