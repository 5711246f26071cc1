"""Check shares of the total, such as ``the embeddings are about 20% of all parameters``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from weighbridge.messages import mark
from weighbridge.proofs.audit.arithmetic import Checked
from weighbridge.proofs.audit.claims import Claim, said
from weighbridge.proofs.audit.components import TITLES, offers
from weighbridge.proofs.audit.figures import fit
from weighbridge.proofs.audit.holdings import Holdings
from weighbridge.proofs.audit.scene import Scene, claim
from weighbridge.proofs.audit.subjects import subject

_OF_THE_WHOLE = re.compile(r"占|of (?:the |all )?(?:total|parameters|whole|model|params|bert)|share|account|总量|总参数|of all")
_OTHERWISE = re.compile(
    r"准确率|accuracy|f1|loss|dropout|faster|speed|提升|提高|下降|mask|概率|probability|score|learning rate|时间|time|per layer|每层|a layer|one layer|单层"
)


def check(scene: Scene, checked: Checked, held: Mapping[str, Holdings], *, firm: bool = True) -> Iterator[Claim]:
    """Hold every share that is said of a component against the text's own numbers and against the model."""
    totals = _totals(scene, checked)
    for statement in scene.statements:
        floor = 0
        for index, token in enumerate(statement):
            if token.kind != "num" or token.unit != "%":
                continue
            line = scene.lines[token.line].text
            start = statement[floor].start if statement[floor].line == token.line else 0
            clause = re.split(r"[。;；|]", line[start : token.start])[-1]
            tail = re.split(r"[。;；,，|]", line[token.end :])[0]
            floor = min(index + 1, len(statement) - 1)
            name, clear = subject(re.split(r"[,，]", clause)[-1])
            if name == "total" or name is None:
                name, clear = subject(re.sub("参数总量|总参数量|总量|总参数|total", "", re.split(r"[,，]", clause)[-1].lower()))
            if name in (None, "total") or not _OF_THE_WHOLE.search(f"{clause} {tail}".lower()) or _OTHERWISE.search(line.lower()):
                continue
            own = held.get(scene.context(token.line, token.start) or "")
            if own is None or not firm or name not in own.components or not own.components[name]:
                continue
            holdings = [h for h in own.components[name] if h.number * 200 > own.reference] or own.components[name]
            truths = [h.number / total for total in (Fraction(own.reference), *totals) for h in holdings]
            loose = bool(re.search(r"约|about|approx|roughly|nearly|around|~|≈|大概|左右|almost", f"{clause} {tail[:6]}"))
            fits = [found for true in truths if (found := fit(token, true, loose=loose)) is not None and found.verdict != "note"]
            right = holdings[0].number / own.reference
            facts = {"value": token.value, "expected": round(right * 100, 1), "difference": token.value - round(right * 100, 1)}  # type: ignore[operator]
            if fits:
                exact = fits[0].verdict
                yield claim(scene.lines, token, token, "share", exact, **facts, reason=fits[0].reason)
            elif clear:
                reason = said(
                    mark("of {name}, {what} is {share} %"), name=own.class_name, what=_title(str(name)), share=f"{float(right * 100):.1f}"
                )
                yield claim(scene.lines, token, token, "share", "wrong", **facts, reason=reason)


def _title(name: str) -> object:
    from weighbridge.proofs.audit.claims import Said

    return Said(TITLES.get(name, name))


def _totals(scene: Scene, checked: Checked) -> list[Fraction]:
    """Return the totals that the text computes itself."""
    return [offer.number for offer in offers(scene, checked) if offer.subject == "total" and offer.computed and offer.number > 10**6]
