"""What transformers 4.57.6 builds where it ties otherwise than 5.23.0, or has a head or a row that 5.23.0 has not: figures of its live classes on the meta device."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.parameters import count
from weighbridge.blueprints import model_type_of
from weighbridge.conventions.transformers_4_57 import older_tree

QWEN = {"model_type": "qwen2_vl", "tie_word_embeddings": False, "hidden_size": 1536, "num_hidden_layers": 2, "num_attention_heads": 12}
CASES: list[tuple[str, dict[str, Any], int]] = [
    ("ColPaliForRetrieval", {"vlm_config": {"model_type": "paligemma", "text_config": {"tie_word_embeddings": False}}}, 9_726_365_056),
    (
        "ColQwen2ForRetrieval",
        {"vlm_config": {"model_type": "qwen2_vl", "tie_word_embeddings": True, "text_config": {"num_hidden_layers": 2}}},
        4_923_602_048,
    ),
    ("CpmAntForCausalLM", {"tie_word_embeddings": False, "num_hidden_layers": 2}, 646_123_520),
    ("DebertaForMaskedLM", {"legacy": False, "num_hidden_layers": 2}, 53_274_546),
    ("DebertaV2ForMaskedLM", {"legacy": False, "num_hidden_layers": 2}, 254_473_416),
    ("DebertaV2ForMaskedLM", {"legacy": False, "num_hidden_layers": 2, "tie_word_embeddings": False}, 256_706_148),
    ("FlavaForPreTraining", {"tie_word_embeddings": False}, 357_645_303),
    (
        "FuyuForCausalLM",
        {"text_config": {"hidden_size": 2048, "num_hidden_layers": 2, "tie_word_embeddings": False}, "tie_word_embeddings": True},
        1_252_651_264,
    ),
    ("Glm4vForConditionalGeneration", {"tie_word_embeddings": True}, 9_672_020_480),
    ("LevitForImageClassification", {"down_ops": [["Subsample", 16, 8, 4, 2, 2], [""]]}, 8_443_938),
    (
        "MarianModel",
        {"share_encoder_decoder_embeddings": False, "vocab_size": 100, "decoder_vocab_size": 200, "pad_token_id": 0},
        355_016_704,
    ),
    (
        "MarianMTModel",
        {"share_encoder_decoder_embeddings": False, "vocab_size": 100, "decoder_vocab_size": 200, "pad_token_id": 0},
        355_016_704,
    ),
    ("MoonshineModel", {"decoder_num_key_value_heads": 2}, 25_599_744),
    ("MoonshineForConditionalGeneration", {"decoder_num_attention_heads": 4}, 27_092_736),
    ("MoshiForCausalLM", {"tie_word_embeddings": True, "num_hidden_layers": 2}, 542_138_368),
    ("MvpModel", {"use_prompt": True, "tie_word_embeddings": False, "encoder_layers": 2, "decoder_layers": 2}, 124_974_432),
    (
        "Qwen2_5OmniForConditionalGeneration",
        {"enable_audio_output": False, "thinker_config": {"text_config": {"tie_word_embeddings": True}, "tie_word_embeddings": False}},
        10_793_291_520,
    ),
    ("VoxtralForConditionalGeneration", {"text_config": {"tie_word_embeddings": True, "num_hidden_layers": 2}}, 1_278_712_832),
    ("XcodecModel", {"semantic_model_config": {"model_type": "wavlm", "num_hidden_layers": 2}}, 89_819_905),
    ("BridgeTowerForMaskedLM", {}, 326_989_401),
    ("CamembertForCausalLM", {"tie_word_embeddings": False}, 132_955_194),
    ("CamembertForMaskedLM", {"tie_word_embeddings": False}, 132_955_194),
    ("ColQwen2ForRetrieval", {}, 73_383_011_456),
    ("ColQwen2ForRetrieval", {"vlm_config": QWEN}, 1_431_338_624),
    ("ColQwen2ForRetrieval", {"vlm_config": {"model_type": "qwen2_vl", "text_config": {"tie_word_embeddings": True}}}, 72_137_303_168),
    ("FSMTForConditionalGeneration", {}, 440_881_152),
    ("FSMTForConditionalGeneration", {"tie_word_embeddings": False, "src_vocab_size": 52, "pad_token_id": 0}, 397_899_776),
    ("FSMTModel", {"src_vocab_size": 52, "pad_token_id": 0}, 397_899_776),
    ("LukeForMaskedLM", {}, 275_840_379),
    ("LukeForMaskedLM", {"tie_word_embeddings": False}, 314_445_435),
    ("LxmertForPreTraining", {"tie_word_embeddings": False}, 228_051_752),
    ("MT5ForConditionalGeneration", {}, 300_176_768),
    ("Mask2FormerModel", {"hidden_dim": 128}, 60_286_346),
    ("Ovis2ForConditionalGeneration", {}, 12_011_608_566),
    ("Ovis2ForConditionalGeneration", {"text_config": {"model_type": "qwen2", "tie_word_embeddings": True}}, 11_778_684_918),
    ("Pix2StructForConditionalGeneration", {"tie_word_embeddings": True}, 243_698_304),
    ("Pix2StructForConditionalGeneration", {"text_config": {"tie_word_embeddings": True}, "tie_word_embeddings": False}, 282_285_696),
    ("RobertaForMaskedLM", {"tie_word_embeddings": False}, 163_300_185),
    ("ShieldGemma2ForImageClassification", {}, 3_327_440_128),
    ("SwinForImageClassification", {"use_absolute_embeddings": True, "depths": [1, 1]}, 939_539),
    ("SwinModel", {"use_absolute_embeddings": True}, 27_820_506),
    ("UMT5ForConditionalGeneration", {}, 172_122_112),
    ("UMT5ForConditionalGeneration", {"tie_word_embeddings": False}, 300_179_456),
]


@pytest.mark.parametrize(("class_name", "raw", "older"), CASES)
def test_what_the_older_library_builds(class_name: str, raw: dict[str, Any], older: int) -> None:
    assert count(older_tree(model({"model_type": model_type_of(class_name), **raw}, class_name))) == older
