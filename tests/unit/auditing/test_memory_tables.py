"""Tables of bytes: a row for each model, or a row for each length below the name of the model."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit


def _wrong(text: str) -> list[str]:
    return [claim.text for claim in audit(text).wrong]


def _judged(text: str) -> list[str]:
    return [claim.text for claim in audit(text).claims if claim.verdict in ("exact", "rounded")]


_WEIGHTS = """| Model | Params | FP16 weights | KV cache per token |
|---|---|---|---|
| Llama-2-7B | 7B | {} | 0.5 MB |
| Llama-2-13B | 13B | 26 GB | 0.8 MB |
| Llama-2-70B | 70B | 140 GB | {} |
"""


def test_a_row_that_names_its_model_is_held_to_it() -> None:
    text = _WEIGHTS.format("14 GB", "0.31 MB")
    assert _wrong(text) == []
    assert {"14 GB", "26 GB", "140 GB", "0.5 MB", "0.8 MB", "0.31 MB"} <= set(_judged(text))


def test_a_figure_is_wrong_when_less_far_off_where_its_column_is_right() -> None:
    assert _wrong(_WEIGHTS.format("19 GB", "0.93 MB")) == ["19 GB", "0.93 MB"]


@pytest.mark.parametrize("head", ["VRAM (Q4)", "Disk (GGUF Q4_K_M)", "RAM", "GPU", "Memory (4-bit)", "Memory (fp16)"])
def test_a_column_of_what_a_machine_needs_is_not_judged(head: str) -> None:
    assert (
        _wrong(_WEIGHTS.replace("FP16 weights", head).replace("26 GB", "10 GB").replace("140 GB", "48 GB").format("6 GB", "0.31 MB")) == []
    )


_LENGTHS = """Llama-3-8B (L={}, H=8 KV heads, d=128)

| Context | {} |
|---|---|
| 4K tokens | 0.5 GB |
| 32K | {} |
| 128K | 16 GB |
"""


def test_a_table_of_lengths_is_held_to_the_model_above_it() -> None:
    text = _LENGTHS.format(32, "KV cache", "4 GB")
    assert _wrong(text) == []
    assert _judged(text) == ["L=32", "8 KV heads", "128", "0.5 GB", "4 GB", "16 GB"]
    assert _wrong(_LENGTHS.format(36, "KV cache", "40 GB")) == ["36", "40 GB"]


@pytest.mark.parametrize("head", ["KV cache (int4)", "KV cache after compression", "KV cache for 8 users", "KV cache per layer", "Memory"])
def test_another_cache_is_not_judged(head: str) -> None:
    assert _wrong(_LENGTHS.format(32, head, "40 GB")) == []


_EXPERTS = """| Model | dense layer# | MoE layer# | active/routed | Active | Params | fp16 kv@128k |
|---|---|---|---|---|---|---|
| DeepSeek-V3 | {} | {} | 8/256 | {} | 671.03B | 8.578GB |
| Qwen3-30B-A3B | 0 | 48 | 8/128 | 3.34B | 30.53B | 12GB |
| Mixtral-8x7B | 0 | 32 | 2/8 | 12.88B | 46.70B | 16GB |
"""


def test_layers_with_experts_and_active_counts_without_routers() -> None:
    text = _EXPERTS.format(3, 58, "37.45B")
    assert _wrong(text) == []
    assert {"3", "58", "48", "37.45B", "3.34B", "12.88B", "12GB", "8.578GB"} <= set(_judged(text))
    assert _wrong(_EXPERTS.format(3, 57, "31.45B")) == ["57", "31.45B"]


def test_bytes_of_a_token_hold_for_the_sentences_behind_them() -> None:
    text = "For Llama 2 7B in fp16, each token requires 0.5 MB of KV cache. A single 2,000 token conversation takes {} of cache memory."
    assert _wrong(text.format("1 GB")) == []
    assert _wrong(text.format("5 GB")) == ["5 GB"]
    assert _wrong(text.replace("cache memory", "memory").format("5 GB")) == []
    assert _wrong(text.replace("A single", "For Llama 2 70B, a single").format("0.65 GB")) == []


def test_a_cell_that_says_more_than_its_figure_is_not_wrong() -> None:
    row = "| Llama-2-7B | kv cache bytes per token: 64.68 GiB / 626,949 tokens | 108.2 KiB per token |"
    assert _wrong(f"| model | log | mean |\n|---|---|---|\n{row}\n") == []


@pytest.mark.parametrize("said", ["光加载权重就需要 {}GB", "权重本身约占 {}GB", "仅权重就得 {} GB"])
def test_a_dtype_said_in_the_sentence_before_is_that_of_the_weights(said: str) -> None:
    text = (
        "Llama 3 8B 有 80 亿个参数。在 fp16 中,每个参数占 2 字节;"
        + said
        + "。训练期间还需要梯度(16GB)、Adam 优化器状态(动量 + 方差共 32GB)。"
    )
    assert [_wrong(text.format(gigabytes)) for gigabytes in (16, 15, 46)] == [[], [], [said[said.index("{") :].format(46)]]


_CHOSEN = """| 模型 | 专家数 | Top-K | 总参数 | 激活参数 |
|---|---|---|---|---|
| Mixtral 8x7B | {} | 2 | 46.7B | 12.9B |
| DeepSeek-V2 | 160 | {} | 236B | 21B |
| Qwen2-57B-A14B | 64 | 8 | 57B | 14B |
"""


def test_counts_of_a_row_settle_its_sizes() -> None:
    assert _wrong(_CHOSEN.format(8, 6)) == []
    assert _wrong(_CHOSEN.format(9, 5)) == ["9", "5"]
    assert _wrong(_CHOSEN.replace("专家数", "temperature").format("0.7", 20)) == []


_DTYPES = """以 Llama 3 8B 为例:

