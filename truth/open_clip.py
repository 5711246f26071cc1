"""OpenCLIP's own classes, written down and held to ours; needs torch, transformers, torchvision, timm and open_clip_torch (3.3.0).

PYTHONPATH=src:. python -m truth.open_clip            # the package's own model configs and 200 random ones against ours
PYTHONPATH=src:. python -m truth.open_clip --record   # write packages/open_clip_models.json and tests/truth/packages/open_clip.json
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from truth.packages import digest, import_torchvision, meta, print_differences, tensors_of
from weighbridge import WeighbridgeError, model
from weighbridge.presets import preset

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "tests" / "truth" / "packages" / "open_clip.json"
MODELS = ROOT / "src" / "weighbridge" / "blueprints" / "packages" / "open_clip_models.json"


def live() -> ModuleType:
    """Return the package, whose towers from the Hub take their configs from our presets: nothing is fetched."""
    import_torchvision()
    package = import_module("open_clip")
    hub = import_module("open_clip.hf_model")
    transformers = import_module("transformers")

    class Known:
        @staticmethod
        def from_pretrained(name: str) -> Any:
            found = preset(name)
            if found is None:
                raise KeyError(name)
            return transformers.AutoConfig.for_model(**found.config)

    hub.AutoConfig = Known  # type: ignore[attr-defined]
    return package


def configs(package: ModuleType) -> dict[str, dict[str, Any]]:
    """Return the model configs of the package's own files."""
    folder = Path(package.__file__ or "").parent / "model_configs"
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def build(package: ModuleType, raw: dict[str, Any]) -> Any:
    """Build the class that create_model builds from a config, without its weights."""
    rest = json.loads(json.dumps(raw))
    hub = "hf_model_name" in rest["text_cfg"]
    if hub:
        rest["text_cfg"]["hf_model_pretrained"] = False
    custom = rest.pop("custom_text", False) or hub
    name = ("CoCa" if "multimodal_cfg" in rest else "CustomTextCLIP") if custom else "CLIP"
    with meta():
        return getattr(package, name)(**rest)


def draw(rng: random.Random) -> dict[str, Any]:
    """Draw a small config: each kind of tower, every switch among it."""
    shared = 8 * rng.randint(2, 5)
    vision: dict[str, Any] = {"image_size": 32 * rng.randint(1, 3), "layers": rng.randint(1, 3), "width": 16 * rng.randint(1, 3)}
    vision |= {"patch_size": rng.choice((8, 16)), "head_width": rng.choice((8, 16))}
    if rng.random() < 0.25:
        vision = {"image_size": 32 * rng.randint(1, 3), "layers": [rng.randint(1, 3) for _ in range(4)], "width": 8 * rng.randint(1, 2)}
        vision["head_width"] = 16
    text: dict[str, Any] = {"context_length": rng.randint(5, 20), "vocab_size": rng.randint(20, 90), "heads": 2}
    text |= {"width": 8 * rng.randint(1, 5), "layers": rng.randint(1, 3)}
    raw = {"embed_dim": shared, "vision_cfg": vision, "text_cfg": text, "custom_text": rng.random() < 0.5}
    towers = [text] if isinstance(vision["layers"], list) else [vision, text]
    for tower in towers:
        tower |= {key: rng.random() < 0.15 for key in ("qk_norm", "scale_heads", "scale_attn_inner", "scale_attn", "scale_fc")}
        tower |= {"scaled_cosine_attn": not tower["qk_norm"] and rng.random() < 0.15}
        tower |= {"mlp_ratio": rng.choice((4.0, 2, 4.9231, 3.7362, 1.3)), "ls_init_value": rng.choice((None, None, 1e-4))}
        tower["block_type"] = rng.choice((None, None, None, "custom", "default"))
    text |= {"proj_bias": rng.random() < 0.3, "proj_type": rng.choice(("linear", "linear", "none")), "no_causal_mask": rng.random() < 0.3}
    if text["proj_type"] == "none":
        text["width"] = shared
    if raw["custom_text"]:
        text["embed_cls"] = rng.random() < 0.4
    if rng.random() < 0.3:
        raw["init_logit_bias"] = -10
    raw["nonscalar_logit_scale"] = rng.random() < 0.2
    if vision in towers:
        vision |= {"no_ln_pre": rng.random() < 0.2, "pos_embed_type": rng.choice(("learnable", "learnable", "sin_cos_2d"))}
        vision |= {"attentional_pool": rng.choice((False, False, True)), "attn_pooler_queries": rng.randint(2, 9), "attn_pooler_heads": 4}
        if raw["custom_text"] and vision["attentional_pool"] and rng.random() < 0.7:
            raw["multimodal_cfg"] = {"context_length": text["context_length"], "width": shared, "heads": 2, "layers": rng.randint(1, 2)}
            text |= {"output_tokens": True, "width": shared}
            vision["output_tokens"] = True
    return raw


