"""Hold what a text says of components and totals against the model: exact, another convention, rounded, or wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from weighbridge.auditing.checks.arithmetic import Checked
from weighbridge.auditing.checks.context import Scene, claim
from weighbridge.auditing.checks.names import nameless
from weighbridge.auditing.checks.reference_counts import Holding, Holdings, is_one_thing, left_out
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.claims import Claim, Said, said
from weighbridge.auditing.text.component_words import mentioned, speaks_of_parameters, subject
from weighbridge.auditing.text.equations import Chain
from weighbridge.auditing.text.expressions import Parsed, names, numbers, parse, value
from weighbridge.auditing.text.rounding import fit, printed, whole
from weighbridge.auditing.text.sections import sections
from weighbridge.auditing.text.tokens import Token
from weighbridge.core.messages import mark

_FILLERS = re.compile(
    r"参数量|参数个数|参数总量|参数总数|总参数量|总参数|参数|数量|个数|总量|总计|共有|共|有|的|为|是|约|大约|层|部分|模块|合计|得到|得|即|量|个|网络|机制|"
    r"parameters?|params?|\bha[sv]e?\b|\bis\b|\bare\b|\bof\b|\bwith\b|\ba\b|\btotal\b|\bcounts?\b|\babout\b|\bnumber\b|\bthe\b|\bin\b|\blayers?\b|\bblock\b|"
    r"\bsize\b|\bequals?\b|\btable\b|\bgives?\b|\bmodule\b|\bto\b|\bso\b|\bcontains?\b|\baround\b|\broughly\b|\bapproximately\b|\bcomes?\b|\bone\b|\beach\b|\bevery\b|\bsingle\b|\ban\b"
)
_MODEL_WORDS = re.compile(r"bert|base|large|model|chinese|uncased|cased|模型|整个|全部|whole|entire|full")
_BREAKS = frozenset("。；;!?！？|")
_COUNTED = frozenset("k m b bn mn million billion thousand 万 亿 千万 百万 十亿 kb mb 千".split())


class Offer(NamedTuple):
    """A number that is said to be the count of something.

    Attributes:
        first, last: Its tokens, from the beginning of its equation.
        figure: The number's token.
        number: What it says, in its likeliest unit.
        subject: The component, or None.
        firm: Whether the words in front of it say plainly that it is that component's count.
        computed: Whether it is the result of an equation.
        tokens: All numbers it was computed from.
        whole: Whether the words in front of it call it a total.
    """

    first: Token
    last: Token
    figure: Token | None
    number: Fraction
    subject: str | None
    firm: bool
    computed: bool
    tokens: Sequence[Token]
    whole: bool = False


def offers(scene: Scene) -> Iterator[Offer]:
    """Yield every number that is said to be a count, with what it is said to count."""
    about = sections(scene.lines)
    by_statement: dict[int, list[Chain]] = {}
    for chain in scene.chains:
        by_statement.setdefault(id(chain.tokens), []).append(chain)
    sized = {(s.token.line, s.token.start) for s in scene.stated}
    for statement in scene.statements:
        taken: set[int] = set()
        for chain in by_statement.get(id(statement), []):
            taken |= set(range(chain.start, chain.end))
            found = _of_chain(scene, statement, chain, about)
            if found is not None:
                yield found
        yield from _lone(scene, statement, taken, sized, about)


def _of_chain(scene: Scene, statement: Sequence[Token], chain: Chain, about: Sequence[str | None]) -> Offer | None:
    side = chain.sides[-1]
    first = statement[chain.sides[0].start]
    sizes = scene.sizes_at(first.line, first.start)
    values = [value(s.term, printed, sizes) for s in chain.sides]
    plain = [i for i, s in enumerate(chain.sides) if isinstance(s.term, Token) and s.term.kind == "num" and not s.term.unit]
    chosen = plain[-1] if plain else len(values) - 1
    number = values[chosen]
    if number is None or number < 500:
        return None
    before = _words_before(scene, statement, chain.start)
    name, firm = _named(scene, before, statement, chain.end, about[first.line])
    used = [t for s in chain.sides for t in numbers(s.term)]
    total = "total" in {m.subject for m in mentioned(before)} and subject(before)[0] in (None, "total")
    figure = side.term if isinstance(side.term, Token) else None
    if names(side.term) and len(chain.sides) == 1:
        return None
    return Offer(
        first, statement[chain.sides[chosen].end - 1], figure, number, name, firm, len(chain.sides) > 1 or figure is None, used, total
    )


def _lone(
    scene: Scene, statement: Sequence[Token], taken: set[int], sized: set[tuple[int, int]], about: Sequence[str | None]
) -> Iterator[Offer]:
    if any(token.kind == "shape" for token in statement):
        return
    for index, token in enumerate(statement):
        if index in taken:
            continue
        parsed = parse(statement, index, len(statement)) if token.kind in ("num", "(") else None
        if parsed is not None and not isinstance(parsed.term, Token):
            taken |= set(range(index, parsed.end))
            found = None if parsed.dangling else _formula(scene, statement, index, parsed, about)
            if found is not None:
                yield found
            continue
        if token.kind != "num" or index in taken or (token.line, token.start) in sized or not _is_count(token):
            continue
        beside = [statement[i] for i in (index - 1, index + 1) if 0 <= i < len(statement)]
        if any(t.kind == "op" and not (t.text == "*" or t.spaced) for t in beside):
            continue
        number = printed(token)
        assert number is not None
        before = _words_before(scene, statement, index)
        name, firm = _named(scene, before, statement, index + 1, None)
        if name is not None:
            yield Offer(token, token, token, number, name, firm, False, ())


def _formula(scene: Scene, statement: Sequence[Token], index: int, parsed: Parsed, about: Sequence[str | None]) -> Offer | None:
    """Take a formula in numbers that says no result, such as ``token embedding: 30522*768``."""
    number = value(parsed.term, printed, {})
    before = statement[index - 1] if index else None
    if number is None or number < 500 or names(parsed.term) or (before is not None and before.kind == "op" and before.text != "-"):
        return None
    first = statement[index]
    name, firm = _named(scene, _words_before(scene, statement, index), statement, parsed.end, about[first.line])
    product = all(t.value is not None and t.value.denominator == 1 for t in numbers(parsed.term)) and "/" not in {
        t.text for t in statement[index : parsed.end]
    }
    return Offer(first, statement[parsed.end - 1], None, number, name, firm and product, True, numbers(parsed.term))


def _is_count(token: Token) -> bool:
    if token.value is None or token.unit == "%":
        return False
    if token.unit:
        return token.unit in _COUNTED and token.unit not in ("kb", "mb") and token.value > 0
    return token.value >= 1000 and not token.places and not (1900 <= token.value <= 2100 and "," not in token.text)


def _words_before(scene: Scene, statement: Sequence[Token], index: int) -> str:
    """Return the words in front of a place: back to the end of a sentence or cell, within the line."""
    token = statement[min(index, len(statement) - 1)]
    start = index
    while start > 0 and statement[start - 1].line == token.line and statement[start - 1].text not in _BREAKS:
        if token.start - statement[start - 1].start > _LABEL:
            break
        start -= 1
    if start >= index and start > 0 and statement[start - 1].text == "|" and start - 1 > 0:
        return _cell_label(scene, statement, start - 1)
    begin = statement[start].start if start < len(statement) else 0
    label = scene.lines[token.line].text[begin : token.start]
    if not label.strip(" |:-*") and start > 0 and statement[start - 1].text == "|":
        return _cell_label(scene, statement, start - 1)
    return label


_LABEL = 160
"""Characters in front of a number that may be its label."""


def _cell_label(scene: Scene, statement: Sequence[Token], index: int) -> str:
    """Return the first cell of a table's row."""
    line = scene.lines[statement[index].line].text
    cells = [cell for cell in line[: statement[index].start].split("|") if cell.strip()]
    return f"{cells[0]}:" if cells else ""


