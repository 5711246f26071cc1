"""The documentation: every command, option and public name has its place, every link leads somewhere, and the site builds without a warning."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import weighbridge
from weighbridge.blueprints import MODULES
from weighbridge.commands.table import TABLE
from weighbridge.readers import FORMATS

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "site"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    sys.path.insert(0, str(SITE))  # its other files are found beside it, as when it runs as a script
    spec = spec_from_file_location("site_pages", SITE / "pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_command_and_option_has_its_page(pages: ModuleType, lang: str) -> None:
    for command in TABLE:
        page = pages.command_page(command.name, lang)
        assert f"weigh {command.name}" in page
        for option in command.module.OPTIONS:
            assert (option.switch or option.metavar) in page


def test_every_public_name_is_documented(pages: ModuleType) -> None:
    page = pages.python_page()
    for name in weighbridge.__all__:
        assert f"\n## {name}\n" in page
        assert (getattr(weighbridge, name).__doc__ or "").strip() or name.startswith("__"), name


def test_an_architecture_has_its_page_in_both_languages(pages: ModuleType) -> None:
    english, chinese = (pages.architecture_page("bert", lang) for lang in ("en", "zh"))
    assert "109,482,240" in english
    assert "109,482,240" in chinese
    assert "结构树" in chinese


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_format_and_every_schema_has_its_page(pages: ModuleType, lang: str) -> None:
    found = dict(pages.format_pages(lang))
    described = {module for page in pages.FORMATS for module in page.modules}
    assert {fmt.module for fmt in FORMATS} - described == {"legacy", "zip_archive"}, "what is refused, and what leads to another format"
    assert all(page.title in found[page.name] for page in pages.FORMATS)
    assert "15" in found["numpy"]
    for path in pages.SCHEMAS:
        assert f'"title": "weigh {path.stem} --json"' in pages.schema_page(path, lang)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_list_of_architectures_has_every_one(pages: ModuleType, lang: str) -> None:
    listed = re.findall(r"\]\((.+?)\.md\)", pages.architectures_page(lang))
    assert sorted(listed) == sorted(MODULES)


def test_an_architecture_has_a_diagram_with_its_layers_in_a_frame(pages: ModuleType) -> None:
    drawn = pages.diagram(weighbridge.model("bert-base-uncased").explain(), str)
    assert "× 12" in drawn
    assert drawn.count("<rect") == 6
    assert 'stroke-dasharray="4 3"' in drawn


def test_every_chinese_page_is_in_the_site(pages: ModuleType) -> None:
    listed = {name for group in pages.CHINESE_GROUPS.values() for name in group} | set(pages.CHINESE.values())
    assert {page.stem for page in (ROOT / "docs" / "zh").glob("*.md")} == (listed - {"glossary", *pages.GENERATED}) | {"json", "formats"}


def test_both_languages_have_the_same_pages(pages: ModuleType) -> None:
    english, chinese = (dict(pages.handwritten_pages(lang)) for lang in ("en", "zh"))
    assert english.keys() == chinese.keys()
    assert '<a href="../zh/index.html">中文说明</a>' in english["index"]
    assert '<a href="../en/index.html">English</a>' in chinese["index"]


def test_what_a_script_writes_is_said_in_chinese(pages: ModuleType) -> None:
    for name in ("accuracy", "coverage", "census-report"):
        lines = pages.in_chinese((ROOT / "docs" / f"{name}.md").read_text("utf-8")).split("\n")
        prose = [line for line in lines if not line.startswith("|") and re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", line)]
        assert prose == [], f"docs/site/chinese.py has no Chinese for a sentence of {name}.md"


def test_links_that_lead_nowhere_are_found(pages: ModuleType, tmp_path: Path) -> None:
    from links import faults  # type: ignore[import-not-found]  # docs/site is on the path since pages was loaded

    (tmp_path / "en").mkdir()
    (tmp_path / "index.html").write_text('<a href="en/index.html">', "utf-8")
    (tmp_path / "en" / "index.html").write_text('<a href="#here"><p id="here"><a href="gone.html"><a href="far.html#there">', "utf-8")
    (tmp_path / "en" / "far.html").write_text('<a href="index.html#here"><a href="https://example.org/">', "utf-8")
    (tmp_path / "en" / "alone.html").write_text("", "utf-8")
    assert faults(tmp_path, ("en",)) == [
        "en/index.html: nothing stands at en/far.html#there",
        "en/index.html: nothing stands at en/gone.html",
        "en/alone.html: no page leads here",
    ]


def test_every_page_is_in_the_site(pages: ModuleType) -> None:
    known = {name for group in pages.GROUPS.values() for name in group} | {"json", "formats", "index"}
    for page in (ROOT / "docs").glob("*.md"):
        assert page.stem.removesuffix(".zh") in known, f"{page.name}: name it in GROUPS of docs/site/pages.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.S | re.M)
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
        if not re.match(r"[a-z]+:", target) and not target.startswith("#"):
            assert (page.parent / target.partition("#")[0]).exists(), target


def figures(text: str) -> set[str]:
    return set(re.findall(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?!,?\d)", text))


def test_the_readmes_have_the_same_figures() -> None:
    english, chinese = ((ROOT / name).read_text("utf-8") for name in ("README.md", "README.zh.md"))
    assert figures(english) == figures(chinese)
    assert len(figures(english)) > 10


TRANSLATED = """census checkpoints completion counting-rules design explain fits internals json models parallel quiz report serve speed why""".split()
"""Pages whose Chinese says all that the English says."""


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_chinese_page_has_the_figures_of_the_english(name: str) -> None:
    english, chinese = (ROOT / "docs" / f"{name}.md").read_text("utf-8"), (ROOT / "docs" / "zh" / f"{name}.md").read_text("utf-8")
    assert figures(english) - figures(chinese) == set()
    headings = [len(re.findall(r"^## ", text, re.M)) for text in (english, chinese)]
    assert headings[0] == headings[1]
    assert english.count("\n|") == chinese.count("\n|"), "rows of tables"


def test_a_chinese_tutorial_has_the_figures_and_commands_of_the_english(pages: ModuleType) -> None:
    for name, file in pages.CHINESE.items():
        english = (ROOT / "docs" / "tutorials" / f"{name}.md").read_text("utf-8")
        chinese = (ROOT / "docs" / "zh" / f"{file}.md").read_text("utf-8")
        assert figures(english) - figures(chinese) == set(), name
        commands = [re.findall(r"^\$ (weigh .*?)(?: --lang zh)?$", text, re.M) for text in (english, chinese)]
        assert commands[0] == commands[1], name


@pytest.mark.sweep
@pytest.mark.skipif(find_spec("sphinx") is None or find_spec("furo") is None, reason="the extra docs is not installed")
def test_the_site_builds_without_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_ARCHITECTURES", "bert,llama")
    subprocess.run([sys.executable, str(SITE / "build.py"), str(tmp_path)], check=True)
    assert (tmp_path / "zh" / "reference" / "commands" / "count.html").exists()
    index = json.loads((tmp_path / "zh" / "searchindex.js").read_text("utf-8").partition("(")[2].rpartition(")")[0])
    assert 'href="../../../en/reference/commands/count.html"' in (tmp_path / "zh" / "reference" / "commands" / "count.html").read_text(
        "utf-8"
    )
    assert {"参数", "注意", "意力", "量"} <= set(index["terms"])
    assert "splitQuery" in (tmp_path / "zh" / "_static" / "language_data.js").read_text("utf-8")


def test_the_chinese_of_a_page_that_a_script_writes_has_its_figures(pages: ModuleType) -> None:
    for name in pages.GENERATED:
        english = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
        chinese = pages.in_chinese(english)
        assert figures(english) == figures(chinese)
        assert english.count("\n|") == chinese.count("\n|")
        assert re.match(r"# [^\x00-\x7f]", chinese), "its title at least"
