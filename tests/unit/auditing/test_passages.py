"""Sizes of running text: each true passage is without an alarm, and each of its sizes, changed alone, is found."""

from __future__ import annotations

import re

import pytest

from weighbridge.auditing import audit
from weighbridge.auditing.text.described_sizes import find_described_sizes

PASSAGES = [
    "Google's Gemma 2B stacks {18} decoder blocks over a hidden size of {2048}. Its {8} query heads share one key-value head, each of dimension {256}, and the vocabulary has {256,000} entries.",
    "OPT-1.3B is a decoder with {24} layers, a width of {2048} and {32} attention heads; the feed-forward size is {8192}.",
    "GPT-2 Large 由 {36} 层组成，隐藏维度 {1280}，共 {20} 个头，词表 {50257}。",
    "LLaMA-7B has 32 layers of width 4096; LLaMA-65B stacks {80} layers of {8192} dimensions with {64} heads (65.2B parameters).",
    "BERT-Large stacks {24} encoder layers. The hidden size is {1024}, there are {16} heads (so {64} dimensions per head) and the feed-forward layer has {4096} units.",
    "DeepSeek-V3 共有 {61} 层，隐藏维度 {7168}，{128} 个注意力头。前 3 层使用稠密 FFN（中间维度 {18432}），其余每层有 {256} 个路由专家，每个 token 激活 8 个路由专家。",
    "# Llama 2 7B\n\nWhy does my GPU run out of memory?\n\n## Shapes first\n\nThe model is a stack of {32} decoder blocks. The residual stream is {4096} wide, there are {32} attention heads of {128} dimensions each, and the feed-forward layer expands to {11008}.",
    "ViT-B/16 cuts an image into patches. The encoder then is the familiar one: {12} layers, {12} heads, an MLP of {3072}.",
    "Qwen2.5-7B 有 {28} 层，隐藏维度 {3584}，Q 头 {28} 个，KV 头 {4} 个，FFN 维度 {18944}。",
    "SigLIP so400m-patch14-384: {27} layers × {1152} wide, with {16} heads.",
    "OLMoE-1B-7B: {16} layers, {64} experts with {8} active per token, hidden size {2048}.",
]
TRUE = [
    "Our BERT-base has 12 heads and a hidden size of 768, but only 6 layers and a vocabulary of 8,000 tokens.",
    "BERT-base has a hidden size of 768 and 12 heads. We freeze the first 4 layers and train the last 8 layers.",
    "Llama 3 8B has 32 layers and a hidden size of 4096. The vocabulary of 128,000 tokens is four times that of Llama 2.",
    "Phi-2 has 32 layers, 32 heads and a vocabulary of 50,257 tokens.",
    "Mistral 7B has 32 layers and 8 KV heads, each group of 4 query heads sharing one; hidden size 4096.",
    "BGE-M3 is built on XLM-RoBERTa large: 24 layers, hidden size 1024, 568M parameters.",
    "DeepSeek-V3 共有 61 层，隐藏维度 7168。前 3 层使用稠密 FFN（中间维度 18432），其余每层有 256 个路由专家，每个专家的中间维度为 2048，每个 token 激活 8 个路由专家。",
    "GPT-2 Large has 36 layers and 20 attention heads; its siblings have 124M, 355M and 1.5B parameters.",
    "BERT-base 有 12 层，隐藏维度 768，12 个头，每层参数量 709 万。",
    "BERT-base 有 12 层，隐藏维度 768，12 个头，一层有 709 万参数。",
    "BERT-base 有 12 层，隐藏维度 768，12 个头，12 层参数共 8505 万。",
    "BERT-base 有 12 层，隐藏维度 768，12 个头，词嵌入参数 2344 万。",
    "BERT-base 有 12 层，隐藏维度 768，12 个头，层参数 709 万。",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads, so one layer has 7.1M parameters.",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads; 7.1M parameters in each layer.",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads, 85M parameters in the layers and 24M parameters in the embeddings.",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads. The layers have 85M parameters.",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads. The heads have 590K parameters.",
    "Llama 3 8B has 32 layers, 32 heads and a hidden size of 4096. It was trained on 15T tokens with 3.8M tokens per batch.",
    "Llama 3 8B has 32 layers, 32 heads and a hidden size of 4096; training took 1.3M GPU hours.",
    "Llama 3 8B has 32 layers, 32 heads, hidden size 4096. For a 70B model, multiply everything.",
    "Llama 3 8B has 32 layers, hidden size 4096 and 8 KV heads; in 4 bits it takes 5.7 GB.",
    "Mixtral 8x7B has 32 layers, hidden size 4096 and 8 experts. Each expert has 5.6B parameters.",
    "Mixtral 8x7B has 32 layers, hidden size 4096, 8 experts; the experts total 45.1B.",
    "Mixtral 8x7B has 32 layers, hidden size 4096 and 8 experts, for a total of 46.7B, of which 12.9B are active.",
    "GPT-2 has 12 layers, 12 heads, 768 dimensions. With weight tying the model has 124M parameters, without it 163M parameters.",
    "GPT-2 has 12 layers, 12 heads, 768 dimensions. The model has 85M parameters without embeddings.",
    "GPT-2 has 12 layers, 12 heads, 768 dimensions; a 24-layer version has 355M parameters.",
    "GPT-2 has 12 layers, 12 heads and 768 dimensions. We shrink it to 6 layers, 6 heads and 384 dimensions.",
    "We took GPT-2 (12 layers, 12 heads, 768 dimensions) and removed 4 layers, so that 8 layers remain.",
    "GPT-2 has 12 layers, 12 heads and 768 dimensions, BERT-base 12 layers, 12 heads and 768 dimensions, and a vocabulary of 30,522.",
    "T5-base has 12 layers in the encoder and 12 layers in the decoder, so 24 layers in total, d_model 768 and 12 heads.",
    "Whisper-small has 12 encoder layers and 12 decoder layers with 12 heads and a width of 768.",
    "ViT-B/16 has 12 layers, 12 heads and hidden size 768; the MLP has 3072 hidden units.",
    "ALBERT-base has 12 layers that share their parameters, a hidden size of 768, an embedding size of 128 and 12M parameters.",
    "DistilBERT has 6 layers, 12 heads and a hidden size of 768; its teacher BERT-base has 12 layers.",
    "Qwen2-7B has 28 layers, 28 heads, hidden size 3584. Its tokenizer has a vocabulary of 151,643 tokens.",
    "Falcon-7B has 32 layers, hidden size 4544, 71 heads and one KV head of 64 dimensions.",
    "DeepSeek-V3 has 61 layers, hidden size 7168, 128 heads; experts live in 58 layers, in 8 groups of 32 experts.",
    "DeepSeek-V3 has 61 layers, 256 experts and hidden size 7168, q_lora_rank 1536 and kv_lora_rank 512; each head has 192 dimensions for keys and 128 dimensions for values.",
    "BERT-large has 24 layers, 16 heads, hidden size 1024. Fine-tuning only the top 6 layers trains 76M parameters.",
    "BERT-base (12 layers, 768 hidden, 12 heads) in 8 bits needs 110MB. Pruning 6 heads per layer removes 14M parameters.",
    "RoBERTa-base keeps the 12 layers and 768 dimensions of BERT-base but has a vocabulary of 50,265 tokens and 125M parameters.",
    "Compared with BERT-base (12 layers, 768 dimensions, 12 heads), our encoder has 4 layers, 312 dimensions and 12 heads.",
    "Gemma 2B has 18 layers, 8 heads of dimension 256 and a hidden size of 2048; the 7B version has 28 layers, 16 heads and a hidden size of 3072.",
    "Llama 2 comes as 7B (32 layers, 4096 dimensions, 32 heads), 13B (40 layers, 5120 dimensions, 40 heads) and 70B (80 layers, 8192 dimensions, 64 heads).",
    "Phi-2 has 32 layers, 2560 dimensions, 32 heads; on 8 A100s with 80 GB, training took 14 days on 1.4T tokens.",
    "Pythia-160M has 12 layers, 12 heads and 768 dimensions; Pythia-410M doubles that to 24 layers, 16 heads and 1024 dimensions.",
    "BLOOM-560M has 24 layers, 16 heads, hidden 1024 and was trained on 46 languages and 13 programming languages.",
    "XLM-R base has 12 layers, 768 dimensions, 12 heads and supports 100 languages; sequence length 512, batch of 8192.",
    "OPT-125M has 12 layers, 768 dimensions, 12 heads. With LoRA of rank 8 on 24 layers of queries and values, 294,912 parameters are trained.",
    "Mistral 7B has 32 layers, 32 heads, hidden size 4096 and a sliding window of 4096 tokens over a context of 8192.",
    "Llama-3.2-1B has 16 layers, 32 heads, 2048 dimensions and 1.24B parameters (1.5B without tied embeddings).",
    "bert-tiny has 2 layers, 128 dimensions and 2 heads, while BERT-base has 12 layers, 768 dimensions and 12 heads.",
    "The encoder of BART-large has 12 layers, 16 heads and 1024 dimensions; with the decoder that makes 24 layers.",
    "CLIP ViT-L/14 has 24 vision layers of 1024 dimensions and 12 text layers of 768 dimensions, both projected to 768 dimensions.",
    "BERT-base 有 12 层、12 个头、768 维；我们的学生模型只有 4 层、312 维。",
    "Qwen2.5-7B 有 28 层、28 个 Q 头、4 个 KV 头；微调时冻结前 20 层，只训练后 8 层。",
    "Llama-2-7B 有 32 层、32 个头，隐藏维度 4096；用 8 张 80GB 的 A100 训练，每张卡放 4 层。",
    "BERT-base: 12 layers, 768 hidden, 12 heads. Sentence pairs are cut at 128 tokens, batches hold 32 sequences, and training takes 4 epochs.",
    "The first version of BERT-base we tried had 12 layers, 768 dimensions, 12 heads and a custom vocabulary of 8,192 tokens.",
    "GPT-2 XL (48 layers, 1600 dimensions, 25 heads) was distilled into a model with 12 layers and 768 dimensions.",
    "Llama 3 8B (32 layers, hidden size 4096, 32 heads) speculates with a draft of 8 layers and 1024 dimensions.",
    "ViT-L/16 has 24 layers, 16 heads and hidden size 1024. Its MAE decoder has 8 layers, 16 heads and 512 dimensions.",
    "CLIP ViT-B/32 pairs a vision tower of 12 layers, 768 dimensions and 12 heads with a text tower of 12 layers, 512 dimensions and 8 heads.",
    "Whisper-large-v3 has 32 layers, 1280 dimensions, 20 heads; whisper-large-v3-turbo keeps the encoder but only 4 decoder layers.",
    "T5-small has 6 layers, 8 heads and d_model 512, while mT5-small has 8 layers, 6 heads and a vocabulary of 250,112.",
    "Gemma 3 27B alternates 5 local layers with 1 global layer; windows are 1024 tokens.",
    "Mixtral 8x7B: 32 layers, 8 experts, hidden size 4096. Dropping 2 experts per layer leaves 6 experts.",
    "DeepSeek-V2-Lite has 27 layers, hidden size 2048, 16 heads, 64 routed experts, 2 shared experts, 6 active; layer 0 is dense with 10944 hidden units.",
    "Qwen3-30B-A3B: 48 layers, 128 experts, 8 active, hidden size 2048; an 8-GPU node holds 16 experts per GPU.",
    "Llama 2 70B has 80 layers, 64 heads and 8 KV heads; with tensor parallelism over 8 GPUs each holds 8 heads and 1 KV head.",
    "With pipeline parallelism over 4 stages, Llama 2 70B (80 layers, hidden size 8192, 64 heads) puts 20 layers on each stage.",
    "OPT-175B: 96 layers, 96 heads, hidden size 12288; trained on 992 GPUs, it took 33 days.",
    "GPT-3 175B has 96 layers, 96 heads and 12,288 dimensions; its context is 2,048 tokens.",
    "For RoBERTa-large (24 layers, 1024 dimensions, 16 heads), adapters of 64 dimensions add 6.3M parameters; without them 355M parameters stay frozen.",
    "ELECTRA-small has 12 layers, 256 hidden, 4 heads and embeddings of 128 dimensions; its generator is a quarter as wide: 64 dimensions and 1 head.",
    "XLNet-base has 12 layers, 768 dimensions, 12 heads; we stack 2 more layers of 256 dimensions on top.",
    "DeBERTa-v3-large: 24 layers, 1024 hidden, 304M backbone parameters and 131M parameters for the 128K-token vocabulary.",
    "bge-small-en-v1.5 (12 layers, 384 dimensions, 12 heads) maps texts to vectors of 384 dimensions, bge-large to 1024 dimensions.",
    "Falcon-40B has 60 layers, hidden size 8192, 128 heads and 8 KV heads; Falcon-7B has 32 layers, hidden size 4544 and 71 heads.",
    "MPT-7B has 32 layers, 4096 dimensions and 32 heads. It was trained on 1T tokens with sequences of 2048 tokens.",
    "Phi-3-mini has 32 layers, 3072 dimensions, 32 heads, and a vocabulary of 32,064 tokens; phi-3-small has 32 layers and 4096 dimensions.",
    "A 12-layer, 768-dimensional BERT-base with 12 heads reads 512 tokens; a 24-layer one with 1024 dimensions reads the same.",
    "StarCoder2-3B has 30 layers, 3072 dimensions, 24 heads and 2 KV heads; its vocabulary is 49,152 tokens.",
    "Yi-6B has 32 layers, 4096 dimensions, 32 heads and 4 KV heads, a vocabulary of 64,000 and 6.06B parameters.",
    "Mamba-130M has 24 layers and 768 dimensions, each expanded to 1536 dimensions with a state of 16 dimensions.",
    "GPT-J-6B has 28 layers, 4096 dimensions, 16 heads of 256 dimensions; rotary embeddings cover 64 dimensions of each head.",
    "Pythia-1.4B has 24 layers, 2048 dimensions and 16 heads; rotary embeddings apply to 32 dimensions (25%).",
    "BLOOM has 70 layers, 112 heads, 14,336 dimensions and 176B parameters; checkpoints of 329 GB in bf16.",
    "Swin-T has 4 stages with 2, 2, 6 and 2 blocks; widths double from 96 to 768 dimensions.",
    "DINOv2-small: 12 blocks, 384 dimensions, 6 heads, patches of 14 pixels, 256 patch tokens at 224 pixels.",
    "Bert-base 的 12 层中每层有 12 个头，每个头 64 维；我们再加 2 层分类器，隐藏层 256 维。",
    "ChatGLM-6B 有 28 层、32 个头、隐藏维度 4096；P-Tuning v2 使用长度 128 的前缀。",
    "Qwen2-72B 有 80 层、64 个头、8 个 KV 头、隐藏维度 8192；8 卡张量并行时每卡 8 个头。",
    "Baichuan2-7B 有 32 层，隐藏维度 4096，词表从 64000 扩到 125696。",
    "LLaMA-13B 有 40 层、40 个头、5120 维，中文 Alpaca 把词表扩充到 49953。",
    "BERT-base 有 12 层、768 维、12 个头，TinyBERT 只有 4 层、312 维，参数量 1450 万。",
    "GPT-2 有 12 层，隐藏维度 768；GPT-2 Medium 有 24 层，隐藏维度 1024；两者词表都是 50257。",
    "Mixtral 8x7B 有 32 层，每层 8 个专家，每个 token 激活 2 个专家，总参数 467 亿，激活参数 129 亿。",
    "T5-base 的编码器有 12 层，解码器有 12 层，合计 24 层；d_model 为 768，头数 12。",
    "BART-base 有 6 层编码器和 6 层解码器，隐藏维度 768，共 1.39 亿参数，其中词嵌入 3860 万。",
    "Compared to the 7.24B parameters of Mistral 7B, Mixtral 8x7B stores 46.7B parameters.",
    "Llama-2-7B has 6.74B parameters. In 4-bit that is 3.5 GB, in 8-bit 7 GB, and its 32 layers can be split over 2 GPUs.",
    "The 12 layers of BERT-base hold 85M parameters, its embeddings 23.8M parameters and the pooler 0.6M parameters.",
    "About 31% of GPT-2's 124M parameters are embeddings; of GPT-2 XL's 1.56B parameters only 5%.",
    "SmolLM2-135M has 30 layers, 576 dimensions, 9 heads and 3 KV heads; 49,152 tokens make 28M parameters of embeddings.",
    "TinyLlama-1.1B has 22 layers, 2048 dimensions, 32 heads and 4 KV heads, trained on 3T tokens for 3 epochs.",
    "gpt-oss-20b has 24 layers, 32 experts and 4 active experts; alternating layers use a window of 128 tokens.",
    "Nemotron, Llama 3 8B and Mistral 7B have 32 layers each, but 3.1's tokenizer has 128,256 tokens.",
    "The 0.6B, 1.7B and 4B sizes of Qwen3 have 28, 28 and 36 layers.",
    "Qwen3-0.6B has 28 layers, hidden size 1024, 16 heads and 8 KV heads with a head dimension of 128.",
    "Qwen3-8B: 36 layers, 32 heads, 8 KV heads, hidden size 4096 (head size 128), vocabulary 151,936; non-embedding parameters 6.95B.",
    "OLMo 2 7B has 32 layers, 4096 dimensions and 32 heads; stage 2 anneals on 50B tokens three times.",
    "SAM ViT-B has 12 layers, 768 dimensions and 12 heads; global attention is used in 4 layers, windows of 14 in the other 8 layers.",
    "ModernBERT-base has 22 layers, 768 dimensions and 12 heads; every third layer is global, so 8 layers are global and 14 layers local.",
]
TRUE += [
    "OpenAI CLIP ViT-B/32: image tower 12 layers × 768 wide, text tower 12 layers × 512 wide, joint space of 512 dimensions, 151M parameters. We add 10 layers of 300 units on top.",
    "CLIP ViT-B/32 的图像塔有 12 层、768 维，文本塔有 12 层、512 维，词表 49408。前 5 层冻结。",
    "LLaVA-1.5-7B joins a CLIP ViT-L/14 of 24 layers with Vicuna 7B of 32 layers and a hidden size of 4096.",
    "SAM ViT-B has 12 layers, 768 dimensions and 12 heads; its mask decoder has 2 layers of 256 dimensions.",
    "BLIP-2 with OPT-2.7B has a Q-Former of 12 layers and 768 dimensions between 39 vision layers and 32 layers of OPT with 2560 dimensions.",
    "DETR-ResNet-50 has 6 encoder and 6 decoder layers, 256 dimensions, 8 heads and 100 object queries.",
    "Whisper large-v3 has 32 layers on each side, 1280 dimensions, 20 heads and 128 mel bins.",
]
OF_ANOTHER = [
    "; we freeze the first 9 layers.", ". Our student has 9 layers and 300 dimensions.", ". After pruning, 9 layers and 10 heads remain.", ". The first 9 layers hold 113M parameters.",
    ", distilled to 9 layers and 300 dimensions.", ". Adding 9 layers of 300 dimensions gives 12M more parameters.", ". A probe of 300 hidden units reads layer 9.",
    ". The decoder that we train on top has 9 layers, 10 heads and 300 dimensions.", "。我们只保留 9 层，隐藏维度降到 300。", "。学生模型为 9 层、300 维、10 个头。", "。LoRA 的秩为 10，可训练参数 12M。",
    " and is compared with a baseline of 9 layers, 300 dimensions and 10 heads.", ". A model half as deep has 9 layers.", ". Early exit stops after 9 layers on average.", ". On top sits an LSTM with 300 hidden units.",
    ". The tokenizer was trained with a vocabulary of 300 words first.", "; a variant with 9 layers and 10 heads has 113M parameters.", ". Baselines: an LSTM with 113M parameters and a CNN with 10 layers.",
    ". A vocabulary of 300 words would save 31M parameters.", ". The adapter has 300 hidden units and 12M parameters.", ". The reward model has 113M parameters.", ". With 9 layers it would have 113M parameters.",
]  # fmt: skip
"""What a text may go on to behind a model's description, none of it about that model as it is."""
COUNTS = [
    ("Everybody knows the original GPT-2 XL; it weighs in at 6 GB. The original GPT-2 XL counts 1.56B parameters.", "1.56B", "6.56B"),
    ("Mistral 7B is no larger: {32} layers, hidden size 4096, 8 KV heads, for a total of 7.24B.", "7.24B", "7.42B"),
    ("BLOOM-560M has 24 layers, hidden 1024 and 16 heads, so almost half of its 559M parameters are embeddings.", "559M", "595M"),
    ("* **Gemma 2B**: 18 layers, hidden size 2048, 8 heads. That is 2.51B parameters.", "2.51B", "5.21B"),
]


