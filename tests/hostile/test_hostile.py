"""A few thousand hostile cases against every command that takes them: no traceback, no end that does not come, no wrong number, nothing that acts.

``python -m tests.hostile.sweep`` runs every case against every command; here each case meets ``count``, and each command some of the cases.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import pytest

from tests.hostile import checkpoints, configs, families
from tests.hostile.commands import CONFIG_COMMANDS, FILE_COMMANDS, fill, form_of
from tests.hostile.configs import REFUSED, HostileConfig
from tests.hostile.judge import Outcome, fault, parameters_of, weigh
from tests.shares import share
from tests.unit.safetensors_file import write as write_tensors
from weighbridge.core.files import is_file_name

LARGE = 4_000_000
"""Bytes of a config from which on a quarter of the commands meet it; ``count`` meets all of them."""

GROUPS = 8
"""Into how many tests the cases are dealt, so that they share the cores."""

SHOWN = {
    "a key twice", "nested objects", "UTF-16", "half a UTF-8 letter", "a key of a megabyte", "nested sub-configs", "layers without end", "experts without end", "stages without end",
    "a thousand classes", "a hundred thousand layer types", "hidden_size: a thousand million", "num_attention_heads: NaN", "vocab_size: an escape code", "intermediate_size: 4,300 digits",
    "text_config: a list", "quantization_config: true", "rope_parameters: 2^63", "gemma3_text, layer_types: a list of lists", "gemma3_text, layer_types: Infinity", "gemma3_text, num_hidden_layers: a thousand million", "model_type: a list", "a million labels", "clip, vision_config: an object of itself", "100,000 keys", "id2label: 2^63",
}  # fmt: skip
"""Configs that every command meets: those that once were too much for one, and one of each kind."""


@cache
def files_made() -> list[checkpoints.HostileFile]:
    """Return the hostile files; the archives among them are made where they are written, for that takes seconds."""
    return list(checkpoints.hostile_files())


@cache
def configs_made() -> list[HostileConfig]:
    """Return the hostile configs."""
    return list(configs.hostile_configs())


def test_every_file_has_a_name_of_its_own() -> None:
    names = [file.name for file in files_made()]
    assert len(names) == len(set(names)) > 200


def wrong(expected: int | str, found: Outcome, number: int | None) -> str | None:
    """Tell whether the number is wrong, or a refusal is missing."""
    if expected == REFUSED and number is not None:
        return f"not refused, but counted: {number:,}"
    if isinstance(expected, int) and number != expected:
        return f"{number} in place of {expected:,}: {found.err[:200]}"
    return None


@pytest.mark.parametrize("group", range(GROUPS))
def test_every_config_is_counted_exactly_or_refused(group: int, tmp_path: Path) -> None:
    faults = {}
    for config in configs_made()[group::GROUPS]:
        found = weigh(["count", str(configs.write(config, tmp_path)), "--json"])
        faults[config.name] = fault(found, "json") or wrong(config.expected, found, parameters_of(found))
    assert {name: said for name, said in faults.items() if said} == {}
    assert len(faults) > 200


@pytest.mark.parametrize("group", share(range(GROUPS), 2))
def test_every_file_is_counted_exactly_or_refused(group: int, tmp_path: Path) -> None:
    faults = {}
    for number, file in enumerate(files_made()[group::GROUPS]):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = weigh(["count", str(checkpoints.write(file, folder)), "--json"])
        faults[file.name] = fault(found, "json") or wrong(file.expected, found, parameters_of(found, "stored"))
    assert {name: said for name, said in faults.items() if said} == {}
    assert len(faults) > 25


def test_every_model_type_bears_every_kind_of_value(tmp_path: Path) -> None:
    faults = {}
    for config in families.hostile_families(400, 20261122):
        found = weigh(["count", str(configs.write(config, tmp_path)), "--json"])
        faults[config.name] = fault(found, "json")
    assert {name: said for name, said in faults.items() if said} == {}


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    write_tensors(tmp_path / "honest.safetensors", {"embeddings.word_embeddings.weight": (16, 8)})
    (tmp_path / "article.md").write_text("BERT has 110M parameters; 3 × 4 = 13.")
    return {"file": str(tmp_path / "honest.safetensors"), "article": str(tmp_path / "article.md"), "folder": str(tmp_path)}


@pytest.mark.sweep
@pytest.mark.parametrize("command", CONFIG_COMMANDS)
def test_every_command_bears_configs(command: str, places: dict[str, str], tmp_path: Path) -> None:
    faults = {}
    shown = [config for config in configs_made() if config.name in SHOWN]
    assert len(shown) == len(SHOWN)
    turn = list(CONFIG_COMMANDS).index(command) % 4  # a million labels take half a second, and all commands read them alike
    chosen = [config for config in shown if turn == 0 or len(config.data) < LARGE]
    for config in (*chosen, *Random(command).sample(list(configs.values()), 10)):
        faults[config.name] = run(command, config, places, tmp_path)
    assert {name: said for name, said in faults.items() if said} == {}


def run(command: str, config: HostileConfig, places: dict[str, str], folder: Path) -> str | None:
    """Give a config to a command, and tell what is wrong with the answer."""
    path = configs.write(config, folder)
    return fault(weigh(fill(command, source=path, **places), given=config.data), form_of(command))


@pytest.mark.sweep
@pytest.mark.parametrize("command", FILE_COMMANDS)
def test_every_command_bears_files(command: str, places: dict[str, str], tmp_path: Path) -> None:
    faults = {}
    files = [file for file in files_made() if len(file.data) < 1_000_000]
    for number, file in enumerate(Random(command).sample(files, 30)):
        folder = tmp_path / f"folder{number}"
        folder.mkdir()
        words = fill(command, source=checkpoints.write(file, folder), **{**places, "folder": str(folder)})
        faults[file.name] = fault(weigh(words), form_of(command))
    assert {name: said for name, said in faults.items() if said} == {}


def test_a_census_bears_all_of_them_at_once(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra bulk is not installed")
    for number, file in enumerate(file for file in files_made() if len(file.data) < 300_000):
        folder = tmp_path / "models" / str(number)
        folder.mkdir(parents=True)
        checkpoints.write(file, folder)
    for number, config in enumerate(config for config in configs.TEXTS if len(config.data) < 300_000):
        folder = tmp_path / "models" / f"config{number}"
        folder.mkdir()
        configs.write(config, folder)
    found = weigh(["census", str(tmp_path / "models"), "-o", str(tmp_path / "out.parquet"), "--jobs", "1", "--json"], 30)
    assert fault(found, "json") is None
    assert found.code in (0, 1)


@pytest.mark.parametrize("place", [name.encode().decode("unicode_escape") for name in checkpoints.NAMES if name not in ("~/x", "\\ud800")])
def test_no_name_that_leads_elsewhere_on_any_system_is_a_file(place: str) -> None:
    if place not in ("$HOME/x", "%2e%2e%2fx"):
        assert not is_file_name(place)
