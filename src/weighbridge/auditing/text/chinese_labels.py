"""What Chinese tables, cards and lists call a model's sizes and counts: one table from a label to what it says."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.auditing.patterns import pattern

_PHRASES = {
    "total": """参数量, 总参数量, 参数总量, 参数数量, 总参数, 总参数数量, 参数总数, 总参数数, 参数规模, 总参数规模, 模型参数, 模型参数量, 参数, 参数个数, 总参数个数,
        模型规模, 模型总参数, 模型总参数量, 全部参数, 全部参数量""",
    "active": """激活参数量, 激活参数, 激活参数规模, 激活参数数量, 活跃参数, 活跃参数量, 每token激活参数, 每个token激活参数, 单token激活参数, 单令牌激活参数, 每次激活参数, 推理激活参数,
        激活的参数量, 激活的参数, 单次激活参数, 每token激活参数量, 激活量""",
    "non_embedding": "非嵌入参数量, 非嵌入参数, 非嵌入参数数量, 非embedding参数, 非embedding参数量, 除嵌入外参数量, 不含嵌入参数量, 不含嵌入的参数量",
    "layers": "层数量, 总层数, 模型层数, 网络层数量, 隐藏层数量, transformer层, transformer 层, 块数, block数, block 数, 解码层数, 隐层数, 隐层层数, 深度, 模型深度",
    "dense_layers": "全连接层数量, 稠密层数, 稠密层数量, 全连接层数, dense层数, dense 层数",
    "moe_layers": "moe层数, moe 层数, 专家层数, 稀疏层数, moe层数量",
    "hidden": """隐藏层维度大小, 隐藏状态维度, 隐藏单元, 隐层维数, 隐藏维数, 注意力隐藏层维度, 注意力隐藏维度, 模型宽度, 宽度, 特征维度, 嵌入维数, 嵌入层维度, 嵌入大小, 词嵌入维度,
        隐状态维度, hidden维度, hidden 维度, 隐藏向量维度, 隐藏层向量维度""",
    "mlp": """前馈网络中间维度, 前馈层隐藏维度, 前馈网络隐藏维度, 前馈中间维度, ffn隐藏维度, ffn 隐藏维度, ffn中间维度, ffn 中间维度, ffn中间层, ffn 中间层, ffn隐层维度, mlp维度, mlp 维度,
        mlp中间维度, mlp隐藏维度, mlp 隐藏维度, mlp层维度, 前馈网络内部维度, 前馈隐藏层维度, ffn层维度, moe隐藏层维度, moe 隐藏层维度, moe中间维度, 专家隐藏维度, 专家中间维度, 专家隐藏层维度,
        专家ffn维度, 中间层尺寸, 中间隐藏维度""",
    "heads": "多头注意力头数, 多头注意力头数量, 自注意力头数, 自注意力头数量, q头数, 查询头数量, query头数, query 头数, head数, head 数, 多头数量, 注意力头总数",
    "kv_heads": """键值头数量, kv头, kv 头, kv头个数, kv 头数量, kv头数量, 键/值头数, key/value头数, 键值注意力头数, 键值对头数, gqa组数, kv组数, 查询组数""",
    "head_dim": "每头维度, 注意力头维度, 注意力头大小, 头维, 头大小, 每个注意力头的维度, 单个头维度, 每个头维度, head维度, head 维度",
    "vocab": "词表规模, 词汇表规模, 词表数量, 词汇表, 词典规模, vocab大小, vocab 大小, 词元数, 词表容量, 字典规模",
    "positions": """上下文长度, 最大上下文长度, 上下文窗口, 上下文窗口长度, 上下文窗口大小, 上下文大小, 最大上下文, 最大输入长度, 支持上下文长度, 位置编码长度, 最大序列长, 最大token数, 序列长度上限,
        原生上下文长度, 输入长度上限""",
    "experts": "专家数量, 专家总数量, 路由专家总数, 路由专家个数, 每层专家数, 每层专家数量, 每层路由专家数, 可路由专家数, 专家总个数, moe专家数, moe专家数量, 专家网络数量",
    "active_experts": """每token选择的专家数, 每个token选择的专家数, 每token激活专家数, 每token激活的专家数, 每个token激活的专家数, 每个token激活专家数, 每token专家数, 活跃专家数, 活跃专家数量,
        激活路由专家数, 选择的专家数, 每次激活专家数, 单token激活专家数, 每token激活专家, top-k专家数, 每token路由专家数""",
    "shared": "共享专家个数, 每层共享专家数",
    "window": "滑动窗口, 滑动窗口大小, 滑窗大小, 滑动窗口长度",
    "kv_lora": "kv压缩维度, kv潜在维度, kv低秩维度, kv lora秩",
    "q_lora": "q压缩维度, 查询压缩维度, q低秩维度",
}

LABELS: Mapping[str, str] = {phrase.strip(): word for word, phrases in _PHRASES.items() for phrase in " ".join(phrases.split()).split(",")}
"""From a label, in lower case, to what it says: a size, or a count of parameters."""

_LEAD = pattern(r"^(?:(?:该|此|本|这个)?模型的?|其|网络的?|每个模型的?|大致|约)(?=.{2})")
_TAIL = pattern(r"(?:\s?[(（].*|约|大约|大小为|[\s*_`\"'#:：]+)$")


def kind_of_chinese_label(label: str) -> str | None:
    """Return what a Chinese label says, without the words that only say whose it is.

    >>> kind_of_chinese_label("模型的总参数量"), kind_of_chinese_label("每 token 激活的专家数"), kind_of_chinese_label("训练时长")
    ('total', 'active_experts', None)
    """
    plain = _TAIL.sub("", label.strip(" *_`\"'#:：-•·")).lower()
    for one in (plain, _LEAD.sub("", plain)):
        for written in (one, one.replace(" ", "")):
            if (kind := LABELS.get(written)) is not None:
                return kind
    return None
