"""Published arithmetic of one pass beside ours: the convention that gives it, or the nearest one and how far it is."""

from __future__ import annotations

import re
from typing import Any

from truth.output_figures import IMAGES, square_images, swin2
from weighbridge import Model, model
from weighbridge.accounts.ledger import Entry
from weighbridge.core.errors import UsageError, WeighbridgeError
from weighbridge.core.tree import Attend

HEAD = (
    "",
    "## Arithmetic of one pass",
    "",
    "What tools and tables print, beside ours in the convention that gives it, or in the nearest (`Model.reconcile_flops`). Rounded figures are met as far as they are printed.",
    "",
    "| model | figure | published | ours | difference | convention |",
    "|---|---|---|---|---|---|",
)
"""The head of the table."""
TIMES = {
    "multiply-adds": 1,
    "giga multiply-adds": 10**9,
    "GFLOP (2 x multiply-adds)": 10**9,
    "FLOP": 1,
    "GFLOP": 10**9,
    "FLOP per token": 1,
}
LLAMA = {"model_type": "llama", "intermediate_size": 11008, "architectures": ["LlamaForCausalLM"]}
NAMES: tuple[tuple[str, Any], ...] = (
    (r"beit\w*-base-p16", "beit_base_patch16_224"),
    (r"convnext-(base|large)", r"convnext-\1-224"),
    (r"mobilenet-v2", {"model_type": "mobilenet_v2"}),
    (r"riformer-(\w\d\d)", r"poolformer_\1"),
    (r"swin-large_8xb8_cub", "swin-large-patch4-window12-384"),
    (r"swin-(\w+)_in21k-pre-3rdparty_in1k-384", r"swin-\1-patch4-window12-384"),
    (r"swin-(tiny|small|base)", r"swin-\1-patch4-window7-224"),
    (r"swinv2-(tiny|base)-w16", r"swinv2-\1-patch4-window16-256"),
    (r"swinv2-small-w16", swin2(96, 3, 16)),
    (r"swinv2-large-w16", swin2(192, 6, 16)),
    (r"swinv2-base-w24", swin2(128, 4, 24)),
    (r"swinv2-large-w24", swin2(192, 6, 24)),
    (r"swinv2-base-w12", swin2(128, 4, 12)),
    (r"swinv2-large-w12", swin2(192, 6, 12)),
    (r"vit-(small|base|giant)-p14_dinov2", r"vit_\1_patch14_dinov2"),
    (r"resnet50_8xb8_cub", "resnet-50"),
    (r"resnetv1([cd])(\d+)", r"resnet\2\1"),
    (r"vit-(small|base|large)-p14_eva02.*-(336|448)px", r"eva02_\1_patch14_\2"),
    (r"vit-(small|base|large)-p14_eva02", r"eva02_\1_patch14_224"),
    (r"beit-g-p14_3rdparty-eva", "eva_giant_patch14_224"),
    (r"beit-l-p14_eva", "eva_large_patch14_336"),
    (r"nanoGPT", {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}),
    (r"chinese-llama", {**LLAMA, "vocab_size": 49953}),
    (r"timm vit_tiny_patch16_224, 2 classes", {"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 192,
                                               "num_attention_heads": 3, "intermediate_size": 768, "num_labels": 2}),
    (r"BERT-large", "bert-large-uncased"),
)  # fmt: skip
"""Names of tables that are no preset's, by the pattern that they begin with: what is asked."""
REASONS = (
    (
        r"BERT-large",
        "one module of another implementation; the products with its weights are 4 × 80 × 128 × 1,024² = 42.95 G, and attention's own are left out there",
    ),
    (r"conformer|davit|edgenext|mvitv2|replknet|t2t|tinyvit", "the family is not described"),
    (r"resnet\w+cifar", "another stem than the classes described have"),
    (r"beit-g-p16|moss|deepseek_v3:debug", "its config is not published with the row"),
)
"""Why a row is not asked."""
SWIN_2 = "that tool does not see Swin V2's map to queries, keys and values, whose bias it puts together in the forward: 4.83 G of w16 base, a quarter of the weights'"
NOTES = (
    (r"swinv2-\w+-w\d\d_", SWIN_2),
    (r"poolformer-\w\d\d_", "another implementation; its RiFormer, which has the same weights without the pooling, is as ours"),
    (r"nanoGPT .*6N", "nanoGPT's N has no biases: 102,144 fewer parameters, times 6 × 1,024"),
)
"""What is known of a difference, by how model and setting begin."""
MODULES = {
    "attention/kqv": "transformer.h.attn.c_attn",
    "attention/proj": "transformer.h.attn.c_proj",
    "attention/reduce": "transformer.h.attn",
    "mlp/ffw2": "transformer.h.mlp.c_proj",
    "block": "transformer.h",
    "transformer": "transformer",
    "forward_total": "",
}
"""nanoGPT's rows (transformer_sizing.ipynb): the module that each is of."""


