"""Adapters that the library does not train on a base, and settings that cannot be counted: refused, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model
from weighbridge.core.errors import ConfigError, SourceError, UsageError

LLAMA = {
    "model_type": "llama",
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 50,
}
CONTEXT = {"peft_type": "CPT", "task_type": "CAUSAL_LM", "cpt_token_ids": [0, 1]}


@pytest.mark.parametrize(
    ("config", "adapter", "text"),
    [
        ({"model_type": "hubert"}, "lora:target_modules=pos_conv_embed.conv", "convolution is parametrized"),
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
        ("lora:rank=8", UsageError, "lora has no field rank; did you mean r?"),
        ("lora:r=8,target_module=q_proj", UsageError, "lora has no field target_module; did you mean target_modules?"),
        ("houlsby:bottlenek=8", UsageError, "houlsby has no field bottlenek; did you mean bottleneck?"),
        ("lora:target_modules=qproj", UsageError, "no module of the base model is adapted: target_modules qproj"),
        (
            {"peft_type": "LORA", "target_modules": ["q_proj"], "layers_to_transform": [99]},
            UsageError,
            "adapted: layers_to_transform [99] leaves none",
        ),
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


TIED = {**LLAMA, "tie_word_embeddings": True}


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
