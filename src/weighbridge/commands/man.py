"""``weigh man``: the manual page, made from the table of commands; ``scripts/site`` keeps docs/weigh.1, which a wheel installs."""

from __future__ import annotations

from weighbridge.commands.options import COMMON, LANG, Answer, Arguments, Option
from weighbridge.core.messages import Say, mark, translator

EXAMPLE = """example:
  weigh man | man -l -
  weigh man > ~/.local/share/man/man1/weigh.1
"""
OPTIONS = (LANG,)


def answer(arguments: Arguments) -> Answer:
    """Return the manual page as troff."""
    text = page(arguments.lang)
    return Answer(lambda: text, text=text)


def page(lang: str = "en") -> str:
    """Write the manual page.

    >>> page().splitlines()[1]
    '.SH NAME'
    """
    from weighbridge import __version__
    from weighbridge.commands.help import INTRODUCTION, SOURCES
    from weighbridge.commands.table import TABLE

    say = translator(lang)
    head = [
        f'.TH WEIGH 1 "" "weighbridge {__version__}"',
        ".SH NAME",
        _escape(say(INTRODUCTION).replace("weigh: ", "weigh \\- ").replace("weigh：", "weigh \\- ")),
        ".SH SYNOPSIS",
        "\\fBweigh\\fR [\\fICOMMAND\\fR] \\fISOURCE\\fR [\\fIOPTIONS\\fR]",
        ".SH DESCRIPTION",
        _escape(say(SOURCES)),
        ".SH COMMANDS",
    ]
    lines = [line for command in TABLE for line in _command(command.name, say(command.summary), command.module.OPTIONS, say)]
    codes = [".SH EXIT STATUS", _escape(say(mark("0: fine. 1: it ran, but what it checks does not hold. 2: bad input.")))]
    common = [".SH OPTIONS OF EVERY COMMAND", *(line for option in COMMON for line in _option(option, say))]
    return "\n".join([*head, *lines, *common, *codes]) + "\n"


def _command(name: str, summary: str, options: tuple[Option, ...], say: Say) -> list[str]:
    arguments = " ".join(option.metavar if option.needed else f"[{option.metavar}]" for option in options if not option.switch)
    lines = [
        f".SS weigh {name} {_escape(arguments)}".rstrip(),
        _escape(say("{summary}.").format(summary=summary[:1].upper() + summary[1:])),
    ]
    for option in options:
        lines += _option(option, say)
    return lines


def _option(option: Option, say: Say) -> list[str]:
    if not option.help:
        return []
    typed = ", ".join(f"\\fB{_escape(text)}\\fR" for text in (option.short, option.switch) if text)
    value = f" \\fI{_escape(option.metavar)}\\fR" if option.metavar and option.kind != "switch" else ""
    choices = say("{label}: ").format(label=say(option.help)) + ", ".join(option.choices) if option.choices else say(option.help)
    return [".TP", (typed + value).strip() or f"\\fI{_escape(option.metavar)}\\fR", _escape(choices)]


def _escape(text: str) -> str:
    """Write text so that troff prints it as it is.

    >>> print(_escape("--set key=value"))
    \\-\\-set key=value
    """
    plain = text.replace("\\-", "\0").replace("\\", "\\e").replace("-", "\\-").replace("\0", "\\-")
    return "\\&" + plain if plain.startswith((".", "'")) else plain
