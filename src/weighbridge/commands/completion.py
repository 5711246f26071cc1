"""``weigh completion SHELL``: a script for the shell, made from the table of commands: each command completes its own options and choices."""

from __future__ import annotations

from weighbridge.commands.options import COMMON, LANG, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import languages, mark

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXAMPLE = """example:
  eval "$(weigh completion bash)"
  weigh completion powershell | Out-String | Invoke-Expression
"""

BASH = """_weigh() {
    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"
    case " %(commands)s help " in *" $command "*) ;; *) command=count ;; esac
    case "$command $before" in
%(choices)s
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "%(commands)s help --help --version $(weigh models --names 2>/dev/null)" -- "$current") $(compgen -f -- "$current"))
        return
    fi
    case "$current" in
        -*) case "$command" in
%(options)s
            esac ;;
        *) COMPREPLY=($(compgen -W "$(weigh models --names 2>/dev/null)" -- "$current") $(compgen -f -- "$current")) ;;
    esac
}
complete -o filenames -F _weigh weigh
"""
ZSH = """#compdef weigh
_weigh() {
    local command="${words[2]}" before="${words[CURRENT-1]}"
    local -a commands options
    commands=(%(described)s)
    if (( CURRENT == 2 )); then
        _describe command commands
        compadd -- ${(f)"$(weigh models --names 2>/dev/null)"}
        _files
        return
    fi
    case " %(commands)s help " in *" $command "*) ;; *) command=count ;; esac
    case "$command $before" in
%(choices)s
    esac
    case "$command" in
%(options)s
    esac
    if [[ "${words[CURRENT]}" == -* ]]; then
        _describe option options
    else
        compadd -- ${(f)"$(weigh models --names 2>/dev/null)"}
        _files
    fi
}
compdef _weigh weigh
"""
POWERSHELL = """Register-ArgumentCompleter -Native -CommandName weigh -ScriptBlock {
    param($current, $line, $position)
    $options = @{
%(options)s
    }
    $choices = @{
%(choices)s
    }
    $words = @($line.CommandElements | ForEach-Object { $_.ToString() })
    $command = if ($words.Count -gt 1 -and ($options.ContainsKey($words[1]) -or $words[1] -eq 'help')) { $words[1] } else { 'count' }
    $before = if ($current) { $words[-2] } else { $words[-1] }
    $found = if ($choices.ContainsKey("$command $before")) { $choices["$command $before"] }
        elseif ($current -like '-*') { $options[$command] }
        elseif ($words.Count -le 1 -or ($words.Count -eq 2 -and $current)) { @($options.Keys) + @(weigh models --names) }
        else { @(weigh models --names) }
    $found | Where-Object { $_ -like "$current*" } | Sort-Object | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
"""


def bash() -> str:
    """Return the script for bash.

    >>> "explain) COMPREPLY=" in bash()
    True
    """
    choices = [
        f'        "{before}") COMPREPLY=($(compgen -W "{" ".join(values)}" -- "$current")); return ;;'
        for before, values in _values().items()
    ]
    options = [
        f'            {name}) COMPREPLY=($(compgen -W "{" ".join(option.switch for option in found)}" -- "$current")) ;;'
        for name, found in _options().items()
    ]
    return BASH % {"commands": " ".join(_options()), "choices": "\n".join(choices), "options": "\n".join(options)}


def zsh() -> str:
    """Return the script for zsh."""
    choices = [f'        "{before}") compadd -- {" ".join(values)}; return ;;' for before, values in _values().items()]
    options = [
        f"        {name}) options=({' '.join(_quote(f'{option.switch}:{_without_shell_signs(option.help)}') for option in found)}) ;;"
        for name, found in _options().items()
    ]
    described = " ".join(_quote(f"{name}:{_without_shell_signs(summary)}") for name, summary in _summaries().items())
    return ZSH % {"described": described, "commands": " ".join(_options()), "choices": "\n".join(choices), "options": "\n".join(options)}


