"""Which values the reference's config classes want to fit together, as each says when it is made.

``python -m truth.class_rules`` writes ``blueprints/class_rules.txt``: for each class its rules, and behind them what the keys in them are by
default and by which other names they may be given. The rules are written here by hand, from the reference's own checks (``validate_architecture``
and what its ``__post_init__`` refuses), as what must hold; that heads divide a width is asked of each class.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from truth import live
from truth.changes import Change, apply_change
from truth.field_types import find_field_types, other_names
from weighbridge.blueprints import class_rules, type_lines
from weighbridge.blueprints.class_rules import BEFORE, GIVEN, PATH

HEADS = "hidden_size % num_attention_heads == 0"
CONVOLUTIONS = "len(conv_stride) == len(conv_kernel) == len(conv_dim)"
QUANTIZERS = "num_semantic_quantizers < num_quantizers; codebook_size & codebook_size - 1 == 0"
COUNTED = f"{CONVOLUTIONS}; num_feat_extract_layers == len(conv_dim)"
GROUPED_CONVOLUTIONS = f"{COUNTED}; feat_extract_norm in ('group', 'layer'); hidden_size % num_conv_pos_embedding_groups == 0"
MAMBA = (
    "mamba_d_head == 'auto' or mamba_d_head * mamba_n_heads == mamba_expand * hidden_size; mamba_expand * hidden_size % mamba_n_heads == 0"
)
STATIC = "num_static_categorical_features <= 0 or cardinality == [] or \
len([0] if cardinality is None else cardinality) == num_static_categorical_features; \
not embedding_dimension or num_static_categorical_features <= 0 or len(embedding_dimension) == num_static_categorical_features"
POINTS = "type(decoder_n_points) is not list or len(decoder_n_points) == num_feature_levels"
FEED_FORWARD = "is_activation(feed_forward_proj.removeprefix('gated-')); feed_forward_proj.count('-') == 0 or (feed_forward_proj.count('-') == 1 and feed_forward_proj.startswith('gated-'))"
LAYER_TYPE = "layer_type in ('basic', 'bottleneck')"
GROUPED = "num_attention_heads % num_key_value_heads == 0"
ODD = "{0} % 2 == 1"
WHOLE_HEADS = "(before.d_model // before.decoder_attention_heads if head_dim is None else head_dim) * decoder_attention_heads == d_model"
"""The width of a head is worked out before other names are put in their place, and held to the width of the model after that."""
BLOCKS = "0 < context_size <= max_pos_emb"
ODD_DEPTHWISE = ODD.format("conv_depthwise_kernel_size")
PADDED = "pad_token_id is None or -vocab_size <= pad_token_id < vocab_size"
ROTARY_WIDTH = "head_dim is not None or unscaled(rope_parameters)"
NARROWED = "hidden_size // attention_downsample_rate // num_attention_heads > 0"
WHOLE_NARROWED = "hidden_size // attention_downsample_rate % num_attention_heads == 0; hidden_size % num_attention_heads == 0"
BARE = "not add_adapter"
SUMMARY = "summary_type != 'attn'"

RULES = {
    "AlignVisionConfig": "all(stride in (1, 2) for stride in strides)",
    "AutoformerConfig": "cardinality is None or num_static_categorical_features <= 0 or len(cardinality) == num_static_categorical_features; "
    "embedding_dimension is None or num_static_categorical_features <= 0 or len(embedding_dimension) == num_static_categorical_features",
    "AXK2Config": "q_lora_rank is not None and q_lora_rank > 0; (n_group is None) == (topk_group is None); "
    "n_group is None or n_routed_experts % n_group == 0; n_group is None or topk_group <= n_group",
    "AyaVisionConfig": "vision_feature_select_strategy in ('default', 'full')",
    "BambaConfig": MAMBA,
    "BeamConfig": GROUPED,
    "BeitConfig": "not add_fpn or (out_indices or segmentation_indices or out_features) is not None and "
    "len(out_indices or segmentation_indices or out_features) == 4",
    "BitConfig": "layer_type in ('preactivation', 'bottleneck'); global_padding is None or global_padding.upper() in ('SAME', 'VALID')",
    "CanaryConfig": "decoder_config.vocab_size == vocab_size",
    "DFineConfig": f"{POINTS}; {WHOLE_HEADS}",
    "DabDetrConfig": "query_dim == 4",
    "Data2VecAudioConfig": COUNTED,
    "CsmDepthDecoderConfig": "not tie_word_embeddings",
    "DbrxConfig": "not tie_word_embeddings",
    "DeformableDetrConfig": "not (two_stage is True and with_box_refine is False)",
    "Deimv2Config": f"{POINTS}; {WHOLE_HEADS}",
    "DepthAnythingConfig": "depth_estimation_type in ('relative', 'metric')",
    "DepthProConfig": "list(scaled_images_ratios) == sorted(scaled_images_ratios); "
    "len(scaled_images_ratios) == len(scaled_images_overlap_ratios) == len(scaled_images_feature_dims); "
    "given.scaled_images_feature_dims == given.intermediate_feature_dims; len(intermediate_hook_ids) == len(intermediate_feature_dims); fusion_hidden_size // 2 ** num_fov_head_layers != 0",
    "DiffLlamaConfig": "(num_attention_heads if num_key_value_heads is None else num_key_value_heads) % 2 == 0; "
    "attention_dropout is None or attention_dropout <= 0",
    "DiaConfig": "decoder_config.num_channels == (9 if delay_pattern is None else len(delay_pattern))",
    "Dots3NoteVisionConfig": "adapter_in_dim == hidden_size; adapter_merge_size == spatial_merge_size",
    "Dots3NoteTextConfig": "qk_rope_head_dim <= index_head_dim; n_shared_experts is not None and n_shared_experts >= 1; n_group >= 1 and n_routed_experts % n_group == 0; "
    "n_routed_experts // n_group >= 2; 1 <= topk_group <= n_group",
    "DPTConfig": "not is_hybrid or readout_type == 'project'",
    "EmbeddingGemma2TextConfig": "sliding_window_pattern >= 1",
    "EfficientNetConfig": "all(stride in (1, 2) for stride in strides)",
    "EncodecConfig": "norm_type in ('weight_norm', 'time_group_norm')",
    "Ernie4_5_VLMoeTextConfig": "sections_fit(hidden_size, num_attention_heads, head_dim, rope_parameters)",
    "EsmFold2DiffusionModuleConfig": "atom_encoder.output_dim == hidden_size",
    "EsmFold2AtomEncoderConfig": "3 * num_spatial_rope_pairs_per_axis + num_uid_rope_pairs <= "
    "(hidden_size // num_attention_heads if head_dim is None else head_dim) // 2",
    "EsmcConfig": "num_key_value_heads is None or num_key_value_heads == num_attention_heads",
    "FalconH1Config": "mamba_d_head == 'auto' or mamba_d_head * mamba_n_heads == (mamba_expand * hidden_size if mamba_d_ssm is None else mamba_d_ssm); "
    "(mamba_expand * hidden_size if mamba_d_ssm is None else mamba_d_ssm) % mamba_n_heads == 0",
    "FastVlmConfig": "vision_feature_select_strategy == 'full'; vision_feature_layer == -1",
    "FastSpeech2ConformerConfig": "; ".join(
        ODD.format(key)
        for key in (
            "positionwise_conv_kernel_size",
            "encoder_kernel_size",
            "decoder_kernel_size",
            "duration_predictor_kernel_size",
            "energy_predictor_kernel_size",
            "energy_embed_kernel_size",
            "pitch_predictor_kernel_size",
            "pitch_embed_kernel_size",
        )
    )
    + "; hidden_size % encoder_num_attention_heads == 0; hidden_size % decoder_num_attention_heads == 0; "
    "not (use_masking and use_weighted_masking)",
    "FlaubertConfig": "is_encoder",
    "FunAsrNanoConfig": "adaptor_config.hidden_size == text_config.hidden_size; adaptor_config.intermediate_size == text_config.hidden_size // 4",
    "FunAsrNanoEncoderConfig": "num_mel_bins * num_stacked_frames % 2 == 0",
    "FunnelConfig": "block_repeats is None or len(block_sizes) == len(block_repeats); pooling_type in ('mean', 'max'); "
    "attention_type in ('relative_shift', 'factorized')",
    "Gemma3nTextConfig": "activation_sparsity_pattern is None or "
    "(type(activation_sparsity_pattern) is list and len(activation_sparsity_pattern) == num_hidden_layers)",
    "Glm5NextTextConfig": "num_attention_heads == num_key_value_heads; index_kpool >= 1; index_topk % index_kpool == 0; q_lora_rank is not None; "
    "qk_rope_head_dim <= 0",
    "GPTBigCodeConfig": "not (add_cross_attention and multi_query)",
    "GradiumPhononTTSConfig": "flow_head_config.condition_dim == hidden_size; flow_head_config.latent_dim == latent_dim",
    "GraniteDoclingConfig": "vision_config.out_hidden_size == text_config.hidden_size; "
    "density_router_hidden_size is None or vision_config.use_fine_route",
    "GraniteSpeech5EncoderConfig": "0 < context_size <= max_position_embeddings",
    "GraniteSpeech5CTCConfig": "encoder_config.vocab_size == vocab_size",
    "GraniteMoeHybridConfig": MAMBA,
    "GraniteSpeechEncoderConfig": BLOCKS,
    "GraniteSpeechPlusEncoderConfig": BLOCKS,
    "GroundingDinoConfig": "not two_stage_bbox_embed_share or decoder_bbox_embed_share",
    "HGNetV2Config": "len(stage_in_channels) == len(stage_mid_channels) == len(stage_out_channels) == len(stage_num_blocks) == "
    "len(stage_downsample) == len(stage_light_block) == len(stage_kernel_size) == len(stage_numb_of_layers)",
    "HieraConfig": "masked_unit_size[0] % query_stride[0] ** (len(depths) - 1) == 0; num_query_pool < len(depths)",
    "HubertConfig": COUNTED,
    "Idefics2PerceiverConfig": "num_key_value_heads <= resampler_n_heads",
    "IdeficsConfig": "alpha_initializer in ('zeros', 'ones') or (alpha_initializer in ('normal', 'gaussian', 'random') and alpha_type == 'vector'); "
    "alpha_type in ('vector', 'float')",
    "InformerConfig": STATIC,
    "Inkling2Config": "vision_config.text_hidden_size == text_config.hidden_size",
    "InternLM3Config": "attention_bias == mlp_bias",
    "InternVLVisionConfig": "norm_type in ('layer_norm', 'rms_norm')",
    "IQuestCoderConfig": "clip_qkv is None; not use_sliding_window",
    "JambaConfig": "attn_layer_offset < attn_layer_period; expert_layer_offset < expert_layer_period",
    "JetMoeConfig": "num_experts_per_tok <= num_local_experts",
    "KyutaiSpeechToTextConfig": "ffn_dim % 2 == 0",
    "LagunaConfig": "not moe_apply_router_weight_on_input; "
    "num_attention_heads_per_layer is None or len(num_attention_heads_per_layer) == num_hidden_layers; "
    "layer_types is None or len(layer_types) == num_hidden_layers; mlp_layer_types is None or len(mlp_layer_types) == num_hidden_layers; "
    "rope_scaling is not None",
    "Lfm3Config": PADDED,
    "LightGlueConfig": "descriptor_dim % num_attention_heads == 0",
    "Llama4TextConfig": "not no_rope_layers or layer_types is not None or len(no_rope_layers) == num_hidden_layers",
    "LongT5Config": FEED_FORWARD,
    "LwDetrViTConfig": "num_windows % num_windows ** 0.5 == 0; image_size / num_windows % num_windows ** 0.5 == 0",
    "LwDetrConfig": "all(scale in (0.5, 1.0, 2.0) for scale in projector_scale_factors)",
    "Mamba2Config": "hidden_size * expand == num_heads * head_dim",
    "MellumConfig": "num_nextn_predict_layers is None or num_nextn_predict_layers <= 1",
    "MimiConfig": QUANTIZERS,
    "MimiDecoderConfig": QUANTIZERS,
    "MimiEncoderConfig": QUANTIZERS,
    "MiMoV2FlashConfig": "rope_scaling is not None",
    "MiniMaxConfig": ROTARY_WIDTH,
    "MistralLarge4TextConfig": "kv_source_layers is None or len(kv_source_layers) == num_hidden_layers",
    "MixtralConfig": ROTARY_WIDTH,
    "MllamaTextConfig": "pad_token_id is None or -vocab_size - 8 <= pad_token_id < vocab_size + 8",
    "MllamaVisionConfig": "(supported_aspect_ratios is not None and supported_aspect_ratios != [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]]) "
    "or max_num_tiles == 4",
    "MobileBertConfig": "normalization_type in ('layer_norm', 'no_norm')",
    "MobileNetV1Config": "depth_multiplier > 0",
    "MobileNetV2Config": "depth_multiplier > 0",
    "ModernBertConfig": PADDED,
    "Molmo2Config": "-vision_config.num_hidden_layers <= min([24, 18] if adapter_config.vision_feature_layer is None else adapter_config.vision_feature_layer); "
    "max([24, 18] if adapter_config.vision_feature_layer is None else adapter_config.vision_feature_layer) < vision_config.num_hidden_layers",
    "Molmo2TextConfig": "qk_norm_type in ('qwen3', 'olmo'); additional_vocab_size >= 0",
    "MoshiDepthConfig": "ffn_dim % 2 == 0",
    "MoshiConfig": "'depth_decoder_config' not in stated or 'audio_encoder_config' in stated or audio_vocab_size is not None; ffn_dim % 2 == 0; num_codebooks <= audio_encoder_config.num_codebooks",
    "MT5Config": FEED_FORWARD,
    "MuseSparkAudioConfig": "len(patch_sizes) == len(hidden_sizes) == len(depths) == num_hidden_layers",
    "MuseSparkConfig": "audio_config.out_hidden_size == text_config.hidden_size",
    "MusicgenDecoderConfig": "audio_channels in (1, 2)",
    "MusicgenMelodyDecoderConfig": "audio_channels in (1, 2)",
    "Nemotron3_5TranscribeWordTimestampConfig": "0 <= blank_token_id < vocab_size",
    "Nemotron3_5TranscribeAudioConfig": "asr_config.subsampling_factor == diarization_config.audio_config.subsampling_factor",
    "Nemotron3DiarizationConfig": "chunk_right_context < chunk_length; head_config.audio_hidden_size == audio_config.hidden_size; "
    "head_config.subsampling_factor == audio_config.subsampling_factor; streaming_config.num_speakers == head_config.num_speakers; "
    "streaming_config.subsampling_factor == audio_config.subsampling_factor; "
    "streaming_config.speaker_cache_length >= (1 + streaming_config.speaker_cache_silence_frames_per_speaker) * streaming_config.num_speakers",
    "NemotronH_Omni_Reasoning_V3_Config": "'vision_config' in stated or video_temporal_patch_size == 2; "
    "'vision_config' not in stated or vision_config.video_temporal_patch_size == video_temporal_patch_size",
    "NeoMMEConfig": f"{GROUPED}; residual_multiplier > 0",
    "NystromformerConfig": "not inv_coeff_init_option",
    "OlmoHybridConfig": "layer_types is not None or num_hidden_layers > 1; "
    "layer_types is None or 'linear_attention' in layer_types; "
    "layer_types is None or any(kind != 'linear_attention' for kind in layer_types)",
    "Phi4MultimodalAudioConfig": "time_reduction % 2 == 0",
    "PI0Config": "dit_config.hidden_size % 2 == 0",
    "PixtralVisionConfig": "hidden_size // num_attention_heads % 2 == 0 or hidden_size // num_attention_heads < 5",
    "PocketTTSConfig": "flow_head_config.condition_dim == hidden_size; flow_head_config.latent_dim == latent_dim",
    "PPDocLayoutV4Config": "num_coords == 10",
    "PPLCNetConfig": "len(block_configs) == 5",
    "PPLCNetV3Config": "len(block_configs) == 5",
    "PPLCNetV4Config": "block_configs is None or len(block_configs) == 4; stem_type in ('large', 'small')",
    "PromptDepthAnythingConfig": "depth_estimation_type in ('relative', 'metric')",
    "PvtConfig": "type(image_size) is not list",
    "QianfanOCRVisionConfig": "norm_type in ('layer_norm', 'rms_norm')",
    "Qwen2_5OmniDiTConfig": "len(enc_channels) == len(enc_kernel_sizes) == len(enc_dilations)",
    "Qwen4ExpTextConfig": "(hidden_act if output_gate_type is None else output_gate_type) in ('sigmoid', 'silu'); hc_count > 1; num_experts > 0; "
    "0 < num_experts_per_tok <= num_experts; moe_intermediate_size > 0; shared_expert_intermediate_size > 0",
    "RadioConfig": "video_temporal_patch_size is None or video_temporal_patch_size >= 2",
    "RecurrentGemmaConfig": "num_key_value_heads is None or num_key_value_heads <= num_attention_heads",
    "ReformerConfig": "lsh_attn_chunk_length is not None or 'lsh' not in attn_layers; local_attn_chunk_length is not None or 'local' not in attn_layers",
    "RegNetConfig": "layer_type in ('x', 'y')",
    "ResNetConfig": LAYER_TYPE,
    "RTDetrResNetConfig": LAYER_TYPE,
    "Sam2MaskDecoderConfig": NARROWED,
    "Sam2VideoMaskDecoderConfig": NARROWED,
    "Sam3TrackerMaskDecoderConfig": NARROWED,
    "Sam3TrackerVideoMaskDecoderConfig": NARROWED,
    "Sam3VideoConfig": "hotstart_delay <= 0 or hotstart_unmatch_thresh <= hotstart_delay; "
    "hotstart_delay <= 0 or hotstart_dup_thresh <= hotstart_delay",
    "SamHQMaskDecoderConfig": WHOLE_NARROWED,
    "SamMaskDecoderConfig": WHOLE_NARROWED,
    "SegGptConfig": "merge_index <= min(intermediate_hidden_state_indices)",
    "SEWConfig": GROUPED_CONVOLUTIONS,
    "SEWDConfig": GROUPED_CONVOLUTIONS,
    "Speech2TextConfig": "len(conv_kernel_sizes) == num_conv_layers",
    "SpeechT5Config": COUNTED,
    "SqueezeBertConfig": "embedding_size == hidden_size; hidden_size % q_groups == 0; hidden_size % k_groups == 0; hidden_size % v_groups == 0; "
    "hidden_size % post_attention_groups == 0; hidden_size % intermediate_groups == 0; intermediate_size % intermediate_groups == 0; "
    "intermediate_size % output_groups == 0; hidden_size % output_groups == 0",
    "SuperGlueConfig": "gnn_layers_types is None or all(kind in ('self', 'cross') for kind in gnn_layers_types)",
    "T5Config": FEED_FORWARD,
    "T5Gemma2Config": "encoder.text_config.hidden_size == decoder.hidden_size; is_encoder_decoder; encoder.text_config.vocab_size == decoder.vocab_size",
    "TimeSeriesTransformerConfig": STATIC,
    "Tipsv2Config": "text_config.hidden_size == vision_config.hidden_size; temperature_init_value > 0",
    "TrOCRConfig": "use_learned_position_embeddings or pad_token_id is not None",
    "UdopConfig": FEED_FORWARD,
    "UMT5Config": FEED_FORWARD,
    "UniSpeechConfig": GROUPED_CONVOLUTIONS,
    "UniSpeechSatConfig": GROUPED_CONVOLUTIONS,
    "UnivNetConfig": "len(resblock_kernel_sizes) == len(resblock_stride_sizes) == len(resblock_dilation_sizes)",
    "UnlimitedOcrTextConfig": "sliding_window is not None",
    "UVDocConfig": "padding_mode in ('reflect', 'zeros', 'replicate', 'circular')",
    "VideoMAEConfig": "num_frames >= tubelet_size",
    "VitsConfig": "len(upsample_kernel_sizes) == len(upsample_rates)",
    "Wav2Vec2Config": GROUPED_CONVOLUTIONS,
    "Wav2Vec2BertConfig": f"not use_intermediate_ffn_before_adapter or add_adapter; {ODD_DEPTHWISE}",
    "Wav2Vec2ConformerConfig": f"{GROUPED_CONVOLUTIONS}; {ODD_DEPTHWISE}",
    "WavLMConfig": GROUPED_CONVOLUTIONS,
    "XLMConfig": "is_encoder",
    "XLNetConfig": "d_model % n_head == 0",
    "ZambaConfig": "mamba_expand * hidden_size % n_mamba_heads == 0",
    "ZayaConfig": f"num_experts_per_tok == 1; {GROUPED}; 'hybrid_sliding' not in (layer_types or ()) or sliding_window is not None",
}
"""By config class: what must hold, in Python's words (transformers 5.23.0, models/*/configuration_*.py; of SqueezeBERT, what its modules assert)."""

