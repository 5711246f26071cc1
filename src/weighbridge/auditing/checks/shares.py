"""Check shares of the total, such as ``the embeddings are about 20% of all parameters``."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from weighbridge.auditing.checks.component_counts import ComponentCount
from weighbridge.auditing.checks.offers import Offer
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.checks.titles import COMPONENT_TITLES
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.component_words import find_components, subject
from weighbridge.auditing.text.equations import Chain
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import Fit, fit, likeliest_value
from weighbridge.core.messages import mark

_OF_THE_WHOLE = pattern(
    r"占|explains|of (?:the |all |its |all the )?(?:total|parameters|whole|model|params|weights|bert)|share|account|总量|总参数|of all"
)
_WHOLE_FIRST = pattern(
    r"\W{0,2} ?of (?:the |all |its |all the |all of its )?(?:model'?s? )?(?:total )?(?:parameters|params|weights)(?: of [\w.\- ]{2,30}?)?"
    r" (?:are |is |sits? |lies? |lives? |goes? |go |comes? )?(?:in|on|to|into|from|for) (?P<part>.+)"
)
"""A share that its component follows: ``31% of all parameters are in the token embeddings``."""
_LEADING = pattern(r"leading term|主导项|首项|主项")
_OTHERWISE = pattern(
    r"准确率|\bke(?:ep|eps|pt)\b|prun|remov|zero|sparse|剪|保留|accuracy|f1|loss|dropout|faster|speed|提升|提高|下降|mask|概率|probability|score|learning rate|时间|time|per layer|每层|a layer|one layer|单层"
)


def check(scene: Scene, held: Mapping[str, ReferenceCounts], found: Sequence[Offer], *, firm: bool = True) -> Iterator[Claim]:
    """Hold every share that is said of a component against the text's own numbers and against the model."""
    if not firm:
        return
    totals = dict.fromkeys(offer.number for offer in found if offer.subject == "total" and offer.computed and offer.number > 10**6)
    for statement in scene.numbered:
        start = 0
        for index, token in enumerate(statement):
            if token.line != statement[start].line:
                start = index
            if token.kind == "num" and token.unit == "%":
                own = held.get(scene.context(token.line, token.start) or "")
                judged = (
                    None
                    if own is None
                    else _check_beside(scene, statement, index, own, totals) or _of_words(scene, statement, start, index, own, totals)
                )
                if judged is not None:
                    yield judged
                start = index + 1 if index + 1 < len(statement) else index


def _check_beside(scene: Scene, statement: Sequence[Token], index: int, own: ReferenceCounts, totals: Collection[Fraction]) -> Claim | None:
    """Check a share that stands beside the number it is the share of: ``2,362,368 · 25.9%``."""
    token = statement[index]
    if index < 2 or statement[index - 1].text not in ("·", "(", "|", ","):
        return None
    before = statement[index - 2]
    if before.kind != "num" or before.unit or before.places or before.value is None or before.line != token.line or before.value < 100:
        return None
    layers = max(cell.copies for cell in own.cells)
    wholes = (
        Fraction(own.reference),
        *totals,
        *(h.number for name in ("layer", "encoder", "attention", "ffn", "embeddings") for h in own.components.get(name, ()) if h.exact),
    )
    counted = [before.value * times for times in (1, layers)]
    truths = [count / whole for whole in dict.fromkeys(wholes) if whole for count in counted if count <= whole]
    beside = (t.value for t in statement if t.kind == "num" and t.line == token.line and t.value and not t.unit and t.value > before.value)
    truths += [before.value / whole for whole in beside]  # ``254,655,744 | 7,077,888 | 2.78%`` is a share of its own row's total
    fits = sorted((found for true in truths if (found := _is_near(token, true)) is not None), key=lambda found: found.verdict == "note")
    known = any(before.value == h.number for holdings in own.components.values() for h in holdings)
    facts = _facts(token, before.value / own.reference)
    if fits:
        return claim(scene.lines, before, token, "share", fits[0].verdict, **facts, reason=fits[0].reason)
    if not known or statement[index - 1].text == ",":
        return None
    every = {h.number for h in own.components.get("layer", ())} | {h.number for h in own.components.get("encoder", ())}
    inside = before.value not in every and any(h.number == before.value and h.formula == p.formula for h, p in _layer_pairs(own))
    right = before.value * (layers if inside else 1) / own.reference
    reason = because(
        mark("{number} of {whole} is {share}%"),
        number=before.value * (layers if inside else 1),
        whole=own.reference,
        share=f"{float(right * 100):.1f}",
    )
    return claim(scene.lines, before, token, "share", "wrong", **_facts(token, right), reason=reason)


def _is_near(token: Token, true: Fraction) -> Fit | None:
    """Tell whether a share is rounded to the nearest, or else to a neighbour, as shares are that must add up to 100."""
    assert token.value is not None
    away = abs(token.value - true * 100) * 10**token.places
    if away == 0:
        return Fit("exact")
    if away * 2 <= 1:
        return Fit("rounded", because(mark("rounded")))
    return Fit("note", because(mark("not to the nearest, as shares that add up to 100"))) if away < 1 else None


def _layer_pairs(own: ReferenceCounts) -> list[tuple[ComponentCount, ComponentCount]]:
    """Return what stands in each layer, paired with itself."""
    return [(h, h) for name in ("attention", "ffn", "norm") for h in own.components.get(name, ()) if not h.convention]


