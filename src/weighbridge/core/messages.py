"""Sentences in the reader's language: standard gettext catalogues with the English sentence as key.

English needs no catalogue. Another language is one more folder under ``locale``: nothing else changes.
``scripts/messages`` collects the sentences and compiles the catalogues.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from weighbridge.core.errors import UsageError

LOCALE = Path(__file__).parent.parent / "locale"
Say: TypeAlias = Callable[[str], str]


def mark(sentence: str) -> str:
    """Mark a sentence in a table for the catalogue, and return it as it is.

    >>> mark("total")
    'total'
    """
    return sentence


def languages() -> tuple[str, ...]:
    """Return the languages that can be asked for.

    >>> languages()
    ('en', 'zh')
    """
    if not _LANGUAGES:
        _LANGUAGES.extend(("en", *sorted(path.parent.parent.name for path in LOCALE.glob("*/LC_MESSAGES/weighbridge.mo"))))
    return tuple(_LANGUAGES)


def translator(language: str) -> Say:
    """Return the function that turns an English sentence into *language*; a sentence it does not know stays English.

    Raises:
        UsageError: There is no catalogue of that language.

    >>> translator("zh")("Embeddings")
    '嵌入层'
    """
    if language == "en":
        return mark
    if language not in _CACHE:
        if language not in languages():
            raise UsageError(f"no catalogue for the language {language!r}; known: {', '.join(languages())}")
        from gettext import GNUTranslations

        with (LOCALE / language / "LC_MESSAGES" / "weighbridge.mo").open("rb") as file:
            catalogue = GNUTranslations(file)
        _SENTENCES[language] = tuple(sentence for sentence in catalogue._catalog if isinstance(sentence, str) and sentence)  # type: ignore[attr-defined]
        # The empty string is the key of the catalogue's own header.
        _CACHE[language] = lambda sentence: catalogue.gettext(sentence) if sentence else ""
    return _CACHE[language]


def catalogued(language: str) -> tuple[str, ...]:
    """Return the English sentences that a catalogue translates.

    >>> "Embeddings" in catalogued("zh")
    True
    """
    translator(language)
    return _SENTENCES.get(language, ())


_CACHE: dict[str, Say] = {}
_SENTENCES: dict[str, tuple[str, ...]] = {}
_LANGUAGES: list[str] = []
