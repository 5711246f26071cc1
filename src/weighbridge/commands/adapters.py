"""``weigh adapters BASE ADAPTER``."""

from __future__ import annotations

from weighbridge.commands.idle import with_idle
from weighbridge.commands.inputs import TEXT, inputs_from
from weighbridge.commands.options import OPTIMIZER, OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from weighbridge.accounts.adapters.account import AdapterCount
    from weighbridge.core.messages import Say
    from weighbridge.documents.document import Block
    from weighbridge.value import ModelValue

EXAMPLE = """example:
  weigh adapters bert-base-uncased lora:r=8,target_modules=query+value
  weigh adapters meta-llama/Llama-3.2-3B path/to/adapter_config.json --json
  weigh adapters llama-3-8b lora:r=16,target_modules=all-linear --dtype bfloat16 --quantization bnb-4bit-double
"""
OPTIONS = (
    *SOURCE,
    Option(
        "adapter",
        mark("adapter_config.json, a directory with one, or a method and its fields: lora:r=8,target_modules=q_proj+v_proj"),
        "ADAPTER",
        flag="",
        needed=True,
    ),
    Option("dtype", mark("element type that the base is loaded in (default float32)"), "TYPE", default="float32"),
    Option("no_autocast", mark("keep the adapter in the base's 16 bits, in place of float32"), kind="switch"),
    Option("resized", mark("the base's vocabulary was resized, so its embeddings are saved too"), kind="switch"),
    Option(
        "quantization",
        mark("scheme that packs the base's matrices, such as bnb-4bit-double (QLoRA), bnb-8bit, gptq-4bit"),
        "WORD",
        default=None,
    ),
    OPTIMIZER,
    *TEXT,
    Option("explain", mark("derive it: formula, substitution, number, for each kind of module"), kind="switch"),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Count the model with the adapter."""
    return with_idle(_answer, arguments, OPTIONS, differs=_differs)


def _differs(one: Arguments, other: Arguments) -> bool:
    from weighbridge.accounts.adapters.costs import base_bytes

    return base_bytes(one.model(), one.dtype, one.quantization) != base_bytes(one.model(), other.dtype, other.quantization)


def _answer(arguments: Arguments) -> Answer:
    from weighbridge.accounts.adapters.costs import costs_of
    from weighbridge.accounts.adapters.source import adapter_config, adapters_of
    from weighbridge.documents import adapters

    model, config = arguments.model(), adapter_config(arguments.adapter)

    def count(model: ModelValue, config: Mapping[str, object]) -> AdapterCount:
        how = {"dtype": arguments.dtype, "autocast": not arguments.no_autocast, "resized": arguments.resized}
        return adapters_of(model, config, **how, quantization=arguments.quantization)

    found = count(model, config)

    def derive(say: Say) -> Iterable[Block]:
        from weighbridge.documents.adapters_derivation import derivation

        return derivation(model, config, found, count, say)

    words = {name: getattr(arguments, name) for name in ("dtype", "quantization", "optimizer")}
    costs = costs_of(model, config, found, inputs_from(arguments), **words)
    types = arguments.quantization or (arguments.dtype if model.kind != "checkpoint" else "")
    return Answer(
        lambda: adapters.as_json(model, found, costs),
        lambda: adapters.document(model, found, arguments.lang, derive if arguments.explain else None, costs, types=types),
    )
