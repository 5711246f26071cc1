"""``weigh tensors --style``: the lines of other tools, held to what those tools print, and read back by the audit without an alarm."""

from __future__ import annotations

import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import weighbridge
from tests.unit.safetensors_file import write
from weighbridge.auditing import audit
from weighbridge.cli import main
from weighbridge.documents.renderers.wrapping import measure
from weighbridge.documents.tensor_styles import STYLES, print_tensors

SEED = Path(__file__).parents[4] / "shared" / "seeds" / "001_ec2b921b4caf4c91.txt"
RECORDED = json.loads((Path(__file__).parent / "torchinfo.json").read_text("utf-8"))["cases"]
assert RECORDED
TINY = {
    "model_type": "bert",
    "num_hidden_layers": 1,
    "vocab_size": 100,
    "hidden_size": 8,
    "num_attention_heads": 2,
    "intermediate_size": 16,
}
SLIM = """---------
Variables: name (type shape) [size]
---------
bert/embeddings/word_embeddings:0 (float32_ref 100x8) [800, bytes: 3200]
bert/embeddings/position_embeddings:0 (float32_ref 512x8) [4096, bytes: 16384]
bert/embeddings/token_type_embeddings:0 (float32_ref 2x8) [16, bytes: 64]
bert/embeddings/LayerNorm/gamma:0 (float32_ref 8) [8, bytes: 32]
"""
"""What ``tf_slim.model_analyzer.analyze_vars`` (tf_slim 1.1.0, TensorFlow 2.21.0) prints first for variables of these names and shapes."""


def rows(text: str) -> list[list[object]]:
    """Read back the rows of torchinfo: depth, name, figure."""
    found: list[list[object]] = []
    for line in text.splitlines():
        match = re.fullmatch(r"((?:├─|(?:│    )*└─)?)\S+ \((.*?)\)\s+(\S+)", line)
        if match and "Layer (type" not in line:
            depth = 0 if not match[1] else 1 if match[1] == "├─" else match[1].count("│    ") + 1
            found.append([depth, match[2], match[3]])
    return found


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["class"])
def test_torchinfo_prints_the_same_of_the_live_class(case: dict[str, object]) -> None:
    text = print_tensors(weighbridge.model(case["config"], str(case["class"])), "torchinfo")
    assert rows(text)[1:] == case["rows"][1:]  # type: ignore[index]
    assert [line for line in text.splitlines() if "params:" in line] == case["totals"]


def test_the_lines_of_the_torch_style_are_those_of_the_loop() -> None:
    model = weighbridge.model("bert-base-uncased", "BertForMaskedLM")
    lines = [line for line in print_tensors(model, "torch").splitlines() if not line.startswith("#")]
    assert lines[0] == "bert.embeddings.word_embeddings.weight torch.Size([30522, 768]) parameters: 23440896"
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == model.count().unique
    plain = print_tensors(weighbridge.model("bert-base-uncased"), "torch")
    assert "#" not in plain, "nothing is left to say of a model without ties and buffers"


@pytest.mark.skipif(not SEED.is_file(), reason="the seeds are not here")
def test_every_line_of_seed_001_is_printed() -> None:
    seed = [line.strip() for line in SEED.read_text("utf-8").splitlines() if "torch.Size" in line]
    lines = print_tensors(weighbridge.model("bert-base-uncased", "BertForMaskedLM"), "torch", lang="zh").splitlines()
    assert seed
    assert [line for line in seed if line not in lines] == []


def test_tensorflows_list_of_variables() -> None:
    text = print_tensors(weighbridge.model(TINY), "tensorflow")
    assert text.startswith(SLIM)
    total = weighbridge.count(TINY).unique
    assert f"Total size of variables: {total}\nTotal bytes of variables: {4 * int(str(total))}\n" in text
    with pytest.raises(weighbridge.UsageError, match="no names 'tensorflow' for this model"):
        print_tensors(weighbridge.model("llama-3-8b"), "tensorflow")


