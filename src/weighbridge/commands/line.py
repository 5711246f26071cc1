"""One line of words: which command it names, what it asks of it, and the answer printed."""

from __future__ import annotations

from weighbridge.commands import output
from weighbridge.commands.options import COMMON, Arguments
from weighbridge.commands.parse import ELSEWHERE, NO_OPTION, SEE_HELP, parse
from weighbridge.commands.table import COMMANDS
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import SourceError, UsageError
from weighbridge.core.messages import Text, language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.commands.options import Option


def run(words: list[str]) -> int:
    """Find the command, read its options, print its answer; return the exit code."""
    output.prepare()
    code = _run(words)
    output.flush()
    return code


def _run(words: list[str]) -> int:
    if words[:1] == ["help"] or not words or words[0] in ("-h", "--help"):
        from itertools import pairwise

        from weighbridge.commands import help as helping

        asked_for = (
            [word for before, word in pairwise(words) if before != "--lang" and not word.startswith("-")][:1]
            if words[:1] == ["help"]
            else []
        )
        lang = output.language_of(words)
        output.emit(helping.page(_command(asked_for[0]), lang) if asked_for else helping.overview(lang))
        return 0 if words else 2
    if words[0] == "--version":
        from weighbridge import __version__

        output.emit(f"weighbridge {__version__}\n")
        return 0
    name, rest = _split(words)
    module = COMMANDS[name].module
    options: Sequence[Option] = module.OPTIONS
    if {"-h", "--help"} & set(rest):
        from weighbridge.commands import help as helping

        output.emit(helping.page(name, output.language_of(words)))
        return 0
    return output.answer(module, _read_options(rest, options, words))


def _read_options(rest: list[str], options: Sequence[Option], words: list[str]) -> Arguments:
    try:
        values = parse(rest, (*options, *COMMON))
    except UsageError as error:
        _refuse_mistyped(words)
        _refuse_option_of_another(error, words)
        raise
    for option in options:
        if option.needed and option.switch and values[option.name] is None:
            what = Text(option.help.replace("{", "{{").replace("}", "}}"))
            raise UsageError(Text("{argument}: missing; expected {what}", argument=option.switch, what=what))
    values["lang"] = output.writable_language(language(values.get("lang")), values)
    return Arguments(values)


OWNERS = {"--device": "fits"}
"""The command whose option of that name is meant, where several have one."""


def _refuse_option_of_another(error: UsageError, words: list[str]) -> None:
    """Say which command has an option that this one lacks, under its own name or the one it has here."""
    text = error.args[0]
    if not isinstance(text, Text) or text.template != NO_OPTION or text.values["hint"] != SEE_HELP:
        return
    name, here = str(text.values["name"]), _split(words)[0]
    if name[2:] in COMMANDS and name[2:] != here:
        raise UsageError(
            Text(NO_OPTION, name=name, hint=Text("there is a command of that name: weigh {command}", command=name[2:]))
        ) from None
    for flag in (*ELSEWHERE.get(name, ()), name):
        for command, entry in sorted(COMMANDS.items(), key=lambda item: item[0] != OWNERS.get(flag)):
            if command != here and any(option.switch == flag for option in entry.module.OPTIONS):
                hint = Text("weigh {command} has {flag}", command=command, flag=flag)
                raise UsageError(Text(NO_OPTION, name=name, hint=hint)) from None


def _split(words: list[str]) -> tuple[str, list[str]]:
    """Return the command and the other words; a line without a command is a count."""
    for at, word in enumerate(words):
        if word in COMMANDS and (at == 0 or _only_options(words[:at], word)):
            return word, words[:at] + words[at + 1 :]
        if at == 0 and not word.startswith("-"):
            break
    return "count", words


def _only_options(words: list[str], name: str) -> bool:
    """Tell whether words before a command's name are its options with their values."""
    try:
        parse(words, [option for option in (*COMMANDS[name].module.OPTIONS, *COMMON) if option.switch])
    except UsageError:
        return False
    return True


def _command(name: str) -> str:
    if name in COMMANDS:
        return name
    raise _no_command(name) or UsageError(Text("{name}: no such command; weigh --help lists them", name=name[:60]))


def _refuse_mistyped(words: list[str]) -> None:
    """Say that a first word, followed by others, is a mistyped command, or that a command stands after what it is asked of."""
    if len(words) < 2 or words[0] in COMMANDS:
        return
    first = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    if first > 1:
        from weighbridge.presets import preset_like

        if (found := preset_like("-".join(words[:first]))) is not None:
            raise UsageError(Text("a name with blanks is written as one word: weigh {name}", name=found.name)) from None
    if words[0] == "weigh":
        raise UsageError(Text("weigh is written twice: weigh {rest}", rest=" ".join(words[1:])[:200])) from None
    error = _no_command(words[0])
    if error is not None:
        raise error from None
    near = [words[1]] if words[1] in COMMANDS else _near_commands(words[1])
    if near:
        text = Text("{name}: the command comes first: weigh {near} {source}", name=words[1][:60], near=near[0], source=words[0][:60])
        raise UsageError(text) from None


def _no_command(name: str) -> SourceError | None:
    near = _near_commands(name)
    if not near:
        return None
    return SourceError(Text("{name}: no such command; did you mean {near}?", name=name, near=near[0]), source=name, suggestions=tuple(near))


def _near_commands(name: str) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, COMMANDS, n=1, cutoff=0.7)
