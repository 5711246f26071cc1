"""The table of commands: the command line, its help, the calls of the API and their description are made from it.

To add a command: one function in the library, a thin module ``commands/NAME.py`` and a line here. The module has

- ``OPTIONS``: what it takes (see :mod:`weighbridge.commands.options`);
- ``EXAMPLE``: lines for its help, and where more is to be said of it, a ``NOTE``;
- ``answer(arguments)``: the function, which returns an :class:`~weighbridge.commands.options.Answer`: JSON and a document.
"""

from __future__ import annotations

import sys

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from types import ModuleType


class Command(NamedTuple):
    """One command.

    Attributes:
        name: What is typed, and the name of its module and of its document.
        summary: What it answers.
        api: Whether it is a call of the API as well: nothing that needs a file of this machine or searches for long is.
        room: The package that holds its module.
    """

    name: str
    summary: str
    api: bool = True
    room: str = "commands"

    @property
    def module(self) -> ModuleType:
        """The module of the same name, loaded when it is asked for."""
        path = f"weighbridge.{self.room}.{self.name}"
        __import__(path)  # importlib.import_module, whose import takes a hundredth of a count
        return sys.modules[path]


TABLE = (
    Command("count", mark("parameters in total and module by module: shape, copies, count, share (also: weigh SOURCE)")),
    Command("tensors", mark("every tensor: name, shape, count, role, tie")),
    Command("explain", mark("why a model has that many: formula, numbers put in, result, module by module")),
    Command("formula", mark("the closed formula in letters, in total and by module")),
    Command("audit", mark("every numeric claim of an article or a model card, checked")),
    Command("quiz", mark("counting exercises of any level, marked step by step, with hints and solutions")),
    Command("counts", mark("every legitimate count of a model side by side: by class, without embeddings, biases or head")),
    Command("reconcile", mark("which counting convention gives a number, else the nearest with the difference explained")),
    Command("flops", mark("FLOPs of a forward and a backward pass, by module")),
    Command("cache", mark("memory kept between tokens: keys and values, windows, states, as an engine keeps them")),
    Command("memory", mark("bytes of weights; in training, of gradients, optimizer states and activations too")),
    Command("adapters", mark("trainable, total and saved elements with an adapter: LoRA and every method of PEFT"), api=False),
    Command("parallel", mark("a model split over devices: bytes on each, what they send each other, how long a pipeline is idle")),
    Command("fits", mark("whether a model fits a device and what makes it fit; largest batch, longest context, best possible speed")),
    Command("verify", mark("a checkpoint against its config: every tensor matches, or is listed with the reason"), api=False),
    Command(
        "diff", mark("two models tensor by tensor: added, removed, of another shape or type, and the config fields behind it"), api=False
    ),
    Command("compare", mark("models side by side: parameters, sizes, arithmetic, and the differences from the first")),
    Command("report", mark("everything about one model in one file (html, md, tex, txt, xlsx), or its picture (svg, png)"), api=False),
    Command("solve", mark("the one or two sizes of a config that give a number of parameters, solved exactly")),
    Command("design", mark("all configs of an architecture within a budget of parameters")),
    Command("sweep", mark("every combination of sizes from ranges, counted")),
    Command("census", mark("a table of every model in a store, one row each, in Parquet, and queries on it"), api=False),
    Command("serve", mark("the web page and its API"), api=False, room="web"),
    Command("models", mark("the presets and model types that are known")),
    Command("completion", mark("a script that completes commands, options and presets in your shell"), api=False),
    Command("man", mark("the manual page of all commands and options: weigh man | man -l -"), api=False),
)

COMMANDS = {command.name: command for command in TABLE}
"""The commands by name."""
