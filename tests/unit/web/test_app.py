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
from weighbridge.web.api import CALLS, options
from weighbridge.web.app import create
from weighbridge.web.middleware import Limits
from weighbridge.web.query import Query, read_query


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


@pytest.mark.parametrize(
    ("accepted", "address", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "/", "zh-Hans"),
        ("zh-CN,zh;q=0.9", "/?lang=en", "en"),
        ("en-US,en;q=0.9,zh;q=0.8", "/", "en"),
        ("zh-CN", "/model?source=gpt2", "en"),
        ("fr;q=nan, *;q=9, zh;q=", "/", "en"),
    ],
)
def test_the_first_page_is_in_the_language_of_the_browser(client: TestClient, accepted: str, address: str, language: str) -> None:
    """Any other address says its language itself, so that what is sent to somebody else looks the same."""
    answer = client.get(address, headers={"accept-language": accepted})
    assert f'<html lang="{language}"' in answer.text


def test_the_numbers_of_the_page_are_the_librarys(client: TestClient) -> None:
    page = client.get("/model?source=bert-base-uncased&class=BertForMaskedLM&set.num_hidden_layers=6").text
    assert f"{weighbridge.count('bert-base-uncased', 'BertForMaskedLM', {'num_hidden_layers': 6}).unique:,}" in page


def test_a_model_whose_arithmetic_nobody_can_tell_still_has_its_page(client: TestClient) -> None:
    page = client.get("/model?source=mra")
    assert page.status_code == 200
    assert "cannot be worked out from a config" in page.text
    assert f"{weighbridge.count({'model_type': 'mra'}).unique:,}" in page.text


def test_the_parts_of_a_page_are_those_of_the_whole(client: TestClient) -> None:
    asked = "source=bert-base-uncased&set.num_hidden_layers=7&lang=zh"
    page = client.get(f"/model?{asked}").text
    for name in ("where", "why"):
        part = client.get(f"/part/{name}?{asked}").text
        assert part[part.index(f'<div id="{name}"') : part.rindex("</div>")] in page
    for line in part.splitlines():
        assert not line.startswith('<span class="cost"') or line in page
    assert 'id="total"' in client.get(f"/part/where?{asked}").text
    assert "<fieldset" not in client.get(f"/part/where?{asked}").text
    assert client.get("/part/where?source=no-such-model").status_code == 404


def test_a_table_of_very_many_rows_shows_the_upper_ones_and_says_so(client: TestClient) -> None:
    page = client.get("/model?source=efficientnet-b7").text
    assert page.count("<tr data-depth") < 121
    assert "rows of deeper levels are not shown" in page
    inside = client.get("/model?source=efficientnet-b7&module=efficientnet.encoder.blocks.52").text
    assert "rows of deeper levels" not in inside
    assert inside.count("<tr data-depth") > 5


def test_a_link_reproduces_its_view() -> None:
    asked = read_query(
        {"source": "bert-tiny", "class": "BertForMaskedLM", "set.hidden_size": "256", "set.hidden_act": "gelu", "lang": "zh", "seq": "7"}
    )
    from urllib.parse import parse_qsl, urlsplit

    assert read_query(dict(parse_qsl(urlsplit(asked.link("/model")).query))) == asked
    assert Query().link("/model") == "/model?source=bert-base-uncased"


def test_a_pasted_config_is_weighed(client: TestClient) -> None:
    config = json.dumps({"model_type": "bert", "num_hidden_layers": 24})
    assert "194,536,704" in client.get("/model", params={"config": config}).text
    answer = client.post("/api/v1/count", json={"config": {"model_type": "bert", "num_hidden_layers": 24}})
    assert answer.json()["parameters"]["unique"] == 194_536_704


