"""The page under the hand of somebody who does not know it: what is touched first, what goes wrong, what is read at a glance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import weighbridge
from tests.browser.conftest import Opened
from tests.browser.test_pages import assert_fits, assert_nothing_serious
from tests.browser.test_use import BERT, assert_total, settle, unique_text
from tests.unit import safetensors_file
from weighbridge.documents.roles import ROLES

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
        page.reload()
        assert "mine.safetensors was dropped" in page.inner_text(".choose")


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


@pytest.mark.parametrize("width", [390, 1280])
def test_the_total_stays_in_view(opened: Opened, width: int) -> None:
    with opened(BERT, width=width) as (page, _):
        page.locator('[data-for="f-vocab_size"]').scroll_into_view_if_needed()
        page.evaluate("window.scrollTo(0, document.body.scrollHeight * 0.6)")
        page.wait_for_timeout(100)
        box = page.locator("#total").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 200


def test_paste_and_drop_are_seen_at_once_and_the_answer_comes_before_the_sliders_on_a_phone(opened: Opened) -> None:
    for width, height in ((1280, 900), (390, 844)):
        with opened(BERT, width=width) as (page, _):
            for place in (".paste summary", "#drop"):
                box = page.locator(place).bounding_box()
                assert box is not None
                assert box["y"] + box["height"] < height, (width, place)
    with opened(BERT, width=390) as (page, _):
        tops = [page.locator(place).first.bounding_box()["y"] for place in ("#total", ".treemap.narrow", "#sizes")]
        assert tops == sorted(tops)
        note = page.locator(".counts .note").first.bounding_box()
        assert note is not None
        assert note["width"] > 330, "what a count means has the whole line"


@pytest.mark.parametrize("source", ["deepseek-v3", "whisper-large-v3", "qwen3_vl_moe"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_formula_wraps(opened: Opened, source: str, width: int) -> None:
    with opened(f"/model?source={source}", width=width) as (page, _):
        settle(page)
        assert_fits(page)
        inside = page.evaluate("(() => { const box = document.querySelector('.formula'); return box.scrollWidth - box.clientWidth; })()")
        assert inside <= 1


def test_compare_prints_its_fifth_model(opened: Opened) -> None:
    names = ["bert-base-uncased", "deepseek-v3", "llama-3-8b", "gpt2", "whisper-large-v3"]
    with opened("/compare?" + "&".join(f"with={name}" for name in names)) as (page, _):
        bars = page.eval_on_selector_all(".size-bar rect", "found => found.map(one => one.getBoundingClientRect().width)")
        assert min(bars) > 1, "the smallest is seen beside the largest"
        assert "1 / 6,129" in page.inner_text(".bars")
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 720, "height": 1000})
        assert_fits(page)
        last = page.locator(".measures thead th").last.bounding_box()
        assert last is not None
        assert last["x"] + last["width"] <= 720
        broken = "found => found.filter(one => one.getClientRects().length > 1 || one.offsetHeight > 24).map(one => one.innerText)"
        assert page.eval_on_selector_all(".measures .less", broken) == [], "a number stands in one line"


def test_nested_configs_have_sizes_to_compare(opened: Opened) -> None:
    with opened("/compare?with=llama-3-8b&with=llava-1.5-7b") as (page, _):
        row = page.locator(".measures tr", has_text="hidden size").first.inner_text()
        assert "–" not in row, row


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


def test_switches_are_seen_in_forced_colours(opened: Opened) -> None:
    with opened(BERT, forced_colors="active") as (page, _):
        look = "getComputedStyle(document.querySelector('.switch input[type=checkbox]')).appearance"
        assert page.evaluate(look) == "auto"


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


def test_header_and_content_have_the_same_edges(opened: Opened) -> None:
    for address in (BERT, "/explain", "/audit", "/api", "/quiz", "/models"):
        for width in (1280, 1800):
            with opened(address, width=width) as (page, _):
                edges = page.evaluate(
                    """() => { const range = document.querySelector('header .name').getBoundingClientRect().left;
                    const last = document.querySelector('nav .language').getBoundingClientRect().right;
                    const box = document.querySelector('main').getBoundingClientRect(), pad = parseFloat(getComputedStyle(document.querySelector('main')).paddingLeft);
                    return [range - (box.left + pad), last - (box.right - pad)]; }"""
                )
                assert all(abs(edge) < 2 for edge in edges), (address, width, edges)


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


def test_a_role_has_one_colour_everywhere(opened: Opened, tmp_path: Path) -> None:
    from weighbridge.cli import main

    report = tmp_path / "report.html"
    assert main(["report", "bert-base-uncased", "-o", str(report)]) == 0
    for theme, place in (("light", 1), ("dark", 2)):
        seen = []
        for address, mark in (
            (BERT, ".roles .role-attention"),
            ("/compare", ".made-of .role-attention"),
            (report.as_uri(), ".legend .role-attention"),
        ):
            with opened(address, theme=theme) as (page, _):
                seen.append(page.evaluate("mark => getComputedStyle(document.querySelector(mark)).fill", mark))
        expected = tuple(int(ROLES["attention"][place][index : index + 2], 16) for index in (1, 3, 5))
        assert seen == [f"rgb{expected}".replace("'", "")] * 3


def test_row_cell_and_term_light_together(opened: Opened) -> None:
    with opened(BERT) as (page, _):
        settle(page)
        page.locator('.treemap.wide rect[data-place="embeddings"]').hover(position={"x": 4, "y": 4})
        page.wait_for_selector("#tip:not([hidden])")
        tip = page.inner_text("#tip")
        assert "embeddings" in tip
        assert "23,837,184" in tip
        assert "V × H + S × H + T × H + 2 × H" in tip
        lit = page.eval_on_selector_all(".lit", "found => found.map(one => one.nodeName)")
        assert {"TR", "rect", "P"} <= {name if name != "path" else "rect" for name in lit}
        page.mouse.move(5, 5)
        assert page.locator("#tip").is_hidden()
        page.locator(".treemap.wide a[tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_selector("#tip:not([hidden])")


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


@pytest.mark.parametrize("width", [390, 720])
def test_equations_of_a_derivation_wrap_on_paper_and_on_a_phone(opened: Opened, width: int) -> None:
    with opened("/explain?source=deepseek-v3", width=width) as (page, _):
        assert_fits(page)
        page.emulate_media(media="print")
        assert_fits(page)
        over = page.evaluate("[...document.querySelectorAll('.equation')].filter(one => one.scrollWidth > one.clientWidth + 1).length")
        assert over == 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_five_models_fit_a_phone(opened: Opened, language: str) -> None:
    names = ["bert-base-uncased", "deepseek-v3", "llama-3-8b", "gpt2", "whisper-large-v3"]
    with opened("/compare?" + "&".join(f"with={name}" for name in names) + f"&lang={language}", width=390) as (page, _):
        assert_fits(page)


@pytest.mark.parametrize("names", ["bert-base-uncased bert-large-uncased", "llama-3-8b qwen3-30b-a3b"])
def test_names_of_fields_break_between_their_words_on_a_phone(opened: Opened, names: str) -> None:
    """What explains a model: a line may end after an underscore or before a capital, never inside a word."""
    with opened("/compare?" + "&".join(f"with={name}" for name in names.split()), width=390) as (page, _):
        assert_fits(page)
        lines = page.evaluate(
            """[...document.querySelectorAll('.derivation td.text')].flatMap(cell => {
                const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
                for (let node; (node = walker.nextNode());)
                    for (const word of node.data.matchAll(/[A-Za-z]+/g)) {
                        const range = document.createRange();
                        range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
                        found.push([word[0], range.getClientRects().length]);
                    }
                return found;
            })"""
        )
        assert "hidden" in dict(lines)
        assert [word for word, rows in lines if rows > 1] == []


def test_an_exercise_that_a_model_has_not_leads_back(opened: Opened) -> None:
    with opened("/quiz?level=heads&source=bert-base-uncased", expected=("400",)) as (page, _):
        assert "no attention whose query heads share" in page.inner_text(".error")
        page.locator("#answer a", has_text="Exercises").click()
        page.wait_for_selector(".asked")
