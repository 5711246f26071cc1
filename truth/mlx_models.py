"""Classes of mlx-lm and mlx-vlm, held to ours: models whose own code stands beside their files; needs mlx-lm 0.32.2 and mlx-vlm 0.7.10.

PYTHONPATH=src:. python -m truth.mlx_models [TYPE...]  # random configs against ours
PYTHONPATH=src:. python -m truth.mlx_models --record   # write tests/truth/packages/mlx.json

MLX keeps the channels of a convolution last, all experts of a layer in one tensor, and some modules under other names: what it has is
brought to the files' names and shapes, by the way in which its classes read these files.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from truth.packages import print_differences, tensors_of
from weighbridge import WeighbridgeError, model

RECORD = Path(__file__).parent.parent / "tests" / "truth" / "packages" / "mlx.json"
Shapes = dict[str, list[int]]


def heads(rng: random.Random, width: int = 8) -> dict[str, Any]:
    """Draw heads, grouped or not."""
    groups = rng.choice((1, 2))
    many = groups * rng.randint(1, 3)
    return {"hidden_size": many * width, "num_attention_heads": many, "num_key_value_heads": many // groups}


def draw_phi3small(rng: random.Random) -> dict[str, Any]:
    """Draw a small Phi-3-small."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "ff_intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    return raw | {"dense_attention_every_n_layers": 2, "gegelu_limit": 20.0, "layer_norm_epsilon": 1e-5}


def draw_hunyuan(rng: random.Random) -> dict[str, Any]:
    """Draw a small Hunyuan-Large, tied, as MLX always has it."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 5), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    raw |= {
        "num_experts": rng.choice((1, 3, 4)),
        "moe_topk": 1,
        "num_shared_expert": rng.randint(1, 2),
        "use_mixed_mlp_moe": rng.random() < 0.7,
    }
    raw |= {"use_qk_norm": rng.random() < 0.5, "use_cla": rng.random() < 0.7, "cla_share_factor": rng.randint(1, 3), "rms_norm_eps": 1e-5}
    raw |= {"attention_bias": rng.random() < 0.4, "moe_intermediate_size": rng.choice((None, 7)), "rope_theta": 1e4}
    return raw | {"tie_word_embeddings": True, "rope_scaling": {"type": "dynamic", "factor": 1.0, "alpha": 10.0}}


def draw_internvl_chat(rng: random.Random) -> dict[str, Any]:
    """Draw a small InternVL before Qwen2 or Qwen3, the language models that MLX has for it."""
    kind = rng.choice(("qwen2", "qwen3"))
    text = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    text |= {"model_type": kind, "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "head_dim": 8, "attention_bias": kind == "qwen2"}
    many = rng.randint(1, 3)
    vision = {"model_type": "intern_vit_6b", "hidden_size": 8 * many, "num_attention_heads": many, "num_hidden_layers": rng.randint(1, 3)}
    vision |= {"intermediate_size": rng.randint(5, 40), "image_size": 28, "patch_size": 7, "qkv_bias": rng.random() < 0.5}
    vision |= {"norm_type": rng.choice(("layer_norm", "rms_norm")), "qk_normalization": rng.random() < 0.5}
    return {"llm_config": text, "vision_config": vision, "downsample_ratio": 0.5}


def draw_kimi_vl(rng: random.Random) -> dict[str, Any]:
    """Draw a small Kimi-VL; MLX has its table of positions square."""
    many = rng.randint(1, 3)
    vision = {"model_type": "moonvit", "hidden_size": 8 * many, "num_attention_heads": many, "num_hidden_layers": rng.randint(1, 3)}
    vision |= {"intermediate_size": rng.randint(5, 40), "patch_size": 7, "init_pos_emb_height": 5, "init_pos_emb_width": 5}
    vision |= {"merge_kernel_size": [2, 2]}
    text = {
        "model_type": "deepseek_v3",
        "hidden_size": 24,
        "num_attention_heads": rng.randint(1, 3),
        "num_hidden_layers": rng.randint(1, 4),
    }
    text |= {
        "intermediate_size": rng.randint(5, 40),
        "moe_intermediate_size": 6,
        "vocab_size": 90,
        "n_routed_experts": 4,
        "n_shared_experts": 2,
    }
    text |= {"num_experts_per_tok": 2, "kv_lora_rank": 5, "q_lora_rank": rng.choice((None, 7)), "qk_rope_head_dim": 4, "v_head_dim": 6}
    text |= {"qk_nope_head_dim": 4, "first_k_dense_replace": rng.randint(0, 2), "num_key_value_heads": 1, "n_group": 1, "topk_group": 1}
    return {"text_config": text, "vision_config": vision}


def draw_molmo(rng: random.Random) -> dict[str, Any]:
    """Draw a small Molmo; its tower is the same in all."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": 2 * rng.randint(5, 20), "vocab_size": 90}
    return raw | {"embedding_size": rng.choice((90, 96)), "qkv_bias": True}


