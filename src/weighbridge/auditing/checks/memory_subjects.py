"""Which models a figure in bytes is of: those of its row, of its sentence, or of the one name close behind it."""

from __future__ import annotations

import re

from weighbridge.auditing.checks.count_subjects import Subject, of_mention, subject_of
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.table_places import member_of_row
from weighbridge.auditing.checks.topics import topic
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Table
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def models_of_figure(scene: Scene, token: Token, start: int, table: Table | None) -> tuple[tuple[ModelValue, ...], bool]:
    """Return the models that a figure may be of, and whether that is sure; a table's row without a known name is of none."""
    named = [m for m in scene.mentions.get(token.line, ()) if start <= m.column]
    if table is not None and not named:
        found = _model_of_row(scene, token) or member_of_row(scene, table, token.line)
        return (found.models, True) if found is not None else ((), False)
    subject = subject_of(scene, token, start, len(scene.lines[token.line].text))
    if table is None and (subject is None or not subject.firm):
        about = topic(scene, token.line, token.start)
        subject = (of_mention(scene, about.mention, firm=True) if about is not None else None) or subject
    if subject is None and table is None and len(named) == 1 and named[0].kind == MODEL and _is_close(scene, token, named[0].column):
        subject = of_mention(scene, named[0], firm=True)  # ``costs 320 KB for Llama 2 70B``: the one name of its sentence
    if subject is None:
        return (), False
    before = table is None or any(m.end <= token.start for m in named)  # ``| A100 | 80 GB | Llama-2-13B |`` is the card's
    return subject.models, before and (subject.firm or (len(named) == 1 and named[0].kind == MODEL))


def _model_of_row(scene: Scene, token: Token) -> Subject | None:
    """Return the one model that a row of a table names before a figure."""
    named = scene.mentions.get(token.line, ())
    alone = len({m.names for m in named}) == 1 and named[0].kind == MODEL and named[-1].end <= token.start
    return of_mention(scene, named[0], firm=True) if alone else None


_CLOSE = 40


def _is_close(scene: Scene, token: Token, column: int) -> bool:
    """Tell whether a name behind a figure is in the same clause with it: ``80 GB on a card, so Llama`` is not."""
    between = scene.lines[token.line].text[token.end : column]
    return column > token.end and len(between) <= _CLOSE and not re.search(r"[,，;；。(（:：]|\bso\b", between)
