"""``weigh flops SOURCE``."""

from __future__ import annotations

from weighbridge.commands.idle import with_idle
from weighbridge.commands.inputs import INPUTS, inputs_from
from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.documents.document import Document

EXAMPLE = """example:
  weigh flops bert-base-uncased --batch 1 --seq 128
  weigh flops bert-base-uncased --explain --lang zh
  weigh flops llava-1.5-7b --seq 640 --images 1
  weigh flops vit-base-patch16-224 --images 1 --convention fvcore
"""
OPTIONS = (
    *SOURCE,
    *INPUTS,
    Option(
        "convention",
        mark("count as a tool or a paper does"),
        "NAME",
        choices=("torch", "fvcore", "timm", "mmcv", "deepspeed", "calflops", "palm", "megatron", "torchtitan", "6n"),
    ),
    Option("explain", mark("derive it: formula, substitution, number, module by module"), kind="switch", local=True),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Count the arithmetic of one pass."""
    return with_idle(_answer, arguments, OPTIONS)


def _answer(arguments: Arguments) -> Answer:
    model = arguments.model()
    given = inputs_from(arguments)
    if arguments.convention:
        from weighbridge.conventions.arithmetic import count_arithmetic
        from weighbridge.documents import conventional

        found = count_arithmetic(model, given, arguments.convention)
        return Answer(lambda: conventional.as_json(model, given, found), lambda: conventional.document(model, found, arguments.lang))

    def data() -> object:
        from weighbridge.documents.flops_json import as_json

        return as_json(model, given)

    def document() -> Document:
        from weighbridge.documents import flops, flops_derivation

        write = flops_derivation.document if arguments.explain else flops.document
        return write(model, given, arguments.lang)

    return Answer(data, document)
