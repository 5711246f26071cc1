"""Configs in YAML: plain values, lists and mappings are read, and everything else is an error with its line."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from weighbridge import model
from weighbridge.config.yaml_config import parse_yaml
from weighbridge.core.errors import ConfigError, UsageError

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
    text = (
        TINY_LLAMA
        + "quoted: 'it: is'\nempty:\nword: 1e-05 # a text in YAML 1.1\nflow: [1, 2]\ndeep:\n    a:\n        b: -3\n    c: ~\nday: 2026-11-23\nlong: |\n  two\n  lines\n"
    )
    found = parse_yaml("---\n# of LitGPT\n" + text, "x.yaml")
    assert found["hf_config"] == {"name": "TinyLlama-1.1B-Chat-v1.0", "org": "TinyLlama"}
    assert (found["norm_eps"], found["sliding_window_indices"], found["bias"]) == (1e-05, [0, 1], False)
    assert (found["quoted"], found["empty"], found["word"], found["flow"]) == ("it: is", None, "1e-05", [1, 2])
    assert (found["day"], found["long"]) == ("2026-11-23", "two\nlines\n")
    assert found["deep"] == {"a": {"b": -3}, "c": None}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &x 1\n", 1),
        ("a: 1\nb: !!python/object/apply:os.system [x]\n", 2),
        ("a: !!binary aGVsbG8=\n", 1),
        ("a: *x\n", 1),
        ("a: 1\n  b: 2\n", 2),
        ("a: 'open\n", 2),
        ("a: [1\n", 2),
        ("a: 1\n? [1]\n: 2\n", 2),
        ("- 1\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: " + "9" * 5000, 1),
        ("a: " + "[" * 1000, 1),
        ("a:\n" + "".join(" " * n + "a:\n" for n in range(1, 40)), 19),
    ],
)
def test_anything_else_is_refused_by_its_line(text: str, line: int) -> None:
    with pytest.raises(ConfigError, match=rf"x\.yaml, line {line}: expected a key with a plain value, a list or keys below it"):
        parse_yaml(text, "x.yaml")


def test_a_few_lines_that_stand_for_billions_of_values_are_refused_at_the_first() -> None:
    laughs = "a: &a [lol, lol, lol]\n" + "".join(f"{b}: &{b} [{', '.join(f'*{a}' for _ in range(9))}]\n" for a, b in pairwise("abcdefghij"))
    with pytest.raises(ConfigError, match=r"x\.yaml, line 1: "):
        parse_yaml(laughs, "x.yaml")


def test_a_text_longer_than_a_config_is_not_read() -> None:
    with pytest.raises(ConfigError, match=r"x\.yaml has 70,001 characters; a config in YAML has at most 65,536"):
        parse_yaml("a: " + "x" * 69_998, "x.yaml")


@pytest.mark.parametrize(("text", "message"), [("# nothing\n", "is empty"), ("a: \x01", "has characters that YAML does not allow")])
def test_what_is_no_config_at_all(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=rf"x\.yaml {message}"):
        parse_yaml(text, "x.yaml")


def test_a_key_that_stands_twice() -> None:
    with pytest.raises(ConfigError, match="n_layer: the key occurs twice in one object"):
        parse_yaml("n_layer: 1\nn_layer: 2\n", "x.yaml")


def test_without_pyyaml_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageError, match=r"x\.yaml: a config in YAML needs PyYAML: pip install 'weighbridge\[yaml\]'"):
        parse_yaml("a: 1", "x.yaml")
