from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.safetensors_file import whole
from weighbridge import model
from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.load import checkpoint_of
from weighbridge.readers import read_listing

CONFIG = {"peft_type": "LORA", "base_model_name_or_path": "org/base", "r": 8, "rank_pattern": {"v_proj": 4}}
Q, V = "base_model.model.layers.0.q_proj", "base_model.model.layers.0.v_proj"
PAIRS: dict[str, tuple[int, ...]] = {
    f"{Q}.lora_A.weight": (8, 64),
    f"{Q}.lora_B.weight": (64, 8),
    f"{V}.lora_A.weight": (4, 64),
    f"{V}.lora_B.weight": (32, 4),
}


def save(folder: Path, tensors: dict[str, tuple[int, ...]], config: Any = CONFIG) -> Path:
    (folder / "adapter_model.safetensors").write_bytes(whole(tensors))
    (folder / "adapter_config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    return folder


def test_an_adapter_says_what_it_adapts(tmp_path: Path) -> None:
    save(tmp_path, PAIRS)
    assert tally_of(checkpoint_of(tmp_path)).unique == 2 * 8 * 64 + 4 * 96
    assert read_listing(tmp_path).notes == (
        "an adapter (LORA) for org/base: what it adds is counted, the model below it is not in the file",
    )


def test_the_model_below_is_counted_where_it_is_known(tmp_path: Path) -> None:
    save(tmp_path, PAIRS, CONFIG | {"base_model_name_or_path": "bert-base-uncased"})
    assert model(tmp_path).notes[-1] == "the model below, bert-base-uncased, has 109,482,240 parameters as BertModel"


def test_ranks_and_whole_modules_are_named(tmp_path: Path) -> None:
    save(
        tmp_path,
        {**PAIRS, "base_model.model.lm_head.weight": (100, 64), f"{Q}.lora_magnitude_vector": (64,)},
        CONFIG | {"rank_pattern": {}},
    )
    assert read_listing(tmp_path).notes[1:] == (
        f"1 modules have another rank than the config says, the first is {V} with 4",
        "1 tensors with 6,400 elements are whole modules saved with it (modules_to_save), the first is base_model.model.lm_head.weight",
    )


def test_halves_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    save(tmp_path, {**PAIRS, f"{V}.lora_B.weight": (32, 5)})
    with pytest.raises(ReadError, match="lora_A has rank 4 and lora_B 5"):
        read_listing(tmp_path)
    save(tmp_path, {f"{Q}.lora_A.weight": (8, 64)})
    with pytest.raises(ReadError, match="has lora_A without its other half"):
        read_listing(tmp_path)
    save(tmp_path, PAIRS, "[")
    with pytest.raises(ReadError, match="the adapter's config is not JSON"):
        read_listing(tmp_path)


def test_a_pattern_that_could_run_away_is_not_matched(tmp_path: Path) -> None:
    save(tmp_path, PAIRS, CONFIG | {"rank_pattern": {"((a+)+)+x": 3, "(a|a)*b": 4, ".*.*.*.*c": 5, "v_proj": 4, "[": 1}})
    assert len(read_listing(tmp_path).notes) == 1
