"""Why a class of the reference library is not weighed: what of it no config states, or what it is built on that nobody has described yet."""

from __future__ import annotations

from weighbridge.core.messages import mark

NO_CONFIG_BUILDS = mark("transformers 5.23.0 builds it from no config: all its layers reuse keys, and none makes them")
WITH_PREFIX = mark("it is built inside SeamlessM4Tv2TextToUnitForConditionalGeneration, from the keys that begin with t2u_")
REASONS = {
    "PatchTSTEncoder": mark("it takes the number of patches beside the config; PatchTSTModel works it out and holds it"),
    "SeamlessM4Tv2TextToUnitDecoder": WITH_PREFIX,
    "SeamlessM4Tv2TextToUnitModel": WITH_PREFIX,
    "gemma4_assistant": NO_CONFIG_BUILDS,
    "gemma4_unified_assistant": NO_CONFIG_BUILDS,
    "fast_vlm": mark("its tower is timm's FastViT, which is not described"),
    "edgetam_vision_model": mark("its tower is timm's RepViT, which is not described"),
    "emu3": mark("its image tokenizer is not described; its text model, emu3_text_model, is"),
    "pe_audio_video": mark(
        "its towers share weights in a way that is not described; each tower is: pe_audio, pe_video, pe_audio_video_encoder"
    ),
}
"""By class, or by model type where that is for all of its classes."""
