"""Counts, sizes and bytes of running text that all else around them settles: slips are found, and true sentences made to tempt are left alone."""

from __future__ import annotations

import re

import pytest

from weighbridge.auditing import audit

SLIPS = [
    # sizes in products of words, in code, behind labels
    "Llama 3.1 405B has {8} KV heads × {128}-dim heads × {126} layers, and a hidden size of {16384}.",
    "Mistral 7B 有 {32} 层Transformer（{32} 个注意力头×{4096}隐藏维度）。",
    "# GPT-2\n\n```python\n@dataclass\nclass Config:\n    vocab_size: int = {50257}\n    n_positions: int = 1024\n    n_layer: int = {12}\n    n_head: int = {12}\n    n_embd: int = {768}\n```",
    "Qwen3-30B-A3B 共 {48} 层，专家人数 {128}，已激活的 Expert 数量 {8}，Q 为 {32} 个，KV 为 {4} 个。",
    # GPT-3 with its count is the largest of its eight
    "GPT-3 has 175 billion parameters: {96} layers, a hidden size of {12288} and {96} heads of {128} dimensions.",
    "GPT-3 的参数量达到 1750 亿，共 {96} 层，隐藏维度 {12288}，注意力头 {96}（每头 {128} 维）。",
    # counts beside right sizes or beside another right count
    "Qwen3-30B-A3B is a mixture of experts. The model totals {30.5} billion parameters, with an active set of approximately {3.3} billion parameters engaged per token.",
    "Qwen3-235B-A22B 类型为因果语言模型，总共拥有 {235}B 参数，其中 {22}B 已激活，非嵌入参数数为 {234}B。",
    "Mixtral 8x7B is sparse. As a result, each token has access to {47}B parameters, but only uses {13}B active parameters during inference.",
    # counts that grammar ties to a name
    "It is smaller and faster, and has far fewer parameters than BERT-base's {110} million.",
    "The student totals less (compared to {125}M parameters for RoBERTa-base).",
    "学生模型更小，参数量远低于 BERT-base 的 {1.1} 亿参数。",
    "对于 LLaMA-2-13B 模型，参数量为 {130} 亿。",
    # components
    "LLaMA-7B 的隐藏维度为 {4096}，embedding 层参数约 {1.31} 亿。",
    # bytes in a dtype that is said
    "Llama 3.1 70B: the KV cache takes {320} KB per token at FP16.",
    "The weights of Llama 2 13B in fp16 take {26} GB.",
    # arithmetic
    "so this gives 32 layers × 16,384 = {512} KB/token",
    "{56}GB(AdamW) + {14}GB(model) + {28}GB(gradients) = {98}GB",
    "size (2 Bytes) = 4096 × 2 × 128 × 2 = {2,097,152} bytes ≈ 2 MB",
    "# Llama 3.1 405B\n\ncache/token = 2(K,V) × layers × kv_heads × head_dim × bytes = 2 × {126} × {8} × {128} × bytes",
    "Llama 2 7B\n\nper token: 2 * num_layers * num_heads * head_dim * 2\n= 2 * {32} * {32} * {128} * 2 = {524,288} bytes ({512} KB)",
    "(0-31): {32} x LlamaDecoderLayer(",
    "# CLIP ViT-L/14\n\nThe vision encoder has {24} layers, {16} heads and a width of 1024. The text encoder has {12} layers, {12} heads and a width of 768.",
    "- in half precision every parameter takes 2 bytes\n  - 7B model = {14} GB",
    "This checkpoint has 31.23 million parameters and needs {124.92} MB of memory in full precision (fp32) or {62.46} MB in half precision (fp16).",
    "DistilBERT is a distilled version of BERT. It has {66}M parameters, 6 layers and 12 heads.",
    "Llama 3 8B and Llama 2 7B differ: the vocabulary grew from {32,000} to {128,256}.",
    "Llama 3 8B 与 Llama 2 7B 的主要区别：词表从 {32000} 扩大到 {128256}。",
]
"""In braces the numbers of which each is found when it is changed alone."""

