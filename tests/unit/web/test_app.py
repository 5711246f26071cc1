"""The page and its API through ASGI: answers are the library's, errors are problems, nothing on disk is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from starlette.testclient import TestClient

import weighbridge
from weighbridge.web.api import CALLS
from weighbridge.web.app import create
from weighbridge.web.guard import Limits
from weighbridge.web.query import Query, query


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create(), raise_server_exceptions=True) as found:
        yield found


@pytest.mark.parametrize("page", ["/", "/model", "/compare", "/explain", "/audit", "/api"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_answers_in_both_languages(client: TestClient, page: str, language: str) -> None:
    answer = client.get(page, params={"lang": language})
    assert answer.status_code == 200
    assert f'<html lang="{"zh-Hans" if language == "zh" else "en"}"' in answer.text
    assert ("参数" in answer.text or "核对" in answer.text) == (language == "zh")


def test_the_numbers_of_the_page_are_the_librarys(client: TestClient) -> None:
    page = client.get("/model?source=bert-base-uncased&class=BertForMaskedLM&set.num_hidden_layers=6").text
    assert f"{weighbridge.count('bert-base-uncased', 'BertForMaskedLM', {'num_hidden_layers': 6}).unique:,}" in page


def test_a_model_whose_arithmetic_nobody_can_tell_still_has_its_page(client: TestClient) -> None:
    page = client.get("/model?source=mra")
    assert page.status_code == 200
    assert "cannot be told from a config" in page.text
    assert f"{weighbridge.count({'model_type': 'mra'}).unique:,}" in page.text


def test_a_link_reproduces_its_view() -> None:
    asked = query(
        {"source": "bert-tiny", "class": "BertForMaskedLM", "set.hidden_size": "256", "set.hidden_act": "gelu", "lang": "zh", "seq": "7"}
    )
    from urllib.parse import parse_qsl, urlsplit

    assert query(dict(parse_qsl(urlsplit(asked.link("/model")).query))) == asked
    assert Query().link("/model") == "/model?source=bert-base-uncased"


def test_a_pasted_config_is_weighed(client: TestClient) -> None:
    config = json.dumps({"model_type": "bert", "num_hidden_layers": 24})
    assert "194,536,704" in client.get("/model", params={"config": config}).text
    answer = client.post("/api/v1/count", json={"config": {"model_type": "bert", "num_hidden_layers": 24}})
    assert answer.json()["parameters"]["unique"] == 194_536_704


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_every_call_answers_by_get_and_post(client: TestClient, call: Any) -> None:
    given = {"source": "bert-tiny", "number": "4385920", "text": "30522 × 768 = 23,449,856"}
    kept = {key: value for key, value in given.items() if key == "source" or key in {name for name, _ in call.needs}}
    got, posted = client.get(f"/api/v1/{call.name}", params=kept), client.post(f"/api/v1/{call.name}", json=kept)
    assert got.status_code == posted.status_code == 200
    assert got.json() == posted.json()


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"source": "/etc/passwd"}, 404), ({"source": "../pyproject.toml"}, 404), ({"source": "-"}, 404), ({"source": "http://127.0.0.1/"}, 404),
        ({"source": "bert-tiny", "class": "Nope"}, 422), ({"set.hidden_size": "770"}, 422), ({"config": "[]"}, 422), ({"config": "{"}, 422),
        ({"lang": "xx"}, 400), ({"seq": "0"}, 400), ({"seq": "-1"}, 400), ({"batch": "1e3"}, 400), ({"config": '{"model_type": "zzz"}'}, 422),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_a_problem(client: TestClient, parameters: dict[str, str], status: int) -> None:
    answer = client.get("/api/v1/flops", params=parameters)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json()) == {"type", "title", "status", "detail"}
    assert client.get("/model", params=parameters).status_code == status


def test_bodies_are_checked(client: TestClient) -> None:
    assert client.post("/api/v1/count", content=b"{", headers={"content-type": "application/json"}).status_code == 400
    assert client.post("/api/v1/count", content=b"[]", headers={"content-type": "application/json"}).status_code == 400
    assert client.post("/api/v1/count", content=b"x", headers={"content-type": "text/plain"}).status_code == 415
    assert client.post("/api/v1/count", json={"source": ["a"]}).status_code == 400
    assert client.post("/api/v1/audit", json={"text": "x" * 3_000_000}).status_code == 413
    assert client.put("/api/v1/count").status_code == 405
    assert client.get("/api/v1/nope").status_code == 404
    assert client.get("/nope").status_code == 404


def test_every_answer_carries_the_policy_and_no_cors(client: TestClient) -> None:
    for address in ("/", "/api/v1/count", "/static/app.js", "/nope", "/api/v1/nope"):
        headers = client.get(address, headers={"origin": "https://example.org"}).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers


def test_pages_name_no_other_host(client: TestClient) -> None:
    import re

    for page in ("/", "/compare", "/explain", "/audit"):
        found = re.findall(r'(?:href|src|action)="(https?:)?//', client.get(page).text)
        assert not found


def test_hostile_words_are_escaped(client: TestClient) -> None:
    hostile = "<script>alert(1)</script>"
    for page, parameters in (
        ("/model", {"source": hostile}),
        ("/explain", {"source": "bert-tiny", "class": hostile}),
        ("/compare", {"with": hostile}),
    ):
        assert hostile not in client.get(page, params=parameters).text
    assert hostile not in client.post("/audit", data={"text": hostile + " 1 + 1 = 3"}).text


def test_an_article_is_marked_up(client: TestClient) -> None:
    page = client.post("/audit", data={"text": "30522 × 768 = 23,449,856"}).text
    assert "v-wrong" in page
    assert "23,440,896" in page


def test_a_rate_is_kept() -> None:
    with TestClient(create(Limits(per_minute=3))) as limited:
        assert [limited.get("/health").status_code for _ in range(4)] == [200, 200, 200, 429]


def test_health_metrics_and_the_document(client: TestClient) -> None:
    assert client.get("/health").text == "ok\n"
    client.get("/api/v1/count?source=bert-tiny")
    assert 'weighbridge_calls_total{call="count"}' in client.get("/metrics").text
    document = client.get("/api/v1/openapi.json").json()
    assert {f"/api/v1/{call.name}" for call in CALLS} == set(document["paths"])


def test_a_dropped_checkpoint_is_weighed_by_its_header(client: TestClient) -> None:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1000, 1000], "data_offsets": [0, 4_000_000]}}).encode()
    head = len(header).to_bytes(8, "little") + header
    answer = client.post(f"/api/v1/header?size={len(head) + 4_000_000}&name=x.safetensors", content=head)
    assert answer.json()["parameters"]["unique"] == 1_000_000
    assert client.post(f"/api/v1/header?size={len(head) + 4_000_000}&name=x.safetensors", content=head[:-3]).status_code == 422
    assert client.post("/api/v1/header?size=x", content=head).status_code == 400


def test_nothing_on_disk_is_read_for_a_request(client: TestClient, tmp_path: Path) -> None:
    secret = tmp_path / "config.json"
    secret.write_text('{"model_type": "bert", "num_hidden_layers": 77}')
    for source in (str(secret), str(tmp_path), f"{tmp_path}/../{tmp_path.name}"):
        assert client.get("/api/v1/count", params={"source": source}).status_code == 404
