"""How the page looks: widths and wraps, edges, colours, phones and paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import Opened
from tests.browser.test_pages import assert_fits
from tests.browser.test_use import BERT, settle
from weighbridge.documents.roles import ROLES


@pytest.mark.parametrize("width", [390, 1280])
def test_the_total_stays_in_view(opened: Opened, width: int) -> None:
    with opened(BERT, width=width) as (page, _):
        page.locator('[data-for="f-vocab_size"]').scroll_into_view_if_needed()
        page.evaluate("window.scrollTo(0, document.body.scrollHeight * 0.6)")
        page.wait_for_timeout(100)
        box = page.locator("#total").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 200


@pytest.mark.parametrize("width", [390, 1280])
def test_links_lead_to_each_section_below_the_total(opened: Opened, width: int) -> None:
    with opened(BERT, width=width) as (page, _):
        settle(page)
        page.wait_for_selector("#costs table")
        links = [link for link in page.locator(".jump a").all() if link.is_visible()]
        assert len(links) == (6 if width == 390 else 5)
        for link in links:
            address = str(link.get_attribute("href"))
            link.click()
            place, total = page.locator(address).bounding_box(), page.locator("#total").bounding_box()
            assert place is not None
            assert total is not None
            assert total["y"] + total["height"] - 1 <= place["y"] < 900, address


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


def test_a_tablet_has_the_wide_picture_and_the_shapes(opened: Opened) -> None:
    with opened(BERT, width=768) as (page, _):
        assert page.locator(".treemap.wide").is_visible()
        assert page.locator(".treemap.narrow").is_hidden()
        assert page.locator(".tree .shape").first.is_visible()
        assert_fits(page)


def test_the_bar_of_a_module_shows_its_roles(opened: Opened) -> None:
    with opened("/model?source=qwen2.5-vl-7b") as (page, _):
        pieces = page.locator('tr[data-place="model"] .bar rect')
        assert [piece.get_attribute("class") for piece in pieces.all()][:3] == ["role-embedding", "role-attention", "role-mlp"]
        width = sum(float(piece.get_attribute("width") or 0) for piece in pieces.all())
        assert abs(width - 93.4) < 0.1, "together they are its share"
        letters = page.eval_on_selector_all(".size .letter", "found => found.map(one => one.innerText)")
        assert len(letters) == len(set(letters)), "the heads of the vision tower are not those of the text"


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


def test_switches_are_seen_in_forced_colours(opened: Opened) -> None:
    with opened(BERT, colours="active") as (page, _):
        look = "getComputedStyle(document.querySelector('.switch input[type=checkbox]')).appearance"
        assert page.evaluate(look) == "auto"


def test_header_and_content_have_the_same_edges(opened: Opened) -> None:
    for address in (BERT, "/explain", "/audit", "/api", "/quiz", "/models"):
        with opened(address) as (page, _):
            for width in (1280, 1800):
                page.set_viewport_size({"width": width, "height": 900})
                edges = page.evaluate(
                    """() => { const range = document.querySelector('header .name').getBoundingClientRect().left;
                    const last = document.querySelector('nav .language').getBoundingClientRect().right;
                    const box = document.querySelector('main').getBoundingClientRect(), pad = parseFloat(getComputedStyle(document.querySelector('main')).paddingLeft);
                    return [range - (box.left + pad), last - (box.right - pad)]; }"""
                )
                assert all(abs(edge) < 2 for edge in edges), (address, width, edges)


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
