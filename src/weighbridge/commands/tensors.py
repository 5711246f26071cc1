"""``weigh tensors SOURCE``."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from weighbridge.api.model import Model

EXAMPLE = """example:
  weigh tensors bert-base-uncased --class BertForPreTraining
  weigh tensors bert-base-uncased --names tensorflow --csv
  weigh tensors bert-base-uncased --class BertForMaskedLM --style torch
"""
STYLES = ("torch", "torchinfo", "keras", "tensorflow")
OPTIONS = (
    *SOURCE,
    Option("names", mark("reference (default), or another set of names: tensorflow, checkpoint"), "SET", default="reference"),
    Option(
        "style",
        mark("print the lines of another tool: torch (named_parameters), torchinfo, keras (model.summary), tensorflow (variables)"),
        "STYLE",
        choices=STYLES,
        local=True,
    ),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """List every tensor."""
    from weighbridge.documents import tensors

    model = arguments.model()
    if vars(arguments).get("style"):
        return Answer(dict, text=_in_style(model, arguments))
    return Answer(lambda: tensors.as_json(model, arguments.names), lambda: tensors.document(model, arguments.names, arguments.lang))


def _in_style(model: Model, arguments: Arguments) -> str:
    from weighbridge.documents.tensor_styles import print_tensors

    for other, said in (("form", "--format"), ("output", "-o")):
        if vars(arguments).get(other):
            raise UsageError(Text("{one} and {other} contradict each other", one="--style", other=said))
    return print_tensors(model, arguments.style, arguments.names, arguments.lang)
