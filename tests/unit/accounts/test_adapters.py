"""Adapters: recorded truth, published runs, and what is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from truth import adapter_rows
from weighbridge import model
from weighbridge.accounts.adapters.account import REFUSED
from weighbridge.accounts.adapters.methods import METHODS
from weighbridge.accounts.adapters.prompts import PROMPTS, prefix_tuning
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


CONTEXT = {"peft_type": "CPT", "task_type": "CAUSAL_LM", "cpt_token_ids": [0, 1]}


@pytest.mark.parametrize(
    ("config", "adapter", "text"),
    [
        ({"model_type": "hubert"}, "lora:target_modules=pos_conv_embed.conv", "convolution is parametrised"),
        ({"model_type": "vit"}, "prompt_tuning:num_virtual_tokens=4", "by vocab_size, which this config has not"),
        ({"model_type": "llama", "architectures": ["LlamaModel"]}, CONTEXT, "LlamaModel does not"),
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, CONTEXT, "BertForMaskedLM does not"),
    ],
)
def test_a_base_that_the_library_does_not_wrap_is_refused(config: dict[str, Any], adapter: str | dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        model(config).adapters(adapter)


@pytest.mark.parametrize("config", [{"model_type": "llama"}, {"model_type": "bert", "architectures": ["BertLMHeadModel"]}])
def test_a_context_is_tuned_where_a_class_generates(config: dict[str, Any]) -> None:
    assert model({"architectures": ["LlamaForCausalLM"], **config}).adapters(CONTEXT).trainable > 0


@pytest.mark.parametrize(
    ("adapter", "error", "text"),
    [
        ("lora:r=0", ConfigError, "r: expected a whole number from 1 up"),
        ("lora:rank=8", UsageError, "lora has no field rank (it has: "),
        ("lora:r=8,target_module=q_proj", UsageError, "lora has no field target_module; did you mean target_modules?"),
        ("houlsby:bottlenek=8", UsageError, "houlsby has no field bottlenek; did you mean bottleneck?"),
        ("lora:target_modules=qproj", UsageError, "no module of the base model is adapted: target_modules qproj"),
        ({"peft_type": "LORE"}, ConfigError, "peft_type: expected one of"),
        ({"peft_type": "LORA", "bias": "some"}, ConfigError, "bias: expected none, all or an ending in _only"),
        ({"peft_type": "LORA", "target_modules": "(q"}, ConfigError, "target_modules: is not a regular expression"),
        ({"peft_type": "LORA", "target_modules": "(.*a+)+q"}, ConfigError, "could take forever"),
        ({"peft_type": "LORA", "modules_to_save": ["q_proj"]}, None, ""),
        ({"peft_type": "LORA", "modules_to_save": ["proj"]}, UsageError, "is adapted too"),
        ({"peft_type": "IA3", "target_modules": ["embed_tokens"]}, UsageError, "IA3 does not adapt model.embed_tokens"),
        ("mixed", UsageError, "MIXED: count each of its adapters"),
        ("prompt_tuning", ConfigError, "num_virtual_tokens: expected a whole number from 1 up"),
        ("vblora:vector_length=7", UsageError, "cannot be cut into vectors of 7"),
        (
            {"peft_type": "GLORA", "config_C": "constant", "target_modules": ["q_proj"]},
            ConfigError,
            "config_C: expected one of lora, vector, none",
        ),
        (
            {"peft_type": "GLORA", "config_D_E": "lora", "target_modules": ["q_proj"]},
            ConfigError,
            "config_D_E: expected one of vector, constant, none",
        ),
        (
            {"peft_type": "GLORA", "config_A_B": "full", "target_modules": ["q_proj"]},
            ConfigError,
            "config_A_B: expected one of lora, vector, constant, none",
        ),
        ("freeze", ConfigError, "train: expected one of train and freeze, a list of modules"),
        ({"peft_type": "FREEZE", "train": ["q_proj"], "freeze": ["k_proj"]}, ConfigError, "train: expected one of train and freeze"),
        ({"peft_type": "FREEZE", "freeze": "q_proj"}, ConfigError, "freeze: expected a list of modules"),
        ({"peft_type": "FREEZE", "train": [1]}, ConfigError, "train: expected a list of modules"),
        ("houlsby:bottleneck=0", ConfigError, "bottleneck: expected a whole number from 1 up"),
        ({"peft_type": "SHIRA", "r": 13, "target_modules": ["q_proj"]}, UsageError, "r = 13 asks for more elements than its weight has"),
        (
            {"peft_type": "FOURIERFT", "n_frequency": 577, "target_modules": ["q_proj"]},
            UsageError,
            "from 1 to the 576 elements of its weight, found 577",
        ),
        ({"peft_type": "FOURIERFT", "n_frequency": 0, "target_modules": ["q_proj"]}, ConfigError, "expected a whole number from 1 up"),
        (
            {"peft_type": "WAVEFT", "n_frequency": 0, "target_modules": ["q_proj"]},
            UsageError,
            "from 1 to the 576 elements of its weight, found 0",
        ),
        ({"peft_type": "MISS", "r": 25, "target_modules": ["q_proj"]}, UsageError, "r = 25 is more than its 24 inputs"),
        (
            {"peft_type": "MISS", "r": 5, "init_weights": "bat", "target_modules": ["q_proj"]},
            UsageError,
            "[24, 24] cannot be cut into blocks of 5 x 5",
        ),
        (
            {"peft_type": "MISS", "r": 2, "mini_r": 5, "init_weights": "mini", "target_modules": ["q_proj"]},
            UsageError,
            "24 outputs cannot be cut by mini_r = 5",
        ),
        (
            {"peft_type": "C3A", "block_size": 16, "target_modules": ["up_proj"]},
            UsageError,
            "[40, 24] cannot be cut into circulant blocks of 16",
        ),
        ({"peft_type": "PSOFT", "r": 25, "target_modules": ["q_proj"]}, UsageError, "r = 25 is more than its 24 directions"),
        (
            {"peft_type": "OSF", "effective_rank": -1, "target_modules": ["q_proj"]},
            UsageError,
            "effective_rank -1 keeps none of its 24 directions",
        ),
        (
            {"peft_type": "OFT", "r": 4, "oft_block_size": 4, "target_modules": ["q_proj"]},
            ConfigError,
            "expected one of r and oft_block_size, the other 0",
        ),
        (
            {"peft_type": "BOFT", "boft_block_size": 5, "target_modules": ["q_proj"]},
            UsageError,
            "24 inputs cannot be cut by 5 without remainder",
        ),
        ({"peft_type": "ROAD", "group_size": 5, "target_modules": ["q_proj"]}, UsageError, "24 outputs cannot be cut into groups of 5"),
        (
            {"peft_type": "ROAD", "variant": "road_3", "target_modules": ["q_proj"]},
            ConfigError,
            "variant: expected one of road_1, road_2, road_4",
        ),
        (
            {"peft_type": "SUPERTUNING", "sparsity": 1.0, "target_modules": ["q_proj"]},
            UsageError,
            "sparsity 1.0 leaves none of its 576 elements",
        ),
        (
            {"peft_type": "SUPERTUNING", "sparsity": "most", "target_modules": ["q_proj"]},
            ConfigError,
            "sparsity: expected a share between 0 and 1",
        ),
        (
            {"peft_type": "GRALORA", "r": 4, "gralora_k": 5, "target_modules": ["q_proj"]},
            UsageError,
            "24 inputs cannot be cut into gralora_k = 5 blocks",
        ),
        (
            {"peft_type": "LILY", "r": 2, "stride_A": 0, "target_modules": ["q_proj"]},
            ConfigError,
            "stride_A: expected a whole number from 1 up",
        ),
        (
            {"peft_type": "CARTRIDGE", "num_virtual_tokens": 3, "num_frozen_tokens": 4},
            ConfigError,
            "num_frozen_tokens: expected a number from 0 to 3, the number of virtual tokens",
        ),
        ({"peft_type": "P_TUNING", "num_virtual_tokens": 3, "encoder_reparameterization_type": "GRU"}, ConfigError, "expected MLP or LSTM"),
        (
            {"peft_type": "ADAPTION_PROMPT", "adapter_len": 4, "adapter_layers": 3},
            UsageError,
            "3 asked for, and the model has 2 modules named self_attn",
        ),
        (
            {"peft_type": "ADAPTION_PROMPT", "adapter_len": 0, "adapter_layers": 1},
            ConfigError,
            "adapter_len: expected a whole number from 1 up",
        ),
        (
            {"peft_type": "LORA", "use_dora": True, "kasa_config": {"x": 1}},
            UsageError,
            "use_dora and kasa_config cannot be combined in one LoRA",
        ),
        ({"peft_type": "LORA", "use_bdlora": {"x": 1}}, UsageError, "named by neither target_modules_bd_a nor target_modules_bd_b"),
        (
            {"peft_type": "LORA", "kasa_config": {"x": 1}, "target_modules": ["embed_tokens"]},
            UsageError,
            "kasa_config adapts linear layers alone",
        ),
        (
            {"peft_type": "LORA", "lora_bias": True, "target_modules": ["embed_tokens"]},
            UsageError,
            "lora_bias is not for tables that are looked up",
        ),
        ({"peft_type": "LORA", "modules_to_save": "lm_head"}, ConfigError, "modules_to_save: expected a list of names"),
        ({"peft_type": "LORA", "modules_to_save": ["layers"]}, UsageError, "no module of the base model is adapted"),
        (
            {"peft_type": "LORA", "modules_to_save": ["0", "up_proj"]},
            UsageError,
            "up_proj stands deep inside another module that is saved whole",
        ),
        ({"peft_type": "LORA", "task_type": "CAUSAL"}, ConfigError, "task_type: expected one of SEQ_CLS"),
        ({"peft_type": "LORA", "target_modules": ".*q_proj", "layers_to_transform": [0]}, UsageError, "a pattern in target_modules"),
        ({"peft_type": "VERA", "target_modules": ["q_proj"], "layers_pattern": "layers"}, UsageError, "say which with layers_to_transform"),
        ({"peft_type": "LILY", "num_B": 1, "target_modules": ["q_proj"]}, ConfigError, "num_B: expected at least 2"),
        ({"peft_type": "LORA", "r": 3, "init_lora_weights": "orthogonal"}, ConfigError, "r: expected an even rank"),
        (
            {"peft_type": "IA3", "target_modules": ["q_proj"], "feedforward_modules": ["down_proj"]},
            UsageError,
            "names modules that target_modules does not name",
        ),
        ({"peft_type": "SHADOW", "shadow_model": "Qwen/Qwen3-0.6B"}, ConfigError, "shadow_model: expected mirror"),
        ({"peft_type": "SHADOW", "shadow_hidden_size": 0.5}, ConfigError, "shadow_hidden_size: expected a whole number from 1 up"),
        ({"peft_type": "XLORA"}, ConfigError, "adapters: expected a mapping from names to adapters"),
        ({"peft_type": "XLORA", "adapters": {}}, ConfigError, "adapters: expected the names of adapters"),
        ({"peft_type": "XLORA", "adapters": {"0": {"peft_type": "IA3"}}}, UsageError, "XLORA: mixes only LoRA adapters"),
        ({"peft_type": "XLORA", "adapters": {"0": {"target_modules": ["lm_head"]}}}, UsageError, "XLORA: lm_head is adapted"),
        (
            {"peft_type": "ADALORA", "rank_pattern": {"model.layers.0.self_attn.q_proj.lora_E": 3}},
            ConfigError,
            "expected a list of true and false",
        ),
        (
            {"peft_type": "ADALORA", "rank_pattern": {"model.layers.0.self_attn.q_proj.lora_E": [True]}},
            ConfigError,
            "expected 12 entries for model.layers.0.self_attn.q_proj.lora_E",
        ),
        ({"peft_type": "LORA", "trainable_token_indices": "1"}, ConfigError, "trainable_token_indices: expected a list of token ids"),
        ({"peft_type": "LORA", "trainable_token_indices": {"wte": [1]}}, UsageError, "trainable_token_indices: no module wte"),
        ({"peft_type": "LORA", "trainable_token_indices": {"q_proj": [1]}}, UsageError, "its rows cannot be trained separately"),
        (
            {"peft_type": "LORA", "trainable_token_indices": [1], "modules_to_save": ["model.embed_tokens"]},
            UsageError,
            "saved whole (modules_to_save)",
        ),
        ({"peft_type": "LORA", "target_modules": "(" + "a" * 999}, ConfigError, "is not a regular expression"),
        ({"peft_type": "LORA", "target_modules": "a" * 1001}, ConfigError, "expected a regular expression of at most 1,000 characters"),
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


def test_a_module_inside_a_copied_one_is_copied_once_more_and_trained_there() -> None:
    """Held to PEFT 0.21.2: the outer copy keeps its part frozen, the file holds each tensor once."""
    base = model(LLAMA, "LlamaForCausalLM")
    mlp, both = (base.adapters({"modules_to_save": names, "target_modules": ["q_proj"]}) for names in (["mlp"], ["mlp", "up_proj"]))
    assert (both.trainable, both.saved) == (mlp.trainable, mlp.saved)
    assert both.total - mlp.total == sum(row.count for row in base.tensors() if row.name.endswith("up_proj.weight"))


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


def test_adapters_of_a_mixture_may_be_directories(tmp_path: Path) -> None:
    config = {"peft_type": "LORA", "r": 2, "target_modules": ["q_proj"]}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config), "utf-8")
    base = model(LLAMA, "LlamaForCausalLM")
    mixed = [base.adapters({"peft_type": "XLORA", "hidden_size": 24, "adapters": {"a": entry}}) for entry in (config, str(tmp_path))]
    assert mixed[0] == mixed[1]
    assert mixed[0].trainable == 25


TIED = {**LLAMA, "tie_word_embeddings": True}


def test_rows_of_a_table_beside_an_adapted_head_that_is_tied_to_it() -> None:
    """Held to PEFT 0.21.2: the head's adapter stays, and the rows stand at the table alone."""
    found = model(
        {**TIED, "hidden_size": 24, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 50}, "LlamaForCausalLM"
    ).adapters({"r": 8, "target_modules": ["q_proj", "lm_head"], "trainable_token_indices": [1]})
    assert (found.trainable, found.saved) == (1384, 1384)


