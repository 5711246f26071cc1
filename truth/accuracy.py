"""Published figures beside ours: every row that can be asked is asked, and the page ``docs/accuracy.md`` is written.

    python -m truth accuracy MEASURED.jsonl

A row is asked by the table below: its model and figure, and the question that gives ours. Rows without a question are
listed with the reason. The figures of the oracles are counted from what is recorded in ``tests/costs``.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from truth import adapter_rows, further
from truth.costs import Case, recorded
from truth.live import versions
from weighbridge import Model, model
from weighbridge.accounts.flops import outputs_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.optimizers import LIBRARIES, OPTIMIZERS
from weighbridge.core.errors import WeighbridgeError

RECORDED = Path(__file__).parent.parent / "tests" / "truth" / "adapters"
ADAPTERS: dict[str, Any] = json.loads((RECORDED / "cases.json").read_text("utf-8"))
SETTINGS, COSTS = (json.loads((RECORDED / f"{name}.json").read_text("utf-8"))["cases"] for name in ("settings", "costs"))
PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"
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


def _packed(dtype: str, scheme: str) -> Callable[[Model], int]:
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
    "model_type": "qwen3_5_text", "hidden_size": 5120, "num_hidden_layers": 64, "num_attention_heads": 24, "num_key_value_heads": 4,
    "head_dim": 256, "linear_num_key_heads": 16, "linear_num_value_heads": 48,
}  # fmt: skip
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
    Question("MiniMax-M2", 230121630720, {"model_type": "minimax_m2"}, _packed("bfloat16", "fp8-block")),
    Question("neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8", 67.7229, "llama-3.1-70b", _packed("bfloat16", "w8a8")),
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
    *(Question("Qwen Q-LoRA 1.8B", value, "qwen-1.8b", _packed("bfloat16", "gptq-4bit"), True) for value in (6.0, 6.6, 7.8, 15.8)),
    *(Question("Qwen Q-LoRA 7B", value, "qwen-7b", _packed("bfloat16", "gptq-4bit"), True) for value in (11.5, 13.9)),
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


RUNS = {"adapter trainable params": "trainable", "adapter total params": "total", "adapter file size": "saved_bytes"}
"""From what the library's comparison of its methods published to our name of it."""


def runs(rows: list[dict[str, Any]]) -> tuple[list[str], int]:
    """Ask the library's own runs on Llama-3.2-3B, a line for each method; and how many figures were asked."""
    found: dict[str, list[str]] = {}
    asked = 0
    for row in rows:
        if row["what"] not in RUNS or "peft_type=" not in row["setting"]:
            continue
        adapter = {key: _read(value) for key, _, value in (entry.partition("=") for entry in row["setting"].split("; "))}
        name = str(row["model"]).partition(" + ")[2]
        try:
            figures = model("llama-3.2-3b").adapters(adapter)
        except WeighbridgeError as error:
            found.setdefault(name, []).append(f"refused: {error}"[:90])
            continue
        ours, asked = getattr(figures, RUNS[row["what"]]), asked + 1
        apart = 100 * (ours / row["value"] - 1)
        found.setdefault(name, []).append(f"{row['value']:,} / {ours:,} ({apart:+.2f}%)")
    return [f"| {name} | {' | '.join((*entries, '', '')[:3])} |" for name, entries in found.items()], asked


def told(rows: list[dict[str, Any]]) -> tuple[list[str], int]:
    """Ask the figures that documentation, notebooks and issues have of adapters, a line for each; and how many were asked."""
    lines, asked = [], 0
    for row in rows:
        if row["group"] != "adapters" or "peft_type=" in row["setting"]:
            continue
        start, question = f"| {row['model']} | {row['what']}: {row['setting'][:70]} | {row['value']:,}", adapter_rows.question(row)
        if question is None:
            lines.append(f"{start} | | not asked: {adapter_rows.UNASKED.get(row['model'], 'no question of ours fits')} |")
            continue
        ours, asked = adapter_rows.figures(question)[row["what"]], asked + 1
        why = adapter_rows.WHY.get((row["model"], row["value"]))
        lines.append(f"{start} | {ours:,} | {100 * (ours / row['value'] - 1):+.2f}%{f' ({why})' if why else ''} |")
    return lines, asked


TOLD_HEAD = (
    "", "## Adapters in documentation, notebooks and issues", "",
    "| model | figure | published | ours | difference |", "|---|---|---|---|---|",
)  # fmt: skip