OF_MODELS = {
    "clipseg": dict.fromkeys(("CLIPSegDecoder", "CLIPSegForImageSegmentation"), "reduce_dim >= decoder_num_attention_heads"),
    "data2vec-audio": dict.fromkeys(("Data2VecAudioForSequenceClassification", "Data2VecAudioForAudioFrameClassification"), BARE),
    "hubert": {"HubertForSequenceClassification": BARE, "HubertForCTC": "not add_adapter or output_hidden_size is not None"},
    "mm-grounding-dino": {"MMGroundingDinoForObjectDetection": "decoder_layers > 1"},
    "openai-gpt": {"OpenAIGPTDoubleHeadsModel": SUMMARY},
    "roformer": {"RoFormerForMultipleChoice": SUMMARY},
    "rt_detr_v2": {"RTDetrV2ForObjectDetection": "decoder_layers > 1"},
    "seamless_m4t": dict.fromkeys(
        ("SeamlessM4TModel", "SeamlessM4TForSpeechToText", "SeamlessM4TForSpeechToSpeech", "SeamlessM4TSpeechEncoder"), ODD_DEPTHWISE
    ),
    "seamless_m4t_v2": dict.fromkeys(
        ("SeamlessM4Tv2Model", "SeamlessM4Tv2ForSpeechToText", "SeamlessM4Tv2ForSpeechToSpeech", "SeamlessM4Tv2SpeechEncoder"),
        ODD_DEPTHWISE,
    ),
    "sew": {"SEWForSequenceClassification": BARE},
    "sew-d": {"SEWDForSequenceClassification": BARE},
    "speecht5": dict.fromkeys(
        ("SpeechT5ForSpeechToText", "SpeechT5ForSpeechToSpeech", "SpeechT5EncoderWithSpeechPrenet"),
        "hidden_size % num_conv_pos_embedding_groups == 0",
    ),
    "unispeech": {"UniSpeechForSequenceClassification": BARE},
    "unispeech-sat": dict.fromkeys(("UniSpeechSatForSequenceClassification", "UniSpeechSatForAudioFrameClassification"), BARE),
    "videomae": {"VideoMAEForPreTraining": "type(patch_size) is not list"},
    "vit_mae": {"ViTMAEForPreTraining": "squared(image_size, patch_size)"},
    "wav2vec2": dict.fromkeys(("Wav2Vec2ForSequenceClassification", "Wav2Vec2ForAudioFrameClassification"), BARE),
    "wav2vec2-bert": dict.fromkeys(("Wav2Vec2BertForSequenceClassification", "Wav2Vec2BertForAudioFrameClassification"), BARE),
    "wav2vec2-conformer": dict.fromkeys(
        ("Wav2Vec2ConformerForSequenceClassification", "Wav2Vec2ConformerForAudioFrameClassification"), BARE
    ),
    "wavlm": dict.fromkeys(("WavLMForSequenceClassification", "WavLMForAudioFrameClassification"), BARE),
    "xlm": dict.fromkeys(("XLMForSequenceClassification", "XLMForMultipleChoice"), SUMMARY),
    "xlnet": dict.fromkeys(("XLNetForSequenceClassification", "XLNetForMultipleChoice"), SUMMARY),
}
"""By model type and class of models: what that class wants (transformers 5.23.0, models/*/modeling_*.py)."""