@pytest.mark.parametrize(
    ("config", "class_name", "targets", "expected"),
    [
        ({"model_type": "gpt2", "n_embd": 24, "n_layer": 2, "n_head": 4}, "GPT2LMHeadModel", ["lm_head", "wte"], (2, 3)),
        ({"model_type": "opt", "hidden_size": 24, "word_embed_proj_dim": 24, "ffn_dim": 20, "num_hidden_layers": 2, "num_attention_heads": 2}, "OPTForCausalLM", ["lm_head", "embed_tokens"], (2, 3)),
        ({"model_type": "t5", "d_model": 24, "d_ff": 20, "num_layers": 1, "num_heads": 2, "d_kv": 4, "tie_word_embeddings": False}, "T5ForConditionalGeneration", ["shared", "embed_tokens"], (3, 6)),
        ({"model_type": "bart", "d_model": 24, "encoder_attention_heads": 2, "decoder_attention_heads": 2}, "BartForConditionalGeneration", ["shared", "lm_head", "embed_tokens"], (4, 7)),
        ({"model_type": "prophetnet", "hidden_size": 24, "num_encoder_attention_heads": 2, "num_decoder_attention_heads": 2}, "ProphetNetModel", ["word_embeddings"], (3, 5)),
    ],
)  # fmt: skip
def test_rows_of_tables_that_are_tied_and_named_as_well(
    config: dict[str, Any], class_name: str, targets: list[str], expected: tuple[int, int]
) -> None:
    """Held to PEFT 0.21.2: each table that is named trains its own rows, and each that is tied to the first saves them once more."""
    found = model(config, class_name).adapters({"peft_type": "TRAINABLE_TOKENS", "token_indices": [1, 2], "target_modules": targets})
    assert (found.trainable, found.saved) == (expected[0] * 2 * 24, expected[1] * 2 * 24)


