"""``weigh solve SOURCE KEY [KEY]``."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Asked, Option
from weighbridge.core.messages import mark

EXAMPLE = """example:
  weigh solve t5-small d_ff --params 80M
  weigh solve bert-base-uncased num_hidden_layers --params 109482240
  weigh solve llama-3-8b num_hidden_layers intermediate_size --params 8B±0.1% --multiple intermediate_size=256
"""
OPTIONS = (
    *SOURCE,
    Option("keys", mark("one or two sizes of the config, such as num_hidden_layers; a dot reaches into a sub-config"), "KEY",
           flag="", many=True, needed=True),
    Option("params", mark("how many parameters there are to be: 80M, 109482240, 124M±0.5%"), "N"),
    Option("active", mark("how many of them are to be active for a token"), "N"),
    Option("multiple", mark("take only multiples of a number; may be repeated"), "KEY=N", many=True),
    *OUTPUT,
)  # fmt: skip


def answer(asked: Asked) -> Answer:
    """Solve; 1 if nothing solves it."""
    from weighbridge.core.errors import UsageError
    from weighbridge.designs.budget import parse_budget
    from weighbridge.designs.solve import solve
    from weighbridge.documents import solve as documents

    given = {"parameters": ("params", asked.params), "active": ("active", asked.active)}
    targets = {name: parse_budget(text, option) for name, (option, text) in given.items() if text is not None}
    if not targets:
        raise UsageError("solve: for how many parameters? --params 80M, or --active 13B")
    model = asked.model()
    found = solve(model, asked.keys, targets, step=multiples(asked.multiple or ()))
    return Answer(lambda: documents.as_json(model, found), lambda: documents.document(model, found, asked.lang), bool(found.solutions))


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
            raise UsageError(f"--multiple {pair[:80]}: expected KEY=N, such as intermediate_size=256")
        result[key] = int(value)
    return result