| 数据类型 | Bytes/Param | {} |
|---|---|---|
| FP32 | 4 | 32 GB |
| FP16 / BF16 | 2 | {} GB |
| INT8 | 1 | 8 GB |
| INT4 / NF4 | 0.5 | {} GB |
"""


@pytest.mark.parametrize(
    ("head", "half", "quarter", "wrong"),
    [
        ("模型大小", 16, 4, []),
        ("模型大小", 15, 5.5, []),
        ("模型大小", 86, 4, ["86 GB"]),
        ("权重", 20, 4, ["20 GB"]),
        ("权重", 20, 7, []),
        ("推荐显存", 20, 7, []),
    ],
)
def test_a_row_for_each_dtype_is_held_to_the_model_above(head: str, half: float, quarter: float, wrong: list[str]) -> None:
    text = _DTYPES.format(head, half, quarter)
    assert _wrong(text) == wrong
    assert _wrong(text.replace("以 Llama", "我们自己实现的 Llama")) == []


_MODELS_BY_DTYPES = """| Precision | Bytes/param | Llama 3 8B | Llama 3 70B | DeepSeek V3 671B |
|---|---|---|---|---|
| fp32 | 4 | 32 GB | 280 GB | 2,684 GB |
| fp16 / bf16 | 2 | {} | 141 GB | 1,342 GB |
| int8 | 1 | 8 GB | 70 GB | 671 GB |
| Q4 | 0.5 | 4.9 GB | 42 GB | {} |
"""
_DTYPES_BY_MODELS = """| Model | FP16 | INT8 | INT4 |
|---|---|---|---|
| 7B | {} | 7 GB | 3.5 GB |
| 13B | 26 GB | 13 GB | 6.5 GB |
| Gemma 7B | 17 GB | 8.5 GB | {} |
"""


@pytest.mark.parametrize(
    ("table", "right", "wrong"),
    [(_MODELS_BY_DTYPES, ("16 GB", "336 GB"), ("18 GB", "736 GB")), (_DTYPES_BY_MODELS, ("14 GB", "4.3 GB"), ("18 GB", "8.3 GB"))],
)
def test_models_by_dtypes_are_held_to_both(table: str, right: tuple[str, str], wrong: tuple[str, str]) -> None:
    assert _wrong(table.format(*right)) == []
    assert set(right) <= set(_judged(table.format(*right)))
    assert _wrong(table.format(*wrong)) == list(wrong)
    assert _wrong(table.replace("Precision", "Training").replace("Model", "Training").format(*wrong)) == []


_PARTS = """GPT-2 small has 124M parameters.

| Component | Value |
|---|---|
| Token embedding | {} |
| Positional embedding | 0.79 M |
| 12 blocks of attention | 28.3 M |
| 12 blocks of FFN | {} |
| Total | 124.4 M |
"""


@pytest.mark.parametrize(
    ("parts", "slip"), [(("38.6 M", "56.6 M"), []), (("48.6 M", "56.6 M"), ["48.6 M"]), (("38.6 M", "46.6 M"), ["46.6 M"])]
)
def test_the_one_part_that_leaves_a_sum_open_is_wrong(parts: tuple[str, str], slip: list[str]) -> None:
    assert _wrong(_PARTS.format(*parts)) == slip
