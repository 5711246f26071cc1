"""The catalogues hold every sentence of the source, and nothing else."""

import string
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

from weighbridge.core.errors import UsageError
from weighbridge.core.messages import LOCALE, languages, translator

pytest.importorskip("babel")
SCRIPT = Path(__file__).parents[3] / "scripts" / "messages"
CATALOGUES = sorted(LOCALE.glob("*/LC_MESSAGES/weighbridge.po"))
assert CATALOGUES


def load_script() -> Any:
    loader = SourceFileLoader("messages_script", str(SCRIPT))
    spec = spec_from_loader("messages_script", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def placeholders(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def read(path: Path) -> dict[str, str]:
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        return {str(message.id): str(message.string) for message in read_po(file) if message.id}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_every_sentence_is_translated_and_none_is_unused(path: Path) -> None:
    script = load_script()
    used = {message.id for message in script.collected() if message.id}
    assert used
    catalogue = read(path)
    # What errors say may wait for its translation: until then it is said in English.
    assert {sentence for sentence in used - script.refusals() if not catalogue.get(sentence)} == set()
    assert set(catalogue) - used == set()


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_translations_keep_the_placeholders(path: Path) -> None:
    for sentence, translation in read(path).items():
        assert not translation or placeholders(sentence) == placeholders(translation)


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_compiled_catalogue_is_that_of_the_text(path: Path) -> None:
    from babel.messages.mofile import read_mo

    with path.with_suffix(".mo").open("rb") as file:
        compiled = {message.id: message.string for message in read_mo(file) if message.id}
    assert compiled == {sentence: text for sentence, text in read(path).items() if text}


def test_english_needs_no_catalogue() -> None:
    assert translator("en")("Embeddings") == "Embeddings"
    assert languages() == ("en", "zh")


def test_nothing_is_translated_to_nothing() -> None:
    assert translator("zh")("") == ""


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(UsageError, match="no catalogue for the language 'tlh'; known: en, zh"):
        translator("tlh")
