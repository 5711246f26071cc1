"""What a visitor can change: each key once, whatever reads it."""

import pytest

import weighbridge
from weighbridge.core.messages import translator
from weighbridge.web.controls import controls


@pytest.mark.parametrize("source", ["deepseek-v3", "llama-3-8b", "whisper-tiny", "qwen2-vl-7b"])
def test_a_key_has_one_control(source: str) -> None:
    keys = [control.key for control in controls(weighbridge.model(source), translator("en"))]
    assert keys
    assert len(keys) == len(set(keys))
