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

from truth import mlx_draws as draws
from truth import mlx_names as names
from truth import mlx_text_draws as text_draws
from truth.mlx_names import Shapes, rename_each
from truth.packages import print_differences, tensors_of
from weighbridge import WeighbridgeError, model

RECORD = Path(__file__).parent.parent / "tests" / "truth" / "packages" / "mlx.json"


class Case(NamedTuple):
    """One model type: MLX's module, the class that is ours, random configs, what brings names and, for MLX, configs to the other side; what MLX lacks."""

    module: str
    name: str
    draw: Callable[[random.Random], dict[str, Any]]
    rename: Callable[[Shapes], Shapes] = names.as_published
    restate: Callable[[dict[str, Any]], dict[str, Any]] = dict
    lacking: tuple[str, ...] = ()


INTERNVL = (("language_model.model.lm_head", "language_model.lm_head"),)
MOLMO = (("language_model.model.", "model.transformer."), ("vision_tower.", "model.vision_backbone."))
KIMI = tuple((f"vision_tower.{name}", f"vision_tower.encoder.{name}") for name in ("blocks.", "final_layernorm."))
DOTS = (("language_model.model.lm_head", "lm_head"), ("language_model.", ""))
CASES = {
    "phi3small": Case("mlx_lm.models.phi3small", "Phi3SmallForCausalLM", draws.draw_phi3small),
    "hunyuan": Case("mlx_lm.models.hunyuan", "HunYuanForCausalLM", draws.draw_hunyuan),
    "internvl_chat": Case(
        "mlx_vlm.models.internvl_chat",
        "InternVLChatModel",
        draws.draw_internvl_chat,
        rename_each(*INTERNVL, channels_last="patch_embedding.weight"),
    ),
    "molmo": Case("mlx_vlm.models.molmo", "MolmoForCausalLM", draws.draw_molmo, rename_each(*MOLMO), names.for_molmo),
    "kimi_vl": Case(
        "mlx_vlm.models.kimi_vl",
        "KimiVLForConditionalGeneration",
        draws.draw_kimi_vl,
        rename_each(*KIMI, (".attn.wqkv", ".wqkv"), (".attn.wo", ".wo"), channels_last="embed.proj.weight", fuse=True),
        names.for_kimi,
    ),
    "bailing_moe": Case(
        "mlx_lm.models.bailing_moe", "BailingMoeForCausalLM", draws.draw_bailing, rename_each(("gate.gate_proj.", "gate."))
    ),
    "llada2_moe": Case("mlx_vlm.models.llada2_moe", "LLaDA2MoeModelLM", draws.draw_llada2, names.renamed_llada2),
    "moondream1": Case(
        "mlx_vlm.models.moondream2", "HfMoondream", draws.draw_moondream, names.renamed_moondream, names.for_moondream, ("model.region.",)
    ),
    "dots_ocr": Case(
        "mlx_vlm.models.dots_ocr",
        "DotsOCRForCausalLM",
        draws.draw_dots_ocr,
        rename_each(*DOTS, (".merger.mlp.layers.", ".merger.mlp."), channels_last="patchifier.proj.weight"),
    ),
    "multi_modality": Case(
        "mlx_vlm.models.multi_modality",
        "MultiModalityCausalLM",
        draws.draw_multi_modality,
        rename_each(*INTERNVL, channels_last=("proj.weight", ".0.weight", ".2.weight", ".1.weight")),
        names.for_multi_modality,
    ),
    "deepseek_ocr": Case(
        "mlx_vlm.models.deepseekocr", "DeepseekOCRForCausalLM", draws.draw_deepseek_ocr, names.renamed_deepseek_ocr, names.for_deepseek_ocr
    ),
    "deepseek_ocr_2": Case(
        "mlx_vlm.models.deepseekocr_2",
        "DeepseekOCR2ForCausalLM",
        draws.draw_deepseek_ocr,
        names.renamed_deepseek_ocr,
        names.for_deepseek_ocr,
    ),
    "minicpmo": Case("mlx_vlm.models.minicpmo", "MiniCPMO", draws.draw_minicpmo, names.renamed_minicpmo, names.for_minicpmo),
    "deepseek_vl_v2": Case(
        "mlx_vlm.models.deepseek_vl_v2", "DeepseekVLV2ForCausalLM", draws.draw_deepseek_vl_v2, names.renamed_deepseek, names.for_deepseek
    ),
    "telechat3": Case("mlx_lm.models.telechat3", "TeleChat3ForCausalLM", text_draws.draw_llama),
    "nanbeige": Case("mlx_lm.models.nanbeige", "NanbeigeForCausalLM", text_draws.draw_nanbeige),
    "iquestloopcoder": Case("mlx_lm.models.iquestloopcoder", "IQuestLoopCoderForCausalLM", text_draws.draw_loop_coder),
    "plamo": Case("mlx_lm.models.plamo", "PlamoForCausalLM", text_draws.draw_plamo),
    "plamo3": Case("mlx_lm.models.plamo3", "Plamo3ForCausalLM", text_draws.draw_plamo3),
    "youtu_llm": Case("mlx_lm.models.youtu_llm", "YoutuForCausalLM", text_draws.draw_youtu),
    "Klear": Case("mlx_lm.models.Klear", "KlearMoeForCausalLM", text_draws.draw_klear, names.renamed_klear),
    "baichuan_m1": Case("mlx_lm.models.baichuan_m1", "BaichuanM1ForCausalLM", text_draws.draw_baichuan_m1),
    "longcat_flash_ngram": Case(
        "mlx_lm.models.longcat_flash_ngram", "LongcatFlashNgramForCausalLM", text_draws.draw_longcat_ngram, names.renamed_longcat
    ),
    "moondream3": Case(
        "mlx_vlm.models.moondream3",
        "HfMoondream",
        draws.draw_moondream3,
        names.renamed_moondream3,
        names.for_moondream3,
        ("model.region.",),
    ),
    "k2_horizon": Case(
        "mlx_vlm.models.k2_horizon", "K2HorizonForCausalLM", text_draws.draw_k2_horizon, rename_each(("language_model.", ""))
    ),
    "spark2_5": Case("mlx_lm.models.spark2_5", "Spark2_5ForCausalLM", text_draws.draw_spark),
    "unlimited-ocr": Case(
        "mlx_vlm.models.unlimited_ocr",
        "UnlimitedOCRForCausalLM",
        draws.draw_deepseek_ocr,
        names.renamed_deepseek_ocr,
        names.for_deepseek_ocr,
    ),
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
