"""Bytes of weights in several dtypes: the figure that is not a count times its bytes, and what is no such slip."""

import pytest

from weighbridge.auditing import audit

TABLE = """| Model | FP16 (GB) | INT8 (GB) | INT4 (GB) | +20% overhead (FP16) |
|---|---|---|---|---|
| Llama 2 7B | 14 | 7 | 3.5 | 17 |
| Llama 2 13B | {} | 13 | 6.5 | 31 |
| Llama 2 70B | 140 | 70 | 35 | 168 |
"""
BY_DTYPE = """| Precision | Bytes per parameter | Memory for 70B |
|---|---|---|
| FP32 | 4 | {} |
| FP16 / BF16 | 2 | 140 GB |
| INT8 | 1 | 70 GB |
| INT4 | 0.5 | 35 GB |
"""
SLIPS = (
    ("A 7B model needs 28 GB in fp32, {} in fp16, 7 GB in int8 and 3.5 GB in 4-bit.", "14 GB", "19 GB"),
    ("At 8 bits per weight, Llama 3.1 405B takes {}; at 16 bits, 810 GB.", "405 GB", "605 GB"),
    ("The fp32 checkpoint of BERT-base is {}, in fp16 it is 220 MB.", "440 MB", "480 MB"),
    ("GPT-3 with its 175B parameters takes 350 GB in fp16 and {} in fp32.", "700 GB", "600 GB"),
    (TABLE, "26", "29"),
    (TABLE.replace("31", "{}").replace("| {} | 13", "| 26 | 13"), "31", "38"),
    (BY_DTYPE, "280 GB", "240 GB"),
    (BY_DTYPE.replace("| 2 |", "| {} |").replace("4 | {}", "4 | 280 GB"), "2", "3"),
    ("Each parameter takes {} bytes in float32 and 2 bytes in bfloat16.", "4", "8"),
    ("GB ≈ billions × bytes/weight, with bytes/weight ≈ 0.5 (4-bit), 1 (8-bit), {} (FP16).", "2", "3"),
    ("INT4: {} bytes (GPTQ/AWQ)", "0.5", "0.6"),
)
FAIR = (
    "Llama 2 7B takes 13 GB in fp16, 8 GB in int8 with its outliers and 4.5 GB in 4-bit.",
    "A 7B model takes 28 GB in fp32 and 14 GB in fp16; training needs 112 GB in fp32.",
    "A 70B model in fp16 is 140 GB, so it does not fit an A100 with 80 GB; in 4 bits it is 40 GB.",
    "fp16 takes half as much as fp32: 220 MB instead of 440 MB for BERT-base.",
    "With Llama 3 8B in fp16, the KV cache is 128 KB per token: 1 GB for 8K tokens, 16 GB for 128K.",
    "| Model | FP16 | Q4_K_M |\n|---|---|---|\n| 7B | 13.5 GB | 4.1 GB |\n| 13B | 26 GB | 7.9 GB |\n| 70B | 138 GB | 41 GB |",
    "| Model | FP16 | INT8 |\n|---|---|---|\n| 7B | 14 GB | 8 GB |\n| 13B | 26 GB | 15 GB |\n| 70B | 140 GB | 75 GB |",
)


@pytest.mark.parametrize(("text", "right", "slip"), SLIPS)
def test_the_figure_that_breaks_the_rule_of_the_others_is_wrong(text: str, right: str, slip: str) -> None:
    assert audit(text.format(right)).wrong == ()
    assert [claim.text.split()[0] for claim in audit(text.format(slip)).wrong] == [slip.split()[0]]


@pytest.mark.parametrize("text", FAIR)
def test_what_holds_more_than_the_weights_is_no_slip(text: str) -> None:
    assert audit(text).wrong == ()
