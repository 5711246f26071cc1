"""timm's own classes, held to ours; needs torch, torchvision and timm (1.0.31).

PYTHONPATH=src:. python -m truth.timm_models            # every model of the classes described, and random arguments, against ours
PYTHONPATH=src:. python -m truth.timm_models FastVit    # those of one class alone
PYTHONPATH=src:. python -m truth.timm_models --record   # write modules/timm_models.json and tests/truth/packages/timm.json
"""

from __future__ import annotations

import functools
import inspect
import json
import random
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from truth.packages import digest, import_torchvision, meta, print_differences, tensors_of
from weighbridge import WeighbridgeError, model
from weighbridge.blueprints.modules.timm_stems import STEMS

ROOT = Path(__file__).parent.parent
NAMES = ROOT / "src" / "weighbridge" / "blueprints" / "modules" / "timm_models.json"
RECORD = ROOT / "tests" / "truth" / "packages" / "timm.json"
CLASSES = (
    ("vision_transformer", "VisionTransformer"),
    ("vision_transformer_hybrid", "VisionTransformer"),
    ("vitamin", "VisionTransformer"),
    ("vision_transformer_relpos", "VisionTransformerRelPos"),
    ("deit", "VisionTransformer"),
    ("deit", "VisionTransformerDistilled"),
    ("convnext", "ConvNeXt"),
    ("eva", "Eva"),
    ("swin_transformer", "SwinTransformer"),
    ("xcit", "Xcit"),
    ("resnet", "ResNet"),
    ("fastvit", "FastVit"),
    ("repvit", "RepVit"),
)
"""Files of models, each with a class that builds some of them."""
IGNORED = (
    "act_layer",
    "dynamic_img_size",
    "weight_init",
    "fix_init",
    "strict_img_size",
    "head_init_scale",
    "norm_eps",
)
BLURRED = ("BlurPool2d",)
"""What blurs maps, in ResNets that are not described; nor are pruned ones, whose widths stand in a file of their own."""
ODD = ("ParallelScalingBlock", "ParallelThingsBlock", "DiffParallelScalingBlock")


class Asked(Exception):
    """What a constructor was called with."""


def live() -> ModuleType:
    """Return the package."""
    import_torchvision()
    return import_module("timm")


def plain(value: Any) -> Any:
    """Return an argument as JSON has it: classes by their names."""
    if isinstance(value, dict):
        return {key: inner for name, given in value.items() for key, inner in _plain_entry(name, given).items()}
    if isinstance(value, functools.partial):
        if "backbone" in value.keywords:
            return stem_of(value.keywords["backbone"])
        value = value.func
    name = getattr(value, "__name__", value) if callable(value) else value
    words = {"LayerNorm": "layernorm", "RmsNorm": "rmsnorm", "rmsnorm2d": "rmsnorm", "GluMlp": "GluMlp"}
    if isinstance(name, str):
        return words.get(name, name)
    return [plain(entry) for entry in name] if isinstance(name, tuple) else name


def stem_of(network: Any) -> dict[str, Any]:
    """Return what a network of convolutions in front of a transformer is made of; of one that is not described, its class."""
    kind = type(network).__name__
    if kind == "MbConvStages":
        widths = [stage[0].out_chs for stage in network.stages] + [network.pool.proj.out_channels]
        return {
            "kind": "mobile_stages",
            "width": network.stem.out_chs,
            "widths": widths,
            "depths": [len(stage) for stage in network.stages],
        }
    if kind == "ConvStem":
        convs = [child.conv for child in network]
        kernels, strides = ([getattr(conv, key)[0] for conv in convs] for key in ("kernel_size", "stride"))
        return {"kind": "conv_stem", "widths": [conv.out_channels for conv in convs], "kernels": kernels, "strides": strides}
    if kind == "ResNetV2":
        return {"kind": "resnet", "depths": [len(stage.blocks) for stage in network.stages]}
    return {"kind": "resnet", "depths": []} if kind == "Sequential" else {"kind": kind}


def _plain_entry(name: str, value: Any) -> dict[str, Any]:
    """Return an argument of a block, with those that are given along with it."""
    if not isinstance(value, functools.partial):
        return {name: value}
    return {name: {"SEModule": "se"}[value.func.__name__], **value.keywords}


