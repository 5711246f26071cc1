"""Published figures of caches, weights and memory: the question that gives ours, why one differs, and why another is not asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weighbridge import Model

UNITS = {"MiB": 2**20, "GiB": 2**30, "GB": 2**30, "bytes": 1, "KiB per token": 2**10, "MB": 2**20}
"""Bytes of a unit. The two pages that print GB mean 2^30, as their own arithmetic shows."""


class Question(NamedTuple):
    """How a row is asked."""

    model: str
    value: float
    source: str | dict[str, Any]
    ask: Callable[[Model], int]
    bound: bool = False  # what was measured has kernels and an allocator in it, so ours must lie below
    part: str = ""  # of the row's setting, where two rows have the same number


def _cache(seq: int, engine: str = "reference", dtype: str = "float16", batch: int = 1) -> Callable[[Model], int]:
    return lambda weighed: weighed.cache(batch=batch, seq=seq, dtype=dtype, engine=engine).bytes


def _states(batch: int) -> Callable[[Model], int]:
    return lambda weighed: sum(
        layer.bytes for layer in weighed.cache(batch=batch, seq=256, dtype="float16", engine="llama.cpp").layers if layer.kind == "state"
    )


def _attention(seq: int) -> Callable[[Model], int]:
    return lambda weighed: sum(
        layer.bytes for layer in weighed.cache(seq=seq, dtype="float16", engine="llama.cpp").layers if layer.kind == "attention"
    )


def _token(weighed: Model) -> int:
    return weighed.cache(seq=1000).per_token


def _weights(dtype: str) -> Callable[[Model], int]:
    return lambda weighed: weighed.memory(dtype=dtype).weights


def _adam(dtype: str) -> Callable[[Model], int]:
    return lambda weighed: 4 * weighed.memory(dtype=dtype).weights


def _largest(size: int) -> Callable[[Model], int]:
    return lambda weighed: max(size * int(row.count) for row in weighed.tensors())  # type: ignore[arg-type]


def _packed_weights(dtype: str, scheme: str) -> Callable[[Model], int]:
    return lambda weighed: weighed.memory(dtype=dtype, quantization=scheme).weights


def _serving(dtype: str, tokens: int, scheme: str | None = None) -> Callable[[Model], int]:
    return lambda weighed: weighed.memory(dtype=dtype, quantization=scheme).weights + weighed.cache(seq=tokens, dtype="bfloat16").bytes


def _full(precision: str, tokens: int) -> Callable[[Model], int]:
    def ask(weighed: Model) -> int:
        found = weighed.memory(training=True, dtype="bfloat16", precision=precision, seq=tokens)
        return found.weights + found.gradients + found.master + found.optimizer

    return ask


def _shard(devices: int) -> Callable[[Model], int]:
    return lambda weighed: weighed.memory(dtype="float32").weights // devices


QWEN_27B = {
    "model_type": "qwen3_5_text",
    "hidden_size": 5120,
    "num_hidden_layers": 64,
    "num_attention_heads": 24,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 48,
}
OPEN_LLAMA = {"model_type": "llama", "hidden_size": 3200, "num_hidden_layers": 26, "num_attention_heads": 32}
FALCON_H1 = {"model_type": "falcon_h1", "num_hidden_layers": 24, "num_key_value_heads": 2, "head_dim": 128}
BERT = {"model_type": "bert", "vocab_size": 28996, "architectures": ["BertModel"]}

QUESTIONS = (
    Question("Llama-3.1-8B", 15.62, "llama-3.1-8b", _cache(128_000)),
    Question("Llama-3.1-70B", 0.313, "llama-3.1-70b", _cache(1024)),
    Question("Llama-3.1-70B", 39.06, "llama-3.1-70b", _cache(128_000)),
    Question("Llama-3.1-405B", 15.38, "llama-3.1-405b", _cache(16_000)),
    Question("DeepSeek-V3/R1 (MLA, compressed)", 2196.0, "deepseek-v3", _cache(32_768, "llama.cpp")),
    Question("Qwen3.6-27B (16 of 64 layers attend)", 16384.0, QWEN_27B, _attention(262_144)),
    Question("Qwen3.6-27B (48 Gated DeltaNet layers)", 598.5, QWEN_27B, _states(4)),
    Question("Qwen3.5/3.6-27B class (65 layers listed, 48 recurrent)", 448.88, QWEN_27B, _states(3)),
    Question("Falcon-H1-1.5B", 768.0, FALCON_H1, _attention(32_768)),
    Question("Mamba-1.4B", 14.25, "mamba-1.4b", _states(1)),
    Question("LLaMA-30B", 780.0, "llama-30b", _cache(512, "llama.cpp")),
    Question("LLaMA-30B", 1560.0, "llama-30b", _cache(512, "llama.cpp", "float32")),
    Question("Llama-3.2-1B", 128.0, "llama-3.2-1b", _cache(4096, "llama.cpp")),
    Question("Llama-3.x-70B", 1280.0, "llama-3.1-70b", _cache(4096, "llama.cpp")),
    Question("Qwen3-8B (DeepSeek-R1-0528 distil)", 18432.0, "qwen3-8b", _cache(131_072, "llama.cpp")),
    Question("OpenLLaMA-3B", 162.5, OPEN_LLAMA, _cache(512, "llama.cpp")),
    Question("Gemma-3-1B", 139, "gemma-3-1b", _cache(32_768)),
    Question("Gemma-3-27B", 10.41, "gemma-3-27b-it", _cache(131_072)),
    Question("DeepSeek-V3.1", 10.72, "deepseek-v3", _cache(163_840)),
    Question("Kimi-K2.5", 17.16, "deepseek-v3", _cache(262_144)),
    Question("GLM-5", 17.18, "glm-5", _cache(202_752)),
    Question("MiniMax-M2", 24964497408, {"model_type": "minimax_m2"}, _cache(196_608, dtype="float8")),
    Question("GPT-2 XL", 300, "gpt2-xl", _token),
    Question("Llama-3-8B", 128, "llama-3-8b", _token),
    Question("Llama-3.2-1B", 32, "llama-3.2-1b", _token),
    Question("OLMo-2-7B", 512, "olmo-2-7b", _token),
    Question("bert-base-cased", 413.18, BERT, _weights("float32"), part="float32, total"),
    Question("bert-base-cased", 413.18, BERT, _adam("int8"), part="int8, training"),
    Question("bert-base-cased", 206.59, BERT, _weights("float16")),
    Question("bert-base-cased", 51.65, BERT, _weights("int4")),
    Question("bert-base-cased", 1.61, BERT, _adam("float32")),
    Question("Qwen-72B", 48.86, "qwen-72b", _serving("bfloat16", 2048, "gptq-4bit"), True),
    Question("bert-base-cased", 21.24, BERT, _largest(1)),
    Question("DeepSeek-V3/R1 (MLA with transposed copy)", 129.6, "deepseek-v3", _token),
    Question("bge-small class BERT (12 layers x 384)", 9.0, "bge-small-en-v1.5", _cache(512, "llama.cpp")),
    Question("MiniMax-M2", 230121630720, {"model_type": "minimax_m2"}, _packed_weights("bfloat16", "fp8-block")),
    Question("neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8", 67.7229, "llama-3.1-70b", _packed_weights("bfloat16", "w8a8")),
    Question("llama3 8B", 3.77, "llama-3-8b", _shard(8)),
    Question("torchvision resnet34", 85.538, "resnet-34", _weights("float32")),
    Question("torchvision resnet101", 173.151, "resnet-101", _weights("float32")),
    Question("torchvision resnet152", 234.59, "resnet-152", _weights("float32")),
    Question(
        "google-bert/bert-base-uncased", 449.269248, {"model_type": "bert", "architectures": ["BertForMaskedLM"]}, _weights("float32"), True
    ),
    *(
        Question(f"Qwen-{size}", value, f"qwen-{size.lower()}", _serving("bfloat16", 2048, scheme), True)
        for size, value, scheme in (
            ("1.8B", 4.23, None),
            ("1.8B", 3.48, "gptq-8bit"),
            ("1.8B", 2.91, "gptq-4bit"),
            ("7B", 8.21, "gptq-4bit"),
            ("14B", 30.15, None),
            ("14B", 18.81, "gptq-8bit"),
            ("14B", 13.01, "gptq-4bit"),
        )
    ),
    *(
        Question("Qwen-7B-Chat", value, "qwen-7b", _serving("bfloat16", tokens), True)
        for value, tokens in ((15.2, 512), (16.3, 1024), (23.2, 8192))
    ),
    Question(
        "Qwen-7B-Chat",
        15.0,
        "qwen-7b",
        lambda weighed: weighed.memory(dtype="bfloat16").weights + weighed.cache(seq=512, dtype="int8").bytes,
        True,
    ),
    Question("Qwen Full-parameter 1.8B", 43.5, "qwen-1.8b", _full("mixed", 256), True),
    Question("Qwen Full-parameter 1.8B", 48.3, "qwen-1.8b", _full("mixed", 8192), True),
    Question("Qwen LoRA 1.8B", 8.4, "qwen-1.8b", _weights("bfloat16"), True),
    Question("Qwen LoRA 7B", 20.1, "qwen-7b", _weights("bfloat16"), True),
    *(Question("Qwen Q-LoRA 1.8B", value, "qwen-1.8b", _packed_weights("bfloat16", "gptq-4bit"), True) for value in (6.0, 6.6, 7.8, 15.8)),
    *(Question("Qwen Q-LoRA 7B", value, "qwen-7b", _packed_weights("bfloat16", "gptq-4bit"), True) for value in (11.5, 13.9)),
    Question("Llama2 7B", 28.8, "llama-2-7b", lambda weighed: _full("megatron", 4096)(weighed) // 8, True),
)
WHY = {
    "Llama-3.1-405B": "the page counts 16 key-value heads, the published config has 8",
    "DeepSeek-V3/R1 (MLA with transposed copy)": "the engine keeps the latent a second time, transposed: 512 elements more a token and layer",
    "bge-small class BERT (12 layers x 384)": "an encoder needs no cache; that engine allocated one all the same",
    "GLM-5": "the page leaves out the keys of the indexer, 128 elements a token and layer",
}
"""Where ours is not the published figure: why."""
UNASKED = {
    "HuggingFaceM4/idefics-80b-instruct": "its config is not at hand",
    "gemma-4-31b-it": "the engine's mean over requests of full length, blocks of its windows among them: memory over tokens, not bytes of a token",
    "a Gemma-3n/4 E2B class (35 layers, 28 sliding of 512, 1 KV head of 256)": "tokens that fit into what was left over, by the engine's own shares of blocks",
    "GPT-2 124M": "llm.c's own buffer of activations, laid out by hand; no framework keeps these",
    "torchvision resnet101": "the forward of a convolutional network is not described, so what it keeps is not",
    "torchvision resnet152": "the forward of a convolutional network is not described, so what it keeps is not",
}
"""Why a model's row is not asked."""
