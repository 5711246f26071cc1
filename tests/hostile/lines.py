"""Lines of words for the command line: every command with options of its own and of others, and values that nobody means."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from weighbridge.commands.options import COMMON
from weighbridge.commands.table import TABLE

VALUES = (
    "", " ", "-", "--", "-1", "0", "1", "7", "2048", "999999999", "1e9", "1.5", "NaN", "inf", "-inf", "1e999", "9" * 5000, "0x10", "１２", "²", "a", "=", "a=", "=a", "a=b=c", "vocab_size=5", "vocab_size=5:7", "vocab_size=7:5", "vocab_size=1:2:0",
    "vocab_size=1:999999999999", "vocab_size=-5:5", "hidden_size=null", "num_hidden_layers=[1]", "hidden_size=" + "9" * 5000, "a.b.c=1", "." * 200, "\x1b[2J", "\u202e", "\ud800", "\0", "名字", "x" * 5000, "<script>", "bert-tiny", "gpt2", "/etc/passwd", "110M", "1.1亿", "110M±0.5%", "110M±900%",
    "±", "-110M", "1e400M", "24GiB", "-5GiB", "64KiB", "1x1", "0x0", "999999999x999999999", "axb", "torch", "float32", "int4", "a100-80gb", "adamw", "BertForMaskedLM", "encoder.layer", "zh", "en", "tlh", "json", "{}", "[]", "{0}", "%s", "lora:r=4,target_modules=query", "lora:r=-1", "lora:", ":", "@x",
)  # fmt: skip
NOT = {"serve", "census"}
"""Commands that wait, or start processes."""


def hostile_lines(count: int, seed: int) -> Iterator[list[str]]:
    """Yield *count* lines; the same for the same seed.

    >>> list(hostile_lines(3, 1)) == list(hostile_lines(3, 1))
    True
    """
    chance = Random(seed)
    commands = [command for command in TABLE if command.name not in NOT]
    every = [option for command in commands for option in command.module.OPTIONS if option.switch]
    for _ in range(count):
        command = chance.choice(commands)
        options = [*command.module.OPTIONS, *COMMON]
        words = [command.name]
        for option in options:
            if not option.switch and chance.random() < 0.9:
                words += ["bert-tiny" if option.name in ("source", "sources") and chance.random() < 0.7 else chance.choice(VALUES)]
        for _ in range(chance.randrange(4)):
            option = chance.choice([option for option in options if option.switch] if chance.random() < 0.9 else every)
            if option.name in ("output", "traceback", "trust_remote_code", "via"):
                continue
            words.append(option.switch)
            if option.kind != "switch" or chance.random() < 0.05:
                words.append(chance.choice([*option.choices, *VALUES]))
        chance.shuffle(words[1:])
        yield words
