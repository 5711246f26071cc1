"""What a reader says of damaged bytes is said in Chinese too: no sentence is left in English."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import error_text
from weighbridge.readers.checkpoint import read_listing

FORMATS = Path(__file__).parents[2] / "corpus" / "formats"
FILES = sorted({path.suffix: path for path in FORMATS.iterdir() if path.is_file() and path.suffix not in (".py", ".md")}.values())
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
SENTENCE = re.compile(r"\b[a-z]{2,} (?:[a-z]+ )*[a-z]{2,}\b")


def damaged_copies(data: bytes) -> Iterator[bytes]:
    """Cut the file at some places, and change one byte at others."""
    step = max(len(data) // 24, 1)
    for at in range(1, len(data), step):
        yield data[:at]
        yield data[:at] + bytes((data[at] ^ 0xFF,)) + data[at + 1 :]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_damage_is_told_in_chinese(path: Path, tmp_path: Path) -> None:
    file, said = tmp_path / path.name, set()
    for data in damaged_copies(path.read_bytes()):
        file.write_bytes(data)
        try:
            read_listing(file)
        except ReadError as error:
            said.add(error_text(error, "zh").replace(str(file), ""))
    english = {text for text in said if SENTENCE.search(QUOTED.sub("", text))}
    assert not english
