"""The pages of the documentation site: those that are written, and those that are made from the code.

Made are: a page for each command (from the table that its parser and help are made from), the public names of Python (from their docstrings),
and a page for each architecture (tree, formula, counts of its classes), all of them in English and in Chinese.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from chinese import GENERATED, in_chinese
from diagram import diagram
from formats import PAGES as FORMATS
from formats import format_pages

import weighbridge
from weighbridge import ConfigError, UsageError, model
from weighbridge.blueprints import MODULES, family
from weighbridge.commands import help as helping
from weighbridge.commands.table import TABLE
from weighbridge.core.messages import translator
from weighbridge.documents import count as counted
from weighbridge.documents.renderers import render
from weighbridge.documents.renderers.wrapping import JOINT, break_formula

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LANGUAGES = ("en", "zh")
GROUPS = {
    "Tutorials": ("tutorials/bert-by-hand", "tutorials/seventy-billion", "tutorials/model-card-in-ci", "tutorials/fine-tuning",
                  "tutorials/design-100m", "tutorials/census", "tutorial-sentiment"),
    "How to": ("checkpoints", "adapters", "costs", "fits", "parallel", "design", "census", "report", "serve", "security", "quiz", "models", "completion"),
    "Concepts": ("counting-rules", "built-and-loaded", "other-libraries", "explain", "audit", "glossary"),
    "Why, and how good": ("why", "accuracy", "coverage", "speed", "census-report"),
    "Inside": ("internals", "modules", "contributing"),
}  # fmt: skip
CHINESE = {name: name for name in ("bert-by-hand", "seventy-billion", "model-card-in-ci", "fine-tuning", "design-100m")} | {
    "census": "tutorial-census"
}
"""The Chinese tutorials, each with its file in docs/zh."""
SCHEMAS = sorted((DOCS / "schemas").glob("*.json"))
CHINESE_GROUPS = {
    "怎样做": (
        "checkpoints",
        "adapters",
        "costs",
        "fits",
        "parallel",
        "design",
        "census",
        "report",
        "serve",
        "security",
        "quiz",
        "models",
        "completion",
    ),
    "概念": ("counting-rules", "built-and-loaded", "other-libraries", "explain", "audit", "glossary"),
    "为什么，有多好": ("why", "accuracy", "coverage", "speed", "census-report"),
    "内部": ("internals", "modules", "contributing"),
}
"""The Chinese pages beside the tutorials, in docs/zh."""
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
MOVED = {"README.md": "index.md", "README.zh.md": "index.md", "CONTRIBUTING.md": "contributing.md"}


def sources(lang: str) -> Iterator[tuple[str, str]]:
    """Yield every page of a language: its path without ending, and its Markdown."""
    for name, text in handwritten_pages(lang):
        yield name, join_lines(text) if lang == "zh" else text
    yield "reference/commands/index", index(_COMMANDS[lang], [command.name for command in TABLE])
    for command in TABLE:
        yield f"reference/commands/{command.name}", command_page(command.name, lang)
    yield "reference/architectures/index", architectures_page(lang)
    for model_type in architectures():
        yield f"reference/architectures/{model_type}", ORPHAN + architecture_page(model_type, lang)
    yield "reference/formats/index", index(_FORMATS[lang], [page.name for page in FORMATS])
    for name, text in format_pages(lang):
        yield f"reference/formats/{name}", text
    yield "reference/json/index", index(_SCHEMAS[lang], [path.stem for path in SCHEMAS])
    for path in SCHEMAS:
        yield f"reference/json/{path.stem}", schema_page(path, lang)
    yield "reference/python", python_page(lang)


_COMMANDS = {"en": "Commands", "zh": "命令"}
_FORMATS = {"en": "Formats of checkpoints", "zh": "权重文件格式"}
_SCHEMAS = {"en": "JSON by command", "zh": "各命令的 JSON"}
ORPHAN = "---\norphan: true\n---\n\n"
"""Pages of architectures are linked from their list and found by searching; 800 of them at the side of every page made each page slow to build and to read."""
KINDS = {
    "decoders": ("Decoders", "解码器"),
    "mixtures": ("Mixtures of experts", "混合专家"),
    "state_space": ("State-space and recurrent models", "状态空间与循环模型"),
    "encoders": ("Encoders", "编码器"),
    "seq2seq": ("Encoder-decoders", "编码器-解码器"),
    "multimodal": ("Multimodal models", "多模态模型"),
    "vision": ("Vision", "视觉"),
    "detection": ("Detection and segmentation", "检测与分割"),
    "speech": ("Speech and audio", "语音与音频"),
    "series": ("Time series", "时间序列"),
    "remote": ("Models with code of their own", "自带代码的模型"),
    "packages": ("Models of other packages", "其他软件包的模型"),
}
"""The folders of blueprints, in the order of the list, with their titles in both languages."""


def handwritten_pages(lang: str) -> Iterator[tuple[str, str]]:
    """Yield the pages that people wrote."""
    if lang == "zh":
        reference = [
            "reference/commands/index",
            "reference/python",
            "json",
            "reference/json/index",
            "formats",
            "reference/formats/index",
            "reference/architectures/index",
        ]
        names = [*(f"tutorials/{name}" for name in CHINESE), "tutorial-sentiment"]
        start = (ROOT / "README.zh.md").read_text("utf-8").replace(" · [全部文档](docs/index.md)", "")
        yield (
            "index",
            chinese_links(start, ROOT)
            + toctree([("教程", names), *((title, list(pages)) for title, pages in CHINESE_GROUPS.items()), ("参考", reference)]),
        )
        for name in (
            "json",
            "formats",
            *(name for pages in CHINESE_GROUPS.values() for name in pages if name not in ("glossary", *GENERATED)),
        ):
            yield name, chinese_links((DOCS / "zh" / f"{name}.md").read_text("utf-8"), DOCS / "zh")
        for name in GENERATED:
            yield name, in_chinese((DOCS / f"{name}.md").read_text("utf-8"))
        for name in CHINESE:
            yield f"tutorials/{name}", chinese_links((DOCS / "zh" / f"{CHINESE[name]}.md").read_text("utf-8"), DOCS / "zh", "tutorials")
        yield "tutorial-sentiment", plain_links((DOCS / "tutorial-sentiment.zh.md").read_text("utf-8"), DOCS, set())
        yield "glossary", plain_links((DOCS / "glossary.md").read_text("utf-8"), DOCS, set()).replace("# Glossary", "# 术语表", 1)
        return
    known = {name for group in GROUPS.values() for name in group} | {"json", "formats"}
    reference = [
        "reference/commands/index",
        "reference/python",
        "json",
        "reference/json/index",
        "formats",
        "reference/formats/index",
        "reference/architectures/index",
    ]
    groups = [(title, list(names)) for title, names in GROUPS.items()]
    groups.insert(3, ("Reference", reference))
    start = (ROOT / "README.md").read_text("utf-8")
    yield "index", plain_links(start.replace(" · [All pages](docs/index.md)", ""), ROOT, known) + toctree(groups)
    for name in sorted(known - {"contributing"}):
        page = DOCS / f"{name}.md"
        yield name, plain_links(page.read_text("utf-8"), page.parent, known)
    yield "contributing", plain_links((ROOT / "CONTRIBUTING.md").read_text("utf-8"), ROOT, known)


ACROSS = {
    ROOT / "README.md": "en/index",
    ROOT / "README.zh.md": "zh/index",
    DOCS / "tutorial-sentiment.md": "en/tutorial-sentiment",
    DOCS / "tutorial-sentiment.zh.md": "zh/tutorial-sentiment",
}
"""Pages that a page links to in the other language, whose folder stands beside its own."""


def across(words: str, path: Path) -> str:
    """Return a link to a page of the other language, where the words of a link name a language; else nothing.

    >>> across("English", ROOT / "README.md")
    '<a href="../en/index.html">English</a>'
    """
    return f'<a href="../{ACROSS[path]}.html">{words}</a>' if words in ("English", "中文", "中文说明") and path in ACROSS else ""


def join_lines(text: str) -> str:
    """Join the lines of Chinese paragraphs: a browser would set a blank between them, where Chinese has none.

    >>> join_lines("公式、\\n代入。\\n- 一项")
    '公式、代入。\\n- 一项'
    """
    lines: list[str] = []
    code = False
    for line in text.split("\n"):
        before = lines[-1] if lines else ""
        if line.startswith("```"):
            code = not code
        elif not code and _ENDS.search(before) and _BEGINS.match(line) and not before.startswith(("#", "|", "    ", "```")):
            lines[-1] = before + line.lstrip()
            continue
        lines.append(line)
    return "\n".join(lines)


_ENDS = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]$")
_BEGINS = re.compile(r" {0,3}[\u4e00-\u9fff\u3008-\u3011\uff08“‘]")


def relink_all(text: str, folder: Path, relink: Callable[[str, Path, str], str]) -> str:
    """Write the links of a page in *folder* anew by their words, the file they lead to, and the anchor in it; addresses stay as they are."""

    def write_link(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        if re.match(r"[a-z]+:", target):
            return found[0]
        path = (folder / target).resolve()
        return across(words, path) or relink(words, path, anchor)

    return LINK.sub(write_link, text)


def plain_links(text: str, folder: Path, known: set[str]) -> str:
    """Keep links to pages of the site and to addresses; a link to any other file becomes its words."""

    def relink(words: str, path: Path, anchor: str) -> str:
        name = MOVED.get(path.name) or (path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else "")
        if name.removesuffix(".md") not in known | {"index"} or not known:
            return words
        here = folder.relative_to(DOCS).as_posix() if folder.is_relative_to(DOCS) else "."
        return f"[{words}]({os.path.relpath(name, here)}{anchor})"

    return re.sub(r"(!\[[^\]]*\]\()docs/", r"\1", relink_all(text, folder, relink))


def chinese_links(text: str, folder: Path, here: str = ".") -> str:
    """Keep the links of a Chinese page to others of its language and to addresses; a link to any other file becomes its words."""
    pages = {name for group in CHINESE_GROUPS.values() for name in group} | {"json", "formats"}

    def relink(words: str, path: Path, anchor: str) -> str:
        tutorials = {file: f"tutorials/{name}" for name, file in CHINESE.items()}
        name = tutorials.get(path.stem, path.stem) if path.parent == DOCS / "zh" else path.stem
        known = name.startswith("tutorials/") or (path.parent == DOCS / "zh" and name in pages) or path == DOCS / "glossary.md"
        if path.parent == DOCS and name in GENERATED:
            known = True
        return f"[{words}]({os.path.relpath(name, here)}.md{anchor})" if known else words

    return re.sub(r"(!\[[^\]]*\]\()(?:docs|\.\.)/", r"\1", relink_all(text, folder, relink))


def toctree(groups: list[tuple[str, list[str]]]) -> str:
    """Return the lists of pages at the side."""
    return "".join(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{chr(10).join(names)}\n```\n" for title, names in groups)


def index(title: str, names: list[str]) -> str:
    """Return a page that lists others."""
    return f"# {title}\n\n```{{toctree}}\n:maxdepth: 1\n\n{chr(10).join(names)}\n```\n"


def command_page(name: str, lang: str) -> str:
    """Return the page of one command: what its ``--help`` says."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100"
    try:
        return f"# weigh {name}\n\n```text\n{helping.page(name, lang)}```\n"
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def schema_page(path: Path, lang: str) -> str:
    """Return the page of one JSON answer: its version, what its keys are, and its schema."""
    schema = json.loads(path.read_text("utf-8"))
    words = {"en": ("Version", "JSON Schema"), "zh": ("版本", "JSON Schema")}[lang]
    command = path.stem
    page = DOCS / "json.md" if lang == "en" else DOCS / "zh" / "json.md"
    sections = re.split(r"^## ", page.read_text("utf-8"), flags=re.M)[1:]
    told = next((text.partition("\n")[2].strip() for text in sections if text.startswith(f"`weigh {command} ")), "")
    keys = plain_links(told, page.parent, set())
    return f"# weigh {command} --json\n\n{words[0]} {schema['version']}\n\n{keys}\n\n## {words[1]}\n\n```json\n{json.dumps(schema, indent=1)}\n```\n"


