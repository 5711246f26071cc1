"""Chinese words beside a size that give it to something else than the model: ``卷积层数为 6``, ``分类头的隐藏层大小``, ``6 层的分类器``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from weighbridge.auditing.patterns import pattern


def is_of_a_part(text: str, first: int, last: int, *, labelled: bool) -> bool:
    """Tell whether Chinese words beside a size give it to a part of the model, or to another one.

    Args:
        first: Where the size's words begin, or its number if they stand behind it.
        last: Where they end.
        labelled: Whether the size's name stands in front of its number.

    >>> [is_of_a_part(text, text.index("层数"), len(text), labelled=True) for text in ("模型的层数为 6", "卷积层数为 6", "学生模型的层数为 6")]
    [False, True, True]
    >>> is_of_a_part("接一个 6 层的分类器", 4, 7, labelled=False)
    True
    """
    if labelled:
        if _OF_A_VARIANT.match(text, last):
            return True
        return _is_owned(text, first) if not text[first].isascii() else _OF_A_PART.search(text, max(0, first - _REACH), first) is not None
    return _BEHIND.match(text, last) is not None or _IN_FRONT.search(text, max(0, first - _REACH), first) is not None


def is_after_a_part(text: str, parts: Iterable[int], place: int) -> bool:
    """Tell whether a size goes on, in the same sentence, from one that was given to something else: ``再加 2 层分类器，隐藏层 256 维``."""
    return any(part <= place and _SENTENCE.search(text, part, place) is None for part in parts)


_SENTENCE = pattern("[。;；!?！？]")


def _is_owned(text: str, place: int) -> bool:
    """Tell whether the words before the name of a size make it another thing's: none of them is one that any model has, or mere grammar."""
    while True:
        while place and text[place - 1] in " *_`\"'":
            place -= 1
        if not place:
            return False
        before = text[place - 1]
        if not "\u4e00" <= before <= "\u9fff":
            word = _WORD.search(text, max(0, place - _LONGEST_WORD), place)
            return word is not None and not _OTHERS.isdisjoint(_PIECE.findall(word[0].lower()))
        neutral = next((n for n in _NEUTRAL.get(before, ()) if text.endswith(n, 0, place)), None)
        if neutral is None:
            return before not in _GLUE or text.endswith(_ANOTHER, 0, place)
        place -= len(neutral)


_REACH = 14
_OF_A_PART = pattern(r"(?:适配器|分类[器头]|学生|教师|草稿(?:模型)?|专家|视觉|图像|语音|音频|投影层?|池化层?)(?:模型|网络|编码器)?的?\s?$")
"""Before an English name of a size."""
_LONGEST_WORD = 24
_WORD = pattern(r"[A-Za-z0-9/_.+-]+$")
_PIECE = re.compile("[a-z]+")
_OTHERS = frozenset(
    "lstm bilstm gru rnn cnn conv mlp ffn moe lora qlora adapter adapters medusa eagle crf kv key value vision audio speech image resnet".split()
)
"""Things beside a model's own stack that have layers and widths too."""
_WORDS = """的 模型 网络 编码器 解码器 编码 解码 架构 结构 主干 骨干 注意力 自注意力 多头 隐藏 每层 各层 单层 整体 总体 配置 参数 规模 语言 预训练 基础 原始 原版 标准 默认 官方 大语言 中文 英文
    双向 单向 千问 百川 书生 悟道 文心 盘古 智谱 版本 系列 稠密模型 大型 最终 实际 完整 采用 使用 模块 部分 输入 层 维度 大小 其中 包括 文本 语料""".split()
_NEUTRAL: dict[str, list[str]] = {}
for _word in sorted(_WORDS, key=len, reverse=True):
    _NEUTRAL.setdefault(_word[-1], []).append(_word)
_GLUE = frozenset("其它该此有为是和及与且并而中总共用含括定置设取令使让将把对由在从即如则得到至了着以个这那整约近达均时于说成已自")
"""Characters in which the words of grammar before a size's name end."""
_ANOTHER = ("另一个", "另个", "某个", "几个", "专有", "专用", "停用")
_OF_A_VARIANT = pattern(r"\s?[维层个]?的\s?(?:版本|变体|分类|小模型|学生|草稿|适配|投影|线性|全连接)")
"""Behind the number of a size, what has it instead."""
_BEHIND = pattern(
    r"\s?(?:的\s?)?(?:小型?\s?|简单\s?|浅层?\s?)?(?:分类|标签|句向量|图像|视觉|语音|音频|感知机|全连接|线性层?|前馈|卷积|交叉|池化|投影|适配|循环|任务|预测|检测|稠密|滑动|专家|嵌入|词嵌入|残差|归一化|含义|意思|子层"
    r"|(?:使用|采用|用|为|是)(?:滑动|全局|局部|线性|稠密|moe|普通)|(?:mlp|lstm|bilstm|rnn|cnn|gru|moe|lora|adapter|resnet|ffn)(?![a-z]))",
    re.IGNORECASE,
)
"""Behind a number of layers or heads, or a width, what has so many instead."""
_IN_FRONT = pattern(
    r"(?:其中有?|每(?:张|个|块|台|一)?\s?(?:显?卡|gpus?|设备|机器|节点|组|阶段)\s?[^，。,；;]{0,6}|[增添追]加了?|再[加堆接叠]?|接[着入上]?|额外|新增|加[上了]?|解冻|冻结|微调|剪[掉枝去]?|减[去少]?[到至]?|去掉|删[掉除]|移除|保留|剩[下余]?|取|每)\s?$",
    re.IGNORECASE,
)
"""In front of such a number, what takes it from the whole model."""
