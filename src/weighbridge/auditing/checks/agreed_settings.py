"""Settings of one model, as its card, its config or a table of two columns lists them: one is wrong where the others beside it are the model's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.fields import OTHERWISE
from weighbridge.auditing.checks.listed_sizes import OF_CODE
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.said_settings import REMARKS, rows_of_settings, settings_at
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.setting_verdicts import HeldSetting, alarm, confirm, possible_sizes
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_another_type, is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.table_thresholds import MOST_MEMBERS
from weighbridge.auditing.text.settings import COUNTS, Setting
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.thresholds import AGREED_FIELDS, AGREED_SIZES, LEAD_LETTERS, LEAST_SET_COUNT, SETTING_GAP
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.presets.aliases import FAMILY, MODEL


class _Lead(NamedTuple):
    """The model that what follows is of, and whether its name stands right above, as in a heading, or is only the one of the text."""

    subject: Subject
    line: int
    opens: bool


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Check the settings that stand below a model's name, or in a text that names one model or one family only.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    only = _only_model(scene)
    mentions = [m for line, found in scene.mentions.items() if not OF_CODE.match(scene.lines[line].text) for m in found]
    named = {m.name: m for found in scene.mentions.values() for m in found if m.kind == MODEL}
    for lead, said in _joined(_clusters(scene, tabled), only):
        about = lead or only or _member(scene, said, mentions) or _lead_of_sizes(scene, said, named)
        if about is not None:
            yield from _judge(scene, [one for index, setting in said if (one := _hold(scene, index, setting, about)) is not None], about)


def _joined(
    clusters: Iterable[tuple[_Lead | None, list[tuple[int, Setting]]]], only: _Lead | None
) -> Iterator[tuple[_Lead | None, list[tuple[int, Setting]]]]:
    """Join the settings that stand far apart below the name of the one model of a text, as on a page of its data: labels and values, no code."""
    apart: list[tuple[int, Setting]] = []
    first: _Lead | None = None
    for lead, said in clusters:
        if only is None or lead is None or lead.subject.name != only.subject.name or any(setting.coded for _, setting in said):
            yield lead, said
            continue
        first, apart = first or lead, apart + said
    yield first, apart


def _clusters(scene: Scene, tabled: Collection[int]) -> Iterator[tuple[_Lead | None, list[tuple[int, Setting]]]]:
    """Group the settings that stand together, with the model whose name opens them."""
    rows = rows_of_settings(scene, tabled)
    lead: _Lead | None = None
    cluster: list[tuple[int, Setting]] = []
    for index, line in enumerate(scene.lines):
        found = _lead_at(scene, index)
        ends = found is not None or bool(line.heading) or _names_another_model(scene, index, lead)
        if ends and not (found is not None and lead is not None and found.subject.name == lead.subject.name):
            yield lead, cluster
            cluster = []
        if ends:
            lead = found if found is not None else lead if line.heading and not scene.mentions.get(index) else None
        said = settings_at(scene, index, rows) if index not in tabled and len(line.text) <= LONGEST else []
        if said and cluster and index - cluster[-1][0] > SETTING_GAP:
            yield lead, cluster
            cluster = []
        cluster += [(index, setting) for setting in said]
    yield lead, cluster


def _member(scene: Scene, said: Sequence[tuple[int, Setting]], mentions: Sequence[Mention]) -> _Lead | None:
    """Return the member of the one family that a text names whose sizes a list of settings states, all but one at most."""
    if len(said) <= AGREED_SIZES or not mentions or any(m.kind != FAMILY or m.names != mentions[0].names for m in mentions):
        return None
    models = [model for name in mentions[0].names[:MOST_MEMBERS] if (model := preset_model(name)) is not None]
    held = {
        model.source: [
            one for index, setting in said if (one := _hold(scene, index, setting, _Lead(Subject((model,), "", True), -1, False)))
        ]
        for model in models
    }
    agreed = {name: sum(one.own for one in found) for name, found in held.items()}
    most = max(agreed.values(), default=0)
    best = [model for model in models if agreed[model.source] == most and len(held[model.source]) - most <= 1]
    return _Lead(Subject(tuple(best), best[0].source, True), -1, False) if best and most >= AGREED_SIZES else None


def _lead_of_sizes(scene: Scene, said: Sequence[tuple[int, Setting]], named: Mapping[str | None, Mention]) -> _Lead | None:
    """Return the one of several models that a text names whose sizes a list of settings states, all but one at most, and no other's."""
    if len(said) <= AGREED_SIZES or any(is_of_their_own(scene, index) for index, _ in (said[0], said[-1])):
        return None
    if not 1 < len(named) <= MOST_MEMBERS:
        return None
    ranked: list[tuple[int, int, Subject]] = []
    for mention in named.values():
        subject = of_mention(scene, mention, firm=True)
        about = _Lead(subject, -1, False) if subject is not None else None
        held = [one for index, setting in said if about is not None and (one := _hold(scene, index, setting, about)) is not None]
        if subject is not None:
            ranked.append((sum(one.own for one in held), len(held), subject))
    ranked.sort(key=lambda one: -one[0])
    most, held_in_all, subject = ranked[0] if ranked else (0, 0, None)
    apart = len(ranked) < 2 or ranked[1][0] + 1 < most
    above = next((scene.mentions[line] for line in range(said[0][0], -1, -1) if scene.mentions.get(line)), ())
    if subject is None or all(m.name != subject.name for m in above):
        return None  # what stands nearest above may be of a model that nobody knows
    return _Lead(subject, -1, False) if subject is not None and most >= AGREED_SIZES and held_in_all - most <= 1 and apart else None


