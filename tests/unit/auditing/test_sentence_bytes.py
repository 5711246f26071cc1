"""Bytes that follow from a model's nominal count and a dtype, both said in words."""

import pytest

from weighbridge.auditing import audit

TRUE = """\
A 7B model in FP16 takes about 14 GB.
A 7B model in FP16 takes 13 GB (GiB, really).
A 7B model in 4-bit takes about 4.4 GB as GGUF.
A 7B model needs 16 GB with fp16 weights and some overhead.
A 7B model at fp16 needs about 14 GB; fine-tuning it with Adam needs 112 GB.
A 70B model quantized to 4 bits fits in 48 GB.
A 70B model in fp16 (140 GB) takes two 80 GB cards.
Loading a 13B model in 8-bit takes 13 GB, in 4-bit 7.5 GB.
Gemma 7B in bf16 takes 17 GB.
CodeGemma 7B model in bf16 takes 17 GB.
The KV cache of a 7B model in fp16 takes 2 GB at 4096 tokens.
An 8B model in bf16 is 16 GB on disk, and 5 GB at Q4.
A 7B model in float32 requires 28 GB for the weights and 28 GB for the gradients.
Each GPU holds a quarter of a 70B model in bf16, that is 35 GB.
7B parameters * 2 bytes = 14 GB, and with the optimizer 7B * 8 bytes = 56 GB.
With ZeRO-3 over 8 GPUs, a 7B model in bf16 needs 1.75 GB per GPU.
An 8x7B model in bf16 takes 93 GB.
A 7B model with 2 bytes per parameter takes 14 GB, and with a 20% margin 16.8 GB.
A 3B model in FP16 = 6 GB; in INT8 = 3 GB; in INT4 = 1.5 GB.
Running a 34B model in 4-bit takes about 20 GB.
The 1B model in fp16 uses about 2.5 GB.
Mixed precision training of a 1.5B model takes 24 GB.
In full precision a 7B model takes 28 GB, half of that (14 GB) in half precision.
A 7B model needs 28 GB in fp32 but only 7 GB in int8.
A 30B model in fp16: 65 GB; LLaMA calls 32.5B a 30B.
A 7 billion parameter model loaded in 8-bit needs ~7 GB, plus activations.
The 7B model was trained with 2 bytes per parameter and took 40 GB of video memory at its peak.
For a 7B model, 16-bit weights are 14 GB, Adam's two moments in 32-bit 56 GB.
- In half precision: every parameter = 32/2=16 bits or 2 bytes; a 7B model = 14 GB
- BF16: 2 bytes per parameter. A 7B model takes 14 GB; a 70B model takes 140 GB.
- INT4: 0.5 bytes per parameter. The same 70B model takes 35 GB.
At FP16, a 70B parameter model occupies 140 GB. Quantize to INT4 and that drops to 35 GB. INT8 lands at 70 GB.
A 7B model in fp16 takes 14 GB. The KV cache in fp16 takes 5 GB.
A 7B model takes 14 GB in fp16. With Adam in fp32 it goes to 84 GB.
- At bf16 (2 bytes), a 1B model is about 2.5 GB, since it has 1.24 billion.
- And for 8 bit = 7 GB and 4 bit = 3.5 GB for a 7B model
- A model with 7 billion parameters: 7 Billions (of parameters) * 4 Bytes (32 floating point size) = 28 GBs.
""".splitlines()
assert len(TRUE) > 30


@pytest.mark.parametrize("sentence", TRUE)
def test_a_fair_figure_is_no_slip(sentence: str) -> None:
    assert audit(sentence.encode(), name="x.md").wrong == ()


@pytest.mark.parametrize(
    ("sentence", "wrong", "right"),
    [
        ("7B model = 7B * 4 bytes = 28 billion bytes = 23 GB of GPU memory.", "23 GB", "28 GB"),
        ("A 7B-parameter model stored in float32 occupies about 48 GB just for the weights.", "48 GB", "28 GB"),
        ("A 70B model in FP16 requires 180 GB of memory.", "180 GB", "140 GB"),
        ("- BF16: 2 bytes per parameter. A 7B model takes 17 GB.", "17 GB", "14 GB"),
        ("At bf16 (2 bytes), a 1B model ≈ 4 GB.", "4 GB", "2 GB"),
        ("At FP16, a 70B parameter model occupies 140 GB. Quantize to INT4 and that drops to 95 GB.", "95 GB", "35 GB"),
        ("for 8 bit = 7 GB and 4 bit = 5.9 GB for 7B model", "5.9 GB", "3.5 GB"),
    ],
)
def test_a_figure_that_its_count_and_dtype_refute_is_wrong(sentence: str, wrong: str, right: str) -> None:
    found = [claim for claim in audit(sentence.encode(), name="x.md").wrong if claim.text == wrong]
    assert [str(dict(claim.reason[0].values)["right"]).replace(".50", ".5").replace(".00", "") for claim in found] == [right]


def test_the_dtype_of_the_item_above_holds_for_its_items() -> None:
    text = "- In half precision: 2 bytes\n  - 7B model = 18 GB\n"
    assert [claim.text for claim in audit(text.encode(), name="x.md").wrong] == ["18 GB"]


WORK = "Inference FLOPs per token ≈ 2N (one forward pass). A 70B model: ~140 billion FLOPs per token."


@pytest.mark.parametrize("figure", ["140 billion", "70 billion", "0.14 trillion", "420 billion"])
def test_work_by_the_rule_that_the_text_says_is_fair(figure: str) -> None:
    assert audit(WORK.replace("140 billion", figure).encode(), name="x.md").wrong == ()


def test_work_that_no_multiple_of_the_count_gives_is_wrong() -> None:
    found = audit(WORK.replace("140 billion", "110 billion").encode(), name="x.md").wrong
    assert [claim.text for claim in found] == ["110 billion"]
    assert audit(WORK.replace("140 billion", "110 billion").replace("≈ 2N", "").encode(), name="x.md").wrong == ()
