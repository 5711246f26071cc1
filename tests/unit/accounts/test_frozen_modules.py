"""Models of which a part is trained, held to live ones with ``requires_grad`` set on random modules, recorded."""

import json
from pathlib import Path

from truth.frozen_modules import ours

RECORDED = Path(__file__).parents[2] / "costs" / "frozen.jsonl"


def test_what_is_trained_is_what_live_models_train() -> None:
    """Trainable and all parameters, bytes of gradients, and of AdamW's states after a step (``python -m truth.frozen_modules``)."""
    _, *cases = map(json.loads, RECORDED.read_text("utf-8").splitlines())
    assert len(cases) > 100
    for _, class_name, config, how, names, expected in cases:
        assert ours(class_name, config, how, names) == expected, (class_name, how, names, config)
