"""Decoders against the figures their authors published: to the last parameter where they gave it, else to the digits they printed."""

from __future__ import annotations

import pytest

from tests.unit.published import is_rounded
from weighbridge import model

EXACT = {
    "model cards of the BigScience workshop": """
        bloom-560m 559,214,592 bloom-1b1 1,065,314,304 bloom-1b7 1,722,408,960 bloom-3b 3,002,557,440 bloom-7b1 7,069,016,064
        bloom 176,247,271,424""",
    "model cards of EleutherAI/pythia, arXiv 2304.01373": """
        pythia-70m 70,426,624 pythia-160m 162,322,944 pythia-410m 405,334,016 pythia-1b 1,011,781,632 pythia-1.4b 1,414,647,808
        pythia-2.8b 2,775,208,960 pythia-6.9b 6,857,302,016 pythia-12b 11,846,072,320""",
    "arXiv 2204.06745 (GPT-NeoX-20B), section 2": "gpt-neox-20b 20,554,567,680",
    "model card of stabilityai/stablelm-3b-4e1t": "stablelm-3b-4e1t 2,795,443,200",
    "README of baichuan-inc/Baichuan-13B": "baichuan-7b 7,000,559,616 baichuan-13b 13,264,901,120",
    "arXiv 2404.05892 (Eagle), 13 D^2 L + 14 D L + 4 D + 2 D V": """
        rwkv-5-world-1b5 1,577,754,624 rwkv-5-world-3b 3,062,999,040 rwkv-5-world-7b 7,518,044,160""",
    "transformers 5.23.0 on the meta device": """
        gpt2 124,439,808 llama-3-8b 8,030,261,248 llama-3.2-1b 1,235,814,400 mixtral-8x7b 46,702,792,704 qwen3-0.6b 596,049,920
        gemma-2-2b 2,614,341,888 deepseek-v3 671,026,404,352""",
}
"""By source: preset and unique parameters."""

ROUNDED = {
    "arXiv 2302.13971 (LLaMA), table 2": "llama-7b 6.7B llama-13b 13.0B llama-30b 32.5B",
    "arXiv 2310.06825 (Mistral 7B) and the Hub": "mistral-7b-v0.1 7.24B mistral-7b-v0.3 7.25B mistral-large-2407 123B mistral-nemo-12b 12B",
    "arXiv 2401.04088 (Mixtral), section 2; mistral.ai/news/mixtral-8x22b": "mixtral-8x7b 47B mixtral-8x22b 141B",
    "arXiv 2205.01068 (OPT), table 1": "opt-125m 125M opt-1.3b 1.3B opt-2.7b 2.7B opt-6.7b 6.7B opt-13b 13B opt-30b 30B opt-66b 66B",
    "EleutherAI/gpt-neo": "gpt-neo-1.3b 1.3B gpt-neo-2.7b 2.7B",
    "openai/gpt-2": "gpt2 124M gpt2-medium 355M gpt2-large 774M",
    "arXiv 2305.06161 (StarCoder), arXiv 2301.03988 (SantaCoder)": "starcoder 15.5B santacoder 1.1B",
    "arXiv 2412.15115 (Qwen2.5) and model cards": "qwen2.5-0.5b 0.49B qwen2.5-1.5b 1.54B qwen2.5-3b 3.09B qwen2.5-72b 72.7B",
    "arXiv 2505.09388 (Qwen3) and model cards": "qwen3-0.6b 0.6B qwen3-1.7b 1.7B qwen3-4b 4.0B qwen3-8b 8.2B qwen3-14b 14.8B qwen3-32b 32.8B",
    "arXiv 2505.09388 (Qwen3), experts": "qwen3-30b-a3b 30.5B qwen3-235b-a22b 235B qwen3-next-80b-a3b-instruct 80B",
    "arXiv 2407.10671 (Qwen2), arXiv 2309.16609 (Qwen)": "qwen2-57b-a14b 57B qwen1.5-moe-a2.7b 14.3B qwen-1.8b 1.8B qwen-7b 7.7B qwen-14b 14B",
    "arXiv 2404.14219 (Phi-3)": "phi-3-mini-4k-instruct 3.8B phi-3-medium-4k-instruct 14B phi-3.5-moe-instruct 42B",
    "arXiv 2412.08905 (Phi-4)": "phi-4 14.7B phi-4-mini-instruct 3.8B",
    "arXiv 2405.04434 (DeepSeek-V2), arXiv 2412.19437 (DeepSeek-V3)": "deepseek-v2 236B deepseek-v2-lite 15.7B deepseek-v3 671B",
    "arXiv 2401.06066 (DeepSeekMoE), table 1": "deepseek-moe-16b-base 16.4B",
    "arXiv 2508.10925 (gpt-oss model card), table 1": "gpt-oss-20b 20.91B gpt-oss-120b 116.83B",
    "arXiv 2409.02060 (OLMoE), arXiv 2402.00838 (OLMo)": "olmoe-1b-7b 6.9B olmo-1b 1.18B olmo-7b 6.89B",
    "model cards of Cohere": "command-r 35B command-r-plus 104B command-r7b 8B",
    "model cards of Meta": "llama-3.2-3b 3.21B",
    "model cards of HuggingFaceTB, TinyLlama": "smollm2-135m 135M smollm2-1.7b 1.7B tinyllama-1.1b 1.1B",
    "model cards of IBM": "granite-3.0-2b-base 2.5B granite-3.0-1b-a400m-base 1.3B",
    "model cards of MosaicML, Baidu, ByteDance": "mpt-30b 29.96B ernie-4.5-0.3b 0.36B seed-oss-36b-base 36B",
    "model cards of IBM, Granite 4.0": "granite-4.0-h-tiny 7B granite-4.0-h-small 32B granite-4.0-h-micro 3B",
    "arXiv 2504.03624 (Nemotron-H), arXiv 2507.22448 (Falcon-H1)": "nemotron-h-8b 8.1B falcon-h1-0.5b 0.52B falcon-h1-7b 7.59B",
    "arXiv 2501.08313 (MiniMax-01), arXiv 2404.07413 (JetMoE), table 2": "minimax-text-01 456B jetmoe-8b 8522M",
    "model cards of Xiaomi, Z.ai, SK Telecom, Liquid AI": "mimo-v2-flash 309B glm-5 744B a.x-k1 519B lfm2-8b-a1b 8.3B",
    "Chen et al. (2020), Image GPT, section 3.3": "imagegpt-medium 455M",
    "arXiv 2412.04862 (EXAONE 3.5)": "exaone-3.5-2.4b-instruct 2.4B exaone-3.5-7.8b-instruct 7.8B exaone-3.5-32b-instruct 32B",
    "arXiv 2406.12793 (ChatGLM); OrionStarAI/Orion": "chatglm3-6b 6.2B glm-4-9b 9.4B orion-14b 14.5B internlm2-7b 7.7B",
}
"""By source: preset and unique parameters, as printed."""

