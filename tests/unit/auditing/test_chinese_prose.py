"""Chinese running text as people write it: numbers behind a character, traditional characters, families without a size, printed models."""

import pytest

from weighbridge.auditing import audit

RIGHT = [
    # numbers that stand right behind a character
    "BERT-base包含12层的Transformer编码器,每层有768个隐藏单元和12个自注意力头。",
    "BERT-base(110M参数):12个Transformer编码器,每个编码器包含12个自注意力头,隐藏层大小为768,总参数量为110M。",
    "BERT-large共有24层，第12层之后的输出用来做句向量，前6层冻结，只微调后18层。",
    "LLaMA-7B一共32层，隐藏维度4096，每层有2层的FFN之外还有注意力，注意力头数32。",
    "bert-base-chinese的词表大小21128，隐藏层维度768，层数12，注意力头数12，从第9层开始取特征。",
    "GPT-2 XL共48层，每8层插入一个适配器，隐藏维度1600，25个注意力头。",
    "我们把 BERT-base 剪到6层，隐藏层大小仍为768，注意力头12个，得到66M的学生模型。",
    "Llama-2-7B有32层，隐藏维度4096，32个头；取第16层的输出，减少8层后精度下降。",
    # traditional characters
    "BERT-base 模型擁有 1.1 億個參數，共 12 層，隱藏維度 768，12 個注意力頭。",
    "GPT-3 模型擁有 1750 億個參數，模型結構有 96 層。",
    # families without a size: no one member is meant
    "LLaMA 有 7B、13B、33B、65B 四种参数规模。",
    "LLaMA has 7B, 13B, 33B and 65B sizes of parameters.",
    "Qwen2.5 有 0.5B、1.5B、3B、7B、14B、32B、72B 共七种参数规模。",
    "GPT-2 有 12 层、24 层、36 层、48 层四个版本，参数量为 1.17 亿到 15 亿。",
    "GPT-3 有 1000 亿级参数；GPT-3 的参数量超过 1000 亿；GPT-3 有上千亿参数。",
    "GPT-3 使用 3000 亿 token 训练，GPT-3 的前 48 层与后 48 层用不同的掩码。",
    "GPT-2 风格的模型有 6 层。GPT-2 架构，6 层，384 维。复现 GPT-2 时我用了 6 层 8 头。",
    "我训练了一个 6 层的 GPT-2；类似 GPT-2 的 10 层模型也可以。",
    "GPT-3 有近 2000 亿参数，GPT-2 有 15 亿参数，差两个数量级。",
    "GPT-2 的参数量为 1.17 亿；GPT-2 有 3.45 亿参数；GPT-2 最大版本有 1542M 参数。",
    "GPT-3 出现后，参数量每年增长 10 倍，2022 年达到 5400 亿参数的 PaLM。",
    "LLaMA 用 1.4 万亿 token 训练，LLaMA-65B 有 652 亿参数。",
    "与 GPT-3 相比，参数量为 2800 亿的 Gopher 更大。",
    "GPT-3 的 1750 亿参数需要 350GB 显存（fp16），比 GPT-2 的 15 亿大一百多倍。",
    "GPT-2 的词表大小为 50304（为了对齐），比原来的略大；LLaMA 的上下文长度可以扩展到 8192。",
    # several models in one sentence, each with its own
    "这样可以堆叠数十层（如 BERT-Base 有 12 层，BERT-Large 有 24 层，GPT-3 有 96 层），而不会难以优化。",
    "BERT-large 有 24 层、16 个头和 1024 维（而原始 Transformer 有 6 层、8 个头和 512 维）。",
    "如 BERT-base 有 10 层，就会更快；如果 BERT-base 有 10 层，则参数更少。",
    "BERT 的 base 版本有 12 层，large 版本有 24 层；GPT-2 的 1.5B 版本有 48 层。",
    # lists that pair up
    "Llama-2-7B、Llama-2-13B 的 batch 分别为 16 和 32。",
    "Llama-2 的 7B/13B/70B 的层数为 32/40/80，隐藏维度为 4096/5120/8192，头数为 32/40/64。",
    "在 7B/13B 上，学习率为 3e-4/3e-4，批大小为 16/32，训练轮数为 3/5。",
    "GPT-2 的 1.5B 版本有 48 层，而 774M 版本有 36 层。",
    "Llama-2-7B/13B 在 2/4 张卡上运行，batch 为 16/32；Llama-2-7B/13B 用 2/4 层的 MLP 作投影。",
    # a number said again; a share of two counts
    "参数量为 21128 × 768 = 16226304，约为 16M。",
    "DeepSeek-V3 总参数 671B，其中激活 37B，占总参数的 5.5%。",
    "总参数 671B，量化后减少 37B，约占总参数的 12%。",
    # rows of a family: its count and its sizes say which member is meant
    "| 模型 | 参数量 | 层数 | 隐藏维度 |\n|---|---|---|---|\n| LLaMA | 8B | 32 | 4096 |\n| LLaMA-2 | 7B | 32 | 4096 |",
    "Qwen3-30B-A3B：参数数量：总计 305 亿，其中已激活 33 亿 参数数量（非嵌入）：29.9B 层数：48",
]
CACHES = "各模型的 KV Cache 占用：\n\n| 模型 | 参数量 | 层数 | 隐藏维度 | 4K序列 | 32K序列 |\n|---|---|---|---|---|---|\n| LLaMA-2 | 7B | 32 | 4096 | 2.0 GB | 16.0 GB |\n| LLaMA-2 | 13B | 40 | 5120 | 3.1 GB | {} GB |"
ACTIVE = "| 属性 | DeepSeek-V3 | Qwen3-235B-A22B |\n|---|---|---|\n| 总参数 / 激活参数 | 671B / {} | 235B / 22B |\n| 每 token 的 KV 字节数 | 69 KB | 192 KB |"
NEEDED = "| 模型规模 | FP16 显存 | INT4 显存 | 推荐硬件（FP16） |\n|---|---|---|---|\n| 1.5B | 3 GB | 1 GB | RTX 3060 |\n| 7B | {} GB | 4 GB | RTX 4090 (24GB) |\n| 13B | 26 GB | 7 GB | A100 40GB |\n| 70B | 140 GB | 36 GB | 2×A100 80GB |"
RIGHT += [NEEDED.format(14), CACHES.format("25.0"), ACTIVE.format("37B")]
RIGHT += ["**`MHA` 块的参数量 = $4h^2 + 4h$**。\n\n**`MLP` 块的参数量 = $8h^2 + 5h$**。\n\nGQA 的注意力参数量为 3h^2 + 4h。"]
WRONG = [
    ("**`MHA` 块的参数量 = $7h^2 + 4h$**。\n\n**`MLP` 块的参数量 = $8h^2 + 5h$**。", "7h^2 + 4h"),
    (CACHES.format("45.0"), "45.0"),
    (NEEDED.format(64), "64"),
    (ACTIVE.format("31B"), "31B"),
    ("BERT-base包含14层的Transformer编码器,每层有768个隐藏单元和12个自注意力头。", "14"),
    ("BERT-base：12层，隐藏层大小768，自注意力头16个。", "16"),
    ("bert-base-chinese的层数12，隐藏层维度786，注意力头数12，词表大小21128。", "786"),
    ("BERT-base 模型擁有 1.5 億個參數。", "1.5 亿"),
    ("GPT-3 模型擁有巨大 1250 億個參數。", "1250 亿"),
    ("GPT-3 把参数量推到 155B，并首次系统性研究提示学习。", "155B"),
    ("GPT-3（475B参数）需要几百GB显存。", "475B"),
    ("GPT-3 堆 86 层、1750 亿参数。", "86"),
    ("GPT-2使用8个头（heads），每个头独立计算注意力权重。", "8"),
    ("2020年，GPT-3，它具有12298维的词向量，96层。", "12298"),
    ("OpenAI发布了GPT-2，其最大版本拥有1600维的词向量，58层，总共有15亿个参数。", "58"),
    ("BERT 的 base 版本有 12 层，large 版本有 26 层。", "26"),
    ("GPT-2 有多种规模，其中 1.5B 版本采用 41 层、1600 维与 25 个注意力头。", "41"),
    ("GPT-2 最大模型共计46层，参数量达到 15 亿。", "46"),
    ("BERT-base/BERT-large/GPT-2 XL 分别有 12/24/36 层。", "36"),
    ("Llama-2 7B/13B/70B 的层数为 32/40/60。", "60"),
    ("DINOv2：\n\n| 模型 | 参数量 | 层数 | 维度 |\n|---|---|---|---|\n| ViT-g/14 | 1.1B | 32 | 1536 |", "32"),
    ("GPT-2 使用 BPE 分词（约 58,257 词表）。", "58,257"),
    ("T5 的词表大小为 32138，最大长度 512。", "32138"),
    ("这样可以堆叠数十层（如 BERT-Base 有 12 层，BERT-Large 有 27 层，GPT-3 有 96 层），而不会难以优化。", "27"),
    ("對 Llama 3 8B 來說，d_model=2096，d_ff=14336，一共 32 層。", "2096"),
    ("在 BERT-base 中，隐藏层维度为 786。", "786"),
    ("参数量为 21128 × 768 = 16226304，约为 18M。", "18M"),
    ("DeepSeek-V3 总参数 671B，其中激活 37B，占总参数的 9.5%。", "9.5%"),
    ("DeepSeek-V3 共 671B 参数，其中激活 21B。", "21B"),
    ("| 模型 | 参数量 | 层数 | 隐藏维度 |\n|---|---|---|---|\n| LLaMA-2 | 7B | 37 | 4096 |", "37"),
    ("| 模型 | 参数量 | 层数 | 隐藏维度 |\n|---|---|---|---|\n| LLaMA-2 | 33B | 40 | 5120 |", "33B"),
    ("Qwen3-30B-A3B：参数数量：总计 305 亿，其中已激活 53 亿 参数数量（非嵌入）：29.9B 层数：48", "53 亿"),
]
PRINTED = """Qwen2ForCausalLM( (model): Qwen2Model( (embed_tokens): Embedding(152064, 3584) (layers): ModuleList( (0-27): 28 x Qwen2DecoderLayer( \
(self_attn): Qwen2SdpaAttention( (q_proj): Linear(in_features=3584, out_features=3584, bias=True) (k_proj): Linear(in_features=3584, out_features=512, bias=True) \
(v_proj): Linear(in_features=3584, out_features=512, bias=True) (o_proj): Linear(in_features=3584, out_features=3584, bias=False) ) \
(mlp): Qwen2MLP( (gate_proj): Linear(in_features=3584, out_features=18944, bias=False) (up_proj): Linear(in_features=3584, out_features=18944, bias=False) \
(down_proj): Linear(in_features=18944, out_features=3584, bias=False) ) ) ) )"""
OF_NO_PRESET = """ChatForGeneration(
  (word_embeddings): Embedding(99999, 2560)
  (layers): ModuleList(
    (0-9): 10 x Block(
      (input_layernorm): LayerNorm((2560,), eps=1e-05)
      (query_key_value): Linear(in_features=2560, out_features=7680, bias=True)
      (dense): Linear(in_features=2560, out_features=2560, bias=True)
      (post_attention_layernorm): LayerNorm((2560,), eps=1e-05)
      (dense_h_to_4h): Linear(in_features=2560, out_features=20480, bias=True)
      (dense_4h_to_h): Linear(in_features=10240, out_features=2560, bias=True)
    )
  )
)"""
TRUE_PRINTS = [
    PRINTED,
    OF_NO_PRESET,
    # the first embedding is narrower: factorised, projected
    "(embed_tokens): Embedding(50272, 512)\n(embed_positions): Embedding(2050, 1024)\n(project_in): Linear(in_features=512, out_features=1024)\n"
    "(k_proj): Linear(in_features=1024, out_features=1024)\n(v_proj): Linear(in_features=1024, out_features=1024)\n(q_proj): Linear(in_features=1024, out_features=1024)\n"
    "(out_proj): Linear(in_features=1024, out_features=1024)\n(fc1): Linear(in_features=1024, out_features=4096)\n(fc2): Linear(in_features=4096, out_features=1024)",
    # two towers of two widths
    "(q_proj): Linear(in_features=512, out_features=512)\n(k_proj): Linear(in_features=512, out_features=512)\n(v_proj): Linear(in_features=512, out_features=512)\n"
    "(out_proj): Linear(in_features=512, out_features=512)\n(fc1): Linear(in_features=512, out_features=2048)\n(fc2): Linear(in_features=2048, out_features=512)\n"
    "(q_proj): Linear(in_features=768, out_features=768)\n(k_proj): Linear(in_features=768, out_features=768)\n(fc1): Linear(in_features=768, out_features=3072)",
    # keys and values of pictures
    "(query): Linear(in_features=768, out_features=768)\n(key): Linear(in_features=1408, out_features=768)\n(value): Linear(in_features=1408, out_features=768)\n"
    "(LayerNorm): LayerNorm((768,))\n(query): Linear(in_features=768, out_features=768)\n(key): Linear(in_features=768, out_features=768)",
]