NAME = re.compile(r"(?<![\w.'])[a-z]\w*(?:\.[a-z]\w*)*")
WORDS = frozenset(
    "is_activation stated sections_fit squared unscaled stages_exist stages_ordered turns_pairs in is not and or if else for all any len list sorted type min max scale stride kind".split()
)


def keys(rule: str) -> list[str]:
    """Return the keys that a rule reads, those of sub-configs with their path.

    >>> keys("text_config.hidden_size == 8 or len(depths) in ('a', 'b')")
    ['text_config.hidden_size', 'depths']
    >>> keys("'text_config' in stated or heads == 2")
    ['text_config', 'heads']
    """
    plain = re.sub(r"'[^']*'", "''", re.sub(r"'(\w+)'(?= (?:not )?in stated)", r"\1", rule))
    named = (
        match[0].removesuffix(".count").removesuffix(".startswith").removesuffix(".upper").removesuffix(".removeprefix")
        for match in NAME.finditer(plain)
    )
    found = (name.removeprefix(BEFORE).removeprefix(GIVEN) for name in named)
    return list(dict.fromkeys(name for name in found if name not in WORDS))


def line(cls: Any, rules: list[str], name: str = "") -> str:
    """Write the rules of a config class, or of a class of models *name* that is made of it, in a line, with the defaults and the other names
    of the keys in them.
    """
    stated = []
    for key in dict.fromkeys(key for rule in rules for key in keys(rule)):
        names = "|".join((key, *names_of(cls, key)))
        stated.append(f"{names!r}: {_plain(default(cls, key))!r}")
    return f"{name or cls.__name__}: {{{', '.join(stated)}}}; {'; '.join(rules)}"