def draw_deepseek_vl_v2(rng: random.Random) -> dict[str, Any]:
    """Draw a small DeepSeek-VL2."""
    text = draw_kimi_vl(rng)["text_config"] | {"model_type": "deepseek_v2", "topk_method": rng.choice(("greedy", "noaux_tc"))}
    text |= {
        "num_key_value_heads": text["num_attention_heads"],
        "hidden_size": 8 * text["num_attention_heads"],
        "use_mla": rng.random() < 0.5,
    }
    if not text["use_mla"]:
        text |= {"kv_lora_rank": None, "q_lora_rank": None, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0}
    many = rng.randint(1, 3)
    vision = {"model_type": "vision", "width": 8 * many, "num_attention_heads": many, "layers": rng.randint(1, 3), "patch_size": 7}
    vision |= {"image_size": 28, "mlp_ratio": rng.choice((2, 3.7362))}
    kind = rng.choice(("downsample_mlp_gelu", "mlp_gelu", "linear"))
    joint = {"projector_type": kind, "input_dim": vision["width"], "n_embed": text["hidden_size"], "depth": rng.randint(2, 4)}
    joint |= {"mlp_ratio": rng.randint(1, 2), "downsample_ratio": rng.randint(1, 3), "token_pooling": rng.random() < 0.3}
    return {"language_config": text, "vision_config": vision, "projector_config": joint}