def ask(package: ModuleType) -> dict[str, tuple[str, dict[str, Any], dict[str, Any]]]:
    """Return the class of every model, the arguments that its constructor gets, and what the tag of published weights changes of them."""
    found: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {}
    for module, class_name in CLASSES:
        cls = getattr(import_module(f"timm.models.{module}"), class_name)
        signature, own = inspect.signature(cls.__init__), cls.__init__
        cls.__init__ = _asking(signature)
        try:
            for name in package.list_models(module=module):
                arguments = constructor_arguments(package, name)
                if (
                    arguments is None
                    or arguments.get("aa_layer") in BLURRED
                    or isinstance(arguments.get("block"), list)
                    or name.endswith("_pruned")
                ):
                    continue
                if (arguments.get("embed_layer") or {"kind": "resnet"})["kind"] not in STEMS:
                    continue
                if arguments.get("block_fn") in ODD or arguments.get("attn_layer", "Attention") != "Attention":
                    continue
                tagged = {
                    full.partition(".")[2]: constructor_arguments(package, full) or {} for full in package.list_pretrained(f"{name}.*")
                }
                changes = {tag: {key: value for key, value in one.items() if arguments.get(key) != value} for tag, one in tagged.items()}
                found[name] = class_name, arguments, {tag: changed for tag, changed in changes.items() if tag}
        finally:
            cls.__init__ = own
    return dict(sorted(found.items()))


def constructor_arguments(package: ModuleType, name: str) -> dict[str, Any] | None:
    """Return the arguments that the constructor of a model gets; None if it is of another class."""
    try:
        with meta():
            package.create_model(name)
    except Asked as found:
        arguments: dict[str, Any] = found.args[0]
        return arguments
    except Exception:  # of another class
        return None
    return None


def _asking(signature: inspect.Signature) -> Callable[..., None]:
    def note_call(self: Any, *values: Any, **keywords: Any) -> None:
        bound = dict(signature.bind(self, *values, **keywords).arguments)
        bound.pop("self")
        given = {**bound.pop("kwargs", {}), **bound}
        raise Asked({key: plain(value) for key, value in given.items() if key not in IGNORED})

    return note_call


def class_of(name: str) -> str:
    """Return the class that builds a model, as it is written down."""
    return str(json.loads(NAMES.read_text())[name][0])


def random_config(rng: random.Random, names: list[str]) -> dict[str, Any]:
    """Draw a config as the Hub has it: a model's name, with other labels, sides and arguments."""
    name = rng.choice(names)
    raw: dict[str, Any] = {"architecture": name, "num_features": 1, "num_classes": rng.choice((0, 10, 1000))}
    raw["pretrained_cfg"] = {"input_size": [rng.choice((1, 3)), 224, 224], "num_classes": 1000}
    built_by = class_of(name)
    if built_by not in ("ConvNeXt", "FastVit", "RepVit", "ResNet"):  # which take images of any size
        raw["pretrained_cfg"]["fixed_input_size"] = True
    if built_by in ARGUMENTS:
        raw["model_args"] = ARGUMENTS[built_by](rng)
    elif name.startswith(("vit", "deit")):
        raw["model_args"] = _vit_arguments(rng, distilled="distilled" in name)
    elif name.startswith("convnext"):
        raw["model_args"] = _convnext_arguments(rng)
    return raw


def _swin_arguments(rng: random.Random) -> dict[str, Any]:
    return {
        "depths": [rng.randint(1, 2) for _ in range(4)],
        "num_heads": [rng.choice((1, 2)) for _ in range(4)],
        "embed_dim": 8 * rng.randint(1, 3),
        "window_size": rng.choice((2, 3, 7, [4, 2, 7, 3])),
        "img_size": 32 * rng.randint(1, 3),
        "qkv_bias": rng.random() < 0.5,
        "mlp_ratio": rng.choice((4.0, 2.5, 3)),
    }


def _resnet_arguments(rng: random.Random) -> dict[str, Any]:
    return {
        "layers": [rng.randint(1, 3) for _ in range(4)],
        "channels": [16 * rng.randint(1, 4) for _ in range(4)],
        "avg_down": rng.random() < 0.5,
        "stem_type": rng.choice(("", "deep", "deep_tiered")),
        "stem_width": rng.choice((16, 32)),
        "replace_stem_pool": rng.random() < 0.5,
        "block_reduce_first": rng.choice((1, 2)),
        "down_kernel_size": rng.choice((1, 3)),
    }


def _depth_and_width(rng: random.Random) -> dict[str, Any]:
    heads = rng.choice((2, 4))
    return {"depth": rng.randint(1, 3), "num_heads": heads, "embed_dim": 8 * heads * rng.randint(1, 4)}


