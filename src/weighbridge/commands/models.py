"""``weigh models``: what can be weighed by name."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, Answer, Arguments, Option
from weighbridge.core.messages import Text, mark

EXAMPLE = """example:
  weigh models
  weigh models llama --above 60B
  weigh models --type bert --below 20M --sources
  weigh models --coverage
"""
OPTIONS = (
    Option("filter", mark("only names and model types that contain WORD"), "WORD", flag="", default=""),
    Option("type", mark("only presets of this model type, such as bert"), "TYPE", default=""),
    Option("above", mark("only presets with at least this many parameters, such as 7B"), "NUMBER"),
    Option("below", mark("only presets with at most this many parameters, such as 500M"), "NUMBER"),
    Option("sources", mark("say where each config comes from"), kind="switch", local=True),
    Option("types", mark("list the model types with their classes"), kind="switch", local=True),
    Option("coverage", mark("how many of the classes that the reference library can build agree with it"), kind="switch", local=True),
    Option("names", mark("print only the presets' names, one per line"), kind="switch", local=True),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """List presets and architectures."""
    from weighbridge.documents import models

    if arguments.coverage:
        return Answer(models.coverage_json, lambda: models.coverage(arguments.filter, arguments.lang))
    if arguments.names:
        found = models.names(arguments.filter)
        return Answer(lambda: found, holds=bool(found), text="".join(f"{name}\n" for name in found))
    answered = models.as_json(
        arguments.filter, model_type=arguments.type, least=_amount(arguments.above, 0) or 0, most=_amount(arguments.below, None)
    )
    if not answered["presets"] and not answered["architectures"]:
        return Answer(lambda: answered, holds=False, text=_no_match(arguments) if arguments.__dict__.get("form") is None else None)
    types = bool(arguments.filter or arguments.type or arguments.__dict__.get("types"))
    return Answer(
        lambda: answered, lambda: models.document(answered, arguments.lang, sources=bool(arguments.__dict__.get("sources")), types=types)
    )


def _amount(text: str | None, default: int | None) -> int | None:
    from weighbridge.designs.budget import parse_budget

    return default if text is None else parse_budget(text).target


def _no_match(arguments: Arguments) -> str:
    """Say that nothing is called so, and what may have been meant."""
    from weighbridge.blueprints import MODULES
    from weighbridge.core.messages import translator
    from weighbridge.core.suggestions import did_you_mean
    from weighbridge.documents.models import names

    say, word = translator(arguments.lang), arguments.filter or arguments.type
    head = say("presets: {presets}; model types: {types}").format(presets=0, types=0) + "\n"
    if not word:
        return head + say(mark("No preset has that many parameters.")) + "\n"
    near = did_you_mean(word, dict.fromkeys([*names(""), *MODULES])) or _near_presets(word)
    text = Text(mark("No preset or model type matches {word!r:.60}."), word=word)
    pieces = [say(piece) for piece in (text, near) if piece]
    return head + ("" if pieces[0].endswith("。") else " ").join(piece[:1].upper() + piece[1:] for piece in pieces) + "\n"


def _near_presets(word: str) -> str:
    from weighbridge.core.messages import join_with_or
    from weighbridge.presets import suggestions

    near = suggestions(word[:60])
    return Text("did you mean {names}?", names=join_with_or(near)) if near else ""
