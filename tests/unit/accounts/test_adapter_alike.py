"""Modules that differ by their names alone are counted once and multiplied: the answer is that of each by itself."""

from random import Random
from typing import Any

import pytest

from weighbridge.accounts.adapters.account import count_adapter
from weighbridge.accounts.adapters.base import base
from weighbridge.accounts.adapters.lora import lora
from weighbridge.accounts.parallel.account import parallel_of
from weighbridge.accounts.parallel.layout import Layout
from weighbridge.core.fold import fold
from weighbridge.core.tree import Row
from weighbridge.value import ModelValue

WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"lora_bias": True},
    {"use_dora": True},
    {"init_lora_weights": "pissa"},
    {"rank_pattern": {"up": 5, r"1\.down": 3}},
    {"velora_config": {"num_groups": 2}},
    {"monteclora_config": {}},
)


def _rows(seed: int) -> list[Row]:
    chance = Random(seed)
    shapes = [(chance.choice((2, 4, 6, 7)), chance.choice((2, 4, 5))) for _ in range(3)]
    rows = []
    for number in range(6):
        for name in ("up", "down", "gate", "up.down"):
            rows.append(Row(f"layers.{number}.{name}.weight", chance.choice(shapes), "weight", None, None, False))
            if chance.random() < 0.3:
                rows.append(Row(f"layers.{number}.{name}.bias", rows[-1].shape[:1], "bias", None, None, False))
    return rows


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("way", WAYS, ids=lambda way: next(iter(way), "plain"))
def test_what_modules_get_alike_is_what_each_gets(way: dict[str, object], seed: int) -> None:
    config = {"peft_type": "LORA", "r": 2, "target_modules": ["up", "down"], **way}
    found = count_adapter(base(tuple(_rows(seed))), config)
    assert len(found.sites) == 18
    asked = {"r": 2, **way}
    assert [[tensor[:5] for tensor in added] for _, added in found.sites] == [
        [tensor[:5] for tensor in lora(site, asked)] for site, _ in found.sites
    ]


@pytest.mark.parametrize("ways", [{"tp": 2}, {"pp": 2, "dp": 2, "fsdp": True}, {"dp": 3, "zero": 3}, {"dp": 4, "zero": 1}])
def test_devices_hold_together_what_their_tensors_hold_one_by_one(ways: dict[str, Any]) -> None:
    rows = _rows(7)
    whole = parallel_of(ModelValue("a file", "checkpoint", fold(rows)), Layout(**ways))
    alone = [parallel_of(ModelValue("a file", "checkpoint", fold([row])), Layout(**{**ways, "pp": 1})) for row in rows]
    if "zero" not in ways or ways["zero"] == 3:  # the other stages cut one flat list of all
        for name in ("elements", "parameters", "gradients", "optimizer"):
            devices = sum(device.alike * getattr(device.state, name) for device in whole.devices)
            assert devices == sum(device.alike * getattr(device.state, name) for one in alone for device in one.devices)
    assert len(whole.devices) >= ways.get("pp", 1)