def _fastvit_arguments(rng: random.Random) -> dict[str, Any]:
    width, doublings = 32 * rng.randint(1, 3), sorted(rng.randint(0, 3) for _ in range(3))
    return {
        "layers": [rng.randint(1, 3) for _ in range(4)],
        "embed_dims": [width, *(width * 2**times for times in doublings)],
        "mlp_ratios": [rng.choice((2, 3, 4, 2.5)) for _ in range(4)],
        "token_mixers": [rng.choice(("repmixer", "attention")) for _ in range(4)],
        "downsamples": [rng.random() < 0.5 for _ in range(4)],
        "se_downsamples": [rng.random() < 0.5 for _ in range(4)],
        "stem_use_scale_branch": rng.random() < 0.5,
        "inference_mode": rng.random() < 0.5,
        "layer_scale_init_value": rng.choice((None, 1e-5)),
        "cls_ratio": rng.choice((1.0, 2.0, 1.5)),
        "pos_embs": [None] * 4,
    }


def _repvit_arguments(rng: random.Random) -> dict[str, Any]:
    stages = rng.randint(1, 4)
    return {
        "embed_dim": [8 * rng.randint(1, 9) for _ in range(stages)],
        "depth": [rng.randint(1, 4) for _ in range(stages)],
        "mlp_ratio": rng.randint(1, 4),
        "kernel_size": rng.choice((3, 5)),
        "distillation": rng.random() < 0.5,
        "legacy": rng.random() < 0.5,
    }


def _xcit_arguments(rng: random.Random) -> dict[str, Any]:
    return _depth_and_width(rng) | {
        "patch_size": rng.choice((8, 16)),
        "img_size": 16 * rng.randint(2, 6),
        "qkv_bias": rng.random() < 0.5,
        "mlp_ratio": rng.choice((4.0, 2.5, 3)),
        "cls_attn_layers": rng.randint(0, 3),
        "use_pos_embed": rng.random() < 0.7,
        "tokens_norm": rng.random() < 0.5,
        "eta": rng.choice((1.0, 1e-5)),
    }


def _eva_arguments(rng: random.Random) -> dict[str, Any]:
    return _depth_and_width(rng) | {
        "img_size": 16 * rng.randint(2, 6),
        "patch_size": rng.choice((8, 16)),
        "init_values": rng.choice((None, 1e-5)),
        "swiglu_mlp": rng.random() < 0.5,
        "scale_mlp": rng.random() < 0.4,
        "scale_attn_inner": rng.random() < 0.3,
        "qkv_fused": rng.random() < 0.5,
        "attn_type": rng.choice(("eva", "rope")),
        "num_reg_tokens": rng.choice((0, 2)),
        "no_embed_class": rng.random() < 0.3,
        "mlp_ratio": rng.choice((4.0, 2.6666666666666665, 2)),
        "use_post_norm": rng.random() < 0.2,
        "qk_norm": rng.random() < 0.2,
        "use_rot_pos_emb": rng.random() < 0.5,
        "rope_type": rng.choice(("cat", "mixed")),
        "global_pool": rng.choice(("avg", "token", "map")),
        "class_token": True,
        "use_pre_transformer_norm": rng.random() < 0.3,
        "swiglu_align_to": rng.choice((0, 8)),
    }


def _vit_arguments(rng: random.Random, *, distilled: bool) -> dict[str, Any]:
    found = _depth_and_width(rng) | {
        "img_size": 16 * rng.randint(2, 6),
        "patch_size": rng.choice((8, 16)),
        "qkv_bias": rng.random() < 0.5,
        "init_values": rng.choice((None, 1e-5)),
        "qk_norm": rng.random() < 0.3,
        "pre_norm": rng.random() < 0.3,
        "mlp_ratio": rng.choice((4.0, 2.6666666666666665, 3.7362, 2)),
        "no_embed_class": rng.random() < 0.3,
    }
    if not distilled:
        found |= {"reg_tokens": rng.choice((0, 1, 4)), "fc_norm": rng.choice((None, True, False))}
        found |= {"global_pool": rng.choice(("token", "avg", "map", ""))} if rng.random() < 0.5 else {}
    return found


def _convnext_arguments(rng: random.Random) -> dict[str, Any]:
    return {
        "depths": [rng.randint(1, 3) for _ in range(4)],
        "dims": [8 * rng.randint(1, 6) for _ in range(4)],
        "conv_mlp": rng.random() < 0.5,
        "use_grn": rng.random() < 0.5,
        "ls_init_value": rng.choice((None, 1e-6)),
    }


def _relpos_arguments(rng: random.Random) -> dict[str, Any]:
    token = rng.random() < 0.5
    return _depth_and_width(rng) | {
        "img_size": 16 * rng.randint(2, 6),
        "patch_size": rng.choice((8, 16)),
        "qkv_bias": rng.random() < 0.5,
        "qk_norm": rng.random() < 0.3,
        "init_values": rng.choice((None, 1e-5)),
        "class_token": token,
        "global_pool": rng.choice(("avg", "token" if token else "")),
        "fc_norm": rng.random() < 0.5,
        "rel_pos_type": rng.choice(("mlp", "mlp-swin", "bias")),
        "rel_pos_dim": rng.choice((None, 24)),
        "shared_rel_pos": rng.random() < 0.4,
    }


