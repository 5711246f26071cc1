"""The one size of a sentence, or of a section, that is not the model's where enough others there are: their agreement says what it is about."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence

from weighbridge.auditing.checks.count_subjects import goes_on_elsewhere
from weighbridge.auditing.checks.field_values import main_values, values_of
from weighbridge.auditing.checks.fields import BUILT_WITH, field_claim
from weighbridge.auditing.checks.free_sizes import is_free
from weighbridge.auditing.checks.introduced_lists import introducing_model
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import is_clean
from weighbridge.auditing.checks.sentence_subjects import OPENS_WITH_IT, WIDTHS, Sentence, is_own_size, only_model, sections
from weighbridge.auditing.checks.sister_models import is_size_of_sister
from weighbridge.auditing.checks.size_doubts import is_of_another_type
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import DescribedSize
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import AGREED_BLOCK, AGREED_FIELDS
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import FAMILY

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def check(scene: Scene, tabled: Collection[int], claims: Sequence[Claim]) -> Iterator[Claim]:
    """Check the sizes of sentences about one model; one is wrong where the others of its sentence and section settle that it is about that model.

    Args:
        tabled: The lines of tables whose rows or columns are models.
        claims: What is judged so far.
    """
    found = list(sections(scene, tabled))
    only = only_model(scene)
    if only is not None:
        found = [[one for section in found for one in section]]
    right = _index_right_claims(claims)
    for section in found:
        of_model: dict[str, list[Sentence]] = {}
        for one in section:
            of_model.setdefault(one.name, []).append(one)
        for name, said in of_model.items():
            settled = _agreed_facts(said, claims) if name == only else _facts_of_section(scene, said, right)
            yield from _judge(scene, said, least=AGREED_BLOCK - (name == only), settled=settled, counts=_right_counts(scene, said, right))


_AGREES = frozenset(("exact", "rounded", "note"))


def _agreed_facts(said: Sequence[Sentence], claims: Sequence[Claim]) -> set[str]:
    """Return what else a text of one model says right of it: its parameters, and the sizes that no such sentence says."""
    told = {size.value for one in said for size in one.sizes}
    sizes = {str(one.value) for one in claims if one.kind == "configuration" and one.verdict == "exact" and one.value not in told}
    return sizes | {one.kind for one in claims if one.kind == "total" and one.verdict in _AGREES}


class _RightClaims(NamedTuple):
    """What a text says right so far.

    Attributes:
        totals: The counts of whole models, by the number of their line.
        counts: All of these.
        sizes: The sizes as written, by the number of their line.
    """

    totals: Mapping[int, Sequence[Claim]]
    counts: frozenset[object]
    sizes: Mapping[int, Sequence[str]]


def _index_right_claims(claims: Sequence[Claim]) -> _RightClaims:
    """Index what is right so that no section looks at the claims of all."""
    totals: dict[int, list[Claim]] = {}
    sizes: dict[int, list[str]] = {}
    for one in claims:
        if one.kind == "total" and one.verdict in _AGREES:
            totals.setdefault(one.line, []).append(one)
        elif one.kind == "configuration" and one.verdict == "exact":
            sizes.setdefault(one.line, []).append(str(one.value))
    return _RightClaims(totals, frozenset(one.expected for found in totals.values() for one in found), sizes)


def _facts_of_section(scene: Scene, said: Sequence[Sentence], right: _RightClaims) -> set[str]:
    """Return what a section that names one model says right of it beside such sentences, in a text that names others too."""
    section = range(max(0, scene.headings[said[0].line]), said[-1].line + 1)
    if any(m.name != said[0].name for line in section for m in scene.mentions.get(line, ()) if m.kind != FAMILY):
        return set()
    lines = {one.line for one in said}
    sizes = {size for line in section if line not in lines for size in right.sizes.get(scene.lines[line].number, ())}
    counts = {own_count(model) for model in said[0].models}
    return sizes | ({"total"} if right.counts & counts else set())


def _right_counts(scene: Scene, said: Sequence[Sentence], right: _RightClaims) -> dict[tuple[int, int], set[str]]:
    """Return which counts of its own model each sentence says right, by its line and where it begins: all of it, what works on a token."""
    found: dict[tuple[int, int], set[str]] = {}
    for sentence in said:
        line = scene.lines[sentence.line]
        for one in right.totals.get(line.number, ()):
            if sentence.start <= bisect_left(line.at, one.start) < sentence.stop:
                kinds = {kind for model in sentence.models for kind in ("total", "active") if own_count(model, kind) == one.expected}
                found.setdefault((sentence.line, sentence.start), set()).update(kinds)
    return found


def _judge(
    scene: Scene, said: Sequence[Sentence], *, least: int, settled: Collection[str], counts: Mapping[tuple[int, int], set[str]]
) -> Iterator[Claim]:
    """Judge the sizes that one section, or the text, says of one model.

    Args:
        least: Kinds of sizes that must be the model's where a sentence has not enough of them.
        settled: What else is said right of it.
        counts: The counts of parameters that sentences say right.
    """
    kinds = {word for one in said for word in one.own()} | {*settled}
    odd = [size for one in said for size in one.others() if not is_free(one, size)]
    for one in said:
        others = [size for size in one.others() if not is_free(one, size)]
        for size in one.sizes:
            if is_own_size(one.models, size):
                yield _claim(one, size, size.value, "exact", scene)
        if len(others) != 1:
            continue
        size = others[0]
        counted = counts.get((one.line, one.start), set())
        if len(one.own() - {size.word}) + len(counted) < AGREED_FIELDS and len(odd) > max(1, len(kinds) // _ODD_SHARE):
            continue
        right = _right_value(one.models[0], size, scene.lines[one.line].text[size.first : size.last])
        on_line = {word for other in said if other.line == one.line for word in other.own()} - {size.word}
        spare = max(len(kinds - {size.word}) - least, len(on_line) - AGREED_FIELDS)
        if _is_in_wide_table(scene, one.line):
            spare = len(kinds - {size.word}) - AGREED_BLOCK
        if right is None or not _is_settled(scene, one, size, right, spare, counts=len(counted)):
            continue
        if size.word in kinds and len(on_line) < AGREED_FIELDS and not is_slip(str(size.value), str(right)):
            continue  # the text says two such sizes: the other may be another model's
        whole = "total" in (*settled, *counted) and size.word in _COUNTED  # a model of other sizes would have another count
        if is_of_another_type(scene, one.line, one.models[0].model_type):
            continue
        if is_clean(scene, one, size, right, counted=whole) and not _is_of_a_sister(scene, one, size):
            yield _claim(one, size, right, "wrong", scene)


def _is_settled(scene: Scene, one: Sentence, size: DescribedSize, right: int, spare: int, *, counts: int) -> bool:
    """Tell whether the other sizes of a sentence, or those around it, settle that it is about its model.

    Args:
        spare: Kinds of sizes around it that are the model's, beyond those that it takes.
        counts: How many counts of parameters the sentence says right.
    """
    text = scene.lines[one.line].text
    sure = len(str(size.value)) > 2 and is_slip(str(size.value), str(right))
    built = one.behind is not None and BUILT_WITH.match(text, one.behind) is not None
    beside = len(one.own() - {size.word}) + counts - built  # ``BERT-base with 6 layers has 768 hidden units`` is another model
    if beside >= AGREED_FIELDS - (sure or one.named):
        return True
    cell = one.start > 0 and text[one.start - 1] == "|" and not _is_in_wide_table(scene, one.line)
    plain = one.named or cell or OPENS_WITH_IT.match(text, one.start) or not goes_on_elsewhere(text, (), size.first, size.last)
    routed = (
        size.word in _ROUTED and bool(one.own() & _ROUTED) and _is_below_its_heading(scene, one)
    )  # ``8 experts (only 2 used at a time)``
    introduced = introducing_model(scene, one.line) == one.name
    return bool(plain) and not built and (introduced or spare + (sure or one.named or routed) >= 0)


_ROUTED = frozenset(("experts", "active"))


def _is_in_wide_table(scene: Scene, line: int) -> bool:
    """Tell whether a line is of a table with more than labels and values: its columns may be of several models."""
    return line in _lines_of_wide_tables(scene)


@once_for_each_scene
def _lines_of_wide_tables(scene: Scene) -> frozenset[int]:
    return frozenset(line for table in scene.tables if table.head and len(table.head[0].cells) > _PAIR for line in table.lines)


_PAIR = 2
_ODD_SHARE = 4
"""Kinds of sizes that are the model's, for each of a section that is not."""


