"""``weigh fits SOURCE``."""

from __future__ import annotations

from weighbridge.commands.idle import with_idle
from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.documents.document import Document

EXAMPLE = """example:
  weigh fits llama-3-8b --device rtx-4090
  weigh fits llama-3-8b --device a100-80g --for training --seq 4096
  weigh fits llama-3-70b --gib 48 --for lora --json
  weigh fits llama-3-8b --gib 24 --explain
"""
OPTIONS = (
    *SOURCE,
    Option("device", mark("accelerator, such as a100-80g, h100-80g, rtx-4090, mi300x, tpu-v5e"), "NAME", default=None),
    Option("gib", mark("memory in GiB, in place of a device"), "N", kind="number", default=None),
    Option("purpose", mark("purpose: serving, training or lora (default serving)"), "WORD", default="serving", flag="--for"),
    Option("batch", mark("examples (default 1)"), "N", kind="whole", default=1),
    Option("seq", mark("tokens of each (default 2048, or as many as it takes)"), "N", kind="whole", default=None),
    Option("dtype", mark("type of the weights: bfloat16, float16 or float32 (default bfloat16)"), "WORD", default="bfloat16"),
    Option("overhead", mark("GiB reserved for the engine (default 1)"), "N", kind="number", default=1),
    Option("explain", mark("derive it: what each way holds, term by term, and what is left of the device"), kind="switch"),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Tell whether the model fits, and what makes it fit."""
    return with_idle(_answer, arguments, [option for option in OPTIONS if option.name not in ("gib", "device", "purpose")])


def _answer(arguments: Arguments) -> Answer:
    from weighbridge.accounts.fits.account import device_memory, fits_of
    from weighbridge.documents import fits

    device, memory, overhead = device_memory(arguments.device, arguments.gib, arguments.overhead)
    model = arguments.model()
    found = fits_of(
        model, memory, arguments.purpose, batch=arguments.batch, seq=arguments.seq, dtype=arguments.dtype, overhead=overhead, device=device
    )

    def document() -> Document:
        if not arguments.explain:
            return fits.document(model, found, device, arguments.lang)
        from weighbridge.documents.fits_derivation import derivation

        return fits.document(model, found, device, arguments.lang, derivation)

    return Answer(lambda: fits.as_json(model, found, device, explain=arguments.explain), document)
