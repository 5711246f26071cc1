"""Numbers of something else than the model that a text names: each text here was once answered with a false alarm."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

OF_ANOTHER = {
    "bytes of a table that is counted above": "For BERT-Base:\n\n- Embedding table: 30,522 × 768 = 23,440,896 parameters\n- In 32-bit floats: about 89 MB\n",
    "a student's gradients": "A LLaMA-3-70B teacher trains a student.\n\n**The student:**\n- 7B params × 2 bytes = 14 GB for weights.\n"
    "- Gradients: another 14 GB (28 GB in fp32).\n",
    "sizes below a heading, the name of the original between": "### DistilBERT\n- **What it is**: a smaller version of BERT\n- **Architecture**: 6 layers, 12 heads\n"
    "\n### BERT-base\n- 12 layers\n",
    "a model that is only like a known one": "Umoja is a decoder for Swahili:\n\n- **Vocabulary**: 32,000 tokens\n- **Layers**: 6\n\n"
    "Its architecture is similar to GPT-2 small, with fewer words.\n",
    "a result whose thousands stand apart": "Q: 384 × 384 = 147 456\nK: 384 × 128 = 49 152 (two heads)\n",
    "parameters of the backbone alone": "| Model | Params | Layers |\n|---|---|---|\n| deberta-v3-base | 86M | 12 |\n| mdeberta-v3-base | 86M | 12 |\n",
    "what a card does in a second": "For Llama-3-70B each token takes 140 GFLOPs:\n\n- time for a token: 140 GFLOPs / 312 TFLOPS = 0.45 ms\n",
    "a column of depths": "| Model | Params | D | n_kv |\n|---|---|---|---|\n| Qwen2.5-7B | 7.6B | 28 | 4 |\n| Llama-2-7b | 6.7B | 32 | 32 |\n| Qwen2.5-14B | 14.7B | 48 | 8 |\n",
    "a product that leaves out the bytes": "KV cache: 128K tokens × 60 layers ≈ 4.2 GB\n\nKV 缓存：128K 序列 × 60 层 ≈ 4.2 GB\n",
    "a time of bytes and a speed": "Each card reads 140 GB / 4 = 35 GB, and 35 / 3350 = 10.4 ms\n",
    "a projection called W_Q": "GPT-2 Small: d_model = 768, num_heads = 12, d_ff = 3,072\n\nAttention:\n```\nW_Q: 768 × 768 = 589,824\nQ: 768 × 768 = 589,824\n```\n",
    "a range of sizes": "| Pythia-1.0B | 1.01B | suite of 70M~12B |\n",
    "a model with something added": "| Model | Params (M) |\n|---|---|\n| ResNet-50 | 25.6 |\n| ResNet-50 + CBAM | 25.8 |\n| Swin-T | 28.3 |\n| Swin-S | 49.6 |\n",
    "what an adapter trains of the layers": "| GPT-2 medium | LoRA r=4 on Wq, Wv | A of 4 × 1,024 and B of 1,024 × 4, twice in each of 24 layers, are 393,216 |\n",
    "towers of CLIP by the names of their image towers": "CLIP comes in several variants.\n\n| Model | Encoder | Parameters | Image | Patch Size | Vision Width | Vision Layers |\n|---|---|---|---|---|---|---|\n"
    "| RN50 | ModifiedResNet | 102M | 224 | N/A | 64 | [3, 4, 6, 3] |\n| ViT-B/32 | VisionTransformer | 151M | 224 | 32 | 768 | 12 |\n| ViT-L/14 | VisionTransformer | 428M | 224 | 14 | 1024 | 24 |\n",
    "the architecture of another model": "Kotoba-1b has the same architecture as GPT-2, with 24 layers, 16 heads and a hidden size of 2048.\n",
    "changes written as pairs": "- Weights: 7B × 2 bytes → 14B × 2 bytes = 14 GB → 28 GB\n",
    "the width of a head": "LLaMA-2-7B\n  layers=32, hidden_dim=128(每头), heads=32\n",
    "a model that is to be designed": "LLaMA-7B:\n- 隐藏维度：4096\n- 层数：32\n- 注意力头数：32\n- 词表大小：32000\n\n4 × 4096 × 4096 = 67,108,864\n\n"
    "**题目：如果要设计一个 3B 的模型，怎么选？**\n- 词表大小：约 65000\n- 隐藏维度：2560\n- 层数：32\n- 注意力头数：32\n",
    "a share of its own row": "| Model | Method | Total | Trainable | Share |\n|---|---|---|---|---|\n| FLAN-T5-Base | full | 247,577,856 | 247,577,856 | 100.00% |\n"
    "| FLAN-T5-Base | LoRA (r=32) | 254,655,744 | 7,077,888 | 2.78% |\n",
    "sizes of another model put into letters": "Mistral-7B fits, but for Ministral `head_dim = hidden_size / num_heads = 3072 / 32 = 96`.\n",
    "terms with their bytes in parentheses": "weights(2+4) + gradients(2+4) + Adam states(4+4) = 20 bytes\n",
    "what a count has shrunk from": "Sharing brings ALBERT-base from 110M down to 12M.\n\n跨层共享把 ALBERT-base 的参数量从 110M 压到 12M。\n",
    "another's column": "Qwen3-0.6B\n\n| Constant | Kernel | Model | |\n|---|---|---|---|\n| NUM_HEADS | 32 | 16 | change it |\n\n1024 / 16 = 64\n",
    "a factor whose thousands stand apart": "- Embedding: 100 278 × 4096 = 410 738 688\n- head: another 100 278 × 4096 = 821 MB\n",
    "labelled terms of a sum": "(Attention: 4d² + FFN: 8d² = 12d² per layer)\n\nq [4096 × 4096] + o [4096 × 4096] = 2 × 4096²\n",
    "any network of those sizes": "BERT-large (L=24, H=1024, A=16) has 335M parameters. For instance, a network with 14 layers of width 1536 has 5M parameters.\n",
    "a model that is supposed": "BERT-base has 12 layers of 768 units and 12 heads. A model half as deep would have 18 layers.\n",
    "an exercise": "# GPT-2 small\n\n12 layers, 768 wide, 12 heads.\n\nExercise: compute the parameters of a model with 20 layers, d_model = 896 and 14 heads.\n",
    "the first Transformer": "# BERT-base\n\nBERT-base has 12 layers and 12 heads. The original Transformer used 6 layers, a model dimension of 512 and 8 heads.\n",
    "a call of other sizes": "Llama 3 8B stacks 32 transformer blocks, each with 32 heads.\nLlama 3 8B has 8.0 billion parameters.\n\nWith 32 layers and a hidden dimension of 4,096, Llama 3 8B is well known.\nmodel = Transformer(dim=1792, depth=60, heads=44)\n",
    "a setting reduced for a demo": "T5-base has 12 layers and 12 attention heads.\nnum_layers = 21  # reduced for the demo\n",
    "a model named behind its sizes": "# GPT-2 medium\n\nGPT-2 medium stacks 24 transformer blocks, each with 16 heads. Compared to Llama 3 8B (32 layers, 8.0B), it is a different design. "
    "With 24 layers and a hidden dimension of 1,024, GPT-2 medium is well known.\nGPT-2 medium (L=24, H=1024, A=16) is the default.\n",
    "a draft model beside a line with a formula": "BERT-base has 12 layers.\nThe draft model has 42 layers and 150M parameters. BERT-base (L=12, H=768, A=12) has 110M.\n",
    "a table whose model is not named": "| Parameter | Value |\n|---|---|\n| Layers | 96 |\n| Hidden size | 12288 |\n| Heads | 96 |\n\n"
    "By comparison, Mixtral 8x7B has 32 layers and 47 billion parameters.\n",
}
SLIPS = {
    "the same bytes of the model itself": ("LLaMA-7B has 6.7B parameters.\n- In fp16 the weights take 28 GB.\n", "28 GB"),
    "sizes of the named model": ("### BERT-base\n- **Architecture**: 6 layers, 12 heads, hidden size 768\n", "6"),
    "numbers put in for a letter": ("H = 768\n\n2 × H = 2 × 768 = 1,636\n", "2 × H = 2 × 768 = 1,636"),
    "a size put into letters with a slip": ("BERT-base: H / A = 786 / 12 = 65.5\n", "H / A = 786 / 12 = 65.5"),
    "a result whose thousands stand apart": ("Q: 384 × 384 = 147 465\n", "384 × 384 = 147 465"),
}


@pytest.mark.parametrize("text", OF_ANOTHER.values(), ids=OF_ANOTHER)
def test_what_is_anothers_is_no_slip(text: str) -> None:
    assert not audit(text, name="note.md").wrong


@pytest.mark.parametrize(("text", "slip"), SLIPS.values(), ids=SLIPS)
def test_slips_are_still_found(text: str, slip: str) -> None:
    assert [claim.text for claim in audit(text, name="note.md").wrong] == [slip]
