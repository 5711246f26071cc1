"""What a visitor waits for: first paint and weight of the pages, in a real Chromium.

python -m benchmarks.paint          (needs the extras web and browser, and Chromium: scripts/browser)
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

from benchmarks.load import serve
from tests.browser.conftest import ARGUMENTS, chromium

PAGES = ("model?source=bert-base-uncased", "model?source=deepseek_v3", "compare", "explain", "audit", "api")
TIMES = 7
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
WEIGHT = "performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource')).reduce((sum, e) => sum + e.transferSize, 0)"


def main() -> int:
    """Visit each page with an empty cache, several times, and tell the medians."""
    from playwright.sync_api import sync_playwright

    with serve() as (base, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        for name in PAGES:
            visits = [visit(browser, base + name) for _ in range(TIMES)]
            paint = statistics.median(paint for paint, _ in visits)
            print(f"{name:40} first paint {paint:4.0f} ms, {visits[0][1] / 1000:.1f} kB")
        browser.close()
    return 0


def visit(browser: Any, address: str) -> tuple[float, int]:
    """Return when something was first painted, in ms, and how many bytes came."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address, wait_until="load")
    page.wait_for_timeout(400)
    found = page.evaluate(PAINT), page.evaluate(WEIGHT)
    context.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