@pytest.mark.parametrize(
    ("config", "class_name", "adapter", "text"),
    [
        (TIED, "LlamaForCausalLM", {"ensure_weight_tying": True, "trainable_token_indices": {"embed_tokens": [1, 2], "lm_head": [3]}},
         "tied tables must train the same rows where ensure_weight_tying is on"),
        (TIED, "LlamaForCausalLM", {"target_modules": ["q_proj", "lm_head"], "trainable_token_indices": {"embed_tokens": [1], "lm_head": [1]}},
         "lm_head: its rows cannot be trained separately: it is adapted already, or is not a table"),
        (LLAMA, "LlamaForCausalLM", {"peft_type": "SHADOW", "task_type": "TOKEN_CLS", "modules_to_save": ["up_proj"]}, "up_proj.weight stands in the shadow too"),
        ({**LLAMA, "model_type": "mixtral", "num_local_experts": 3}, "MixtralForCausalLM", {"target_modules": ["w1"]}, "w1 and w3 are one parameter here, gate_up_proj"),
        ({**LLAMA, "model_type": "mixtral", "num_local_experts": 3}, "MixtralForCausalLM", {"target_modules": ["w3"]}, "w3 and w1 are one parameter here, gate_up_proj"),
        ({**LLAMA, "model_type": "mixtral", "num_local_experts": 3}, "MixtralForCausalLM", {"target_modules": [], "target_parameters": ["input_layernorm.weight"]},
         "a parameter of 1 dimensions cannot be a target; only 2 and 3 can"),
        ({"model_type": "vjepa2", "hidden_size": 24, "num_attention_heads": 4, "pred_num_attention_heads": 4, "num_hidden_layers": 1, "pred_num_hidden_layers": 1, "pred_hidden_size": 24}, "VJEPA2Model",
         {"peft_type": "LOHA", "target_modules": ["proj"]}, "a convolution over 3 axes"),
        ({"model_type": "bert"}, "BertModel", {"peft_type": "ADAPTION_PROMPT", "adapter_len": 1, "adapter_layers": 1}, "adaption prompts are for llama, mistral, gpt2, not for bert"),
        ({"model_type": "resnet"}, "ResNetModel", {"peft_type": "LORA"}, "target_modules is required: the PEFT library has no default for resnet"),
        ({"model_type": "vit"}, "ViTModel", {"peft_type": "IA3", "target_modules": ["q_proj"]}, "feedforward_modules is required: the PEFT library has no default for vit"),
    ],
)  # fmt: skip
def test_what_the_library_refuses_of_these_bases_is_refused(
    config: dict[str, Any], class_name: str, adapter: dict[str, Any], text: str
) -> None:
    with pytest.raises((UsageError, ConfigError)) as caught:
        model(config, class_name).adapters({"peft_type": "LORA", **adapter})
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


