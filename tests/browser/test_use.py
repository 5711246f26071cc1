"""What people do with the page: change a size, share a link, go back, drop a file, zoom, fold; the numbers are the library's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import weighbridge
from tests.browser.conftest import Opened
from tests.browser.test_pages import assert_fits, assert_nothing_serious
from tests.unit import safetensors_file

if TYPE_CHECKING:
    from playwright.sync_api import Page

BERT = "/model?source=bert-base-uncased"


def unique_text(**overrides: object) -> str:
    return f"{weighbridge.count('bert-base-uncased', None, overrides).unique:,}"


def assert_total(page: Page, figure: str) -> None:
    """Hold the page to a total, which it may take a while to show; Playwright raises if it does not."""
    page.wait_for_function("figure => document.querySelector('#total .big')?.textContent === figure", arg=figure)


def settle(page: Page) -> None:
    """Wait until everything that hangs on the last change has come."""
    page.wait_for_selector('#answer[aria-busy="false"]')


def test_a_size_is_changed_and_the_numbers_are_the_librarys(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        assert_total(page, unique_text())
        page.fill("#f-num_hidden_layers", "7")
        assert_total(page, unique_text(num_hidden_layers=7))
        assert "7 layers" in page.inner_text("#answer .headline")
        settle(page)
        assert page.locator("table.counts").first.locator(".number").first.inner_text() == unique_text(num_hidden_layers=7)
        assert page.input_value('[data-for="f-num_hidden_layers"]') == "7"
        slider = page.locator('[data-for="f-vocab_size"]')
        slider.focus()
        slider.press("ArrowRight")
        assert_total(page, unique_text(num_hidden_layers=7, vocab_size=30523))
        page.locator("label.switch", has_text="add_pooling_layer").click()
        assert_total(page, unique_text(num_hidden_layers=7, vocab_size=30523, add_pooling_layer=False))
        page.select_option("#class", "BertForMaskedLM")
        overrides = {"num_hidden_layers": 7, "vocab_size": 30523, "add_pooling_layer": False}
        assert_total(page, f"{weighbridge.count('bert-base-uncased', 'BertForMaskedLM', overrides).unique:,}")


def test_a_link_reproduces_what_is_seen(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        page.fill("#f-num_hidden_layers", "5")
        assert_total(page, unique_text(num_hidden_layers=5))
        page.wait_for_function("location.search.includes('num_hidden_layers=5')")
        settle(page)
        page.wait_for_selector("#costs:not([hidden])")
        address, seen = page.url, page.inner_text("#answer")
    assert "set.num_hidden_layers=5" in address
    assert "hidden_size" not in address, "only what was changed stands in the address"
    with opened(address) as (page, _):
        assert_total(page, unique_text(num_hidden_layers=5))
        page.wait_for_selector("#costs:not([hidden])")  # what it costs comes last
        assert page.inner_text("#answer") == seen


def test_the_back_button(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        page.wait_for_timeout(1100)
        page.fill("#f-num_hidden_layers", "5")
        assert_total(page, unique_text(num_hidden_layers=5))
        page.go_back()
        assert_total(page, unique_text())
        page.go_forward()
        assert_total(page, unique_text(num_hidden_layers=5))


def test_what_cannot_be_weighed_is_said_and_nothing_jumps(opened: Opened) -> None:
    with opened(BERT, expected=("422",)) as (page, _):
        before = page.locator("#answer h2").first.bounding_box()
        page.fill("#f-hidden_size", "769")
        page.wait_for_selector("#refused:not([hidden])")
        assert "hidden_size" in page.inner_text("#refused")
        assert page.locator("#answer h2").first.bounding_box() == before
        page.fill("#f-hidden_size", "780")
        assert_total(page, unique_text(hidden_size=780))
        assert page.locator("#refused").is_hidden()


def test_arithmetic_follows_the_tokens(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        page.fill("#seq", "512")
        figure = f"{weighbridge.model('bert-base-uncased').flops(1, 512).forward_matmul:,}"
        page.wait_for_function("figure => document.querySelector('#answer').innerText.includes(figure)", arg=figure)
        assert page.evaluate("document.activeElement.id") == "seq"


def test_a_picture_is_zoomed_and_the_table_folds_by_keyboard(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        page.locator('.treemap.wide a[href$="encoder.layer.intermediate.dense"]').click()
        page.wait_for_url("**module=encoder.layer.intermediate.dense")
        assert "intermediate" in page.inner_text(".crumbs")
        page.locator(".crumbs a").first.click()
        page.wait_for_selector("table.tree .fold")
        rows = page.locator("table.tree tbody tr:visible").count()
        page.locator("table.tree .fold").first.focus()
        page.keyboard.press("Enter")
        assert page.locator("table.tree tbody tr:visible").count() == rows - 4
        page.keyboard.press("Enter")
        assert page.locator("table.tree tbody tr:visible").count() == rows


def test_the_keyboard_skips_to_the_answer(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "answer"


def test_a_model_is_searched_by_keyboard(opened: Opened) -> None:
    with opened(BERT, expected=("404",)) as (page, _):
        field = page.locator("#source")
        field.click()
        page.wait_for_selector(".names [role=option]")
        assert page.locator(".names [role=option]").count() == 40
        field.fill("qwen3 0.6")
        page.wait_for_selector(".names [aria-selected]")
        count = f"{weighbridge.count('qwen3-0.6b').unique:,}"
        page.wait_for_selector('.names [aria-selected][data-value="qwen3-0.6b"]')
        assert page.inner_text(".names [aria-selected]").split() == ["qwen3-0.6b", count, "Qwen/Qwen3-0.6B"]
        assert_nothing_serious(page)
        field.press("ArrowDown")
        field.press("ArrowUp")
        field.press("Enter")
        page.wait_for_url("**source=qwen3-0.6b")
        assert_total(page, f"{weighbridge.count('qwen3-0.6b').unique:,}")
        page.locator("#source").fill("no-such-model")
        page.locator("#source").press("Enter")
        page.wait_for_selector("#refused:not([hidden])")
        assert "no-such-model" in page.inner_text("#refused")
        assert_total(page, f"{weighbridge.count('qwen3-0.6b').unique:,}")


def test_what_was_folded_stays_folded(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        rows = page.locator("table.tree tbody tr:visible").count()
        page.locator("table.tree .fold").first.click()
        assert page.locator("table.tree tbody tr:visible").count() == rows - 4
        page.fill("#f-num_hidden_layers", "1")
        assert_total(page, unique_text(num_hidden_layers=1))
        page.fill("#f-num_hidden_layers", "7")
        assert_total(page, unique_text(num_hidden_layers=7))
        assert page.locator("table.tree tbody tr:visible").count() == rows - 4


def drop(page: Page, name: str, text: str) -> None:
    page.evaluate(
        """([name, text]) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], name));
            document.querySelector("#drop").dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}));
        }""",
        [name, text],
    )


def test_a_config_is_dropped(opened: Opened) -> None:
    config = {"model_type": "bert", "num_hidden_layers": 3}
    with opened(f"{BERT}&lang=zh") as (page, _):
        drop(page, "config.json", json.dumps(config))
        page.wait_for_url("**config=**")
        assert_total(page, f"{weighbridge.count(config).unique:,}")
        assert page.get_attribute("html", "lang") == "zh-Hans"


def test_of_a_checkpoint_only_the_header_is_sent(opened: Opened, tmp_path: Path) -> None:
    shapes = {f"layer.{index}.weight": [64, 1024] for index in range(400)}
    path = tmp_path / "model.safetensors"
    data = safetensors_file.write(path, shapes)
    with opened(BERT, expected=("409",)) as (page, seen):
        page.set_input_files("#file", path)
        assert_total(page, f"{400 * 64 * 1024:,}")
        assert "model.safetensors" in page.inner_text("#dropped")
        whole = path.stat().st_size
        assert sum(seen.posted) <= whole - data + 2 * 4096, f"{sum(seen.posted):,} bytes of {whole:,} were sent"


def test_a_file_that_is_no_checkpoint(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "notes.xyz").write_bytes(b"no checkpoint " * 100)
    with opened(BERT, expected=("422",)) as (page, _):
        page.set_input_files("#file", tmp_path / "notes.xyz")
        page.wait_for_selector("#dropped .error")
        assert "no reader knows this format" in page.inner_text("#dropped")


def test_the_main_path_works_without_scripts(opened: Opened) -> None:
    with opened(BERT, java_script_enabled=False) as (page, _):
        page.fill("#f-num_hidden_layers", "7")
        page.locator("label.switch", has_text="add_pooling_layer").click()
        page.locator("#sizes button").click()
        assert page.inner_text("#total .big") == unique_text(num_hidden_layers=7, add_pooling_layer=False)
        page.locator("nav a", has_text="中文").click()
        assert page.inner_text("#total .big") == unique_text(num_hidden_layers=7, add_pooling_layer=False)
        assert "参数" in page.inner_text("#total")


def test_models_are_compared(opened: Opened) -> None:
    with opened("/compare") as (page, _):
        page.locator('input[name="with"]').nth(1).fill("gpt2")
        page.locator('input[name="with"]').nth(1).press("Enter")
        page.locator("form.compared button").click()
        page.wait_for_url("**with=gpt2**")
        text = page.inner_text("#answer")
        assert f"{weighbridge.count('gpt2').unique:,}" in text
        assert "+14,957,568" in text
        page.locator("nav .language").click()
        assert f"{weighbridge.count('gpt2').unique:,}" in page.inner_text("#answer")


def test_a_report_is_opened_offline(opened: Opened, tmp_path: Path) -> None:
    from weighbridge.cli import main

    path = tmp_path / "report.html"
    assert main(["report", "bert-base-chinese", "-o", str(path)]) == 0
    with opened(path.as_uri(), width=390, offline=True) as (page, _):
        assert "102,267,648" in page.inner_text("h1")
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert_fits(page)
            assert_nothing_serious(page)
        first = page.locator("details").first
        first.locator("summary").first.click()
        assert first.get_attribute("open") is None


def test_the_watch_sees_what_would_leave_this_machine(opened: Opened) -> None:
    def ask(page: Page) -> None:
        page.evaluate("() => { new Image().src = 'http://example.invalid/x.png'; }")
        page.wait_for_timeout(200)

    def visit() -> None:
        with opened("/api", expected=("Content Security Policy",)) as (page, _):
            ask(page)

    with pytest.raises(AssertionError, match=re.escape("requests left this machine: ['http://example.invalid/x.png']")):
        visit()
