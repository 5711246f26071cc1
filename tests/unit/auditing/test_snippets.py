"""Single lines as people write them, each alone: what is wrong in them is called wrong, and nothing that is right."""

import pytest

from weighbridge import model
from weighbridge.auditing import audit
from weighbridge.auditing.claims import say_reason

RIGHT = [
    ("T5-XXL：d_model=4096，24 层，64 heads", None),  # of version 1.1
    (
        "DINOv2 各变体:\n\n| 模型 | 参数量 | 层数 | Patch |\n|---|---|---|---|\n| ViT-S/14 | 21M | 12 | 14×14 |\n| ViT-L/14 | 307M | 24 | 14×14 |",
        None,
    ),
    ("32 * 7 = 224GiB", None),
    ("67 + 8.4 + 8.4 + 67 + 235 + 235 + 235 = 856M", None),
    ("67 + 8.4 + 8.4 = 83.8M", None),
    ("48 × 90.59B + 164.02B = 4,512.3 GFLOPs", None),
    ("bert-base-multilingual-cased has 178M parameters", None),
    ("bert-base-multilingual-cased has 178M parameters", "bert-base-multilingual-cased"),
    (
        "The smaller BERT models:\n\n|   |H=128|H=256|H=512|H=768|\n|---|:---:|:---:|:---:|:---:|\n| **L=2**  |[**2/128 (BERT-Tiny)**][2_128]|[2/256][2_256]|[2/512][2_512]|[2/768][2_768]|\n",
        None,
    ),
    ("BERT有两个版本:base 版本(12层,768隐藏单元,12个头,总参数量110M),large 版本(24层,1024隐藏单元,16个头,总参数量 340M)", None),
    ("( 30522 + 512 + 2 ) × 768 = 23 , 835 , 648", None),
    ("llama-7b: d_model=4096\n\nmha = 4 * d_model^2 = 67.1M", None),
    ("4H² + 8H² + 2H = 12H² + 2H ≈ 12H²", None),
    ("d_ff = (8/3) × H\n\n3 × H × d_ff ≈ 8H²", None),
    ("16 × 7.08M = 113.28M", None),
    (
        "GPT-2:\n\n```\nGPT2LMHeadModel(\n  (transformer): GPT2Model(\n    (wte): Embedding(50257, 768)\n    (wpe): Embedding(1024, 768)\n```",
        None,
    ),
    (
        "GPT-2 FLOPs\n\n```\nname                 flops          ratio (%)\nattention            8053063680     2.7636\nmlp  154618822656   53.06\n```",
        None,
    ),
    ("GPT-2 small\n\n1st Linear layer: 768 inputs × 4×768 outputs", None),
    ("在 GPT-2 中，MLP 和 Attention 占比分别接近 66% 和 33%", None),
    ("在 GPT-2 中，MLP 和 Attention 占比分别接近 66% 和 33%", "gpt2"),
    ("gpt2 has 124,337,664 parameters", None),
    ("GPT-2 has 163,009,536 parameters", None),
    ("GPT-2 has 163,037,184 parameters", None),
    ("GPT-2 has 124,412,160 parameters", None),
    ("DeepSeek-V3 has 671B parameters, 37B activated per token", None),
    ("6h^2 + 4(s+o)h + 2h^2 = 8h^2 + 4(s+o)h", None),
    ("Estimated GPT2-Medium Params: 354.82M", None),
]
WRONG = [
    ("bert-base-multilingual-cased has 110M parameters", None),
    ("bert-base-multilingual-cased has 110M parameters", "bert-base-multilingual-cased"),
    ("Mixtral 8x7B has 45 billion parameters in total", None),
    ("**BERT-Base, Uncased**:\n12-layer, 768-hidden, 12-heads, 150M parameters", None),
    ("| Model | Layers | Hidden | Params |\n|---|---|---|---|\n| ELECTRA-Base | 12 | 768 | 210M |", None),
    ("layers = 18 × 12 × 2432² = 1,278,531,072", None),
    ("16 × 7.08M = 113.34M", None),
    ("BERT base\n\n768 * 768 * 3 + 768 * 768 一共12个\n\n- 总参数量为28,331,552", None),
    ("H=768. MLP = 8H² + 5H = 4,718,592", None),
    ("DeepSeek-V3 has 671B parameters, 47B activated per token", None),
    ("Estimated GPT2-Medium Params: 254.05M", None),
]


@pytest.mark.parametrize(("text", "given"), RIGHT, ids=lambda value: repr(value)[:40])
def test_what_is_right_is_not_called_wrong(text: str, given: str | None) -> None:
    assert audit(text, model=model(given) if given else None).wrong == ()


@pytest.mark.parametrize(("text", "given"), WRONG, ids=lambda value: repr(value)[:40])
def test_what_is_wrong_is_found(text: str, given: str | None) -> None:
    assert len(audit(text, model=model(given) if given else None).wrong) >= 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("67 + 8.4 + 8.4 = 93.8M", "should be 83.80M (10M too high)"),
        ("32 * 7 = 324GiB", "should be 224GiB (100GiB too high)"),
        ("16 × 7.08M = 115.34M", "should be 113.28M (2.06M too high)"),
    ],
)
def test_what_is_right_is_said_in_the_unit_of_the_result(text: str, said: str) -> None:
    (claim,) = audit(text.encode()).wrong
    assert said in say_reason(claim.reason, str)