def arithmetic(rows: list[dict[str, Any]]) -> tuple[list[str], list[tuple[dict[str, Any], str]]]:
    """Ask every row of a tool's arithmetic: lines of the table, and the rows that are not asked, with the reason."""
    lines, left = [], []
    for row in rows:
        try:
            lines.append(_line(row))
        except WeighbridgeError as error:
            why = next((why for pattern, why in REASONS if re.match(pattern, row["model"])), str(error))
            left.append((row, why))
    return lines, left


def _line(row: dict[str, Any]) -> str:
    weighed, given = _asked(row)
    each = TIMES[row["unit"]]
    if "one BertAttention" in row["setting"]:
        raise UsageError("a module of another implementation")
    head = f"| {row['model']} | {row['what']}: {row['setting'][:60]} | {row['value']:,} {row['unit']} "
    if row["setting"].split(",")[0] in MODULES:
        ours, how = _of_module(weighed, row["setting"].split(",")[0], given), "torch: of one module"
    else:
        found = weighed.reconcile_flops(str(row["value"]) if each == 1 else f"{row['value']}G", **given)
        best = found.matches[0] if found.matches else found.nearest
        if best is None:
            raise UsageError("no convention can count it")
        ours, how = best.value, f"{best.key}: {', '.join(str(piece.what) for piece in best.steps)}"
    note = next((f" ({why})" for pattern, why in NOTES if re.match(pattern, f"{row['model']} {row['setting']}")), "")
    return f"{head}| {ours / each:,.{0 if each == 1 else 2}f} | {100 * (ours / each / row['value'] - 1):+.2f}%{note} | {how} |"


def _asked(row: dict[str, Any]) -> tuple[Model, dict[str, int]]:
    """Return the model that a row is about, with square images of the side that it states, and what goes through it."""
    name, setting = row["model"], row["setting"]
    found = next(((re.match(pattern, name), source) for pattern, source in NAMES if re.match(pattern, name)), None)
    source: Any = IMAGES.get(name, name)
    if found is not None:
        source = found[0].expand(found[1]) if isinstance(found[1], str) and found[0] else found[1]
    weighed = model(source)
    if "image" in setting and weighed.model_type != "open_clip":
        side = re.search(r"one (\d+)x", setting) or re.search(r"-(\d+)px|_in1k-(384)$", name)
        size = next((int(part) for part in side.groups() if part), None) if side else 448 if "_cub" in name else None
        return (square_images(source, size) if size else weighed), {"images": 1}
    tokens, batch = re.search(r"([\d,]+) tokens", setting), re.search(r"batch (\d+)", setting)
    given = {"seq": int(tokens[1])} if tokens else {"seq": 4096} if row["unit"] == "FLOP per token" else {}
    return weighed, given | ({"batch": int(batch[1])} if batch and batch[1] != "1" else {})


def _of_module(weighed: Model, row: str, given: dict[str, int]) -> int:
    """Return the FLOPs of one copy of a module; of ``reduce``, the half of attention's products that is with values."""
    entry: Entry = weighed.flops(seq=given["seq"]).ledger
    for name in filter(None, MODULES[row].split(".")):
        entry = next(child for child in entry.children if child.name == name)
    if row == "attention/reduce":
        return next(int(line.amount) for line in entry.lines if isinstance(line.node, Attend)) // 2  # type: ignore[arg-type]
    return int(entry.each if row == "block" else entry.amount)  # type: ignore[arg-type]