def _read(value: str) -> Any:
    try:
        return literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def main(path: str) -> int:
    """Ask every row of a file of published figures and write the page."""
    rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    adapters, many = runs(rows)
    written, more = told(rows)
    rows = [row for row in rows if row["group"] in ("caches", "memory", "activations")]
    asked = [(row, question) for row in rows for question in QUESTIONS if _is_of(row, question)]
    lines = [line for row, question in asked for line in (_line(row, question),)]
    put_out, reserved = outputs(rows), peaks(rows)
    done = [row for row, _ in (*asked, *put_out, *reserved)]
    runs_of_peaks = [*PEAKS_HEAD, *(line for _, line in reserved)]
    counted = [*OUTPUTS_HEAD, *(line for _, line in put_out)]
    more_lines = [*further.HEAD, *further.lines()]
    blocks = [*_head(), *lines, *more_lines, *counted, *RUNS_HEAD, *adapters, *runs_of_peaks, *TOLD_HEAD, *written, *_rest(rows, done)]
    PAGE.write_text("\n".join(blocks) + "\n", "utf-8")
    print("\n".join((*lines, *counted)), f"\n{len(done)} of {len(rows)} rows asked, and {many + more} of adapters: {PAGE}")
    return 0


RUNS_HEAD = (
    "", "## Published runs of adapters", "",
    "The PEFT library's comparison on Llama-3.2-3B: published / ours. A file has a header of its own beside what is saved. Otherwise the figures are"
    " equal, but: the optimizer of LoRA-FA trains B alone; AdaLoRA's file is written after ranks were given up; the adaption prompt and LN tuning were"
    " saved in 16 bits, as their base is; GLoRA's release saved no empty paths. AdaMSS' file has 65 tensors a module in its header.", "",
    "| run | trainable | total | file, bytes |", "|---|---|---|---|",
)  # fmt: skip


def _is_of(row: dict[str, Any], question: Question) -> bool:
    return bool(row["model"] == question.model and row["value"] == question.value and question.part in row["setting"])