@pytest.mark.parametrize("passage", PASSAGES)
def test_a_size_that_is_not_the_models_is_found(passage: str) -> None:
    true = passage.replace("{", "").replace("}", "")
    assert not audit(true).wrong
    for number in re.findall(r"\{(.*?)\}", passage):
        slip = str(int(number.replace(",", "")) + 3)
        wrong = audit(passage.replace("{" + number + "}", slip, 1).replace("{", "").replace("}", "")).wrong
        assert [claim.value for claim in wrong] == [int(slip)], number


@pytest.mark.parametrize("text", TRUE)
def test_what_is_said_of_another_model_or_of_some_layers_is_no_alarm(text: str) -> None:
    assert not audit(text).wrong


@pytest.mark.parametrize("rest", OF_ANOTHER)
@pytest.mark.parametrize(
    "lead", ["RoBERTa-large has 24 layers, a hidden size of 1024 and 16 attention heads", "OPT-1.3B: 24 layers, 2048 dimensions, 32 heads"]
)
def test_what_a_text_goes_on_to_is_not_the_model_before(lead: str, rest: str) -> None:
    assert not audit(lead + rest).wrong


ELSEWHERE = [
    "The student keeps 14 layers and a hidden size of 1500.",
    "Our reward model has 9 layers.",
    "The reward model has 113M parameters.",
    "The probe on top is an MLP with 14 layers of 10000 units.",
    "We add 7 layers of 640 units on top.",
    "A head with 10 layers and 300 hidden units predicts the score.",
    "The first 10 layers are frozen.",
    "We prune it to 10 layers.",
    "The draft model has 9 layers, a hidden size of 312 and 9 heads.",
    "An LSTM baseline with 7 layers and 312 hidden units gets 71.2.",
    "The decoder we train has 9 layers and 9 heads.",
    "The image encoder has 10 layers and a width of 312.",
    "Training took 14 hours on 1500 GPUs.",
    "The batch has 312 tokens, and the window slides by 312.",
    "The vocabulary of the student has 10000 tokens.",
    "The tokenizer was cut to 1500 entries.",
    "There are 10 layers in the critic, each 312 wide.",
    "We compare with a transformer of 9 layers, 9 heads and 1500 dimensions.",
    "A 9-layer network with 640 dimensions is enough.",
    "The adapter has a bottleneck of 14, the projection maps to 300 dimensions.",
    "Each expert of our mixture has a width of 1500; there are 14 experts, of which 2 are active.",
    "The classifier has 312 inputs and 14 outputs.",
    "The codebook has 312 entries of 7 dimensions.",
    "Attention maps of layers 14 and 9 are shown for head 3.",
    "Layer 14 has a norm of 10000.",
    "With 7 layers removed, accuracy falls by 3 points.",
    "On 9 heads we see induction.",
    "Rank 10 is enough; alpha is 640.",
    "The MLP of the policy is 312 wide.",
    "The transformer in the diffusion prior has 14 blocks and is 640 wide.",
    "Its smaller sibling has 14 layers and 113M parameters.",
    "The teacher has 113B parameters.",
    "The whole pipeline has 113M parameters, 113M of which are trained.",
    "The world model stacks 14 blocks over a hidden size of 640.",
    "The network we use for the value function: 14 layers, 312 hidden.",
    "Here the encoder is a CNN with 14 blocks; it is 640 wide.",
    "Every block of the U-Net has 14 heads and a width of 1500.",
    "Their version has 10 layers.",
    "The speech encoder, by contrast, has 10 layers of 1500 dimensions.",
    "All experiments use 10 heads.",
    "Two of the 7 heads attend to the first token.",
    "There are 14 experts in our own mixture.",
    "The residual stream of the toy model is 312 wide, there are 7 heads of 7 dimensions.",
    "One router picks 9 of 10000 documents.",
    "The retriever returns 10 passages of 312 tokens with a hidden size of 312.",
    "Same recipe with 10 layers: 68.1.",
    "First we train a model with 10 layers and 10 heads, then we grow it.",
    "The usual setting is 10 layers, 300 wide; we keep it.",
    "Every student has 14 layers.",
    "All students have 10 blocks and are 640 wide.",
    "The other tower has 7 layers and a hidden size of 1500.",
    "The same, but with 14 layers and 1500 units.",
    "学生模型保留 7 层，隐藏维度 312。",
    "奖励模型有 7 层，113M 参数。",
    "我们在上面加了 7 层 MLP，每层 1500 个单元。",
    "前 9 层冻结。",
    "图像编码器有 14 层，宽度 300。",
    "词表裁剪到 1500。",
    "训练用了 14 张卡，共 10000 小时。",
    "草稿模型：14 层，隐藏维度 1500，14 个头。",
    "对比的 LSTM 有 10 层，隐藏维度 640。",
    "教师模型有 52B 参数。",
    "自编码器共 14 层，瓶颈 1500 维。",
    "策略网络由 14 层组成，隐藏维度是 640。",
    "解码器用了 14 个头。",
    "分类头：10000 维输入，14 维输出。",
]
"""What a text says below a model's description, in sentences that begin with something else."""