def architectures() -> list[str]:
    """Return the model types that have a page."""
    chosen = os.environ.get("WEIGHBRIDGE_ARCHITECTURES")
    return [name for name in MODULES if chosen is None or name in chosen.split(",")]


def architectures_page(lang: str) -> str:
    """Return the list of architectures, by kind."""
    title, lead = {
        "en": ("Architectures", "A page each: diagram, tree, formula, and the counts of all its classes."),
        "zh": ("模型架构", "每种一页：示意图、结构树、公式，以及各个类的参数量。"),
    }[lang]
    pieces = [f"# {title}\n\n{lead}\n"]
    for kind, titles in KINDS.items():
        here = [name for name in architectures() if MODULES[name].partition(".")[0] == kind]
        if here:
            pieces.append(f"## {titles[lang == 'zh']}\n\n" + " · ".join(f"[{name}]({name}.md)" for name in here) + "\n")
    return "\n".join(pieces)


def architecture_page(model_type: str, lang: str) -> str:
    """Return the page of one architecture, with the reference's own defaults: tree, formula, counts of its classes."""
    say = translator(lang)
    known = family(model_type)
    words = _WORDS[lang]
    rows = "".join(f"| `{name}` | {_count(model_type, name)} |\n" for name in known.classes)
    table = f"## {words['classes']}\n\n| {say('class')} | {say('parameters')} |\n|---|---:|\n{rows}"
    try:
        found = model({"model_type": model_type}, known.base)
        formula = found.formula()
    except ConfigError as error:
        return f"# {model_type}\n\n{words['needs']}: {error}\n\n{table}"
    tree = render(counted.document(found, lang=lang), "text", width=84)
    written = "\n".join(row.replace(JOINT, " ") for row in break_formula(formula.unicode, 84))
    symbols = "".join(
        f"| `{symbol.letter}` | `{symbol.key}` | {say(symbol.meaning)} | {formula.values[symbol.letter]:,} |\n"
        for symbol in formula.symbols
    )
    letters = f"| {say('symbol')} | {say('config key')} | {say('meaning')} | {say('value')} |\n|---|---|---|---:|\n{symbols}"
    return (
        f"# {model_type}\n\n{words['defaults']}\n\n{_diagram(found, lang)}## {words['tree']}\n\n```text\n{tree}```\n\n## {words['formula']}\n\n"
        f"```text\n{written}\n```\n\n{letters if symbols else ''}\n{table}"
    )


