"""Files that the gguf library writes: of every architecture that it knows, split ones, and LoRAs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.unit.readers.gguf_names import name_map
from weighbridge.readers import read_listing
from weighbridge.readers.gguf_architectures import VARIANTS
from weighbridge.readers.gguf_models import _steps
from weighbridge.readers.gguf_relatives import FAMILY
from weighbridge.readers.gguf_table import BORROWED, KNOWN, UNJUDGED

gguf: Any = pytest.importorskip("gguf")
np: Any = pytest.importorskip("numpy")

Steps: TypeAlias = list[tuple[re.Pattern[str], tuple[str, ...]]]
UNLISTED = {"chatglm"}
"""Architectures of which the library's table has another implementation's names."""


def names_of(number: int) -> list[str]:
    """Return the names of an architecture's tensors, in two layers."""
    bases = [gguf.TENSOR_NAMES[tensor] for tensor in gguf.MODEL_TENSORS[number]]
    names = [base.format(bid=layer, xid=0) for base in bases for layer in (range(2) if "{bid}" in base else (0,))]
    return [f"{name}.weight" for name in dict.fromkeys(names)]


def write(path: Path, architecture: str, shapes: Mapping[str, tuple[int, ...]], **options: Any) -> Any:
    """Have the library write a file."""
    writer = gguf.GGUFWriter(path, architecture, **options)
    writer.add_block_count(2)
    for name, shape in shapes.items():
        writer.add_tensor(name, np.zeros(shape, np.float32))
    return writer


def close(writer: Any) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("number", gguf.MODEL_ARCH_NAMES, ids=gguf.MODEL_ARCH_NAMES.values())
def test_every_architecture_is_counted(number: int, tmp_path: Path) -> None:
    architecture = gguf.MODEL_ARCH_NAMES[number]
    shapes = {name: (place % 5 + 1, place % 7 + 2) for place, name in enumerate(names_of(number))}
    close(write(tmp_path / "x.gguf", architecture, shapes))
    listing = read_listing(tmp_path / "x.gguf")
    assert {tensor.name: tensor.shape for tensor in listing.tensors} == shapes
    said = [note for note in listing.notes if "architecture" in note]
    if architecture in UNJUDGED:
        what = f"the architecture '{architecture}' ({UNJUDGED[architecture]})"
        assert said == [f"{what} is not described: its tensors are counted, their shapes not judged"]
    elif architecture in BORROWED:
        name = KNOWN[architecture].class_name
        assert said == [f"the architecture '{architecture}' is described by {name}, whose tensors are the same"]
    else:
        assert said == []


def test_every_architecture_is_described_or_said_to_be_none() -> None:
    """A newer library may name more: then this fails, and says which."""
    assert set(gguf.MODEL_ARCH_NAMES.values()) - set(KNOWN) - set(UNJUDGED) == set()
    assert not set(KNOWN) & set(UNJUDGED)


def test_the_architectures_without_a_description_are_those_that_the_documents_name() -> None:
    without = {name for name in gguf.MODEL_ARCH_NAMES.values() if name not in KNOWN}
    page = (Path(__file__).parents[3] / "docs/formats.md").read_text("utf-8")
    listed = page.partition("<!-- without a description -->")[2].partition("\n\n")[0]
    assert without == set(listed.replace("`", "").replace(".", "").replace(",", "").split())


def test_a_file_that_the_library_split_is_put_together(tmp_path: Path) -> None:
    shapes = {f"blk.{layer}.ffn_up.weight": (layer + 1, 8) for layer in range(7)}
    close(write(tmp_path / "m.gguf", "llama", shapes, split_max_tensors=3))
    parts = sorted(path.name for path in tmp_path.iterdir())
    assert parts == [f"m-0000{part}-of-00003.gguf" for part in (1, 2, 3)]
    listing = read_listing(tmp_path)
    assert {tensor.name: tensor.shape for tensor in listing.tensors} == shapes
    assert not any("part" in note for note in listing.notes)
    alone = read_listing(tmp_path / parts[1])
    assert sum(prod(tensor.shape) for tensor in alone.tensors) == (4 + 5 + 6) * 8
    assert "one part of several: number 2 of 3; the others' tensors are not in this file" in alone.notes


def test_a_lora_that_the_library_wrote(tmp_path: Path) -> None:
    shapes = {f"blk.0.attn_q.weight.lora_{half}": shape for half, shape in (("a", (4, 32)), ("b", (64, 4)))}
    writer = write(tmp_path / "lora.gguf", "qwen3", shapes)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, 8.0)
    close(writer)
    listing = read_listing(tmp_path / "lora.gguf")
    assert {tensor.name: tensor.shape for tensor in listing.tensors} == shapes
    assert listing.notes == ("a LoRA for the architecture 'qwen3': 1 pairs of rank 4",)


def translate(name: str, steps: Steps) -> list[str]:
    """Return what a file's tensor is called in the reference: several names, if it holds several."""
    found = [name]
    for pattern, targets in steps:
        found = [pattern.sub(target, one) for one in found for target in (targets if pattern.search(one) else (r"\g<0>",))]
    return found


def test_names_are_those_that_the_library_s_own_tables_translate() -> None:
    """By ``tensor_mapping.py`` a reference's name belongs to the file's tensor that we translate into it, or to another part of the same whole."""
    numbers = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}
    variants = {variant: name for name, among in VARIANTS.items() for variant, _ in among}
    agreed = Counter[str]()
    wrong = []
    for name, known in KNOWN.items():
        number = numbers[variants.get(name, name)]
        table, steps = name_map(number, 2), [(re.compile(pattern), targets) for pattern, targets in _steps(known, {})]
        for tensor in gguf.MODEL_TENSORS[number]:
            ours = gguf.TENSOR_NAMES[tensor].format(bid=1, xid=0)
            for reference in translate(f"{ours}.weight", steps):
                theirs = table.get_name(reference.removesuffix(".weight"))
                agreed[name] += theirs == ours
                if theirs not in (None, ours) and reference not in translate(f"{theirs}.weight", steps) and name not in FAMILY:
                    wrong.append((name, ours, reference, theirs))
    assert wrong == []
    assert agreed.total() > 1_700
    assert {name for name in KNOWN if agreed[name] < 4} == UNLISTED
