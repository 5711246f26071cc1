"""Chinese texts that carry their model on: through a section, below a sentence with a colon, through a series of generations."""

from __future__ import annotations

import pytest

from weighbridge import audit

SAID = (
    ("# Qwen2.5-7B 结构解析\n\n模型一共堆叠了 28 个解码器层。前馈网络的中间维度是 {}。注意力有 28 个查询头，4 个键值头。", "18944", "28944"),
    ("# Qwen2.5-7B 速读\n\n总参数 76.1 亿。\n\n这一改进的背后，是精心设计的 {} 层解码器结构。\n\n查询头 28 个，键值头 4 个。", "28", "38"),
    ("# BLOOM-176B\n\n它有 1760 亿参数，比 GPT-3 略大。\n\n模型包含 {} 层，每层具有 112 个注意力头。", "70", "80"),
    ("Mistral-7B 的结构由下面几部分构成：\n\n首先是嵌入层。\n\n{} 层解码器构成了主体。", "32", "42"),
    ("以 GPT-2 small 为例，输入的每个 token 先查表得到 {} 维的向量，再送入 12 层解码器。", "768", "868"),
    ("Mistral-7B 采用分组查询注意力，32 个查询头共享 {} 组键值头。", "8", "7"),
    ("Qwen2.5 系列中，7B 模型有 {} 层，14B 模型有 48 层。", "28", "38"),
    ("嵌入层的 hidden_size={}，num_attention_heads=12，两者相除是每个头的维度：以上是 bert-base-chinese 的设置，词表 21128。", "768", "868"),
    ("# Phi-2 技术实现\n\n- 注意力头：采用多头注意力，{} 个头\n- 层数：32\n- 隐藏维度：2560\n- 词表：51200", "32", "42"),
    ("TinyLlama 沿用 Llama 2 的结构，但只有 {} 层，隐藏维度 2048。", "22", "32"),
    ("DeepSeek-V3 的注意力采用 MLA：128 个头，KV 压缩维度 {}，Q 压缩维度 1536。", "512", "612"),
    ("以 ViT-Base 为例，编码器由 {} 个相同的模块堆叠而成，每个模块有 12 个注意力头，维度 768。", "12", "22"),
    ("BERT-base 的词嵌入矩阵大小为 {}×768。", "30522", "40522"),
    ("以 BERT-base 为例，token 嵌入矩阵的形状为 [30522, {}]，参数量见下。", "768", "868"),
    ("BERT-base 有 12 个注意力头，每个头的 Q、K 和 V 矩阵的形状均为 [768, {}]。", "64", "74"),
    ("BERT-base 的前馈网络里，升维矩阵形状为 [768, {}]。", "3072", "4072"),
    ("问：Llama-2-7B 有多少层？答：{} 层。", "32", "42"),
    ("问：BERT-base 的隐藏层维度是多少？\n答：{}。", "768", "868"),
    ("# 对照\n\n| 指标 | Qwen3-0.6B | 别家的 |\n|---|---|---|\n| 层数 | {}层 | 24-32层 |\n| 注意力头数（Q） | 16头 | 12-16头 |\n| 注意力头数（KV） | 8头（GQA） | 不一 |\n| 隐藏层维度 | 1024维 | 不一 |", "28", "38"),
    ("# 对照\n\n| 指标 | Qwen3-0.6B | 别家的 |\n|---|---|---|\n| 层数 | 28层 | 24-32层 |\n| 注意力头数（Q） | 16头 | 12-16头 |\n| 注意力头数（KV） | {}头（GQA） | 不一 |\n| 隐藏层维度 | 1024维 | 不一 |", "8", "7"),
)  # fmt: skip
COUNTS = (
    ("RoBERTa-large 沿用了 BERT-large 的结构，仍是 24 层、1024 维，参数量 {}。", "3.55 亿", "4.55 亿"),
    ("XLM-R-base 继承了 RoBERTa-base 的架构，12 层，参数 {}。", "2.78 亿", "3.78 亿"),
    ("BERT-base 有 12 层，参数 1.1 亿；BERT-large 有 24 层，{}。", "3.4 亿", "4.4 亿"),
    ("GPT-3 把规模推到 {}，共 96 层。", "1750 亿", "2750 亿"),
    ("GPT-1 只有 1.17 亿参数，GPT-2 增加到 {}，GPT-3 则达到 1750 亿。", "15 亿", "25 亿"),
    ("GPT-1 只有 1.17 亿参数，GPT-2 增加到 15 亿，GPT-3 则达到 {}。", "1750 亿", "2750 亿"),
    ("OPT-66B 在保持 {}参数规模的同时降低了训练成本。", "660 亿", "860 亿"),
    ("具有 {}个参数（例如 Llama-2-13b）的模型要两张卡。", "130 亿", "180 亿"),
    ("# Falcon-40B\n\n该模型由 TII 训练，有 60 层，参数量约 {}。", "400 亿", "600 亿"),
)
TRUE = """\
Gemma-7B 拥有 70 亿级别的参数。
具有 100 亿以下参数（例如 Qwen2.5-7B）的模型适合端侧。
我们的模型与 BERT-large 结构一致，24 层，1024 维，3.24 亿参数。
在 Llama-2-7B 的第 16 层取出 4096 维的隐状态。
Qwen2-VL-7B 的视觉编码器有 32 层、1280 维，语言部分 28 层、3584 维。
wav2vec2-base 有 12 层、768 维、8 个注意力头？不，是 12 个头。
30000*128+128*4096 = 384万 + 52万 = 436万
2020 年 GPT-3 发布，ChatGPT 的用户增加到 1 亿。
GPT-3 则用了 45TB 语料，3000 亿个词。
Qwen2.5 系列中，7B 是最常用的，下载量 500 万次，14B 模型下载 120 万次。
Llama 2 系列，7B 模型有 2 个版本：Base 与 Chat。
OPT-175B 维持在 1750 亿参数，与 GPT-3 相当。"""
LISTS = (
    "MacBERT-large 采用 BERT-large 的结构，24 层，共 3.24 亿参数。",
    "某公司的新模型采用 Llama-2-7B 的架构，有 40 层，隐藏维度 5120，参数量 130 亿。",
    "DeepSeek-V3 参数 6710 亿，训练 14.8 万亿；DeepSeek-V2 训练 8.1 万亿。",
    "GPT-3 把规模推到 1750 亿，数据规模达 3000 亿 token，用户规模达 1 亿。",
    "训练 BERT-base 的集群由 16 个相同的模块组成。",
    "# 对比\n\n| 指标 | BERT-base | 本文模型 |\n|---|---|---|\n| 层数 | 12层 | 6层 |\n| 头数 | 12个 | 8个 |",
    "Mistral-7B 的结构如下：\n\n- 32 层\n- 32 个查询头、8 组键值头\n- 词表 32000\n\n以及一个 2 层的演示网络用于说明。",
    "我们自己的模型里，词嵌入矩阵的形状为 [6400, 512]，与 BERT-base 的 [30522, 768] 不同。",
    "GPT-2 small 的位置嵌入为 1024×768，词嵌入矩阵为 50257×768。",
    "问：LoRA 微调 Llama-2-7B 有多少参数？答：420 万。",
    "问：BERT-base 的学生模型有多少层？答：6 层。",
    "BERT-base 的编码器之上有多少层？1 层。",
    "想想 BERT-base 有多少层？2 层？6 层？",
    "# Llama-3-8B 的配置如下：\n\n- 32 层\n- 4096 维\n- 32 个查询头，8 个键值头\n\n# 我们的改动\n\n- 24 层\n- 2048 维\n- 16 个查询头，4 个键值头",
    "BERT-base 的配置如下：\n\n- 12 层\n- 768 维\n- 12 个头\n\n小模型则是：\n\n- 4 层\n- 256 维\n- 4 个头",
    "Llama-3-8B 的架构由以下部分构成：\n\n嵌入层把 token 映射到 4096 维。\n\n32 层解码器是主体，其中前 8 层我们冻结。\n\n最后接一个 2 层的价值头。",
    "BERT-base 的结构如下：\n\n1. 3 层嵌入相加；\n2. 12 层编码器；\n3. 取最后 4 层的平均作为句向量；\n4. 接一个 2 层的 BiLSTM。",
    "# Falcon-40B\n\n该模型很强，但草稿模型只有 12 层，隐藏维度 1024。",
    "# Llama-2-7B\n\n我们将 32 层分成 4 个流水线阶段，每个阶段 8 层。",
)


def _wrong(text: str) -> list[str]:
    return [claim.text for claim in audit(text).claims if claim.verdict == "wrong"]


@pytest.mark.parametrize(("text", "right", "wrong"), [*SAID, *COUNTS])
def test_one_number_that_is_not_the_models_is_wrong(text: str, right: str, wrong: str) -> None:
    assert not _wrong(text.format(right))
    assert _wrong(text.format(wrong))


@pytest.mark.parametrize("text", [*TRUE.splitlines(), *LISTS])
def test_what_is_said_of_something_else_is_no_alarm(text: str) -> None:
    assert not _wrong(text)
