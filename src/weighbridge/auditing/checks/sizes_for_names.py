"""One size that a sentence, or a list, gives to several models: ``12 heads in the base model and 16 in the large one``, ``- 384 for ViT-S``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import main_values
from weighbridge.auditing.checks.fields import field_claim
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import SUPPOSED
from weighbridge.auditing.checks.sentence_subjects import sentence_bounds
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.checks.topics import is_composite, widths_of
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import AGREED_COLUMN, AGREED_VALUES
from weighbridge.auditing.text.described_sizes import find_described_sizes
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.seen_sizes import seen_sizes
from weighbridge.auditing.text.settings import kind_of_key
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class _Pair(NamedTuple):
    """A number, where it stands, and the models that it is said of."""

    line: int
    start: int
    end: int
    value: int
    models: tuple[ModelValue, ...]


_NUMBER = r"(?<![\d.,A-Za-z_×x*/-])(?P<number>\d{1,3}(?:,\d{3})+|\d{1,6})"
_FOR = pattern(rf"{_NUMBER}(?:\s[A-Za-z][\w-]*){{0,2}}?\s(?:for|in|of|at|on)\s(?:the\s)?[*_`]*$", re.IGNORECASE)
"""A number before a name: ``16 heads in BERT-large``, ``4096 for large``."""
_HAS = pattern(
    rf"[*_`\"']*(?:\s(?:model|one|variant|version))?(?:\s(?:has|uses|with|to|at|it has|it is)|\s?[:=])\s(?:only\s)?{_NUMBER}(?=\s|[.,;)]|$)(?![.,]\d)",
    re.IGNORECASE,
)
"""And behind one: ``and BERT-large has 24``."""
_ITEM = pattern(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+|\s+(?=[\"'])")
_LABEL = pattern(
    r"\b(?:(?P<hidden>(?:embedding|hidden|model)[ -](?:dim\w*|size|width)|d_model)|(?P<layers>number of (?:transformer |encoder |decoder )?(?:layers|blocks)|depth)|(?P<heads>number of (?:attention )?heads)"
    r"|(?P<mlp>(?:feed-?forward|ffn|mlp|intermediate)[ -](?:dim\w*|size|width))|(?P<vocab>vocab\w*(?: size)?))\b[^:]{0,24}:\s*$",
    re.IGNORECASE,
)
"""A line that opens a list of one size: ``The embedding dimension is:``."""
_UNITS = pattern(r"\s?(?:[MBKG]\b|million|billion|%|GB|MB|x\b|×|tokens?\b|gpus?\b|steps?\b|epochs?\b|points?\b|param)", re.IGNORECASE)


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the numbers beside names that share one size's name; the one that is not its model's is wrong where all others are.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for line in scene.named_lines:
        text = scene.lines[line].text
        if line not in tabled and "|" not in text and len(text) <= LONGEST:
            for start, stop in _sentences(scene, line):
                yield from _judge(scene, _pairs(scene, line, start, stop), _word_of(text[start:stop]))
    for index, text in enumerate(scene.texts):
        if index not in tabled and text.rstrip().endswith((":", "=", "{")):
            pairs = list(_items(scene, index))
            yield from _judge(scene, pairs, _word_of_list(text, pairs) if pairs else "")


def _word_of_list(text: str, pairs: Sequence[_Pair]) -> str:
    """Return the size that a list is of, by the line above it, or by what all its numbers but one are of their models."""
    label, key = _LABEL.search(text), _KEY.fullmatch(text)
    if label is not None:
        return str(label.lastgroup)
    named = kind_of_key(key["key"]) if key is not None else None
    if named is not None:
        return named
    fitting = [word for word in _WORDS if len(pairs) >= AGREED_COLUMN and _are_nearly_all(word, pairs)]
    return fitting[0] if len(fitting) == 1 else ""


def _are_nearly_all(word: str, pairs: Sequence[_Pair]) -> bool:
    right = [pair.value for pair in pairs if main_values(pair.models[0]).get(word) == pair.value]
    return len(pairs) - len(right) <= 1 and len(set(right)) >= AGREED_VALUES


_WORDS = ("layers", "heads", "hidden", "mlp", "kv_heads", "vocab")
_KEY = pattern(r"\s*(?P<key>[A-Za-z_]\w{2,40})\s*(?::[^=]{1,40})?=\s*\{?\s*")
"""The name of a dict whose keys are models: ``HIDDEN_SIZE = {``."""


def _sentences(scene: Scene, line: int) -> Sequence[tuple[int, int]]:
    return list(dict.fromkeys(sentence_bounds(scene, line, m.column) for m in scene.mentions[line]))


def _word_of(text: str) -> str:
    """Return the one size that a sentence speaks of, if it is one."""
    words = {size.word for size in find_described_sizes(text)} or {seen.word for seen in seen_sizes(text)}
    words -= {"types", ""}
    return next(iter(words)) if len(words) == 1 else ""


def _pairs(scene: Scene, line: int, start: int, stop: int) -> list[_Pair]:
    """Return the numbers of a sentence that stand right beside a model's name, each once."""
    text = scene.lines[line].text
    found: dict[int, _Pair] = {}
    for mention in scene.mentions[line]:
        if mention.kind == MODEL and start <= mention.column < stop:
            pair = _pair(scene, line, mention, start)
            if pair is not None and not _UNITS.match(text, pair.end):
                found.setdefault(pair.start, pair)
    return list(found.values())


def _pair(scene: Scene, line: int, mention: Mention, start: int) -> _Pair | None:
    text = scene.lines[line].text
    beside = _FOR.search(text, start, mention.column) or _HAS.match(text, mention.end)
    subject = of_mention(scene, mention, firm=True)
    models = tuple(model for model in subject.models if not is_composite(model)) if subject is not None else ()
    if beside is None or not models:
        return None
    return _Pair(line, *beside.span("number"), int(beside["number"].replace(",", "")), models)


def _items(scene: Scene, label: int) -> Iterator[_Pair]:
    """Yield the pairs of a list below its label, one an item."""
    for line in range(label + 1, min(len(scene.lines), label + _MOST)):
        text = scene.lines[line].text
        item = _ITEM.match(text)
        if item is None:
            if text.strip():
                return
            continue
        named = [m for m in scene.mentions.get(line, ()) if m.kind == MODEL]
        pair = _pair(scene, line, named[0], item.end()) if len(named) == 1 else None
        if pair is not None:
            yield pair


_MOST = 16


def _judge(scene: Scene, pairs: Sequence[_Pair], word: str) -> Iterator[Claim]:
    if len(pairs) < _FEW or word not in SIZE_TITLES or len({pair.models for pair in pairs}) < _FEW:
        return
    own = [any(pair.value in widths_of(model, word) for model in pair.models) for pair in pairs]
    if own.count(False) > 1 or not any(own):
        return
    for pair, right in zip(pairs, own, strict=True):
        token = Token("num", "", pair.line, pair.start, pair.end)
        if right:
            yield field_claim(scene, token, word, pair.value, pair.value, "exact")
        elif own.count(True) >= _FEW or not (is_of_their_own(scene, pair.line) or SUPPOSED.search(scene.lines[pair.line].text)):
            yield from _wrong(scene, token, pair, word, pairs)


_FEW = 2


def _wrong(scene: Scene, token: Token, pair: _Pair, word: str, pairs: Sequence[_Pair]) -> Iterator[Claim]:
    """Say that a number is wrong, unless it is that of another of the models: the names may be exchanged."""
    right = main_values(pair.models[0]).get(word)
    exchanged = any(pair.value in widths_of(model, word) for other in pairs for model in other.models)
    if right is not None and not exchanged and pair.value > 1:
        yield field_claim(scene, token, word, pair.value, right, "wrong")