def _named(scene: Scene, before: str, statement: Sequence[Token], end: int, section: str | None) -> tuple[str | None, bool]:
    """Return the component that a number is said to count, and whether that is said plainly."""
    after = _in_parentheses(scene, statement, end)
    clause = re.split(r"[,，](?!\d{3})", before)[-1]
    for label in (clause, before):
        if not mentioned(label):
            continue
        name, clear = subject(label)
        if name == "total" and section not in (None, "total"):
            return section, False
        last = mentioned(label)[-1]
        rest = _MODEL_WORDS.sub("", _FILLERS.sub("", label[last.end :].lower()))
        plain = clear and not re.sub(r"[\W\d_]", "", rest) and len(label) < 120 and "+" not in label
        if name is None:
            return last.subject if len({m.subject for m in mentioned(label)}) > 1 else None, False
        return name, plain
    if after:
        name, clear = subject(after)
        if name is not None:
            return name, clear and len(after) < 24
    follows = scene.lines[statement[end - 1].line].text[statement[end - 1].end :][:24]
    if speaks_of_parameters(before[-40:]) or speaks_of_parameters(follows):
        if section not in (None, "total"):
            return section, False
        if _WHOLE.search(before.lower()) and _is_of_model(before):
            return "total", True
        if section is None and re.fullmatch(r"\W*it\W+has(?: about)?\W*|\W*(?:它|其)有?\W*", before.lower()):
            return "total", False
        named = scene.mentions.get(statement[end - 1].line)
        return ("total", _is_of_model(before)) if named and named[0].column < statement[end - 1].start else (section, False)
    return section, False


