"""A tensor that the class ties and the file holds twice: proven separate by a byte, a copy only when all are read."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.unit import safetensors_file
from weighbridge import model
from weighbridge.cli import main
from weighbridge.readers.samples import SAMPLE_BYTES, SAMPLES, Extent, compare, find
from weighbridge.verification.verify import verify_checkpoint

CONFIG: dict[str, Any] = {
    "model_type": "t5",
    "architectures": ["T5ForConditionalGeneration"],
    "vocab_size": 512,
    "d_model": 32,
    "d_ff": 64,
    "d_kv": 8,
    "num_layers": 2,
    "num_heads": 4,
    "feed_forward_proj": "gated-gelu",
    "tie_word_embeddings": False,
}
HEAD = 512 * 32


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a directory with a T5 whose file holds the head as a tensor of its own, all zeros."""
    shapes = {row.name: row.shape for row in model(CONFIG).tensors() if row.tied_to is None or row.name == "lm_head.weight"}
    safetensors_file.write(tmp_path / "model.safetensors", shapes)  # type: ignore[arg-type]
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    return tmp_path


def change(folder: Path, name: str, at: int) -> None:
    """Change one byte of a tensor."""
    place = find(folder, [name])[name]
    with place.path.open("r+b") as file:
        file.seek(place.begin + at)
        file.write(b"\1")


def of_the_head(folder: Path, *, thorough: bool = False) -> tuple[str, bool | None, int | None]:
    found = verify_checkpoint(folder, thorough=thorough)
    (finding,) = (finding for finding in found.explained if finding.name == "lm_head.weight")
    assert found.holds and finding.elements == HEAD
    return finding.reason, finding.separate, found.loaded


def test_one_differing_byte_proves_it_separate(folder: Path) -> None:
    built = model(CONFIG).count().unique
    change(folder, "lm_head.weight", HEAD * 4 // 8)
    reason, separate, loaded = of_the_head(folder)
    assert reason.startswith("separate from shared.weight (byte 8,192 differs)")
    assert (separate, loaded) == (True, built + HEAD)


def test_equal_samples_are_only_probably_a_copy(folder: Path) -> None:
    reason, separate, loaded = of_the_head(folder)
    assert reason.startswith(f"probably a copy of shared.weight, whose storage it shares in the class: {SAMPLES * SAMPLE_BYTES:,} bytes")
    assert (separate, loaded) == (None, None)


def test_all_bytes_prove_a_copy_or_find_the_one_that_differs(folder: Path) -> None:
    reason, separate, loaded = of_the_head(folder, thorough=True)
    assert reason.endswith(f"all {HEAD * 4:,} bytes are equal")
    assert (separate, loaded) == (False, None)
    change(folder, "lm_head.weight", 3)
    assert of_the_head(folder)[1] is None
    assert of_the_head(folder, thorough=True)[1] is True


def test_the_command_reads_all_when_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(folder, "lm_head.weight", 3)
    assert main(["verify", str(folder), "--thorough", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["loaded"] == answer["parameters"] + HEAD
    assert [finding["separate"] for finding in answer["explained"]] == [True]


def test_a_header_alone_cannot_tell(folder: Path) -> None:
    """A dtype of its own makes the bytes incomparable."""
    one = find(folder, ["shared.weight"])["shared.weight"]
    assert compare(one, one._replace(dtype="BF16")) is None
    assert compare(one, one._replace(size=4)) is None


def test_shards_are_found_by_their_index(folder: Path, tmp_path: Path) -> None:
    data = (folder / "model.safetensors").read_bytes()
    (tmp_path / "sharded").mkdir()
    names = list(find(folder, [row.name for row in model(CONFIG).tensors()]))
    (tmp_path / "sharded" / "model-00001-of-00001.safetensors").write_bytes(data)
    weight_map = dict.fromkeys(names, "model-00001-of-00001.safetensors")
    (tmp_path / "sharded" / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    assert set(find(tmp_path / "sharded", names)) == set(names)


def test_a_deflated_archive_gives_no_places(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "weights.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("w.npy", bytes(100))
    assert find(tmp_path / "weights.npz", ["w"]) == {}


def test_a_small_tensor_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(bytes(range(100)) * 2)
    one = Extent(tmp_path / "bytes", 0, 100, "U8")
    found = compare(one, one._replace(begin=100))
    assert found is not None and found.equal and found.whole
