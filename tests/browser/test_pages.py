"""Every page in both languages, both themes, on a phone and a desktop: nothing overflows, nothing serious for axe."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import SCREENS, Opened

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGES = {
    "model": "/model?source=bert-base-uncased",
    "experts": "/model?source=deepseek_v3&module=layers%5B3%5D",
    "compare": "/compare?with=bert-base-uncased&with=bert-large-uncased&with=gpt2",
    "explain": "/explain?source=bert-base-chinese",
    "audit": "/audit",
    "models": "/models?filter=albert",
    "design": "/design",
    "quiz": "/quiz?level=layer&seed=2&answer=7,084,800",
    "api": "/api",
    "failed": "/model?source=no-such-model",
}
ARTICLE = """BERT-base: V = 30522, H = 768, L = 12.
Token embedding: 30522 × 768 = 23,449,856
Position: 512 × 768 = 393,216
Embeddings: 23,449,856 + 393,216 = 23,843,072
Twelve layers: 12 × 7,087,872 = 85,054,464
"""


PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}


WIDTHS = (390, 1280)
"""A phone and a desktop."""


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_looks_as_it_should(opened: Opened, name: str, language: str) -> None:
    """Loaded on a phone, which is then turned into a desktop: what a page sets up, it sets up for every width."""
    address = f"{PAGES[name]}{'&' if '?' in PAGES[name] else '?'}lang={language}"
    with opened(address, width=WIDTHS[0], expected=("404",) if name == "failed" else ()) as (page, _):
        if name == "audit":
            page.fill("#text", ARTICLE)
            page.click("form.article button")
            page.wait_for_selector(".lines")
            page.wait_for_load_state("load")  # the answer is another page: its style may come after its first lines
        assert page.locator("h1").count() == 1
        for width, theme in product(WIDTHS, PAPER):
            page.set_viewport_size({"width": width, "height": 844 if width < 500 else 900})
            page.emulate_media(color_scheme=theme)
            assert_fits(page)
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == PAPER[theme]
            if SCREENS:
                page.screenshot(path=Path(SCREENS, f"{name}-{language}-{theme}-{width}.png"), full_page=True)
            if (language == "en" and (theme, width) != ("dark", 390)) or (theme, width) == ("light", 1280):
                # a theme changes nothing but colours, and these no more on a phone
                assert_nothing_serious(page, rules=COLOURS if theme == "dark" else ())


def test_a_wide_screen(opened: Opened) -> None:
    with opened("/model?source=bert-base-uncased", width=2560) as (page, _):
        assert_fits(page)
        assert page.locator("main").bounding_box()["width"] < 1500


def test_what_axe_would_find_is_found(opened: Opened) -> None:
    with opened("/api") as (page, _):
        page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=\"data:,\"><input><button></button>')")
        with pytest.raises(AssertionError, match="button-name"):
            assert_nothing_serious(page)


def assert_fits(page: Page) -> None:
    """Nothing sticks out sideways: one never scrolls a page to the right."""
    over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert over <= 0, f"the page is {over} pixels too wide"


COLOURS = ("color-contrast", "link-in-text-block")
"""Axe-core's rules that look at colours."""


def assert_nothing_serious(page: Page, rules: Sequence[str] = ()) -> None:
    """Axe-core, from its package, finds nothing serious by some of its rules, or by all; it is run from outside, past the page's own policy."""
    if find_spec("axe_playwright_python") is None:
        pytest.skip("the extra browser is not installed: no axe-core")
    if not page.evaluate("'axe' in window"):
        page.evaluate(f"() => {{ {axe()}\n window.axe = axe; }}")
    asked = {"resultTypes": ["violations"], **({"runOnly": {"type": "rule", "values": list(rules)}} if rules else {})}
    found: dict[str, Any] = page.evaluate("async asked => await axe.run(document, asked)", asked)
    serious = {
        violation["id"]: [node["html"][:160] for node in violation["nodes"][:3]]
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    }
    assert not serious, serious


@cache
def axe() -> str:
    """Return axe-core."""
    import axe_playwright_python

    return (Path(str(axe_playwright_python.__file__)).parent / "axe.min.js").read_text("utf-8")
