"""``weigh diff A B``."""

from __future__ import annotations

from weighbridge.commands.options import CLASS, OUTPUT, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

EXAMPLE = """example:
  weigh diff bert-base-uncased bert-base-chinese
  weigh diff ./before ./after --weights --json
"""
OPTIONS = (
    Option("a", mark("preset, config.json, directory or checkpoint file"), "A", flag="", needed=True),
    Option("b", mark("what to compare it with, of any kind"), "B", flag="", needed=True),
    CLASS,
    Option("weights", mark("for a directory, compare the weights, not the config"), kind="switch"),
    Option("exit_code", mark("exit with 1 if they differ"), kind="switch"),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Compare two sources tensor by tensor."""
    from weighbridge.documents import diff as document
    from weighbridge.verification.diff import diff

    found = diff(_read(arguments.a, arguments), _read(arguments.b, arguments))
    holds = found.same or not arguments.exit_code
    return Answer(lambda: document.as_json(found), lambda: document.document(found, arguments.lang), holds=holds)


def _read(source: str, arguments: Arguments) -> ModelValue:
    from pathlib import Path

    from weighbridge.api.model import model
    from weighbridge.load import checkpoint_of

    path = Path(source)
    if arguments.weights and path.is_dir():
        return checkpoint_of(path)
    is_config = not path.is_file() or path.suffix == ".json"
    return model(source, arguments.class_name if is_config else None)
