"""Adapters: recorded truth, published runs, and what is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.shares import groups
from truth import adapter_rows
from weighbridge import model
from weighbridge.accounts.adapters.account import REFUSED
from weighbridge.accounts.adapters.costs import trained_bytes
from weighbridge.accounts.adapters.methods import METHODS
from weighbridge.accounts.adapters.prompts import PROMPTS, prefix_tuning
from weighbridge.accounts.adapters.source import adapter_config
from weighbridge.core.errors import ReadError

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


@pytest.mark.parametrize("cases", groups(CASES))
def test_the_library_s_own_figures(cases: list[dict[str, Any]]) -> None:
    for case in cases:
        assert figures(case) == case["figures"], case


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


REST = json.loads((ROOT / "tests/truth/adapters/rest.json").read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", REST, ids=lambda case: f"{case['adapter']['peft_type']}-{case['class_name']}")
def test_clusters_shadows_and_mixtures(case: dict[str, Any]) -> None:
    assert figures(case) == case["figures"]


RARE = json.loads((ROOT / "tests/truth/adapters/rare.json").read_text("utf-8"))["cases"]
assert len(RARE) > 80


@pytest.mark.parametrize("case", RARE, ids=lambda case: f"{case['adapter']['peft_type']}-{case['class_name']}")
def test_the_library_s_own_figures_of_rare_settings(case: dict[str, Any]) -> None:
    assert figures(case) == case["figures"]
    if "shapes" in case:
        found = model({**case["config"], "model_type": case["model_type"]}, case["class_name"]).adapters(case["adapter"])
        tensors = (*(tensor for _, added in found.sites for tensor in added), *found.shared)
        assert sorted(list(tensor.shape) for tensor in tensors if tensor.saved) == case["shapes"]


PACKED = json.loads((ROOT / "tests/truth/adapters/packed.json").read_text("utf-8"))["cases"]
assert len(PACKED) > 80


@pytest.mark.parametrize("method", sorted({case["adapter"]["peft_type"] for case in PACKED}))
def test_the_library_s_own_figures_beside_16_bits_and_packed_matrices(method: str) -> None:
    for case in (case for case in PACKED if case["adapter"]["peft_type"] == method):
        how = {name: case[name] for name in ("dtype", "quantization", "autocast")}
        found = model({**case["config"], "model_type": case["model_type"]}, case["class_name"]).adapters(case["adapter"], **how)
        gradients = trained_bytes(found)[1]
        assert [found.trainable, found.total, found.saved, found.saved_bytes, gradients] == case["figures"], case


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


def test_ranks_of_osf_may_be_shares_of_the_full_one() -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    half, twelve = (
        base.adapters({"peft_type": "OSF", "target_modules": ["q_proj"], "rank_pattern": {"q_proj": rank}}) for rank in (0.5, 12)
    )
    assert half[:5] == twelve[:5]


def test_a_wrong_figure_is_found() -> None:
    case = {**CASES[0], "adapter": {**CASES[0]["adapter"], "r": CASES[0]["adapter"].get("r", 8) + 1}}
    assert figures(case) != CASES[0]["figures"]


def test_every_method_that_is_counted_has_recorded_cases() -> None:
    assert {case["adapter"]["peft_type"] for case in (*CASES, *REST)} == {*METHODS, *PROMPTS, "ADAPTION_PROMPT", "XLORA"}


# Settings in which the published run is no plain adapter of its config.
OTHERWISE = {
    "lorafa": "its optimizer trains B alone",
    "adalora": "the file is written after ranks were given up",
    "adaptionprompt": "the base is in 16 bits, and so is this prompt",
    "ln_tuning": "the base is in 16 bits, and so are these copies",
    "glora": "its release saved no empty paths",
}


def published_runs() -> list[dict[str, Any]]:
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
@pytest.mark.parametrize("row", published_runs(), ids=lambda row: f"{row['id']}-{row['what']}")
def test_published_runs(row: dict[str, Any]) -> None:
    config = setting(row)
    if config["peft_type"] in REFUSED:
        pytest.skip(REFUSED[config["peft_type"]])
    found = model("llama-3.2-3b").adapters(config)
    otherwise = next((why for name, why in OTHERWISE.items() if name in row["model"]), None)
    if row["what"] == "adapter file size":  # the tensors, and a header with their names
        if otherwise is None or "lorafa" in row["model"]:
            assert 0 <= row["value"] - found.saved_bytes < (500_000 if "adamss" in row["model"] else 40_000)  # 65 tensors a module
    elif row["what"] == "adapter trainable params" and "lorafa" in row["model"]:
        assert row["value"] == sum(tensor.count for _, added in found.sites for tensor in added if "lora_B" in tensor.name)
    else:
        assert {"adapter trainable params": found.trainable, "adapter total params": found.total}[row["what"]] == row["value"]


def documented_figures() -> list[dict[str, Any]]:
    """Return what documentation, notebooks and issues say of adapters, as far as it can be asked."""
    if not SHARED.exists():
        return []
    rows = (json.loads(line) for line in SHARED.read_text("utf-8").splitlines())
    return [row for row in rows if row["group"] == "adapters" and adapter_rows.question(row) is not None]


@pytest.mark.skipif(not SHARED.exists(), reason="shared/measured.jsonl is not here")
@pytest.mark.parametrize("row", documented_figures(), ids=lambda row: f"{row['id']}-{row['model']}")
def test_figures_of_documentation(row: dict[str, Any]) -> None:
    question = adapter_rows.question(row)
    assert question is not None
    equal = adapter_rows.figures(question)[row["what"]] == row["value"]
    assert equal is ((row["model"], row["value"]) not in adapter_rows.WHY)


def test_adalora_saves_the_directions_that_are_left() -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    config = {"peft_type": "ADALORA", "init_r": 4, "target_modules": ["q_proj"], "total_step": 10}
    whole = base.adapters(config)
    left = base.adapters({**config, "rank_pattern": {"model.layers.0.self_attn.q_proj.lora_E": [True, False, False, True]}})
    site = whole.sites[0][0]
    assert (left.trainable, left.total) == (whole.trainable, whole.total)
    assert whole.saved - left.saved == 2 * (site.inputs + site.outputs + 1)


def test_clusters_of_adamss_are_exact_at_rank_one_and_a_bound_above() -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    assert base.adapters("adamss:r=8,target_modules=q_proj").notes == ()
    assert base.adapters("adamss:r=8,subspace_rank=2,target_modules=q_proj").notes[0].startswith("At most: a cluster with fewer rows")
    one, two = (base.adapters(f"adamss:r=8,num_subspaces=24,subspace_rank={rank},target_modules=q_proj").trainable for rank in (1, 2))
    assert one == two, "clusters of one row have no second direction"


def test_adapters_of_a_mixture_may_be_directories(tmp_path: Path) -> None:
    config = {"peft_type": "LORA", "r": 2, "target_modules": ["q_proj"]}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config), "utf-8")
    base = model(LLAMA, "LlamaForCausalLM")
    mixed = [base.adapters({"peft_type": "XLORA", "hidden_size": 24, "adapters": {"a": entry}}) for entry in (config, str(tmp_path))]
    assert mixed[0] == mixed[1]
    assert mixed[0].trainable == 25


def test_a_directory_and_a_file(tmp_path: Path) -> None:
    file = tmp_path / "adapter_config.json"
    file.write_text(json.dumps({"peft_type": "LORA", "r": 2}), "utf-8")
    assert adapter_config(tmp_path) == adapter_config(file) == {"peft_type": "LORA", "r": 2}
    file.write_text("[1]", "utf-8")
    with pytest.raises(ReadError, match="expected a JSON object"):
        adapter_config(str(tmp_path))


@pytest.mark.parametrize(("rate", "mixed"), [(0.0, 0), (1e-9, 1), (0.01, 5), (0.5, 288), (1.0, 24 * 23)])
def test_a_sparse_share_is_at_least_one_and_at_most_all_but_the_diagonal(rate: float, mixed: int) -> None:
    base = model({**LLAMA, "num_hidden_layers": 1}, "LlamaForCausalLM")
    found = base.adapters({"peft_type": "FROD", "sparse_rate": rate, "target_modules": ["q_proj"]})
    (_, added) = found.sites[0]
    assert [tensor.shape for tensor in added] == [(24,), (mixed,)]


@pytest.mark.parametrize(("stated", "width"), [({}, 8), ({"multi_query": True}, 8), ({"multi_query": False}, 32)])
def test_a_prefix_is_as_wide_as_what_is_cached(stated: dict[str, bool], width: int) -> None:
    """GPT-BigCode's heads share one pair of keys and values unless its config says otherwise: keys and values of 2 layers, 5 tokens each."""
    sizes = {"n_embd": 32, "n_head": 4, "n_layer": 2, "vocab_size": 50, "n_positions": 16}
    base = model({"model_type": "gpt_bigcode", **sizes, **stated}, "GPTBigCodeForCausalLM")
    found = base.adapters({"peft_type": "PREFIX_TUNING", "task_type": "CAUSAL_LM", "num_virtual_tokens": 5})
    assert found.trainable == 5 * 2 * 2 * width


