"""The words of a command line: every way of writing an option, and a remedy in every refusal."""

from __future__ import annotations

import pytest

from weighbridge.commands.options import Option
from weighbridge.commands.parse import parse
from weighbridge.commands.table import TABLE
from weighbridge.core.errors import UsageError

OPTIONS = (
    Option("source", "a model", "SOURCE", flag="", needed=True),
    Option("extra", "another", "EXTRA", flag=""),
    Option("seq", "", "N", "whole", 128),
    Option("rate", "", "R", "number", 1.0),
    Option("overrides", "", "key=value", flag="--set", many=True),
    Option("output", "", "FILE", short="-o"),
    Option("names", "", "SET", choices=("reference", "tensorflow")),
    Option("form", "", kind="switch", flag="--json", const="json"),
    Option("form", "", kind="switch", flag="--csv", const="csv"),
    Option("verbose", "", kind="switch"),
)
PLAIN: dict[str, object] = {
    "source": "bert",
    "extra": None,
    "seq": 128,
    "rate": 1.0,
    "overrides": [],
    "output": None,
    "names": None,
    "form": None,
    "verbose": False,
}


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("bert", {}),
        ("--seq 5 bert", {"seq": 5}),
        ("bert --seq=5", {"seq": 5}),
        ("bert --seq 5 --seq 6", {"seq": 6}),
        ("bert --set a=1 --set=b=2", {"overrides": ["a=1", "b=2"]}),
        ("bert -o x.html", {"output": "x.html"}),
        ("bert -ox.html", {"output": "x.html"}),
        ("bert --json --json", {"form": "json"}),
        ("bert --rate -2.5", {"rate": -2.5}),
        ("bert --verbose other", {"verbose": True, "extra": "other"}),
        ("bert --names tensorflow", {"names": "tensorflow"}),
        ("-- --seq", {"source": "--seq"}),
        ("-", {"source": "-"}),
        ("-5", {"source": "-5"}),
        ("-1,000", {"source": "-1,000"}),
        ("bert --output -", {"output": "-"}),
    ],
)
def test_an_option_may_stand_anywhere_and_be_written_either_way(words: str, changed: dict[str, object]) -> None:
    assert parse(words.split(), OPTIONS) == {**PLAIN, **changed}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "SOURCE: missing; expected a model"),
        ("a b c", "'c': one argument too many; expected only SOURCE EXTRA"),
        ("bert --sqe 5", "no option --sqe; did you mean --set or --seq?"),
        ("bert --zzzzz", "no option --zzzzz; see --help"),
        ("bert -x", "no option -x; see --help"),
        ("bert --seq", "--seq: expected a value (N)"),
        ("bert --seq --json", "--seq: expected a value (N)"),
        ("bert --seq x", "--seq: expected a whole number from 1 to 999,999,999, found 'x'"),
        ("bert --seq 0", "--seq: expected a whole number from 1 to 999,999,999, found '0'"),
        ("bert --seq -3", "--seq: expected a whole number from 1 to 999,999,999, found '-3'"),
        ("bert --seq ٣", "--seq: expected a whole number from 1 to 999,999,999, found '٣'"),
        ("bert --rate x", "--rate: expected a number, found 'x'"),
        ("bert --names x", "--names: expected one of reference, tensorflow, found 'x'"),
        ("bert --json --csv", "--json and --csv contradict each other"),
        ("bert --verbose=yes", "--verbose: takes no value, found 'yes'"),
    ],
)
def test_a_refusal_says_what_was_expected(words: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(words.split(), OPTIONS)
    assert str(caught.value) == message


def test_many_arguments_leave_the_last_place_its_own() -> None:
    places = (Option("files", "", "FILE", flag="", many=True, needed=True), Option("last", "", "LAST", flag="", needed=True))
    assert parse(["a", "b", "c"], places) == {"files": ["a", "b"], "last": "c"}
    with pytest.raises(UsageError, match="FILE: missing"):
        parse([], places[:1])


@pytest.mark.parametrize("command", TABLE, ids=lambda command: command.name)
def test_every_command_of_the_table_has_what_the_table_says(command: object) -> None:
    module = command.module  # type: ignore[attr-defined]
    assert module.EXAMPLE.startswith("example")
    assert hasattr(module, "answer") or hasattr(module, "run")
    assert all(option.help for option in module.OPTIONS)
    switches = [option.switch for option in module.OPTIONS if option.switch]
    assert len(switches) == len(set(switches))
