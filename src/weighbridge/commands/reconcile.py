"""``weigh reconcile NUMBER SOURCE``: which way of counting gives a number."""

from __future__ import annotations

from weighbridge.commands.inputs import INPUTS, inputs_from
from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
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


def answer(arguments: Arguments) -> Answer:
    """Find the conventions that give a number; it holds if one does."""
    if arguments.source and _is_number(arguments.source) and not _is_number(arguments.number):
        raise UsageError(
            Text("the number comes first: weigh reconcile {number} {source}", number=arguments.source, source=arguments.number)
        )
    if arguments.flops:
        return _arithmetic(arguments)
    from weighbridge.documents import reconcile

    found = arguments.model().reconcile(arguments.number, arguments.lang, every=arguments.every)
    return Answer(lambda: reconcile.as_json(found), lambda: reconcile.document(found, arguments.lang), holds=bool(found.matches))


def _is_number(text: str) -> bool:
    """Tell whether this reads as a number in any way that people write one."""
    from weighbridge.conventions.rounding import readings

    try:
        return bool(readings(text))
    except UsageError:
        return False


def _arithmetic(arguments: Arguments) -> Answer:
    from weighbridge.conventions.reconcile_flops import reconcile_flops
    from weighbridge.documents import conventional

    found = reconcile_flops(arguments.model(), inputs_from(arguments), arguments.number)
    return Answer(
        lambda: conventional.answer_json(found), lambda: conventional.answer_document(found, arguments.lang), holds=bool(found.matches)
    )