@pytest.mark.parametrize("sentence", ELSEWHERE)
def test_a_sentence_about_something_else_is_no_alarm_wherever_it_stands(sentence: str) -> None:
    for lead in (
        "Llama 2 7B has 32 layers, a hidden size of 4096 and 32 attention heads.\n\n" + sentence,
        "# SmolLM2-135M\n\nThe model is a stack of 30 blocks. The residual stream is 576 wide, and there are 9 heads.\n" + sentence,
        "Qwen3-0.6B：28 层，隐藏层 1024，词表大小 151936，FFN 中间维度 3072。\n\n## 训练\n\n" + sentence,
    ):
        assert not audit(lead).wrong


@pytest.mark.parametrize(("text", "said", "slip"), COUNTS)
def test_a_count_behind_a_description_is_of_what_is_described(text: str, said: str, slip: str) -> None:
    text = text.replace("{", "").replace("}", "")
    assert not audit(text).wrong
    assert [claim.text for claim in audit(text.replace(said, slip)).wrong] == [slip]


def test_a_figure_of_the_whole_beside_words_for_a_part_is_no_alarm() -> None:
    assert not audit("ELECTRA-small uses 256 hidden units, 4 heads and 12 layers (14M parameters).").wrong


@pytest.mark.parametrize(
    "text", ["the MLP 4,722,432", "32 × 12 layers", "12-16 layers", "128K-token", "40% layers", "v1.12 layers", "3.5 layers"]
)
def test_what_is_no_size_is_not_read_as_one(text: str) -> None:
    assert not list(find_described_sizes(text))