def names_of(cls: Any, key: str) -> list[str]:
    """Return the other names by which a class, or that of a sub-config, may be given a key."""
    head, _, rest = key.partition(".")
    if rest:
        return names_of(inner_class(cls, head), rest)
    if key == "rope_parameters":
        return ["rope_scaling"]
    return [alias for alias, named in other_names(cls) if named == key]


def inner_class(cls: Any, key: str) -> Any:
    """Return the class of a sub-config that states no type."""
    spec = cls.sub_configs_defaults[key]
    return live.config_class(spec.model_type) if spec.config_class.__name__ == "AutoConfig" else spec.config_class


def default(cls: Any, key: str) -> Any:
    """Return what a class has under a key that nobody states, or None where it works that out of others."""
    head, _, rest = key.partition(".")
    if head in ("out_features", "out_indices", "partial_rotary_factor", "rope_parameters"):
        return None
    try:
        made = getattr(cls(), head, None)
    except Exception:  # a class that refuses its own defaults
        made = None
    if rest:
        usual = default(inner_class(cls, head), rest)
        for name in rest.split("."):
            made = getattr(made, name, None)
    else:
        field = cls.__dataclass_fields__.get(head)
        usual = None if field is None else field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    return usual if usual == "auto" or _plain(made) == _plain(usual) else None


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def divides(cls: Any) -> bool:
    """Say whether a class refuses heads that do not divide its width; asked of its own words, since others may refuse the same earlier."""
    return "self.hidden_size % self.num_attention_heads != 0" in inspect.getsource(cls.validate_architecture)


