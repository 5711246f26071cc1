"""Sizes that grammar ties to a name: ``GPT-3's 96 layers``, ``the 12 layers of BERT-base``, ``the 24-layer, 1024-dimensional BERT-large``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.fields import field_claim, is_composite
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.stated_fields import named_sentences
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_LABEL = (
    r"(?:(?P<layers>(?:encoder |decoder |transformer |hidden )?(?:layers|blocks))|(?P<kv_heads>(?:kv|key[-/]value) heads)|(?P<heads>(?:attention |query )?heads)|"
    r"(?P<hidden>hidden units|hidden dimensions)|(?P<experts>(?:routed )?experts))\b"
)
_POSSESSIVE = pattern(rf"[*_`]*['’]s?\s(?P<number>\d{{1,5}})\s{_LABEL}(?!['’])", re.IGNORECASE)
_OF = pattern(
    rf"(?:\b(?:all|the|all the|there are)\s|^)(?P<number>\d{{1,5}})\s{_LABEL}(?:\s(?:each )?of (?:width|size) (?P<width>\d[\d,]*))?\s(?:in|of)\s(?:the )?[*_`]*$",
    re.IGNORECASE,
)
_ALSO = pattern(r"\b(?:and|but|while|whereas|,)\s(?P<number>\d{1,5})\s(?:in|for|of)\s(?:the )?[*_`]*$", re.IGNORECASE)
"""Between two names: ``12 layers in BERT-base and 24 in BERT-large``."""
_CHAIN = pattern(
    r"\b[Tt]he (?P<chain>(?:[*_`]*\d[\d,]*[*_`]*[- ](?:layers?|dimensional|dim|heads?|hidden|wide)(?:, (?:and )?| and |,? )){1,4})[*_`]*$"
)
_LINK = pattern(r"(?P<number>\d[\d,]*)[*_`]*[- ](?P<kind>layers?|dimensional|dim|heads?|hidden|wide)", re.IGNORECASE)
_KINDS = {"layer": "layers", "layers": "layers", "head": "heads", "heads": "heads"}
_REACH = 80
_CHOSEN = pattern(r"\s(?:that|which|we|are (?:kept|frozen|used|shared|pruned|removed|dropped)|remain|left|were)\b", re.IGNORECASE)


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the sizes beside each name that the words between the two make its own.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for line, mentions in named_sentences(scene, tabled):
        kind = ""
        for mention in mentions:
            model = _model(scene, mention)
            if model is None:
                kind = ""
                continue
            for word, value, start, end, sure in _sizes_beside(scene.texts[line], mention, kind):
                kind = word if word in _ELIDED else ""
                yield from _hold(scene, model, word, Token("num", "", line, start, end), value, sure=sure)


_ELIDED = ("layers", "heads", "experts")


def _model(scene: Scene, mention: Mention) -> ModelValue | None:
    subject = of_mention(scene, mention, firm=True) if mention.kind == MODEL else None
    if subject is None or subject.models[0].description is None or is_composite(subject.models[0]):
        return None
    return subject.models[0]


def _sizes_beside(text: str, mention: Mention, kind: str) -> Iterator[tuple[str, int, int, int, bool]]:
    """Yield the kind of each size, the number, where that stands, and whether it is the name's beyond doubt."""
    owned = _POSSESSIVE.match(text, mention.end)
    if owned is not None and _CHOSEN.match(text, owned.end()) is None:
        yield str(owned.lastgroup), int(owned["number"]), *owned.span("number"), True
    first = max(0, mention.column - _REACH)
    of = _OF.search(text, first, mention.column)
    if of is not None and _CHOSEN.match(text, mention.end) is None and (kind == "" or of.start() > 0):
        word = next(word for word in ("layers", "kv_heads", "heads", "hidden", "experts") if of[word])
        yield word, int(of["number"]), *of.span("number"), True
        if of["width"]:
            yield "hidden", int(of["width"].replace(",", "")), *of.span("width"), True
    also = _ALSO.search(text, first, mention.column) if kind else None
    if also is not None:
        yield kind, int(also["number"]), *also.span("number"), True
    chain = _CHAIN.search(text, first, mention.column)
    links: Sequence[re.Match[str]] = list(_LINK.finditer(text, chain.start("chain"), chain.end("chain"))) if chain is not None else ()
    for link in links:
        yield _KINDS.get(link["kind"].lower(), "hidden"), int(link["number"].replace(",", "")), *link.span("number"), len(links) > 1


def _hold(scene: Scene, model: ModelValue, word: str, token: Token, value: int, *, sure: bool) -> Iterator[Claim]:
    alike = values_of(model, word) | (values_of(model, "width") if word == "hidden" else frozenset())
    alike |= values_of(model, "heads" if word == "kv_heads" else "kv_heads") if word in ("heads", "kv_heads") else frozenset()
    right = main_values(model).get(word) or next(iter(values_of(model, word)), None)
    if value in values_of(model, word) or (word == "hidden" and value in alike):
        yield field_claim(scene, token, word, value, value, "exact")
    elif sure and right is not None and value not in alike and value > 1:
        yield field_claim(scene, token, word, value, right, "wrong")
