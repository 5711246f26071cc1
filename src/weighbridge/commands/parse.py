"""From the words of a command line to what was asked: options before, between and after arguments, each error with its remedy.

argparse would take a seventh of the time of a count, and speaks English alone.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from weighbridge.commands.options import Option

LARGEST = 999_999_999
"""The largest number of anything that is put in."""


def parse(words: Sequence[str], options: Sequence[Option]) -> dict[str, Any]:
    """Read a command's words.

    Raises:
        UsageError: An option that is not known, lacks its value or has an invalid one; an argument too few or too many.

    >>> from weighbridge.commands.options import Option
    >>> parse(["bert", "--seq=512"], (Option("source", "", "SOURCE", flag=""), Option("seq", "", "N", "whole", 128)))
    {'source': 'bert', 'seq': 512}
    """
    flags = {name: option for option in options for name in (option.switch, option.short) if name}
    given: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    loose: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            loose.extend(rest)
        elif not _is_flag(word, flags):
            loose.append(word)
        else:
            name, separator, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:].removeprefix("="))
            option = flags.get(name) or _refuse_unknown(name, flags)
            if option.kind == "switch":
                if separator:
                    raise UsageError(Text("{option}: takes no value, found {value!r}", option=name, value=value[:40]))
                _put(given, spelled, option, option.const, name)
            else:
                text = value if separator else next(rest, None)
                if text is None or (not separator and text in flags):
                    raise UsageError(_expected_value(option, name))
                _put(given, spelled, option, read_value(option, text, name), name)
    _arguments(
        given,
        loose,
        [option for option in options if not option.switch],
        {option.switch: option.metavar for option in options if option.switch},
    )
    return {option.name: given.get(option.name, default(option)) for option in options}


def _expected_value(option: Option, name: str) -> Text:
    """Return what is said of an option that stands without its value: what it is for tells what to write."""
    if not option.help:
        return Text("{option}: expected a value ({metavar})", option=name, metavar=option.metavar)
    return Text("{option}: expected a value ({metavar}): {help}", option=name, metavar=option.metavar, help=Text(option.help))


def read_value(option: Option, text: str, name: str) -> object:
    """Read an option's value.

    Raises:
        UsageError: It is none that the option may have.

    >>> from weighbridge.commands.options import Option
    >>> read_value(Option("seq", "", "N", "whole"), "512", "--seq")
    512
    """
    if option.choices and text not in option.choices:
        raise UsageError(
            Text("{option}: expected one of {choices}, found {value!r}", option=name, choices=", ".join(option.choices), value=text[:40])
        )
    if option.kind == "whole":
        if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text) > 0):
            _refuse_short_form(text, name)
            raise UsageError(Text("{option}: expected a whole number from 1 to 999,999,999, found {value!r}", option=name, value=text[:40]))
        return int(text)
    if option.kind == "grid":
        from weighbridge.accounts.inputs import grid

        return grid(text, option.name) if text else None
    if option.kind == "number":
        try:
            return float(text)
        except ValueError:
            unit = text.lstrip("0123456789.").strip()
            if unit and unit != text:
                what = Text(
                    "{option}: expected a number without a unit, such as {bare}; found {value!r}",
                    option=name,
                    bare=text.removesuffix(unit).strip(),
                    value=text[:40],
                )
                raise UsageError(what) from None
            raise UsageError(Text("{option}: expected a number, found {value!r}", option=name, value=text[:40])) from None
    return text


def _refuse_short_form(text: str, name: str) -> None:
    """Refuse ``32k``, which may mean either of two numbers, and ``32,768``, with the number to write."""
    bare = text.replace(",", "").replace("_", "")
    digits, unit = (bare[:-1], bare[-1].lower()) if bare[-1:].isalpha() else (bare, "")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 6):
        return
    if unit in ("k", "m"):
        binary, decimal = (int(digits) * base ** (1 + (unit == "m")) for base in (1024, 1000))
        raise UsageError(
            Text(
                "{option}: {value!r} may mean {binary} or {decimal}; write the number",
                option=name,
                value=text,
                binary=binary,
                decimal=decimal,
            )
        )
    if not unit and bare != text and int(bare):
        raise UsageError(Text("{option}: write {bare}, found {value!r}", option=name, value=text, bare=bare))


def _is_flag(word: str, flags: Mapping[str, Option]) -> bool:
    """Tell an option from an argument: ``-`` is standard input, and -5 a number."""
    if len(word) < 2 or word[0] != "-":
        return False
    return word in flags or not word[1:].replace(",", "").replace(".", "").isdecimal()


def default(option: Option) -> object:
    """Return what an option is where nothing is said: a plain switch is off, a list empty.

    >>> from weighbridge.commands.options import Option
    >>> default(Option("explain", "", kind="switch"))
    False
    """
    if option.many:
        return []
    return False if option.kind == "switch" and option.const is True and option.default is None else option.default


def _put(given: dict[str, Any], spelled: dict[str, str], option: Option, value: object, name: str) -> None:
    """Keep a value; one that contradicts an earlier one is refused, one that repeats an option replaces it."""
    if option.many:
        given.setdefault(option.name, []).append(value)
        return
    before = spelled.get(option.name, name)
    if option.name in given and given[option.name] != value and (before != name or option.kind == "switch"):
        raise UsageError(Text("{one} and {other} contradict each other", one=before, other=name))
    given[option.name] = value
    spelled[option.name] = name


def _arguments(given: dict[str, Any], loose: list[str], places: Sequence[Option], switches: Mapping[str, str]) -> None:
    """Give each place its word; a place for many takes all that the others leave. *switches* are the options, each with its metavar."""
    for index, option in enumerate(places):
        if option.many:
            keep = sum(place.needed for place in places[index + 1 :])
            given[option.name], loose = loose[: len(loose) - keep], loose[len(loose) - keep :]
        elif loose:
            given[option.name] = read_value(option, loose[0], option.metavar)
            loose = loose[1:]
        if option.needed and not given.get(option.name) and given.get(option.name) != "":
            raise UsageError(
                Text(
                    "{argument}: missing; expected {what}",
                    argument=option.metavar,
                    what=Text(option.help.replace("{", "{{").replace("}", "}}")),
                )
            )
    if loose and "=" in loose[0] and "--set" in switches:
        raise UsageError(Text("{word}: a field of the config is set by an option: --set {word}", word=loose[0][:60]))
    sources = [switch for switch, metavar in switches.items() if metavar == "SOURCE"]
    if loose and not places and sources:
        raise UsageError(Text("{word}: a model is named by an option here: {option} {word}", word=loose[0][:60], option=sources[0]))
    if loose:
        expected = " ".join(place.metavar for place in places)
        text = (
            mark("{word}: one argument too many; expected only {expected}") if places else mark("{word}: expected options only; see --help")
        )
        raise UsageError(Text(text, word=repr(loose[0][:60]), expected=expected))


ELSEWHERE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("--gpu", "--accelerator", "--hardware"), ("--device",)),
    **dict.fromkeys(("--vram", "--memory", "--gb"), ("--gib",)),
    **dict.fromkeys(("--sequence-length", "--context", "--context-length", "--ctx", "--max-length", "--tokens"), ("--seq",)),
    **dict.fromkeys(("--bs", "--batch-size"), ("--batch",)),
    **dict.fromkeys(("--language", "--locale"), ("--lang",)),
    **dict.fromkeys(
        ("--devices", "--gpus", "--num-gpus", "--n-gpus", "--num-devices", "--tensor-parallel", "--tensor-parallel-size"), ("--tp",)
    ),
    **dict.fromkeys(("--training", "--train", "--lora"), ("--for",)),
    **dict.fromkeys(("--parameters", "--budget", "--size"), ("--params",)),
    "--architecture": ("--class",),
    "--precision": ("--dtype",),
}
"""What options are called in other tools, and here."""


def _refuse_unknown(name: str, flags: Mapping[str, Option]) -> Option:
    from weighbridge.core.suggestions import did_you_mean

    if name == "--model" and name not in flags:
        raise UsageError(Text("no option --model; the model is named without one: weigh count gpt2"))
    meant = [flag for flag in ELSEWHERE.get(name, ()) if flag in flags]
    near = None if name in ELSEWHERE else did_you_mean(name, [*(flag for flag in flags if len(flag) > 2), "--help", "--version"])
    hint = Text("did you mean {names}?", names=meant[0]) if meant else near
    raise UsageError(Text(NO_OPTION, name=name[:60], hint=hint or Text(SEE_HELP)))


NO_OPTION, SEE_HELP = mark("no option {name}; {hint}"), mark("see --help")