def _lead_at(scene: Scene, index: int) -> _Lead | None:
    """Return the model whose settings a line opens: a heading, the name alone, a key and its brace."""
    named = [m for m in scene.mentions.get(index, ()) if m.kind != FAMILY]
    if not named or len({m.names for m in named}) > 1 or named[0].kind != MODEL:
        return None
    line = scene.lines[index]
    if _TYPE.match(line.text):
        return None
    plain = line.text.strip().strip("*_#`= ")
    rest = len(re.sub(r"[\W_]", "", plain)) - sum(m.end - m.column for m in named)
    opened = plain.endswith(("{", "(")) and rest <= LEAD_LETTERS
    asked = _ASKED.match(line.raw) is not None and line.text[named[0].column - 1 : named[0].column] == "/"
    if not (line.heading or opened or asked or plain.endswith((":", "：")) or rest <= LEAD_LETTERS):
        return None
    subject = of_mention(scene, named[0], firm=True)
    if subject is None or is_of_their_own(scene, index) or OTHERWISE.search(line.text[: named[0].column]):
        return None
    return _Lead(subject, index, True)


def _names_another_model(scene: Scene, index: int, lead: _Lead | None) -> bool:
    """Tell whether a line names another model than the one at hand, so that what follows may be of either."""
    named = scene.mentions.get(index, ())
    if lead is None or not named:
        return False
    return any(m.kind != FAMILY and m.name != lead.subject.name and lead.subject.name not in m.names for m in named)


def _only_model(scene: Scene) -> _Lead | None:
    """Return the one model that a text is about, where it names no other."""
    main = scene.main
    if main is None or not (main.given or main.named) or "" not in scene.models:
        return None
    mentions = [m for found in scene.mentions.values() for m in found]
    if not scene.given and not all(_may_be(m, main.name) for m in mentions):
        return None
    if is_of_their_own(scene, len(scene.lines) - 1):
        return None
    return _Lead(Subject((scene.models[""],), main.name, True), -1, False)


def _may_be(mention: Mention, name: str) -> bool:
    return mention.kind in (MODEL, FAMILY) and (mention.name == name or name in mention.names)


