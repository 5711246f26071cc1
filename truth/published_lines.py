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


def kept(kind: str, count: int, dtype: str = "float16", sequences: int = 1) -> Callable[[Model], int]:
    """Ask for what llama.cpp keeps of one kind, ``attention`` or ``state``, in a model that has both."""

    def ask(weighed: Model) -> int:
        found = weighed.cache(batch=sequences, seq=count, dtype=dtype, engine="llama.cpp")
        return sum(layer.bytes for layer in found.layers if layer.kind == kind)

    return ask


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
PULL = "ggml-org/llama.cpp, pull 21551"
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
    Further("phi-2", "llama.cpp, 2,048 cells, 32 layers", 640.0, "MiB", cells(2048), LOG + "25362796195"),
    Further("gemma-7b", "ollama, 2,048 cells", 896.0, "MiB", cells(2048), LOG + "42470021395"),
    Further("llama-13b", "llama.cpp, 512 cells, 40 layers", 400.0, "MiB", cells(512), LOG + "4083491035"),
    Further("qwen3-14b", "llama.cpp, 65,536 cells, 40 layers, q4_0", 2880.0, "MiB", cells(65_536, "q4_0"), LOG + "61071482478"),
    Further("qwen3-32b", "llama.cpp, 65,536 cells, 64 layers, q8_0", 8704.0, "MiB", cells(65_536, "q8_0"), LOG + "70149416153"),
    Further(
        "olmoe-1b-7b",
        "llama.cpp, 8,192 cells, 16 layers, q8_0",
        544.0,
        "MiB",
        cells(8192, "q8_0"),
        "ggml-org/llama.cpp, docs/backend/snapdragon/README.md",
    ),
    Further("qwen3-235b-a22b", "ik_llama.cpp, 40,960 cells, q8_0", 3995.0, "MiB", cells(40_960, "q8_0"), LOG + "17521272204"),
    Further("qwen3-235b-a22b", "ik_llama.cpp, 16,384 cells, q8_0", 1598.0, "MiB", cells(16_384, "q8_0"), LOG + "39173503970"),
    Further("qwen3-8b", "Bonsai 8B, llama.cpp, q8_0, 2,560 cells by its f16 line", 191.25, "MiB", cells(2560, "q8_0"), PULL),
    Further("qwen3-8b", "Bonsai 8B, llama.cpp, q4_0, 2,560 cells by its f16 line", 101.25, "MiB", cells(2560, "q4_0"), PULL),
    Further("qwen3-8b", "Bonsai 8B, llama.cpp, iq4_nl, 2,560 cells by its f16 line", 101.25, "MiB", cells(2560, "iq4_nl"), PULL),
    Further("mistral-small-24b", "Magidonia 24b, llama.cpp, q8_0, 6,656 cells by its f16 line", 552.5, "MiB", cells(6656, "q8_0"), PULL),
    Further("mistral-small-24b", "Magidonia 24b, llama.cpp, q4_0, 6,656 cells by its f16 line", 292.5, "MiB", cells(6656, "q4_0"), PULL),
    Further(
        "deepseek-v3",
        "llama.cpp, 131,072 cells, 61 layers, K of q4_0",
        2470.5,
        "MiB",
        cells(131_072, "q4_0"),
        LOG + "24785785173",
        "that build kept a V of 2,196 MiB beside it, which later ones leave out",
    ),
    Further(
        "qwen3.5-27b",
        "llama.cpp, 200,704 cells, 16 of 64 layers, q4_0",
        3528.0,
        "MiB",
        kept("attention", 200_704, "q4_0"),
        LOG + "69838590195",
    ),
    Further(
        "qwen3.5-27b",
        "llama.cpp, 200,704 cells, 16 of 64 layers, q8_0",
        6664.0,
        "MiB",
        kept("attention", 200_704, "q8_0"),
        LOG + "69838590195",
    ),
    Further(
        "qwen3.5-27b", "llama.cpp, states of 1 sequence with 4 drafts", 748.125, "MiB", kept("state", 256, "q4_0", 5), LOG + "69838590195"
    ),
    Further("qwen3.5-27b", "llama.cpp, 8,192 cells, 16 layers, q4_0", 144.0, "MiB", kept("attention", 8192, "q4_0"), LOG + "70517769573"),
    Further(
        "qwen3.5-9b",
        "llama.cpp, 262,144 cells, 8 layers, K of q5_1, V of q8_0",
        3712.0,
        "MiB",
        kept("attention", 262_144, "q5_1+q8_0"),
        LOG + "61067584628",
    ),
    Further(
        "qwen3.5-9b",
        "llama.cpp, states of 1 sequence with 6 drafts",
        351.75,
        "MiB",
        kept("state", 256, "q5_1+q8_0", 7),
        LOG + "61067584628",
    ),
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


