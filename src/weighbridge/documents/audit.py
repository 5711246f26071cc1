"""What an audit shows: annotated lines, a summary, JSON, Markdown, and the text itself marked up."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby

from weighbridge.auditing.claims import Audit, Claim, format_number, say_reason
from weighbridge.core.messages import Say, mark, translator
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.documents.renderers.markup import escape
from weighbridge.documents.renderers.wrapping import measure

LABELS = {
    "exact": mark("exact"),
    "convention": mark("another convention"),
    "rounded": mark("fair"),
    "wrong": mark("wrong"),
    "carried": mark("inherited"),
    "note": mark("note"),
    "unsettled": mark("not judged"),
}
_COLOURS = {
    "exact": "#e6f4ea",
    "convention": "#e8f0fe",
    "rounded": "#eef7e6",
    "wrong": "#fce8e6",
    "carried": "#fef3e0",
    "note": "#f3f0fa",
    "unsettled": "#f1f1f1",
}


QUIET = frozenset(("exact", "unsettled"))
"""Verdicts that are shown only where everything is asked for; the summary counts them."""
_LINES = 6
"""Lines of claims that were not judged that the summary names for each reason."""


def as_json(audit: Audit, say: Say) -> dict[str, object]:
    """Return an audit as JSON can hold it; a fraction is a number with a decimal point."""
    return {
        "model": audit.model or None,
        "assumed": say_reason(audit.assumed, say),
        "summary": audit.summary,
        "subjects": [subject._asdict() for subject in audit.subjects],
        "corrected": audit.corrected,
        "reference": audit.reference,
        "left_out": [{"what": say_reason((left.what,), say), "count": left.count} for left in audit.left_out],
        "claims": [_claim(claim, say) for claim in audit.claims],
    }


def _claim(claim: Claim, say: Say) -> dict[str, object]:
    return {
        "line": claim.line,
        "column": claim.start + 1,
        "text": claim.text,
        "kind": claim.kind,
        "verdict": claim.verdict,
        "value": _number(claim.value),
        "expected": _number(claim.expected),
        "difference": _number(claim.difference),
        "reason": say_reason(claim.reason, say),
    }


def _number(number: object) -> object:
    return float(number) if isinstance(number, Fraction) else number


TONES = {"wrong": "bad", "carried": "mild", "note": "mild", "exact": "good", "unsettled": "quiet"}


def document(audit: Audit, name: str = "", lang: str = "en", *, every: bool = False) -> Document:
    """Lay an audit out: a row for each claim that is not simply exact (or for *every* one), and the summary."""
    say = translator(lang)
    rows = [
        Row(
            (say("line {number}").format(number=claim.line), _shorten(claim.text, 46), remark(claim, say)),
            tone=TONES.get(claim.verdict, ""),
        )
        for claim in audit.claims
        if every or claim.verdict not in QUIET
    ]
    table = Table((Column(say(mark("line"))), Column(say(mark("text"))), Column(say(mark("verdict")))), tuple(rows), headed=False)
    return Document(name, "", (*([table] if rows else []), *notes(summary(audit, say).splitlines())), lang)


def remark(claim: Claim, say: Say) -> str:
    """Return the verdict on a claim with its reason."""
    reason = say_reason(claim.reason, say)
    return say("{label}: ").format(label=say(LABELS[claim.verdict])) + reason if reason else say(LABELS[claim.verdict])


def summary(audit: Audit, say: Say) -> str:
    """Return the summary: the model, the errors, what was not judged and why, and the text's own method with its errors corrected."""
    lines = []
    if audit.model:
        lines.append(
            say(mark("Model: {name} ({why})")).format(name=audit.model.replace(", ", say(", "), 1), why=say_reason(audit.assumed, say))
        )
    slips = len(audit.wrong)
    counts = audit.summary
    counted = say(mark("Errors: {errors}; judged {judged} of {seen} numeric claims."))
    lines.append(counted.format(errors=slips, judged=counts["judged"], seen=counts["seen"]))
    if counts["unsettled"]:
        lines.append(
            say(mark("{number} not judged: {reasons}.")).format(
                number=counts["unsettled"], reasons=say("; ").join(_reasons_not_judged(audit, say))
            )
        )
    if len(audit.subjects) > 1:
        lines.append(say(mark("Models named: {models}.")).format(models=say(", ").join(_subjects(audit, say))))
    if audit.corrected is not None:
        method = (
            mark("With the errors corrected, the article's method gives {number}.")
            if slips
            else mark("The article's method gives {number}.")
        )
        lines.append(say(method).format(number=format_number(audit.corrected)))
        if audit.reference is not None and audit.left_out:
            parts = say(", ").join(f"{say_reason((left.what,), say)} {format_number(left.count)}" for left in audit.left_out)
            left = mark("That method leaves out, of {reference}: {parts} ({total} in all).")
            total = format_number(sum(left.count for left in audit.left_out))
            lines.append(say(left).format(reference=format_number(audit.reference), parts=parts, total=total))
        elif audit.reference == audit.corrected:
            lines.append(say(mark("That is the exact count: nothing is left out.")))
    return "\n".join(lines) + "\n"


