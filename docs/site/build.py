"""Write the pages of each language and build them with Sphinx, without a network; a warning is an error. ``scripts/site`` runs it."""

from __future__ import annotations

import sys
from pathlib import Path

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
    print(f"{target}/en/index.html, {target}/zh/index.html")
    return 0


_SPHINX = {"en": "en", "zh": "zh_CN"}

if __name__ == "__main__":
    sys.exit(site(Path(sys.argv[1]).resolve()))
