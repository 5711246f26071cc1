"""As built, as loaded, as an older release builds it: the figures that everybody prints, and where they differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from weighbridge import model
from weighbridge.cli import main
from weighbridge.conventions.loading import loading_of
from weighbridge.documents.count import notes
from weighbridge.load import load


@pytest.mark.parametrize(
    ("name", "built", "loaded"),
    [
        ("flan-t5-small", 60_511_616, 76_961_152),
        ("flan-t5-base", 222_903_552, 247_577_856),
        ("flan-t5-large", 750_251_008, 783_150_080),
        ("mt5-small", 172_119_424, 300_176_768),
    ],
)
def test_a_head_of_its_own_is_loaded(name: str, built: int, loaded: int) -> None:
    found = loading_of(model(name))
    assert found is not None
    assert (found.built, found.loaded, found.separate) == (built, loaded, ("lm_head.weight",))
    assert model(name).reconcile(loaded).matches[0].convention == "T5ForConditionalGeneration as loaded from its published file".replace(
        "T5", "MT5" if name.startswith("m") else "T5"
    )


@pytest.mark.parametrize("name", ["t5-small", "bert-base-uncased", "gpt2", "llama-3.2-1b"])
def test_most_models_are_loaded_as_they_are_built(name: str) -> None:
    found = loading_of(model(name))
    assert found is not None and not found.differs


def test_a_head_that_a_composite_holds() -> None:
    config = {"model_type": "blip-2", "architectures": ["Blip2ForConditionalGeneration"]}
    tied = loading_of(model({**config, "text_config": {"model_type": "t5"}}))
    own = loading_of(model({**config, "text_config": {"model_type": "t5", "tie_word_embeddings": False}}))
    assert tied is not None and not tied.differs
    assert own is not None and own.separate == ("language_model.lm_head.weight",)


def test_it_stands_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", "flan-t5-base", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["built"], answer["loaded"], answer["separate"]) == (222_903_552, 247_577_856, ["lm_head.weight"])
    assert main(["count", "flan-t5-base"]) == 0
    assert "As loaded from its published file: 247,577,856, with lm_head.weight of its own" in capsys.readouterr().out
    assert 247_577_856 in [row.value for row in model("flan-t5-base").counts() if row.group == "loading"]
    assert main(["count", "t5-base", "--json"]) == 0
    assert "loaded" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("config", "built", "older"),
    [
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"], "tie_word_embeddings": False}, 132_985_716, 132_955_194),
        ({"model_type": "bart", "architectures": ["BartForConditionalGeneration"], "tie_word_embeddings": False}, 560_705_536, 457_762_816),
        ({"model_type": "albert", "architectures": ["AlbertForMaskedLM"], "tie_word_embeddings": False}, 210_238_944, 210_208_944),
        (
            {"model_type": "paligemma", "architectures": ["PaliGemmaForConditionalGeneration"], "tie_word_embeddings": False},
            3_437_037_824,
            2_910_390_528,
        ),
        ({"model_type": "mt5", "architectures": ["MT5ForConditionalGeneration"]}, 172_119_424, 300_176_768),
        ({"model_type": "udop", "architectures": ["UdopModel"]}, 742_441_984, 741_653_504),
        ({"model_type": "udop", "architectures": ["UdopForConditionalGeneration"]}, 742_440_960, 741_653_504),
        ({"model_type": "visual_bert", "architectures": ["VisualBertForRegionToPhraseAlignment"]}, 111_042_812, 134_483_708),
        ({"model_type": "sam", "architectures": ["SamModel"]}, 93_735_728, 93_735_472),
        ({"model_type": "sam_hq", "architectures": ["SamHQModel"]}, 94_806_832, 94_806_576),
        ({"model_type": "swin", "architectures": ["SwinBackbone"]}, 27_520_890, 27_519_354),
        ({"model_type": "luke", "architectures": ["LukeForMaskedLM"]}, 314_445_435, 275_840_379),
        ({"model_type": "bigbird_pegasus", "architectures": ["BigBirdPegasusForCausalLM"]}, 469_630_976, 371_221_504),
        ({"model_type": "cpmant", "architectures": ["CpmAntForCausalLM"]}, 9_517_453_312, 9_391_624_192),
        ({"model_type": "pop2piano", "architectures": ["Pop2PianoForConditionalGeneration"]}, 59_108_352, 57_879_552),
        ({"model_type": "gemma3n_text", "architectures": ["Gemma3nForCausalLM"]}, 6_835_235_568, 6_866_696_688),
        ({"model_type": "longcat_flash", "architectures": ["LongcatFlashForCausalLM"]}, 741_053_585_408, 560_664_958_976),
        ({"model_type": "mm-grounding-dino", "architectures": ["MMGroundingDinoForObjectDetection"]}, 172_250_628, 172_912_157),
    ],
)
def test_an_older_release_ties_otherwise(config: dict[str, object], built: int, older: int) -> None:
    """Measured with transformers 5.23.0 and 4.57.6 on the meta device."""
    found = loading_of(model(config))
    assert found is not None
    assert (found.built, found.older) == (built, older)


def test_swin_backbones_had_a_norm_less() -> None:
    found = loading_of(model("grounding-dino-tiny"))
    assert found is not None
    assert (found.built, found.older) == (172_250_626, 172_249_090)
    assert model("grounding-dino-tiny").reconcile(172_249_090).matches[0].convention.endswith("as transformers 4.57 builds it")


FP8: list[tuple[dict[str, Any], int, int]] = [
    ({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "vocab_size": 543, "hidden_size": 192, "intermediate_size": 484, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 48, "quantization_config": {"quant_method": "fp8", "weight_block_size": [64, 32], "activation_scheme": "static", "modules_to_not_convert": ["lm_head", "model.layers.0", "o_proj"]}}, 1768128, 1768704),
    ({"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "vocab_size": 495, "hidden_size": 256, "intermediate_size": 398, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 74, "head_dim": 32, "quantization_config": {"quant_method": "fp8", "weight_block_size": None, "activation_scheme": "static", "modules_to_not_convert": ["lm_head"]}}, 1022336, 1022402),
    ({"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"], "vocab_size": 566, "hidden_size": 256, "intermediate_size": 440, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "n_routed_experts": 8, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 171, "first_k_dense_replace": 1, "q_lora_rank": 64, "kv_lora_rank": 48, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic", "modules_to_not_convert": ["lm_head"]}}, 1993440, 1993576),
    ({"model_type": "minimax_m2", "architectures": ["MiniMaxM2ForCausalLM"], "vocab_size": 873, "hidden_size": 320, "intermediate_size": 475, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 4, "head_dim": 32, "rotary_dim": 16, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}}, 4457024, 4457336),
    ({"model_type": "glm_moe_dsa", "architectures": ["GlmMoeDsaForCausalLM"], "vocab_size": 397, "hidden_size": 256, "intermediate_size": 436, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "q_lora_rank": 64, "kv_lora_rank": 48, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32, "quantization_config": {"quant_method": "fp8", "weight_block_size": [64, 32], "activation_scheme": "dynamic"}}, 1661408, 1662124),
    ({"model_type": "ernie4_5_moe", "architectures": ["Ernie4_5_MoeForCausalLM"], "vocab_size": 783, "hidden_size": 320, "intermediate_size": 270, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "moe_num_experts": 4, "moe_intermediate_size": 64, "quantization_config": {"quant_method": "fp8", "weight_block_size": None, "activation_scheme": "dynamic"}}, 2173448, 2173493),
    ({"model_type": "qwen2_moe", "architectures": ["Qwen2MoeForCausalLM"], "vocab_size": 800, "hidden_size": 192, "intermediate_size": 441, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "num_experts": 4, "moe_intermediate_size": 40, "shared_expert_intermediate_size": 64, "quantization_config": {"quant_method": "fp8", "weight_block_size": None, "activation_scheme": "static"}}, 1272768, 1272912),
]  # fmt: skip
"""Small configs, and what transformers 5.23.0 has of them as built and after ``FineGrainedFP8HfQuantizer`` has replaced its modules (seed 77)."""


@pytest.mark.parametrize(("raw", "built", "loaded"), FP8, ids=lambda value: value["model_type"] if isinstance(value, dict) else "")
def test_fp8_in_blocks_is_loaded_with_its_scales(raw: dict[str, Any], built: int, loaded: int) -> None:
    found = loading_of(load(raw))
    assert found is not None and (found.built, found.loaded) == (built, loaded)


@pytest.mark.parametrize(
    "said",
    [
        {"quant_method": "mxfp4"},
        {"quant_method": "compressed-tensors", "config_groups": {}},
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float"}}},
        },
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4}}},
            "ignore": ["re:(a+)+"],
        },
        {"quant_method": "gptq", "modules_in_block_to_quantize": "q_proj"},
        {"quant_method": "awq", "modules_to_not_convert": [1]},
        {"quant_method": "fp8", "expert_dtype": "fp4"},
        {"quant_method": "fp8", "weight_block_size": "128"},
    ],
)
def test_what_other_quantizers_make_of_matrices_is_not_counted(said: dict[str, Any]) -> None:
    found = loading_of(load({"model_type": "llama", "quantization_config": said}))
    assert found is not None and found.quantizer is None and found.loaded == found.built


FOUR_BITS: list[tuple[str, dict[str, Any], int]] = [
    ("LlamaForCausalLM", {"model_type": "llama", "tie_word_embeddings": True}, 333_467_648),
    ("Gemma3ForCausalLM", {"model_type": "gemma3_text"}, 682_005_760),
    ("OPTForCausalLM", {"model_type": "opt"}, 47_282_688),
    ("GraniteMoeForCausalLM", {"model_type": "granitemoe"}, 2_493_599_744),
]
"""Models of two layers, and the parameters of each after ``replace_with_bnb_linear``, packed (``python -m truth.four_bits``, bitsandbytes 0.50.2)."""


@pytest.mark.parametrize(("name", "raw", "loaded"), FOUR_BITS, ids=lambda value: value if isinstance(value, str) else "")
def test_of_four_bits_two_values_share_an_element(name: str, raw: dict[str, Any], loaded: int) -> None:
    said = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    found = loading_of(load({**raw, "num_hidden_layers": 2, "quantization_config": said}, name))
    assert found is not None and found.loaded == loaded
    eight = loading_of(load({**raw, "num_hidden_layers": 2, "quantization_config": {"load_in_8bit": True}}, name))
    assert eight is not None and eight.loaded == eight.built


def test_wider_elements_and_modules_that_stay() -> None:
    said = {"load_in_4bit": True, "bnb_4bit_quant_storage": "bfloat16", "llm_int8_skip_modules": ["q_proj", "lm_head"]}
    found = loading_of(load({"model_type": "qwen3", "num_hidden_layers": 2, "quantization_config": said}, "Qwen3ForCausalLM"))
    assert found is not None and found.loaded == 1_438_667_264


PACKED: list[tuple[dict[str, Any], int, int]] = [
    ({"model_type": "qwen2", "num_hidden_layers": 3, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "pad_token_id": 0, "tie_word_embeddings": False, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}, "architectures": ["Qwen2Model"]}, 99136, 6592),
    ({"model_type": "opt", "num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 96, "ffn_dim": 96, "word_embed_proj_dim": 64, "pad_token_id": 0, "tie_word_embeddings": True, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128, "modules_in_block_to_quantize": [["self_attn.q_proj", "self_attn.k_proj"], ["mlp.down_proj", "fc2"]]}, "architectures": ["OPTForSequenceClassification"]}, 225632, 182048),
    ({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 96, "pad_token_id": 0, "tie_word_embeddings": True, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128, "modules_in_block_to_quantize": [["self_attn.q_proj", "self_attn.k_proj"], ["mlp.down_proj", "fc2"]]}, "architectures": ["GPT2ForSequenceClassification"]}, 171904, 171904),
    ({"model_type": "phi3", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "pad_token_id": 0, "tie_word_embeddings": False, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}, "architectures": ["Phi3ForCausalLM"]}, 74048, 12608),
    ({"model_type": "gpt_neox", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "vocab_size": 96, "pad_token_id": 0, "tie_word_embeddings": True, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128, "modules_in_block_to_quantize": [["self_attn.q_proj", "self_attn.k_proj"], ["mlp.down_proj", "fc2"]]}, "architectures": ["GPTNeoXForSequenceClassification"]}, 65088, 65088),
    ({"model_type": "olmo", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "pad_token_id": 0, "tie_word_embeddings": False, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": ["layers.1", "visual"]}, "architectures": ["OlmoForCausalLM"]}, 73728, 12288),
    ({"model_type": "qwen2", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "pad_token_id": 0, "tie_word_embeddings": True, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": ["lm_head"]}, "architectures": ["Qwen2ForSequenceClassification"]}, 68288, 6592),
    ({"model_type": "starcoder2", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "pad_token_id": 0, "tie_word_embeddings": False, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}, "architectures": ["Starcoder2ForSequenceClassification"]}, 56768, 6912),
    ({"model_type": "gemma2", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "head_dim": 16, "pad_token_id": 0, "tie_word_embeddings": True, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": ["layers.1", "visual"]}, "architectures": ["Gemma2ForCausalLM"]}, 68160, 6720),
    ({"model_type": "cohere", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "pad_token_id": 0, "tie_word_embeddings": False, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": ["layers.1", "visual"]}, "architectures": ["CohereModel"]}, 67776, 37056),
    ({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "head_dim": 16, "pad_token_id": 0, "tie_word_embeddings": True, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 3, "type": "int", "strategy": "channel", "symmetric": True}}}, "ignore": ["lm_head", "re:.*layers\\.1\\."], "quantization_status": "compressed"}, "architectures": ["LlamaForSequenceClassification"]}, 68032, 40542),
    ({"model_type": "qwen3", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "head_dim": 16, "pad_token_id": 0, "tie_word_embeddings": True, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}}}, "ignore": ["lm_head", "re:.*layers\\.1\\."], "quantization_status": "compressed"}, "architectures": ["Qwen3ForSequenceClassification"]}, 68096, 68546),
    ({"model_type": "granite", "num_hidden_layers": 3, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "pad_token_id": 0, "tie_word_embeddings": False, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 16, "symmetric": True}}}, "ignore": ["lm_head", "re:.*layers\\.1\\."], "quantization_status": "compressed"}, "architectures": ["GraniteForCausalLM"]}, 104896, 55004),
    ({"model_type": "gemma", "num_hidden_layers": 3, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "head_dim": 16, "pad_token_id": 0, "tie_word_embeddings": True, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 8, "symmetric": False}}}, "ignore": ["lm_head"], "quantization_status": "compressed"}, "architectures": ["GemmaModel"]}, 98752, 31114),
    ({"model_type": "phi", "num_hidden_layers": 3, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "pad_token_id": 0, "tie_word_embeddings": True, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 16, "symmetric": True}}}, "ignore": ["lm_head"], "quantization_status": "compressed"}, "architectures": ["PhiModel"]}, 81440, 21572),
    ({"model_type": "nemotron", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "head_dim": 16, "pad_token_id": 0, "tie_word_embeddings": False, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 16, "symmetric": True}}}, "ignore": ["lm_head", "model.layers.0.mlp.down_proj"], "quantization_status": "compressed"}, "architectures": ["NemotronForSequenceClassification"]}, 56064, 21040),
]  # fmt: skip
"""Classes as built, and after GPTQ, AWQ and compressed-tensors have replaced their modules (``python -m truth.packed_modules``: optimum 2.3.0,
transformers 5.23.0, compressed-tensors 0.20.0)."""


@pytest.mark.parametrize(("raw", "built", "loaded"), PACKED, ids=lambda value: value["model_type"] if isinstance(value, dict) else "")
def test_what_packed_modules_leave_of_the_parameters(raw: dict[str, Any], built: int, loaded: int) -> None:
    found = loading_of(load(raw))
    assert found is not None and (found.built, found.loaded) == (built, loaded)


def test_what_gptq_leaves_is_said_everywhere() -> None:
    """Of Llama 3 8B: the word table, the head and 65 norms."""
    known = model("llama-3-8b", overrides={"quantization_config": {"quant_method": "gptq", "bits": 4}})
    left = 2 * 128_256 * 4096 + 65 * 4096
    assert loading_of(known) == (8_030_261_248, left, 8_030_261_248, (), left - 8_030_261_248, True)
    assert f"(gptq): {left:,} parameters; those of the replaced modules (6,979,321,856)" in "\n".join(notes(known, str))
    assert known.reconcile(left).matches[0].leaves_out[0].amount == 6_979_321_856


@pytest.mark.parametrize("said", [{"producer": {"name": "modelopt"}, "quant_algo": "NVFP4"}, {"quant_method": "modelopt"}])
def test_a_config_of_modelopt_is_named_below_the_tree(said: dict[str, Any]) -> None:
    assert "(modelopt)" in "\n".join(notes(load({"model_type": "llama", "quantization_config": said}), str))
