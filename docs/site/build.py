"""Write the pages of each language and build them with Sphinx, without a network; a warning or a dead link is an error. ``scripts/site`` runs it."""

from __future__ import annotations

import sys
from pathlib import Path

from links import faults
from pages import LANGUAGES, sources
from sphinx.cmd.build import main as build

HERE = Path(__file__).resolve().parent


def site(target: Path) -> int:
    """Build the site into a folder, each language in a folder of its own; return the exit code."""
    for lang in LANGUAGES:
        source = target / "source" / lang
        pages = set()
        for name, text in sources(lang):
            path = source / f"{name}.md"
            pages.add(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text("utf-8") != text:
                path.write_text(text, "utf-8")
        for stale in set(source.rglob("*.md")) - pages:
            stale.unlink()
        for picture in [*HERE.parent.glob("*.svg"), *HERE.parent.glob("*.png")]:
            (source / picture.name).write_bytes(picture.read_bytes())
        code = build(["-q", "-W", "--keep-going", "-c", str(HERE), "-D", f"language={_SPHINX[lang]}", str(source), str(target / lang)])
        if code:
            return code
    (target / "index.html").write_text(START, "utf-8")
    found = faults(target, LANGUAGES)
    if found:
        print("\n".join(found), file=sys.stderr)
        return 1
    print(f"{target}/index.html, which leads to en/index.html and zh/index.html")
    return 0


START = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Weighbridge</title>
<p><a href="en/index.html" hreflang="en">English</a> · <a href="zh/index.html" lang="zh" hreflang="zh">中文</a></p></html>
"""

_SPHINX = {"en": "en", "zh": "zh_CN"}

if __name__ == "__main__":
    sys.exit(site(Path(sys.argv[1]).resolve()))
