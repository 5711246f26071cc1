"""The one size of a sentence, or of a section, that is not the model's where enough others there are: their agreement says what it is about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.count_subjects import goes_on_elsewhere, of_mention
from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.fields import BUILT_WITH, field_claim
from weighbridge.auditing.checks.names import ANOTHER, Mention
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_subjects import WIDTHS, Sentence, is_own_size, sections
from weighbridge.auditing.checks.size_doubts import belongs_to_a_part, is_of_their_own
from weighbridge.auditing.checks.topics import CLAUSE
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.described_sizes import DescribedSize
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import AGREED_BLOCK, AGREED_FIELDS
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the sizes of sentences about one model; one is wrong where the others of its sentence and section settle that it is about that model.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for section in sections(scene, tabled):
        for name in dict.fromkeys(one.name for one in section):
            yield from _judge(scene, [one for one in section if one.name == name])


def _judge(scene: Scene, said: Sequence[Sentence]) -> Iterator[Claim]:
    """Judge the sizes that one section says of one model."""
    kinds = {word for one in said for word in one.own()}
    odd = [size for one in said for size in one.others() if size.word not in _FREE]
    for one in said:
        others = [size for size in one.others() if size.word not in _FREE]
        for size in one.sizes:
            if is_own_size(one.models, size):
                yield _claim(one, size, size.value, "exact", scene)
        if len(others) != 1:
            continue
        size = others[0]
        right = _right_value(one.models[0], size)
        beside, around = len(one.own() - {size.word}), len(kinds - {size.word})
        if beside < AGREED_FIELDS and len(odd) > max(1, len(kinds) // _ODD_SHARE):
            continue
        sure = len(str(size.value)) > 2 and right is not None and is_slip(str(size.value), str(right))
        plain = one.named or not goes_on_elsewhere(scene.lines[one.line].text, (), size.first, size.last)
        built = one.behind is not None and BUILT_WITH.match(scene.lines[one.line].text, one.behind) is not None
        beside -= built  # ``BERT-base with 6 layers has 768 hidden units`` is another model
        enough = beside >= AGREED_FIELDS - (sure or one.named) or (plain and around >= AGREED_BLOCK - (sure or one.named))
        if right is not None and enough and _is_clean(scene, one, size, right) and not _is_of_a_sister(scene, one, size):
            yield _claim(one, size, right, "wrong", scene)


_ODD_SHARE = 4
"""Kinds of sizes that are the model's, for each of a section that is not."""
_FREE = frozenset(("positions", "types", "patch", "image"))
"""Sizes that a text sets as it likes."""


def _right_value(model: ModelValue, size: DescribedSize) -> int | None:
    """Return what is right instead of a size: of several that are called so, the one that it is but for a slip."""
    words = WIDTHS if size.word in WIDTHS else (size.word,)
    values = {value for word in words for value in values_of(model, word)}
    meant = [value for value in values if is_slip(str(size.value), str(value))]
    if len(meant) == 1:
        return meant[0]
    called = values_of(model, size.word)
    return next(iter(called)) if len(called) == 1 and size.word not in WIDTHS and not meant else None


def _is_clean(scene: Scene, one: Sentence, size: DescribedSize, right: int) -> bool:
    """Tell whether no words about a size make it another model's, or one of something else in the model."""
    text = scene.lines[one.line].text
    if size.value <= 1 or belongs_to_a_part(text, size.end) or is_of_their_own(scene, one.line):
        return False
    code = _SETS.search(text, 0, size.start) is not None and not (one.named and len(one.own()) >= AGREED_FIELDS)
    if SUPPOSED.search(text, one.start, one.stop) or code:
        return False
    first = max((m.end() for m in CLAUSE.finditer(text, one.start, size.first)), default=one.start)
    stop = next((m.start() for m in CLAUSE.finditer(text, size.last, one.stop)), one.stop)
    if is_another_sources(text, size.end, one.stop, right):
        return False
    around = _TOP.sub(" ", f"{text[first : size.first]} {text[size.end : stop]}")
    return not (_OTHERWISE.search(around) or ANOTHER.search(_TOP.sub(" ", text[first : size.first])) or _EACH.search(text, 0, size.first))


def is_another_sources(text: str, start: int, stop: int, right: int) -> bool:
    """Tell whether the words behind a number give the right one to another source, in parentheses: ``8 heads in the paper (12 in the released code)``."""
    return re.search(rf"[(（,，;][^()（）]{{0,16}}(?<![\d.,]){right:,}(?![.,]?\d)\s(?:in|for|with|when)\b", text[start:stop]) is not None


_TOP = pattern(r"on top of the other|one after the other|on top of each other", re.IGNORECASE)
_EACH = pattern(
    r"\b(?:each|every|per|(?:one|some|all|any|most|many|\d) of|by|from|last|first|top|these|those|other)\s+$|第\s?$|[-–~/]\s?$",
    re.IGNORECASE,
)
"""Right before a number, what makes it one of several, or of some of them."""
_SETS = pattern(r"\w\s?(?:: ?[\w\[\] |]{2,16})? ?=\s?$")
SUPPOSED = pattern(
    r"\b(?:if|suppose|imagine|assum\w+|would|could|should|might|let['’]?s|let us|our|ours|my|custom|scratch|toy|reduced|prun\w*|modif\w*|scaled|ablat\w*|instead of|rather than|"
    r"freez\w*|frozen|unfreez\w*|remov\w*|drop(?!out)\w*|kept|keep|student|teacher|distil\w*(?!bert)|variants?|e\.g|for example|such as)\b|如果|假设|我们|自己|若",
    re.IGNORECASE,
)
"""Words anywhere in a sentence by which its sizes may be another model's."""
_OTHERWISE = pattern(
    r"\b(?:first|last|top|bottom|groups?|nodes?|gpus?|devices?|more|fewer|less|extra|additional|another|into|up to|at least|at most|between|ratio|split|subset|mtp|never|wrong|not|conv\w*|lstm|"
    r"classifiers?|classification|adapters?|lora|rank|batch|beams?|steps?|epochs?|stages?|than|vs|versus|smaller|bigger|larger|output|final|like|"
    r"vision|image|audio|speech|text encoder|dense|cross|images?|patch\w*|windows?|context|sequence|times|years?)\b|每|服务|共享|分成|改|减|剪|前(?!馈)|后|比",
    re.IGNORECASE,
)
"""Words in a size's own clause by which it is another's, or counts something else."""


def _is_of_a_sister(scene: Scene, one: Sentence, size: DescribedSize) -> bool:
    """Tell whether a size is that of another model that the text names, which a sentence without a name may speak of."""
    if one.named:
        return False
    names = {name for found in scene.mentions.values() for m in found for name in m.names[:_MOST_SISTERS]}
    subjects = (of_mention(scene, Mention(0, name, 0, (name,), MODEL), firm=False) for name in sorted(names))
    return any(size.value in values_of(model, size.word) for subject in subjects if subject is not None for model in subject.models)


_MOST_SISTERS = 12


def _claim(one: Sentence, size: DescribedSize, right: int, verdict: str, scene: Scene) -> Claim:
    return field_claim(scene, Token("num", "", one.line, size.start, size.end), size.word, size.value, right, verdict)
