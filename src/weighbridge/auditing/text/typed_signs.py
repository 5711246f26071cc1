"""Signs as they are typed: full-width ones, traditional characters, separators inside a number, what stands beside a star."""

from __future__ import annotations

import re

from weighbridge.auditing.patterns import pattern

_SIGNS = {
    "✕": "×", "⨯": "×", "╳": "×", "⋅": "·", "∙": "·", "∗": "*", "−": "-", "﹣": "-", "‐": "-", "‑": "-", "÷": "/", "∕": "/", "⁄": "/", "≃": "≈", "≅": "≈", "∼": "≈", "～": "≈", "≒": "≈",
    "〜": "≈", "~": "≈", "【": "[", "】": "]", "〔": "(", "〕": ")", "“": '"', "”": '"', "．": ".", "\t": " ", "\u3000": " ", "`": " ", "$": " ", "\r": " ",
}  # fmt: skip

_SIMPLIFIED = str.maketrans(
    "參數層個億萬頭維隱詞總與為單專啟權記憶體顯緩佔約達擁規訓練編碼輸塊長寬應對機網絡線變換結構擴兩這們從則僅還並給關鍵詢標準類計節檔點說讓過減壓縮導視覺圖問題論獨實現種來見內開動態傳統經凍調測讀寫產樣雙組幾後項級時間於無當將會麼據錯誤區務優勢異損極義餾贏觀較卻繼續別嗎屬徵聯處號範圍張紹設釋領鏈隨雖電預顆驗",
    "参数层个亿万头维隐词总与为单专启权记忆体显缓占约达拥规训练编码输块长宽应对机网络线变换结构扩两这们从则仅还并给关键询标准类计节档点说让过减压缩导视觉图问题论独实现种来见内开动态传统经冻调测读写产样双组几后项级时间于无当将会么据错误区务优势异损极义馏赢观较却继续别吗属征联处号范围张绍设释领链随虽电预颗验",
)
"""Traditional characters of the words that say what a model has, one for one."""
_TRADITIONAL = ("數", "層", "億", "個", "參", "維", "頭", "萬", "單")
"""One of these stands in every line that says how many of what a model has."""

PUNCTUATION = frozenset(":：,，。;；!?、") | {""}
"""A star beside one of these is emphasis and no product."""


def simplify(text: str) -> str:
    """Return a text with the traditional characters of what models have as simplified ones, each in its place.

    >>> simplify("參數量為 1.1 億")
    '参数量为 1.1 亿'
    """
    return text.translate(_SIMPLIFIED) if any(sign in text for sign in _TRADITIONAL) else text  # a look is ten times as fast


def respell(text: str) -> str:
    """Return a text with the misspelt ``Paramaters`` of many cards as it is spelt, and a size whose thousands a space sets apart with a comma.

    >>> respell("Number of Paramaters"), respell("a hidden size of 4 096, and 12 768")
    ('Number of Parameters', 'a hidden size of 4,096, and 12 768')
    """
    text = text.replace("aramater", "arameter")
    if " of " in text or " dimension " in text:
        for size in _PARTED_SIZE.finditer(text):
            text = f"{text[: size.start('space')]},{text[size.end('space') :]}"
    if " , " in text:
        text = _LOST_THIN_SPACE.sub("   ", text)
    return text


_LOST_THIN_SPACE = pattern(r"(?<=\d) , (?=(?:字节|参数|[KMGT]i?B\b|bytes?\b|param))", re.IGNORECASE)
"""A thin space of TeX between a number and its unit that lost its backslash: ``$14,000,000,000 , 字节$``."""
_PARTED_SIZE = pattern(
    r"\b(?:size|width|dim|dimension|dimensionality|vocabulary|context|length|window|total)(?: of)? \d{1,3}(?P<space> )\d{3}(?=[,.;:)](?!\d)|\s(?![\d×x*+/=]|-)|$)",
    re.IGNORECASE,
)
"""Behind the name of a size, a number in two groups: the second is none of its own, or a word would stand before it."""


def sign_as_read(character: str) -> str:
    """Return the one sign that is read for all that are typed for it."""
    if character in _SIGNS:
        return _SIGNS[character]
    code = ord(character)
    return chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else character


def is_operand(character: str, others: str) -> bool:
    """Tell whether a character ends or begins an operand: a letter, a digit, or one of *others*."""
    return bool(character) and (character.isalnum() or character in others)


def is_between_groups(raw: str, position: int, width: int = 1) -> bool:
    """Tell whether the sign at *position* stands between a number's groups of three digits."""
    before, after = raw[max(0, position - 3) : position], raw[position + width : position + width + 4]
    return before[-1:].isdigit() and len(after) >= 3 and after[:3].isdigit() and not after[3:4].isdigit()


def is_of_many_groups(raw: str, position: int) -> bool:
    """Tell whether a full-width comma is one of several in a number, or follows an operation sign."""
    start = position
    while start > 0 and (raw[start - 1].isdigit() or raw[start - 1] in "，,") and position - start < 40:
        start -= 1
    end = position
    while end < len(raw) and (raw[end].isdigit() or raw[end] in "，,") and end - position < 40:
        end += 1
    groups = raw[start:end].replace(",", "，").strip("，").split("，")
    regular = 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    return regular and (len(groups) > 2 or raw[:start].rstrip()[-1:] in tuple("=＝+＋×*≈"))
