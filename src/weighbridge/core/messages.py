"""Sentences in the reader's language: a template and its values, and gettext catalogues with the English template as key.

What is written at once is ``say("{total} parameters").format(total=...)``; what is passed on first (an error's text, a note) is a
:class:`Text`, which remembers template and values. A sentence without a translation stays English. Another language is one more
folder under ``locale``: nothing else changes. ``scripts/messages`` collects the sentences, compiles the catalogues and lists what
is not translated yet.
"""

from __future__ import annotations

import os

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError, WeighbridgeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

Say: TypeAlias = "Callable[[str], str]"

LOCALE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "locale")


class Text(str):
    """An English sentence that remembers its template and its values, so that it can still be said in another language.

    Values may be texts themselves, or phrases of the catalogue. It is an ordinary string in every other respect.

    >>> text = Text("{path}: cannot be read: {why}", path="x.json", why=Text("no such file"))
    >>> text
    'x.json: cannot be read: no such file'
    >>> text.render({"{path}: cannot be read: {why}": "{path}：{why}，无法读取"}.get)
    'x.json：no such file，无法读取'
    """

    __slots__ = ("template", "values")

    template: str
    values: dict[str, object]

    def __new__(cls, template: str, /, **values: object) -> Text:
        """Put *values* into *template*."""
        made = str.__new__(cls, template.format(**values) if values else template)
        made.template = template
        made.values = values
        return made

    def render(self, look_up: Callable[[str], str | None]) -> str:
        """Say the sentence as *look_up* translates templates; what it does not know stays English."""
        found = look_up(self.template) or self.template
        return found.format(**{key: _value(value, look_up) for key, value in self.values.items()}) if self.values else found

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle with what it remembers."""
        return (_text, (self.template, self.values))


def _value(value: object, look_up: Callable[[str], str | None]) -> object:
    """Say a value, if it is a text or a phrase; a name or a path, which has no space, stays as it is."""
    if isinstance(value, Exception) and value.args:
        value = getattr(value, "message", None) or value.args[0]
    if isinstance(value, Text):
        return value.render(look_up)
    return look_up(value) or value if isinstance(value, str) and " " in value.strip() else value


def _text(template: str, values: dict[str, object]) -> Text:
    return Text(template, **values)


def mark(sentence: str) -> str:
    """Mark a sentence in a table for the catalogue, and return it as it is.

    >>> mark("total")
    'total'
    """
    return sentence


def phrase(word: str) -> Text:
    """Return a word of the catalogue as a text, so that it is translated within a sentence: a value without a space is taken for a name.

    >>> Text("the file ends inside the {what}", what=phrase("header")).render({"header": "文件头"}.get)
    'the file ends inside the 文件头'
    """
    return word if isinstance(word, Text) else Text(word)


def catalogue(language: str) -> str:
    """Return the path of a language's compiled catalogue."""
    return os.path.join(LOCALE, language, "LC_MESSAGES", "weighbridge.mo")


def languages() -> tuple[str, ...]:
    """Return the languages that can be asked for.

    >>> languages()
    ('en', 'zh')
    """
    if not _LANGUAGES:
        _LANGUAGES.extend(("en", *sorted(name for name in os.listdir(LOCALE) if os.path.isfile(catalogue(name)))))
    return tuple(_LANGUAGES)


def language(asked: str | None = None) -> str:
    """Return the language of an answer: what is *asked* for (``zh``, ``zh_CN.UTF-8``), else what the environment says, else English.

    Raises:
        UsageError: There is no catalogue of the language asked for.

    >>> language("zh_CN.UTF-8"), language("en")
    ('zh', 'en')
    """
    if asked is not None:
        short = asked.replace("-", "_").partition("_")[0].partition(".")[0].lower()
        if short not in languages():
            raise UsageError(Text("lang: expected one of {known}, found {found!r}", known=", ".join(languages()), found=asked[:40]))
        return short
    found = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or "en"
    return "zh" if found.lower().startswith("zh") and "zh" in languages() else "en"


def join_with_or(names: Sequence[str]) -> Text:
    """Return names as alternatives, in the reader's language: ``bert, roberta or albert``.

    >>> print(join_with_or(["bert", "roberta", "albert"]))
    bert, roberta or albert
    """
    first, *others = names
    said = Text(first)
    for name in others[:-1]:
        said = Text("{one}, {other}", one=said, other=name)
    return Text("{one} or {other}", one=said, other=others[-1]) if others else said


def error_text(error: WeighbridgeError | str, lang: str = "en") -> str:
    """Say what an error says, in a language: the text is made anew from its template and values.

    >>> error_text(UsageError(Text("no format {form!r}; known: {known}", form="pdf", known="text")))
    "no format 'pdf'; known: text"
    """
    if lang == "en":
        return str(error)
    say = translator(lang)
    if isinstance(error, str):
        return say(error)
    path, key = getattr(error, "path", ""), getattr(error, "key", "")
    stated = (getattr(error, "message", None) or error.args[0]) if error.args else ""
    text = say(stated)
    if path or (key and not str(getattr(error, "message", "")).startswith(key.partition(" and ")[0])):
        text = say("{where}: {what}").format(where=key.replace(" and ", say(mark(" and "))) or path, what=text)
    if getattr(error, "hint", ""):
        text = say("{what} ({hint})").format(what=text, hint=say(error.hint))  # type: ignore[attr-defined]
    if getattr(error, "offset", None) is not None:
        text = say("{what} (at byte {offset})").format(what=text, offset=f"{error.offset:,}")  # type: ignore[attr-defined]
    return text


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
            raise UsageError(
                Text("no catalogue for the language {language!r}; known: {known}", language=language, known=", ".join(languages()))
            )
        from gettext import GNUTranslations

        with open(catalogue(language), "rb") as file:
            found = GNUTranslations(file)
        _CACHE[language] = lambda sentence: _translate(sentence, found.gettext)
    return _CACHE[language]


def _translate(sentence: str, gettext: Callable[[str], str]) -> str:
    if isinstance(sentence, Text):
        return sentence.render(gettext)
    # The empty string is the key of the catalogue's own header.
    return gettext(sentence) if sentence else ""


OF_THE_SYSTEM = (
    mark("No such file or directory"),
    mark("Permission denied"),
    mark("Is a directory"),
    mark("Not a directory"),
    mark("No space left on device"),
    mark("Read-only file system"),
    mark("File name too long"),
    mark("Too many open files"),
    mark("Connection refused"),
    mark("Connection reset by peer"),
    mark("Network is unreachable"),
    mark("No route to host"),
    mark("Name or service not known"),
    mark("Temporary failure in name resolution"),
    mark("timed out"),
)
"""What an operating system says of files and servers: these sentences are in the catalogue."""

_CACHE: dict[str, Say] = {}
_LANGUAGES: list[str] = []
