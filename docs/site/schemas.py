"""JSON Schemas of what ``--json`` prints, learnt from real answers, one file a command in docs/schemas: ``python docs/site/schemas.py``.

A schema has a version. A key that comes leaves it as it is; a key that goes, or comes to be of another type, raises it: ``tests/test_schemas.py``
holds each command's answers to the committed file.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from weighbridge import model
from weighbridge.cli import main

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "schemas"
VERSIONS: dict[str, int] = {"cache": 2}
"""The version of each schema; 1 where none stands here."""

SAMPLES: dict[str, tuple[str, ...]] = {
    "count": (
        "count bert-base-chinese",
        "count mixtral-8x7b",
        "count albert-base-v2",
        "count flan-t5-base",
        "count gpt2 --set n_layer=3",
        "count tests/corpus/formats/mlx.npz",
        "count whisper-tiny",
    ),
    "tensors": ("tensors bert-base-uncased", "tensors tests/corpus/formats/mlx.npz"),
    "explain": ("explain bert-base-chinese", "explain deepseek-v3", "explain whisper-tiny"),
    "formula": ("formula bert-base-uncased", "formula whisper-tiny"),
    "counts": ("counts bert-base-uncased", "counts mixtral-8x7b"),
    "reconcile": ("reconcile 110104890 bert-base-uncased", "reconcile 37B deepseek-v3", "reconcile 109000000 bert-base-uncased"),
    "audit": ("audit docs/tutorials/bert-by-hand.md",),
    "flops": ("flops bert-base-uncased", "flops whisper-tiny", "flops vit-base-patch16-224"),
    "cache": (
        "cache llama-3-8b",
        "cache deepseek-v3",
        "cache mamba-130m",
        "cache gemma-2-2b",
        "cache t5-small",
        "cache qwen3-8b --engine llama.cpp --dtype q8_0",
    ),
    "memory": ("memory bert-base-uncased", "memory bert-base-uncased --training", "memory bert-base-uncased --batch 2"),
    "parallel": ("parallel llama-3-8b --tp 2 --pp 2 --dp 2",),
    "fits": ("fits llama-3-8b --device rtx-4090", "fits llama-3-8b --device a100-80g --for training --seq 4096"),
    "verify": ("verify {whole}", "verify {cut}", "verify {untied}"),
    "diff": ("diff bert-base-uncased bert-base-chinese", "diff bert-base-uncased roberta-base"),
    "compare": ("compare bert-base-uncased gpt2 llama-3-8b",),
    "solve": ("solve t5-small d_ff --params 80M",),
    "design": ("design --like bert-base-uncased --params 30M±1% --limit 3",),
    "models": ("models", "models bert --sources"),
    "sweep": ("sweep bert-base-uncased --set num_hidden_layers=2:24",),
    "adapters": ("adapters bert-base-uncased lora:r=8,target_modules=query+value", "adapters bert-tiny vera"),
    "quiz": ("quiz bert-base-uncased",),
}
"""Commands that together show what each answer can hold; a name in braces is a folder of ``write_samples``."""


def answer(line: str) -> Any:
    """Return what a command answers, as data."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        main([*line.format(**(write_samples(Path(folder)) if "{" in line else {})).split(), "--json"])
    return json.loads(printed.getvalue())


SHARD = "model-00001-of-00001.safetensors"


def write_samples(folder: Path) -> dict[str, Path]:
    """Write small checkpoints of GPT-2, each beside its config; return their folders by name.

    *whole* is as its class saves it, and says how large it is; *cut* lacks a tensor and has two of its own; *untied* holds another head than the tied one.
    """
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": 2, "n_embd": 8, "n_head": 2, "vocab_size": 16}
    rows = model(config).tensors()
    saved, tied = ({row.name: row.shape for row in rows if (row.tied_to is not None) is chosen} for chosen in (False, True))
    contents = {
        "whole": saved,
        "cut": dict(list(saved.items())[1:]) | {"transformer.h.0.attn.masked_bias": (), "extra.weight": (4, 4)},
        "untied": saved | tied,
    }
    for name, shapes in contents.items():
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(config), "utf-8")
        (folder / name / SHARD).write_bytes(_safetensors(shapes, {"total_parameters": "1000"} if name == "whole" else {}))
        size = {"total_size": 4 * sum(map(prod, shapes.values()))}
        index = {"metadata": size, "weight_map": dict.fromkeys(shapes, SHARD)}
        (folder / name / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")
    return {name: folder / name for name in contents}


def _safetensors(shapes: dict[str, tuple[Any, ...]], metadata: dict[str, str]) -> bytes:
    """Return a file of which no two tensors hold the same."""
    header: dict[str, Any] = {"__metadata__": metadata}
    data = bytearray()
    for number, (name, shape) in enumerate(shapes.items()):
        begin = len(data)
        data += bytes([number]) * (4 * prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def learn(values: list[Any]) -> dict[str, Any]:
    """Return the schema that these values have in common: the types, and of objects which keys are always there."""
    schema: dict[str, Any] = {"type": sorted({_type(value) for value in values})}
    if len(schema["type"]) == 1:
        schema["type"] = schema["type"][0]
    objects = [node for value in values if isinstance(value, dict) for node in _nodes(value)]
    if objects and _is_table(objects):
        schema["additionalProperties"] = learn([inner for value in objects for inner in value.values()])
    elif objects:
        keys = list(dict.fromkeys(key for value in objects for key in value))
        schema["properties"] = {key: learn([value[key] for value in objects if key in value]) for key in keys if key not in RECURSIVE}
        schema["properties"] |= {key: {"type": "array", "description": "nodes like this one"} for key in keys if key in RECURSIVE}
        schema["required"] = [key for key in keys if all(key in value for value in objects)]
    inside = [inner for value in values if isinstance(value, list) for inner in value]
    if inside:
        schema["items"] = learn(inside)
    return schema


def _nodes(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an object and the objects of its own kind inside."""
    yield value
    for key in RECURSIVE & value.keys():
        for inner in value[key]:
            yield from _nodes(inner)


MANY = 40
"""Keys that no answer has; more are names."""
RECURSIVE = frozenset({"children", "parts"})
"""Keys under which a node holds more of its own kind; a node is described once."""


def _is_table(objects: list[dict[str, Any]]) -> bool:
    """Tell whether an object's keys are names from a model (a module, a field), not names of a schema."""
    return len({key for value in objects for key in value}) > MANY or any(
        not key.replace("_", "").isalnum() for value in objects for key in value
    )


def _type(value: object) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object", type(None): "null"}
    return kinds[type(value)]


def schema(command: str) -> dict[str, Any]:
    """Return the schema of a command's answers."""
    version = VERSIONS.get(command, 1)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"weighbridge/{command}/{version}",
        "title": f"weigh {command} --json",
        "version": version,
    }
    return {**head, **learn([answer(line) for line in SAMPLES[command]])}


def misfit(value: object, against: dict[str, Any], path: str = "$") -> str:
    """Return where a value does not fit a schema, and how; the empty string where it does."""
    types = against["type"] if isinstance(against["type"], list) else [against["type"]]
    if _type(value) not in types and not (_type(value) == "integer" and "number" in types):
        return f"{path}: {_type(value)}, expected {' or '.join(types)}"
    if isinstance(value, dict):
        missing = [key for key in against.get("required", ()) if key not in value]
        if missing:
            return f"{path}: {', '.join(missing)} missing"
        known = against.get("properties", {})
        return next((text for key, inner in value.items() if key in known and (text := misfit(inner, known[key], f"{path}.{key}"))), "")
    if isinstance(value, list) and "items" in against:
        return next((text for at, inner in enumerate(value) if (text := misfit(inner, against["items"], f"{path}[{at}]"))), "")
    return ""


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SAMPLES:
        (FOLDER / f"{name}.json").write_text(json.dumps(schema(name), indent=1) + "\n", "utf-8")
