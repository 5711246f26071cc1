"""Configs in YAML: what PyYAML reads of plain ones, and an error with its line for everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from weighbridge import model
from weighbridge.config.yaml_config import parse_yaml
from weighbridge.core.errors import ConfigError

TINY_LLAMA = """\
attention_scores_scalar: null
bias: false
block_size: 2048
head_size: 64
hf_config:
  name: TinyLlama-1.1B-Chat-v1.0
  org: TinyLlama
intermediate_size: 5632
mlp_class_name: LLaMAMLP
n_embd: 2048
n_head: 32
n_layer: 22
n_query_groups: 4
name: tiny-llama-1.1b-chat
norm_class_name: RMSNorm
norm_eps: 1.0e-05
padded_vocab_size: 32000
parallel_residual: false
rotary_percentage: 1.0
sliding_window_indices:
- 0
- 1
vocab_size: 32000
"""
"""``model_config.yaml`` as LitGPT 0.5 writes it, shortened."""


def test_a_config_of_litgpt(tmp_path: Path) -> None:
    path = tmp_path / "model_config.yaml"
    path.write_text(TINY_LLAMA.replace("sliding_window_indices:\n- 0\n- 1\n", ""), encoding="utf-8")
    found = model(path)
    assert (found.class_name, found.count().unique) == ("litgpt.GPT", 1_100_048_384)
    assert model(path, overrides={"n_layer": 1}).count().unique == 175_118_336


def test_plain_values_are_what_yaml_says() -> None:
    text = TINY_LLAMA + "quoted: 'it: is'\nempty:\nword: 1e-05 # a text in YAML 1.1\nflow: [1, 2]\ndeep:\n    a:\n        b: -3\n    c: ~\n"
    found = parse_yaml("---\n# of LitGPT\n" + text, "x.yaml")
    assert found["hf_config"] == {"name": "TinyLlama-1.1B-Chat-v1.0", "org": "TinyLlama"}
    assert (found["norm_eps"], found["sliding_window_indices"], found["bias"]) == (1e-05, [0, 1], False)
    assert (found["quoted"], found["empty"], found["word"], found["flow"]) == ("it: is", None, "1e-05", [1, 2])
    assert found["deep"] == {"a": {"b": -3}, "c": None}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &x 1\n", 1), ("a: 1\nb: !!python/object x\n", 2), ("a: |\n  text\n", 1), ("a: 1\n  b: 2\n", 2), ("- 1\n", 1),
        ("a:\n- x: 1\n", 2), ("a: *x\n", 1), ("a: 'open\n", 1), ("a: [1\n", 1), ("a:\n" + "".join(" " * n + "a:\n" for n in range(1, 40)), 22),
    ],
)  # fmt: skip
def test_anything_else_is_refused_by_its_line(text: str, line: int) -> None:
    with pytest.raises(ConfigError, match=f"x.yaml, line {line}: expected a key with a plain value, a list or keys below it"):
        parse_yaml(text, "x.yaml")


def test_a_key_that_stands_twice() -> None:
    with pytest.raises(ConfigError, match="n_layer: the key stands twice in one object"):
        parse_yaml("n_layer: 1\nn_layer: 2\n", "x.yaml")
