"""Chinese sentences read word for word: models and their sizes, bytes, patches; and sentences that must stay without an alarm."""

import pytest

from weighbridge.auditing import audit

SIZES = [
    # a line, and the number that replaces one of it, as it stands there
    ("BERT-base 有12层、768维隐藏层，而 BERT-large 为24层、1024维。", "1024", "2048"),
    ("BERT-base 和 BERT-large 的层数分别为12和24，隐藏层大小分别是768和1024，注意力头数分别为12和16。", "12和24", "24和24"),
    ("BERT-base 和 BERT-large 的层数分别为12和24，隐藏层大小分别是768和1024，注意力头数分别为12和16。", "12和16", "12和12"),
    ("从 BERT-base 到 BERT-large，层数从12增加到24，隐藏维度从768增加到1024，头数由12变为16。", "12增加", "24增加"),
    ("谷歌开源了两个版本的 BERT：base 和 large。前者12层、768维、12个头；后者24层、1024维、16个头。", "前者12层", "前者24层"),
    ("LLaMA 有多个尺寸。7B 的版本有32层，隐藏维度4096；13B 的版本有40层，隐藏维度5120。", "5120", "4096"),
    ("Llama-2-7B 的 KV 头数是32，而 Llama-2-70B 用了 GQA，KV 头数只有8。", "只有8", "只有4"),
    ("Qwen2.5-7B 有28层，隐藏维度3584；相比之下，Qwen2.5-14B 有48层，隐藏维度5120。", "48层", "40层"),
    ("GPT-2 的规格：small（12层，768维）、medium（24层，1024维）、large（36层，1280维）和 XL（48层，1600维）。", "36层", "32层"),
    ("Mistral 7B 与 Llama-2-7B 都是32层、4096维，不过 Mistral 7B 的 FFN 中间维度是14336，Llama-2-7B 是11008。", "11008", "14336"),
    ("bert-base-chinese 的词表有21128个字，bert-base-uncased 则有30522个。", "21128", "30522"),
    ("GPT-2 small 与 BERT-base 规模相当：都是12层、768维、12个头，但 GPT-2 的词表是50257，BERT 是30522。", "30522", "50522"),
    ("BERT 有两个版本，一个是 base（L=12，H=768，A=12），另一个是 large（L=24，H=1024，A=16）。", "A=16", "A=12"),
    ("Whisper-small 的编码器和解码器各12层，维度768；Whisper-large 各32层，维度1280。", "各12层", "各24层"),
    ("BART-large 编码器12层、解码器12层，隐藏维度1024。", "器12层、解", "器6层、解"),
    ("DeepSeek-V3 每个 MoE 层有1个共享专家和256个路由专家，每个 token 激活8个。", "1个共享", "2个共享"),
    ("DeepSeek-V3 的 MLA 把 KV 压缩到512维，RoPE 部分64维，Q 的压缩维度是1536。", "512", "576"),
    ("DeepSeek-V3 每个专家的中间维度是2048，稠密层的中间维度是18432。", "2048", "1408"),
    ("Qwen2.5-7B 采用 GQA：Q 头28个，KV 头4个，头维度128。", "头4个", "头8个"),
    ("以 Llama-2-7B（L=32，H=4096，A=32）为例。", "A=32", "A=40"),
    ("DeepSeek-V2 总参数236B、激活21B；到了 DeepSeek-V3，总参数变成671B、激活37B。", "236B", "326B"),
    # bytes
    ("7B 模型用 fp32 加载要28GB，fp16 要14GB，int8 要7GB，int4 只要3.5GB。", "14GB", "24GB"),
    ("一个 13B 的模型，半精度下光权重就要26G 显存。", "26G", "46G"),
    ("训练 7B 模型：参数 fp16 占14GB，梯度 fp16 占14GB，Adam 的 fp32 主权重、一阶动量、二阶动量各28GB，合计112GB。", "合计112", "合计212"),
    ("训练 7B 模型：参数 fp16 占14GB，梯度 fp16 占14GB，Adam 的 fp32 主权重、一阶动量、二阶动量各28GB，合计112GB。", "梯度 fp16 占14", "梯度 fp16 占34"),
    ("按 16 字节/参数算，13B 的模型训练时仅模型状态就要208GB。", "208", "408"),
    ("bert-base-uncased 的权重文件约 440MB（fp32）。", "440", "640"),
    ("6B 模型 fp16 推理要 12GB，int4 量化后降到 3GB。", "12GB", "24GB"),
    # parts
    ("bert-base-chinese 的词嵌入是 21128×768，约 1622 万参数；位置嵌入 512×768，约 39 万。", "1622", "1626"),
    ("BERT-base 的 pooler 是一个 768×768 的全连接层，带偏置，参数量 590,592。", "590,592", "590,593"),
    ("BERT-base 每层的前馈网络由两个全连接层组成，参数量为 4722432。", "4722432", "4722482"),
    # columns
    ("| 上下文长度 | KV Cache |\n|---|---|\n| 4K | 2 GB |\n| 32K | 16 GB |\n| 128K | 64 GB |\n| 200K | 100 GB |", "64 GB", "96 GB"),
    ("| 模型 | 参数量 | Model States（16Ψ） |\n|---|---|---|\n| GPT-2 1.5B | 1.5B | 24 GB |\n| LLaMA-2 7B | 7B | 112 GB |\n| LLaMA-2 13B | 13B | 208 GB |\n| LLaMA-2 70B | 70B | 1120 GB |", "208", "298"),
    # lines below the model that a text is about
    ("DeepSeek-V3 是混合专家模型。\n\n- 专家数量：256个路由专家 + 1个共享专家", "1个共享", "2个共享"),
    ("DeepSeek-V3 采用了细粒度的 MoE 架构，共 256 个路由专家 + 1 个共享专家，每个 token 激活 8 个路由专家。", "1 个共享", "2 个共享"),
    # patches
    ("ViT-B/16 把 224×224 的图像切成 14×14=196 个 patch，加上 cls token 共197个。", "197", "198"),
    ("ViT-L/14（224 输入）有256个 patch，加 cls 是257个 token。", "256", "196"),
    ("384×384 的图片按 16×16 切块，得到576个 patch。", "576", "567"),
    ("224×224 的图片，切成 16×16 的 patch。\n\n一共 196 个 patch，再送进编码器。", "196", "169"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "right", "wrong"), SIZES, ids=[f"{place}-{wrong}" for place, (_, _, wrong) in enumerate(SIZES)])
