"""Adapters: recorded truth, published runs, and what is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.adapters.account import REFUSED
from weighbridge.accounts.adapters.methods import METHODS
from weighbridge.accounts.adapters.prompts import PROMPTS
from weighbridge.accounts.adapters.source import adapter_config
from weighbridge.core.errors import ConfigError, ReadError, SourceError, UsageError

ROOT = Path(__file__).parents[3]
RECORDED = json.loads((ROOT / "tests/truth/adapters/cases.json").read_text("utf-8"))
CASES = RECORDED["cases"]
SHARED = ROOT.parent / "shared" / "measured.jsonl"
LLAMA = {
    "model_type": "llama",
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 50,
}

assert len(CASES) > 200


def figures(case: dict[str, Any]) -> list[int]:
    found = model({**case["config"], "model_type": case["model_type"]}, case["class_name"]).adapters(case["adapter"])
    return [found.trainable, found.total, found.saved, found.saved_bytes]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['adapter']['peft_type']}-{case['class_name']}")
def test_the_library_s_own_figures(case: dict[str, Any]) -> None:
    assert figures(case) == case["figures"]


OF_SETTINGS = json.loads((ROOT / "tests/truth/adapters/settings.json").read_text("utf-8"))["cases"]

assert len(OF_SETTINGS) > 30


@pytest.mark.parametrize("case", OF_SETTINGS, ids=lambda case: f"{case['adapter']['peft_type']}-{case['class_name']}")
def test_the_library_s_own_figures_of_rarer_settings(case: dict[str, Any]) -> None:
    """Variants of LoRA, replicated layers, heads and ties that only the class knows, statistics of norms in copies, computed depths."""
    assert figures(case) == case["figures"]


OF_CONVOLUTIONS = json.loads((ROOT / "tests/truth/adapters/convolutions.json").read_text("utf-8"))


@pytest.mark.parametrize(("model_type", "adapter", "expected"), OF_CONVOLUTIONS["cases"])
def test_the_library_s_own_figures_of_convolutions(model_type: str, adapter: dict[str, Any], expected: list[int]) -> None:
    class_name, config = OF_CONVOLUTIONS["bases"][model_type]
    assert figures({"model_type": model_type, "class_name": class_name, "config": config, "adapter": adapter}) == expected


OF_SHAPES = json.loads((ROOT / "tests/truth/adapters/shapes.json").read_text("utf-8"))["cases"]

assert len(OF_SHAPES) > 80


@pytest.mark.parametrize("case", OF_SHAPES, ids=lambda case: f"{case['adapter']['peft_type']}-{case['class_name']}")
def test_the_library_s_own_shapes(case: dict[str, Any]) -> None:
    """Two matrices of exchanged shapes have as many elements, and are wrong all the same."""
    found = model({**case["config"], "model_type": case["model_type"]}, case["class_name"]).adapters(case["adapter"])
    tensors = (*(tensor for _, added in found.sites for tensor in added), *found.shared)
    assert sorted(list(tensor.shape) for tensor in tensors if tensor.saved) == case["shapes"]


def test_parameters_of_experts_alone_are_adapted() -> None:
    """Mixtral's experts stand in [E, 2 I, H] and [E, H, I]: each expert has matrices of its own, [r, in] and [out, r]; no other module is touched."""
    sizes = {
        "hidden_size": 24,
        "intermediate_size": 40,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "vocab_size": 50,
        "num_local_experts": 3,
    }
    base = model({"model_type": "gpt_oss", "num_key_value_heads": 2, "head_dim": 6, **sizes}, "GptOssForCausalLM")
    found = base.adapters({"peft_type": "LORA", "r": 2, "target_modules": [], "target_parameters": ["experts.down_proj"]})
    assert [site.path for site, _ in found.sites] == ["model.layers.0.mlp.experts.down_proj"]
    shapes = [tensor.shape for _, added in found.sites for tensor in added]
    assert shapes == [(2 * 3, 40), (24, 2 * 3)] or shapes == [(2 * 3, 24), (40, 2 * 3)]
    assert found.trainable == 2 * 3 * (24 + 40)