def draw_bailing(rng: random.Random) -> dict[str, Any]:
    """Draw a small Ling; MLX gives experts biases too, where the code has one behind attention alone."""
    raw = heads(rng) | {"num_hidden_layers": rng.randint(1, 4), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    raw |= {"num_experts": 4, "num_shared_experts": rng.randint(1, 2), "num_experts_per_tok": 2, "moe_intermediate_size": rng.randint(3, 9)}
    raw |= {"first_k_dense_replace": rng.randint(0, 2), "use_qkv_bias": rng.random() < 0.5, "use_qk_norm": rng.random() < 0.5}
    raw |= {"max_position_embeddings": 64, "norm_topk_prob": True, "rms_norm_eps": 1e-6, "rope_theta": 1e4}
    return raw | {"tie_word_embeddings": rng.random() < 0.3}


def draw_llada2(rng: random.Random) -> dict[str, Any]:
    """Draw a small LLaDA 2, which is Ling's layers with a corrected router."""
    return draw_bailing(rng) | {"use_bias": rng.random() < 0.5, "rope_theta": 1e4}


def draw_moondream(rng: random.Random) -> dict[str, Any]:
    """Draw a small Moondream 2; MLX has no maps between places and words."""
    many, inner = rng.randint(1, 3), rng.randint(5, 40)
    groups = rng.choice((1, 2))
    text = {"dim": 8 * many * groups, "n_heads": many * groups, "n_kv_heads": many, "n_layers": rng.randint(1, 3), "vocab_size": 90}
    width = 8 * rng.randint(1, 3)
    vision = {"enc_dim": width, "enc_n_heads": width // 8, "enc_patch_size": 7, "enc_n_layers": rng.randint(1, 3), "crop_size": 28}
    vision |= {"enc_ff_dim": rng.randint(5, 40), "proj_out_dim": text["dim"], "proj_inner_dim": rng.randint(5, 40)}
    return {"config": {"text": text | {"ff_dim": inner}, "vision": vision, "region": {"dim": text["dim"]}}}


def draw_dots_ocr(rng: random.Random) -> dict[str, Any]:
    """Draw a small dots.ocr."""
    text = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    many = rng.randint(1, 3)
    vision = {"embed_dim": 8 * many, "num_attention_heads": many, "hidden_size": text["hidden_size"], "patch_size": 7}
    vision |= {"intermediate_size": rng.randint(5, 40), "num_hidden_layers": rng.randint(1, 3), "use_bias": rng.random() < 0.5}
    vision |= {"post_norm": rng.random() < 0.5, "spatial_merge_size": rng.randint(1, 3)}
    return text | {"rms_norm_eps": 1e-6, "attention_bias": True, "tie_word_embeddings": False, "vision_config": vision}


def draw_multi_modality(rng: random.Random) -> dict[str, Any]:
    """Draw DeepSeek-VL with a small language model; its towers have one size each."""
    text = heads(rng) | {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    large = {"model_name": "siglip_large_patch16_384", "image_size": 384, "select_layer": -1, "output_dim": 1024}
    tower, kind, params = "CLIPVisionTower", "mlp_gelu", large
    if rng.random() < 0.5:
        tall = {"model_name": "sam_b_downsample", "image_size": 1024, "output_dim": 1024, "select_layer": -1}
        tower, kind, params = "HybridVisionTower", "low_high_hybrid_split_mlp_gelu", {"high_res_cfg": tall, "low_res_cfg": large}
    joint = {"projector_type": kind, "depth": rng.randint(1, 3), "input_dim": 1024, "n_embed": text["hidden_size"]}
    return {
        "vision_config": {"cls": tower, "model_type": "vision", "params": params},
        "aligner_config": {"cls": "MlpProjector", "model_type": "aligner", "params": joint},
        "language_config": text | {"model_type": "llama", "rms_norm_eps": 1e-6},
    }


def draw_deepseek_ocr(rng: random.Random) -> dict[str, Any]:
    """Draw DeepSeek-OCR with a small language model; its towers have one size each."""
    text = heads(rng) | {"num_hidden_layers": rng.randint(1, 4), "intermediate_size": rng.randint(5, 40), "vocab_size": 90}
    text |= {"moe_intermediate_size": 6, "n_routed_experts": 4, "n_shared_experts": rng.randint(1, 2), "num_experts_per_tok": 2}
    text |= {"first_k_dense_replace": rng.randint(0, 2), "topk_method": "greedy", "use_mla": False, "kv_lora_rank": None}
    text |= {
        "q_lora_rank": None,
        "qk_nope_head_dim": 0,
        "qk_rope_head_dim": 0,
        "v_head_dim": 0,
        "num_key_value_heads": text["num_attention_heads"],
    }
    joint = {"projector_type": "linear", "input_dim": rng.choice((896, 2048)), "n_embed": text["hidden_size"]}
    return text | {"language_config": text, "projector_config": joint, "vision_config": {"model_type": "vision"}}


def draw_minicpmo(rng: random.Random) -> dict[str, Any]:
    """Draw a small MiniCPM-o 4.5; its resampler has heads of 128."""
    groups = rng.choice((1, 2))
    text: dict[str, Any] = {
        "hidden_size": 128 * rng.randint(1, 2),
        "num_attention_heads": 2 * groups,
        "num_key_value_heads": 2,
        "head_dim": 8,
    }
    text |= {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "vocab_size": 90, "rope_theta": 1e4}
    text |= {"rms_norm_eps": 1e-6, "max_position_embeddings": 64, "tie_word_embeddings": False, "attention_bias": False}
    many = rng.randint(1, 3)
    vision = {"hidden_size": 8 * many, "num_attention_heads": many, "num_hidden_layers": rng.randint(1, 3), "patch_size": 7}
    vision |= {"intermediate_size": rng.randint(5, 40), "image_size": 28}
    audio = {"d_model": 16, "encoder_layers": rng.randint(1, 3), "encoder_attention_heads": 2, "encoder_ffn_dim": 4 * rng.randint(2, 9)}
    audio |= {"num_mel_bins": rng.choice((80, 12)), "max_source_positions": rng.randint(5, 20)}
    kind = rng.choice(("mlp", "default", "minicpm"))
    tts: dict[str, Any] = {
        "llm_dim": text["hidden_size"],
        "hidden_size": 16,
        "num_attention_heads": 2,
        "num_key_value_heads": rng.choice((1, 2)),
    }
    tts |= {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(5, 40), "num_audio_tokens": 12, "num_text_tokens": 30}
    tts |= {"num_vq": rng.randint(1, 3), "projector_type": kind, "backbone_vocab_size": 20, "llm_intermediate_size": rng.randint(3, 9)}
    raw = text | {"version": "4.5", "query_num": rng.randint(1, 9), "drop_vision_last_layer": False, "vision_config": vision}
    return raw | {"audio_config": audio, "tts_config": tts, "init_audio": rng.random() < 0.8, "init_tts": rng.random() < 0.8}


def as_published(rows: Shapes) -> Shapes:
    """Take experts that stand together one by one."""
    found: Shapes = {}
    for name, shape in rows.items():
        if ".switch_mlp." in name:
            found |= {name.replace(".switch_mlp.", f".experts.{index}."): shape[1:] for index in range(shape[0])}
        else:
            found[name] = shape
    return found


def rename_each(*pairs: tuple[str, str], channels_last: str | tuple[str, ...] = (), fuse: bool = False) -> Callable[[Shapes], Shapes]:
    """Return what replaces each first word by its second, and puts the channels of convolutions where the files have them."""

    def rename(rows: Shapes) -> Shapes:
        found: Shapes = {}
        for name, shape in (fuse_experts(rows) if fuse else as_published(rows)).items():
            for old, new in pairs:
                name = name.replace(old, new)
            last = len(shape) == 4 and name.endswith(channels_last)
            found[name] = [shape[0], shape[3], *shape[1:3]] if last else shape
        return found

    return rename


def renamed_llada2(rows: Shapes) -> Shapes:
    """Name LLaDA 2's tensors as the files do; corrections of scores are buffers there."""
    return {name: shape for name, shape in rename_each(("language_model.", ""))(rows).items() if not name.endswith(".expert_bias")}


def fuse_experts(rows: Shapes) -> Shapes:
    """Take gate and up projections of experts as one tensor, as the library has them; corrections of scores are buffers there."""
    found: Shapes = {}
    for name, shape in rows.items():
        if name.endswith(".switch_mlp.gate_proj.weight"):
            found[name.replace("switch_mlp.gate_proj.weight", "experts.gate_up_proj")] = [shape[0], 2 * shape[1], shape[2]]
        elif name.endswith(".switch_mlp.down_proj.weight"):
            found[name.replace("switch_mlp.down_proj.weight", "experts.down_proj")] = shape
        elif not name.endswith((".switch_mlp.up_proj.weight", ".e_score_correction_bias")):
            found[name] = shape
    return found


def for_molmo(raw: dict[str, Any]) -> dict[str, Any]:
    """State for MLX what Molmo's flat config says of each half."""
    text = {"d_model": raw["hidden_size"], "n_heads": raw["num_attention_heads"], "n_kv_heads": raw["num_key_value_heads"]}
    text |= {"n_layers": raw["num_hidden_layers"], "mlp_hidden_size": raw["intermediate_size"], "vocab_size": raw["vocab_size"]}
    text |= {"embedding_size": raw["embedding_size"]}
    return {"text_config": text, "vision_config": {"d_model": raw["hidden_size"], "hidden_size": raw["intermediate_size"] // 2}}


def for_kimi(raw: dict[str, Any]) -> dict[str, Any]:
    """State the tower's sizes under MLX's names too."""
    vision = raw["vision_config"]
    more = {"embed_dim": vision["hidden_size"], "num_heads": vision["num_attention_heads"], "depth": vision["num_hidden_layers"]}
    return raw | {"vision_config": vision | more}


MOONDREAM_TEXT = {
    "dim": "hidden_size",
    "ff_dim": "intermediate_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
}
MOONDREAM_VISION = {
    "enc_dim": "hidden_size",
    "enc_patch_size": "patch_size",
    "enc_n_layers": "num_hidden_layers",
    "enc_ff_dim": "intermediate_size",
    "enc_n_heads": "num_attention_heads",
}


def for_moondream(raw: dict[str, Any]) -> dict[str, Any]:
    """State the sizes of both halves under MLX's names."""
    inside = raw["config"]
    text = {MOONDREAM_TEXT.get(key, key): value for key, value in inside["text"].items()}
    return {"text_config": text, "vision_config": {MOONDREAM_VISION.get(key, key): value for key, value in inside["vision"].items()}}


def renamed_moondream(rows: Shapes) -> Shapes:
    """Return the names that Moondream's files have."""
    pairs = (
        ("text.model.embed_tokens.weight", "text.wte"),
        ("text.model.layers.", "text.blocks."),
        ("text.model.post_ln.", "text.post_ln."),
        ("vision.encoder.", "vision."),
    )
    return {f"model.{name}": shape for name, shape in rename_each(*pairs)(rows).items()}


def renamed_minicpmo(rows: Shapes) -> Shapes:
    """Return the names and shapes that MiniCPM-o's files have: queries, keys and values in one, weights as a length and a direction."""
    pairs = (
        ("language_model.", "llm."),
        ("vision_tower.", "vpm."),
        ("audio_tower.", "apm."),
        ("resampler.attn.q_proj.", "resampler.attn.in_proj_"),
    )
    found = rename_each(*pairs, channels_last="patch_embedding.weight")(rows)
    for name, shape in list(found.items()):
        if name.startswith("resampler.attn.in_proj_"):
            found[name] = [3 * shape[0], *shape[1:]]
        elif name.startswith(("resampler.attn.k_proj.", "resampler.attn.v_proj.", "resampler.pos_embed")):
            del found[name]
        elif name.startswith("apm.conv") and len(shape) == 3:
            found[name] = [shape[0], shape[2], shape[1]]
        elif name.startswith("tts.head_code."):
            stem = name.removesuffix("weight") + "parametrizations.weight.original"
            found |= {stem + "0": [shape[0], 1], stem + "1": shape}
            del found[name]
    return found


def for_minicpmo(raw: dict[str, Any]) -> dict[str, Any]:
    """State the text's type, which MLX takes of the whole."""
    return raw | {"model_type": "minicpmo"}


def for_multi_modality(raw: dict[str, Any]) -> dict[str, Any]:
    """State the text under MLX's name."""
    return {"text_config" if key == "language_config" else key: value for key, value in raw.items()}


def for_deepseek_ocr(raw: dict[str, Any]) -> dict[str, Any]:
    """Leave the text's keys where MLX reads them."""
    text = raw["language_config"]
    return {key: value for key, value in raw.items() if key not in text} | {"language_config": text | {"model_type": "deepseek_v2"}}


def renamed_deepseek_ocr(rows: Shapes) -> Shapes:
    """Return the names that the files of DeepSeek-OCR have."""
    pairs = (
        ("language_model.lm_head", "lm_head"),
        ("language_model.model.", "model."),
        ("vision_model.qwen2_encoder.query_768", "qwen2_model.query_768.weight"),
        ("vision_model.qwen2_encoder.query_1024", "qwen2_model.query_1024.weight"),
        ("vision_model.qwen2_encoder.", "qwen2_model.model.model."),
        ("view_separator", "view_seperator"),
    )
    convolutions = "proj.weight", "neck.0.weight", "neck.2.weight", "net_2.weight", "net_3.weight", "patch_embedding.weight"
    found = rename_each(*pairs, channels_last=convolutions)(rows)
    return {name if name.startswith(("model.", "lm_head")) else f"model.{name}": shape for name, shape in found.items()}


def for_deepseek(raw: dict[str, Any]) -> dict[str, Any]:
    """State the width of the tower's MLP, which its ratio gives."""
    vision = raw["vision_config"]
    return raw | {"vision_config": vision | {"intermediate_size": int(vision["width"] * vision["mlp_ratio"])}}


def renamed_deepseek(rows: Shapes) -> Shapes:
    """Leave a linear projector without a number, as it is no list."""
    return rename_each(
        ("vision.vision_tower.", "vision."),
        ("view_separator", "view_seperator"),
        ("language_model.", "language."),
        channels_last="patch_embed.proj.weight",
    )(rows)


class Case(NamedTuple):
    """One model type: MLX's module, the class that is ours, random configs, what brings names and, for MLX, configs to the other side; what MLX lacks."""

    module: str
    name: str
    draw: Callable[[random.Random], dict[str, Any]]
    rename: Callable[[Shapes], Shapes] = as_published
    restate: Callable[[dict[str, Any]], dict[str, Any]] = dict
    lacking: tuple[str, ...] = ()


INTERNVL = (("language_model.model.lm_head", "language_model.lm_head"),)
MOLMO = (("language_model.model.", "model.transformer."), ("vision_tower.", "model.vision_backbone."))
KIMI = tuple((f"vision_tower.{name}", f"vision_tower.encoder.{name}") for name in ("blocks.", "final_layernorm."))
DOTS = (("language_model.model.lm_head", "lm_head"), ("language_model.", ""))
CASES = {
    "phi3small": Case("mlx_lm.models.phi3small", "Phi3SmallForCausalLM", draw_phi3small),
    "hunyuan": Case("mlx_lm.models.hunyuan", "HunYuanForCausalLM", draw_hunyuan),
    "internvl_chat": Case(
        "mlx_vlm.models.internvl_chat",
        "InternVLChatModel",
        draw_internvl_chat,
        rename_each(*INTERNVL, channels_last="patch_embedding.weight"),
    ),
    "molmo": Case("mlx_vlm.models.molmo", "MolmoForCausalLM", draw_molmo, rename_each(*MOLMO), for_molmo),
    "kimi_vl": Case(
        "mlx_vlm.models.kimi_vl",
        "KimiVLForConditionalGeneration",
        draw_kimi_vl,
        rename_each(*KIMI, (".attn.wqkv", ".wqkv"), (".attn.wo", ".wo"), channels_last="embed.proj.weight", fuse=True),
        for_kimi,
    ),
    "bailing_moe": Case("mlx_lm.models.bailing_moe", "BailingMoeForCausalLM", draw_bailing, rename_each(("gate.gate_proj.", "gate."))),
    "llada2_moe": Case("mlx_vlm.models.llada2_moe", "LLaDA2MoeModelLM", draw_llada2, renamed_llada2),
    "moondream1": Case("mlx_vlm.models.moondream2", "HfMoondream", draw_moondream, renamed_moondream, for_moondream, ("model.region.",)),
    "dots_ocr": Case(
        "mlx_vlm.models.dots_ocr",
        "DotsOCRForCausalLM",
        draw_dots_ocr,
        rename_each(*DOTS, (".merger.mlp.layers.", ".merger.mlp."), channels_last="patchifier.proj.weight"),
    ),
    "multi_modality": Case(
        "mlx_vlm.models.multi_modality",
        "MultiModalityCausalLM",
        draw_multi_modality,
        rename_each(*INTERNVL, channels_last=("proj.weight", ".0.weight", ".2.weight", ".1.weight")),
        for_multi_modality,
    ),
    "deepseek_ocr": Case("mlx_vlm.models.deepseekocr", "DeepseekOCRForCausalLM", draw_deepseek_ocr, renamed_deepseek_ocr, for_deepseek_ocr),
    "deepseek_ocr_2": Case(
        "mlx_vlm.models.deepseekocr_2", "DeepseekOCR2ForCausalLM", draw_deepseek_ocr, renamed_deepseek_ocr, for_deepseek_ocr
    ),
    "minicpmo": Case("mlx_vlm.models.minicpmo", "MiniCPMO", draw_minicpmo, renamed_minicpmo, for_minicpmo),
    "deepseek_vl_v2": Case("mlx_vlm.models.deepseek_vl_v2", "DeepseekVLV2ForCausalLM", draw_deepseek_vl_v2, renamed_deepseek, for_deepseek),
}


def theirs(model_type: str, raw: dict[str, Any]) -> Shapes:
    """Return the names and shapes that MLX's class has, as the published files have them."""
    case = CASES[model_type]
    module = import_module(case.module)
    arguments = getattr(module, "ModelArgs", None) or module.ModelConfig
    built = module.Model(configure(arguments, case.restate(json.loads(json.dumps(raw)))))
    flat = import_module("mlx.utils").tree_flatten(built.parameters())
    return case.rename({name: list(value.shape) for name, value in flat})


def configure(arguments: Any, raw: dict[str, Any]) -> Any:
    """Make MLX's config, whose sub-configs some classes leave as they are given."""
    sub = import_module(arguments.__module__)
    if "llm_config" in raw:
        raw = {("text_config" if key == "llm_config" else key): value for key, value in raw.items()}
    found = arguments.from_dict(raw)
    for key, name in (("text_config", "TextConfig"), ("vision_config", "VisionConfig"), ("projector_config", "ProjectorConfig")):
        if isinstance(getattr(found, key, None), dict):
            setattr(found, key, getattr(sub, name).from_dict(getattr(found, key)))
    return found


def ours(raw: dict[str, Any]) -> Shapes:
    """Return ours without the second name of what is tied."""
    found, lacking = model(raw), CASES[raw["model_type"]].lacking
    tied = {row.name for row in found.tensors() if row.tied_to is not None}
    return {name: shape for name, shape in tensors_of(found).items() if name not in tied and not name.startswith(lacking)}


def cases(count: int, seed: int) -> list[dict[str, Any]]:
    """Return random configs, as many of each type."""
    rng = random.Random(seed)
    named = ((name, case) for name, case in CASES.items() for _ in range(count))
    return [{"model_type": name, "architectures": [case.name], **case.draw(rng)} for name, case in named]


def compare_models(count: int = 40, seed: int = 20261128, only: list[str] | None = None) -> int:
    """Compare names and shapes of random configs; return 1 if anything differs."""
    same = wrong = 0
    for raw in cases(count, seed):
        if only and raw["model_type"] not in only:
            continue
        left = theirs(raw["model_type"], raw)
        try:
            right = ours(raw)
        except WeighbridgeError as error:
            wrong += 1
            print(f"{error}: {json.dumps(raw)}")
            continue
        if right == left:
            same += 1
        else:
            wrong += 1
            print_differences(json.dumps(raw), right, left)
    print(f"{same} agree tensor for tensor; {wrong} differ")
    return 1 if wrong else 0


def record(count: int = 2, seed: int = 20261128) -> int:
    """Write the tensors of random configs."""
    drawn = [
        {"config": raw, "tensors": theirs(raw["model_type"], raw), "lacking": CASES[raw["model_type"]].lacking}
        for raw in cases(count, seed)
    ]
    RECORD.write_text(json.dumps({"packages": "mlx-lm 0.32.2, mlx-vlm 0.7.10", "seed": seed, "cases": drawn}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(record() if "--record" in sys.argv else compare_models(only=sys.argv[1:]))