ARGUMENTS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "FastVit": _fastvit_arguments,
    "RepVit": _repvit_arguments,
    "SwinTransformer": _swin_arguments,
    "ResNet": _resnet_arguments,
    "Xcit": _xcit_arguments,
    "Eva": _eva_arguments,
    "VisionTransformerRelPos": _relpos_arguments,
}
"""What is drawn for the classes whose models' names do not tell it."""


FIRST = re.compile(r"^stem\.0\.|patch_embed.*proj.*weight|stem.*weight|proj\.weight")
"""The convolution that looks at the image."""


def build(package: ModuleType, raw: dict[str, Any]) -> Any:
    """Build what timm builds from a config of the Hub's."""
    parsed = import_module("timm.models._hub")._parse_model_cfg(json.loads(json.dumps(raw)), {})
    pretrained, name, arguments = parsed
    with meta():
        return package.create_model(name, pretrained_cfg=pretrained, **arguments)


def rows_of(built: Any) -> dict[str, list[int]]:
    """Return the names and shapes of a class's parameters."""
    return {name: list(tensor.shape) for name, tensor in built.named_parameters()}


def forward_matmul(built: Any, sides: tuple[int, int], channels: int) -> int:
    """Return what torch's counter gives for one image."""
    torch, counter = import_module("torch"), import_module("torch.utils.flop_counter")
    built.eval()
    with counter.FlopCounterMode(display=False) as found:
        built(torch.empty(1, channels, *sides, device="meta"))
    return int(found.get_total_flops())


def compare_models(count: int = 150, seed: int = 20261122, class_name: str = "") -> int:
    """Compare names, shapes and matrix products of every model and of *count* random configs, of one class if it is named."""
    package, rng = live(), random.Random(seed)
    names = [name for name, (built_by, *_) in json.loads(NAMES.read_text()).items() if class_name in ("", built_by)]
    cases = [(name, {"architecture": name, "num_features": 1}) for name in names]
    cases += [(f"random {number}", random_config(rng, names)) for number in range(count)]
    wrong = same = passes = refused = 0
    for name, raw in cases:
        try:
            built = build(package, raw) if "pretrained_cfg" in raw else _named_model(package, name)
        except (AssertionError, RuntimeError, TypeError, ValueError):
            refused += 1  # timm's class does not build either
            continue
        try:
            found = model(raw)
        except WeighbridgeError as error:
            wrong += 1
            print(f"{name}: {error}: {json.dumps(raw)[:300]}")
            continue
        ours, theirs = tensors_of(found), rows_of(built)
        if list(ours.items()) != list(theirs.items()):
            wrong += 1
            print_differences(f"{name} {json.dumps(raw)[:400]}", ours, theirs)
            continue
        same += 1
        sides = getattr(getattr(built, "patch_embed", None), "img_size", None) or (224, 224)
        try:
            products = forward_matmul(
                built,
                tuple(sides),
                ours[next((key for key, shape in ours.items() if FIRST.search(key) and len(shape) == 4), next(iter(ours)))][1],
            )
        except (RuntimeError, IndexError):
            continue
        mine = found.flops(batch=1).forward_matmul
        passes += mine == products
        if mine != products:
            wrong += 1
            print(f"{name}: {mine:,} FLOPs, live {products:,}: {json.dumps(raw)[:300]}")
    print(f"{same} agree tensor for tensor, {passes} of them in their FLOPs; {wrong} differ; {refused} are built by neither")
    return 1 if wrong else 0


def _named_model(package: ModuleType, name: str) -> Any:
    with meta():
        return package.create_model(name)


def record(count: int = 40, seed: int = 20261122) -> int:
    """Write the table of models, the digest of each, and the tensors of random configs."""
    package, rng = live(), random.Random(seed)
    names = ask(package)
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in names.items())
    NAMES.write_text("{\n" + lines + "\n}\n")
    published = {}
    for name in names:
        rows = rows_of(_named_model(package, name))
        published[name] = [sum(functools.reduce(lambda a, b: a * b, shape, 1) for shape in rows.values()), digest(rows)]
    drawn: list[dict[str, Any]] = []
    while len(drawn) < count:
        raw = random_config(rng, list(names))
        try:
            drawn.append({"config": raw, "tensors": rows_of(build(package, raw))})
        except (AssertionError, RuntimeError, TypeError, ValueError):
            continue
    RECORD.write_text(json.dumps({"package": "timm 1.0.31", "seed": seed, "published": published, "cases": drawn}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(record() if "--record" in sys.argv else compare_models(class_name="".join(sys.argv[1:2])))