def _hold(scene: Scene, index: int, setting: Setting, about: _Lead) -> HeldSetting | None:
    """Hold a setting against its model; None where it may be something else's, or is said of some other thing."""
    text = scene.lines[index].text
    if any(m.column <= setting.start < m.end for m in scene.mentions.get(index, ())):
        return None
    found = [t for t in tokens(text[setting.start : setting.end], index) if t.kind == "num" and t.value is not None]
    if len(found) != 1 or (not setting.coded and OTHERWISE.search(REMARKS.sub(" ", text[max(0, setting.start - 60) : setting.start]))):
        return None
    token = found[0]._replace(start=setting.start, end=setting.end)
    loose = setting.coded and not (about.opens and index - about.line <= SETTING_GAP * 3)
    if setting.kind in COUNTS:
        plain = bool(token.unit) or (token.value or 0) > LEAST_SET_COUNT
        own = settle(token, about.subject.models, setting.kind) is not None
        example = not own and not token.unit and (token.value or 0) % _BILLION == 0  # ``参数数量: 7,000,000,000`` is what is computed with
        return HeldSetting(index, setting, token, own, loose) if plain and not example else None
    if setting.kind == "positions" and token.unit in ("k", "K") and token.places == _THOUSANDTHS and token.value is not None:
        token = token._replace(value=token.value * 1000, unit="", places=0)  # ``131.072K``: a length to the last token
    if token.unit or token.places:
        return None
    values = [possible_sizes(model, setting.kind) for model in about.subject.models]
    number = int(token.value or 0)
    if not values[0]:
        return None
    own = any(number in one for one in values)
    return HeldSetting(index, setting, token, own, loose)


_ASKED = pattern(r"\s*(?:[$>%]|\w+@[\w.-]+:?\S*[$#])\s+[a-z][\w.-]*\s")
"""A command at its prompt, which asks about the repository that it names: what it prints stands below."""
_TYPE = pattern(r"""[\s{,(]*["']?(?:model_type|architectures)["']?\s*[:=]""")
"""What begins a line of a config that names a type and no model."""
_BILLION = 10**9
_THOUSANDTHS = 3
"""Decimals of a figure in thousands that says the last digit."""
_DEFAULT = pattern(r"[A-Za-z_]\w*\s*:\s*(?:int|float|Optional\[int\]|int \| None)\s*=\s*$")
"""Before a number, the name and type of a field of a class: what it is where a config says nothing, and no model's size but where many others are its."""
_OF_DEFAULTS = 4
"""Kinds of fields of a class that must be the model's, and but one is not, before that one is wrong."""


def _judge(scene: Scene, cluster: Sequence[HeldSetting], about: _Lead | None) -> Iterator[Claim]:
    """Confirm what is the model's; what is not is wrong where two others of other kinds are, and all but one in four."""
    if about is None:
        return
    right = {held.setting.kind for held in cluster if held.own}
    keys = {held.setting.key for held in cluster if held.own}
    odd = [held for held in cluster if not held.own]
    for held in cluster:
        if held.own:
            yield from confirm(scene, held, about.subject)
            continue
        if is_of_another_type(scene, held.line, about.subject.models[0].model_type):
            continue
        others = len(right - {held.setting.kind})
        if _DEFAULT.search(scene.lines[held.line].text, 0, held.setting.start) and (others < _OF_DEFAULTS or len(odd) > 1):
            continue
        lettered = len(held.setting.key) == 1
        again = held.setting.kind in right and (not held.setting.halved or held.setting.key in keys) and not (lettered and len(odd) == 1)
        alone = held.setting.kind == "total" and about.opens and not held.setting.coded and len(odd) == 1
        if not again and ((len(odd) * 2 <= len(right) and others >= AGREED_FIELDS + (held.loose and not lettered)) or alone):
            yield from alarm(scene, held, about.subject, sure=others >= AGREED_FIELDS)
