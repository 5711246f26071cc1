"""``weigh memory SOURCE``."""

from __future__ import annotations

from weighbridge.commands.inputs import INPUTS
from weighbridge.commands.options import OPTIMIZER, OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.documents.document import Document

EXAMPLE = """example:
  weigh memory llama-3-8b --dtype bfloat16 --quantization bnb-4bit
  weigh memory bert-base-uncased --training --batch 16 --seq 128 --optimizer adamw
  weigh memory bert-base-uncased --training --attention eager --explain
"""

LENGTHS = tuple(option._replace(default=None) if option.name == "seq" else option for option in INPUTS)
OPTIONS = (
    *SOURCE,
    Option("training", mark("gradients, optimizer states and activations too"), kind="switch"),
    *LENGTHS,
    Option(
        "dtype",
        mark("type of the weights: float32, bfloat16, float16, int8, int4 (default float32, or as the config is quantised)"),
        "WORD",
        default=None,
    ),
    Option(
        "quantization",
        mark("scheme that packs the matrices of layers, such as bnb-4bit, gptq-4bit, fp8-block, mxfp4"),
        "WORD",
        default=None,
    ),
    OPTIMIZER,
    Option("precision", mark("how training mixes types: pure, amp, mixed, megatron (default pure)"), "WORD", default="pure"),
    Option("attention", mark("kernel of attention: eager, sdpa, flash (default sdpa)"), "WORD", default="sdpa"),
    Option("checkpointing", mark("which activations are computed again: none, selective, full (default none)"), "WORD", default="none"),
    Option("device", mark("device whose kernels run: cpu, cuda (default cpu)"), "WORD", default="cpu"),
    Option("no_dropout", mark("drop no elements, whatever the config says"), kind="switch"),
    Option("no_loss", mark("leave the loss out"), kind="switch"),
    Option(
        "explain",
        mark("derive it: formula, substitution, number, for each group of tensors and each storage that is kept for backward"),
        kind="switch",
    ),
    *OUTPUT,
)
OF_TRAINING = (
    *(option.name for option in LENGTHS), "optimizer", "precision", "attention", "checkpointing", "device", "no_dropout", "no_loss",
)  # fmt: skip
"""Options on which nothing depends where a model is not trained."""
SETTINGS = ("dtype", "quantization", "optimizer", "precision", "attention", "checkpointing", "device")


def answer(arguments: Arguments) -> Answer:
    """Add up the bytes of the model at work."""
    from weighbridge.accounts.inputs import Inputs, inputs
    from weighbridge.accounts.memory.account import settings_of
    from weighbridge.accounts.possible import usual_lengths
    from weighbridge.documents import memory

    words = {name: getattr(arguments, name) for name in SETTINGS}
    model = arguments.model()
    usual = (
        {}
        if arguments.seq is not None
        else dict(zip(("seq", "decoder_seq"), usual_lengths(model, Inputs().seq, arguments.decoder_seq), strict=True))
    )
    given = inputs({**vars(arguments), **usual})
    dropout = arguments.training and not arguments.no_dropout
    how = settings_of(model, arguments.training, **words, dropout=dropout, loss=not arguments.no_loss)

    idle = (
        ()
        if arguments.training
        else tuple(option.switch for option in OPTIONS if option.name in OF_TRAINING and _is_said(arguments, option))
    )

    def document() -> Document:
        if not arguments.explain:
            return memory.document(model, given, how, training=arguments.training, lang=arguments.lang, idle=idle)
        from weighbridge.documents.memory_derivation import derivation

        return memory.document(model, given, how, training=arguments.training, derive=derivation, lang=arguments.lang, idle=idle)

    return Answer(lambda: memory.as_json(model, given, how, training=arguments.training, explain=arguments.explain, idle=idle), document)


def _is_said(arguments: Arguments, option: Option) -> bool:
    return bool(getattr(arguments, option.name, None) not in (None, False, option.default))
