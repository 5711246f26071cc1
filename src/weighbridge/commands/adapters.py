"""``weigh adapters BASE ADAPTER``."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Asked, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh adapters bert-base-uncased lora:r=8,target_modules=query+value
  weigh adapters meta-llama/Llama-3.2-3B path/to/adapter_config.json --json
  weigh adapters llama-3-8b lora:r=16,target_modules=all-linear --dtype bfloat16
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
    *OUTPUT,
)


def answer(asked: Asked) -> Answer:
    """Count the model with the adapter."""
    from weighbridge.accounts.adapters.source import adapters_of
    from weighbridge.documents import adapters

    model = asked.model()
    found = adapters_of(model, asked.adapter, dtype=asked.dtype, autocast=not asked.no_autocast, resized=asked.resized)
    return Answer(lambda: adapters.as_json(model, found), lambda: adapters.document(model, found, asked.lang))
