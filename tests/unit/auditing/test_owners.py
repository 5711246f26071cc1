"""Chinese names of sizes: however they are built they are read, and words beside them may give them to something else."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

_BESIDE = "BERT-large 的{0}，{1}，{2}。"
_SAID = {"layers": "层数为24", "hidden": "隐藏层维度为1024", "heads": "注意力头数为16", "mlp": "前馈网络中间维度为4096"}
_WAYS = {
    "layers": (
        24,
        22,
        "共包含{n}个堆叠的Transformer层;由{n}个相同的层组成;Layer 数：{n};隐藏层的数量是{n};block的数量为{n};Transformer Blocks 数量：{n};解码层数目为{n}",
    ),
    "hidden": (1024, 1152, "embedding维度为{n};隐藏层的维度是{n};词嵌入的维度为{n};隐状态的大小为{n};模型的宽度是{n};隐藏维度设置为{n}"),
    "heads": (16, 18, "head数为{n};attention heads数量为{n};Q头数{n};自注意力头的个数为{n}"),
    "mlp": (4096, 4608, "FFN中间层大小{n};前馈神经网络的隐藏层维度为{n};前馈网络内部维度为{n};MLP层的中间维度：{n}"),
    "vocab": (30522, 30822, "词表规模{n};词表（vocab_size）大小为{n};词汇表中有{n}个token;词典里共收录{n}个词;vocab规模为{n}"),
    "head_dim": (64, 72, "每个head的维度是{n};每个头的大小为{n};单个注意力头的维度{n}"),
}
_OTHERS = """分类层数为6;卷积层数为6;冻结层数为6;LSTM层数为6;LoRA层数：6;学生模型的层数为6;草稿模型层数为6;另一个模型的层数为6;交叉注意力头数为6;Medusa头数为6;视觉编码器层数为6;每卡层数为6;
适配器隐藏层维度为300;分类头的隐藏层大小为300;BiLSTM隐藏层维度为300;句向量维度为300;专家的中间层维度为300;语音编码器隐藏维度为300;图像词表大小为5000;停用词表大小为5000;扩充后词表大小为5000;
6层的分类器;6层MLP;6层感知机;6头交叉注意力;接6层Transformer;增加了6个Transformer层;其中6层使用滑动窗口;每张卡分到6个头;每6个头共用一组KV;6维的标签向量;隐藏层数为6的分类器;再加2层分类器，隐藏层256维"""


@pytest.mark.parametrize(("size", "way"), [(size, way) for size, (_, _, ways) in _WAYS.items() for way in ways.split(";")])
def test_a_size_is_read_whatever_its_name_is_built_of(size: str, way: str) -> None:
    right, wrong, _ = _WAYS[size]
    first, second, *_ = (said for word, said in _SAID.items() if word != size)
    assert not audit(_BESIDE.format(first, second, way.format(n=right))).wrong
    found = audit(_BESIDE.format(first, second, way.format(n=wrong))).wrong
    assert [(claim.value, claim.expected) for claim in found] == [(wrong, right)]


@pytest.mark.parametrize("other", _OTHERS.replace("\n", "").split(";"))
def test_a_size_of_something_else_is_none_of_the_model(other: str) -> None:
    beside = _BESIDE.format(*list(_SAID.values())[:3])
    for text in (
        f"{beside[:-1]}，{other}。",
        f"{beside}{other}。",
        "BERT-large：\n\n" + "".join(f"- {one}\n" for one in (*_SAID.values(), other)),
    ):
        assert not audit(text).wrong


_OTHER_COUNTS = """奖励模型有3.3亿参数;而它的后继者有3.3亿参数;检索器参数量为3.3亿;小模型有3.3亿参数;我们的模型参数量为3.3亿;基座模型参数量为3.3亿;其中有3.3亿参数被冻结;剩下的参数有3.3亿;
一半的参数是3.3亿;每张卡上有3.3亿参数;参数量为3.3亿的模型则慢得多;比3.3亿参数的模型更好;平均每个模型参数量为3.3亿;从头训练的版本有3.3亿参数;训练了3.3亿条样本;视觉编码器有3.3亿参数;公司融资3.3亿美元"""


@pytest.mark.parametrize("other", _OTHER_COUNTS.replace("\n", "").split(";"))
def test_a_count_of_something_else_is_none_of_the_model(other: str) -> None:
    for text in (
        "LLaMA-7B 的参数量为67亿。{}。",
        "LLaMA-7B 是常用的模型，{}。",
        "## LLaMA-7B\n\n参数量：67亿\n\n{}。",
        "LLaMA-7B有67亿参数，{}。",
    ):
        assert not audit(text.format(other)).wrong


def test_a_name_that_looks_like_a_product_is_no_equation() -> None:
    assert not audit("总的来说，Mixtral 8x7B 的参数量≈46.7B").wrong
    assert audit("8 × 7B ≈ 46.7B").wrong


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("BERT base 12层 768隐藏单元 12个head 共{}", ("110M", "210M")),
        ("GPT-3 模型规模达到{}参数，涌现出上下文学习能力", ("1750亿", "1250亿")),
        ("DeepSeek-V3 有671B参数（{}激活）", ("37B", "30B")),
        ("对FFN,bert-base的intermediate_size={},FFN层包含两个线性变换,对应的参数为4722432", ("3072", "4096")),
        ("LLaMA-7B 的每个头的长度都是{} (head_dim)，隐藏维度是4096，共32层", ("128", "256")),
        ("- LLaMA-3 70B: 6 × 70B × 15T ≈ {} FLOPs", ("6.3 × 10^24", "8.3 × 10^24")),
        ("每层 KV Cache = 2 × kv_heads × head_dim × seq_len × dtype\n = 2 × {} × 128 × 8192 × 2 = 32 MB/seq", ("8", "4")),
        ("## Qwen 1\n\n参数量：7B、14B、1.8B、72B\n\n- Qwen-7B有32层，嵌入维度为{}，注意力头数量为32。", ("4096", "5120")),
        ("Q：BERT-large 的参数量是多少？A：约 {}。", ("3.4 亿", "4.3 亿")),
        ("Qwen2.5-7B 采用 GQA，Q 有 28 个头，KV 只有 {} 个头，每个头 128 维。", ("4", "6")),
        ("Qwen2.5-7B 有 28 层，隐藏维度 3584，注意力头（GQA）：Query: 28, Key/Value: {}。", ("4", "6")),
        ("GPT-3 有 96 层，每层 {} 个头，每个头的维度是 128", ("96", "98")),
        ("LLaMA-7B 中 FFN 的中间维度为 {}，约等于 8/3 × 4096。", ("11008", "11108")),
        ("LLaMA-7B（fp16）每个 token 要缓存 {} 的 K 和 V。", ("512KB", "776KB")),
        ("LLaMA-7B 单 token KV Cache（FP16）= {}", ("512 KB", "776 KB")),
        ("- 注意力：67.1M\n- FFN：100.7M\n- LayerNorm：~16K\n- 总计：{}", ("168M", "148M")),
    ],
)
def test_a_number_is_said_in_ways_of_its_own(text: str, right: tuple[str, str]) -> None:
    assert not audit(text.format(right[0])).wrong
    assert audit(text.format(right[1])).wrong


@pytest.mark.parametrize(
    "turn", ["再加2层分类器", "后接2层BiLSTM", "学生模型的层数为6", "视觉编码器层数为24", "草稿模型层数为4", "交叉注意力层数为6"]
)
@pytest.mark.parametrize("size", ["隐藏层维度为256", "有4个头", "中间层大小为512", "每个头32维", "共3层"])
def test_what_follows_a_size_of_something_else_is_none_of_the_model(turn: str, size: str) -> None:
    said = "BERT-base 有12层，隐藏维度768，12个注意力头。"
    for text in (
        f"{said}{turn}。{size}。",
        f"{said}\n\n{turn}。\n\n{size}。",
        f"BERT-base：\n\n- 层数12\n- 隐藏层维度768\n- 注意力头数12\n- {turn}\n- {size}\n",
    ):
        assert not audit(text).wrong
