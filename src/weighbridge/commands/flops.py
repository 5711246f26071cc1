"""``weigh flops SOURCE``."""

from __future__ import annotations

from weighbridge.commands.idle import with_idle
from weighbridge.commands.inputs import LENGTHS, inputs_from
from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.accounts.inputs import Inputs
    from weighbridge.documents.document import Document
    from weighbridge.value import ModelValue

EXAMPLE = """example:
  weigh flops bert-base-uncased --batch 1 --seq 128
  weigh flops bert-base-uncased --explain --lang zh
  weigh flops llava-1.5-7b --seq 640 --images 1
  weigh flops vit-base-patch16-224 --images 1 --convention fvcore
"""
OPTIONS = (
    *SOURCE,
    *LENGTHS,
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
    given = _inputs(model, arguments)
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


def _inputs(model: ModelValue, arguments: Arguments) -> Inputs:
    """Return what is put in: what was asked, which the model has to have positions for, or the usual number of tokens."""
    from weighbridge.accounts.accepted_inputs import refuse_failing, usual_lengths
    from weighbridge.accounts.inputs import Inputs

    if arguments.seq is None:
        seq, decoder_seq = usual_lengths(model, Inputs().seq, arguments.decoder_seq)
        return inputs_from(arguments, seq=seq, decoder_seq=decoder_seq)
    given = inputs_from(arguments)
    refuse_failing(model, given)
    return given
