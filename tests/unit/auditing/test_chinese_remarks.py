"""Counts and sizes of Chinese sentences in remarks, ranges, timelines and labels, whose subject stands right before them or far above."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

DEEPSEEK = "# DeepSeek-V3 笔记\n\nDeepSeek-V3 是混合专家模型。\n\n"
TIMELINE = "| 时间 | 模型 | 参数量 |\n|---|---|---|\n| 2019 年 2 月 | GPT-2 | {} 亿 |\n| 2019 年 10 月 | T5 | 110 亿 |\n| 2020 年 5 月 | GPT-3 | 1750 亿 |\n"


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("Qwen3-8B 只有 82 亿参数，但有人拿它和 DeepSeek-V3（它有 {} 亿参数）比较。", "6710", "7610"),
        ("Qwen3-8B 不大，但敢于对标 DeepSeek-V3（总参数 6710 亿，虽然只激活了 {} 亿）。", "370", "570"),
        ("DeepSeek-V3 有 6710 亿参数，其中激活了 {} 亿。", "370", "570"),
        ("ChatGLM-6B 是对话模型，基于 [General Language Model (GLM)](https://example.org/GLM) 架构，拥有 {} 亿参数。", "62", "82"),
        (DEEPSEEK + "- 先推导总参数量（{}B），再看每一层。", "671", "571"),
        (DEEPSEEK + "- 推算激活参数量（{}B）。", "37", "57"),
        ("- **GPT-3（2020 年 5 月）**：96 层，{} 亿参数", "1750", "2750"),
        ("- **GPT-3 (2020)**：{} 层，1750 亿参数", "96", "69"),
        ("T5 一共有五种规模，参数量从 {} 万到 110 亿。", "6000", "9000"),
        ("LLaMA 的参数规模从 70 亿到 {} 亿不等。", "650", "950"),
        ("Pythia models range in size from 70M to {}B parameters.", "12", "19"),
        (TIMELINE, "15", "25"),
    ],
)
def test_a_count_in_a_remark_is_held(text: str, right: str, wrong: str) -> None:
    assert audit(text.format(right)).wrong == ()
    assert [claim.text[: len(wrong)] for claim in audit(text.format(wrong)).wrong] == [wrong]


@pytest.mark.parametrize(
    "text",
    [
        "BERT-large（我们的学生模型只有 600 万参数）更慢。",
        "Qwen2.5-7B（用它蒸馏出一个有 3 亿参数的模型）很好用。",
        "我们用 GPT-2 的代码训练了参数量从 3000 万到 9 亿的模型。",
        "T5 的后继模型参数量从 3 亿到 900 亿。",
        "Llama 3 之外，还有参数量从 5 亿到 320 亿的模型。",
        "ChatGLM-6B 的作者基于 General Language Model (GLM) 又训练了一个有 1300 亿参数的模型。",
    ],
)
def test_what_is_said_of_others_is_left(text: str) -> None:
    assert audit(text).wrong == ()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("r(m + n) = 32 × 6144 = 196,618", "196,618"),
        ("6 × 16 × (3072 + 3072) = 589,834 ≈ 0.59M", "589,834"),
        ("3 × 2 × 5120 × 16 ≈ 491,530", "491,530"),
        ("每个参数的字节数：fp32=4，fp16=3，int8=1", "3"),
        ("bytes per parameter: fp32=4, bf16=2, int8=2", "2"),
    ],
)
def test_arithmetic_beside_a_letter_or_a_rounded_figure_is_exact(text: str, wrong: str) -> None:
    assert [claim.text.endswith(wrong) for claim in audit(text).wrong] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "r(m + n) = 32 × 6144 = 196,608",
        "6 × 16 × (3072 + 3072) = 589,824 ≈ 0.59M",
        "12 × 1024² ≈ 12,596,224",
        "字节数（fp32=4，fp16=2，int8≈1）",
        "fp32=32，fp16=16 是位数，除以 8 才是每个参数的字节数",
    ],
)
def test_what_is_right_or_only_near_is_no_alarm(text: str) -> None:
    assert audit(text).wrong == ()


PAGE = "{name}\n\n参数\n\n7B\n\n上下文长度\n\n{length}\n\n架构\n\nDense\n\n许可证\n\n开放\n\n发布日期\n\n某日\n\n技术规格\n\n注意力\n\nGQA\n\n隐藏维度大小\n\n4096\n\n层数\n\n32\n\n注意力头\n\n32\n\n键值头\n\n8\n"
LISTING = "以下是 DeepSeek-V3 的配置（简化版）：\n\nhidden_size: 7168\nnum_hidden_layers: 61\nnum_attention_heads: {}\nvocab_size: 129280\nn_routed_experts: 256\n"
CELLS = "| 项 | 教学版 | 实际 |\n|---|---|---|\n| 专家数 | 4 个 | DeepSeek-V3: {} 专家; Mixtral 8x7B: 8 专家 |\n"


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (PAGE.replace("{name}", "Mistral-7B-v0.3").replace("{length}", "{}K"), "32.768", "32.788"),
        (LISTING, "128", "182"),
        (CELLS, "256", "265"),
        ("# Qwen3-0.6B 的结构\n\n隐藏维度为 1,024。\n模型包含 {} 个 Qwen3 Decoder Layer。", "28", "82"),
        ("Qwen2.5-14B 有 {} 个查询、8 个键值头。", "40", "50"),
        ("DeepSeek-V3：256 路由专家 + 1 共享专家，top-{} 路由，61 层。", "8", "4"),
    ],
)
def test_a_size_of_a_page_a_listing_or_a_cell_is_held(text: str, right: str, wrong: str) -> None:
    assert audit(text.format(right)).wrong == ()
    assert [claim.text[: len(wrong)] for claim in audit(text.format(wrong)).wrong] == [wrong]


@pytest.mark.parametrize(
    "text",
    [
        "以下是仿照 DeepSeek-V3 的简化模型：\n\nhidden_size: 512\nnum_hidden_layers: 6\nnum_attention_heads: 8\nvocab_size: 129280\n",
        PAGE.replace("{name}", "Mistral-7B-v0.3").replace("{length}", "32K"),
        "| 项 | 教学版 | 实际 |\n|---|---|---|\n| 专家数 | DeepSeek-V3 的简化: 4 个 | Mixtral 8x7B: 8 专家 |\n",
        "DeepSeek-V3 的启发：我们用 64 路由专家、top-2 路由。",
    ],
)
def test_a_size_of_ones_own_is_left(text: str) -> None:
    assert audit(text).wrong == ()


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("7B 模型意味着有 {} 亿个参数，按半精度要算清楚。", "70", "90"),
        ("在 13B（{} 亿）参数的底座上微调。", "130", "310"),
        ("ChatGLM-6B 能对话。该模型基于 General Language Model (GLM) 架构，拥有 {} 亿参数。", "62", "92"),
        ("ChatGLM-6B 能对话。该模型超过了 LLaMA-13B，拥有 {} 亿参数。", "62", "92"),
    ],
)
def test_a_count_after_another_name_is_of_the_model_at_hand(text: str, right: str, wrong: str) -> None:
    assert audit(text.format(right)).wrong == ()
    assert [claim.text[: len(wrong)] for claim in audit(text.format(wrong)).wrong] == [wrong]


@pytest.mark.parametrize(
    "text",
    [
        "7B（76 亿参数）的模型各家不同。",
        "1.5B（16 亿）参数的也有。",
        "该模型击败了 LLaMA-13B，拥有 62 亿参数。",
        "它打败了 BERT-large，却只有 6600 万参数。",
    ],
)
def test_a_count_of_no_named_model_is_left(text: str) -> None:
    assert audit(text).wrong == ()


ROUTED = "| 模型 | 总参数 | 激活参数 | 专家数 | Top-K |\n|---|---|---|---|---|\n| Mixtral 8x7B | 46.7B | 12.9B | {}/层 | 2 |\n| DeepSeek-V3 | 671B | 37B | {}+1 | 8 |\n"


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("这一层新增约 {} 万参数（16 × (5120 + 5120)），别的都冻结。", "16", "26"),
        ("每步 token（micro batch 2 × 累积 8 × 8 卡 × 2048）：{}", "262,144", "262,174"),
        ("$12,000,000,000 , 字节 \\div (1024^3) \\approx {} , GB$", "11.18", "17.18"),
        (ROUTED.replace("{}/层", "8/层"), "256", "265"),
        (ROUTED.replace("{}+1", "256+1"), "8", "6"),
    ],
)
def test_a_count_beside_its_computation_is_held(text: str, right: str, wrong: str) -> None:
    assert audit(text.replace("{}", right)).wrong == ()
    assert [wrong in claim.text for claim in audit(text.replace("{}", wrong)).wrong] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "输出 64（7×7）再接 48（7×7）。",
        "一个 7B（32×4096）的模型。",
        "注意力 2.36M（4×768×768）参数，加偏置是 2,362,368（4×768×769）。",
        "学习率（1e-4 × 8 卡）：0.0008",
    ],
)
def test_a_shape_beside_a_number_is_no_computation(text: str) -> None:
    assert audit(text).wrong == ()


LENGTHS = "KV Cache 随长度增长：\n\n- 2K 上下文：0.25 GB\n- 8K 上下文：1.00 GB\n- 32K 上下文：{} GB\n"
SHARES = "| 模型 | 总参数 | 激活参数 | 占比 |\n|---|---|---|---|\n| 甲 | 200B | 20B | 10% |\n| 乙 | 500B | 25B | {}% |\n| 丙 | 80B | 12B | 15% |\n"


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (LENGTHS, "4.00", "5.00"),
        (SHARES, "5", "7"),
        ("模型总参数量：\n\n- DeepSeek V3: ~{}B\n- Llama 7B: ~7B\n", "671", "971"),
        (
            '"""ViT-Tiny/16 的教学版实现，对应常见的配置：\n\n* Token 维度：{}\n* Transformer Block：12 层\n* 注意力头数：3\n"""',
            "192",
            "292",
        ),
    ],
)
def test_a_row_out_of_line_with_the_others_is_found(text: str, right: str, wrong: str) -> None:
    assert audit(text.replace("{}", right)).wrong == ()
    assert [wrong in claim.text for claim in audit(text.replace("{}", wrong)).wrong] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "显存：\n\n- 2K 上下文：15 GB\n- 4K 上下文：16 GB\n- 8K 上下文：18 GB\n",
        "| 集 | 题数 | 准确率 |\n|---|---|---|\n| 甲 | 10K | 50% |\n| 乙 | 20K | 71% |\n| 丙 | 40K | 33% |\n",
        "别的参数：\n\n- BERT-base: 2e-5\n- BERT-large: 1e-5\n",
    ],
)
def test_rows_that_follow_no_rule_are_left(text: str) -> None:
    assert audit(text).wrong == ()


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("BERT-base 由 {} 层 Encoder 堆叠而成。", "12", "13"),
        ("BERT-base 共 {} 层 Encoder。", "12", "13"),
        ("# Qwen3-0.6B 结构\n\n模型由 {} 个 Decoder Layer 堆叠而成。\n", "28", "29"),
        ("# LLaMA-7B 结构\n\n整个模型由 {} 层 Decoder 组成，每层有 32 个注意力头。\n", "32", "33"),
        ("# GPT-2 small 详解\n\n- 一共 {} 层。\n", "12", "19"),
    ],
)
def test_layers_that_a_model_is_composed_of_are_held(text: str, right: str, wrong: str) -> None:
    assert audit(text.replace("{}", right)).wrong == ()
    assert [claim.text for claim in audit(text.replace("{}", wrong)).wrong] == [wrong]


@pytest.mark.parametrize(
    "text",
    [
        "# BERT-base 详解\n\n模型共有 13 层，包括嵌入层。\n",
        "# BERT-base 详解\n\n有 13 个隐藏状态。\n",
        "# BERT-base 详解\n\n共有 11 层被冻结。\n",
        "# BERT-base 详解\n\n堆叠 14 层的版本也有人试过。\n",
        "# GPT-2 small 训练笔记\n\n模型由 16 层组成时，损失更低。\n",
        "# GPT-2 small 训练笔记\n\n有 11 层的权重保持不变。\n",
    ],
)
def test_layers_that_are_counted_or_used_otherwise_are_left(text: str) -> None:
    assert audit(text).wrong == ()