class Line(NamedTuple):
    """What ``print_trainable_parameters`` of the PEFT library is said to print: of which class, with which adapter, and in which file it stands."""

    source: str
    class_name: str
    adapter: str
    trainable: int
    total: int
    file: int


EVERY, ATTENTION, Q_V = "q_proj+k_proj+v_proj+o_proj+gate_proj+up_proj+down_proj", "q_proj+k_proj+v_proj+o_proj", "q_proj+v_proj"
LINES = (
    Line("llama-3.1-8b", "", f"lora:r=16,target_modules={EVERY}", 20_185_088, 8_051_224_576, 51959267516),
    Line("llama-3.1-8b", "", f"lora:r=16,target_modules={ATTENTION}", 13_631_488, 8_044_093_440, 52188796586),
    Line("llama-3.1-8b", "", f"lora:r=16,target_modules={EVERY}", 41_943_040, 8_072_204_288, 53812674776),
    Line("llama-3.1-8b", "", "lora:r=16,target_modules=all-linear", 41_943_040, 8_072_667_136, 54359221330),
    Line("llama-3-8b", "", f"lora:r=8,target_modules={ATTENTION}", 40_894_464, 8_030_261_248, 67617539786),
    Line("llama-3-8b", "", f"lora:r=16,target_modules={ATTENTION}", 20_971_520, 8_051_232_768, 61194760030),
    Line("llama-3.1-8b", "", f"lora:r=16,target_modules={ATTENTION}", 6_815_744, 8_036_335_616, 55486239806),
    Line("llama-3-8b", "", f"lora:r=8,target_modules={EVERY}", 20_971_520, 8_051_232_768, 12140220341),
    Line("llama-3.1-8b", "", f"lora:r=16,target_modules={EVERY}", 41_943_040, 8_030_261_248, 56054801215),
    Line("mistral-7b-v0.1", "", f"lora:r=16,target_modules={Q_V}", 4_194_304, 7_241_732_096, 31694020625),
    Line("mistral-7b-v0.1", "", f"lora:r=8,target_modules={EVERY}", 20_971_520, 7_261_634_560, 59246081523),
    Line("mistral-7b-v0.1", "", f"lora:r=32,target_modules={EVERY}", 83_886_080, 7_241_748_480, 57373039682),
    Line("mistral-7b-v0.1", "", f"lora:r=16,target_modules={ATTENTION}", 13_631_488, 7_255_363_584, 6768144603),
    Line("llama-3.2-1b", "", "lora:r=8,target_modules=q_proj", 524_288, 1_236_338_688, 56123718165),
    Line("llama-3.2-1b", "", f"lora:r=16,target_modules={Q_V}", 4_194_304, 1_241_513_984, 51852145548),
    Line("llama-3.2-1b", "", f"lora:r=16,target_modules={Q_V}", 2_097_152, 1_238_849_536, 55128040735),
    Line("llama-3.2-1b", "", f"lora:r=8,target_modules={Q_V}", 1_572_864, 1_236_089_344, 63153644892),
    Line("llama-3.2-1b", "", f"lora:r=8,target_modules={EVERY}", 2_097_152, 1_236_795_392, 57684269879),
    Line("qwen2.5-7b", "", f"lora:r=8,target_modules={EVERY}", 20_185_088, 7_635_801_600, 39847563721),
    Line("qwen2.5-7b", "", f"lora:r=16,target_modules={EVERY}", 40_370_176, 7_656_293_888, 71086747726),
    Line("qwen2.5-7b", "", f"lora:r=16,target_modules={EVERY}", 20_971_520, 7_636_062_208, 62742636727),
    Line("qwen2.5-7b", "", f"lora:r=32,target_modules={EVERY}", 83_886_080, 7_615_684_608, 51829542496),
    Line("qwen2.5-7b", "", f"lora:r=16,target_modules={EVERY}", 13_631_488, 7_615_616_000, 58069984462),
    Line("llama-2-7b", "", f"lora:r=8,target_modules={Q_V}", 4_194_304, 6_738_415_616, 4771392951),
    Line("llama-2-7b", "", f"lora:r=8,target_modules={Q_V}", 4_194_304, 6_742_609_920, 10420103361),
    Line("llama-2-7b", "", f"lora:r=16,target_modules={EVERY}", 16_777_216, 6_754_332_672, 52853346967),
    Line("llama-2-7b", "", f"lora:r=16,target_modules={ATTENTION}", 13_107_200, 6_738_415_616, 56147771092),
    Line("llama-2-7b", "", f"lora:r=16,target_modules={ATTENTION}", 8_388_608, 6_746_804_224, 51803327137),
    Line("llama-2-7b", "", f"lora:r=16,target_modules={Q_V}", 4_194_304, 6_742_609_920, 15165413707),
    Line("llama-2-7b", "", f"lora:r=16,target_modules={EVERY}", 4_194_304, 6_742_609_920, 39531892432),
    Line(
        "bert-base-uncased",
        "BertModel",
        "lora:r=8,target_modules=query+value,task_type=FEATURE_EXTRACTION",
        294_912,
        109_482_240,
        1283947134,
    ),
    Line(
        "bert-base-uncased",
        "BertForSequenceClassification",
        "lora:r=8,target_modules=query+value,task_type=SEQ_CLS",
        294_912,
        109_777_410,
        55664471856,
    ),
    Line(
        "bert-base-uncased",
        "BertForSequenceClassification",
        "lora:r=8,target_modules=query+value,task_type=SEQ_CLS",
        294_912,
        109_778_690,
        46438697320,
    ),
    Line(
        "bert-base-uncased",
        "BertForSequenceClassification",
        "lora:r=16,target_modules=query+value,task_type=SEQ_CLS",
        884_738,
        109_514_850,
        27286567771,
    ),
    Line("bert-base-uncased", "BertModel", "lora:r=16,target_modules=query+value", 294_912, 109_514_298, 11930976775),
    Line("llama-3.2-3b", "", f"lora:r=16,target_modules={ATTENTION}", 4_194_304, 3_213_893_632, 40193305525),
    Line("llama-3.2-3b", "", f"lora:r=8,target_modules={Q_V}", 3_407_872, 3_216_795_648, 62605543383),
    Line("llama-3.2-3b", "", f"lora:r=32,target_modules={ATTENTION}", 13_189_120, 3_225_892_608, 67316376383),
    Line("llama-3.2-3b", "", f"lora:r=16,target_modules={EVERY}", 20_971_520, 3_233_435_648, 52847653682),
    Line("llama-3.2-3b", "", f"lora:r=16,target_modules={EVERY}", 6_553_600, 3_219_546_112, 14188805248),
    Line("llama-3.2-3b", "", f"lora:r=64,target_modules={ATTENTION}", 3_407_872, 3_215_310_848, 61695746600),
    Line("llama-3.2-3b", "", f"lora:r=4,target_modules={EVERY}", 6_078_464, 3_218_828_288, 26577134564),
    Line("llama-3.2-3b", "", f"lora:r=16,target_modules={Q_V}", 2_621_440, 3_214_033_920, 56854593685),
    Line("llama-3.2-3b", "", f"lora:r=16,target_modules={Q_V}", 4_718_592, 3_213_478_912, 53047594007),
    Line("gpt2", "GPT2LMHeadModel", "lora:r=8,task_type=CAUSAL_LM", 294_912, 124_734_720, 55652636939),
    Line("gpt2", "GPT2LMHeadModel", "prefix_tuning:num_virtual_tokens=20,task_type=CAUSAL_LM", 368_640, 124_808_448, 70428672599),
    Line("gpt2", "GPT2LMHeadModel", "prompt_tuning:num_virtual_tokens=20,task_type=CAUSAL_LM", 15_360, 124_454_400, 2683415487),
    Line(
        "gpt2",
        "GPT2LMHeadModel",
        "prefix_tuning:num_virtual_tokens=30,prefix_projection=true,task_type=CAUSAL_LM",
        983_040,
        124_475_648,
        62388955675,
    ),
)
LINES_HEAD = (
    "",
    "## Lines of PEFT, from logs and tutorials",
    "",
    "Trainable and all parameters that `print_trainable_parameters` is said to print, with the settings beside it; the number of the file is GitHub's. "
    "All less trainable is the model alone: where that is not our count of it, it stands beside the difference (another model, a resized vocabulary or an older PEFT may have printed the line).",
    "",
    "| model | adapter | published | ours | difference | file |",
    "|---|---|---|---|---|---|",
)


def adapter_lines() -> list[str]:
    """Ask all of PEFT's lines, a line for each; one whose model alone is not our count of it says so."""
    return [_adapter_line(one) for one in LINES]


def _adapter_line(one: Line) -> str:
    weighed = model(one.source, one.class_name or None)
    found = weighed.adapters(one.adapter)
    theirs, ours = f"{one.trainable:,} of {one.total:,}", f"{found.trainable:,} of {found.total:,}"
    apart = f"{100 * (found.trainable / one.trainable - 1):+.2f}%{other_base(one, found.total - found.trainable)}"
    return f"| {one.source} | `{one.adapter}` | {theirs} | {ours} | {apart} | {one.file} |"


def other_base(one: Line, alone: int) -> str:
    """Return what a line says its model has alone, where that is not *alone*, our count of it; else nothing.

    >>> other_base(Line("gpt2", "", "lora:r=8", 294_912, 124_734_720, 1), 124_439_808)
    ''
    >>> other_base(Line("gpt2", "", "lora:r=8", 294_912, 124_734_464, 1), 124_439_808)
    ' (all less trainable is 124,439,552)'
    """
    left = one.total - one.trainable
    return "" if left == alone else f" (all less trainable is {left:,})"
