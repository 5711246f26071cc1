"""Classes without a blueprint, by way of the reference library; without it, a refusal that says what is missing."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

import weighbridge
from weighbridge.core.errors import ConfigError, UnknownArchitecture, UsageError

INSTALLED = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
needs_reference = pytest.mark.skipif(not INSTALLED, reason="torch and transformers are not installed; scripts/truth --check has them")


@pytest.mark.skipif(INSTALLED, reason="torch and transformers are installed")
def test_without_the_library_one_is_told_so() -> None:
    with pytest.raises(UsageError, match="--via transformers needs torch and transformers installed"):
        weighbridge.model("bert-base-uncased", via="transformers")


def test_nothing_else_stands_in() -> None:
    with pytest.raises(UsageError, match="--via jax: expected transformers, the only library"):
        weighbridge.model("bert-base-uncased", via="jax")


@needs_reference
@pytest.mark.filterwarnings("ignore")
def test_the_library_and_the_blueprint_agree() -> None:
    ours = weighbridge.model("bert-tiny", "BertForPreTraining")
    theirs = weighbridge.model("bert-tiny", "BertForPreTraining", via="transformers")
    assert [(row.name, row.shape, row.tied_to) for row in theirs.tensors()] == [
        (row.name, row.shape, row.tied_to) for row in ours.tensors()
    ]
    assert theirs.kind == "module"
    assert theirs.count().unique == ours.count().unique
    assert "no weights were loaded" in theirs.notes[0]


@needs_reference
@pytest.mark.filterwarnings("ignore")
def test_a_type_without_a_blueprint_is_counted() -> None:
    raw = {"model_type": "timesformer", "num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
    assert weighbridge.model(raw, via="transformers").count().unique not in (0, None)


@needs_reference
@pytest.mark.filterwarnings("ignore")
def test_refusals_name_what_is_wrong() -> None:
    with pytest.raises(UnknownArchitecture, match="the installed transformers has no such type"):
        weighbridge.model({"model_type": "nope"}, via="transformers")
    with pytest.raises(UnknownArchitecture, match="the installed transformers has no class 'Nope'"):
        weighbridge.model({"model_type": "bert"}, "Nope", via="transformers")
    with pytest.raises(ConfigError, match="refuses this config"):
        weighbridge.model({"model_type": "bert", "hidden_size": 7, "num_attention_heads": 2}, via="transformers")


@needs_reference
@pytest.mark.filterwarnings("ignore")
def test_remote_code_runs_only_when_it_is_trusted(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w').close()\n"
    (tmp_path / "modeling_own.py").write_text(
        code + "import torch\nfrom transformers import PreTrainedConfig, PreTrainedModel\n"
        "class OwnConfig(PreTrainedConfig):\n    model_type = 'own-type'\n"
        "class OwnModel(PreTrainedModel):\n    config_class = OwnConfig\n"
        "    def __init__(self, config):\n        super().__init__(config)\n        self.dense = torch.nn.Linear(3, 5)\n        self.post_init()\n"
    )
    auto = {"AutoConfig": "modeling_own.OwnConfig", "AutoModel": "modeling_own.OwnModel"}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "own-type", "architectures": ["OwnModel"], "auto_map": auto}))
    with pytest.raises(UnknownArchitecture, match="only with --trust-remote-code"):
        weighbridge.model(tmp_path, via="transformers")
    assert not mark.exists()
    assert weighbridge.model(tmp_path, via="transformers", trust_remote_code=True).count().unique == 20
    assert mark.exists()
