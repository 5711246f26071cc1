"""What a count is said of: the name before it in its sentence, close after it, or on the lines above."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from weighbridge.auditing.checks.background import is_background, is_left_behind
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.naming_words import is_base, is_example, opens_sentence, pronoun_subject
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene, first_lines, words_of
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.openings import opens_with_another, sentence_of
from weighbridge.auditing.thresholds import FAMILY_REACH, LEFTOVER, LISTED, NAME_REACH
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets.aliases import FAMILY, MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


FILLER = pattern(
    r"ha[sv]e?|having|with|is|are|was|an?\b|the|of|about|around|roughly|approximately|approx|contains?|comprises?|consists?|totals?|overall|in|parameters?|params?|counts?|numbers?|size|sized|"
    r"compact|lightweight|powerful|massive|only|just|merely|models?|layers?|hidden|heads?|units?|dim\w*|it\b|its\b|which|and|uses?|estimated|million|billion|version|variant|checkpoint|"
    r"版本|模型|多少|答案?|参数量?|参数个数|总|共|有|约|为|是|的|层|个|头|隐藏|单元|维度?|大约|达到?|包含|具有|拥有|数量?|大小|规模|以及|和|分别|[kmb]\b|[\W\d_]",
    re.IGNORECASE,
)


def goes_on_elsewhere(text: str, mentions: Sequence[Mention], first: int, last: int = -1) -> bool:
    """Tell whether the sentence of a number names no model and is about something else: ``Our student has``, ``The reward model has``.

    Args:
        first: Where the number, or its label, begins.
        last: Where the two end.
    """
    start, _ = sentence_of(text, first)
    return not any(start <= m.column < first for m in mentions) and opens_with_another(text, first, last)


class Subject(NamedTuple):
    """What a count is said of: models (the likeliest first), how to call them, and whether that is beyond doubt."""

    models: tuple[ModelValue, ...]
    name: str
    firm: bool


_THIS_MODEL = pattern(r"[\s\W]*(?:(?:该|此|这个|这款|本)\w{0,4}模型|它(?!们|的)|this (?:\w+ )?model\b|it\b)", re.IGNORECASE)
"""How a sentence begins that is about the model above it, whatever others it names."""


def subject_of(scene: Scene, token: Token, start: int, stop: int) -> Subject | None:
    """Return what a count is said of: the name before it in its sentence, close after it, or that its lines are about."""
    text = scene.lines[token.line].text
    named = [m for m in scene.mentions.get(token.line, ()) if m.end <= stop]
    before = [m for m in named if start <= m.column and m.end <= token.start]
    if before and _THIS_MODEL.match(text, start) and all(is_background(text, m.column) for m in before):
        return None  # ``该模型超过了 LLaMA-13B，拥有 62 亿参数``
    if before:
        based = len(before) > 1 and is_base(text, before[-2], before[-1])
        mention = _subject_by_place(text, token, before) or before[-2 if based else -1]
        between = text[mention.end : token.start]
        begins = not re.sub(r"[\W\d_]", "", text[: mention.column])
        if len(before) > 1 and _subject_by_place(text, token, before) is None and _in_list(text, token):
            return of_mention(scene, mention, firm=False)  # two lists that do not pair up
        rest = len(re.sub(r"\s", "", FILLER.sub("", between)))
        sister = len(before) == 1 and _SISTER.search(between) is not None
        aside = is_left_behind(text, mention.column, mention.end, token.start)
        return of_mention(scene, mention, firm=not sister and not aside and rest <= (LISTED if begins and len(before) == 1 else LEFTOVER))
    after = [m for m in named if m.column >= token.end]
    if after and opens_sentence(text, token, after[0]):
        return of_mention(scene, after[0], firm=True)
    if after and re.fullmatch(
        r"\W*(?:参数的?|parameters?|params?)?\W*(?:version|variant|model)?s?\W*(?:of|的|in|for|for the|in the)?\W*",
        text[token.end : after[0].column],
        re.IGNORECASE,
    ):
        firm = bool(re.search(r"of|的", text[token.end : after[0].column]))
        return of_mention(scene, after[0], firm=firm)
    if after and is_example(text, token, after[0]):
        return of_mention(scene, after[0], firm=False)  # ``70亿参数（如 Gemma-7B）`` may say how the size is called
    beside = after and re.search(r"[(（]|比|\bthan\b", text[token.end : after[0].column])  # a name it is only compared with
    if after and not beside and not scene.given and len(named) == len(after):
        return None
    earlier = [m for m in scene.mentions.get(token.line, ()) if m.end <= start]
    if earlier:
        meant = pronoun_subject(text, start, earlier)
        subject = of_mention(scene, meant or earlier[-1], firm=meant is not None)
        others = (of_mention(scene, m, firm=False) for m in earlier if meant is not None and m.name != meant.name)
        siblings = [model for other in others if other is not None for model in other.models]  # ``it`` may be the other after all
        return subject._replace(models=(*subject.models, *siblings)) if subject is not None else None
    return _of_lines(scene, token)


_SISTER = pattern(r"(?<![\w.-])(?:tiny|mini|small|base|medium|large|huge|giant|x+l|x*large)(?![\w-])", re.IGNORECASE)
"""A size between a name and a count, which may be its sister's: ``Whisper tiny has 39M parameters, base 74M``."""


