"""weigh formula in its forms."""

import json

import pytest

from weighbridge.cli import main


def output_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["formula", "bert-base-uncased", *words]) == 0
    return capsys.readouterr().out


def test_text_has_the_closed_and_the_collected_formula(capsys: pytest.CaptureFixture[str]) -> None:
    text = output_of(capsys)
    assert "V × H + S × H + T × H + H² + 3 × H + L × (4 × H² + 2 × H × I + 9 × H + I)" in text
    assert "12 × L × H² + V × H" in text


def test_json_evaluates_to_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(output_of(capsys, "--json"))
    values = {symbol["letter"]: symbol["value"] for symbol in data["symbols"]}
    assert eval(data["text"].replace("^", "**"), values) == data["value"] == 109482240
    assert data["relations"] == ["I = 4*H"]
    assert {module["path"]: module["value"] for module in data["modules"]}["encoder.layer"] == 7087872


def test_flops_evaluate_to_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(output_of(capsys, "--flops", "--json"))
    values = {symbol["letter"]: symbol["value"] for symbol in data["symbols"]}
    assert eval(data["text"].replace("^", "**"), values) == data["value"] == 22348431360


def test_sympy_reads_what_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    sympy = pytest.importorskip("sympy")
    symbols = {letter: sympy.Symbol(letter) for letter in "VSTHIL"}
    found = sympy.sympify(output_of(capsys, "--format", "sympy"), locals=symbols)
    assert found.subs({symbols[k]: v for k, v in {"V": 30522, "S": 512, "T": 2, "H": 768, "I": 3072, "L": 12}.items()}) == 109482240


@pytest.mark.parametrize(("form", "start"), [("latex", r"V \times H"), ("mathml", "<math><mrow><mi>V</mi>")])
def test_the_formula_alone(form: str, start: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert output_of(capsys, "--format", form).startswith(start)


def test_chinese_explains_the_symbols(capsys: pytest.CaptureFixture[str]) -> None:
    assert "词表大小" in output_of(capsys, "--lang", "zh")