@pytest.mark.parametrize("text", [*RIGHT, *TRUE_PRINTS], ids=lambda text: repr(text)[:40])
def test_what_is_right_is_not_called_wrong(text: str) -> None:
    assert [(claim.text, claim.expected) for claim in audit(text).wrong] == []


@pytest.mark.parametrize(("text", "slip"), WRONG, ids=lambda text: repr(text)[:40])
def test_what_is_wrong_is_found(text: str, slip: str) -> None:
    assert [slip in claim.text for claim in audit(text).wrong] == [True]


@pytest.mark.parametrize(
    ("text", "right", "slip"),
    [
        (PRINTED, "(k_proj): Linear(in_features=3584", "(k_proj): Linear(in_features=3524"),
        (PRINTED, "(up_proj): Linear(in_features=3584, out_features=18944", "(up_proj): Linear(in_features=3584, out_features=14984"),
        (PRINTED, "28 x", "26 x"),
        (
            OF_NO_PRESET,
            "(dense_4h_to_h): Linear(in_features=10240, out_features=2560",
            "(dense_4h_to_h): Linear(in_features=10240, out_features=2060",
        ),
        (OF_NO_PRESET, "(query_key_value): Linear(in_features=2560", "(query_key_value): Linear(in_features=5260"),
        (OF_NO_PRESET, "(post_attention_layernorm): LayerNorm((2560", "(post_attention_layernorm): LayerNorm((2566"),
    ],
)
def test_a_printed_model_is_held_against_itself(text: str, right: str, slip: str) -> None:
    assert len(audit(text.replace(right, slip, 1)).wrong) == 1


