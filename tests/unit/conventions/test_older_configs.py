"""What transformers 4.57.6 makes of configs that 5.23.0 reads otherwise: figures of its live classes on the meta device."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.parameters import count
from weighbridge.conventions.transformers_4_57 import older_tree

CASES: list[tuple[str, dict[str, Any], int]] = [
    ("T5Stack", {"model_type": "t5"}, 18_881_280),
    ("MT5Stack", {"model_type": "mt5"}, 18_883_264),
    ("UMT5Stack", {"model_type": "umt5"}, 18_884_608),
    ("Pop2PianoStack", {"model_type": "pop2piano"}, 25_172_736),
    ("UdopStack", {"model_type": "udop"}, 304_139_264),
    ("BartModel", {"model_type": "bart", "num_hidden_layers": 3}, 406_291_456),
    ("BertModel", {"model_type": "bert", "num_hidden_layers": 2, "add_pooling_layer": False}, 38_012_928),
    ("BltForCausalLM", {"model_type": "blt"}, 4_633_391_872),
    ("BltForCausalLM", {"model_type": "blt", "patch_in_forward": False}, 4_533_879_808),
    ("BltForCausalLM", {"model_type": "blt", "tie_word_embeddings": True, "vocab_size": 40}, 4_633_125_632),
    ("BltForCausalLM", {"model_type": "blt", "tie_word_embeddings": False, "vocab_size": 40}, 4_633_166_592),
    (
        "BltForCausalLM",
        {"model_type": "blt", "encoder_config": {"vocab_size": 50}, "vocab_size": 40, "tie_word_embeddings": True},
        4_632_910_592,
    ),
    ("DeepseekV2ForCausalLM", {"model_type": "deepseek_v2", "num_hidden_layers": 2, "mlp_bias": True}, 2_623_892_216),
    ("DeepseekV2Model", {"model_type": "deepseek_v2"}, 37_904_519_168),
    ("DeepseekV2Model", {"model_type": "deepseek_v2", "num_hidden_layers": 2, "mlp_bias": True}, 2_492_820_216),
    ("DeiTModel", {"model_type": "deit", "num_hidden_layers": 2, "head_dim": 3}, 15_512_064),
    ("DeiTModel", {"model_type": "deit", "num_hidden_layers": 2, "add_pooling_layer": False}, 14_921_472),
    ("DepthProModel", {"model_type": "depth_pro", "patch_model_config": {"model_type": "dinov2", "head_dim": 12}}, 197_018_112),
    ("Dinov2Model", {"model_type": "dinov2", "num_hidden_layers": 2, "head_dim": 3}, 14_831_616),
    ("Ernie4_5_MoeModel", {"model_type": "ernie4_5_moe", "num_hidden_layers": 2, "use_bias": True}, 1_169_747_520),
    (
        "Ernie4_5_MoeModel",
        {
            "model_type": "ernie4_5_moe",
            "vocab_size": 65,
            "num_labels": 3,
            "tie_word_embeddings": False,
            "use_bias": True,
            "pad_token_id": 1,
            "moe_layer_interval": 2,
            "moe_layer_start_index": 1,
            "moe_layer_end_index": -1,
            "moe_num_shared_experts": 2,
        },
        12_669_882_240,
    ),
    ("FSMTModel", {"model_type": "fsmt"}, 440_881_152),
    ("FSMTModel", {"model_type": "fsmt", "src_vocab_size": 52, "pad_token_id": 0}, 397_899_776),
    ("GraniteMoeModel", {"model_type": "granitemoe", "num_hidden_layers": 2, "head_dim": 3}, 2_429_636_608),
    ("JambaModel", {"model_type": "jamba", "num_hidden_layers": 2, "num_local_experts": 3}, 3_473_871_424),
    (
        "JambaModel",
        {
            "model_type": "jamba",
            "head_dim": 12,
            "num_labels": 2,
            "num_experts": 4,
            "mamba_d_state": 8,
            "mamba_d_conv": 2,
            "mamba_conv_bias": True,
            "mamba_dt_rank": "auto",
            "attn_layer_period": 1,
            "attn_layer_offset": 0,
            "expert_layer_period": 2,
            "expert_layer_offset": 0,
            "num_hidden_layers": 6,
        },
        3_162_607_616,
    ),
    ("Lfm2VlModel", {"model_type": "lfm2_vl", "projector_use_layernorm": False}, 2_812_857_088),
    ("Llama4TextModel", {"model_type": "llama4_text", "num_hidden_layers": 2, "attention_bias": True}, 5_438_694_400),
    (
        "Llama4TextModel",
        {
            "model_type": "llama4_text",
            "intermediate_size": 53,
            "num_labels": 3,
            "attention_bias": True,
            "num_experts_per_tok": 3,
            "interleave_moe_layer_step": 3,
        },
        12_330_685_440,
    ),
    ("LongcatFlashModel", {"model_type": "longcat_flash", "num_layers": 2, "router_bias": True}, 40_737_766_912),
    ("LongcatFlashModel", {"model_type": "longcat_flash", "num_layers": 2, "intermediate_size": 3}, 40_737_765_376),
    ("MarianModel", {"model_type": "marian", "encoder_layers": 2, "decoder_layers": 2, "num_hidden_layers": 3}, 120_378_368),
    (
        "MimiModel",
        {
            "model_type": "mimi",
            "use_conv_shortcut": True,
            "head_dim": 8,
            "upsampling_ratios": [4],
            "codebook_size": 64,
            "num_residual_layers": 2,
            "num_filters": 6,
            "compress": 2,
            "num_quantizers": 6,
            "num_semantic_quantizers": 2,
            "upsample_groups": 1,
            "encoder_config": None,
        },
        38_385_869,
    ),
    ("MixtralModel", {"model_type": "mixtral", "num_hidden_layers": 2, "num_experts": 3}, 3_033_616_384),
    ("MoonshineModel", {"model_type": "moonshine", "num_hidden_layers": 3}, 24_100_704),
    (
        "MoshiForConditionalGeneration",
        {"model_type": "moshi", "num_codebooks": 2, "audio_encoder_config": {"model_type": "mimi"}},
        7_153_565_505,
    ),
    ("MvpModel", {"model_type": "mvp", "encoder_layers": 2, "decoder_layers": 2, "use_prompt": True}, 124_974_432),
    ("MvpModel", {"model_type": "mvp", "encoder_layers": 2, "decoder_layers": 2, "num_hidden_layers": 3}, 112_364_544),
    ("Ovis2ForConditionalGeneration", {"model_type": "ovis2"}, 12_011_608_566),
    ("Ovis2ForConditionalGeneration", {"model_type": "ovis2", "image_token_id": 5, "visual_indicator_token_ids": [6, 7]}, 12_011_611_644),
    ("Ovis2Model", {"model_type": "ovis2", "image_token_id": 5, "visual_indicator_token_ids": [6, 7]}, 11_778_687_996),
    (
        "Ovis2Model",
        {"model_type": "ovis2", "text_config": {"model_type": "llama", "hidden_size": 16, "num_attention_heads": 4, "vocab_size": 64}},
        385_143_302,
    ),
    ("ParakeetEncoder", {"model_type": "parakeet_encoder", "num_hidden_layers": 2, "convolution_bias": False}, 53_177_344),
    ("PhimoeModel", {"model_type": "phimoe", "num_hidden_layers": 2, "head_dim": 3}, 2_731_974_656),
    (
        "PhimoeModel",
        {"model_type": "phimoe", "intermediate_size": 18, "head_dim": 8, "num_labels": 3, "attention_bias": False, "num_local_experts": 6},
        1_517_297_664,
    ),
    ("Qwen2_5OmniForConditionalGeneration", {"model_type": "qwen2_5_omni"}, 18_386_365_824),
    (
        "Qwen2_5OmniForConditionalGeneration",
        {"model_type": "qwen2_5_omni", "thinker_config": {"tie_word_embeddings": True}},
        18_386_365_824,
    ),
    (
        "Qwen2_5OmniForConditionalGeneration",
        {"model_type": "qwen2_5_omni", "thinker_config": {"tie_word_embeddings": False, "text_config": {"tie_word_embeddings": True}}},
        17_841_368_448,
    ),
    ("Qwen2AudioForConditionalGeneration", {"model_type": "qwen2_audio", "tie_word_embeddings": True}, 12_692_062_208),
    (
        "Qwen2AudioForConditionalGeneration",
        {"model_type": "qwen2_audio", "audio_config": {"hidden_size": 400, "encoder_layers": 2}},
        12_101_777_408,
    ),
    (
        "Qwen2AudioForConditionalGeneration",
        {"model_type": "qwen2_audio", "text_config": {"model_type": "llama", "tie_word_embeddings": True}},
        7_249_559_552,
    ),
    (
        "Qwen2AudioForConditionalGeneration",
        {"model_type": "qwen2_audio", "text_config": {"model_type": "qwen2", "tie_word_embeddings": True}},
        12_069_732_352,
    ),
    ("Qwen2AudioEncoder", {"model_type": "qwen2_audio_encoder", "encoder_layers": 2, "intermediate_size": 3}, 46_684_160),
    ("Qwen2AudioEncoder", {"model_type": "qwen2_audio_encoder", "encoder_layers": 2, "num_hidden_layers": 3}, 46_684_160),
    ("Qwen3MoeModel", {"model_type": "qwen3_moe", "num_hidden_layers": 2, "num_local_experts": 3}, 1_538_533_632),
    ("SwinModel", {"model_type": "swin", "use_mask_token": True}, 27_519_450),
    ("SwinModel", {"model_type": "swin", "use_absolute_embeddings": True}, 27_820_506),
    ("T5GemmaForConditionalGeneration", {"model_type": "t5gemma", "tie_word_embeddings": False}, 5_596_853_760),
    ("T5GemmaForConditionalGeneration", {"model_type": "t5gemma", "decoder": {"tie_word_embeddings": False}}, 5_596_853_760),
    (
        "T5GemmaForConditionalGeneration",
        {"model_type": "t5gemma", "tie_word_embeddings": True, "decoder": {"tie_word_embeddings": True}},
        5_596_853_760,
    ),
    (
        "T5GemmaForConditionalGeneration",
        {"model_type": "t5gemma", "tie_word_embeddings": True, "decoder": {"tie_word_embeddings": False}},
        5_596_853_760,
    ),
    (
        "T5GemmaForConditionalGeneration",
        {"model_type": "t5gemma", "tie_word_embeddings": False, "decoder": {"tie_word_embeddings": True}},
        5_596_853_760,
    ),
    (
        "T5GemmaForConditionalGeneration",
        {"model_type": "t5gemma", "tie_word_embeddings": False, "decoder": {"tie_word_embeddings": False}},
        6_186_677_760,
    ),
    (
        "T5GemmaForConditionalGeneration",
        {"model_type": "t5gemma", "decoder": {"vocab_size": 37, "pad_token_id": 0}, "encoder": {"vocab_size": 62, "pad_token_id": 0}},
        5_596_853_760,
    ),
    ("T5GemmaModel", {"model_type": "t5gemma", "vocab_size": 300}, 4_418_588_160),
    ("T5GemmaModel", {"model_type": "t5gemma", "encoder": {"num_hidden_layers": 2}}, 1_519_437_312),
    (
        "T5GemmaModel",
        {
            "model_type": "t5gemma",
            "encoder": {},
            "decoder": {"vocab_size": 37, "sliding_window": 28, "pad_token_id": 0},
            "num_labels": 6,
            "tie_word_embeddings": False,
        },
        5_596_853_760,
    ),
    (
        "T5GemmaModel",
        {
            "model_type": "t5gemma",
            "encoder": {"vocab_size": 62, "intermediate_size": 28, "sliding_window": 47, "pad_token_id": 1},
            "decoder": {"intermediate_size": 36, "num_hidden_layers": 4, "head_dim": 16, "attention_bias": True},
            "num_labels": 3,
        },
        1_561_123_328,
    ),
    (
        "VideoLlavaForConditionalGeneration",
        {
            "model_type": "video_llava",
            "text_config": {
                "model_type": "qwen2",
                "hidden_size": 4,
                "num_hidden_layers": 4,
                "num_attention_heads": 1,
                "num_key_value_heads": 1,
                "tie_word_embeddings": True,
            },
        },
        608_028_524,
    ),
    (
        "VipLlavaForConditionalGeneration",
        {
            "model_type": "vipllava",
            "text_config": {
                "model_type": "gemma",
                "num_hidden_layers": 4,
                "head_dim": 12,
                "id2label": {"0": "label 0", "1": "label 1", "2": "label 2", "3": "label 3"},
            },
            "tie_word_embeddings": False,
            "image_token_index": 5,
        },
        2_030_556_160,
    ),
    ("ViTModel", {"model_type": "vit", "num_hidden_layers": 2, "head_dim": 3}, 15_510_528),
    ("ViTModel", {"model_type": "vit", "num_hidden_layers": 2, "use_mask_token": True}, 15_511_296),
    ("ViTModel", {"model_type": "vit", "num_hidden_layers": 2, "add_pooling_layer": False}, 14_919_936),
    ("VivitModel", {"model_type": "vivit", "num_hidden_layers": 2, "head_dim": 3}, 18_358_272),
    ("VivitModel", {"model_type": "vivit", "num_hidden_layers": 2, "add_pooling_layer": False}, 17_767_680),
    ("WhisperModel", {"model_type": "whisper", "encoder_layers": 2, "decoder_layers": 2, "num_hidden_layers": 3}, 29_480_832),
    ("Zamba2Model", {"model_type": "zamba2", "head_dim": 3}, 2_481_848_336),
]


@pytest.mark.parametrize(("class_name", "raw", "older"), CASES)
def test_a_config_is_read_as_the_older_library_reads_it(class_name: str, raw: dict[str, Any], older: int) -> None:
    assert count(older_tree(model(raw, class_name))) == older


@pytest.mark.parametrize("raw", [{"model_type": "bart"}, {"model_type": "mixtral"}, {"model_type": "phimoe"}, {"model_type": "vit"}])
def test_a_config_that_both_read_alike_has_one_tree(raw: dict[str, Any]) -> None:
    built = model(raw)
    assert older_tree(built) is built.tree