def _of_words(
    scene: Scene, statement: Sequence[Token], start: int, index: int, own: ReferenceCounts, totals: Collection[Fraction]
) -> Claim | None:
    """Check a share of a component that is named in words."""
    token = statement[index]
    line = scene.lines[token.line].text
    clause = re.split(r"[。;；|]", line[statement[start].start : token.start])[-1]
    tail = re.split(r"[。;；,，|]", line[token.end :])[0]
    last = re.split(r"[,，]", clause)[-1]
    if not _OF_THE_WHOLE.search(f"{clause} {tail}".lower()) or _OTHERWISE.search(line.lower()):
        return None
    if _LEADING.search(clause.lower()):
        return _leading_term_claim(scene, token, own)
    part = _WHOLE_FIRST.match(tail.lower())
    name, clear = _subject(part["part"] if part is not None else last)
    if name is None and part is None:
        name, clear = _subject(clause)
        between = re.split(r"[,，](?!\d{3})", clause)[1:]
        clear = clear and not any(re.search(r"\d", piece) for piece in between)  # ``the layers 85M, the rows 23.4M, that is 21%``
    if name in (None, "total") or not own.components.get(str(name)):
        return None
    held = [h for part in (str(name), *_ALSO.get(str(name), ())) for h in own.components.get(part, ())]
    holdings = [h for h in held if h.number * 200 > own.reference] or held
    layers = [h.number for part in ("layer", "encoder") for h in own.components.get(part, ()) if h.number]
    wholes = (Fraction(own.reference), *totals, *layers)
    truths = [h.number / whole for whole in wholes for h in holdings if h.number < whole]
    if name in _TABLES:  # an untied head is a table of the same size, which some count with the embeddings
        truths += [2 * h.number / Fraction(own.reference) for h in holdings if h.exact and 2 * h.number < own.reference]
    said = (number for t in statement[start:index] if t.kind == "num" and t.unit != "%" and (number := likeliest_value(t)) is not None)
    truths += [number / whole for number in said for whole in wholes[:1] if 10**6 <= number < whole]  # ``58 层共约 654B，占总参数的 97%``
    loose = bool(re.search(r"约|接近|about|approx|roughly|nearly|around|~|≈|大概|左右|almost", f"{clause} {tail[:6]}"))
    fits = [found for true in truths if (found := fit(token, true, loose=loose)) is not None and found.verdict != "note"]
    right = max(h.number for h in holdings if h.exact or h is holdings[0]) / own.reference
    if fits:
        return claim(scene.lines, token, token, "share", fits[0].verdict, **_facts(token, right), reason=fits[0].reason)
    spoken = find_components(part["part"] if part is not None else last.lower())
    if not clear or len({m.subject for m in spoken} - {"total"}) > 1 or re.search(r"分别|respectively", line):
        return None  # of two components, in an order that is not read
    reason = because(mark("of {name}, {what} is {share}%"), name=own.class_name, what=_title(str(name)), share=f"{float(right * 100):.1f}")
    return claim(scene.lines, token, token, "share", "wrong", **_facts(token, right), reason=reason)


_ALSO = {"embeddings": ("tables", "word"), "encoder": ("layer",)}
"""What else people mean by a component's name when they give its share."""


_TABLES = ("word", "embeddings", "tables")


def _subject(words: str) -> tuple[str | None, bool]:
    """Return the component that words speak of, the whole it is a share of left aside."""
    return subject(_WHOLE_AND_FORM.sub("", words.lower()))


_WHOLE_AND_FORM = pattern(
    r"参数总量|总参数量|总量|总参数|总参数的|total|(?<=embedding) (?:weight )?matri(?:x|ces)\b|(?<=embeddings) (?:weight )?matri(?:x|ces)\b|(?<=嵌入)(?:权重)?矩阵|(?<=嵌入)(?:权重|层权重)"
)
"""The whole that a share is of, and that an embedding is one matrix."""


def _leading_term_claim(scene: Scene, token: Token, own: ReferenceCounts) -> Claim | None:
    """Check the share of a leading term, which the equation before it computes."""
    place = bisect_right(scene.chains, token.line, key=_last_line)
    near = place > 0 and _last_line(scene.chains[place - 1]) >= token.line - 6
    term = scene.chains[place - 1].sides[-1].term if near else None
    if not isinstance(term, Token) or term.value is None:
        return None
    right = term.value / own.reference
    found = fit(token, right)
    if found is not None and found.verdict in ("exact", "rounded"):
        return claim(scene.lines, token, token, "share", found.verdict, **_facts(token, right), reason=found.reason)
    reason = because(mark("{number} of {whole} is {share}%"), number=term.value, whole=own.reference, share=f"{float(right * 100):.1f}")
    return claim(scene.lines, token, token, "share", "wrong", **_facts(token, right), reason=reason)


def _last_line(chain: Chain) -> int:
    return chain.tokens[chain.end - 1].line


def _facts(token: Token, right: Fraction) -> dict[str, object]:
    rounded = round(right * 100, 1)
    return {"value": token.value, "expected": rounded, "difference": (token.value or Fraction(0)) - rounded}


def _title(name: str) -> object:
    return Sentence(COMPONENT_TITLES.get(name, name))