def test_a_total_that_leaves_much_out_is_no_slip() -> None:
    """Untied, without the biases of linear maps, positions and the last norm: GPT-3's total as a course counts it."""
    text = "GPT-3 175B has 96 layers, a hidden size of 12288 and 96 heads.\n\nTotal GPT-3 Parameters: {}"
    assert not audit(text.format("175,186,010,112")).wrong
    assert audit(text.format("175,186,010,012")).wrong


SISTER_BELOW = """# 如何计算 BERT 的参数量

以 BERT-base 为例。词表 30522，隐藏维度 768，层数 12。

将上面的结果加起来，BERT 模型的参数总量为 23837184 + 85645824 = 109483008。
"""


@pytest.mark.parametrize("below", ["", "\n相关文章：BERT-large 有 24 层，BERT-Base, Cased 有 12 层。\n"])
def test_a_bare_name_is_the_main_model_until_a_sister_is_named(below: str) -> None:
    assert audit(SISTER_BELOW + below).corrected == 109_483_008
    above = audit("BERT-large 有 24 层。\n\n" * bool(below) + SISTER_BELOW)
    assert not above.wrong


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Llama 2 7B has 6.74B parameters: 36 layers, each with 4 attention matrices.", "wrong"),
        ("LLaMA-65B 共 652 亿参数，82 层，很大。", "wrong"),
        ("Llama 2 7B has 6.74B parameters, 30 layers of which I froze.", "unsettled"),
        ("Llama 2 7B has 6.74B parameters, 20 layers on the GPU and 12 on the CPU.", "unsettled"),
    ],
)
def test_a_size_goes_on_from_a_right_count(text: str, verdict: str) -> None:
    assert [claim.verdict for claim in audit(text).claims if claim.kind == "configuration"] == [verdict]