def fish() -> str:
    """Return the script for fish."""
    lines = ["complete -c weigh -f -n __fish_use_subcommand -a '(weigh models --names 2>/dev/null)'"]
    lines += [f"complete -c weigh -n __fish_use_subcommand -a {name} -d {_quote(summary)}" for name, summary in _summaries().items()]
    own = f"__fish_seen_subcommand_from {' '.join(_first_words())}"
    lines += [f"complete -c weigh -n 'not __fish_use_subcommand; and not {own}' -a '(weigh models --names 2>/dev/null)'"]
    lines += [
        f"complete -c weigh -n '__fish_seen_subcommand_from {name}' -xa '{' '.join(words)}'" for name, words in _first_words().items()
    ]
    for name, found in _options().items():
        for option in found:
            # A bare ``weigh SOURCE`` is a count, so a count's options are there without a command too.
            seen = (
                f"__fish_seen_subcommand_from {name}" if name != "count" else f"not __fish_seen_subcommand_from {' '.join(_option_names())}"
            )
            short = f" -s {option.short[1:]}" if option.short else ""
            choices = choices_of(option)
            value = f" -xa '{' '.join(choices)}'" if choices else " -r" if option.kind != "switch" else ""
            lines.append(
                f"complete -c weigh -n '{seen}' -l {option.switch[2:]}{short}{value} -d {_quote(_without_shell_signs(option.help))}"
            )
    return "\n".join(lines) + "\n"


def powershell() -> str:
    """Return the script for PowerShell.

    >>> "'explain' = '--class'" in powershell()
    True
    """
    options = [_entry(name, [option.switch for option in found]) for name, found in _options().items()]
    choices = [_entry(before, values) for before, values in _values().items()]
    return POWERSHELL % {"options": "\n".join(options), "choices": "\n".join(choices)}


def _entry(key: str, words: Sequence[str]) -> str:
    """Write an entry of a PowerShell table."""
    return f"        {_quote(key)} = {', '.join(map(_quote, words))}"


SCRIPTS: dict[str, Callable[[], str]] = {"bash": bash, "zsh": zsh, "fish": fish, "powershell": powershell}

OPTIONS = (Option("shell", mark("your shell"), "SHELL", flag="", choices=tuple(sorted(SCRIPTS)), needed=True), LANG)


def answer(arguments: Arguments) -> Answer:
    """Return the script."""
    script = SCRIPTS[arguments.shell]()
    return Answer(lambda: script, text=script)


def _options() -> dict[str, list[Option]]:
    """Return the options of each command, one of each name."""
    from weighbridge.commands.table import TABLE

    return {
        command.name: list({option.switch: option for option in (*command.module.OPTIONS, *COMMON) if option.switch}.values())
        for command in TABLE
    }


def _summaries() -> dict[str, str]:
    from weighbridge.commands.table import TABLE

    return {command.name: command.summary for command in TABLE}


def _option_names() -> list[str]:
    return [name for name in _options() if name != "count"]


def choices_of(option: Option) -> tuple[str, ...]:
    """Return the words that an option can be followed by, where they are few.

    >>> choices_of(LANG)
    ('en', 'zh')
    """
    return languages() if option.name == LANG.name else option.choices if option.kind != "switch" else ()


def _first_words() -> dict[str, tuple[str, ...]]:
    """Return the commands whose first word is one of a few, and those words."""
    from weighbridge.commands.table import TABLE

    first = {command.name: next((option for option in command.module.OPTIONS if not option.switch), None) for command in TABLE}
    found = {name: option.choices for name, option in first.items() if option is not None and option.choices}
    return found | {"help": tuple(_options())}


def _values() -> dict[str, tuple[str, ...]]:
    """Return what may stand after the words before: after a command and its option, after a command that takes one of a few words."""
    found = {f"{name} {option.switch}": choices_of(option) for name, own in _options().items() for option in own}
    return {before: words for before, words in found.items() if words} | {f"{name} {name}": words for name, words in _first_words().items()}


def _without_shell_signs(text: str) -> str:
    """Write a sentence without the signs that a shell would read."""
    return text.replace("'", "").replace("`", "").replace("\\", "")


def _quote(text: str) -> str:
    return "'" + text.replace("'", "") + "'"
