"""``weigh sweep SOURCE --set KEY=A:B:STEP``."""

from __future__ import annotations

from weighbridge.commands.options import CLASS, KNOWN_SOURCES, OUTPUT, Answer, Arguments, Option
from weighbridge.core.messages import Text, mark

EXAMPLE = """example:
  weigh sweep bert-base-uncased --set num_hidden_layers=2:24
  weigh sweep bert-base-uncased --set hidden_size=240:1200:120 --set num_hidden_layers=6,12 --csv
  weigh sweep mixtral-8x7b --set num_local_experts=2:16:2 --account parameters --account active
"""
OPTIONS = (
    Option("source", KNOWN_SOURCES, "SOURCE", flag="", needed=True),
    CLASS,
    Option(
        "ranges",
        mark("a size and its values: 256:2048:64 (both ends belong to it) or 256,512; may be repeated"),
        "KEY=RANGE",
        flag="--set",
        many=True,
        needed=True,
    ),
    Option(
        "accounts",
        mark("what to count (default parameters); may be repeated"),
        "ACCOUNT",
        flag="--account",
        many=True,
        choices=("parameters", "active", "trainable", "stored", "embedding", "non_embedding", "buffers"),
    ),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Count every combination."""
    from weighbridge.core.errors import UsageError
    from weighbridge.designs.sweep import parse_range, sweep
    from weighbridge.documents import sweep as documents

    ranges = {}
    for pair in arguments.ranges:
        key, separator, text = pair.partition("=")
        if not separator or not key:
            raise UsageError(Text("--set {pair}: expected KEY=RANGE, such as num_hidden_layers=2:24", pair=pair[:80]))
        ranges[key] = parse_range(text, key)
    model = arguments.model()
    found = sweep(model, ranges, arguments.accounts or ("parameters",))
    every = arguments.__dict__.get("form") == "csv" or bool(arguments.__dict__.get("output"))
    return Answer(lambda: documents.as_json(model, found), lambda: documents.document(model, found, arguments.lang, every=every))