@pytest.mark.parametrize("tied", [False, True])
def test_a_prompt_for_a_resized_vocabulary_saves_its_tables_too(tied: bool) -> None:
    """``get_peft_model_state_dict(model, save_embedding_layers=True)`` of PEFT 0.21.2 has 72 + 2 × 50 × 24 elements, tied or not."""
    base = model({**LLAMA, "tie_word_embeddings": tied}, "LlamaForCausalLM")
    prompt = {"peft_type": "PROMPT_TUNING", "task_type": "CAUSAL_LM", "num_virtual_tokens": 3}
    assert (base.adapters(prompt).saved, base.adapters(prompt, resized=True).saved) == (72, 2472)


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


def test_a_module_to_save_is_not_also_the_adapters_own() -> None:
    """In peft 0.21.2 DeLoRA's norms are saved twice more where ``norm`` is named; its other containers, and LoRA's, raise a TypeError."""
    llama = model({"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "vocab_size": 32})
    delora = {"peft_type": "DELORA", "target_modules": ["v_proj"]}
    plain, norm = llama.adapters(delora), llama.adapters({**delora, "modules_to_save": ["norm"]})
    assert norm.saved - plain.saved == 3 * 16 + 2 * 16, "the copies of three norms, and twice the norms of the columns"
    with pytest.raises(UsageError, match=r"^modules_to_save: dropout is the end of lora_dropout too, which the adapter itself adds; "):
        llama.adapters({"peft_type": "LORA", "target_modules": ["v_proj"], "modules_to_save": ["dropout"]})


def test_what_is_frozen_is_frozen_under_all_its_names() -> None:
    """Held to live models with requires_grad False on the modules that are named (transformers 5.23.0)."""
    llama = model({"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 24,
                   "vocab_size": 32, "tie_word_embeddings": True}, "LlamaForCausalLM")  # fmt: skip
    assert llama.adapters({"peft_type": "FREEZE", "freeze": ["embed_tokens", "layers"]}).trainable == 16
    assert llama.adapters({"peft_type": "FREEZE", "train": ["lm_head"]}).trainable == 32 * 16
    whisper = model("whisper-tiny")
    assert whisper.adapters({"peft_type": "FREEZE", "freeze": ["decoder"]}).trainable == 7_632_384, "without the encoder's sinusoids"
