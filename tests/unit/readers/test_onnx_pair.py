from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.readers.real import packaged_file
from tests.unit.readers.test_onnx import SMALL
from weighbridge.accounts.parameters import tally_of
from weighbridge.load import checkpoint_of
from weighbridge.readers import read_listing
from weighbridge.readers.onnx_pair import encoder_and_decoder


@pytest.mark.parametrize("model", ["", "_model"])
def test_an_encoder_and_a_decoder_are_one_model(tmp_path: Path, model: str) -> None:
    for side in ("encoder", "decoder"):
        (tmp_path / f"{side}{model}.onnx").write_bytes(SMALL)
    listing = read_listing(tmp_path)
    assert [tensor.name for tensor in listing.tensors if tensor.name.endswith("h.weight")] == ["encoder.h.weight", "decoder.h.weight"]
    twice = "in the decoder may be one, stored twice; both are counted"
    assert listing.notes[1:] == (
        f"table in the encoder and table {twice}, 12 elements each",
        f"h.weight in the encoder and h.weight {twice}, 16 elements each",
    )
    assert tally_of(checkpoint_of(tmp_path)).unique == 2 * (16 + 4 + 12)


def test_more_files_are_left_to_be_named(tmp_path: Path) -> None:
    for name in ("encoder_model.onnx", "decoder_model.onnx", "decoder_with_past_model.onnx"):
        (tmp_path / name).write_bytes(SMALL)
    assert encoder_and_decoder(tmp_path) is None


def test_t5_as_two_files_repeats_its_embedding() -> None:
    folder = packaged_file("traceforge_title_model", "data/span/encoder.onnx").parent
    listing = read_listing(folder)
    assert [note for note in listing.notes if "stored twice" in note] == [
        "enc.embed_tokens.weight_quantized in the encoder and m.shared.weight_quantized in the decoder may be one, stored twice; "
        "both are counted, 16,449,536 elements each"
    ]
    # T5 v1.1 small has 76,961,152 parameters, its table once
    assert tally_of(checkpoint_of(folder)).unique == 76_961_152 + 16_449_536
