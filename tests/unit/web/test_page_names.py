"""Names are ranked as a person would, and offers are the nearest that work."""

from __future__ import annotations

import pytest

from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.documents.roles import ROLES
from weighbridge.web.app import STATIC, create
from weighbridge.web.names import MOST, all_names, count_of, find_names, pieces
from weighbridge.web.offers import offers
from weighbridge.web.pages import PAGES
from weighbridge.web.query import read_query


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("llama 3", "llama-3-8b"), ("llama3", "llama-3-8b"), ("Llama 3.1", "llama-3.1-8b"), ("bert", "bert-base-uncased"), ("BERT large", "bert-large-uncased"),
        ("mistral 7b", "mistral-7b-v0.1"), ("qwen3-0.6", "qwen3-0.6b"), ("gpt2", "gpt2"), ("gpt2 xl", "gpt2-xl"), ("deepseek v3", "deepseek-v3"), ("deepseek_v3", "deepseek-v3"),
        ("vit", "vit-base-patch16-224"), ("meta-llama/Llama-3.1-8B", "llama-3.1-8b"), ("rt_detr_v2", "rt_detr_v2"), ("t5 small", "t5-small"), ("t5", "t5-small"),
    ],
)  # fmt: skip
def test_a_name_is_found_as_people_type_it(typed: str, first: str) -> None:
    assert find_names(typed)[0].value == first


def test_llama_3_is_not_llama_13b() -> None:
    names = [name.value for name in find_names("llama 3")]
    assert "llama-13b" not in names[:8]
    assert names.index("llama-3.1-8b") < names.index("llama-30b")


def test_nothing_typed_and_nothing_found() -> None:
    assert len(find_names("")) == MOST
    assert find_names("no such model at all") == []
    assert pieces("Qwen2.5-VL") == ("qwen", "2.5", "vl")
    assert count_of("bert-base-chinese") == 102_267_648
    assert count_of("nope") is None
    assert len(all_names()) > 1000


def refusal_of(**changes: str) -> ConfigError:
    asked = read_query({"source": "bert-base-uncased", **changes})
    with pytest.raises(ConfigError) as caught:
        asked.model()
    return caught.value


def test_ways_out_of_a_size_that_cannot_be() -> None:
    given = {"source": "bert-base-uncased", "set.hidden_size": "1024"}
    found = offers(read_query(given), refusal_of(**{"set.hidden_size": "1024"}))
    assert [(offer.key, offer.value) for offer in found] == [("num_attention_heads", 16), ("hidden_size", 1020)]
    for offer in found:
        parameters = dict(pair.split("=") for pair in offer.link.partition("?")[2].split("&"))
        assert int(str(read_query(parameters).model().count().unique)) > 0
    heads = offers(
        read_query({"source": "bert-base-uncased", "set.num_attention_heads": "7"}), refusal_of(**{"set.num_attention_heads": "7"})
    )
    assert ("num_attention_heads", 6) in [(offer.key, offer.value) for offer in heads]
    assert offers(read_query({}), UsageError("no")) == []


def test_the_colours_of_the_page_are_those_of_the_pictures() -> None:
    style = (STATIC / "style.css").read_text("utf-8")
    for role, (_, light, dark) in ROLES.items():
        assert f".role-{role} {{ fill: {light}; background-color: {light}; }}" in style
        assert f".role-{role} {{ fill: {dark}; background-color: {dark}; }}" in style


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_page_shows_words_and_no_methods(page: str, lang: str) -> None:
    from starlette.testclient import TestClient

    answered = TestClient(create(), base_url="http://127.0.0.1").get(f"/{page}?lang={lang}")
    assert answered.status_code == 200
    assert "built-in method" not in answered.text
    assert "&lt;bound" not in answered.text
