"""Write this corpus with torch itself: ``python tests/corpus/torch/make.py`` in the environment with torch 2.13.0.

Each file is small and shows one thing. ``expected.json`` holds what torch says of it: names, shapes, types, which
names share a storage, and for whole modules which are buffers.
"""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
from torch import nn  # type: ignore[import-not-found,unused-ignore]

HERE = Path(__file__).parent


class Net(nn.Module):  # type: ignore[misc,unused-ignore]
    """A module of every kind of member: repeated layers, a tie, buffers that are saved and one that is not."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight
        self.scale = nn.Parameter(torch.ones(()))
        self.register_buffer("mask", torch.ones(3, 3))
        self.register_buffer("cache", torch.ones(5), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run it, so that it can be scripted."""
        y = self.embed(x)
        for layer in self.layers:
            y = layer(y)
        return self.head(y) * self.scale


def facts(tensors: dict[str, torch.Tensor], buffers: set[str] | None = None) -> dict[str, Any]:
    """Return what torch says of named tensors."""
    owners: dict[tuple[int, int, int], str] = {}
    found: dict[str, Any] = {}
    for name, tensor in tensors.items():
        place = (tensor.untyped_storage()._cdata, tensor.storage_offset(), tensor.numel())
        owner = owners.setdefault(place, name) if tensor.numel() else name
        found[name] = {"shape": list(tensor.shape), "dtype": str(tensor.dtype)[6:], "tied_to": None if owner == name else owner}
        if buffers is not None:
            found[name]["buffer"] = name in buffers
    return found


def cases() -> dict[str, tuple[Any, dict[str, Any], dict[str, Any]]]:
    """Return, for each file: what is saved, how, and what torch says of it."""
    net = Net()
    state = net.state_dict()
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.zeros(2, dtype=torch.long)).sum().backward()
    optimizer.step()
    big = torch.arange(24.0).reshape(4, 6)
    kinds = {str(kind)[6:]: torch.zeros(2, dtype=kind) for kind in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
        torch.bool, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16, torch.uint32, torch.uint64,
    )}  # fmt: skip
    views = {"a": big, "same": big, "row": big[1], "turned": big.t(), "wide": torch.zeros(1).expand(5), "part": torch.zeros(9)[2:5]}
    odd = {"": torch.zeros(2), "слой.权重": torch.zeros(3), "zero": torch.zeros(0, 4), "scalar": torch.tensor(1.0), "a..b": torch.zeros(1)}
    plain = dict(state)
    named = {**dict(net.named_parameters(remove_duplicate=False)), "norm.running_mean": net.norm.running_mean}
    named |= {"norm.running_var": net.norm.running_var, "norm.num_batches_tracked": net.norm.num_batches_tracked, "mask": net.mask}
    buffers = {"norm.running_mean", "norm.running_var", "norm.num_batches_tracked", "mask"}
    training = {"model": state, "optimizer": optimizer.state_dict(), "epoch": 3, "args": {"lr": 0.1}}
    old = {"_use_new_zipfile_serialization": False}
    return {
        "state": (state, {}, facts(plain)),
        "state_legacy": (state, old, facts(plain)),
        "protocol_4": (state, {"pickle_protocol": 4}, facts(plain)),
        "protocol_5": (state, {"pickle_protocol": 5}, facts(plain)),
        "kinds": (kinds, {}, facts(kinds)),
        "views_legacy": ({"a": big, "row": big[1]}, old, facts({"a": big, "row": big[1]})),
        "odd": (odd, {}, facts(odd)),
        "odd_legacy": (odd, old, facts(odd)),
        "parameters": (OrderedDict(net.named_parameters()), {}, facts(dict(net.named_parameters()))),
        "training": (training, {}, facts(plain)),
        "module": (net, {}, facts(named, buffers)),
        "module_legacy": (net, old, facts(named, buffers)),
        "views": (views, {}, facts(views)),
        "nested": (
            {"encoder": {"w": torch.zeros(2)}, "decoder": {"w": torch.zeros(3)}},
            {},
            facts({"encoder.w": torch.zeros(2), "decoder.w": torch.zeros(3)}),
        ),
    }


def main() -> None:
    """Write every file and what torch says of it."""
    sys.modules["tiny_net"] = sys.modules["__main__"]
    Net.__module__ = "tiny_net"
    (HERE / "valid").mkdir(exist_ok=True)
    expected = {}
    for name, (saved, how, said) in cases().items():
        torch.save(saved, HERE / "valid" / f"{name}.pt", **how)
        expected[name] = said
    Net.__module__ = "__main__"
    net = Net()
    torch.jit.script(net).save(str(HERE / "valid" / "scripted.pt"))
    named = {**dict(net.named_parameters(remove_duplicate=False)), **dict(net.named_buffers())}
    expected["scripted"] = facts(named, {name for name, _ in net.named_buffers()})
    (HERE / "expected.json").write_text(
        json.dumps({"torch": torch.__version__, "files": expected}, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
