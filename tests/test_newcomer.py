"""A newcomer's walk: clone, two commands, five questions; each answer is looked for in what is printed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUESTIONS = [
    ("how many parameters has it, and where?", ["bert-base-chinese"], 0, ["102,267,648 parameters", "word_embeddings", "16,226,304"]),
    ("why that many?", ["explain", "bert-base-chinese", "--lang", "zh"], 0, ["4 × (H² + H)", "= 102,267,648"]),
    ("somebody has another number: what is left out?", ["reconcile", "101677056", "bert-base-chinese"], 0, ["BertModel without pooler"]),
    ("is what this text says right?", ["audit", "card.md"], 1, ["wrong", "23,440,896"]),
    ("does it fit my card?", ["fits", "llama-3-8b", "--gib", "24"], 0, ["weights in 16 bits", "yes"]),
]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / ".git").exists():
        pytest.skip("no repository to clone")
    where = tmp_path_factory.mktemp("newcomer") / "weighbridge"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(where)], check=True)
    (where / "card.md").write_text("BERT-base: 30522 * 768 = 23,449,856 word embeddings.\n", "utf-8")
    return where


def test_the_two_commands_of_the_readme_are_there(clone: Path) -> None:
    for name in ("weigh", "test"):
        assert f"scripts/{name}" in (clone / "README.md").read_text("utf-8")
        assert os.access(clone / "scripts" / name, os.X_OK)


@pytest.mark.parametrize(("question", "words", "code", "answers"), QUESTIONS, ids=[question for question, *_ in QUESTIONS])
def test_a_question_is_answered(clone: Path, question: str, words: list[str], code: int, answers: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(clone / "src"), "PYTHONIOENCODING": "utf-8"}
    found = subprocess.run(
        [sys.executable, "-m", "weighbridge", *words], cwd=clone, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert found.returncode == code, found.stderr
    assert all(answer in found.stdout for answer in answers), found.stdout
