"""Published figures of caches and weights that stand in no file of figures: what engines print, and what pages say, each with its source.

Some are wrong at their source; the page ``docs/accuracy.md`` says in which way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weighbridge import Model, model


class Further(NamedTuple):
    """A published figure: of which model, as it is said there, in which unit, how ours is asked, and what is known of the difference."""

    source: str | dict[str, Any]
    figure: str
    value: float
    unit: str
    ask: Callable[[Model], int]
    where: str
    why: str = ""


def cells(count: int, dtype: str = "float16") -> Callable[[Model], int]:
    """Ask for llama.cpp's cache of so many cells."""
    return lambda weighed: weighed.cache(seq=count, dtype=dtype, engine="llama.cpp").bytes


def cache_of(tokens: int) -> Callable[[Model], int]:
    """Ask for the cache of so many tokens, where nothing is rounded."""
    return lambda weighed: weighed.cache(seq=tokens, dtype="float16").bytes


def token(weighed: Model) -> int:
    """Ask for the bytes of one more token, in any window."""
    return weighed.cache(seq=1000).per_token


def weights(weighed: Model) -> int:
    """Ask for the weights in 16 bits."""
    return weighed.memory(dtype="bfloat16").weights


LOG = "llama.cpp log, github file id "
BLOG = "huggingface/blog, llama31.md"
PAGE = "dev.to/jagmarques, kv-cache-memory-calculator"
COMMAND_R = "dranger003/c4ai-command-r-v01-iMat.GGUF, discussion 6"
GALLERY = "sebastianraschka.com/llm-architecture-gallery"
OLLAMA = "ollama's lines, github file id 57429315021"
FURTHER = (
    Further("llama-3.2-1b", "llama.cpp, 1,024 cells", 32.0, "MiB", cells(1024), LOG + "14033481518"),
    Further("qwen3-0.6b", "llama.cpp, 1,024 cells, 28 layers", 112.0, "MiB", cells(1024), LOG + "14162148190"),
    Further("smollm2-1.7b", "llama.cpp, 1,024 cells, 24 layers", 192.0, "MiB", cells(1024), LOG + "14935765649"),
    Further("phi-3-mini-128k-instruct", "llama.cpp, 4,096 cells, 32 layers", 1536.0, "MiB", cells(4096), LOG + "68635202314"),
    Further("qwen3-0.6b", "ik_llama.cpp, 4,096 cells", 448.0, "MiB", cells(4096), LOG + "17418647323"),
    Further("llama-7b", "llama.cpp, 512 cells", 256.0, "MiB", cells(512), LOG + "7990088248"),
    Further("llama-3.2-3b", "llama.cpp, 4,096 cells, 28 layers", 448.0, "MiB", cells(4096), LOG + "54092791146"),
    Further("mistral-7b-v0.3", "ollama, 4,096 cells, 32 layers", 512.0, "MiB", cells(4096), LOG + "54987906846"),
    Further("qwen3-8b", "40,960 cells", 5760.0, "MiB", cells(40_960), OLLAMA),
    Further("qwen3-14b", "16,384 cells", 2560.0, "MiB", cells(16_384), OLLAMA),
    Further("qwen2.5-3b", "16,384 cells", 576.0, "MiB", cells(16_384), OLLAMA),
    Further("mixtral-8x7b", "2,048 cells", 256.0, "MiB", cells(2048), COMMAND_R),
    Further("llama-3-8b", "2,048 cells", 256.0, "MiB", cells(2048), COMMAND_R),
    Further("llama-3-70b", "2,048 cells", 640.0, "MiB", cells(2048), COMMAND_R),
    Further("qwen1.5-32b", "2,048 cells", 512.0, "MiB", cells(2048), COMMAND_R),
    Further("yi-1.5-34b", "2,048 cells", 480.0, "MiB", cells(2048), COMMAND_R),
    Further("command-r", "2,048 cells", 2560.0, "MiB", cells(2048), COMMAND_R),
    Further("llama-3.1-8b", "1k tokens", 0.125, "GiB", cache_of(1024), BLOG),
    Further("llama-3.1-8b", "16k tokens", 1.95, "GiB", cache_of(16_000), BLOG),
    Further("llama-3.1-70b", "16k tokens", 4.88, "GiB", cache_of(16_000), BLOG),
    Further("llama-3.1-405b", "1k tokens", 0.984, "GiB", cache_of(1024), BLOG, "counts 16 key-value heads, the config has 8"),
    Further("llama-3.1-405b", "128k tokens", 123.05, "GiB", cache_of(128_000), BLOG, "counts 16 key-value heads, the config has 8"),
    Further("llama-3-8b", "4K tokens", 0.5, "GiB", cache_of(4096), PAGE),
    Further("llama-3.1-8b", "32K tokens", 4.0, "GiB", cache_of(32_768), PAGE),
    Further("llama-3.1-8b", "128K tokens", 16.0, "GiB", cache_of(131_072), PAGE),
    Further("mixtral-8x7b", "32K tokens", 4.0, "GiB", cache_of(32_768), PAGE),
    Further("llama-3-70b", "4K tokens", 5.0, "GiB", cache_of(4096), PAGE, "four times what the page's own formula gives"),
    Further("llama-3.1-70b", "32K tokens", 40.0, "GiB", cache_of(32_768), PAGE, "four times what the page's own formula gives"),
    Further("llama-3.1-70b", "128K tokens", 160.0, "GiB", cache_of(131_072), PAGE, "four times what the page's own formula gives"),
    Further("deepseek-v3", "bf16, per token", 68.6, "KiB", token, GALLERY),
    Further("qwen3-8b", "vLLM, per token", 147_456, "bytes", token, "github file id 67449489553"),
    Further("qwen3-8b", "vLLM, model loading took", 15.27, "GiB", weights, "github file id 67449489553"),
    Further("qwen2.5-14b", "per token, fp16", 0.2e6, "bytes", token, "unanswered.io/guide/kv-cache-memory-usage", "rounded"),
    Further(
        "qwen3-4b",
        "vLLM, model loading took",
        7.6785,
        "GiB",
        weights,
        "kyuz0/amd-strix-halo-vllm-toolboxes, pull 5",
        "what the engine adds is not told",
    ),
    Further(
        "gemma-3-12b-it", "vLLM, model weights", 22.8471, "GiB", weights, "github file id 66748958124", "what the engine adds is not told"
    ),
    Further("deepseek-r1-distill-qwen-1.5b", "vLLM, model weights", 3.3143, "GiB", weights, "github file id 57059042558"),
    Further("qwen3-14b", "BF16 file", 27.51, "GiB", weights, "baeseokjae.github.io, plan-fixtures.json"),
    Further("mistral-small-24b", "Devstral Small, BF16 file", 43.92, "GiB", weights, "baeseokjae.github.io, plan-fixtures.json"),
)
UNITS = {"MiB": 2**20, "GiB": 2**30, "KiB": 2**10, "bytes": 1}
HEAD = (
    "",
    "## Further figures, from logs and pages",
    "",
    "None of these stood in the figures above; what engines print and what pages say.",
    "",
    "| model | figure | published | ours | difference | source |",
    "|---|---|---|---|---|---|",
)


def lines() -> list[str]:
    """Ask all of them, a line for each."""
    return [_line(one) for one in FURTHER]


def _line(one: Further) -> str:
    ours = one.ask(model(one.source)) / UNITS[one.unit]
    note = f" ({one.why})" if one.why else ""
    apart = 100 * (ours / one.value - 1)
    return f"| {one.source} | {one.figure} | {one.value:,g} {one.unit} | {ours:,.3f} | {apart:+.2f}%{note} | {one.where} |"