def pairs(cls: Any) -> list[str]:
    """Return the rule that rotary positions turn pairs, where a class works the width of its heads out of others and refuses an odd one."""
    width, heads = (cls.attribute_map.get(key, key) for key in ("hidden_size", "num_attention_heads"))
    fields = cls.__dataclass_fields__
    if width not in fields or heads not in fields or "head_dim" not in fields or fields["head_dim"].default is not None:
        return []
    refusal = _refusal(cls, **{width: 28, heads: 4, "num_key_value_heads": 4})
    return (
        [f"turns_pairs({width}, {heads}, head_dim, partial_rotary_factor, rope_parameters)"] if "RoPE requires an even" in refusal else []
    )


def stages(cls: Any) -> list[str]:
    """Return the rule that a backbone has the stages whose maps it is to give, where it is made of as many as it has layers or depths."""
    try:
        named = cls().stage_names
    except Exception:  # no backbone
        return []
    for key in ("depths",) if "depths" in cls.__dataclass_fields__ else ("num_hidden_layers",):
        usual = default(cls, key) if key in cls.__dataclass_fields__ else None
        count = len(usual) if isinstance(usual, (list, tuple)) else usual
        if named == ["stem", *(f"stage{number}" for number in range(1, len(named)))] and count == len(named) - 1:
            if _refusal(cls, out_indices=[count]) or not _refusal(cls, out_indices=[count + 1]):
                return []
            asked = f"({key if count is usual else f'len({key})'}, out_indices, out_features)"
            return [f"stages_exist{asked}", f"stages_ordered{asked}"]
    return []


