"""``weigh completion SHELL``: a script for the shell, which asks ``weigh`` for the names of presets."""

from __future__ import annotations

from weighbridge.commands.options import LANG, Answer, Asked, Option
from weighbridge.core.messages import mark

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


OPTIONS = (Option("shell", mark("your shell"), "SHELL", flag="", choices=tuple(sorted(SCRIPTS)), needed=True), LANG)


def answer(asked: Asked) -> Answer:
    """Return the script."""
    from weighbridge.commands.table import TABLE

    options = sorted({option.switch for command in TABLE for option in command.module.OPTIONS if option.switch})
    script = SCRIPTS[asked.shell].format(commands=" ".join(command.name for command in TABLE), options=" ".join(options))
    return Answer(lambda: script, text=script)
