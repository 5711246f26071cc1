"""Reports and comparisons: every form holds the library's numbers, and a file is written whole or not at all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import weighbridge
from weighbridge.cli import main
from weighbridge.core.errors import UsageError
from weighbridge.documents.document import Document
from weighbridge.documents.renderers import write
from weighbridge.documents.renderers.treemap import place_tiles, tiles

TOTAL = f"{weighbridge.count('bert-base-chinese').unique:,}"


@pytest.mark.parametrize("suffix", ["html", "md", "tex", "txt"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_report_holds_the_total_the_tree_the_derivation_and_the_counts(tmp_path: Path, suffix: str, language: str) -> None:
    path = tmp_path / f"report.{suffix}"
    assert main(["report", "bert-base-chinese", "--lang", language, "-o", str(path)]) == 0
    text = path.read_text("utf-8")
    for figure in (TOTAL, "16,226,304", "7,087,872", "102,290,312", "85,646,592"):
        assert figure in text, figure
    assert ("各种口径的参数量" in text) == (language == "zh")
    assert not list(tmp_path.glob(".*"))


def test_a_page_asks_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert main(["report", "bert-tiny", "-o", str(path)]) == 0
    text = path.read_text("utf-8")
    assert "<script" not in text
    assert set(re.findall(r"https?://[^\"' <)]*", text)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}
    assert not re.search(r"(?:src|href)=", text)
    assert text.count("<details") == text.count("</details>") > 3


def test_a_report_of_a_model_whose_arithmetic_nobody_can_tell(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"model_type": "mra"}')
    assert main(["report", str(config), "-o", str(tmp_path / "r.md")]) == 0
    assert "cannot be worked out" in (tmp_path / "r.md").read_text("utf-8")


def test_a_picture_is_xml_and_its_areas_are_the_amounts(tmp_path: Path) -> None:
    path = tmp_path / "map.svg"
    assert main(["report", "bert-base-uncased", "-o", str(path)]) == 0
    shapes = ElementTree.parse(path).getroot()
    titles = [title.text for title in shapes.iter("{http://www.w3.org/2000/svg}title")]
    assert "encoder.layer.attention: 12 × 2,363,904" in titles
    from weighbridge.accounts.ledger import ledger
    from weighbridge.accounts.parameters import PARAMETERS
    from weighbridge.documents.renderers.treemap import Box

    root = tiles(ledger(weighbridge.model("bert-base-uncased").tree, PARAMETERS))
    areas = {tile.path: box.width * box.height for tile, box in place_tiles(root, Box(0, 0, 900, 400)) if tile.depth == 1}
    assert areas["encoder"] / areas["embeddings"] == pytest.approx(85_054_464 / 23_837_184)


def test_a_png_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra charts is not installed")
    for words in (["report", "bert-tiny"], ["compare", "bert-tiny", "bert-mini"]):
        assert main([*words, "-o", str(tmp_path / "x.png")]) == 0
        assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert weighbridge.model("bert-tiny").plot().axes


def test_a_workbook_keeps_every_digit(tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter", reason="the extra excel is not installed")
    openpyxl = pytest.importorskip("openpyxl", reason="nothing to read a workbook with")
    path = tmp_path / "big.xlsx"
    words = ["--set", "vocab_size=900000000", "--set", "hidden_size=76800000", "--set", "num_attention_heads=12"]
    assert main(["report", "bert-base-uncased", *words, "-o", str(path)]) == 0
    overrides = {"vocab_size": 900_000_000, "hidden_size": 76_800_000, "num_attention_heads": 12}
    total = weighbridge.count("bert-base-uncased", None, overrides).unique
    assert isinstance(total, int)
    assert total > 1 << 53
    cells = [cell for sheet in openpyxl.load_workbook(path) for row in sheet.iter_rows(values_only=True) for cell in row]
    assert str(total) in cells
    assert not [cell for cell in cells if isinstance(cell, float) and abs(cell) > 1 << 53]


def test_an_ending_that_is_not_known_is_refused_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "no-such-model", "-o", str(tmp_path / "report.doc")]) == 2
    assert "cannot tell the form from '.doc'; known: .txt, .md, .html" in capsys.readouterr().err
    assert main(["compare", "bert-tiny", "bert-mini", "-o", str(tmp_path / "report")]) == 2
    assert "no ending" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_file_is_never_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.md"
    path.write_text("before")
    paper = Document("x")

    def fails(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", fails)
        with pytest.raises(UsageError, match="cannot be written: No space left on device"):
            write(paper, str(path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.md"]
    assert path.read_text() == "before"
    write(paper, str(path))
    assert path.read_text() == "# x\n"
    with pytest.raises(UsageError, match="No such file or directory"):
        write(paper, str(tmp_path / "nowhere" / "report.md"))


def test_a_comparison_is_the_counts_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "bert-base-uncased", "gpt2", "mra", "--json"]) == 2  # mra is a type, not a source of the command line
    assert main(["compare", "bert-base-uncased", "gpt2", "--json", "--seq", "64"]) == 0
    found = json.loads(capsys.readouterr().out)
    measures = {measure["key"]: measure for measure in found["measures"]}
    assert measures["unique"]["values"] == [weighbridge.count(name).unique for name in ("bert-base-uncased", "gpt2")]
    assert measures["unique"]["differences"][0] == 0
    assert measures["forward_matmul"]["values"][1] == weighbridge.model("gpt2").flops(1, 64).forward_matmul
    assert measures["types"]["values"] == [2, None]
    assert measures["types"]["differences"] == [0, None]


def test_a_comparison_in_chinese_and_of_three(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "bert-tiny", "bert-mini", "bert-small", "--lang", "zh"]) == 0
    out = capsys.readouterr().out
    assert "不重复参数" in out
    assert "与 bert-tiny 的差值" in out
    assert main(["compare", "bert-tiny"]) == 2


def test_a_model_in_a_notebook() -> None:
    shown = weighbridge.model("bert-base-chinese")._repr_html_()
    assert TOTAL in shown
    assert "<svg" in shown
    assert "<details open>" in shown
    assert "<script" not in shown


def test_data_frames_hold_the_tensors() -> None:
    model = weighbridge.model("bert-tiny", "BertForMaskedLM")
    pandas = pytest.importorskip("pandas", reason="the extra frames is not installed")
    pytest.importorskip("polars", reason="the extra frames is not installed")
    frame, other = model.to_pandas(), model.to_polars()
    assert isinstance(frame, pandas.DataFrame)
    rows = model.tensors()
    assert list(frame["name"]) == [row.name for row in rows] == other["name"].to_list()
    assert frame[frame["tied_to"].isna()]["count"].sum() == model.count().unique
    assert other["shape"].to_list() == [list(row.shape) for row in rows]


def test_a_file_of_tensors_tells_no_arithmetic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = json.dumps({"layer.0.weight": {"dtype": "F32", "shape": [8, 8], "data_offsets": [0, 256]}}).encode()
    file = tmp_path / "model.safetensors"
    file.write_bytes(len(header).to_bytes(8, "little") + header + bytes(256))
    assert main(["flops", str(file)]) == 2
    assert "the arithmetic needs a config" in capsys.readouterr().err
    assert main(["report", str(file), "-o", str(tmp_path / "r.html")]) == 0
    assert "the arithmetic needs a config" in (tmp_path / "r.html").read_text("utf-8")
    capsys.readouterr()
    assert main(["compare", str(file), "bert-tiny", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {measure["key"]: measure["values"][0] for measure in found["measures"]}["forward_matmul"] is None
    assert "the arithmetic needs a config" in found["untold"][0]