OTHER = [
    ("gemma-2b", "embedding", "524M"), ("gemma-2b", "non_embedding", "1982M"), ("gemma-7b", "embedding", "786M"),
    ("gemma-7b", "non_embedding", "7751M"), ("gemma-2-2b", "embedding", "590M"), ("gemma-2-9b", "embedding", "918M"),
    ("gemma-2-9b", "non_embedding", "8324M"), ("gemma-2-27b", "embedding", "1180M"), ("gemma-2-27b", "non_embedding", "26047M"),
    ("gemma-3-1b", "embedding", "302M"), ("gemma-3-1b", "non_embedding", "698M"), ("minicpm-2b", "non_embedding", "2.4B"),
    ("mixtral-8x7b", "active", "13B"), ("deepseek-v2", "active", "21B"), ("deepseek-moe-16b-base", "active", "2.8B"),
    ("olmoe-1b-7b", "active", "1.3B"), ("phi-3.5-moe-instruct", "active", "6.6B"), ("qwen3-235b-a22b", "active", "22B"),
    ("granite-4.0-h-small", "active", "9B"), ("mimo-v2-flash", "active", "15B"), ("a.x-k1", "active", "33B"),
    ("imagegpt-small", "non_embedding", "76M"), ("qwen1.5-moe-a2.7b", "active", "2.7B"), ("qwen2-57b-a14b", "active", "14B"),
]  # fmt: skip
"""Embeddings apart, from tables 2 of arXiv 2403.08295 and 2408.00118 and table 1 of 2503.19786 (Gemma); active parameters, from the papers of each."""


def pairs(table: dict[str, str]) -> list[tuple[str, str]]:
    """Return preset and figure of every entry of a table."""
    words = [word for entries in table.values() for word in entries.split()]
    return list(zip(words[::2], words[1::2], strict=True))


@pytest.mark.parametrize(("name", "figure"), pairs(EXACT))
def test_exact_figures(name: str, figure: str) -> None:
    assert f"{model(name).count().unique:,}" == figure


@pytest.mark.parametrize(("name", "figure"), pairs(ROUNDED))
def test_rounded_figures(name: str, figure: str) -> None:
    count = model(name).count().unique
    assert isinstance(count, int)
    assert is_rounded(count, figure), count


@pytest.mark.parametrize(("name", "what", "figure"), OTHER)
def test_parts_and_active_figures(name: str, what: str, figure: str) -> None:
    assert is_rounded(getattr(model(name).count(), what), figure), getattr(model(name).count(), what)


def test_active_of_gpt_oss_leaves_out_what_is_looked_up() -> None:
    for name, figure in (("gpt-oss-20b", "3.61B"), ("gpt-oss-120b", "5.13B")):
        counts = model(name).count()
        worked = counts.active - counts.embedding
        assert isinstance(worked, int)
        assert is_rounded(worked, figure), worked


def test_active_of_mixtral_to_the_last() -> None:
    assert model("mixtral-8x7b").count().active == 12_879_925_248


def test_there_are_figures_to_hold_to() -> None:
    assert len(pairs(EXACT)) + len(pairs(ROUNDED)) >= 60


def test_mixtral_is_listed_as_its_file_has_it() -> None:
    rows = {row.name: row.shape for row in model("mixtral-8x7b").tensors("checkpoint")}
    assert rows["model.layers.31.block_sparse_moe.experts.7.w2.weight"] == (4096, 14336)
    assert rows["model.layers.0.block_sparse_moe.experts.0.w3.weight"] == (14336, 4096)
    assert rows["model.layers.0.block_sparse_moe.gate.weight"] == (8, 4096)
    assert len(rows) == 3 + 32 * (4 + 2 + 1 + 8 * 3)
    assert sum(row.count for row in model("mixtral-8x7b").tensors("checkpoint")) == 46_702_792_704


def test_deepseek_is_listed_as_its_file_has_it() -> None:
    rows = {row.name: row.shape for row in model("deepseek-v2-lite").tensors("checkpoint")}
    assert rows["model.layers.1.mlp.experts.63.up_proj.weight"] == (1408, 2048)
    assert rows["model.layers.0.mlp.gate_proj.weight"] == (10944, 2048)


def test_phi_moe_is_listed_as_its_file_has_it() -> None:
    names = [row.name for row in model("phi-3.5-moe-instruct").tensors("checkpoint")]
    assert "model.layers.0.block_sparse_moe.gate.weight" in names
    assert "model.layers.0.block_sparse_moe.experts.15.w1.weight" in names
