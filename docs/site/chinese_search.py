"""How the Chinese site is searched: by single characters and pairs of neighbours, which needs no dictionary and takes any query apart as it took the pages."""

from __future__ import annotations

import re

from sphinx.search.en import SearchEnglish

RUN = re.compile(r"[\u3400-\u9fff]+|[A-Za-z0-9_]+")
SPLIT = r"""
var splitQuery = (query) => (query.match(/[\u3400-\u9fff]+|[\p{Letter}\p{Number}_]+/gu) || []).flatMap((run) =>
  /^[\u3400-\u9fff]{2,}$/.test(run) ? [...run].slice(1).map((_, at) => run.slice(at, at + 2)) : [run]);
"""


class SearchChinese(SearchEnglish):
    """Words of Latin letters as English has them; a run of Chinese as its characters and its pairs.

    Sphinx's own class needs jieba and, where that is missing, finds no Chinese word at all, without a word about it.
    """

    lang = "zh"
    language_name = "English"  # that of the stemmer in the page's script, which is English
    js_splitter_code = SPLIT

    def split(self, input: str) -> list[str]:
        """Take a text apart as the page's script takes the query apart; single characters are kept for queries of one."""
        words = []
        for run in RUN.findall(input):
            words += [run] if run[0] < "\u3400" else [*run, *(run[at : at + 2] for at in range(len(run) - 1))]
        return words

    def word_filter(self, word: str) -> bool:
        """Keep every Chinese character and pair, and what English keeps."""
        return bool(word) and (word[0] >= "\u3400" or super().word_filter(word))
