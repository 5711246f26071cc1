"""``weigh verify SOURCE [CONFIG]``."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option, overrides
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh verify ./bert-base-uncased
  weigh verify model.safetensors config.json --json
  weigh verify model.gguf
  weigh verify pytorch_model.bin bert-base-uncased --class BertForPreTraining
"""
NOTE = mark("Exit codes: 0 where every element is accounted for, 1 where it is not or a claim of the file is false, 2 for bad input.")
OPTIONS = (
    *SOURCE,
    Option(
        "config",
        mark("what the file should be: a config or a preset (default: a GGUF file's own metadata, else the config beside it)"),
        "CONFIG",
        flag="",
    ),
    Option("thorough", mark("compare tied tensors that the file holds twice in full (default: samples of a few kilobytes)"), kind="switch"),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Hold a file against its config."""
    from weighbridge.documents import verify
    from weighbridge.verification.verify import verify_checkpoint

    found = verify_checkpoint(
        arguments.source, arguments.config, arguments.class_name, overrides(arguments.overrides), thorough=arguments.thorough
    )
    return Answer(lambda: verify.as_json(found), lambda: verify.document(found, arguments.lang), holds=found.holds)