def test_an_error_is_said_in_the_language_that_was_asked_for(client: TestClient) -> None:
    got = client.get("/api/v1/count?source=no-such-model&lang=zh")
    posted = client.post("/api/v1/count", json={"source": "no-such-model", "lang": "zh"})
    assert got.status_code == posted.status_code == 404
    assert got.json()["detail"] == posted.json()["detail"] == "'no-such-model' 既不是预设，也不是模型类型；请查看模型列表"
    assert client.get("/api/v1/count?source=no-such-model").json()["detail"].endswith("see the list of models")
    assert client.get("/api/v1/compare?models=gpt2&lang=zh").json()["detail"] == "models：应为以逗号分隔的二至 6 个名称"


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_every_call_answers_by_get_and_post(client: TestClient, call: Any) -> None:
    given = {"source": "bert-tiny", "models": "bert-tiny,gpt2", "number": "4385920", "text": "30522 × 768 = 23,449,856"}
    given |= {"keys": "num_hidden_layers", "like": "bert-tiny", "set": "num_hidden_layers=1:3"}
    kept = {
        key: value for key, value in given.items() if key == "source" or key in {option.key for option in options(call) if option.needed}
    }
    kept |= {"gib": "80", "seq": "128"} if call.name == "fits" else {}
    kept |= {"params": "4385920±1%"} if call.name in ("solve", "design") else {}
    kept = {key if key != "set" else "set.num_hidden_layers": value.removeprefix("num_hidden_layers=") for key, value in kept.items()}
    got, posted = client.get(f"/api/v1/{call.name}", params=kept), client.post(f"/api/v1/{call.name}", json=kept)
    assert got.status_code == posted.status_code == 200
    assert got.json() == posted.json()


COMMANDS: tuple[tuple[str, list[str], dict[str, str]], ...] = (
    ("count", ["count", "bert-tiny"], {}),
    ("tensors", ["tensors", "bert-tiny"], {}),
    ("formula", ["formula", "bert-tiny"], {}),
    ("formula", ["formula", "bert-tiny", "--flops", "--lang", "zh"], {"flops": "true", "lang": "zh"}),
    ("explain", ["explain", "bert-tiny", "--lang", "zh"], {"lang": "zh"}),
    ("counts", ["counts", "bert-tiny", "--lang", "zh"], {"lang": "zh"}),
    ("reconcile", ["reconcile", "4.4M", "bert-tiny"], {"number": "4.4M"}),
    ("compare", ["compare", "bert-tiny", "gpt2", "qwen3-0.6b", "--seq", "64"], {"models": "bert-tiny, gpt2, qwen3-0.6b", "seq": "64"}),
    ("flops", ["flops", "bert-tiny", "--batch", "2", "--seq", "64"], {"batch": "2", "seq": "64"}),
    ("flops", ["flops", "t5-small", "--decoder-seq", "9"], {"source": "t5-small", "decoder_seq": "9"}),
    ("flops", ["flops", "{llava}", "--images", "2"], {"images": "2", "source": "llava"}),
    (
        "flops",
        ["flops", "{longformer}", "--seq", "500", "--question", "9", "--class", "LongformerForQuestionAnswering"],
        {"source": "longformer", "class": "LongformerForQuestionAnswering", "seq": "500", "question": "9"},
    ),
)


@pytest.mark.parametrize(("name", "words", "parameters"), COMMANDS, ids=lambda value: value if isinstance(value, str) else None)
def test_a_call_answers_with_the_commands_json(
    client: TestClient, capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, words: list[str], parameters: dict[str, str]
) -> None:
    from weighbridge.cli import main

    config = tmp_path / "config.json"
    config.write_text(json.dumps({"model_type": words[1].strip("{}")}))
    assert main([str(config) if word.startswith("{") else word for word in words] + ["--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    if "source" in parameters:
        expected["source"] = parameters["source"]
    assert client.get(f"/api/v1/{name}", params={"source": "bert-tiny", **parameters}).json() == expected
    if name == "flops" and "decoder_seq" not in parameters:
        assert f"{expected['forward_matmul']:,}" in client.get("/model", params={"source": "bert-tiny", **parameters}).text


def test_an_audit_is_the_commands(client: TestClient, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from weighbridge.cli import main

    article = tmp_path / "article.md"
    article.write_text("BERT-base: 30522 × 768 = 23,449,856\n12 层共 85,054,464 个参数\n", "utf-8")
    assert main(["audit", str(article), "--json", "--lang", "zh"]) == 1
    answer = client.post("/api/v1/audit", json={"text": article.read_text("utf-8"), "name": str(article), "lang": "zh"})
    assert answer.json() == json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"source": "/etc/passwd"}, 404),
        ({"source": "../pyproject.toml"}, 404),
        ({"source": "-"}, 404),
        ({"source": "http://127.0.0.1/"}, 404),
        ({"source": "bert-tiny", "class": "Nope"}, 422),
        ({"set.hidden_size": "770"}, 422),
        ({"config": "[]"}, 422),
        ({"config": "{"}, 422),
        ({"lang": "xx"}, 400),
        ({"seq": "0"}, 400),
        ({"seq": "-1"}, 400),
        ({"batch": "1e3"}, 400),
        ({"config": '{"model_type": "zzz"}'}, 422),
    ],
)
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