_WHOLE = re.compile(r"\b(?:the|this|our|whole) (?:\w+ )?model\b|模型")


def _is_of_model(before: str) -> bool:
    """Tell whether the words before a total are nothing but the model's name and a verb."""
    rest = _MODEL_WORDS.sub("", _FILLERS.sub("", nameless(before.lower())))
    return not re.sub(r"[\W\d_]", "", rest)


def _in_parentheses(scene: Scene, statement: Sequence[Token], end: int) -> str:
    """Return what stands in parentheses after a number, on its line or alone on the next."""
    line = statement[end - 1].line
    rest = scene.lines[line].text[statement[end - 1].end :].strip(" $")
    if not rest and line + 1 < len(scene.lines):
        rest = scene.lines[line + 1].text.strip()
    match = re.match(r"\(([^()]{1,60})\)", rest)
    return match.group(1) if match else ""


def check(
    scene: Scene, checked: Checked, held: Mapping[str, Holdings], found: Sequence[Offer], *, firm: bool = True, tabled: Collection[int] = ()
) -> Iterator[Claim]:
    """Hold every count that is said to be a component's, or the whole model's, against the model.

    Args:
        found: What :func:`offers` yields.
        firm: Whether the model is sure enough to call a number wrong.
    """
    wrong = {(c.line, c.end) for c in checked.claims if c.verdict in ("wrong", "carried")}
    rest: set[tuple[Fraction, str]] = set()
    for offer in found:
        context = scene.context(offer.first.line, offer.first.start)
        own = held.get(context) if context is not None else None
        if own is None or offer.subject is None or offer.first.line in tabled:
            continue
        if offer.subject == "total" and not offer.computed and offer.number not in checked.slips:
            continue  # a count that is only said: totals.py
        judged = _total(scene, offer, own, checked) if offer.subject == "total" else _component(scene, offer, own, checked)
        if judged is None and offer.whole and offer.number * 2 > own.reference:
            judged = _total(scene, offer, own, checked)
        if judged is None or (judged.line, judged.end) in wrong or (not firm and judged.verdict == "wrong"):
            continue
        if judged.verdict == "wrong" and (offer.number, offer.subject) in rest:
            continue
        rest.add((offer.number, offer.subject))
        yield judged