def test_a_wrong_figure_is_found() -> None:
    case = {**CASES[0], "adapter": {**CASES[0]["adapter"], "r": CASES[0]["adapter"].get("r", 8) + 1}}
    assert figures(case) != CASES[0]["figures"]


def test_every_method_that_is_counted_has_recorded_cases() -> None:
    assert {case["adapter"]["peft_type"] for case in CASES} == {*METHODS, *PROMPTS, "ADAPTION_PROMPT"}


# Settings in which the published run is no plain adapter of its config.
OTHERWISE = {
    "lorafa": "its optimizer trains B alone",
    "adalora": "the file is written after ranks were given up",
    "adaptionprompt": "the base is in 16 bits, and so is this prompt",
    "ln_tuning": "the base is in 16 bits, and so are these copies",
    "glora": "its release saved no empty paths",
}


def published() -> list[dict[str, Any]]:
    """Return the published runs of PEFT's own comparison on Llama-3.2-3B."""
    if not SHARED.exists():
        return []
    rows = (json.loads(line) for line in SHARED.read_text("utf-8").splitlines())
    return [row for row in rows if row["group"] == "adapters" and row["setting"].startswith("peft_type=")]


def setting(row: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for pair in row["setting"].split("; "):
        key, _, value = pair.partition("=")
        try:
            found[key] = json.loads(value.replace("'", '"').replace("True", "true"))
        except ValueError:
            found[key] = value
    return found


@pytest.mark.skipif(not SHARED.exists(), reason="shared/measured.jsonl is not here")
@pytest.mark.parametrize("row", published(), ids=lambda row: f"{row['id']}-{row['what']}")
def test_published_runs(row: dict[str, Any]) -> None:
    config = setting(row)
    if config["peft_type"] in REFUSED:
        pytest.skip(REFUSED[config["peft_type"]])
    found = model("llama-3.2-3b").adapters(config)
    otherwise = next((why for name, why in OTHERWISE.items() if name in row["model"]), None)
    if row["what"] == "adapter file size":  # the tensors, and a header with their names
        if otherwise is None or "lorafa" in row["model"]:
            assert 0 <= row["value"] - found.saved_bytes < 40_000
    elif row["what"] == "adapter trainable params" and "lorafa" in row["model"]:
        assert row["value"] == sum(tensor.count for _, added in found.sites for tensor in added if "lora_B" in tensor.name)
    else:
        assert {"adapter trainable params": found.trainable, "adapter total params": found.total}[row["what"]] == row["value"]


@pytest.mark.parametrize(
    ("adapter", "error", "text"),
    [
        ("lora:r=0", ConfigError, "r: expected a whole number from 1 up"),
        ("lora:target_modules=qproj", UsageError, "no module of the base model is adapted: target_modules qproj"),
        ({"peft_type": "LORE"}, ConfigError, "peft_type: expected one of"),
        ({"peft_type": "LORA", "bias": "some"}, ConfigError, "bias: expected none, all or an ending in _only"),
        ({"peft_type": "LORA", "target_modules": "(q"}, ConfigError, "target_modules: is not a regular expression"),
        ({"peft_type": "LORA", "target_modules": "(.*a+)+q"}, ConfigError, "could take forever"),
        ({"peft_type": "LORA", "modules_to_save": ["q_proj"]}, None, ""),
        ({"peft_type": "LORA", "modules_to_save": ["proj"]}, UsageError, "is adapted too"),
        ({"peft_type": "IA3", "target_modules": ["embed_tokens"]}, UsageError, "IA3 does not adapt model.embed_tokens"),
        ("adamss", UsageError, "ADAMSS: how many numbers it learns depends on"),
        ("prompt_tuning", ConfigError, "num_virtual_tokens: expected a whole number from 1 up"),
        ("vblora:vector_length=7", UsageError, "cannot be cut into vectors of 7"),
        ("nothing/here", SourceError, "nothing/here: no such adapter"),
        (3, UsageError, "cannot read an adapter from a int"),
    ],
)
def test_what_cannot_be_counted_is_said(adapter: object, error: type[Exception] | None, text: str) -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    if error is None:
        assert base.adapters(adapter).trainable > 0
        return
    with pytest.raises(error) as caught:
        base.adapters(adapter)
    assert text in str(caught.value)


def test_a_directory_and_a_file(tmp_path: Path) -> None:
    file = tmp_path / "adapter_config.json"
    file.write_text(json.dumps({"peft_type": "LORA", "r": 2}), "utf-8")
    assert adapter_config(tmp_path) == adapter_config(file) == {"peft_type": "LORA", "r": 2}
    file.write_text("[1]", "utf-8")
    with pytest.raises(ReadError, match="expected a JSON object"):
        adapter_config(str(tmp_path))


def test_a_base_in_sixteen_bits_keeps_the_adapter_in_thirty_two() -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    plain = base.adapters("lora:r=4")
    wide = base.adapters("lora:r=4", dtype="bfloat16")
    narrow = base.adapters("lora:r=4", dtype="bfloat16", autocast=False)
    assert plain.saved_bytes == wide.saved_bytes == 4 * plain.saved == 2 * narrow.saved_bytes


def test_a_resized_vocabulary_saves_its_tables() -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    plain, resized = base.adapters("lora:r=4"), base.adapters("lora:r=4", resized=True)
    assert resized.saved - plain.saved == 2 * 50 * 24
    assert resized.trainable == plain.trainable


def test_parts_of_a_model_are_trained() -> None:
    """BERT-base: 8,448 biases and shifts a layer; Houlsby's 64-wide bottlenecks add 2 x (2 x 768 x 64 + 768 + 64) a layer."""
    base = model("bert-base-uncased")
    whole = base.count().unique
    bitfit = base.adapters("bitfit")
    assert (bitfit.trainable, bitfit.total) == (12 * 8448 + 768 + 768, whole)
    houlsby = base.adapters("houlsby:bottleneck=64,norms=false")
    assert houlsby.trainable == houlsby.saved == 12 * 2 * (2 * 768 * 64 + 768 + 64)
    assert base.adapters("houlsby").trainable == houlsby.trainable + 25 * 2 * 768
    last = base.adapters({"peft_type": "FREEZE", "train": ["layer.11", "pooler"]})
    rest = base.adapters({"peft_type": "FREEZE", "freeze": ["layer.11", "pooler"]})
    assert last.trainable == 7_087_872 + 590_592
    assert last.trainable + rest.trainable == whole
    head = model({"model_type": "bert"}, "BertForSequenceClassification").adapters(
        {"peft_type": "BITFIT", "modules_to_save": ["classifier"]}
    )
    assert head.trainable == bitfit.trainable + 2 * 769
    with pytest.raises(UsageError, match="no module of the base model is named nothing"):
        base.adapters({"peft_type": "FREEZE", "train": ["nothing"]})


@pytest.mark.parametrize("pattern", [r".*\.experts\.w2", r"model\.layers\.0\..*w2"])
def test_a_pattern_means_experts_by_the_names_of_published_files(pattern: str) -> None:
    """Mixtral's files hold each expert's w2; the class holds all of them in one parameter, which is adapted."""
    config = {**LLAMA, "model_type": "mixtral", "num_key_value_heads": 2, "num_local_experts": 3, "num_hidden_layers": 1}
    base = model(config, "MixtralForCausalLM")
    found = base.adapters({"peft_type": "LORA", "r": 2, "target_modules": pattern})
    assert [site.path for site, _ in found.sites] == ["model.layers.0.mlp.experts.down_proj"]
    assert found.trainable == 2 * 3 * (24 + 40)


@pytest.mark.parametrize(("rate", "mixed"), [(0.0, 0), (1e-9, 1), (0.01, 5), (0.5, 288), (1.0, 24 * 23)])
def test_a_sparse_share_is_at_least_one_and_at_most_all_but_the_diagonal(rate: float, mixed: int) -> None:
    base = model({**LLAMA, "num_hidden_layers": 1}, "LlamaForCausalLM")
    found = base.adapters({"peft_type": "FROD", "sparse_rate": rate, "target_modules": ["q_proj"]})
    (_, added) = found.sites[0]
    assert [tensor.shape for tensor in added] == [(24,), (mixed,)]