def is_resized(scene: Scene, line: int, start: int) -> bool:
    """Tell whether a line gives its model a size, before a place, that is not the model's: ``BERT-base with 6 layers has 66M``."""
    model = scene.model_at(line, start)
    own = words_of(model) if model is not None else {}
    return any(
        size.word in own and own[size.word] != size.value and size.token.end <= start for size in scene.stated_index.on.get(line, ())
    )


def _subject_by_place(text: str, token: Token, before: Sequence[Mention]) -> Mention | None:
    """Return the name that a number belongs to by its place in two lists: ``A and B have 1M and 2M parameters, respectively``."""
    if len(before) < 2:
        return None
    figures = [start for start in _figures(text) if start >= before[-1].end]
    models = [m for m in before if m.kind == MODEL]
    return models[figures.index(token.start)] if token.start in figures and len(figures) == len(models) else None


@lru_cache(maxsize=64)
def _figures(text: str) -> tuple[int, ...]:
    """Return where the figures of a line begin, which a long list of names asks for again and again."""
    return tuple(m.start() for m in re.finditer(r"(?<![A-Za-z0-9_.-])\d[\d,.]*\s?(?:[KMBT]\b|million|billion|亿|万)", text))


def _in_list(text: str, token: Token) -> bool:
    """Tell whether a figure is one of a list of figures, or its sentence pairs lists: ``110M and 340M``, ``respectively``."""
    beside = re.search(r"[KMBT亿万]\s?(?:,|、|/|and|和|与|or)\s*$", text[: token.start]) or re.match(
        r"\s?(?:,|、|/|and\b|和|与|or\b)\s?[~≈约]?\d[\d.,]*\s?[KMBT亿万]", text[token.end :]
    )
    return beside is not None or re.search(r"respectively|分别", text, re.IGNORECASE) is not None


def _of_lines(scene: Scene, token: Token) -> Subject | None:
    """Take the model that the lines above name."""
    context = scene.context(token.line, token.start)
    model = scene.models.get(context) if context is not None else None
    if context is None or model is None:
        return _of_family(scene, token.line)
    above = [scene.mentions.get(line, ()) for line in range(max(0, token.line - NAME_REACH), token.line)]
    named = any(
        m.kind == MODEL and (m.name == context or (context == "" and scene.main is not None and m.name == scene.main.name))
        for found in above
        for m in found
    )
    own = context or (scene.main.name if scene.main is not None else "")
    others = any(m.kind != FAMILY and m.name != own for found in above for m in found)
    heading = any(m.kind == MODEL and m.name == own for m in scene.mentions.get(scene.headings[token.line], ()))
    begun = first_lines(scene).get(own, token.line + 1) <= token.line
    only = scene.alternates.keys() == {own} and scene.known_only and begun  # what stands above the first name may be of another
    guessed = context == "" and scene.main is not None and not scene.main.firm
    firm = scene.given or ((named or heading or only) and not others and not guessed)
    return Subject((model, *_siblings(scene, context)), context or (scene.main.name if scene.main else ""), firm)


def _of_family(scene: Scene, line: int) -> Subject | None:
    """Take what is named last above a line, a family or a model: it may confirm a count, and never makes it wrong."""
    for index in range(line, max(-1, line - FAMILY_REACH), -1):
        found = [m for m in scene.mentions.get(index, ()) if m.kind in (MODEL, FAMILY)]
        if found:
            return of_mention(scene, found[-1], firm=False)
    return None


def _siblings(scene: Scene, context: str) -> tuple[ModelValue, ...]:
    """Return the other models that a context's name may mean."""
    if scene.given and context == "":
        return ()
    name = context or (scene.main.name if scene.main is not None else "")
    models = (preset_model(other) for other in sorted(scene.alternates.get(name, frozenset()) - {name}))
    return tuple(model for model in models if model is not None)


def of_mention(scene: Scene, mention: Mention, *, firm: bool) -> Subject | None:
    """Return what a mention means as models; a family's members are only there to confirm."""
    if scene.given and scene.main is not None and (mention.kind != MODEL or scene.main.name in mention.names):
        return Subject((scene.models[""],), scene.main.name, firm)
    own = scene.models.get("") if scene.main is not None and scene.main.name == mention.name else None
    models = [own] if own is not None else []
    models += [model for name in mention.names if (model := preset_model(name)) is not None and model not in models]
    return Subject(tuple(models), mention.name or "", firm and mention.kind == MODEL) if models else None


_OPTION_REACH = 40
_OPTION = pattern(r"--[a-z][\w-]*[ =]$")
_COLUMN_OF_BYTES = pattern(r"\bbytes\b|字节", re.IGNORECASE)
_COLUMN_REACH = 12
"""Lines of a printed table, whose head says what its columns are."""


def is_setting_or_bytes(scene: Scene, token: Token) -> bool:
    """Tell whether a number is what an option of a command is set to, or stands in a printed table with a column of bytes."""
    if _OPTION.search(scene.lines[token.line].text[max(0, token.start - _OPTION_REACH) : token.start]):
        return True
    for index in range(token.line - 1, max(-1, token.line - 1 - _COLUMN_REACH), -1) if not token.unit else ():
        text = scene.lines[index].text
        if not text.strip():
            return False
        if not re.search(r"\d", text) and _COLUMN_OF_BYTES.search(text):
            return True
    return False