def _right_value(model: ModelValue, size: DescribedSize, said: str) -> int | None:
    """Return what is right instead of a size: of several that are called so, the one that it is but for a slip, or that its words name plainly."""
    words = WIDTHS if size.word in WIDTHS else (size.word,)
    values = {value for word in words for value in values_of(model, word)}
    meant = [value for value in values if is_slip(str(size.value), str(value))]
    if len(meant) == 1:
        return meant[0]
    called = values_of(model, size.word)
    plain = _PLAIN_WIDTH.get(size.word)
    if plain is not None and plain.search(said):
        return main_values(model).get(size.word)
    return next(iter(called)) if len(called) == 1 and size.word not in WIDTHS and not meant else None


_PLAIN_WIDTH = {
    "hidden": pattern(
        r"d_?model|(?:model|hidden|embedding)[- ](?:size|dim|width)|dim(?:ension(?:al)?)?[- ]embedding|residual", re.IGNORECASE
    ),
    "mlp": pattern(r"feed|ffn|intermediate", re.IGNORECASE),
}
"""Words that name one width of a model and no other."""


_COUNTED = frozenset("layers hidden mlp vocab experts".split())
"""Sizes on which the number of parameters depends plainly."""


def _is_of_a_sister(scene: Scene, one: Sentence, size: DescribedSize) -> bool:
    """Tell whether a size is that of another model that the text names, which a sentence without a name may speak of."""
    return not one.named and not _is_below_its_heading(scene, one) and is_size_of_sister(scene, size.word, size.value)


def _is_below_its_heading(scene: Scene, one: Sentence) -> bool:
    """Tell whether a sentence stands below a heading that names its model, and nothing between names any other."""
    heading = scene.headings[one.line]
    while heading > 0 and not scene.mentions.get(heading):
        heading = scene.headings[heading - 1]
    if heading < 0 or not scene.mentions.get(heading):
        return False
    named = [m for line in range(heading, one.line + 1) for m in scene.mentions.get(line, ()) if m.kind != FAMILY]
    return {m.name for m in named} == {one.name}


def _claim(one: Sentence, size: DescribedSize, right: int, verdict: str, scene: Scene) -> Claim:
    return field_claim(scene, Token("num", "", one.line, size.start, size.end), size.word, size.value, right, verdict)