TRUE = [
    # sizes
    "The attention of Llama 3.1 405B: 128 query heads × 128-dim heads = 16384 wide.",
    "We train a small GPT-2 of our own: n_layer: int = 6, n_head: int = 6, n_embd: int = 384.",
    "# GPT-2\n\n```python\nclass Config:\n    vocab_size: int = 50304  # GPT-2's 50257, padded up to a multiple of 64\n    n_layer: int = 12\n    n_head: int = 12\n    n_embd: int = 768\n```",
    "# GPT-2\n\n```python\nclass Config:\n    block_size: int = 256\n    n_layer: int = 12\n    n_head: int = 12\n    n_embd: int = 768\n```",
    "# GPT-2\n\n```python\nclass SmallConfig:\n    n_layer: int = 6\n    n_head: int = 12\n    n_embd: int = 768\n```",
    "BERT-base has 12 layers, 12 heads and a hidden size of 768; each layer has 2 sublayers × 2 norms.",
    "Mixtral 8x7B has 32 layers; each layer has 8 feed-forward blocks, of which 2 work on a token.",
    "Qwen2.5-7B 有 28 层，隐藏维度 3584，28 个头；每个 KV 头服务 7 个查询头。",
    "Llama 3 8B has 32 layers, 32 heads and a hidden size of 4096; on 8 GPUs × 4 layers each the pipeline is balanced.",
    "DeepSeek-V3 共 61 层，隐藏维度 7168，128 个头，每个 token 激活 8 个专家，分布在 4 个节点。",
    "Gemma 2 9B has 42 layers, 16 heads and a hidden size of 3584. A draft of 26 layers runs beside it.",
    "BERT-base: hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12, max_length = 128, batch_size = 32.",
    "OPT-125M has 12 layers, 12 heads and 768 dimensions, and we cut the context length to 1000 tokens.",
    # GPT-3
    "GPT-3 comes in eight sizes from 125M to 175B parameters; the smallest has 12 layers.",
    "GPT-3 was trained on 300B tokens. Its smallest version has 12 layers and 12 heads.",
    "GPT-3 (175B) has 96 layers; GPT-3 (13B) has 40 layers.",
    "GPT-3 has 175B parameters. Our replica has 24 layers and 16 heads.",
    "GPT-3 Small has 12 layers, 12 heads and 768 dimensions, GPT-3 175B 96 layers.",
    "Unlike GPT-3 with its 175 billion parameters, our model has 40 layers and 5120 dimensions.",
    "GPT-3 175B was followed by models of 70B parameters and 80 layers.",
    "LLaMA 有 70 亿到 650 亿参数，最大的有 80 层。",
    "Pythia 有 1.2 亿参数以上的多个版本，其中一个有 24 层。",
    "GPT-3 有 1750 亿参数，而 GPT-2 只有 15 亿参数、48 层。",
    # counts
    "Qwen3-30B-A3B has 48 layers, 128 experts and 8 active. Each expert has 4.7M parameters.",
    "Qwen3-30B-A3B has 48 layers, 128 experts and 32 heads. A dense model with 14B parameters does as well.",
    "Mixtral 8x7B has 32 layers, 8 experts and 46.7B parameters; the experts alone hold 45.1B parameters.",
    "Mixtral 8x7B has access to 47B parameters and uses 13B active parameters, while Llama 2 70B uses all its 70B parameters.",
    "BERT-base has 12 layers, 12 heads and 110M parameters. The student has 66M parameters.",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads. Of the 110M parameters 24M parameters are embeddings.",
    "Llama 2 7B has 32 layers, 32 heads and 6.7B parameters, and with LoRA 4.2M parameters are trained.",
    "GPT-2 has 12 layers, 12 heads and 124M parameters; later versions reach 1.5B parameters.",
    "ALBERT-base has 12 layers, 12 heads and 12M parameters, where BERT-base needs 110M parameters.",
    "Qwen2.5-7B 有 28 层、28 个头，总参数 76.1 亿，非嵌入参数 65.3 亿；0.5B 版本只有 4.9 亿参数。",
    "DeepSeek-V3 has 61 layers and 671B parameters, 37B active. With the prediction module the file holds 685B parameters.",
    "Falcon-7B has 32 layers and 71 heads. It was trained for 1,500B tokens and has 7.2B parameters.",
    # owned
    "LoRA adds 0.3M parameters for RoBERTa-base.",
    "The adapter needs 1.2M trainable parameters for BERT-base.",
    "It saves 44M parameters of BERT-base.",
    "With 24M parameters for BERT-base embeddings, the table is large.",
    "We reach this with only half of BERT-base's 110M parameters.",
    "BERT-base's 12 layers hold 85M parameters.",
    "BERT-base's 24M embedding parameters are a fifth of it.",
    "Our BERT-base's 90M parameters come from a smaller vocabulary.",
    "相比 BERT-base 的 8500 万编码器参数，词嵌入只有 2400 万。",
    "The pruned network keeps 55M parameters of BERT-base.",
    "DistilBERT reaches 97% of BERT-base's 79.5 points with 66M parameters.",
    # bytes
    "Llama 3.1 70B: the KV cache takes about 0.3 MB per token at FP16.",
    "Llama 3.1 70B: the KV cache takes 328 KB per token at FP16.",
    "Llama 3.1 70B: the KV cache takes 160 KB per token at FP8.",
    "For Llama 3.1 70B the KV cache needs up to 400 KB per token at FP16 with paging overhead.",
    "The KV cache of Llama 2 7B at FP16 is 0.5 MB per token, or 2 GB at 4096 tokens.",
    "The weights of Llama 2 13B in fp16 take 24.2 GiB.",
    "The weights of Llama 2 13B in fp16 take about 28 GB once loaded.",
    "Llama 2 7B needs 16 GB of memory in fp16, with the cache.",
    "Llama 2 7B in 8-bit takes 7.5 GB of weights.",
    "A 7B model needs 14 GB in half precision for its weights, and 18 GB in practice.",
    "Llama 3.1 8B 的 KV cache 在 FP16 下每个 token 约 128 KB，8K 上下文约 1 GB。",
    # arithmetic
    "13.6 GB + 2.3 GB = 15 GB",
    "1.2GB + 0.9GB + 3.3GB ≈ 5.5GB",
    "2 GB + 500 MB = 2.5 GB",
    "14 GB (weights) + 14 GB (gradients) + 56 GB (Adam) = 84 GB",
    "28 GB + 28 GB + 112 GB ≈ 170 GB",
    "0.5 MB/token × 4096 tokens = 2 GB",
    "80 layers × 4,096 bytes = 320 KB/token",
    "head_dim (128) × heads (32) = 4096",
    "The kernel (3) = 3 × 3 taps.",
    "7.5 GB + 7.5 GB = 15GB per card",
    "params (7B) × 2 bytes = 14 GB",
    # products in words and in numbers
    "# Llama 3.1 8B\n\n2 × layers × kv_heads × head_dim × bytes × tokens = 2 × 32 × 8 × 128 × 2 × 8192",
    "# Llama 3.1 8B\n\nif it had full attention: 2 × layers × heads × head_dim × 2 = 2 × 32 × 32 × 128 × 2 = 524,288",
    "# Llama 3.1 8B\n\nour draft: layers × hidden × hidden × 4 = 4 × 1024 × 1024 × 4",
    "# Llama 3.1 8B\n\nper GPU: layers × kv_heads × head_dim = 32 × 2 × 128",
    "# Llama 3.1 8B\n\nbatch × heads × seq × head_dim = 4 × 32 × 2048 × 128",
    "# Llama 3.1 8B\n\nlayers × hidden × mlp × 3 = 32 × 4096 × 14336 × 3 = 5,637,144,576",
    "For a toy model: layers × heads × head_dim = 2 × 4 × 16 = 128, unlike Llama 3.1 8B.",
    "# Gemma 2 9B\n\nlocal layers × kv_heads × head_dim = 21 × 8 × 256",
    "# Qwen2.5-7B\n\nvocab × hidden × 2 bytes = 151,646 × 3584 × 2",
    "# GPT-2\n\nheads × head_dim × 3 = 12 × 64 × 3 = 2304",
    # bytes said again
    "524,288 bytes per token, i.e. 4 GB at 8,192 tokens.",
    "1,048,576 bytes (1.05 MB), 1,048,576 bytes (1 MiB) and 4096 bytes (about 4 KB).",
    "16,384 bytes per layer, or 512 KB for 32 layers.",
    "It reads 4096 bytes (of 2 MB).",
    "4,096 bytes for each of 80 layers (320 KB).",
    "131,072 bytes ≈ 0.13 MB",
    "The page has 65,536 bytes = 64 KB = 0.0625 MB.",
    "2,147,483,648 bytes (2.1 GB)",
    "163,840 bytes (keys only, 0.16 MB) and as many for values",
    "Each 1,000 bytes (1 kB) cost nothing.",
    # printed repeats
    "(0-11): 12 x BertLayer(",
    "(1-3): 3 x MoELayer(",
    "(0): 1 x Block(",
    "(layers) (0-31) 32 x 4096",
    "ranks (0-7): 64 GB x 8",
    # towers
    "# CLIP ViT-L/14\n\nThe first 12 layers of the vision encoder are frozen; its 16 heads stay.",
    "# CLIP ViT-L/14\n\nThe vision encoder of our student has 12 layers, 16 heads and a width of 512.",
    "# CLIP ViT-L/14\n\nWe replace the text encoder by one of 6 layers with 12 heads.",
    "# CLIP ViT-L/14\n\nThe image encoder works on 256 patches of 14 pixels, with 16 heads and 24 layers.",
    "# CLIP ViT-L/14\n\nThe text encoder reads 77 tokens with 12 heads; the image encoder sees 257 tokens with 16 heads.",
    "# LLaVA\n\nThe vision encoder has 24 layers, and the language model 32 layers.",
    "# CLIP ViT-B/32\n\nThe vision encoder has 12 layers of width 768, the text encoder 12 layers of width 512.",
    "# CLIP ViT-L/14\n\n视觉编码器只训练最后 4 层（16 个头），文本编码器冻结。",
    "# CLIP ViT-B/16\n\nUnlike ViT-L with 24 layers, its vision encoder has 12 layers and 12 heads.",
    "# BERT-base\n\nThe image encoder beside it has 24 layers and 16 heads.",
    # bytes of a count beside them
    "7B model = 14 GB in fp16, 28 GB in fp32, 7 GB in int8.",
    "- in half precision every parameter takes 2 bytes\n  - 7B model = 13 GB",
    "- in half precision every parameter takes 2 bytes\n  - 7B model = 15.2 GB for Qwen",
    "- training in bf16 with Adam\n  - 7B model = 112 GB",
    "- fp16 or int8\n  - 7B model = 7 GB",
    "| Adam States | static | Φ × 8 (two moments in FP32) | 14B model ⇒ 112 GB |",
    "| 梯度 | 静态 | Φ × 4（FP32） | 14B 模型 ⇒ 56 GB |",
    "| 7B model | 6 GB (FP16 KV cache at 12K) |",
    "A model with 124M parameters uses 1.2 GB (FP32) with gradients and Adam.",
    "It has 110 million parameters; the checkpoint has 438 MB (FP32) or 220 MB (FP16).",
    "It has 1.1B parameters and 12M trainable parameters, 24 MB (FP16) of adapters.",
    "The 70B model needs 140 GB (FP16), that is 2 cards, where 8B parameters need 16 GB (FP16).",
    "A 13B model = 26 GB (FP16), quantized 8 GB.",
    # a pronoun, a sister, a change
    "DistilBERT is a distilled version of BERT. It has 66M parameters, where its teacher has 110M parameters.",
    "DistilBERT was trained by BERT-base. It has 12 layers, 12 heads and 110M parameters, and the student half of them.",
    "BERT-base was followed by RoBERTa. Its student has 66M parameters.",
    "Llama 2 70B has 80 layers; the 7B has 32 layers and the 13B has 40 layers.",
    "Compared with Llama 2 70B, the 7B model has 32 layers of width 4096.",
    "Whisper tiny has 39M parameters, base 74M, small 244M, medium 769M.",
    "BERT-base has 110M parameters, large 340M, and our small one 14M.",
    "GPT-2 small has 124M parameters, medium 355M, large 774M.",
    "From Llama 2 7B to Llama 3 8B the vocabulary grew from 32,000 to 128,000 tokens.",
    "Between Llama 2 7B and Llama 3 8B the number of KV heads fell from 32 to 8, and the context grew from 4096 to 8192.",
    "Llama 3 8B improves on Llama 2 7B: we prune the number of layers from 32 to 24.",
    "Llama 3 8B and Mistral 7B both have 32 layers; the vocabulary differs, from 32,000 to 128,256.",
    "In Qwen2.5-7B and Qwen2.5-14B the number of layers goes from 28 to 48.",
    "BERT-base and BERT-large: batch size from 16 to 32, hidden size from 768 to 1024.",
]


@pytest.mark.parametrize("text", SLIPS)
def test_each_number_changed_alone_is_found(text: str) -> None:
    plain = re.sub(r"[{}]", "", text)
    assert [claim.text for claim in audit(plain).wrong] == []
    marked = list(re.finditer(r"\{([^}]+)\}", text))
    for match in marked:
        for changed in _changes(match[1]):
            other = re.sub(r"[{}]", "", text[: match.start()] + changed + text[match.end() :])
            assert audit(other).wrong, other


def _changes(number: str) -> list[str]:
    """Return a number with its first digit raised, and lowered, where that leaves it a number of the same length."""
    first = int(number[0])
    return [f"{digit}{number[1:]}" for digit in (first + 1, first - 1) if 1 <= digit <= 9]


@pytest.mark.parametrize("text", TRUE)
def test_a_true_sentence_is_left_alone(text: str) -> None:
    assert [(claim.text, claim.expected) for claim in audit(text).wrong] == []
