"""``weigh solve SOURCE KEY [KEY]``."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core.messages import Text, mark

EXAMPLE = """example:
  weigh solve flan-t5-small d_ff --params 80M
  weigh solve bert-base-uncased num_hidden_layers --params 109482240
  weigh solve llama-3-8b num_hidden_layers intermediate_size --params 8B±0.1% --multiple intermediate_size=256
"""
OPTIONS = (
    *SOURCE,
    Option(
        "keys",
        mark("one or two sizes of the config, such as num_hidden_layers; a dot reaches into a sub-config"),
        "KEY",
        flag="",
        many=True,
        needed=True,
    ),
    Option("params", mark("target number of parameters: 80M, 109482240, 124M±0.5%"), "N"),
    Option(
        "loaded",
        mark("target number of parameters once loaded from its file, where a head that is tied when built has its own matrix"),
        "N",
    ),
    Option("active", mark("target number of active parameters per token"), "N"),
    Option("flops", mark("target FLOPs of a forward pass over --seq tokens"), "N"),
    Option("cache", mark("target bytes of cache per token: 64KiB"), "SIZE"),
    Option("memory", mark("target bytes of memory (for training with --training): 24GiB"), "SIZE"),
    Option("training", mark("memory is that of training"), kind="switch"),
    Option("batch", mark("examples (default 1)"), "N", kind="whole", default=1),
    Option("seq", mark("tokens of each (default 2048, or as many as the model can take)"), "N", kind="whole"),
    Option("dtype", mark("element type of weights and cache (default bfloat16)"), "TYPE", default="bfloat16"),
    Option("multiple", mark("take only multiples of a number; may be repeated"), "KEY=N", many=True),
    *OUTPUT,
)


def answer(arguments: Arguments) -> Answer:
    """Solve; 1 if nothing solves it."""
    from weighbridge.core.errors import UsageError
    from weighbridge.designs.budget import BYTES, COUNTS, parse_budget
    from weighbridge.designs.costs import Workload
    from weighbridge.designs.solve import solve
    from weighbridge.documents import solve as documents

    targets = {
        name: parse_budget(text, option, units)
        for name, option, text, units in (
            ("parameters", "params", arguments.params, COUNTS),
            ("loaded", "loaded", arguments.loaded, COUNTS),
            ("active", "active", arguments.active, COUNTS),
            ("flops", "flops", arguments.flops, COUNTS),
            ("cache", "cache", arguments.cache, BYTES),
            ("memory", "memory", arguments.memory, BYTES),
        )
        if text is not None
    }
    if not targets:
        raise UsageError("solve: for how many parameters? --params 80M, or --active 13B; or --flops, --cache, --memory")
    work = Workload(arguments.batch, arguments.seq, arguments.dtype, bool(arguments.training))
    model = arguments.model()
    found = solve(model, arguments.keys, targets, step=multiples(arguments.multiple or ()), workload=work)
    return Answer(lambda: documents.as_json(model, found), lambda: documents.document(model, found, arguments.lang), bool(found.solutions))


def multiples(pairs: list[str] | tuple[str, ...]) -> dict[str, int]:
    """Read ``KEY=N`` pairs.

    >>> multiples(["intermediate_size=256"])
    {'intermediate_size': 256}
    """
    from weighbridge.core.errors import UsageError

    result = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if not key or not value.isdecimal() or not 0 < len(value) < 16 or int(value) < 1:
            raise UsageError(Text("--multiple {pair}: expected KEY=N, such as intermediate_size=256", pair=pair[:80]))
        result[key] = int(value)
    return result
