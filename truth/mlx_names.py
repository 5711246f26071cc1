"""What brings MLX's names and shapes to those of published files, and configs to what MLX reads, for ``truth/mlx_models.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Shapes: TypeAlias = dict[str, list[int]]


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


MOONDREAM_EXPERTS = {
    "num_experts": "num_experts",
    "start_layer": "moe_start_layer",
    "experts_per_token": "num_experts_per_tok",
    "expert_inner_dim": "moe_intermediate_size",
}


def for_moondream3(raw: dict[str, Any]) -> dict[str, Any]:
    """State the sizes of both halves and of the experts under MLX's names."""
    found = for_moondream(raw)
    text = found["text_config"]
    moe = {MOONDREAM_EXPERTS[key]: value for key, value in text.pop("moe").items()}
    return found | {"text_config": text | moe | {"head_dim": text["hidden_size"] // text["num_attention_heads"]}}


def renamed_moondream3(rows: Shapes) -> Shapes:
    """Return the names that Moondream 3's files have."""
    pairs = (("text.model.wte.weight", "text.wte"), ("text.model.", "text."), ("vision.encoder.", "vision."))
    return {f"model.{name}": shape for name, shape in rename_each(*pairs)(rows).items()}


def renamed_klear(rows: Shapes) -> Shapes:
    """Take experts one by one; corrections of scores are buffers in the files' code."""
    found = as_published({name.replace(".experts.", ".switch_mlp."): shape for name, shape in rows.items()})
    return {name: shape for name, shape in found.items() if not name.endswith(".expert_bias")}


def renamed_longcat(rows: Shapes) -> Shapes:
    """Take experts one by one, and the halves of the map out of the latent as one; what corrects the router is a buffer."""
    found: Shapes = {}
    for name, shape in as_published(rows).items():
        if name.endswith(".embed_q.weight"):
            heads, rank, plain = shape
            wide = rows[name.replace("embed_q", "unembed_out")][1]
            found[name.replace("embed_q", "kv_b_proj")] = [heads * (plain + wide), rank]
        elif not name.endswith((".unembed_out.weight", ".e_score_correction_bias")):
            found[name] = shape
    return found


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
