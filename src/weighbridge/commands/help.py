"""The help pages, made from the table of commands and their options: in any width and either language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.commands.options import COMMON, OUTPUT, SOURCE, Option
from weighbridge.commands.output import width
from weighbridge.commands.table import COMMANDS
from weighbridge.core.messages import Say, mark, translator
from weighbridge.documents.renderers.wrapping import measure, pad, wrap

SHORT = 40
"""Columns that an option's choices may take beside its name."""

INTRODUCTION = mark("weigh: count a transformer's parameters without loading it")
SOURCES = mark(
    "SOURCE is a preset (weigh models), a config.json, a directory, a checkpoint file, a Hub id (org/name or org/name@revision),"
    " modelscope:org/name, an address (https://, s3://, gs://, az://), or - for a config on standard input."
)
EXAMPLES = """  weigh bert-base-chinese
  weigh bert-base-uncased --class BertForMaskedLM
  weigh bert-base-uncased --set num_hidden_layers=6
  weigh help COMMAND
"""


GROUPS = {
    mark("count and explain"): ("count", "tensors", "explain", "formula", "counts", "quiz"),
    mark("check"): ("audit", "reconcile", "verify", "diff", "compare"),
    mark("arithmetic and memory"): ("flops", "cache", "memory", "fits", "adapters", "parallel"),
    mark("design"): ("solve", "design", "sweep"),
    mark("show and collect"): ("report", "serve", "census", "models"),
    mark("set up"): ("completion", "man"),
}
"""The commands by what they are for; a test holds that all of them stand here."""


def overview(lang: str = "en") -> str:
    """Return the list of all commands.

    >>> print(overview().splitlines()[0])
    weigh: count a transformer's parameters without loading it
    """
    say, columns = translator(lang), width()
    rows = {say(title): [(name, say(COMMANDS[name].summary)) for name in names] for title, names in GROUPS.items()}
    more = [("--version", say(mark("print the version"))), ("-h, --help", say(mark("show this help")))]
    room = max(measure(name) for name in (*COMMANDS, "-h, --help"))
    usage = "weigh [COMMAND] SOURCE [--class CLASS] [--set key=value] [--lang LANG] [--json]"
    blocks = [
        "\n".join(wrap(say(INTRODUCTION), columns)),
        _indent_continuation(say("{label}: ").format(label=say(mark("usage"))), usage, columns),
        *(say("{label}: ").format(label=title).rstrip() + "\n" + _table(inside, columns, room) for title, inside in rows.items()),
        _table(more, columns, room),
        "\n".join(wrap(say(SOURCES), columns)),
    ]
    return "\n\n".join(blocks) + "\n\n" + EXAMPLES


def page(name: str, lang: str = "en") -> str:
    """Return the help of one command.

    >>> "--depth N" in page("count")
    True
    """
    say, columns, module = translator(lang), width(), COMMANDS[name].module
    options = [option for option in (*module.OPTIONS, *COMMON) if option.help]
    arguments = [option for option in options if not option.switch]
    flags = [option for option in options if option.switch]
    usage = " ".join(["weigh", name, *map(_place, arguments), say(mark("[OPTIONS]"))])
    summary = say(COMMANDS[name].summary)
    blocks = [
        _indent_continuation(say("{label}: ").format(label=say(mark("usage"))), usage, columns),
        "\n".join(wrap(say(mark("{summary}.")).format(summary=summary[:1].upper() + summary[1:]), columns)),
        *_section(say(mark("arguments")), arguments, columns, say),
        *(block for title, inside in _sort(flags).items() for block in _section(say(title), inside, columns, say)),
        _examples(module.EXAMPLE.rstrip("\n").replace("example:", say(mark("example:")), 1), columns),
        *(["\n".join(wrap(say(module.NOTE), columns))] if hasattr(module, "NOTE") else []),
    ]
    return "\n\n".join(blocks) + "\n"


def _sort(flags: Sequence[Option]) -> dict[str, list[Option]]:
    """Put a command's own options first, and what nearly all commands take behind them."""
    titles = {**dict.fromkeys(SOURCE, mark("which model")), **dict.fromkeys((*OUTPUT, *COMMON), mark("output"))}
    found: dict[str, list[Option]] = {mark("options"): [], mark("which model"): [], mark("output"): []}
    for option in flags:
        found[titles.get(option, "options")].append(option)
    return found


def _examples(text: str, columns: int) -> str:
    """Break a command that is too long before an option, else before a word, as a shell's line is continued."""
    found = []
    for line in text.splitlines():
        pieces = re.split(r" (?=-)", line) if measure(line) > columns else [line]
        pieces = [word for piece in pieces for word in ([piece] if measure(piece) + 2 <= columns else _words(piece))]
        row = pieces[0]
        for piece in pieces[1:]:
            if measure(row) + measure(piece) + 3 > columns:
                found.append(row + " \\")
                row = "    " + piece
            else:
                row += " " + piece
        found.append(row)
    return "\n".join(found)


def _words(command: str) -> list[str]:
    """Divide a command at its blanks; what stands in front of its first word stays there, and what is quoted stays together."""
    return re.findall(r"^ +\S+|\"[^\"]*\"|'[^']*'|\S+", command)


def _place(option: Option) -> str:
    return f"{option.metavar}{' ...' * option.many}" if option.needed else f"[{option.metavar}{' ...' * option.many}]"


def _section(title: str, options: Sequence[Option], columns: int, say: Say) -> list[str]:
    rows = [(_write_option(option), _describe_option(option, say)) for option in options]
    return [say("{label}: ").format(label=title).rstrip() + "\n" + _table(rows, columns)] if rows else []


def _write_option(option: Option) -> str:
    """Write an option as it is typed."""
    if not option.switch:
        return option.metavar
    value = "{" + ",".join(option.choices) + "}" if _are_short(option) else option.metavar
    short = f"{option.short}, " if option.short else ""
    return f"{short}{option.switch}{f' {value}' if value and option.kind != 'switch' else ''}"


def _describe_option(option: Option, say: Say) -> str:
    """Return what an option is for, with its choices where they are too many to stand beside its name."""
    if not option.choices or _are_short(option):
        return say(option.help)
    return say("{label}: ").format(label=say(option.help)) + say(", ").join(option.choices)


def _are_short(option: Option) -> bool:
    return 0 < len(",".join(option.choices)) <= SHORT


def _table(rows: Sequence[tuple[str, str]], columns: int, room: int = 0) -> str:
    """Set names beside what they mean; a name too long for its column, of *room* where that is given, stands on a line of its own."""
    room = min(room or max(measure(name) for name, _ in rows), 24, columns // 3)
    lines = []
    for name, text in rows:
        first, *rest = wrap(text, max(columns - room - 4, 20))
        if measure(name) > room:
            lines += [f"  {name}", " " * (room + 4) + first]
        else:
            lines.append(f"  {pad(name, room)}  {first}")
        lines += [" " * (room + 4) + line for line in rest]
    return "\n".join(lines)


def _indent_continuation(head: str, text: str, columns: int) -> str:
    """Break a line whose continuation is indented to its head."""
    indent = measure(head)
    return head + f"\n{' ' * indent}".join(wrap(text, columns - indent))