def _diagram(found: weighbridge.Model, lang: str) -> str:
    return f"```{{raw}} html\n{diagram(found.explain(lang), translator(lang))}\n```\n\n"


_WORDS = {
    "en": {
        "classes": "Classes",
        "needs": "The reference's own defaults build no model",
        "tree": "Tree",
        "formula": "Formula",
        "defaults": "As the reference library builds it from its own defaults; any config of this type is counted the same way.",
    },
    "zh": {
        "classes": "各类的参数量",
        "needs": "参考库的默认值构不成模型",
        "tree": "结构树",
        "formula": "公式",
        "defaults": "按参考库自己的默认配置构建；这一类型的任何配置都以同样的方式计数。",
    },
}


def _count(model_type: str, class_name: str) -> str:
    try:
        return f"{model({'model_type': model_type}, class_name).count().unique:,}"
    except (ConfigError, UsageError):
        return ""


def python_page(lang: str = "en") -> str:
    """Return the page of the public names of Python, from their docstrings."""
    heads = {
        "en": "# Python\n\nEvery public name of `weighbridge`, in alphabetical order.\n",
        "zh": "# Python\n\n`weighbridge` 的全部公开名称，按字母顺序排列；说明取自源码中的文档字符串（英文）。\n",
    }
    pieces = [heads[lang]]
    for name in sorted(weighbridge.__all__, key=str.lower):
        found = getattr(weighbridge, name)
        pieces.append(f"## {name}\n\n```text\n{_signature(name, found)}\n\n{_docstring(found)}\n```\n")
        for method, verb in _methods(found):
            pieces.append(f"### {name}.{method}\n\n```text\n{_signature(method, verb)}\n\n{_docstring(verb)}\n```\n")
    return "\n".join(pieces)


