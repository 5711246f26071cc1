"""A count names other classes of the config; one that the config does not make is passed over."""

import json
from pathlib import Path

import pytest

from weighbridge.cli import main


def test_a_class_that_cannot_be_made_does_not_refuse_the_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "data2vec-vision", "out_indices": [3, 5]}))
    assert main([str(path)]) == 0
    assert "Data2VecVisionModel" in capsys.readouterr().out