def test_a_page_is_light(client: TestClient) -> None:
    weight = 0
    for address in ("/model?source=efficientnet", "/static/style.css", "/static/app.js", "/static/icon.svg"):
        answer = client.get(address, headers={"accept-encoding": "gzip"})
        assert answer.status_code == 200
        weight += int(answer.headers["content-length"])
    assert weight < 100_000
    assert client.get("/", headers={"accept-encoding": "identity"}).headers.get("content-encoding") is None


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
    sent = head.ljust(4096, b"\0")
    answer = client.post(f"/api/v1/header?size={len(head) + 4_000_000}&name=x.safetensors", content=sent)
    assert answer.json()["parameters"]["unique"] == 1_000_000
    wanting = client.post(f"/api/v1/header?size={len(head) + 4_000_000}&name=x.safetensors", content=head[:-3])
    assert (wanting.status_code, wanting.json()["wanted"]) == (409, {"offset": 0, "length": 4096})
    assert client.post(f"/api/v1/header?size={len(head)}&name=x.safetensors", content=head).status_code == 422
    assert client.post(f"/api/v1/header?size=10&slices=0:{len(head)}", content=head).status_code == 400
    assert client.post("/api/v1/header?size=x", content=head).status_code == 400


def test_slices_that_are_wanted_are_asked_for(client: TestClient) -> None:
    header = json.dumps({f"w{i}": {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i in range(3000)}).encode()
    head = len(header).to_bytes(8, "little") + header
    file, places = head + bytes(12_000), [(0, 4096)]
    for _ in range(9):
        body = b"".join(file[at : at + length] for at, length in places)
        words = ",".join(f"{at}:{length}" for at, length in places)
        answer = client.post(f"/api/v1/header?size={len(file)}&name=x.safetensors&slices={words}", content=body)
        if answer.status_code == 200:
            break
        places.append((answer.json()["wanted"]["offset"], answer.json()["wanted"]["length"]))
    assert answer.json()["parameters"]["unique"] == 3000
    assert "3,000" in client.post(f"/dropped?size={len(file)}&name=x.safetensors&slices={words}", content=body).text
    assert client.post(f"/dropped?size={len(file)}&slices=0:4096", content=file[:4096]).status_code == 409


def test_runs_of_unlike_layers_have_addresses_of_their_own(client: TestClient) -> None:
    import re

    links = re.findall(r'module=(layers[^"&]*)"', client.get("/model?source=deepseek_v3").text)
    assert {"layers%5B0%5D", "layers%5B3%5D"} <= set(links)
    first, later = (client.get(f"/model?source=deepseek_v3&module=layers%5B{at}%5D").text for at in (0, 3))
    assert first != later
    assert client.get("/model?source=deepseek_v3&module=nope").status_code == 400


def test_a_slider_moves_in_steps_that_give_a_model(client: TestClient) -> None:
    from weighbridge.web.controls import controls

    steps = {control.key: control.step for control in controls(weighbridge.model("bert-base-uncased"), str)}
    assert steps["hidden_size"] == 12
    assert steps["num_hidden_layers"] == 1


@pytest.mark.parametrize("source", ["bert", "deepseek_v3", "swin"])
@pytest.mark.parametrize("key", ["num_hidden_layers", "depths", "num_experts"])
def test_a_config_deeper_than_memory_is_refused(client: TestClient, source: str, key: str) -> None:
    value = [900_000_000] * 4 if key == "depths" else 900_000_000
    for call in ("count", "tensors", "explain"):
        answer = client.post(f"/api/v1/{call}", json={"config": {"model_type": source, key: value}})
        assert answer.status_code in (200, 400, 422)
        assert key == "num_experts" or "at most 10,000 layers" in answer.json()["detail"]
    experts = {"config": {"model_type": "deepseek_v3", "n_routed_experts": 900_000_000}}
    assert client.post("/api/v1/tensors", json=experts).status_code in (200, 400, 422)


def test_a_hub_is_asked_only_where_that_is_allowed(client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from weighbridge.readers import hub

    (tmp_path / "config.json").write_text('{"model_type": "bert", "num_hidden_layers": 3}')
    asked: list[str] = []

    def at_hub(found: hub.Repository, source: str) -> Path:
        asked.append(source)
        return tmp_path

    monkeypatch.setattr(hub, "at_hub", at_hub)
    monkeypatch.chdir(tmp_path.parent)
    here = f"{tmp_path.parent.name}/{tmp_path.name}"
    assert client.get("/api/v1/count?source=org/name").status_code == 404
    assert asked == []
    with TestClient(create(Limits(fetches=True))) as fetching:
        answer = fetching.get("/api/v1/count?source=org/name").json()
        assert answer["parameters"]["unique"] == weighbridge.count({"model_type": "bert", "num_hidden_layers": 3}).unique
        for source in ("http://127.0.0.1/x", "../x", "org/name@../../x", "/etc/passwd", "s3://b/k", "a/b/c"):
            assert fetching.get("/api/v1/count", params={"source": source}).status_code == 404
        assert asked == ["org/name"]
        fetching.get("/api/v1/count", params={"source": here})
        assert asked == ["org/name", here], "what stands on disk under that name is not looked at"


def test_nothing_on_disk_is_read_for_a_request(client: TestClient, tmp_path: Path) -> None:
    secret = tmp_path / "config.json"
    secret.write_text('{"model_type": "bert", "num_hidden_layers": 77}')
    for source in (str(secret), str(tmp_path), f"{tmp_path}/../{tmp_path.name}"):
        assert client.get("/api/v1/count", params={"source": source}).status_code == 404


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ({"tool": "solve", "source": "bert-base-uncased", "keys": "num_hidden_layers", "params": "109482240"}, "1 solution"),
        ({"tool": "design", "like": "llama-3.2-1b", "params": "500M±0.5%", "multiple_of": "256"}, "Pareto"),
        ({"tool": "sweep", "source": "bert-tiny", "key": "num_hidden_layers", "range": "2:9"}, "8 configs"),
    ],
)
def test_the_page_of_designs_answers_as_the_commands_do(client: TestClient, question: dict[str, str], shown: str) -> None:
    assert "flan-t5-small" in client.get("/design").text
    page = client.get("/design", params=question).text
    assert shown in page
    assert ('<svg class="plot"' in page) is (question["tool"] != "solve")
    assert client.get("/design", params={**question, "lang": "zh"}).status_code == 200


def test_a_sweep_that_is_too_wide_for_a_server_is_refused(client: TestClient) -> None:
    wide = client.get("/api/v1/sweep?source=bert-tiny&set.vocab_size=1:999999")
    assert (wide.status_code, wide.json()["detail"]) == (400, "this server sweeps at most 20,000 combinations, these are 999,999")
    deep = client.get("/api/v1/sweep?source=bert-tiny&set.num_hidden_layers=99999,2")
    assert deep.status_code == 400
    assert client.get("/api/v1/sweep?source=bert-tiny").json()["detail"] == "set: missing; expected a text"
