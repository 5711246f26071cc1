"""The page under the hand of somebody who does not know it: what is touched first, what goes wrong, what is read at a glance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import weighbridge
from tests.browser.conftest import Opened
from tests.browser.test_use import BERT, assert_total, settle, unique_text
from tests.unit import safetensors_file

if TYPE_CHECKING:
    from playwright.sync_api import Route


def test_a_dropped_checkpoint_leaves_nothing_of_bert(opened: Opened, tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    safetensors_file.write(path, {f"layer.{index}.weight": [64, 1024] for index in range(400)})
    with opened(BERT, expected=("409",)) as (page, _):
        page.set_input_files("#file", path)
        assert_total(page, f"{400 * 64 * 1024:,}")
        assert page.locator("#sizes input").count() == 0, "there are no sliders that would turn it into BERT"
        assert page.locator("#class").count() == 0
        assert page.input_value("#source") == ""
        assert "bert" not in page.inner_text(".columns").lower()
        assert "dropped=mine.safetensors" in page.url
        links = page.eval_on_selector_all("nav a:not(.language)", "links => links.map(link => link.getAttribute('href'))")
        assert not any("bert" in link for link in links), links
        assert page.locator("#batch, #seq").count() == 0, "a file has no arithmetic to ask for"
        page.fill("#number", f"{400 * 64 * 1024}")
        page.keyboard.press("Enter")
        page.wait_for_selector(".answered")
        assert_total(page, f"{400 * 64 * 1024:,}")
        assert "dropped=mine.safetensors" in page.url, "a question about the file is not one about BERT"
        page.reload()
        assert "mine.safetensors was dropped" in page.inner_text(".choose")


@pytest.mark.parametrize(("status", "words"), [(0, "The server does not answer."), (429, "Too many requests in a minute")])
def test_a_file_that_reaches_no_server_is_said(opened: Opened, tmp_path: Path, status: int, words: str) -> None:
    safetensors_file.write(tmp_path / "mine.safetensors", {"weight": [64, 1024]})
    with opened(BERT, expected=("429", "ERR_FAILED")) as (page, _):
        page.route("**/dropped?*", lambda route: route.fulfill(status=status, body="") if status else route.abort())
        page.set_input_files("#file", tmp_path / "mine.safetensors")
        page.wait_for_selector("#dropped .error")
        assert page.inner_text("#dropped").startswith(f"mine.safetensors: {words}")
        assert page.input_value("#source") == "bert-base-uncased", "what is in view stays in view"


def test_the_list_of_names_is_whole_and_ranked_and_counted(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        field = page.locator("#source")
        field.click()
        page.wait_for_selector(".names [role=option]")
        cut = page.evaluate(
            """() => { const box = document.querySelector('.names:not([hidden])').getBoundingClientRect();
            const top = document.elementFromPoint(box.right - 4, box.top + 8); return !top.closest('.names'); }"""
        )
        assert not cut, "nothing lies over the list, and no side bar cuts it"
        assert page.locator(".names [role=option]").first.get_attribute("data-value") == "bert-base-uncased", "what people ask for first"
        field.fill("llama 3")
        page.wait_for_selector('.names [aria-selected][data-value="llama-3-8b"]')
        assert "8,030,261,248" in page.inner_text(".names [aria-selected]")


def test_no_page_carries_the_list_of_names(opened: Opened) -> None:
    with opened("/audit") as (page, _):
        assert page.locator("datalist").count() == 0
        assert len(page.content()) < 6000


@pytest.mark.parametrize("fault", ["gone", "busy"])
def test_a_server_that_does_not_answer_leaves_no_old_total_unmarked(opened: Opened, fault: str) -> None:
    def fail(route: Route) -> None:
        route.abort() if fault == "gone" else route.fulfill(status=429, content_type="application/problem+json", body="{}")

    with opened(BERT, expected=("429", "ERR_FAILED")) as (page, _):
        settle(page)
        page.route("**/part/where?*", fail)
        page.fill("#f-num_hidden_layers", "7")
        page.wait_for_selector("#refused:not([hidden])")
        words = {"gone": "does not answer", "busy": "Too many requests"}[fault]
        assert words in page.inner_text("#refused")
        assert "not of these sizes" in page.evaluate("getComputedStyle(document.querySelector('#total'), '::after').content")
        page.unroute("**/part/where?*")
        assert_total(page, unique_text(num_hidden_layers=7))
        assert page.locator("#refused").is_hidden()


def test_a_broken_config_stays_where_it_was_pasted(opened: Opened) -> None:
    with opened(BERT, expected=("422",)) as (page, _):
        page.locator("details.paste summary").click()
        page.fill("#config", '{"hidden_size": 512, "num_hidden_layers": 3}')
        page.locator("form[data-paste] button").click()
        page.wait_for_selector("form[data-paste] .error:not([hidden])")
        said = page.inner_text("form[data-paste] .error")
        assert said == 'model_type: the config does not say what it is (add "model_type", such as "bert")'
        assert page.input_value("#config") == '{"hidden_size": 512, "num_hidden_layers": 3}'
        page.fill("#config", '{"model_type": "bert", "num_hidden_layers": 3}')
        page.locator("form[data-paste] button").click()
        page.wait_for_url("**config=**")
        assert_total(page, f"{weighbridge.count({'model_type': 'bert', 'num_hidden_layers': 3}).unique:,}")


def test_a_broken_config_in_an_address_is_kept_too(opened: Opened) -> None:
    with opened("/model?config=%7B%22a%22%3A+1%7D", expected=("422",), java_script_enabled=False) as (page, _):
        assert page.input_value("#config") == '{"a": 1}'
        assert "--class" not in page.inner_text("main")


@pytest.mark.parametrize("value", ["-5", ""])
def test_a_number_that_is_none_is_said(opened: Opened, value: str) -> None:
    with opened(BERT) as (page, _):
        page.fill("#f-num_hidden_layers", value)
        page.wait_for_selector("#refused:not([hidden])")
        assert page.inner_text("#refused") == "num_hidden_layers: expected a whole number from 0"
        assert page.get_attribute("#f-num_hidden_layers", "aria-invalid") == "true"
        page.fill("#f-num_hidden_layers", "6")
        assert_total(page, unique_text(num_hidden_layers=6))
        assert page.get_attribute("#f-num_hidden_layers", "aria-invalid") is None


def test_a_hidden_size_that_heads_do_not_divide_is_offered_ways_out(opened: Opened) -> None:
    with opened(BERT, expected=("422",)) as (page, _):
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if "/part/where" in request.url else None)
        page.locator("#f-hidden_size").fill("")
        page.locator("#f-hidden_size").press_sequentially("1024", delay=40)
        page.wait_for_selector("#refused .button")
        assert len(asked) <= 2, "what stands there while one types is not asked for, unless the machine stops for long between two keys"
        assert page.locator("#refused .button").all_inner_texts() == ["num_attention_heads 16", "hidden_size 1,020"]
        page.locator("#refused .button").first.click()
        page.wait_for_url("**num_attention_heads=16**")
        assert_total(page, unique_text(hidden_size=1024, num_attention_heads=16))


def test_back_after_an_early_change_returns_to_the_first_state(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        page.fill("#f-num_hidden_layers", "5")
        assert_total(page, unique_text(num_hidden_layers=5))
        page.go_back()
        assert_total(page, unique_text())


def test_what_embeddings_means_is_said(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        assert "in embedding tables" in page.inner_text(".facts")
        assert "Embedding tables only: the norm and the projections" in page.inner_text("#where")


def test_the_layers_of_encoder_and_decoder_are_told_apart(opened: Opened) -> None:
    with opened("/model?source=whisper-tiny") as (page, _):
        letters = page.eval_on_selector_all(".size .letter", "found => found.map(one => one.innerHTML).filter(text => text[0] === 'L')")
        assert len(letters) == len(set(letters)) == 2, letters
        shown = set(page.eval_on_selector_all(".size .letter", "found => found.map(one => one.innerText)"))
        used = set(page.eval_on_selector_all(".symbols th i", "found => found.map(one => one.innerText)"))
        assert used <= shown, "a size has the letter that it has in the formula"


def test_zooming_keeps_folds_and_place(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        settle(page)
        page.evaluate("window.stays = true")
        page.locator("table.tree .fold").first.click()
        page.evaluate("window.scrollTo(0, 200)")
        page.locator('.treemap.wide a[href$="encoder.layer.attention"]').click(position={"x": 30, "y": 5})
        page.wait_for_selector(".crumbs [aria-current]:has-text('attention')")
        assert page.evaluate("window.stays === true && window.scrollY > 100"), "no page was loaded, and nothing jumped"
        page.go_back()
        page.wait_for_selector(".crumbs [aria-current]:has-text('whole model')")
        assert page.evaluate("window.stays") is True
        assert page.locator("table.tree .fold").first.get_attribute("aria-expanded") == "false"


def test_a_leaf_is_a_picture_and_says_how_often_it_is_there(opened: Opened) -> None:
    with opened(f"{BERT}&module=encoder.layer.intermediate.dense") as (page, _):
        assert "12 × 2,362,368 = 28,348,416" in page.inner_text(".crumbs")
        assert page.locator(".sunburst path").count() >= 1
        assert "weight" in page.inner_html(".treemap.wide")


def test_a_picture_is_one_tab_stop(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        settle(page)
        stops = page.evaluate(
            "[...document.querySelectorAll('.pictures a')].filter(a => a.getAttribute('tabindex') !== '-1' && a.getClientRects().length).length"
        )
        assert stops == 1
        first = page.locator(".treemap.wide a[tabindex='0']")
        first.focus()
        page.keyboard.press("ArrowRight")
        assert page.locator(".treemap.wide a:focus").count() == 1
        page.keyboard.press("Enter")
        page.wait_for_url("**module=**")


def test_the_class_has_its_name(opened: Opened) -> None:
    with opened("/model?source=llama-3-8b") as (page, _):
        assert page.locator("#class option:checked").inner_text() == "LlamaForCausalLM"
        assert "default" not in page.locator("#class").inner_text()


def test_a_touch_tells_and_a_second_one_leads_inside(opened: Opened) -> None:
    with opened(BERT, width=390, has_touch=True) as (page, _):
        settle(page)
        cell = page.locator('.treemap.narrow rect[data-place="encoder.layer.intermediate.dense"]')
        cell.scroll_into_view_if_needed()
        cell.tap()
        page.wait_for_selector("#tip:not([hidden])")
        assert "2,362,368" in page.inner_text("#tip")
        assert "module=" not in page.url
        cell.tap()
        page.wait_for_url("**module=encoder.layer.intermediate.dense**")
