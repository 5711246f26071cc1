"""The command line: finds the command, loads it alone, prints one line and exits with 2 on bad input."""

from __future__ import annotations

import sys
from importlib import import_module

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import WeighbridgeError

if TYPE_CHECKING:
    from argparse import HelpFormatter
    from collections.abc import Callable

COMMANDS = {
    "count": "total and tree: name, shape, repeat, count, share (also the bare weigh SOURCE)",
    "tensors": "every tensor: name, shape, count, role, tie",
    "explain": "the derivation: formula, substitution, number, module by module",
    "formula": "the closed formula, in total and by module, with its symbols explained",
    "audit": "every numeric claim of an article or a model card, checked",
    "counts": "all legitimate counts of this model side by side",
    "reconcile": "which convention gives a number; else the nearest and the difference explained",
    "flops": "arithmetic of a forward and a backward pass, by module",
    "adapters": "trainable, total and saved elements with an adapter: LoRA and every method of PEFT",
    "memory": "bytes of the model at work: weights, and in training gradients, optimizer states and activations",
    "verify": "a checkpoint against its config: every tensor matched, or named with its reason",
    "diff": "two models tensor by tensor: added, gone, reshaped, retyped, and the config fields behind it",
    "compare": "models side by side: parameters, sizes, arithmetic, and the differences to the first",
    "report": "everything about one model in one file: html, md, tex, txt, xlsx; its picture as svg or png",
    "serve": "the web page and its API",
    "models": "the presets and architectures known",
    "completion": "a script that completes commands and presets in your shell",
}
"""From a command to what it answers; the module of the same name in ``weighbridge.commands`` does it."""


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 fine, 1 what was checked does not hold, 2 bad input.

    >>> main(["no-such-model"])
    2
    """
    words = sys.argv[1:] if argv is None else argv
    try:
        return _run(words)
    except WeighbridgeError as error:
        if "--traceback" in words:
            raise
        print(f"weigh: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader went away (weigh ... | head): no fault, but Python would complain when it flushes.
        sys.stdout = None
        return 0
    except KeyboardInterrupt:
        return 130


def entry() -> None:
    """Run as a program: what is left of the process is not taken apart piece by piece, which costs a tenth of a count."""
    import os

    code = main()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


def _run(words: list[str]) -> int:
    import argparse

    if not words or words[0] in ("-h", "--help", "help"):
        print(_overview(), end="")
        return 0 if words else 2
    if words[0] == "--version":
        from weighbridge import __version__

        print(f"weighbridge {__version__}")
        return 0
    name, rest = (words[0], words[1:]) if words[0] in COMMANDS else ("count", words)
    command = import_module(f"weighbridge.commands.{name}")
    parser = argparse.ArgumentParser(
        prog=f"weigh {name}", description=COMMANDS[name][0].upper() + COMMANDS[name][1:] + ".", epilog=command.EXAMPLE,
        formatter_class=_formatter(rest), allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("--traceback", action="store_true", help="show where an error came from")
    command.configure(parser)
    try:
        args = parser.parse_args(rest)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    code: int = command.run(args)
    return code


def _formatter(words: list[str]) -> Callable[..., HelpFormatter]:
    """Return how help is laid out; a given width spares argparse an import of half the standard library."""
    import argparse
    import os

    if not {"-h", "--help"} & set(words):
        return lambda prog: argparse.HelpFormatter(prog, width=100)
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else 100
    if sys.stdout.isatty():
        try:
            from rich_argparse import RawDescriptionRichHelpFormatter

            return lambda prog: RawDescriptionRichHelpFormatter(prog, width=width)
        except ImportError:
            pass
    return lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=width)


def _overview() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items())
    return f"""weigh: weigh a transformer without loading it

usage: weigh [COMMAND] SOURCE [--class CLASS] [--set key=value] [--json]

{rows}

SOURCE is a preset (weigh models), a config.json, a directory, a checkpoint file, a Hub id (org/name or org/name@revision),
modelscope:org/name, an address (https://, s3://, gs://, az://), or - for a config on standard input.

  weigh bert-base-chinese
  weigh bert-base-uncased --class BertForMaskedLM --set num_hidden_layers=6
  weigh COMMAND --help
"""


if __name__ == "__main__":
    entry()
