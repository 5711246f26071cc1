"""``weigh completion SHELL``: a script for the shell, which asks ``weigh`` for the names of presets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """example:
  eval "$(weigh completion bash)"
"""

SCRIPTS = {
    "bash": """_weigh() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}"
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands} $(weigh models --names 2>/dev/null)" -- "$current") $(compgen -f -- "$current"))
    else
        COMPREPLY=($(compgen -W "{options} $(weigh models --names 2>/dev/null)" -- "$current") $(compgen -f -- "$current"))
    fi
}}
complete -F _weigh weigh
""",
    "zsh": """#compdef weigh
_weigh() {{
    local -a names
    names=({commands} ${{(f)"$(weigh models --names 2>/dev/null)"}})
    _alternative "names:name:($names)" "options:option:({options})" "files:file:_files"
}}
compdef _weigh weigh
""",
    "fish": """complete -c weigh -n __fish_use_subcommand -a "{commands}"
complete -c weigh -a "(weigh models --names 2>/dev/null)"
complete -c weigh -a "{options}"
""",
}


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    parser.add_argument("shell", choices=sorted(SCRIPTS), help="your shell")


def run(args: Namespace) -> int:
    """Print the script."""
    from weighbridge.cli import COMMANDS

    options = "--class --set --json --csv --markdown --html --help"
    print(SCRIPTS[args.shell].format(commands=" ".join(COMMANDS), options=options), end="")
    return 0