def test_each_number_is_held_against_what_its_clause_names(text: str, right: str, wrong: str) -> None:
    assert audit(text).wrong == ()
    changed = text.replace(right, wrong, 1)
    line, place = text[: text.index(right)].count("\n") + 1, text.index(right) - text.rfind("\n", 0, text.index(right)) - 1
    assert changed != text
    assert any(one.line == line and one.start < place + len(wrong) + 2 and place < one.end for one in audit(changed).wrong)


@pytest.mark.parametrize(
    "text",
    [
        "BERT-base 的层数为12，隐藏层维度为768，注意力头数为12，MoE层数为6。",
        "BERT-base 的层数为12，隐藏层维度为768，注意力头数为12，键值头数为6的版本。",
        "BERT-base 的层数为12，隐藏层维度为768，注意力头数为12，6层前馈网络。",
        "BERT-base 有12层、768维；学生模型有6层、312维。",
        "BERT-base 有12层、768维，另一个模型有6层、512维。",
        "GPT-3 的参数量为1750亿。二者参数量合计3.3亿。",
        "LLaMA-7B有67亿参数，相比之下，另一个模型有4700万参数。",
        "BERT-base 的 12 层编码器一共约 8500 万参数。",
        "我们把 BERT-base 的 6 层留下，得到 6 层、768 维的小模型。",
        "BERT-base（前6层，768维）作为编码器。",
        "RoBERTa-base 沿用了 BERT-base 的结构（12层、768维），但词表扩大到50265。",
        "BERT-base、6层Transformer和BiLSTM是三个基线。",
        "如果 BERT-base 有6层，会快一倍。",
        "BART 使用与 RoBERTa-large 相同的编码器架构（12层，隐藏维度1024）。",
        "224×224 的图像切割为 16×16 的 patch。\n\n这比 ViT-Base 的12个块少。",
        "BERT-base 是常用的模型，large版本有23亿参数。",
        "BERT-base有1.1亿参数，mini版参数量3.3亿。",
        "CLIP 的视觉编码器有 3.3 亿参数；LLaMA-7B有67亿参数，分类头参数量为4700万，前6层共3.3亿参数。",
        "ChatGLM-6B 的参数量为62亿。其中23亿参数在前馈网络里。",
        "总参数量：324,426,752\n\n原来的 gpt2-medium 有 354,823,168 个参数。",
        "与 BERT-base 不同，它有 24 层、768 维、16 个头。",
        "| 模型 | 参数量 | INT4 权重 |\n|---|---|---|\n| A | 1.5B | 1 GB |\n| B | 7B | 4 GB |\n| C | 13B | 7 GB |\n| D | 70B | 36 GB |",
        "| 上下文 | KV Cache |\n|---|---|\n| 2K | 1 GB |\n| 4K | 2 GB |\n| 8K | 6 GB |",
        "7B 模型训练时峰值约 120GB；7B 模型用 fp16 推理，加上 KV Cache 约 20GB。",
        "7B 模型 FP16 参数占 14GB，优化器状态占 28GB，梯度占 14GB。",
        "7B 模型用 LoRA 微调，fp16 下约 18GB。",
        "70B 参数的模型，FP16 权重占140GB，至少两张 80G 的卡。",
        "224×224 的图像切成 16×16 的 patch，mask 掉 75% 后只剩 49 个 patch。",
        "224×224 的图像切成 16×16 的 patch，每行 14 个 patch；SigLIP 得到 256 个 patch。",
        "224×224 的图像切成 16×16 的 patch，16 帧视频共 3136 个 patch。",
        "两個模型分別是 BERT-Base（12 層、768 維 hidden、12 個 head）與 BERT-Large（24 層、1024 維、16 個 head）。",
    ],
)
def test_what_was_not_read_whole_raises_no_alarm(text: str) -> None:
    assert audit(text).wrong == ()