def _reasons_not_judged(audit: Audit, say: Say) -> list[str]:
    """Say for each reason how many claims were not judged for it, and where the first of them stand."""
    reasons: dict[str, list[int]] = {}
    for claim in audit.claims:
        if claim.verdict == "unsettled":
            reasons.setdefault(say_reason(claim.reason, say), []).append(claim.line)
    texts = []
    for reason, found in reasons.items():
        lines = list(dict.fromkeys(found))
        first = say(", ").join(map(str, lines[:_LINES])) + (say(", ") + "..." if len(lines) > _LINES else "")
        line = mark("{number} {reason} (lines {lines})") if len(lines) > 1 else mark("{number} {reason} (line {lines})")
        texts.append(say(line).format(number=len(found), reason=reason, lines=first))
    return texts


def _subjects(audit: Audit, say: Say) -> list[str]:
    """Name each model of a text as written, with what it was taken for."""
    texts = []
    for subject in audit.subjects[:12]:
        if subject.kind == "model":
            texts.append(subject.text if subject.text == subject.name else f"{subject.text} = {subject.name}")
        else:
            kind = mark("{name} (a family)") if subject.kind == "family" else mark("{name} (not known)")
            texts.append(say(kind).format(name=subject.text))
    return texts + (["..."] if len(audit.subjects) > len(texts) else [])


def as_html(audit: Audit, say: Say, title: str) -> str:
    """Write the text itself as a page, with every claim marked up and its verdict beside it."""
    by_line = {
        line: sorted(found, key=lambda c: c.end) for line, found in groupby(sorted(audit.claims, key=lambda c: c.line), lambda c: c.line)
    }
    shown_lines: set[int] = set()
    body = ""
    for line in audit.lines:
        if line.number in shown_lines:
            continue  # a piece of a line that is shown whole
        own = [claim for claim in by_line.get(line.number, []) if claim.end <= len(line.raw)]
        shown_lines.add(line.number)
        body += f'<div data-line="{line.number}">{_mark(line.raw, own, say)}</div>\n'
    style = "".join(f".{verdict}{{background:{colour}}}" for verdict, colour in _COLOURS.items())
    closing = "".join(f"<p>{escape(text)}</p>" for text in summary(audit, say).splitlines())
    return (
        f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{escape(title)}</title><style>'
        "body{font:16px/1.6 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}h1{font-size:1.4em}"
        ".text>div{position:relative;white-space:pre-wrap;overflow-wrap:anywhere;min-height:.8em;padding-left:3em}"
        ".text>div::before{content:attr(data-line);position:absolute;left:0;width:2.2em;text-align:right;color:#999;font-size:.8em;"
        "line-height:2}.text>div:empty::before{content:none}"
        f"mark{{padding:0 .15em;border-radius:.2em}}mark.wrong{{outline:2px solid #c5221f}}small{{color:#555;margin-left:.4em}}{style}"
        f'</style></head><body><h1>{escape(title)}</h1>{closing}<div class="text">\n{body}</div></body></html>\n'
    )


def _mark(raw: str, claims: list[Claim], say: Say) -> str:
    out, position = "", 0
    for claim in claims:
        start = max(claim.start, position)
        words = remark(claim, say)
        out += _shown(raw[position:start])
        if claim.end > start:
            out += f'<mark class="{claim.verdict}" title="{escape(words)}">{_shown(raw[start : claim.end])}</mark>'
        if claim.verdict != "exact":
            out += f"<small>[{escape(words)}]</small>"
        position = max(position, claim.end)
    return out + _shown(raw[position:])


def _shown(text: str) -> str:
    """Escape a piece of a text; the lines that a page shows of one line of its file stay lines."""
    return "\n".join(map(escape, text.split("\n")))


def _shorten(text: str, width: int) -> str:
    """Keep the end of a long claim, where its result stands."""
    if measure(text) <= width:
        return text
    kept = text
    while measure(kept) > width - 2:
        kept = kept[1:]
    return f"… {kept}"
