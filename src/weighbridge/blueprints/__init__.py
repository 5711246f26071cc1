"""The table of architectures: which module describes which model type.

Modules are loaded one at a time, when a model of their type is weighed, so that the table can
grow without the command line starting later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from weighbridge.config.fields import Field, Sizes, did_you_mean
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UnknownArchitecture
from weighbridge.core.tree import Part, Row

if TYPE_CHECKING:
    from typing import Any, TypeAlias

Blueprint: TypeAlias = Callable[[Sizes], Part]


class Family(NamedTuple):
    """One model type: its fields, its classes, and the class its name stands for.

    Attributes:
        model_type: As in ``config.json``.
        fields: The table of fields, in the order in which symbols are to be sorted.
        classes: For each class of the reference library, the blueprint that describes it.
        base: The class meant when nothing names one.
        neutral: Further keys of this type that change no tensor.
        renames: Other sets of tensor names (``tensorflow``, ``checkpoint``): from a row of ours to theirs, or
            to several where a file holds apart what we hold together.
        remote: Those of *classes* that only published configs name: their code stands beside the files, and
            not in the reference library.
        settle: Brings a config's older layout into the present one, before anything is read.
    """

    model_type: str
    fields: tuple[Field, ...]
    classes: Mapping[str, Blueprint]
    base: str
    neutral: frozenset[str] = frozenset()
    renames: Mapping[str, Callable[[Row], Row | Iterable[Row]]] = {}
    remote: frozenset[str] = frozenset()
    settle: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None


DECODERS: dict[str, str] = {
    "llama": """llama mistral ministral ministral3 qwen2 qwen3 granite granite_swa hyperclovax smollm3 internlm3 iquestcoder
        ernie4_5 hunyuan_v1_dense seed_oss cwm arcee emu3_text_model""",
    "mixtures": "hunyuan_v1_moe kolibri1 flint",
    "biogpt": "biogpt xglm",
    "openai": "openai-gpt",
    "gpt2": "gpt2 gpt-sw3 gpt_bigcode",
    "gpt_neo": "gpt_neo gptj codegen",
    "gpt_neox": "gpt_neox gpt_neox_japanese",
    "opt": "opt",
    "bloom": "bloom falcon mpt",
    "gemma": "gemma gemma2 gemma3_text vaultgemma",
    "mixtral": """mixtral minimax_m2 olmoe flex_olmo qwen2_moe qwen3_moe mellum glm4_moe dots1 solar_open exaone_moe hy_v3
        ernie4_5_moe phimoe""",
    "qwen3_next": "qwen3_next qwen3_5_text qwen3_5_moe_text",
    "gpt_oss": "gpt_oss openai_privacy_filter",
    "aria": "aria_text aria",
    "jetmoe": "jetmoe",
    "ctrl": "ctrl",
    "clvp": "clvp_decoder",
    "musicgen": "musicgen_decoder musicgen_melody_decoder",
    "trocr": "trocr",
    "kosmos": "kosmos_2_text_model kosmos_2_5_text_model",
    "decision_transformer": "decision_transformer imagegpt",
    "llama4": "llama4_text",
    "granite_moe": "granitemoe granitemoeshared granitemoe_swa granitemoehybrid",
    "phi": "phi phi3",
    "glm": "glm glm4",
    "cohere": "cohere cohere2 cohere2_moe",
    "starcoder2": "starcoder2 nemotron jais2",
    "stablelm": "stablelm persimmon",
    "apertus": "apertus bitnet diffllama helium nanochat",
    "deepseek": "deepseek_v2 deepseek_v3 mistral4 axk1 glm4_moe_lite minicpm3 youtu",
    "indexed": "deepseek_v32 glm_moe_dsa",
    "minimax": "minimax",
    "gated": "afmoe beam laguna",
    "mimo": "mimo_v2_flash",
    "gemma4": "gemma4_text gemma4_unified_text",
    "gemma3n": "gemma3n_text",
    "axk2": "axk2",
    "cpmant": "cpmant",
    "hrm": "hrm_text",
    "step": "step3p5",
    "moshi": "moshi csm_depth_decoder_model",
    "muse": "muse_spark_text",
    "longcat": "longcat_flash",
    "olmo_hybrid": "olmo_hybrid",
    "ernie_vl": "ernie4_5_vl_moe_text ernie4_5_vl_moe ernie4_5_vl_moe_vision",
    "falcon_h1": "falcon_h1 nemotron_h",
    "kimi": "kimi_linear bailing_hybrid",
    "zamba": "zamba",
    "zamba2": "zamba2",
    "doge": "doge",
    "voxtral_text": "voxtral_realtime_text",
    "xlstm": "xlstm",
    "zaya": "zaya",
    "blt": "blt blt_local_encoder blt_local_decoder blt_global_transformer blt_patcher",
    "olmo": "olmo olmo2 olmo3 exaone4",
}
"""The causal language models: module, and the model types it describes."""

REMOTE: dict[str, str] = {
    "hub": "baichuan internlm minicpm orion",
    "internlm2": "internlm2",
    "qwen": "qwen",
    "chatglm": "chatglm",
    "deepseek_moe": "deepseek",
    "phi_msft": "phi-msft",
    "rwkv5": "rwkv5",
}
"""Types that the reference library does not know, since their code stands beside their files: held to published totals."""

ENCODERS: dict[str, str] = {
    "bert": "bert",
    "roberta": "roberta xlm-roberta camembert data2vec-text",
    "pre_norm": "roberta-prelayernorm xlm-roberta-xl megatron-bert",
    "distilbert": "distilbert",
    "albert": "albert",
    "electra": "electra",
    "ernie": "ernie",
    "deberta": "deberta",
    "deberta_v2": "deberta-v2",
    "mpnet": "mpnet",
    "modernbert": "modernbert modernbert-decoder",
    "nomic_bert": "nomic_bert jina_embeddings_v3",
    "esm": "esm",
    "layoutlm": "layoutlm lilt",
    "rembert": "rembert",
    "roformer": "roformer",
    "bert_generation": "bert-generation",
    "xmod": "xmod",
    "mobilebert": "mobilebert",
    "xlnet": "xlnet",
    "xlm": "xlm flaubert",
    "fnet": "fnet",
    "big_bird": "big_bird",
    "convbert": "convbert",
    "longformer": "longformer",
    "funnel": "funnel",
    "approximate": "nystromformer yoso mra",
    "markuplm": "markuplm",
    "splinter": "splinter",
    "squeezebert": "squeezebert",
    "luke": "luke",
    "eurobert": "eurobert ultrabert",
    "esmc": "esmc",
    "gte": "gte",
    "roc_bert": "roc_bert",
    "dpr": "dpr",
    "bros": "bros",
    "tapas": "tapas",
    "canine": "canine",
    "ibert": "ibert",
    "reformer": "reformer",
}
"""BERT and the encoders after it."""

TRANSLATORS = {
    "t5": "t5 mt5 umt5 pop2piano",
    "longt5": "longt5",
    "t5gemma": "t5gemma",
    "bart": "bart mbart plbart pegasus m2m_100 blenderbot blenderbot-small",
    "marian": "marian",
    "led": "led",
    "mvp": "mvp",
    "pegasus_x": "pegasus_x",
    "bigbird_pegasus": "bigbird_pegasus",
    "fsmt": "fsmt",
    "prophetnet": "prophetnet",
    "nllb_moe": "nllb-moe",
    "switch_transformers": "switch_transformers",
    "mamba": "mamba falcon_mamba jamba",
    "mamba2": "mamba2 bamba",
    "griffin": "recurrent_gemma",
    "rwkv": "rwkv",
    "lfm2": "lfm2 lfm2_moe lfm3",
    "whisper": "whisper qwen2_audio_encoder voxtral_encoder",
    "speech_to_text": "speech_to_text",
    "wav2vec2": "wav2vec2 hubert wavlm unispeech unispeech-sat data2vec-audio",
    "conformer": "wav2vec2-conformer",
    "wav2vec2_bert": "wav2vec2-bert",
    "sew": "sew sew-d",
    "speecht5": "speecht5",
    "moonshine": "moonshine",
    "spectrogram": "audio-spectrogram-transformer",
    "seamless": "seamless_m4t seamless_m4t_v2",
    "parakeet": """parakeet_encoder parakeet_ctc parakeet_rnnt parakeet_tdt lasr_encoder lasr_ctc nemotron_asr_streaming_encoder
        nemotron_asr_streaming nemotron3_5_asr""",
    "granite_speech5": "granite_speech5_encoder granite_speech5_ctc",
    "seanet": "encodec",
    "moonshine_streaming": "moonshine_streaming moonshine_streaming_encoder",
    "dia": "dia dia_encoder dia_decoder",
    "mimi": "mimi mimi_encoder mimi_decoder",
    "hifigan": "speecht5_hifigan fastspeech2_conformer_hifigan",
}

IMAGES: dict[str, str] = {
    "swin": "swin donut-swin maskformer-swin",
    "swinv2": "swinv2",
    "swin2sr": "swin2sr",
    "segformer": "segformer",
    "lcnet": "pp_lcnet pp_lcnet_v3",
    "hgnet": "hgnet_v2",
    "textnet": "textnet",
    "swiftformer": "swiftformer",
    "dinov3_convnext": "dinov3_convnext",
    "superpoint": "superpoint",
    "pvt": "pvt pvt_v2",
    "glpn": "glpn",
    "focalnet": "focalnet",
    "cvt": "cvt",
    "bit": "bit",
    "efficientnet": "efficientnet",
    "mobilevit": "mobilevit mobilevitv2",
    "mobilenet": "mobilenet_v1 mobilenet_v2",
    "regnet": "regnet",
    "poolformer": "poolformer",
    "resnet": "resnet rt_detr_resnet",
    "convnext": "convnext convnextv2",
    "vit": "vit deit vit_msn ijepa",
    "beit": "beit",
    "data2vec_vision": "data2vec-vision",
    "yolos": "yolos",
    "sam_vision": "sam_vision_model sam_hq_vision_model",
    "sam": "sam sam_hq",
    "vit_mae": "vit_mae pixio",
    "video": "vivit videomae",
    "timesformer": "timesformer",
    "vjepa2": "vjepa2",
    "vitdet": "vitdet",
    "mlcd": "mlcd mlcd_vision_model",
    "vitpose": "vitpose_backbone vitpose",
    "radio": "radio",
    "dpt": "dpt",
    "depth": "depth_anything prompt_depth_anything chmv2",
    "seggpt": "seggpt",
    "tips_vision": "tipsv2_vision_model",
    "sapiens2": "sapiens2",
    "videoprism": "videoprism_vision_model",
    "sam2_vision": "sam2_hiera_det_model sam2_vision_model",
    "sam2": "sam2",
    "levit": "levit",
    "hiera": "hiera",
    "dino": "dinov2 dinov2_with_registers",
    "dinov3": "dinov3_vit",
}
"""Vision transformers and convolutional networks."""

DETECTORS: dict[str, str] = {
    "detr": "detr",
    "deformable_detr": "deformable_detr",
    "table_transformer": "table-transformer",
    "conditional_detr": "conditional_detr",
    "rtdetr": "rt_detr rt_detr_v2",
    "dfine": "d_fine deimv2",
    "pp_doclayout": "pp_doclayout_v3",
    "lw_detr_vit": "lw_detr_vit",
    "lw_detr": "lw_detr",
    "rf_detr_dinov2": "rf_detr_dinov2",
    "rf_detr": "rf_detr",
    "superglue": "superglue",
    "lightglue": "lightglue",
    "sam3_vit": "sam3_vit_model sam3_vision_model",
    "sam3_detr": """sam3_detr_encoder sam3_detr_decoder sam3_mask_decoder sam3_lite_text_detr_encoder
        sam3_lite_text_detr_decoder sam3_lite_text_mask_decoder""",
    "maskformer": "maskformer",
    "mask2former": "mask2former",
    "oneformer": "oneformer",
    "upernet": "upernet",
    "grounding_dino": "grounding-dino mm-grounding-dino",
}
"""Detection and segmentation."""

TOGETHER: dict[str, str] = {
    "clip": "clip clip_text_model clip_vision_model metaclip_2 metaclip_2_text_model metaclip_2_vision_model",
    "blip": "blip blip_text_model blip_vision_model",
    "vilt": "vilt",
    "git": "git git_vision_model",
    "groupvit": "groupvit groupvit_text_model groupvit_vision_model",
    "layoutlmv3": "layoutlmv3",
    "dual_encoder": "vision-text-dual-encoder",
    "mgp_str": "mgp-str",
    "tipsv2": "tipsv2 tipsv2_text_model tipsv2_dpt",
    "pix2struct": "pix2struct pix2struct_text_model pix2struct_vision_model",
    "kosmos_vision": "kosmos-2 kosmos_2_vision_model kosmos-2.5 kosmos_2_5_vision_model",
    "flava": "flava flava_text_model flava_image_model flava_multimodal_model flava_image_codebook",
    "aimv2": "aimv2 aimv2_text_model aimv2_vision_model",
    "xclip": "xclip xclip_text_model xclip_vision_model",
    "visual_bert": "visual_bert",
    "lxmert": "lxmert",
    "align": "align align_text_model align_vision_model",
    "blip2": """blip-2 blip_2_qformer blip_2_vision_model instructblip instructblip_qformer instructblip_vision_model
        instructblipvideo instructblipvideo_qformer instructblipvideo_vision_model""",
    "clip_kin": """chinese_clip chinese_clip_text_model chinese_clip_vision_model altclip altclip_text_model
        altclip_vision_model""",
    "clipseg": "clipseg clipseg_text_model clipseg_vision_model",
    "owlvit": "owlvit owlvit_text_model owlvit_vision_model owlv2 owlv2_text_model owlv2_vision_model",
    "clap": "clap clap_text_model clap_audio_model",
    "siglip": "siglip siglip_text_model siglip_vision_model siglip2 siglip2_text_model siglip2_vision_model",
}
"""Text and images in two towers, or in one."""

SEEING: dict[str, str] = {
    "rag": "rag",
    "pairs": "encoder-decoder speech-encoder-decoder vision-encoder-decoder",
    "paligemma": "paligemma gemma3 shieldgemma2",
    "internvl": "internvl internvl_vision",
    "cohere_vision": "aya_vision cohere2_vision",
    "idefics": "idefics3 idefics3_vision smolvlm smolvlm_vision",
    "pixtral": "pixtral mistral3 lighton_ocr",
    "aligned": "deepseek_vl lfm2_vl",
    "florence2": "florence2 florence_vision",
    "hunyuan_vl": "hunyuan_vl hunyuan_vl_text hunyuan_vl_vision",
    "lfm3_vl": "lfm3_vl lfm3_vl_vision",
    "gemma4_vl": "gemma4 gemma4_unified",
    "gemma4_towers": "gemma4_vision gemma4_audio",
    "idefics2": "idefics2 idefics2_vision idefics2_perceiver",
    "janus": "janus janus_vision_model janus_vqgan",
    "ovis2": "ovis2 ovis2_vision",
    "flat_vision": "video_llama_3 video_llama_3_vision paddleocr_vl paddleocr_vl_text paddleocr_vl_vision",
    "glm_ocr": "glm_ocr glm_ocr_text glm_ocr_vision",
    "kimi_vl": "kimi_k25 kimi_k25_vision",
    "hybrid_vl": "deepseek_vl_hybrid",
    "modernvbert": "modernvbert",
    "retrieval": "colpali colqwen2 colmodernvbert",
    "got_ocr2": "got_ocr2 got_ocr2_vision pp_chart2table",
    "qianfan": "qianfan_ocr qianfan_ocr_vision",
    "exaone_vl": "exaone4_5 exaone4_5_vision",
    "fuyu": "fuyu",
    "hearing": "qwen2_audio qwen2_audio_encoder voxtral voxtral_encoder audioflamingo3 audioflamingo3_encoder",
    "granite_speech": "granite_speech granite_speech_encoder granite_speech_plus granite_speech_plus_encoder",
    "listening": "glmasr glmasr_encoder voxtral_realtime voxtral_realtime_encoder qwen3_asr qwen3_asr_encoder musicflamingo",
    "omni": """qwen2_5_omni qwen2_5_omni_thinker qwen2_5_omni_talker qwen2_5_omni_text qwen2_5_omni_audio_encoder
        qwen2_5_omni_vision_encoder""",
    "omni_moe": """qwen3_omni_moe_thinker qwen3_omni_moe_text qwen3_omni_moe_audio_encoder qwen3_omni_moe_vision_encoder
        qwen3_omni_moe_talker_code_predictor""",
    "omni_waves": "qwen2_5_omni_dit qwen2_5_omni_bigvgan qwen2_5_omni_token2wav",
    "music": "musicgen musicgen_melody",
    "voices": "csm kyutai_speech_to_text",
    "glm4v": "glm46v glm4v glm4v_text glm4v_vision glm4v_moe glm4v_moe_text glm4v_moe_vision",
    "llama4_vision": "llama4 llama4_vision_model",
    "mllama": "mllama mllama_text_model mllama_vision_model",
    "llava": "llava vipllava llava_next llava_next_video video_llava llava_onevision",
    "qwen_vl_moe": "qwen3_vl_moe qwen3_vl_moe_text qwen3_vl_moe_vision qwen3_5 qwen3_5_vision qwen3_5_moe qwen3_5_moe_vision",
    "qwen_vl": """qwen2_vl qwen2_vl_text qwen2_vl_vision qwen2_5_vl qwen2_5_vl_text qwen2_5_vl_vision qwen3_vl qwen3_vl_text
        qwen3_vl_vision""",
}
"""Language models that see or hear, and models composed of two others."""

OTHERS: dict[str, str] = {
    "time_series": "time_series_transformer",
    "informer": "informer",
    "timesfm": "timesfm",
    "timesfm2_5": "timesfm2_5",
    "patchtst": "patchtst",
    "patchtsmixer": "patchtsmixer",
    "autoformer": "autoformer",
}
"""Tables, time series and whatever else the reference library holds."""

MODULES: dict[str, str] = {
    **{model_type: module for module, types in ENCODERS.items() for model_type in types.split()},
    **{model_type: module for module, types in (DECODERS | REMOTE).items() for model_type in types.split()},
    **{model_type: module for module, types in TRANSLATORS.items() for model_type in types.split()},
    **{
        model_type: module
        for table in (IMAGES, DETECTORS, TOGETHER, SEEING, OTHERS)
        for module, types in table.items()
        for model_type in types.split()
    },
}
"""From model type to the module in this package whose ``FAMILIES`` holds it."""


def family(model_type: str) -> Family:
    """Return the family of a model type.

    Raises:
        UnknownArchitecture: No blueprint describes it; the text names the ways forward.

    >>> family("bert").base
    'BertModel'
    """
    known = _LOADED.get(model_type)
    if known is not None:
        return known
    module = MODULES.get(model_type)
    if module is None:
        hint = (
            did_you_mean(model_type, MODULES)
            or "weigh models lists those known; with torch and transformers installed, --via transformers counts any class"
        )
        raise UnknownArchitecture(f"no blueprint for {model_type!r}", key="model_type", value=model_type, hint=hint)
    from importlib import import_module

    found: Family = import_module(f"weighbridge.blueprints.{module}").FAMILIES[model_type]
    _LOADED[model_type] = found
    return found


_LOADED: dict[str, Family] = {}


def is_remote(model_type: str) -> bool:
    """Say whether a model type's code stands beside its files on the Hub, and not in the reference library.

    >>> is_remote("baichuan"), is_remote("llama")
    (True, False)
    """
    return model_type in _REMOTE_TYPES


_REMOTE_TYPES = frozenset(model_type for types in REMOTE.values() for model_type in types.split())


def model_type_of(class_name: str) -> str | None:
    """Return the model type whose family has *class_name*, if one does.

    >>> model_type_of("BertForMaskedLM")
    'bert'
    """
    return next((model_type for model_type in MODULES if class_name in family(model_type).classes), None)