def rows_of(built: Any) -> dict[str, list[int]]:
    """Return the names and shapes of a class's parameters."""
    return {name: list(tensor.shape) for name, tensor in built.named_parameters()}


def forward_matmul(built: Any, raw: dict[str, Any]) -> int:
    """Return what torch's counter gives for one pair of an image and a text."""
    torch, counter = import_module("torch"), import_module("torch.utils.flop_counter")
    image, text = raw["vision_cfg"].get("image_size", 224), raw["text_cfg"].get("context_length", 77)
    built.eval()
    with counter.FlopCounterMode(display=False) as found:
        built(torch.empty(1, 3, image, image, device="meta"), torch.zeros(1, text, dtype=torch.long, device="meta"))
    return int(found.get_total_flops())


def cases(package: ModuleType, count: int, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the package's own configs and random ones."""
    yield from configs(package).items()
    rng = random.Random(seed)
    for number in range(count):
        yield f"random {number}", draw(rng)


def compare_models(count: int = 200, seed: int = 20261122) -> int:
    """Compare names, shapes and matrix products of every config; return 1 if anything differs."""
    package, wrong, same, refused, passes = live(), 0, 0, [], 0
    for name, raw in cases(package, count, seed):
        try:
            found = model(raw)
        except WeighbridgeError as error:
            refused.append(f"{name}: {error}")
            continue
        built = build(package, raw)
        ours = tensors_of(found)
        if list(ours.items()) != list(rows_of(built).items()):
            wrong += 1
            print_differences(name, ours, rows_of(built))
            continue
        same += 1
        if "hf_model_name" in raw["text_cfg"]:
            continue
        try:
            theirs = forward_matmul(built, raw)
        except RuntimeError:  # scaled_cosine_attn multiplies what torch does not, with four axes
            continue
        mine = found.flops(batch=1, seq=raw["text_cfg"].get("context_length", 77)).forward_matmul
        passes += mine == theirs
        if mine != theirs:
            wrong += 1
            print(f"{name}: {mine:,} FLOPs, live {theirs:,}: {json.dumps(raw)}")
    print(f"{same} configs agree tensor for tensor, {passes} of them in their FLOPs; {wrong} differ, {len(refused)} are refused")
    print(*refused, sep="\n")
    return 1 if wrong else 0


def record(count: int = 30, seed: int = 20261122) -> int:
    """Write down what the package's own configs come to, and the tensors of *count* random ones."""
    package, rng = live(), random.Random(seed)
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(raw)}" for name, raw in configs(package).items())
    MODELS.write_text("{\n" + lines + "\n}\n")
    published = {}
    for name, raw in configs(package).items():
        try:
            rows = rows_of(build(package, raw))
        except KeyError:
            continue
        published[name] = {"config": raw, "total": sum(map(size, rows.values())), "digest": digest(rows)}
    drawn = [{"config": raw, "tensors": rows_of(build(package, raw))} for raw in (draw(rng) for _ in range(count))]
    text = json.dumps({"package": "open_clip_torch 3.3.0", "seed": seed, "published": published, "cases": drawn})
    RECORD.write_text(text + "\n")
    return 0


def size(shape: list[int]) -> int:
    """Multiply the sizes of a shape."""
    total = 1
    for side in shape:
        total *= side
    return total


if __name__ == "__main__":
    sys.exit(record() if "--record" in sys.argv else compare_models())