def test_keras_has_a_row_for_each_layer_with_parameters() -> None:
    text = print_tensors(weighbridge.model("bert-base-uncased"), "keras")
    assert text.splitlines()[0] == 'Model: "BertModel"'
    assert re.search(r"│ embeddings.word_embeddings \(Embedding\) +│ \? +│ 23,440,896 │", text)
    assert re.search(r"│ encoder.layer.11.output.LayerNorm \(LayerNormalization\) +│ \? +│ +1,536 │", text)
    assert " Total params: 109,482,240 (417.64 MB)\n Trainable params: 109,482,240 (417.64 MB)\n Non-trainable params: 0 (0.00 B)\n" in text


def test_keras_needs_no_library_and_its_table_is_even(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)  # what draws Keras's own table is no dependency of ours
    write(tmp_path / "m.safetensors", {"词嵌入.weight": (4, 3), "[bold].weight": (2,)})
    table = [
        line for line in print_tensors(weighbridge.model(str(tmp_path / "m.safetensors")), "keras").splitlines() if line[0] in "┏┃┡│├└"
    ]
    assert len(table) == 7
    assert len({measure(line) for line in table}) == 1


@pytest.mark.skipif(find_spec("keras") is None, reason="keras is not installed")
def test_keras_prints_the_same_of_its_own_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    import keras  # type: ignore[import-not-found,unused-ignore]

    monkeypatch.setenv("COLUMNS", "160")
    text = print_tensors(weighbridge.model({**TINY, "hidden_size": 16, "num_attention_heads": 2}), "keras")
    layer = keras.layers.Dense(16, name="pooler.dense")
    layer.build((None, 16))
    model = keras.Sequential([layer], name="BertModel")
    lines: list[str] = []
    model.summary(print_fn=lambda line, **_: lines.append(line), line_length=100)
    live = "\n".join(lines)
    assert re.search(r"│ pooler.dense \(Dense\) +│ .* │ +272 │", live)
    assert re.search(r"│ pooler.dense \(Dense\) +│ \? +│ +272 │", text)


@pytest.mark.sweep
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("source", "class_name"),
    [
        ("bert-base-uncased", None),
        ("bert-base-chinese", "BertForPreTraining"),
        ("bert-large-uncased", "BertForMaskedLM"),
        ("llama-3-8b", None),
        ("t5-small", None),
    ],
)
def test_the_audit_reads_it_back_without_an_alarm(style: str, source: str, class_name: str | None) -> None:
    model = weighbridge.model(source, class_name)
    try:
        text = print_tensors(model, style)
    except weighbridge.UsageError:
        assert style == "tensorflow"
        return
    assert not audit(text).wrong
    assert not audit(text, model=model).wrong


def test_ties_and_buffers_are_said() -> None:
    masked = weighbridge.model("bert-base-uncased", "BertForMaskedLM")
    assert "# Tied tensors are listed once, under the name that owns them." in print_tensors(masked, "torch")
    assert "each once, they are 109,514,298." in print_tensors(masked, "torchinfo")
    assert "elements are in buffers, not parameters" in print_tensors(weighbridge.model("resnet-50"), "torch")
    assert "# 共享的张量只列一次" in print_tensors(masked, "torch", lang="zh")


def test_other_names_with_the_torch_style() -> None:
    text = print_tensors(weighbridge.model("bert-base-uncased"), "torch", "tensorflow")
    assert text.startswith("bert/embeddings/word_embeddings torch.Size([30522, 768])")
    with pytest.raises(weighbridge.UsageError, match="lists modules, which have only the reference's own names"):
        print_tensors(weighbridge.model("bert-base-uncased"), "keras", "tensorflow")


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tensors", "bert-base-uncased", "--style", "torch"]) == 0
    assert capsys.readouterr().out.count("torch.Size") == 199
    assert main(["tensors", "bert-base-uncased", "--style", "torch", "--json"]) == 2
    assert main(["tensors", "bert-base-uncased", "--style", "word"]) == 2
    assert "--style and --format contradict each other" in capsys.readouterr().err


@pytest.mark.parametrize("style", ["torch", "torchinfo", "keras"])
def test_a_name_makes_no_line_of_its_own(style: str, tmp_path: Path) -> None:
    write(tmp_path / "m.safetensors", {"a\nTotal params: 5\n.weight": (2, 2), "b\t\r.c.weight": (3,)})
    lines = print_tensors(weighbridge.model(str(tmp_path / "m.safetensors")), style).splitlines()
    assert not any(line.startswith("Total params: 5") for line in lines)
    assert any("a\\nTotal params: 5\\n" in line for line in lines)
