"""How long a change takes from the key to the page, in a real Chromium: the total, and everything that hangs on it.

    python -m benchmarks.updates [MODELS ... | all]      (needs the extras web and browser, and Chromium: scripts/browser)

Each size of a model is changed in turn. Told are, in ms: from the key to the new total, table and pictures, laid out; from the
key to the formula, the counts and the arithmetic as well; and the processor time of one change on both sides, which hardly
depends on what else the machine does.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path
from typing import Any

from benchmarks.load import serve
from tests.browser.conftest import ARGUMENTS, chromium

MODELS = (
    "bert-base-uncased",
    "gpt2",
    "meta-llama/Llama-3.1-8B",
    "deepseek-ai/DeepSeek-V3",
    "qwen3_vl_moe",
    "openai/whisper-large-v3",
    "rt_detr_v2",
    "zamba2",
    "levit",
    "efficientnet-b7",
)
MOST = 12
CHANGE = """
async id => {
    const field = document.getElementById(id), total = document.querySelector('#total'), answer = document.querySelector('#answer');
    const before = total.textContent, start = performance.now();
    const until = (node, what, holds) => new Promise(done => {
        const watch = new MutationObserver(() => holds() && (watch.disconnect(), done(performance.now() - start)));
        watch.observe(node, what);
        setTimeout(() => (watch.disconnect(), done(null)), 5000);
    });
    const first = until(total, {childList: true, subtree: true, characterData: true}, () => total.textContent !== before);
    const all = until(answer, {attributes: true}, () => answer.getAttribute('aria-busy') === 'false');
    field.value = String(Number(field.value) + Number(document.querySelector(`[data-for="${CSS.escape(id)}"]`).step));
    field.dispatchEvent(new InputEvent('input', {bubbles: true}));
    const ended = await all;
    document.body.offsetHeight;
    const moved = total.textContent !== before;
    return [moved ? await first : null, ended];
}
"""


def main() -> int:
    """Change every size of each model, and tell the medians and the slowest."""
    from playwright.sync_api import sync_playwright

    from weighbridge.presets import presets

    names = sys.argv[1:] or list(MODELS)
    if names == ["all"]:
        names = [preset.name for preset in presets()]
    firsts, alls = [], []
    with serve() as (base, process), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = browser.new_page()
        print(f"load of the machine {os.getloadavg()[0]:.1f}")
        for name in names:
            first, every, (here, there) = change(page, f"{base}model?source={name}", process)
            firsts += first
            alls += every
            if first:
                print(
                    f"{name:40} total {median_and_largest(first)}   all {median_and_largest(every)}   processor: server {here:3.0f} ms, page {there:3.0f} ms"
                )
        browser.close()
    print(f"{'of all':40} total {median_and_largest(firsts)}   all {median_and_largest(alls)}   load {os.getloadavg()[0]:.1f}")
    return 0


def change(page: Any, address: str, process: int) -> tuple[list[float], list[float], tuple[float, float]]:
    """Change the sizes of one model, and return the delays and the processor time of one change, the server's and the page's."""
    page.goto(address)
    fields = page.eval_on_selector_all(".size input[type=number]", "all => all.map(field => field.id)")[:MOST]
    if not fields:
        return [], [], (0, 0)
    page.evaluate(CHANGE, fields[0])
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    before = processor(process), renderer(session)
    found = [page.evaluate(CHANGE, field) for field in fields]
    spent = (processor(process) - before[0]) / len(fields), (renderer(session) - before[1]) / len(fields)
    return [first for first, _ in found if first is not None], [every for first, every in found if first is not None], spent


def median_and_largest(delays: list[float]) -> str:
    """Write the median and the largest."""
    return f"{statistics.median(delays):4.0f} ms, slowest {max(delays):4.0f} ms" if delays else "-"


def processor(process: int) -> float:
    """Return the processor time of a process in ms (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def renderer(session: Any) -> float:
    """Return the processor time of the page's process in ms."""
    return 1000 * next(entry["value"] for entry in session.send("Performance.getMetrics")["metrics"] if entry["name"] == "ProcessTime")


if __name__ == "__main__":
    sys.exit(main())
