"""Language models that see, against the totals of their published files."""

from __future__ import annotations

import pytest

from tests.unit.published import is_rounded
from weighbridge import model
from weighbridge.presets import preset as preset_of

EXACT = [
    ("llava-1.5-7b", 7_063_427_072),
    ("paligemma-3b-224", 2_923_466_480),
    ("gemma-3-4b-it", 4_300_079_472),
    ("gemma-3-12b-it", 12_187_325_040),
    ("gemma-3-27b-it", 27_432_406_640),
    ("smolvlm-256m", 256_484_928),
    ("smolvlm-500m", 507_482_304),
    ("smolvlm-2.2b", 2_246_272_880),
    ("llama-3.2-11b-vision", 10_670_220_835),
    ("internvl3-8b", 7_944_373_760),
    ("qwen2-vl-2b", 2_208_985_600),
    ("qwen2-vl-7b", 8_291_375_616),
    ("qwen2-vl-72b", 73_405_560_320),
    ("qwen2.5-vl-3b", 3_754_622_976),
    ("qwen2.5-vl-7b", 8_292_166_656),
    ("qwen2.5-vl-32b", 33_452_718_336),
    ("qwen2.5-vl-72b", 73_410_777_344),
    ("qwen3-vl-2b", 2_127_532_032),
    ("qwen3-vl-4b", 4_437_815_808),
    ("qwen3-vl-8b", 8_767_123_696),
]
"""Elements of all tensors in the headers of the safetensors files on the Hub."""

ROUNDED = [
    ("llava-1.5-13b", "13.4B"),
    ("idefics3-8b", "8.46B"),
    ("llama-3.2-90b-vision", "88.6B"),
    ("internvl3-1b", "0.9B"),
    ("qwen3-vl-32b", "33B"),
]
"""As their pages on the Hub print it."""


@pytest.mark.parametrize(("name", "published"), EXACT)
def test_exact_figures(name: str, published: int) -> None:
    weighed = model(name)
    assert weighed.count().unique == published
    assert weighed.unknown == []


@pytest.mark.parametrize(("name", "published"), ROUNDED)
def test_rounded_figures(name: str, published: str) -> None:
    total = model(name).count().unique
    assert isinstance(total, int)
    assert is_rounded(total, published)


def test_older_files_state_the_texts_fields_beside_the_others() -> None:
    preset = preset_of("qwen2-vl-7b")
    assert preset is not None and "text_config" not in preset.config
    text = {key: value for key, value in preset.config.items() if key.startswith(("hidden", "inter", "num", "vocab"))}
    rest = {key: value for key, value in preset.config.items() if key not in text}
    assert model({**rest, "text_config": text}).count() == model(preset.config).count()


def test_images_cost_what_their_tower_and_their_tokens_cost() -> None:
    seeing = model("llava-1.5-7b")
    alone, one, two = (seeing.flops(seq=700, images=images).forward_matmul for images in (None, 1, 2))
    assert one - alone == two - one
    resized = model("qwen2.5-vl-7b")
    assert (
        resized.flops(seq=300, images=1, patches=(16, 24)).forward_matmul
        == resized.flops(seq=300, images=1, patches=(24, 16)).forward_matmul
    )


def test_a_null_of_key_value_heads_means_as_many_as_heads() -> None:
    raw = {"model_type": "qwen2_vl_text", "num_hidden_layers": 1}
    assert model({**raw, "num_key_value_heads": None}).count() == model({**raw, "num_key_value_heads": 64}).count() != model(raw).count()