def find_rules() -> dict[str, list[str]]:
    """Return the rules of each class that a described type may be made of."""
    live.versions()
    _, lines, classes = find_field_types()
    found = {}
    for name, cls in classes.items():
        rules = RULES.get(name, "").split("; ") if name in RULES else []
        if divides(cls) and HEADS not in rules:
            rules.append(HEADS)
        rules += [*pairs(cls), *stages(cls)]
        if rules:
            found[name] = rules
    unknown = set(RULES) - set(lines)
    assert not unknown, f"no such classes: {unknown}"
    return found


OF_MODULES = """LagunaConfig MiMoV2FlashConfig MllamaTextConfig NystromformerConfig PvtConfig ReformerConfig SEWConfig SEWDConfig SqueezeBertConfig TrOCRConfig
UniSpeechConfig UniSpeechSatConfig Wav2Vec2BertConfig Wav2Vec2Config Wav2Vec2ConformerConfig WavLMConfig XLMConfig""".split()
"""Classes whose modules refuse, and not the config."""


def check(seed: str, n: int) -> Counter[str]:
    """Change the keys of every rule, and count what both sides take or refuse, what ours alone refuses (``wrong``), and ours alone takes (``missed``)."""
    rng, classes, found = random.Random(seed), find_field_types()[2], Counter[str]()
    with open(PATH, encoding="utf-8") as file:
        names = [name for line in file if (name := line.partition(":")[0]) in classes and name not in OF_MODULES]
    for name in names:
        defaults = class_rules.rules_of(name).defaults
        for _ in range(n):
            raw: dict[str, Any] = {}
            for key in rng.sample(list(defaults), min(len(defaults), rng.choice((1, 1, 2, 3)))):
                raw = apply_change(raw, Change(tuple(key.split(".")), _vary(rng, defaults[key])))
            ours, theirs = _refusal(class_rules.refuse_unfit, name, raw), _refusal(classes[name], **raw)
            verdict = "wrong" if ours and not theirs else "missed" if "validate_architecture" in theirs and not ours else "agree"
            found[verdict] += 1
            if verdict != "agree":
                print(verdict, name, json.dumps(raw), ours or theirs)
    return found


