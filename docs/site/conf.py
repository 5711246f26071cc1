"""How Sphinx builds the site: Markdown by MyST, drawn by furo; nothing is fetched."""

project = "Weighbridge"
copyright = "Weighbridge's authors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Weighbridge"
html_copy_source = False
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["width.css"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "language.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_show_sphinx = False
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["misc.highlighting_failure"]


CHINESE = {
    "Next": "下一页",
    "Previous": "上一页",
    "On this page": "本页内容",
    "Back to top": "回到顶部",
    "Home": "首页",
}
"""Words of furo, which has no Chinese of its own."""


def setup(app):
    """Search Chinese without a dictionary, and say furo's words in Chinese."""
    from chinese_search import SearchChinese

    app.add_search_language(SearchChinese)
    app.connect("builder-inited", _in_chinese)


def _in_chinese(app):
    if app.config.language == "zh_CN":
        app.translator._catalog.update(CHINESE)
