"""The index is what the blueprint files say, and every recipe of random configs is named like one of them or used by one."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path

from weighbridge.blueprints import MODULES, family, model_type_of

ROOT = Path(__file__).parents[3]


def test_the_index_is_what_the_files_say() -> None:
    loader = SourceFileLoader("index_script", str(ROOT / "scripts" / "index"))
    spec = importlib.util.spec_from_loader("index_script", loader)
    assert spec is not None
    script = importlib.util.module_from_spec(spec)
    loader.exec_module(script)
    written = script.texts()
    assert len(written) == 4
    for path, text in written.items():
        assert path.read_text("utf-8") == text, f"{path.name}: run scripts/index"


def test_a_class_belongs_to_the_type_of_the_shortest_name() -> None:
    assert model_type_of("LlamaForCausalLM") == "llama"
    assert model_type_of("GPT2LMHeadModel") == "gpt2"
    assert model_type_of("NoSuchModel") is None


def test_every_type_has_a_family_of_its_own_name() -> None:
    assert MODULES
    assert all(family(model_type).model_type == model_type for model_type in MODULES)