def test_a_prefix_of_longcat_has_two_pairs_for_each_of_its_layers() -> None:
    """LongcatFlashConfig sets num_hidden_layers to twice num_layers, since a layer has two attentions, and head_dim to qk_rope_head_dim, 64."""
    sizes = {"num_layers": 3, "hidden_size": 96, "num_attention_heads": 4}
    found = model({"model_type": "longcat_flash", **sizes}).adapters("prefix_tuning:num_virtual_tokens=5")
    assert found.learned[0][0] == (5, 2 * (2 * 3) * (4 * 64))


def test_the_network_of_a_prefix_has_the_names_that_peft_gives() -> None:
    """PrefixEncoder: embedding, and transform = Sequential(Linear, Tanh, Linear), whose maps are numbers 0 and 2."""
    config = {"num_virtual_tokens": 5, "token_dim": 8, "encoder_hidden_size": 6, "num_layers": 2, "prefix_projection": True}
    found = {tensor.name: tensor.shape for tensor in prefix_tuning(config)}
    assert found["transform.0.weight"] == (6, 8)
    assert found["transform.2.bias"] == (2 * 2 * 8,)


def test_adamss_is_exact_with_one_cluster_and_the_most_with_several() -> None:
    small = model({"model_type": "bert", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1})
    adapter = {"peft_type": "ADAMSS", "subspace_rank": 4, "target_modules": ["query"]}
    several, one = small.adapters({**adapter, "num_subspaces": 3}), small.adapters({**adapter, "num_subspaces": 1})
    assert (several.trust, one.trust, small.adapters({**adapter, "subspace_rank": 1}).trust) == ("bound", "exact", "exact")
    assert small.adapter_costs({**adapter, "num_subspaces": 3}).trust["gradients"] == "bound"
