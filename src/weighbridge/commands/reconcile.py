"""``weigh reconcile NUMBER SOURCE``: which way of counting gives a number."""

from __future__ import annotations

from weighbridge.commands.inputs import INPUTS
from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Asked, Option
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark

EXAMPLE = """example:
  weigh reconcile 108808704 bert-base-uncased
  weigh reconcile 1.1亿 bert-base-uncased --lang zh
  weigh reconcile 104M bert-base-uncased --json
  weigh reconcile --flops 17581972224 vit-base-patch16-224
"""
OPTIONS = (
    Option("number", mark("such as 108,808,704 or 110M or 1.1亿; M may be 10^6 or 2^20"), "NUMBER", flag="", needed=True),
    *SOURCE,
    Option("flops", mark("the number is of the arithmetic of one pass, not of parameters"), kind="switch"),
    Option("every", mark("list all conventions that a rounded number can mean, not the simplest alone"), kind="switch", flag="--all"),
    *INPUTS,
    *OUTPUT,
)


def answer(asked: Asked) -> Answer:
    """Find the conventions that give a number; it holds if one does."""
    if asked.source and _is_number(asked.source) and not _is_number(asked.number):
        raise UsageError(Text("the number comes first: weigh reconcile {number} {source}", number=asked.source, source=asked.number))
    if asked.flops:
        return _arithmetic(asked)
    from weighbridge.documents import reconcile

    found = asked.model().reconcile(asked.number, asked.lang, every=asked.every)
    return Answer(lambda: reconcile.as_json(found), lambda: reconcile.document(found, asked.lang), holds=bool(found.matches))


def _is_number(text: str) -> bool:
    """Tell whether this reads as a number in any way that people write one."""
    from weighbridge.conventions.rounding import readings

    try:
        return bool(readings(text))
    except UsageError:
        return False


def _arithmetic(asked: Asked) -> Answer:
    from weighbridge.accounts.inputs import inputs
    from weighbridge.conventions.arithmetic import explain_flops
    from weighbridge.documents import conventional

    found = explain_flops(asked.model(), inputs(vars(asked)), asked.number)
    return Answer(
        lambda: conventional.answer_json(found), lambda: conventional.answer_document(found, asked.lang), holds=bool(found.matches)
    )