def outputs(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    """Ask what timm's tables call activations, elements that convolutions and products put out, of the models that are presets."""
    found = []
    for row in rows:
        side = re.search(r"one (\d+)x", row["setting"])
        if row["what"] != "activation_elements" or side is None:
            continue
        try:
            source: Any = IMAGES.get(row["model"], row["model"])
            weighed = model(source)
            key = _side_key(weighed)
            own = model(source, overrides={key: int(side[1])}) if key else weighed
            ours = outputs_of(own, Inputs()) / 10**6
        except WeighbridgeError:
            continue
        found.append(
            (row, f"| {row['model']} | {side[1]} × {side[1]} | {row['value']} | {ours:.2f} | {100 * (ours / row['value'] - 1):+.2f}% |")
        )
    return found


def _side_key(weighed: Model) -> str | None:
    keys = [field.key for field in weighed.description.family.fields] if weighed.description is not None else []
    return next((key for key in ("image_size", "img_size") if key in keys), None)


def _swin2(width: int, heads: int, window: int) -> dict[str, Any]:
    many = [heads * 2**stage for stage in range(4)]
    return {"model_type": "swinv2", "embed_dim": width, "depths": [2, 2, 18, 2], "num_heads": many, "window_size": window}


def _focal(width: int, deep: int) -> dict[str, Any]:
    widths = [2 * width, 4 * width, 8 * width, 8 * width]
    return {"model_type": "focalnet", "embed_dim": width, "depths": [2, 2, deep, 2], "hidden_sizes": widths,
            "focal_levels": [2] * 4, "focal_windows": [3] * 4}  # fmt: skip


def _wide_focal(width: int, levels: int, image: int) -> dict[str, Any]:
    """Return the config of a FocalNet trained on ImageNet-22k (microsoft/FocalNet, configs)."""
    plain = {"use_conv_embed": True, "use_post_layernorm": True, "use_layerscale": True, "focal_windows": [3] * 4, "num_labels": 21842}
    sizes = {
        "embed_dim": width,
        "hidden_sizes": [width << stage for stage in range(4)],
        "depths": [2, 2, 18, 2],
        "focal_levels": [levels] * 4,
    }
    return {"model_type": "focalnet", "architectures": ["FocalNetForImageClassification"], "image_size": image, **sizes, **plain}


IMAGES: dict[str, Any] = {
    "mobilenetv2_100": {"model_type": "mobilenet_v2"}, "mobilevit_s": {"model_type": "mobilevit"},
    **{f"mobilevitv2_{round(100 * times):03}": {"model_type": "mobilevitv2", "width_multiplier": times} for times in (0.5, 0.75, 1.25, 1.75, 2.0)},
    "hiera_tiny_224": {"model_type": "hiera", "embed_dim": 96, "depths": [1, 2, 7, 2], "num_heads": [1, 2, 4, 8]},
    "beitv2_base_patch16_224": "beit_base_patch16_224", "beitv2_large_patch16_224": "beit_large_patch16_224",
    "levit_512": {"model_type": "levit", "hidden_sizes": [512, 768, 1024], "num_attention_heads": [8, 12, 16], "key_dim": [64, 64, 64], "num_labels": 1000},
    "focalnet_huge_fl3": _wide_focal(352, 3, 224), "focalnet_large_fl4": _wide_focal(192, 4, 384), "focalnet_xlarge_fl4": _wide_focal(256, 4, 384),
    "focalnet_tiny_srf": _focal(96, 6), "focalnet_base_srf": _focal(128, 18),
    "swinv2_base_window12_192": _swin2(128, 4, 12), "swinv2_large_window12_192": _swin2(192, 6, 12),
    "swinv2_base_window12to16_192to256": _swin2(128, 4, 16), "swinv2_large_window12to16_192to256": _swin2(192, 6, 16),
}  # fmt: skip
"""Models that are presets under other names, or none: their configs, by the published ones of their families."""


OUTPUTS_HEAD = (
    "", "## Elements that come out of convolutions and products", "",
    "`outputs` of `weigh flops --json`, in millions, beside timm's tables (fvcore's activation count), which are rounded to two digits behind the point.", "",
    "| model | image | published | ours | difference |", "|---|---|---|---|---|",
)  # fmt: skip


def _line(row: dict[str, Any], question: Question) -> str:
    ours = question.ask(model(question.source)) / UNITS[row["unit"]]
    error = 100 * (ours / row["value"] - 1)
    source = row["source"].split("/blob/")[0]
    note = f"({WHY[row['model']]}) " if abs(error) > 1 and row["model"] in WHY else ""
    if question.bound:
        note = "(a lower bound, which holds) " if error <= 0 else "(**a lower bound that does not hold**) "
    return f"| {row['model']} | {row['what']}: {row['setting'][:70]} | {row['value']:,} {row['unit']} | {ours:,.2f} | {error:+.2f}% {note}| {source[:90]} |"


def _count(cases: list[Case]) -> str:
    return f"{len(cases):,} cases of {len({case.model_type for case in cases})} types"


def _peak_errors(what: str) -> dict[str, list[float]]:
    """Return how far our peaks are from the recorded ones, by how the model was run."""
    errors: dict[str, list[float]] = {}
    for case in recorded(what):
        asked: dict[str, Any] = {**case.lengths, **case.settings}
        found = model(case.config, case.class_name).memory(training=True, **asked)
        if found.peak is not None:
            errors.setdefault(_way(case.settings), []).append(abs(found.peak / case.bytes - 1))
    return errors


def _way(how: dict[str, Any]) -> str:
    """Say in which way a model was run, by what is not as usual.

    >>> _way({"attention": "sdpa", "dtype": "float32", "dropout": False})
    'fused attention'
    """
    if how.get("checkpointing") == "full":
        return "full checkpointing"
    if how["attention"] != "eager":
        return "fused attention"
    return (
        "bfloat16" if how.get("dtype", "float32") != "float32" else "dropout" if how["dropout"] else "eager attention, float32, no dropout"
    )


def _peaks_by_way() -> list[str]:
    found = _peak_errors("peaks_ways")
    return [
        f"| peak of a training step, {way}, other configs | the same tracker, or all live storages under a dispatch mode | {len(errors)} cases, half of them within {sorted(errors)[len(errors) // 2]:.1%} | {max(errors):.1%} |"
        for way, errors in sorted(found.items())
    ]


def _ways() -> str:
    """Count the cases of other ways to run, how many are equal to the byte, and the worst error of the rest."""
    cases, errors = recorded("activations_ways"), []
    for case in cases:
        asked: dict[str, Any] = {**case.lengths, **case.settings}
        found = model(case.config, case.class_name).memory(training=True, **asked)
        errors.append(abs((found.activations or 0) / case.bytes - 1))
    return f"{_count(cases)}, {errors.count(0):,} of them equal | {max(errors):.2%}"


def _head() -> list[str]:
    caches, kept = recorded("caches"), recorded("activations")
    found = versions()
    return [
        "# Accuracy of the costs", "",
        f"Written by `python -m truth accuracy` on {datetime.now(UTC).date()}, with torch {found['torch']} and transformers {found['transformers']}.", "",
        "## Held to oracles", "",
        "| figure | oracle | cases | worst error |", "|---|---|---|---|",
        f"| caches, engine `reference` | every tensor in `past_key_values` after a forward of a small random config | {_count(caches)} | 0 bytes |",
        f"| activations, eager, float32, no dropout, with and without the loss | `saved_tensors_hooks` in a forward, each storage once | {_count(kept)} | 0 bytes |",
        f"| adapters, PEFT {ADAPTERS['libraries']['peft']} | trainable, total, saved elements and bytes of the live library on random small bases | {len(ADAPTERS['cases']) + len(SETTINGS):,} cases of {len({case['adapter']['peft_type'] for case in ADAPTERS['cases']})} methods | 0; AdaMSS of a rank above 1 is a bound, since it clusters the weights |",
        f"| training with an adapter | bytes of parameters, of gradients and of AdamW's states after a step, in float32 and bfloat16; `FlopCounterMode` of a forward with LoRA | {len(COSTS)} cases of {len({case['adapter']['peft_type'] for case in COSTS})} methods | 0 |",
        f"| optimizer states | states after one step of small live models | {len(OPTIMIZERS)} optimizers of {', '.join(LIBRARIES)} | 0 bytes |",
        f"| activations, fused attention, dropout, loss, 16 bits, in all combinations | the same hooks | {_ways()} |",
        f"| peak of a training step | torch's memory tracker under fake tensors, eager attention, float32, no dropout | {_count(recorded('peaks'))} | {max(map(max, _peak_errors('peaks').values())):.1%} |",
        *_peaks_by_way(), "",
        "GPU kernels are not held to an oracle here: they are called estimate. So are peaks: of 669 random cases, those recorded among them, the worst was 9.8% off, with full checkpointing 12.2%.", "",
        "## Beside published figures", "",
        "| model | figure | published | ours | difference | source |", "|---|---|---|---|---|---|",
    ]  # fmt: skip


def _rest(rows: list[dict[str, Any]], asked: list[dict[str, Any]]) -> list[str]:
    left = [row for row in rows if row not in asked]
    reasons = (
        f"| {row['model']} | {row['what']}: {row['setting'][:70]} | {row['value']:,} {row['unit']} | {UNASKED.get(row['model'], 'no question of ours fits')} |"
        for row in left
    )
    return ["", "## Not asked", "", "| model | figure | published | why |", "|---|---|---|---|", *reasons]


PEAKS_HEAD = (
    "", "## Peaks of training with adapters", "",
    "The same library's runs: what its allocator reserved at most on one GPU (bfloat16 base, batch 4, texts of up to 768 tokens). Ours has base, adapter"
    " (in the base's type at least), gradients and AdamW's states, and neither activations, whose lengths the run does not tell, nor what an allocator holds: a lower bound.", "",
    "| run | published, bytes | ours, bytes | share |", "|---|---|---|---|",
)  # fmt: skip


def peaks(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    """Ask for what training with an adapter takes at least, beside the most that a run reserved."""
    found = []
    for row in rows:
        if row["what"] != "training peak reserved memory":
            continue
        settings = row["setting"].partition("; measured on")[0]
        try:
            ours = _at_least(settings)
        except WeighbridgeError as error:
            found.append((row, f"| {str(row['model']).partition(' + ')[2]} | {row['value']:,} | refused: {str(error)[:70]} | |"))
            continue
        bound = "" if ours <= row["value"] else " (**a lower bound that does not hold**)"
        found.append(
            (row, f"| {str(row['model']).partition(' + ')[2]} | {row['value']:,} | {ours:,} | {100 * ours / row['value']:.1f}%{bound} |")
        )
    return found


def _at_least(settings: str) -> int:
    whole = model("llama-3.2-3b")
    if settings == "no adapter":
        found = whole.memory(training=True, dtype="bfloat16")
        return found.weights + found.gradients + found.optimizer
    adapter = {key: _read(value) for key, _, value in (entry.partition("=") for entry in settings.split("; "))}
    if adapter["peft_type"] == "OFT":
        adapter.setdefault("oft_block_size", 0)  # what the run says is its rank, and one of the two is nothing
    return whole.adapter_costs(adapter, dtype="bfloat16", autocast=False).total
