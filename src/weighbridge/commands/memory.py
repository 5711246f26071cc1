"""``weigh memory SOURCE``."""

from __future__ import annotations

from weighbridge.commands.idle import SAME, with_idle
from weighbridge.commands.inputs import LENGTHS, inputs_from
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

OPTIONS = (
    *SOURCE,
    Option("training", mark("gradients, optimizer states and activations too"), kind="switch"),
    *LENGTHS,
    Option(
        "dtype",
        mark("type of the weights: float32, bfloat16, float16, int8, int4 (default float32, or as the config is quantized)"),
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
    Option("precision", mark("mixed precision in training: pure, amp, mixed, megatron (default pure)"), "WORD", default="pure"),
    Option("attention", mark("attention implementation: eager, sdpa or flash (default sdpa)"), "WORD", default="sdpa"),
    Option(
        "checkpointing",
        mark("which activations to recompute (checkpointing): none, selective, full (default none)"),
        "WORD",
        default="none",
    ),
    Option("device", mark("device whose kernels run: cpu, cuda (default cpu)"), "WORD", default="cpu"),
    Option("no_dropout", mark("no dropout, whatever the config says"), kind="switch"),
    Option("no_loss", mark("leave the loss out"), kind="switch"),
    Option(
        "explain",
        mark("derive it: formula, substitution, number, for each group of tensors and each storage that is kept for backward"),
        kind="switch",
    ),
    *OUTPUT,
)
OF_TRAINING = mark("Without --training nothing here depends on {options}. For what a model keeps while it generates, see weigh cache.")
"""What is said of options that change nothing where a model is not trained."""
SETTINGS = ("dtype", "quantization", "optimizer", "precision", "attention", "checkpointing", "device")


def answer(arguments: Arguments) -> Answer:
    """Add up the bytes of the model at work."""
    return with_idle(_answer, arguments, OPTIONS, SAME if arguments.training else OF_TRAINING)


def _answer(arguments: Arguments) -> Answer:
    from weighbridge.accounts.accepted_inputs import usual_lengths
    from weighbridge.accounts.inputs import Inputs
    from weighbridge.accounts.memory.account import settings_of
    from weighbridge.documents import memory

    words = {name: getattr(arguments, name) for name in SETTINGS}
    model = arguments.model()
    usual = (
        {}
        if arguments.seq is not None
        else dict(zip(("seq", "decoder_seq"), usual_lengths(model, Inputs().seq, arguments.decoder_seq), strict=True))
    )
    given = inputs_from(arguments, **usual)
    dropout = arguments.training and not arguments.no_dropout
    how = settings_of(model, arguments.training, **words, dropout=dropout, loss=not arguments.no_loss)
    assumed = arguments.dtype is None

    def document() -> Document:
        if not arguments.explain:
            return memory.document(model, given, how, training=arguments.training, assumed=assumed, lang=arguments.lang)
        from weighbridge.documents.memory_derivation import derivation

        return memory.document(model, given, how, training=arguments.training, assumed=assumed, derive=derivation, lang=arguments.lang)

    return Answer(
        lambda: memory.as_json(model, given, how, training=arguments.training, assumed=assumed, explain=arguments.explain), document
    )
