"""``weigh cache SOURCE``."""

from __future__ import annotations

from weighbridge.commands.idle import with_idle
from weighbridge.commands.inputs import LENGTHS, inputs_from
from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.documents.document import Document

EXAMPLE = """example:
  weigh cache llama-3.2-1b --seq 1024
  weigh cache deepseek-v3 --batch 8 --seq 32768 --dtype float16
  weigh cache gemma-3-1b --seq 32768 --engine llama.cpp --json
  weigh cache qwen3-14b --seq 65536 --engine llama.cpp --dtype q4_0
"""

OPTIONS = (
    *SOURCE,
    *LENGTHS[:3],
    Option(
        "dtype",
        mark(
            "type of keys and values: bfloat16, float16, float32, float8, int8; of llama.cpp also q8_0, q5_1, q5_0, q4_1, q4_0, iq4_nl,"
            " or two, of keys and of values: q8_0+q4_0 (default bfloat16)"
        ),
        "WORD",
        default=None,
    ),
    Option("engine", mark("engine whose rules apply: reference, llama.cpp, vllm, sglang (default reference)"), "WORD", default="reference"),
    Option("explain", mark("derive it: formula, substitution, number, for each kind of layer"), kind="switch"),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Add up what the model keeps between tokens."""
    return with_idle(_answer, arguments, OPTIONS)


def _answer(arguments: Arguments) -> Answer:
    from weighbridge.accounts.accepted_inputs import usual_lengths, without_decoder
    from weighbridge.accounts.cache import DTYPE, SEQ
    from weighbridge.documents import cache

    model = arguments.model()
    lengths = (
        {}
        if arguments.seq is not None
        else dict(zip(("seq", "decoder_seq"), usual_lengths(model, SEQ, arguments.decoder_seq), strict=True))
    )
    given, dtype = without_decoder(model, inputs_from(arguments, **lengths)), arguments.dtype or DTYPE
    how = (dtype, arguments.engine)
    assumed = arguments.dtype is None

    def document() -> Document:
        if not arguments.explain:
            return cache.document(model, given, *how, assumed=assumed, lang=arguments.lang)
        from weighbridge.documents.cache_derivation import derivation

        return cache.document(model, given, *how, assumed=assumed, derive=derivation, lang=arguments.lang)

    return Answer(lambda: cache.as_json(model, given, *how, assumed=assumed), document)
