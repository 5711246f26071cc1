"""Where the reference library turns queries and keys by their positions (rotary positions), whatever the config says.

A rotation owns no parameter, so the tree does not tell; this table was read out of the reference's own forward functions
(transformers 5.23.0). ``python -m truth.rotary`` writes it.
"""

from __future__ import annotations

_PLACES = {
    "H_module.layers.self_attn": """hrm_text""",
    "L_module.layers.self_attn": """hrm_text""",
    "backbone.layers.attention": """sam3_vision_model""",
    "backbone.model.layer.attention": """chmv2""",
    "backbone_model.layers.self_attn": """csm""",
    "blocks.attn": """ernie4_5_vl_moe_vision exaone4_5_vision glm4v_moe_vision glm4v_vision glm_ocr_vision qwen2_5_omni_vision_encoder qwen2_5_vl_vision
    qwen2_vl_vision qwen3_5_moe_vision qwen3_5_vision qwen3_omni_moe_vision_encoder qwen3_vl_moe_vision qwen3_vl_vision""",
    "blocks.norm_attn_norm.attn": """dbrx""",
    "code2wav_dit_model.transformer_blocks.attn": """qwen2_5_omni_token2wav""",
    "codec_model.decoder.decoder_transformer.layers.self_attn": """csm kyutai_speech_to_text""",
    "codec_model.encoder.encoder_transformer.layers.self_attn": """csm kyutai_speech_to_text""",
    "decoder.decoder_transformer.layers.self_attn": """mimi""",
    "decoder.layers.self_attention": """dia""",
    "decoder.layers.self_attn": """t5gemma t5gemma2""",
    "decoder_transformer.layers.self_attn": """mimi_decoder""",
    "depth_decoder.model.layers.self_attn": """csm""",
    "encoder.encoder_transformer.layers.self_attn": """mimi""",
    "encoder.layer.attention": """vjepa2""",
    "encoder.layers.self_attention": """dia""",
    "encoder.layers.self_attn": """gemma4_vision lasr_ctc mlcd mlcd_vision_model t5gemma video_llama_3_vision""",
    "encoder.text_model.layers.self_attn": """t5gemma2""",
    "encoder_transformer.layers.self_attn": """mimi_encoder""",
    "h.attn": """codegen gptj""",
    "language_model.layers.self_attn": """aria audioflamingo3 deepseek_vl deepseek_vl_hybrid ernie4_5_vl_moe fuyu gemma3 gemma4 gemma4_unified glm46v glm4v glm4v_moe
    glm_ocr got_ocr2 granite_speech granite_speech_plus internvl janus kimi_k25 lfm2_vl lfm3_vl lighton_ocr llava llava_next
    llava_next_video llava_onevision minimax_m3_vl mistral3 mllama musicflamingo ovis2 paddleocr_vl paligemma qianfan_ocr qwen2_5_vl
    qwen2_audio qwen2_vl qwen3_5 qwen3_5_moe qwen3_vl qwen3_vl_moe step3p7 video_llama_3 video_llava vipllava voxtral""",
    "layers.attention": """gpt_neox gpt_neox_japanese sam3_vit_model""",
    "layers.attn": """kimi_k25_vision modernbert modernbert-decoder""",
    "layers.self_attention": """dia_decoder dia_encoder jetmoe""",
    "layers.self_attn": """apertus arcee aria_text axk1 axk2 bailing_hybrid bitnet blt_global_transformer blt_local_decoder blt_local_encoder blt_patcher
    cohere cwm deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 diffllama doge emu3_text_model ernie4_5 ernie4_5_moe
    ernie4_5_vl_moe_text esmc eurobert falcon_h1 flex_olmo gemma gemma2 gemma3_text gemma3n_text gemma4_text gemma4_unified_text glm
    glm4 glm4_moe glm4_moe_lite glm4v_moe_text glm4v_text glm_moe_dsa glm_ocr_text glmasr_encoder gpt_oss granite granite4_vision_text
    granitemoe granitemoeshared gte helium hy_v3 hyperclovax internlm3 iquestcoder jais2 jina_embeddings_v3 laguna lasr_encoder lfm2
    lfm3 lfm3_vl_vision llama longcat_flash mellum mimo_v2_flash minicpm3 minimax minimax_m2 minimax_m3_vl_text minimax_m3_vl_vision
    ministral3 mistral mistral4 mixtral mllama_text_model nanochat nomic_bert olmo olmo2 olmo3 olmoe openai_privacy_filter
    paddleocr_vl_text persimmon phi phi3 phimoe qwen2 qwen2_5_omni_text qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3 qwen3_5_moe_text
    qwen3_5_text qwen3_moe qwen3_next qwen3_omni_moe_talker_code_predictor qwen3_omni_moe_text qwen3_vl_moe_text qwen3_vl_text
    seed_oss solar_open stablelm starcoder2 step3p5 step3p5_vision timesfm2_5 ultrabert vaultgemma voxtral_realtime_encoder
    voxtral_realtime_text youtu zaya""",
    "layers.self_attn.compressor.indexer": """deepseek_v4""",
    "layers.self_attn.indexer": """axk2 deepseek_v32 glm_moe_dsa""",
    "layers.temporal_block": """recurrent_gemma""",
    "model.audio_tower.layers.self_attn": """glmasr voxtral_realtime""",
    "model.global_transformer.layers.self_attn": """blt""",
    "model.language_model.layers.self_attn": """glmasr pp_chart2table qwen2_5_omni_thinker qwen3_asr qwen3_omni_moe_thinker voxtral_realtime""",
    "model.layer.attention": """dinov3_vit sapiens2""",
    "model.layers.self_attn": """csm_depth_decoder_model qwen2_5_omni_talker""",
    "model.local_decoder.layers.self_attn": """blt""",
    "model.local_encoder.layers.self_attn": """blt""",
    "model.model.language_model.layers.self_attn": """shieldgemma2""",
    "model.patcher.layers.self_attn": """blt""",
    "model.visual.blocks.attn": """qwen2_5_omni_thinker qwen3_omni_moe_thinker""",
    "predictor.layer.attention": """vjepa2""",
    "talker.model.layers.self_attn": """qwen2_5_omni""",
    "text_model.layers.attn": """modernvbert""",
    "text_model.layers.self_attn": """idefics2 idefics3 smolvlm""",
    "thinker.model.language_model.layers.self_attn": """qwen2_5_omni""",
    "thinker.model.visual.blocks.attn": """qwen2_5_omni""",
    "token2wav.code2wav_dit_model.transformer_blocks.attn": """qwen2_5_omni""",
    "transformer.layers.attention": """pixtral""",
    "transformer_blocks.attn": """qwen2_5_omni_dit""",
    "vision_encoder.transformer.layers.attention": """lighton_ocr""",
    "vision_model.encoder.layers.self_attn": """paddleocr_vl_vision video_llama_3""",
    "vision_model.layers.self_attn": """step3p7""",
    "vision_tower.blocks.attn": """ernie4_5_vl_moe""",
    "vision_tower.layers.attn": """kimi_k25""",
    "vision_tower.layers.self_attn": """lfm3_vl minimax_m3_vl""",
    "vision_tower.transformer.layers.attention": """mistral3""",
    "visual.blocks.attn": """exaone4_5 glm46v glm4v glm4v_moe glm_ocr qwen2_5_vl qwen2_vl qwen3_5 qwen3_5_moe qwen3_vl qwen3_vl_moe""",
    "visual.vision_model.encoder.layers.self_attn": """paddleocr_vl""",
    "vlm.language_model.layers.self_attn": """colpali colqwen2""",
    "vlm.text_model.layers.attn": """colmodernvbert""",
    "vlm.visual.blocks.attn": """colqwen2""",
}
"""By the path of an attention in the base class, indices left out: the model types."""


def rotary_places(model_type: str) -> tuple[str, ...]:
    """Return the paths of the attention that rotates queries and keys, in every model of a type.

    >>> rotary_places("llama"), rotary_places("bert")
    (('layers.self_attn',), ())
    """
    return tuple(place for place, types in _PLACES.items() if model_type in types.split())
