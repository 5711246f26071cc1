"""Small stores of models for a census: configs and checkpoints of zeros, and the rows that it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

BERT = {"model_type": "bert", "architectures": ["BertModel"], "num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 4}


def write(path: Path, raw: object) -> Path:
    """Write a config."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(raw))
    return path


def table(folder: Path) -> list[dict[str, Any]]:
    """Read a census."""
    rows: list[dict[str, Any]] = pq.read_table(folder).to_pylist()
    return sorted(rows, key=lambda row: row["path"])


def safetensors(path: Path, tensors: dict[str, list[int]], metadata: dict[str, str] | None = None) -> None:
    """Write a checkpoint of zeros."""
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    offset = 0
    for name, shape in tensors.items():
        size = 4
        for length in shape:
            size *= length
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(offset))
