"""Which component of a model the words in front of a number, in its cell or behind it name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.checks.names import strip_names
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.component_words import find_components, speaks_of_parameters, subject
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.numbers import Token

_FILLERS = pattern(
    r"参数量|参数个数|参数总量|参数总数|总参数量|总参数|参数|数量|个数|总量|总计|共有|共|有|的|为|是|约|大约|层|部分|模块|合计|得到|得|即|量|个|网络|机制|"
    r"parameters?|params?|\bha[sv]e?\b|\bis\b|\bare\b|\bof\b|\bwith\b|\ba\b|\btotal\b|\bcounts?\b|\babout\b|\bnumber\b|\bthe\b|\bin\b|\blayers?\b|\bblock\b|"
    r"\bsize\b|\bequals?\b|\btable\b|\bgives?\b|\bmodule\b|\bto\b|\bso\b|\bcontains?\b|\bholds?\b|\baround\b|\broughly\b|\bapproximately\b|\bcomes?\b|\bone\b|\beach\b|\bevery\b|\bsingle\b|\ban\b"
)
_MODEL_WORDS = pattern(r"bert|base|large|model|chinese|uncased|cased|模型|整个|全部|whole|entire|full")
_SHAPE = pattern(r"[(（]\s?\d[\d,]*(?: ?[×x*] ?\d[\d,]*)+\s?[)）]")
"""The shape of a table behind its name: ``the embedding matrix (50257 × 768) holds``."""


def is_plain_label(label: str) -> bool:
    """Tell whether a label is a component's name and nothing else but filling.

    >>> is_plain_label("the attention has"), is_plain_label("attention of the other tower")
    (True, False)
    """
    words = label.lower()
    for mention in reversed(find_components(label)):
        words = f"{words[: mention.start]} {words[mention.end :]}"
    rest = _MODEL_WORDS.sub("", _FILLERS.sub("", _SHAPE.sub("", strip_names(words))))
    return not re.sub(r"[\W\d_]", "", rest)


def component_beside(scene: Scene, before: str, statement: Sequence[Token], end: int, section: str | None) -> tuple[str | None, bool]:
    """Return the component that a number is said to count, and whether that is said plainly."""
    clause = _COMMA.split(before)[-1]
    for label in (clause, before):
        if not find_components(label):
            continue
        if section not in (None, "total") and subject(label)[0] == "total":
            return section, False
        return _component_of(label)
    after = _in_parentheses(scene, statement, end)
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


_COMMA = re.compile(r"[,，](?!\d{3})")


@once_for_each_text
def _component_of(label: str) -> tuple[str | None, bool]:
    """Return the component that a label names, and whether plainly: nothing else stands behind the name."""
    name, clear = subject(label)
    last = find_components(label)[-1]
    if name is None:
        return last.subject if len({m.subject for m in find_components(label)}) > 1 else None, False
    words = _SHAPE.sub("", strip_names(label[last.end :].lower()))
    rest = _MODEL_WORDS.sub("", _FILLERS.sub("", words))
    return name, clear and not re.sub(r"[\W\d_]", "", rest) and len(label) < 120 and "+" not in label


_WHOLE = pattern(r"\b(?:the|this|our|whole) (?:\w+ )?model\b|模型")


def _is_of_model(before: str) -> bool:
    """Tell whether the words before a total are nothing but the model's name and a verb."""
    rest = _MODEL_WORDS.sub("", _FILLERS.sub("", strip_names(before.lower())))
    return not re.sub(r"[\W\d_]", "", rest)


def _in_parentheses(scene: Scene, statement: Sequence[Token], end: int) -> str:
    """Return what stands in parentheses after a number, on its line or alone on the next."""
    line = statement[end - 1].line
    rest = scene.lines[line].text[statement[end - 1].end :].strip(" $")
    if not rest and line + 1 < len(scene.lines):
        rest = scene.lines[line + 1].text.strip()
    match = _PARENTHESES.match(rest) if rest[:1] == "(" else None
    return match[1] if match else ""


_PARENTHESES = re.compile(r"\(([^()]{1,60})\)")
