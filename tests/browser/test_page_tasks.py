"""What the page answers beside the count: comparisons, costs, the audit, a number reconciled, exercises."""

from __future__ import annotations

import json

import pytest

import weighbridge
from tests.browser.conftest import Opened
from tests.browser.test_pages import assert_nothing_serious
from tests.browser.test_use import BERT, assert_total, unique_text


def test_nested_configs_have_sizes_to_compare(opened: Opened) -> None:
    with opened("/compare?with=llama-3-8b&with=llava-1.5-7b") as (page, _):
        row = page.locator(".measures tr", has_text="hidden size").first.inner_text()
        assert "–" not in row, row


def test_the_audit_shows_what_it_did_not_judge_and_takes_a_model(opened: Opened) -> None:
    with opened("/audit") as (page, _):
        page.fill("#text", "Our model has 7,241,732,096 parameters.\nThe word table has 21128 × 768 = 16,226,304 parameters.")
        page.fill("#about", "bert-base-chinese")
        page.keyboard.press("Escape")
        page.click("form.article button")
        page.wait_for_selector(".lines")
        assert page.input_value("#about") == "bert-base-chinese"
        assert "bert-base-chinese" in page.inner_text("#answer")
        page.fill("#about", "")
        page.keyboard.press("Escape")
        page.click("form.article button")
        page.wait_for_selector(".v-unsettled")
        assert "not judged" in page.inner_text(".tallied")


def test_what_a_size_costs_stands_beside_it(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        assert page.inner_text("[id='cost-num_hidden_layers']") == "+1 changes the total by +7,087,872"
        page.fill("#f-intermediate_size", "1536")
        assert_total(page, unique_text(intermediate_size=1536))
        more = weighbridge.count("bert-base-uncased", None, {"intermediate_size": 1536, "num_hidden_layers": 13}).unique
        own = weighbridge.count("bert-base-uncased", None, {"intermediate_size": 1536}).unique
        page.wait_for_selector(f"text=+1 changes the total by +{int(str(more)) - int(str(own)):,}")


def test_a_number_is_reconciled_on_the_page(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        page.fill("#number", "108808704")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=BertModel without linear biases and pooler")
        assert "number=108808704" in page.url
        page.fill("#number", "110M")
        page.keyboard.press("Enter")
        further = page.locator(".answered details")
        further.wait_for()
        assert "--" not in page.inner_text(".answered"), "the page has no options"
        rows = len(weighbridge.model("bert-base-uncased").reconcile("110M", every=True).matches)
        assert page.locator(".answered td.integer").count() == rows


def test_costs_of_a_model_and_of_several(opened: Opened) -> None:
    with opened("/model?source=llama-3.2-1b&seq=1024") as (page, _):
        page.wait_for_selector("#costs table")
        cache = weighbridge.model("llama-3.2-1b").cache(seq=1024).bytes
        assert f"({cache:,})" in page.inner_text("#costs")
        page.select_option("#costs select", "a100-80g")
        page.wait_for_selector("#costs .answered")
        assert "device=a100-80g" in page.url
    with opened("/compare?with=llama-3.2-1b&with=gpt2&seq=1024") as (page, _):
        assert f"{weighbridge.model('gpt2').cache(seq=1024).bytes:,}" in page.inner_text(".measures")
        page.select_option("form.compared select", "rtx-4090")
        page.locator("form.compared button").click()
        page.wait_for_url("**device=rtx-4090**")
        assert page.locator(".wordy").count() == 2
        assert "fits" in page.locator(".wordy").first.inner_text()


def test_whether_a_model_fits_a_memory(opened: Opened) -> None:
    with opened("/model?source=llama-3-8b&seq=2048") as (page, _):
        page.wait_for_selector("#costs table")
        page.select_option("#costs select", "24GiB")
        page.wait_for_selector("#costs .answered")
        assert "device=24GiB" in page.url
        chosen = weighbridge.model("llama-3-8b").fits(gib=24, seq=2048).chosen
        assert chosen is not None
        assert f"{chosen.bytes:,}" in page.inner_text("#costs .answered")


MISTAKEN = {
    "/compare?with=gpt2&with=no-such&seq=64": (
        "404",
        {"[name=with] >> nth=0": "gpt2", "[name=with] >> nth=1": "no-such", "[name=seq]": "64"},
    ),
    "/design?tool=solve&source=t5-small&keys=nope&params=80M": ("400", {"[name=keys]": "nope", "[name=params] >> nth=0": "80M"}),
}


@pytest.mark.parametrize("address", MISTAKEN)
def test_a_mistake_is_said_beside_what_was_asked(opened: Opened, address: str) -> None:
    status, kept = MISTAKEN[address]
    with opened(address, expected=(status,)) as (page, _):
        wrong = "no-such" if "no-such" in address else "nope"
        assert wrong in page.inner_text(".error")
        assert {place: page.input_value(place) for place in kept} == kept


def test_an_article_is_kept_when_its_model_is_mistyped(opened: Opened) -> None:
    with opened("/audit", expected=("404",)) as (page, _):
        page.fill("#text", "BERT-base has 110M parameters.")
        page.fill("#about", "no-such")
        page.keyboard.press("Escape")
        page.click("form.article button")
        page.wait_for_selector(".error")
        assert page.input_value("#text") == "BERT-base has 110M parameters."


def test_the_models_page(opened: Opened) -> None:
    with opened("/models") as (page, _):
        page.fill("input[name=filter]", "bert-base-ch")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=102,267,648")
        page.locator("a", has_text="bert-base-chinese").first.click()
        assert_total(page, "102,267,648")


def test_an_exercise_is_answered_and_remembered_in_this_browser_alone(opened: Opened) -> None:
    found = weighbridge.exercise(None, "layer", 3)
    with opened("/quiz?level=layer&seed=3") as (page, seen):
        assert found.question in page.inner_text("#answer")
        assert f"{found.answer:,}" not in page.inner_text("#answer")
        page.fill("#steps", str(found.answer + 10))
        page.locator(".article button").click()
        page.wait_for_selector("#marking.wrong")
        assert "10 too high" in page.inner_text("#marking")
        page.locator("details.hint summary").first.click()
        assert page.locator("details.hint p").first.is_visible()
        page.fill("#steps", f"{found.answer:,}")
        page.locator(".article button").click()
        page.wait_for_selector("#marking.right")
        assert page.inner_text("[data-solved] b") == "1"
        assert json.loads(page.evaluate("localStorage.getItem('solved')")) == ["layer 3 " + found.model.source]
        assert not seen.posted
        page.locator(".article .button").click()
        page.wait_for_url("**seed=4**")
        assert_nothing_serious(page)


def test_steps_are_marked_without_scripts(opened: Opened) -> None:
    steps = "4*(768*768+768) = 2,362,468\n2,362,468 + 4,722,432 + 3,072 = 7,087,972"
    with opened("/quiz?level=layer&source=bert-base-uncased&lang=zh", java_script_enabled=False) as (page, _):
        page.fill("#steps", steps)
        page.locator(".article button").click()
        text = page.inner_text("#marking")
        assert "2,362,368" in text
        assert "第 1 行有误" in text


def test_an_exercise_that_a_model_has_not_leads_back(opened: Opened) -> None:
    with opened("/quiz?level=heads&source=bert-base-uncased", expected=("400",)) as (page, _):
        assert "no attention whose query heads share" in page.inner_text(".error")
        page.locator("#answer a", has_text="Exercises").click()
        page.wait_for_selector(".asked")
