"""``weigh models`` with its filters, completion for four shells, and the manual page."""

import subprocess
from pathlib import Path

import pytest

from weighbridge.cli import main
from weighbridge.commands import completion, man
from weighbridge.commands.table import TABLE


def output_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) in (0, 1)
    return capsys.readouterr().out


def test_models_are_listed_under_their_types(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output_of(capsys, "models", "--type", "bert", "--below", "6M").splitlines()
    assert "bert" in lines
    assert any(line.split()[:3] == ["bert-uncased-l-2-h-128", "BertModel", "4,385,920"] for line in lines)
    assert not any("bert-base" in line for line in lines)


def test_no_match_is_said_with_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "gtp2"]) == 1
    assert capsys.readouterr().out.endswith("\nNo preset or model type matches 'gtp2'. Did you mean gpt2?\n")
    assert main(["models", "gpt2", "--above", "900T", "--lang", "zh"]) == 1
    assert "gpt2" in capsys.readouterr().out


def test_sources_are_told_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert "openai/gpt-2" not in output_of(capsys, "models", "gpt2", "--type", "gpt2")
    assert "openai/gpt-2" in output_of(capsys, "models", "gpt2", "--type", "gpt2", "--sources")


@pytest.mark.parametrize("shell", completion.SCRIPTS)
def test_every_option_of_every_command_is_completed(shell: str) -> None:
    script = completion.SCRIPTS[shell]()
    for command in TABLE:
        assert command.name in script
        for option in command.module.OPTIONS:
            assert option.switch.lstrip("-") in script


def test_bash_completes_by_command(tmp_path: Path) -> None:
    script = tmp_path / "weigh.bash"
    script.write_text(completion.bash())
    asked = 'COMP_WORDS=(weigh explain --de); COMP_CWORD=2; _weigh; echo "${COMPREPLY[@]}"'
    found = subprocess.run(["bash", "-c", f"source {script}; weigh() {{ :; }}; {asked}"], capture_output=True, text=True, check=True)
    assert found.stdout == "--depth\n"


def test_the_manual_page_has_every_command_and_option() -> None:
    page = man.page()
    for command in TABLE:
        assert f".SS weigh {command.name}" in page
        for option in command.module.OPTIONS:
            assert option.switch.replace("-", "\\-") in page


def test_the_installed_manual_page_has_every_command() -> None:
    """Options come and go; ``scripts/site`` writes it anew."""
    page = (Path(__file__).parents[3] / "docs" / "weigh.1").read_text("utf-8")
    for command in TABLE:
        assert f".SS weigh {command.name}" in page, "run: weigh man > docs/weigh.1"
