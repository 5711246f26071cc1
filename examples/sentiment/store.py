"""A trained model as a folder that ``weigh`` and other programs read: config.json, model.safetensors, tokenizer.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn

from examples.bert import bert


class Trained(NamedTuple):
    """A model, its config and its vocabulary."""

    model: nn.Module
    config: dict[str, Any]
    tokenizer: Tokenizer


def write(folder: Path, model: nn.Module, config: dict[str, Any], tokenizer: Tokenizer) -> Path:
    """Write a model; returns the file with its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    named = {**config, "architectures": [type(model).__name__]}
    (folder / "config.json").write_text(json.dumps(named, indent=2) + "\n", "utf-8")
    tokenizer.save(str(folder / "tokenizer.json"))
    file = folder / "model.safetensors"
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, file, {"format": "pt"})
    return file


def read(folder: Path) -> Trained:
    """Read a model back."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    model = bert.CLASSES[config["architectures"][0]](bert.Config.of(config))
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return Trained(model.eval(), config, Tokenizer.from_file(str(folder / "tokenizer.json")))


def take_encoder(model: nn.Module, tensors: dict[str, Any]) -> None:
    """Put the weights of an encoder into a model with a head: names with or without ``bert.`` in front; what the class has not is left.

    Raises:
        SystemExit: The encoder lacks a tensor that the model has.
    """
    named = {name.removeprefix("bert."): value for name, value in tensors.items()}
    wanted = model.bert.state_dict()
    missing = wanted.keys() - named.keys()
    if missing:
        raise SystemExit(f"the encoder has no {min(missing)}")
    model.bert.load_state_dict({name: named[name] for name in wanted})
