"""Columns of lengths, of towers, and of figures that follow from each other; and why a cell was not judged."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit
from weighbridge.auditing.claims import say_reason


def _wrong(text: str) -> list[str]:
    return [claim.text for claim in audit(text).wrong]


_LENGTHS = """| Model | Layers | Heads | Context |
|---|---|---|---|
| Mistral 7B | 32 | 32 | {} |
| Llama 2-70B | 80 | 64 | 4096 |
| Llama 3.1-405B | 126 | 128 | 128K |"""


@pytest.mark.parametrize("length", ["32K", "32,768", "32768 tokens", "8K / 32K", "8K", "64K", "128k"])
def test_a_length_that_is_the_models_or_cut_or_scaled_is_not_wrong(length: str) -> None:
    assert _wrong(_LENGTHS.format(length)) == []


@pytest.mark.parametrize("length", ["62K", "32,678", "37268"])
def test_a_length_that_is_neither_is_wrong_beside_sizes_that_are_right(length: str) -> None:
    assert _wrong(_LENGTHS.format(length)) == [length]


def test_a_length_below_its_label_is_held_in_thousands() -> None:
    text = "Gemma 2 9B\n\nContext Length\n\n8.192K\n\nNumber of Layers\n\n42\n\nHidden Size\n\n3584\n"
    assert [claim.verdict for claim in audit(text).claims if claim.text == "8.192K"] == ["exact"]
    assert _wrong(text.replace("8.192K", "8.912K")) == ["8.912K"]


_HALVES = """| Name | Total parameters | First half | Second half |
|---|---|---|---|
| one | 76,956,160 | 35,330,816 | 41,625,344 |
| two | 247,577,856 | 109,628,544 | 137,949,312 |
| three | {} | 334,939,648 | 435,627,520 |"""


def test_a_total_of_two_columns_is_their_sum_in_every_row() -> None:
    assert _wrong(_HALVES.format("770,567,168")) == []
    assert _wrong(_HALVES.format("770,576,168")) == ["770,576,168"]


def test_two_rows_settle_no_relation() -> None:
    assert _wrong("\n".join(_HALVES.format("770,576,168").split("\n")[:3] + _HALVES.format("770,576,168").split("\n")[4:])) == []


_BYTES = """| tensor | elements | memory (MB) |
|---|---|---|
| a | 155,582,464 | 296.75 |
| b | 3,145,728 | 6.00 |
| c | 25,165,824 | {} |"""


def test_bytes_are_so_many_bits_of_the_count_beside_them() -> None:
    assert _wrong(_BYTES.format("48.00")) == []
    assert _wrong(_BYTES.format("84.00")) == ["84.00"]


_SHARES = """| Model | Active | Params | Active % |
|---|---|---|---|
| one | 2.66B | 15.71B | 16.93% |
| two | 3.34B | 30.53B | 10.94% |
| three | 39.15B | 140.62B | {} |"""


def test_a_share_is_that_of_two_counts_of_its_row() -> None:
    assert _wrong(_SHARES.format("27.84%")) == []
    assert _wrong(_SHARES.format("28.74%")) == ["28.74%"]


_TOWERS = """| model | embed_dim | mparams | image_mparams | text_mparams |
|---|---|---|---|---|
| clip-vit-base-patch32 | 512 | 151.28 | {} | 63.43 |
| clip-vit-large-patch14 | 768 | 427.62 | 303.97 | 123.65 |"""


def test_counts_of_towers_are_held_against_their_tower() -> None:
    assert _wrong(_TOWERS.format("87.85")) == []
    assert _wrong(_TOWERS.format("63.43")) == ["63.43"]


def test_the_config_of_a_tower_within_a_config_is_the_towers() -> None:
    text = '# clip-vit-base-patch32\n\n"vision_cfg": {\n"layers": 12,\n"width": 768,\n"patch_size": 32\n},\n"text_cfg": {\n"width": 512,\n"heads": 8\n}'
    assert [claim.verdict for claim in audit(text).claims] == ["exact"] * 5


def test_the_reason_of_a_cell_says_what_its_model_has() -> None:
    text = "| Model | Params |\n|---|---|\n| ViT-Huge | 623M |"
    (claim,) = (claim for claim in audit(text).claims if claim.text == "623M")
    assert "632,045,800" in say_reason(claim.reason, str) or "has" in say_reason(claim.reason, str)


def test_every_number_beside_the_name_of_a_size_is_counted() -> None:
    text = "GPT-2 came later. The vocabulary is expanded to 50,257 and the feedforward dimension is 3072."
    assert {claim.text for claim in audit(text).claims} >= {"50,257", "3072"}


@pytest.mark.parametrize(
    ("text", "right", "slip"),
    [
        ("T5 sizes: Small (60M), Base (220M), Large ({}), 3B (3B), 11B (11B).", "770M", "707M"),
        ("There are ViT-Tiny (6M params), ViT-Small (22M), ViT-Base ({}), ViT-Large (307M).", "86M", "68M"),
        ("Whisper 有 tiny(39M)、base(74M)、small({})和 medium(769M)。", "244M", "442M"),
        ("bert-base-multilingual-uncased\n\n(Original, not recommended) 12-layer, 768-hidden, {}-heads, 168M parameters.", "12", "19"),
        ('params_llama_3_2_1b = {{\n  "dim": 2048,\n  "n_layers": {},\n  "n_heads": 32,\n  "vocab_size": 128256,\n}}', "16", "17"),
        (
            "Llama 3 70B:\n\n- Width (d_model): {} — every token is such a vector\n- Layers: 80 — the depth\n- Attention heads: 64",
            "8,192",
            "4,192",
        ),
    ],
)
def test_lists_as_people_write_them(text: str, right: str, slip: str) -> None:
    assert _wrong(text.format(right)) == []
    assert [found.endswith(slip) for found in _wrong(text.format(slip))] == [True]


def test_seven_layers_of_a_speech_model_are_its_convolutions() -> None:
    assert _wrong("wav2vec2-base has 7 layers.") == []
    assert _wrong("wav2vec2-base has 9 layers.") == ["9"]


def test_what_all_layers_hold_is_no_total() -> None:
    assert audit("# bert-base-uncased\n\n7,087,872 × 12 = 85,054,464\n").corrected is None
    assert audit("# bert-base-uncased\n\n7,087,872 × 12 + 23,837,184 = 108,891,648\n").corrected == 108_891_648


def test_a_round_figure_without_embeddings_is_no_alarm() -> None:
    text = "# QwQ-32B\n\n- Number of Parameters: 32.5B\n- Number of Parameters (Non-Embedding): {}\n- Number of Layers: 64"
    assert _wrong(text.format("31.0B")) == []
    assert _wrong(text.format("13.0B")) == ["13.0B"]
