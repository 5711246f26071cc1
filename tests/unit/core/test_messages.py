"""The catalogues hold every sentence of the source, and nothing else."""

import ast
import re
import string
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

from weighbridge.core.errors import ConfigError, ReadError, UsageError, WeighbridgeError
from weighbridge.core.messages import LOCALE, Text, error_text, join_with_or, language, languages, translator

pytest.importorskip("babel")
SCRIPT = Path(__file__).parents[3] / "scripts" / "messages"
CATALOGUES = sorted(Path(LOCALE).glob("*/LC_MESSAGES/weighbridge.po"))
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


def test_a_missing_translation_is_listed_and_said_in_english(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from babel.messages.catalog import Catalog

    script = load_script()
    known = Catalog()
    for sentence in (*read(CATALOGUES[0]), "a sentence that nobody has translated"):
        known.add(sentence)
    monkeypatch.setattr(script, "collected", lambda: known)
    monkeypatch.setattr("sys.argv", ["messages", "--check"])
    assert script.main() == 0
    assert "  a sentence that nobody has translated" in capsys.readouterr().out
    assert translator("zh")("a sentence that nobody has translated") == "a sentence that nobody has translated"


@pytest.mark.sweep
def test_sentences_of_the_source_are_collected() -> None:
    found = {str(message.id) for message in load_script().collected()}
    assert len(found & set(read(CATALOGUES[0]))) > 3000


def test_an_error_is_made_of_a_sentence_and_its_values() -> None:
    """An f-string is English in every language."""
    script = load_script()
    raised = script.RAISED | script.RAISING
    for path in script.SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args and (getattr(node.func, "id", "") or getattr(node.func, "attr", "")) in raised:
                said = "".join(part.value for part in getattr(node.args[0], "values", ()) if isinstance(getattr(part, "value", 0), str))
                assert not re.search("[a-z]{2}", said), f"{path}:{node.lineno}: {said}: wants a Text"


def test_a_text_remembers_its_template_and_values() -> None:
    import copy
    import pickle

    text = Text("{what} ({hint})", what=Text("{count:,} heads", count=1200), hint="why")
    assert text == "1,200 heads (why)"
    for again in (copy.copy(text), pickle.loads(pickle.dumps(text))):
        assert again.template == "{what} ({hint})"
    assert translator("zh")(text) == "1,200 heads（why）"


@pytest.mark.parametrize(("asked", "found"), [("zh", "zh"), ("zh_CN.UTF-8", "zh"), ("zh-Hans", "zh"), ("EN", "en"), ("en_US", "en")])
def test_a_language_is_known_by_its_locale(asked: str, found: str) -> None:
    assert language(asked) == found


def test_the_environment_says_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert language() == "zh"
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert language() == "en"


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


def test_a_long_word_for_a_language_is_cut() -> None:
    with pytest.raises(UsageError) as caught:
        language("x" * 50)
    assert str(caught.value) == f"lang: expected one of en, zh, found '{'x' * 40}'"


def test_alternatives_are_joined_in_the_readers_language() -> None:
    assert join_with_or(["bert"]) == "bert"
    assert translator("zh")(join_with_or(["bert", "gpt2"])) == "bert 或 gpt2"


@pytest.mark.parametrize(
    ("error", "english", "chinese"),
    [
        (
            ConfigError("expected a list of names", key="modules_to_save"),
            "modules_to_save: expected a list of names",
            "modules_to_save：应为名称列表",
        ),
        (
            ConfigError("the key occurs twice in one object", key="a and b", hint="keep one"),
            "a and b: the key occurs twice in one object (keep one)",
            "a、b：同一对象中该键出现两次（请只保留一个）",
        ),
        (
            ReadError(Text("the name {name!r:.200} occurs twice", name="w"), path="x.bin", offset=1234),
            "x.bin: the name 'w' occurs twice (at byte 1,234)",
            "x.bin：名称 'w' 出现两次（位于第 1,234 字节）",
        ),
        (
            ReadError(Text("the name {name!r:.200} occurs twice", name="w"), offset=0),
            "the name 'w' occurs twice (at byte 0)",
            "名称 'w' 出现两次（位于第 0 字节）",
        ),
        (ConfigError("b is neither", key="b and c"), "b is neither", "b is neither"),
        (WeighbridgeError(), "", ""),
        ("expected a list of names", "expected a list of names", "应为名称列表"),
    ],
    ids=["key", "keys and hint", "path and byte", "first byte", "key in the text", "nothing", "plain"],
)
def test_an_error_says_the_same_in_both_languages(error: WeighbridgeError | str, english: str, chinese: str) -> None:
    """Key, path, byte and remedy stand in the Chinese line as in the English one."""
    assert (error_text(error), error_text(error, "zh")) == (english, chinese)


def test_what_went_wrong_inside_is_said_in_the_readers_language_too() -> None:
    inner = ConfigError(Text("{numerator:,} is not divisible by {denominator:,}", numerator=770, denominator=12))
    for cause in (inner, ValueError(Text("{numerator:,} is not divisible by {denominator:,}", numerator=770, denominator=12))):
        said = translator("zh")(Text("{word} cannot be computed from the other fields: {error}", word="head_dim", error=cause))
        assert "770" in said and "divisible" not in said and "computed" not in said
