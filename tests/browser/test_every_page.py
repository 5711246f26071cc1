"""Every page with colours of the reader's choosing, and by keyboard alone, on a phone and a desktop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Opened
from tests.browser.test_pages import PAGES, WIDTHS, assert_fits

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOST_STOPS = 400
"""Tab stops after which a page is taken for one that does not let go."""

UNSEEN = """[...document.querySelectorAll('button, input, select, textarea, summary, a[href], [role=button]')]
.filter(one => one.getClientRects().length && one.type !== 'hidden' && getComputedStyle(one).visibility === 'visible' && !one.closest('svg'))
.filter(one => {
  const style = getComputedStyle(one);
  if (one.matches('input, select, textarea')) return style.appearance === 'none' && style.borderTopStyle === 'none';
  return !one.innerText.trim() && !one.getAttribute('aria-label') && style.borderTopStyle === 'none';
}).map(one => one.outerHTML.slice(0, 120))"""
"""Controls that have neither a border, nor the system's own look, nor words."""

LIT = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const style = getComputedStyle(one), box = one.getBoundingClientRect();
  const lit = style.outlineStyle !== 'none' || style.boxShadow !== 'none' || style.strokeWidth !== '' && one.closest('svg') !== null;
  return [lit && box.width > 0 && box.height > 0, one.outerHTML.slice(0, 120)];
}"""


@pytest.mark.parametrize("name", PAGES)
def test_every_control_is_seen_in_forced_colours(opened: Opened, name: str) -> None:
    """Loaded on a phone, which is then turned into a desktop."""
    with opened(PAGES[name], width=WIDTHS[0], colours="active", expected=("404",) if name == "failed" else ()) as (page, _):
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844 if width < 500 else 900})
            assert page.evaluate("matchMedia('(forced-colors: active)').matches")
            assert page.evaluate(UNSEEN) == [], width
            assert_fits(page)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_walked_by_keyboard(opened: Opened, name: str) -> None:
    """Each stop of the Tab key is seen, each comes once, and the last lets go of the page; then again on a desktop."""
    with opened(PAGES[name], width=WIDTHS[0], expected=("404",) if name == "failed" else ()) as (page, _):
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844 if width < 500 else 900})
            stops = walk(page)
            assert len(stops) >= 3, width
            assert [html for lit, html in stops if not lit] == [], width


def test_a_stop_that_is_not_seen_is_found(opened: Opened) -> None:
    with opened("/api") as (page, _):
        page.evaluate("document.styleSheets[0].insertRule('a:focus { outline: none !important; box-shadow: none !important }')")
        assert [html for lit, html in walk(page) if not lit]


def walk(page: Page) -> list[tuple[bool, str]]:
    """Press Tab until the page lets go; return for each stop whether it is seen, and what it is."""
    stops: list[tuple[bool, str]] = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        found = page.evaluate(LIT)
        if found is None:
            return stops
        stops.append((bool(found[0]), str(found[1])))
    raise AssertionError(f"after {MOST_STOPS} stops the page has not let go: {stops[-3:]}")