def _refusal(call: Callable[..., Any], *arguments: Any, **values: Any) -> str:
    try:
        call(*copy.deepcopy(arguments), **copy.deepcopy(values))
    except Exception as error:  # whatever a value may provoke in there
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return ""


def _vary(rng: random.Random, value: Any) -> Any:
    """Return another value of the kind of one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([2 * value, max(1, value // 2), value + 1, max(1, value - 1), 1, 2, 3, 8])
    if isinstance(value, float):
        return rng.choice([0.0, -1.0, 1.0, 2 * value])
    if isinstance(value, str):
        return rng.choice([value, "basic", "gated-gelu", "a-b-c", "none of these"])
    if isinstance(value, list):
        return rng.choice([value, value[:-1], [*value, *value[-1:]]])
    return rng.choice([None, 1, 2, 8])


def main() -> None:
    """Write the file, and hold it to the classes."""
    classes, found = find_field_types()[2], find_rules()
    lines = [line(classes[name], found[name]) for name in found]
    for model_type, rules in OF_MODELS.items():
        lines += [line(live.config_class(model_type), rule.split("; "), name) for name, rule in rules.items()]
    Path(PATH).write_text("".join(f"{text}\n" for text in sorted(lines)), "utf-8")
    type_lines.forget(PATH)
    print(*(f"{count} {verdict}" for verdict, count in check("1", 60).items()), sep=", ")


if __name__ == "__main__":
    main()