def _component(scene: Scene, offer: Offer, own: Holdings, checked: Checked) -> Claim | None:
    name = offer.subject
    assert name is not None
    choices = own.components.get(name, [])
    if not choices:
        return None
    if offer.number in checked.slips and not offer.computed:
        return _carried(scene, offer, "component", checked)
    for holding in choices:
        if holding.number == offer.number:
            return _fits(scene, offer, "component", holding)
    if offer.figure is not None and (offer.figure.unit or offer.figure.places):
        for holding in choices[:4]:
            agreed = fit(offer.figure, holding.number)
            if agreed is not None and agreed.verdict != "note":
                return _claim(scene, offer, "component", "rounded", holding.number, agreed.reason + holding.convention)
    if not is_one_thing(own, name):
        return None
    if not offer.computed and not _is_labelled(scene, offer):
        return None
    if not offer.firm or not _is_of_these_sizes(scene, offer) or _is_part(own, name, offer.number):
        return None
    if scene.is_at_other_sizes(offer.first.line) or _OPERATIONS.match(scene.lines[offer.last.line].text, offer.last.end):
        return None
    if offer.figure is not None and offer.figure.unit and not _near(offer.number, choices):
        return None
    nearest = min(choices, key=lambda h: (abs(h.number - offer.number), not h.exact))
    best = choices[0] if abs(choices[0].number - offer.number) <= 3 * abs(nearest.number - offer.number) else nearest
    reason = said(mark("{what} holds {right}"), what=Said(TITLES.get(name, name)), right=best.number)
    return _claim(scene, offer, "component", "wrong", best.number, reason + best.convention)


_OPERATIONS = re.compile(r"\W{0,3}(?:floating|operations?|ops\b|flops?\b|macs?\b|multipl|bytes?\b|次运算|次浮点|次乘)", re.IGNORECASE)
"""Behind a number that counts work or bytes, and no parameters."""
_LABELLED = re.compile(
    r"(?:[:：=]|\bhas|\bhave|\bholds?|\bcontains?|为|是|有|共|is|are)\W*(?:约|about|approximately|roughly|≈|a total of)?\W*$", re.IGNORECASE
)


def _is_labelled(scene: Scene, offer: Offer) -> bool:
    """Tell whether a number that no equation computes stands right behind a colon or a verb of its component."""
    before = scene.lines[offer.first.line].text[: offer.first.start]
    celled = before.rstrip(" ~≈*").endswith("|") and before.count("|") <= 2
    return (celled or bool(_LABELLED.search(before))) and "model" not in before.lower()


def _near(number: Fraction, choices: Sequence[Holding]) -> bool:
    return any(h.number / 3 < number < h.number * 3 for h in choices)


def _total(scene: Scene, offer: Offer, own: Holdings, checked: Checked) -> Claim | None:
    """Judge a computed total: the method is the text's own, so a sum that is no count of the model is at most noted."""
    if offer.number in checked.slips and not offer.computed:
        return _carried(scene, offer, "total", checked)
    if offer.number == own.reference:
        reason = said(mark("the count of {name}"), name=own.class_name)
        return _claim(scene, offer, "total", "exact", Fraction(own.reference), reason)
    for name, count in own.classes.items():
        if offer.number == count:
            return _claim(scene, offer, "total", "convention", Fraction(count), said(mark("the count of {name}"), name=name))
    if offer.figure is not None and (offer.figure.unit or offer.figure.places):
        return _rounded_total(scene, offer, own)
    far = offer.number < Fraction(own.reference, 4) or offer.number > 4 * own.reference
    if far and not _is_mistyped(int(offer.number), own.reference):
        return None
    parts = left_out(own, int(offer.number)) if offer.number.denominator == 1 else None
    if parts is not None:
        what = tuple(part.what for part in parts)
        return _claim(scene, offer, "total", "convention", Fraction(own.reference), said(mark("without {what}"), what=what))
    model = scene.model_at(offer.first.line, offer.first.start)
    if offer.figure is not None and model is not None:
        found = settle(offer.figure, (model,))
        if found is not None:
            return _claim(scene, offer, "total", found.verdict, found.expected, found.reason)
    reason = said(mark("{name} has {right}"), name=own.class_name, right=own.reference)
    return _claim(scene, offer, "total", "note", Fraction(own.reference), reason) if offer.firm else None