OF_OTHERS = [
    # key-value heads that a config calls groups
    "ChatGLM2-6B\n\n隐藏维度大小\n4096\n层数\n28\n注意力头\n32\n键值头\n2\n",
    # a column of what a formula gives, and no count
    "不同版本 `LLaMA` 模型的理论参数量：\n\n| 实际参数量 | 隐藏维度 h | 层数 n | n heads | 理论参数量 12nh^2 |\n|---|---|---|---|---|\n"
    "| 6.7B | 4096 | 32 | 32 | 6,442,450,944 |\n| 13.0B | 5120 | 40 | 40 | 12,582,912,000 |\n| 65.2B | 8192 | 80 | 64 | 64,424,509,440 |\n",
    # a model that is made up, and a count that the line has just worked out
    "我将为本节发明一个基于LLaMA-2 13B的新模型。\n\n代入上面的数字，我们有`64 * 4096 * (3*16384 + 2 * 256 * (32 + 8)) + 4096 * 32128 = 18.4e9`。因此，这个模型有大约184亿个参数。\n",
]


@pytest.mark.parametrize("text", OF_OTHERS, ids=lambda text: repr(text)[:40])
def test_what_is_another_s_is_not_called_wrong(text: str) -> None:
    assert [(claim.text, claim.expected) for claim in audit(text).wrong] == []


def test_a_heading_s_number_is_no_size() -> None:
    text = "mixtral-8x7b\n\nH hidden_size 4096\nA num_attention_heads 32\n\n2 Transformer layers × 32      46,440,644,608 (99.4%)\n"
    assert audit(text).wrong == ()


def test_a_sister_s_figure_is_not_the_model_s() -> None:
    claims = audit("GPT-2(762M)；GPT-2 的参数量为 1.17 亿。").claims
    assert {claim.expected for claim in claims if claim.text == "1.17 亿"} <= {124_439_808, None}