def _methods(found: object) -> Iterator[tuple[str, Callable[..., object]]]:
    if inspect.isclass(found) and not issubclass(found, (Exception, tuple)):
        yield from ((name, verb) for name, verb in inspect.getmembers(found, inspect.isfunction) if not name.startswith("_"))


def _signature(name: str, found: object) -> str:
    try:
        written = str(inspect.signature(found)) if callable(found) else ""
        plain = re.sub(r"(: |-> )'([^']*)'", r"\1\2", re.sub(r"ForwardRef\('([^']*)'\)", r"\1", written))
        return textwrap.fill(name + plain, COLUMNS, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    except ValueError:
        return name


COLUMNS = 108
"""What a block of code holds beside the navigation."""


def _docstring(found: object) -> str:
    """Return a docstring whose long lines are broken; its examples stay as they are."""
    lines, inside = [], False
    for line in (inspect.getdoc(found) or "").splitlines():
        inside = bool(line.strip()) and (inside or line.lstrip().startswith(">>>"))
        indent = " " * (len(line) - len(line.lstrip()))
        deeper = f"{indent}    " if indent else ""
        kept = inside or len(line) <= COLUMNS
        lines.append(line if kept else textwrap.fill(line.strip(), COLUMNS, initial_indent=indent, subsequent_indent=deeper))
    return "\n".join(lines)