def _is_mistyped(number: int, right: int) -> bool:
    """Tell whether a number differs from another in one digit, or is it with one digit more or less."""
    a, b = str(number), str(right)
    if len(a) == len(b):
        return sum(x != y for x, y in zip(a, b, strict=True)) == 1
    short, long = sorted((a, b), key=len)
    return len(long) == len(short) + 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def _rounded_total(scene: Scene, offer: Offer, own: Holdings) -> Claim | None:
    assert offer.figure is not None
    loose = _is_hedged(scene, offer)
    for name, count in {own.class_name: own.reference, **own.classes}.items():
        agreed = fit(offer.figure, Fraction(count), loose=loose)
        if agreed is not None and agreed.verdict != "note":
            reason = agreed.reason + said(mark("{name} has {right}"), name=name, right=count)
            return _claim(scene, offer, "total", "rounded", Fraction(count), reason)
    return None


def _is_hedged(scene: Scene, offer: Offer) -> bool:
    text = scene.lines[offer.first.line].text[: offer.first.start].rstrip(" (*")
    return text.endswith(("约", "≈", "about", "approximately", "roughly", "around", "nearly", "大约", "近", "接近"))


def _is_of_these_sizes(scene: Scene, offer: Offer) -> bool:
    """Tell whether a result was computed from the model's own sizes, as far as its numbers tell."""
    sizes = scene.sizes_at(offer.first.line, offer.first.start)
    known = set(sizes.values()) | {4 * sizes.get("hidden", 0), 64}
    plain = [t.value for t in offer.tokens if t.value is not None and 100 <= t.value < 100_000]
    return all(number in known for number in plain) or not offer.computed


def _is_part(own: Holdings, name: str, number: Fraction) -> bool:
    """Tell whether a number is a single tensor or module inside the component: one matrix of it, say."""
    inside = [cell.number for cell in own.cells]
    singles = set(inside) | {a * n for a in set(inside) for n in (2, 3, 4, 12, 24)}
    others = {h.number for holdings in own.components.values() for h in holdings}
    return number in singles or number in others


def _fits(scene: Scene, offer: Offer, kind: str, holding: Holding) -> Claim:
    verdict = "exact" if holding.exact else "convention"
    return _claim(scene, offer, kind, verdict, holding.number, holding.convention)


def _carried(scene: Scene, offer: Offer, kind: str, checked: Checked) -> Claim:
    slip = checked.slips[offer.number]
    reason = said(mark("follows from the error on line {line}"), line=slip.line)
    return _claim(scene, offer, kind, "carried", slip.mended, reason)


def _claim(scene: Scene, offer: Offer, kind: str, verdict: str, true: Fraction, reason: tuple[Said, ...]) -> Claim:
    facts = {"value": whole(offer.number), "expected": whole(true), "difference": whole(offer.number - true), "reason": reason}
    first = offer.first if offer.first.line == offer.last.line else offer.last
    return claim(scene.lines, first, offer.last, kind, verdict, **facts)


TITLES = {
    "word": mark("the word embedding table"), "position": mark("the position embedding table"), "type": mark("the token type table"),
    "embedding_norm": mark("the embedding norm"), "tables": mark("the embedding tables"), "embeddings": mark("the embedding layer"),
    "attention": mark("the attention"), "query": mark("the query map"), "key": mark("the key map"), "value": mark("the value map"),
    "qkv": mark("query, key and value"), "out": mark("the attention's output projection"), "ffn": mark("the feed-forward network"),
    "gate": mark("the gate of the feed-forward network"), "up": mark("the widening map"), "down": mark("the narrowing map"), "norm": mark("the normalisation"), "layer": mark("a layer"),
    "encoder": mark("the stack of layers"), "pooler": mark("the pooler"), "head": mark("the head"),
}  # fmt: skip
"""What components are called in a sentence."""
