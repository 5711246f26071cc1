"""How long an input published models take whose positions are no parameters: rotary ones, ALiBi's and relative ones.

A config holds the length (``max_position_embeddings``), a model card sometimes another (``32,768 natively and 131,072 with YaRN``); no tensor
depends on either, so the presets leave them out. The first length of a line is the config's.
"""

from __future__ import annotations

_WRITTEN = """
    2048: llama-7b llama-13b llama-30b llama-65b falcon-7b falcon-40b falcon-180b falcon-rw-1b mpt-7b gpt-j-6b gpt-neox-20b phi-1.5 phi-2 tinyllama-1.1b bloom olmo-1b olmo-7b open_llama_3b
    2048: pythia-14m pythia-31m pythia-70m pythia-160m pythia-410m pythia-1b pythia-1.4b pythia-2.8b pythia-6.9b pythia-12b bloom-560m bloom-1b1 bloom-1b7 bloom-3b bloom-7b1
    4096: llama-2-7b llama-2-13b llama-2-70b phi-3-mini-4k-instruct phi-3-medium-4k-instruct deepseek-llm-7b-base deepseek-llm-67b-base deepseek-moe-16b-base baichuan-7b baichuan2-7b baichuan2-13b-base
    4096: yi-6b yi-34b yi-1.5-6b yi-1.5-9b yi-1.5-34b olmo-2-7b olmo-2-13b olmo-2-0425-1b olmo-2-0325-32b olmoe-1b-7b
    8192: llama-3-8b llama-3-70b gemma-2b gemma-7b gemma-2-2b gemma-2-9b gemma-2-27b falcon-11b starcoder2-3b mpt-30b
    8192: smollm2-135m smollm2-360m smollm2-1.7b
    16384: codellama-7b codellama-13b-hf codellama-34b phi-4
    131072: llama-3.1-8b llama-3.1-70b llama-3.1-405b llama-3.2-1b llama-3.2-3b llama-3.3-70b-instruct meta-llama-3.1-8b meta-llama-3.1-70b meta-llama-3.1-405b
    131072: phi-3-mini-128k-instruct phi-4-mini-instruct gpt-oss-20b gpt-oss-120b gemma-3-4b-it gemma-3-12b-it gemma-3-27b-it command-r-plus kimi-k2-instruct mistral-nemo-12b mistral-large-2407
    32768: mistral-7b-v0.1 mistral-7b-v0.3 mixtral-8x7b mistral-small-24b qwen1.5-0.5b qwen1.5-1.8b qwen1.5-4b qwen1.5-7b qwen1.5-14b qwen1.5-32b qwen1.5-72b qwen1.5-110b gemma-3-1b gemma-3-270m
    65536: mixtral-8x22b mixtral-8x22b-instruct-v0.1
    131072, 32768: qwen2-0.5b qwen2-1.5b qwen2-7b qwen2-72b qwen2.5-7b qwen2.5-14b qwen2.5-32b qwen2.5-72b
    32768, 131072: qwen2.5-0.5b qwen2.5-1.5b qwen2.5-3b
    40960, 32768, 131072: qwen3-0.6b qwen3-1.7b qwen3-4b qwen3-8b qwen3-14b qwen3-32b qwen3-30b-a3b qwen3-235b-a22b
    163840, 131072: deepseek-v2 deepseek-v2-lite deepseek-v3 deepseek-r1
    8192, 32768: qwen-1.8b qwen-7b qwen-14b qwen-72b
    32768, 8192: chatglm2-6b chatglm3-6b
    512: t5-small t5-base t5-large t5-3b t5-11b
"""
"""Lengths, then the presets that take them. From the published configs and the model cards of these names."""

_LENGTHS = {
    name: tuple(map(int, lengths.split(",")))
    for lengths, _, names in (line.partition(":") for line in _WRITTEN.strip().splitlines())
    for name in names.split()
}


def published_lengths(name: str) -> tuple[int, ...]:
    """Return the lengths of input that are published for a preset whose tensors do not tell; the config's first.

    >>> published_lengths("llama-3-8b"), published_lengths("bert-base-uncased")
    ((8192,), ())
    """
    return _LENGTHS.get(name, ())
