"""What the reference's config classes refuse at sight is refused here too, and what they take is taken."""

from __future__ import annotations

from typing import Any

import pytest

import weighbridge
from weighbridge.blueprints.field_types import takes
from weighbridge.core.errors import ConfigError

REFUSED = [
    ({"model_type": "bert", "hidden_dropout_prob": "0.1"}, "hidden_dropout_prob: expected a number, found the string '0.1'"),
    ({"model_type": "bert", "initializer_range": 1}, "initializer_range: expected a number with a decimal point, found 1"),
    ({"model_type": "bert", "eos_token_id": False}, "eos_token_id: expected a whole number, a list or null, found false"),
    ({"model_type": "bert", "tie_word_embeddings": None}, "tie_word_embeddings: expected true or false, found null"),
    ({"model_type": "llama", "max_position_embeddings": 2048.0}, "max_position_embeddings: expected a whole number, found 2048.0"),
    ({"model_type": "llama", "initializer_range": 1.5}, "initializer_range: expected a number with a decimal point from 0 to 1, found 1.5"),
    ({"model_type": "dpt", "readout_type": "join"}, 'readout_type: expected "ignore", "add" or "project", found the string \'join\''),
    ({"model_type": "dpt", "backbone_config": {}}, "backbone_config.model_type: a backbone states its model type"),
    (
        {"model_type": "clip", "text_config": {"attention_dropout": "0"}},
        "text_config.attention_dropout: expected a number or null, found the string '0'",
    ),
    (
        {"model_type": "vit", "layer_types": ["full_attention"], "num_hidden_layers": 2},
        "layer_types: expected the kind of each of 2 layers, found 1",
    ),
    ({"model_type": "bert", "num_labels": None}, "num_labels: "),
    ({"model_type": "bert", "id2label": {"positive": "0"}}, "id2label: expected a mapping from index to label"),
    ({"model_type": "bert", "num_labels": 1, "problem_type": "single_label_classification"}, "problem_type: "),
    ({"model_type": "llama", "rope_scaling": {"type": "linear"}}, "rope_scaling: rotary positions of the type linear need factor"),
    ({"model_type": "bert", "hidden_act": "swiglu"}, "hidden_act: 'swiglu' is no activation that transformers 5.23.0 knows"),
    ({"model_type": "openai-gpt", "afn": "tanh"}, "afn: 'tanh' is no activation"),
    ({"model_type": "bert", "hidden_dropout_prob": 1.5}, "hidden_dropout_prob: a probability is between 0 and 1, and this is 1.5"),
    ({"model_type": "llava", "text_config": {"hidden_act": "glu"}}, "text_config.hidden_act: 'glu' is no activation"),
    (
        {"model_type": "llama", "hidden_size": 96, "num_attention_heads": 5, "head_dim": 8},
        "hidden_size (96) is not divisible by num_attention_heads (5)",
    ),
    (
        {"model_type": "clip", "text_config": {"hidden_size": 514}},
        "text_config.hidden_size (514) is not divisible by text_config.num_attention_heads (8)",
    ),
    ({"model_type": "jamba", "attn_layer_period": 4}, "attn_layer_period: the class wants attn_layer_offset < attn_layer_period, found"),
    ({"model_type": "mamba2", "expand": 1}, "expand: the class wants hidden_size * expand == num_heads * head_dim"),
    (
        {"model_type": "hubert", "num_feat_extract_layers": 4},
        "num_feat_extract_layers: the class wants num_feat_extract_layers == len(conv_dim)",
    ),
    ({"model_type": "bamba", "hidden_size": 96, "mamba_n_heads": 5}, "mamba_n_heads and hidden_size: the class wants mamba_expand"),
    ({"model_type": "llama", "rope_scaling": {"type": "mrope"}}, "rope_scaling: the class knows no rotary positions of the type mrope"),
    (
        {"model_type": "llama", "rope_parameters": {"rope_type": "yran"}},
        "rope_parameters: the class knows no rotary positions of the type yran",
    ),
    ({"model_type": "gemma4_text", "rope_parameters": {"type": "linear", "factor": 2.0}}, "rope_parameters: the class knows no rotary"),
    (
        {"model_type": "llama", "hidden_size": 63, "num_attention_heads": 9},
        "hidden_size and num_attention_heads: rotary positions turn pairs",
    ),
    (
        {"model_type": "gemma2", "head_dim": 9, "rope_parameters": {"rope_theta": 1e4}},
        "head_dim: rotary positions turn pairs, and 9 is odd",
    ),
    ({"model_type": "gpt2", "layer_types": ["full_attention"]}, "layer_types: expected the kind of each of 12 layers, found 1 entries"),
    ({"model_type": "mistral", "n_layer": 3, "layer_types": []}, "layer_types: expected the kind of each of 32 layers, found 0 entries"),
    ({"model_type": "nemotron_h", "mamba_dt_max": True}, "mamba_dt_max: expected a number with a decimal point, found true"),
    (
        {"model_type": "clip", "vision_config": {"patch_size": None}},
        "vision_config.patch_size: null is not possible, the class wants a value",
    ),
    (
        {"model_type": "cohere2", "hidden_size": 1},
        "hidden_size (1) leaves no width for num_attention_heads (64)",
    ),
    ({"model_type": "dinov2", "num_hidden_layers": 4, "out_indices": [9, 12]}, "num_hidden_layers and out_indices: a backbone of 4 stages"),
    (
        {"model_type": "dinov2", "num_hidden_layers": 4, "out_indices": [3, 1]},
        "num_hidden_layers and out_indices: a backbone gives its stages",
    ),
    ({"model_type": "dinov2", "out_features": ["stage2"], "out_indices": [1]}, "out_indices and out_features: a backbone gives its stages"),
    (
        {"model_type": "llama", "rope_scaling": {"rope_type": "longrope", "short_factor": [1.0] * 7, "long_factor": [1.0] * 7}},
        "rope_scaling.short_factor: LongRoPE wants a factor for each of 64 pairs that are turned, found 7 entries",
    ),
    (
        {"model_type": "stablelm", "rope_parameters": {"rope_type": "longrope", "short_factor": [1.0] * 7, "long_factor": [1.0]}},
        "rope_parameters.short_factor: LongRoPE wants a factor for each of 10 pairs",
    ),
    ({"model_type": "mellum", "rope_parameters": {"rope_theta": 1e6}}, "rope_parameters: the class knows no rotary positions of the type"),
    ({"model_type": "cohere_compass"}, "text_config.rope_parameters: the class has no rotary parameters of its own; state a set of them"),
    (
        {"model_type": "llava_next", "text_config": {"model_type": "mistral", "rope_scaling": {"rope_type": "llama4"}}},
        "text_config.rope_scaling: the class knows no rotary positions of the type llama4",
    ),
    (
        {"model_type": "clip", "rope_scaling": {"type": "yarn", "factor": 2.0}},
        "rope_scaling: rotary positions of the type yarn need original_max_position_embeddings",
    ),
    (
        {"model_type": "vit", "rope_parameters": {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 16}},
        "rope_parameters: rotary positions of the type yarn need max_position_embeddings",
    ),
    (
        {"model_type": "mamba", "rope_scaling": {"type": "longrope", "short_factor": [1.0], "long_factor": [1.0]}},
        "rope_scaling: rotary positions of the type longrope need original_max_position_embeddings",
    ),
    (
        {"model_type": "llama", "rope_theta": [1e4]},
        "rope_theta: no class of this type can be built with the list [10000.0]; without the key",
    ),
    ({"model_type": "hunyuan_v1_dense"}, "head_dim: the class has no value of its own for it; state one"),
    ({"model_type": "bert", "torch_dtype": "auto"}, "dtype: the string 'auto' is no number format; such as bfloat16"),
    ({"model_type": "bert", "id2label": "three"}, "id2label: expected a mapping"),
    ({"model_type": "exaone4_5", "text_config": {"hidden_size": 64}}, "text_config.model_type: the class wants the model type"),
    ({"model_type": "esmc", "num_key_value_heads": 4}, "num_key_value_heads: the class wants num_key_value_heads is None or"),
    ({"model_type": "squeezebert", "embedding_size": 64}, "embedding_size: the class wants embedding_size == hidden_size"),
    ({"model_type": "vit", "output_attentions": True, "attn_implementation": "sdpa"}, "output_attentions: attention that is given out"),
    ({"model_type": "step3p5", "swiglu_limits": 32}, "swiglu_limits: expected a list or null, found 32"),
    ({"model_type": "inkling2", "vision_config": {"text_hidden_size": 64}}, "vision_config.text_hidden_size: the class wants"),
    ({"model_type": "llama", "use_return_dict": True}, "use_return_dict: the class works it out by itself, and refuses to be given it"),
    ({"model_type": "falcon", "head_dim": 64}, "head_dim: the class works it out by itself"),
    ({"model_type": "clip", "vision_config": {"layer_types": 8}}, "vision_config.layer_types: expected a list or null, found 8"),
    ({"model_type": "vit", "rope_parameters": "default"}, "rope_parameters: expected an object or null, found the string 'default'"),
    ({"model_type": "detr", "backbone_config": {"model_type": "bert"}}, "backbone_config.model_type: no backbone described for 'bert'"),
    ({"model_type": "bert", "vocab_size": 100, "pad_token_id": 100}, "pad_token_id: token 100 is not in the vocabulary of 100"),
    ({"model_type": "hunyuan_vl"}, "text_config.head_dim: the class has no value of its own for it; state one"),
    ({"model_type": "convnext", "architectures": ["ConvNextBackbone"]}, "hidden_sizes: the class has no value of its own for it"),
    ({"model_type": "bart", "architectures": ["BartForCausalLM"], "decoder_ffn_dim": None}, "decoder_ffn_dim: null is not possible"),
    ({"model_type": "d_fine", "hidden_size": 128}, "d_model: the class works the width of a head out before it takes other names"),
    ({"model_type": "ernie4_5_vl_moe_text", "num_attention_heads": 40}, "num_attention_heads: the sections of rotary positions"),
    ({"model_type": "granite_speech_encoder", "context_size": 600}, "context_size: the class wants 0 < context_size <= max_pos_emb"),
    ({"model_type": "diffllama", "num_attention_heads": 31, "hidden_size": 62}, "num_attention_heads: the class wants"),
    ({"model_type": "gpt_bigcode", "add_cross_attention": True}, "add_cross_attention: the class wants not (add_cross_attention and"),
    ({"model_type": "beit", "add_fpn": True}, "add_fpn: the class wants"),
    ({"model_type": "dinov2", "out_features": ["last"]}, "out_features: a backbone of 12 stages has not all of those"),
    ({"model_type": "hubert", "hidden_size": 96, "num_conv_pos_embedding_groups": 20}, "num_conv_pos_embedding_groups: "),
    ({"model_type": "dots3_note", "text_config": {"vocab_size": 94}}, "text_config.pad_token_id: token 151659 is not in the vocabulary"),
    ({"model_type": "hubert", "feat_extract_norm": "batch"}, "feat_extract_norm: expected one of group, layer, found 'batch'"),
    ({"model_type": "bit", "num_groups": 33}, "num_groups: "),
    ({"model_type": "chameleon_vqgan", "base_channels": 48}, "base_channels: "),
    ({"model_type": "efficientloftr", "stage_block_stride": [[1]]}, "stage_block_stride: "),
    ({"model_type": "depth_pro", "intermediate_feature_dims": [256, 256]}, "intermediate_feature_dims: the class joins two lists"),
    ({"model_type": "focalnet", "out_indices": [8]}, "out_indices: a backbone of 4 stages has not all of those"),
    ({"model_type": "gemma3n_text", "activation_sparsity_pattern": [0.95]}, "activation_sparsity_pattern: the class wants"),
    ({"model_type": "hunyuan_vl_text"}, "head_dim: the class has no value of its own for it; state one"),
    ({"model_type": "bridgetower", "architectures": ["BridgeTowerForContrastiveLearning"]}, "contrastive_hidden_size: the class has no"),
    (
        {"model_type": "efficientnet", "strides": [4, 2, 2, 2, 1, 2, 1]},
        "strides: the class wants all(stride in (1, 2) for stride in strides)",
    ),
    ({"model_type": "hubert", "architectures": ["HubertForCTC"], "add_adapter": True}, "add_adapter: the class wants"),
    ({"model_type": "bart", "hidden_size": 768.0}, "d_model: expected a whole number, found 768.0"),
]
TAKEN = [
    {"model_type": "bert", "hidden_dropout_prob": 0, "attention_probs_dropout_prob": 1.0},
    {"model_type": "llama", "attention_dropout": 1.5},  # it is handed on to a function, and no module is made of it
    {"model_type": "t5", "hidden_size": 0, "num_labels": 2},
    {"model_type": "bert", "vocab_size": 0, "pad_token_id": None},
    {"model_type": "bert", "sliding_window": "wide"},  # no key of the class
    {"model_type": "bert", "classifier_dropout": 2.0},  # which BertModel does not read
    {"model_type": "internlm2", "rms_norm_eps": 1},  # code of its own
    {"model_type": "deepseek_v4", "num_hidden_layers": 1, "mlp_layer_types": ["hash_moe"], "layer_types": ["sliding_attention"]},
    {"model_type": "detr", "architectures": ["DetrDecoder"], "backbone_config": {"model_type": "bert"}},  # which has no backbone
    {"model_type": "qwen2_vl", "text_config": {"rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}}},
    {"model_type": "phi3", "rope_scaling": {"type": "su", "short_factor": [1.0] * 48, "long_factor": [1.0] * 48}},
    {"model_type": "gemma3_text", "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
    {"model_type": "llama", "hidden_size": 63, "num_attention_heads": 9, "num_key_value_heads": 9, "partial_rotary_factor": 0.5},
    {"model_type": "ernie4_5_vl_moe", "text_config": {"num_hidden_layers": 1, "mlp_layer_types": ["dense", "sparse"]}},
    {"model_type": "cohere2", "hidden_size": 1, "head_dim": 2},
    {"model_type": "dinov2", "num_hidden_layers": 4, "out_indices": [2, -1], "out_features": None},
    {"model_type": "llama", "head_dim": None, "num_key_value_heads": None},
    {"model_type": "llama", "rope_scaling": {"rope_type": "longrope", "short_factor": [1.0], "long_factor": [1.0, 1.0, 1.0]}},
    {"model_type": "bert", "rope_scaling": {"rope_type": "yarn", "factor": 2.0}, "rope_theta": 1e4},  # completed, as an older file is
    {"model_type": "vit", "max_position_embeddings": 64, "rope_scaling": {"rope_type": "linear", "factor": 2.0}},
    {"model_type": "bert", "dtype": 8},  # which no class reads
    {"model_type": "patchtst", "distribution_output": "prelu"},  # no activation, whatever it is called
    {"model_type": "deberta", "talking_head": 16},  # true, as Python reads it
    {"model_type": "mimi", "num_residual_layers": -1},  # no layers, as of 0
    {"model_type": "wav2vec2", "conv_dim": [8, 8], "conv_stride": [2, 2], "conv_kernel": [3, 3]},  # of whose number the class makes its own
    {
        "model_type": "dots3_note_vision_encoder",
        "embed_dim": 8,
        "num_heads": 1,
        "adapter_in_dim": 8,
    },  # older names of hidden_size and heads
    {"model_type": "hunyuan_vl", "text_config": {"attention_head_dim": 16}},  # another name of what must be stated
    {"model_type": "d_fine", "hidden_size": 128, "d_model": 128},
    {"model_type": "bart", "architectures": ["BartEncoder"], "decoder_ffn_dim": None},  # which has no decoder
    {"model_type": "beit", "add_fpn": True, "segmentation_indices": [3, 5, 7, 11]},
    {"model_type": "flaubert", "asm": True},  # which its vocabulary head reads
    {"model_type": "canine", "hidden_size": 12},  # whose eight slices are rounded down
    {"model_type": "dpt", "architectures": ["DPTForDepthEstimation"], "neck_hidden_sizes": [48, 96, 192]},
    {"model_type": "focalnet", "focal_windows": [6, 6, 6, 6]},
    {"model_type": "gemma3n_text", "num_hidden_layers": 2, "num_kv_shared_layers": 3},
    {"model_type": "bridgetower", "vision_config": {"hidden_size": 96}},
    {"model_type": "dots3_note", "text_config": {"vocab_size": 94, "pad_token_id": 0}},
    {"model_type": "efficientloftr", "fine_fusion_dims": [512, 256, 128]},
    {"model_type": "esm", "vocab_size": 33, "esmfold_config": {"trunk": {"max_recycles": None}}},  # a number within bounds, or null
]


@pytest.mark.parametrize(("raw", "text"), REFUSED, ids=[text.partition(":")[0] + f" {index}" for index, (_, text) in enumerate(REFUSED)])
def test_a_value_that_the_class_refuses_is_refused(raw: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        weighbridge.model(raw)
    assert str(refused.value).startswith(text)


@pytest.mark.parametrize("raw", TAKEN, ids=[str(index) for index in range(len(TAKEN))])
def test_a_value_that_the_class_takes_is_taken(raw: dict[str, Any]) -> None:
    assert weighbridge.model(raw).count().unique


def test_a_class_is_held_to_what_it_reads_itself() -> None:
    raw = {"model_type": "bert", "classifier_dropout": 2.0}
    with pytest.raises(ConfigError, match="classifier_dropout: a probability is between 0 and 1"):
        weighbridge.model(raw, "BertForTokenClassification")


def test_a_backbone_is_held_to_its_own_type() -> None:
    raw = {
        "model_type": "dpt",
        "is_hybrid": False,
        "backbone_config": {"model_type": "dinov2", "hidden_act": "nonesuch", "reshape_hidden_states": False},
    }
    with pytest.raises(ConfigError, match=r"backbone_config\.hidden_act: 'nonesuch' is no activation"):
        weighbridge.model(raw)


@pytest.mark.parametrize(
    ("kind", "taken", "refused"),
    [
        ("[[int]]", [[1], []], [1]),
        ("int|[int|float]|null", [1, 0.5], ["a"]),
        ('"cls"|"mean"|null', "mean", "max"),
        ("object|null", {}, []),
        ("float<0..>", 2.5, -0.5),
    ],
)
def test_kinds_are_read(kind: str, taken: object, refused: object) -> None:
    assert takes(kind, taken)
    assert not takes(kind, refused)
