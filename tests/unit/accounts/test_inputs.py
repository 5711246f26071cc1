"""What is put in: numbers and text alike, one line for what cannot be meant."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from weighbridge import Model, UsageError, flops_per_token, kv_bytes, model
from weighbridge.accounts.inputs import INPUTS, LARGEST, Inputs, inputs


def test_the_table_and_the_record_name_the_same() -> None:
    assert tuple(entry.name for entry in INPUTS) == Inputs._fields
    assert {entry.name: entry.default for entry in INPUTS} == Inputs()._asdict()


def test_text_and_numbers_are_read_alike() -> None:
    said = {"batch": 2, "seq": 16, "decoder_seq": 7, "encoder_seq": 9, "images": 3, "patches": (4, 6), "audios": 1, "question": 5}
    text = {name: "4x6" if name == "patches" else str(value) for name, value in said.items()}
    assert inputs(said) == inputs(**said) == inputs(text) == inputs({**text, "source": "bert"}) == Inputs(**said)  # type: ignore[arg-type]
    assert inputs(said | {"patches": [4, 6]}).patches == inputs(said | {"patches": ["4", "6"]}).patches == (4, 6)


def test_what_is_not_said_is_the_default() -> None:
    assert inputs() == inputs({}) == inputs({"seq": None, "images": "", "batch": None}) == Inputs()
    assert inputs({"seq": "9"}, seq=11).seq == 11


def test_lengths_by_stream() -> None:
    assert Inputs().lengths() == {"seq": 128, "decoder": 128}
    assert inputs(seq=5, decoder_seq=3, encoder_seq=2, images=1, patches=(4, 6), audios=8, question=1).lengths() == {
        "seq": 5,
        "decoder": 3,
        "encoder": 2,
        "images": 1,
        "rows": 4,
        "columns": 6,
        "audios": 8,
        "question": 1,
    }


@pytest.mark.parametrize("name", [entry.name for entry in INPUTS if not entry.example])
@pytest.mark.parametrize("value", [0, -1, True, 1.0, "1.0", "-1", "x", "٣", "1" * 30, LARGEST + 1, str(LARGEST + 1), [1], b"1"])
def test_what_is_no_whole_number(name: str, value: object) -> None:
    with pytest.raises(UsageError) as caught:
        inputs({name: value})
    assert str(caught.value) == f"{name}: expected a whole number from 1 to 999,999,999, found {value!r:.40}"


@pytest.mark.parametrize("value", [LARGEST, str(LARGEST), 1, "1", "0012"])
def test_the_ends_are_taken(value: object) -> None:
    assert inputs({"seq": value}).seq == int(str(value))


@pytest.mark.parametrize("text", ["16", "x", "16x", "axb", "1x2x3", "-1x2", "1" * 30 + "x1", 16, (1,), (1, 2, 3), (1.0, 2), (True, 2)])
def test_what_is_no_grid(text: object) -> None:
    with pytest.raises(UsageError, match="patches: expected rows and columns such as 16x24, found "):
        inputs(patches=text)
    with pytest.raises(UsageError, match="patches: expected a whole number from 1"):
        inputs(patches=(1, 0))


def test_integers_of_numpy_are_taken_everywhere() -> None:
    numpy = pytest.importorskip("numpy")
    four, weighed = numpy.int32(4), model("bert-tiny")
    llama = model("llama-3.2-1b")
    assert inputs(seq=four) == inputs(seq=4) and type(inputs(seq=four).seq) is int
    assert llama.cache(four, four).bytes == llama.cache(4, 4).bytes == kv_bytes(llama, four, four)
    assert flops_per_token("bert-tiny", four) == flops_per_token("bert-tiny", 4)
    assert llama.parallel(tp=four, zero=numpy.int64(0)).largest == llama.parallel(tp=4).largest
    assert llama.fits(gib=four, batch=four) == llama.fits(gib=4, batch=4)  # 4 * 2**30 is beyond 32 bits
    assert weighed.adapters({"peft_type": "LORA", "r": four}).trainable == weighed.adapters("lora:r=4").trainable
    assert (
        weighed.memory(dtype=numpy.dtype("float16")).weights
        == weighed.memory(dtype="torch.float16").weights
        == weighed.memory().weights // 2
    )
    with pytest.raises(UsageError, match="batch: expected a whole number from 1"):
        llama.cache(batch=numpy.array([1, 2]))


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda weighed: weighed.memory(training="yes"), "training: expected True or False, found 'yes'"),
        (lambda weighed: weighed.memory(dropout="no"), "dropout: expected True or False, found 'no'"),
        (lambda weighed: weighed.memory(loss=0.5), "loss: expected True or False, found 0.5"),
        (lambda weighed: weighed.parallel(dp=2, fsdp="no"), "fsdp: expected True or False, found 'no'"),
        (lambda weighed: weighed.parallel(zero=True), "zero: expected one of 0, 1, 2, 3, found True"),
        (lambda weighed: weighed.parallel(dtype="fp16"), "dtype: fp16 is called float16 here"),
    ],
)
def test_words_that_are_no_switch_and_no_type(ask: Callable[[Model], object], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask(model("bert-tiny"))
    assert str(caught.value) == text
