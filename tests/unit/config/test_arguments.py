"""Flags of training scripts, read as a shell would hand them on."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge.config.arguments import parse_arguments
from weighbridge.core.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--num-layers 2 --swiglu", {"num_layers": 2, "swiglu": True}),
        ("--num-layers=2 --swiglu --bf16", {"num_layers": 2, "swiglu": True, "bf16": True}),
        ("--swiglu --num-layers 2 --num-layers 2", {"num_layers": 2, "swiglu": True}),
        ("--swiglu --swiglu true --num-layers 2", {"num_layers": 2, "swiglu": "true"}),
        ("--num-layers \\\n  2 # comment --hidden-size 9\n--hidden-size 8", {"num_layers": 2, "hidden_size": 8}),
        ("N=3\nARGS=(\n  --num-layers ${N}\n  --normalization RMSNorm\n)", {"num_layers": 3, "normalization": "RMSNorm"}),
        ('H="64"; --num-layers 2 --hidden-size $H', {"num_layers": 2, "hidden_size": 64}),
        ("H=64; H=32; --num-layers 2 --hidden-size $H", {"num_layers": 2, "hidden_size": "$H"}),
        ("--num-layers 2 --hidden-size $UNSET", {"num_layers": 2, "hidden_size": "$UNSET"}),
        ("--num-layers 2 --seed 1234567890123456", {"num_layers": 2, "seed": "1234567890123456"}),
        ("--num-layers 5 --moe-layer-freq [0]*2+[1]*3", {"num_layers": 5, "moe_layer_freq": [0, 0, 1, 1, 1]}),
        ("--num-layers 4 --moe-layer-freq ([0]+[1])*2", {"num_layers": 4, "moe_layer_freq": [0, 1, 0, 1]}),
        ("--num-layers 4 --moe-layer-freq 2*[0,1]", {"num_layers": 4, "moe_layer_freq": [0, 1, 0, 1]}),
        ("--num-layers 4 --moe-layer-freq [0]*0", {"num_layers": 4, "moe_layer_freq": []}),
        ("--num-layers 4 --rotary 1,2", {"num_layers": 4, "rotary": "1,2"}),
        ("--num-layers 4 --9 5 --Big 3 word", {"num_layers": 4}),
        ("--num-layers 4 --moe-layer-freq [0]*100000", {"num_layers": 4, "moe_layer_freq": [0] * 100_000}),
    ],
)
def test_flags_and_their_values(text: str, said: dict[str, Any]) -> None:
    assert parse_arguments(text) == {"model_type": "megatron", **said}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("--num-layers 2 --num-layers 3", "num_layers: 2 and 3 (keep one)"),
        ("--a [0]*100001", "a: expected a list, such as [0]*3+[1]*58, found [0]*100001"),
        ("--a [0]*99999+[0]*2", "a: expected a list"),
        ("--a [0]+1", "a: expected a list"),
        ("--a [0]*[1]", "a: expected a list"),
        ("--a (2+3)*[", "a: expected a list"),
        ("--a 2*3*[]+4", "a: expected a list"),
    ],
)
def test_what_is_no_value_is_refused_by_its_flag(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_arguments(text)
    assert str(caught.value).startswith(message)
