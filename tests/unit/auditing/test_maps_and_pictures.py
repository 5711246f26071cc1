"""Maps written as arrows, sizes of patches and pictures, rounded vocabularies, lists below a tower's name: each held against the model."""

import pytest

from weighbridge.auditing import audit

MAPS = """# Gemma 2 2B

- Q proj: 2304 → 8·256 = 2048
- K proj: 2304 → 4·256 = 1024
- O proj: 2048 → 2304
- gate_proj: 2304 → 9216 | up_proj: 2304 → 9216 | down_proj: 9216 → 2304
"""
PATCHES = """# vit-base-patch16-224

The model cuts an image of 224x224 pixels into 16x16 pixel patches.

- Patch size: 16x16 pixels
"""
WORDS = "`bert-base-uncased` has a vocabulary of **30k** entries; BERT-base uses WordPiece with 30,522 tokens.\n"
TOWERS = """CLIP ViT-L/14 has two towers.

The vision encoder (ViT-L/14) has these parts:
- Layers (hidden=1024, intermediate=4096)
- 24 layers

The text encoder has these parts:
- Layers (hidden=768, intermediate=3072)
- 12 layers
"""
PRINTED = """bert-base-uncased, printed:
(query): Linear(in_features=768, out_features=768, bias=True)
(key): Linear(in_features=768, out_features=768, bias=True)
(value): Linear(in_features=768, out_features=768, bias=True)
(dense): Linear(in_features=768, out_features=3072, bias=True)
"""
ADAPTERS = """| tensor | trained | shape | elements |
|---|---|---|---|
| layers.31.self_attn.o_proj.lora_A.default.weigh | False | (64, 4096) | 262,144 |
| layers.31.self_attn.o_proj.lora_B.default.weigh | False | (4096, 64) | 262,144 |
"""
PICTURES = """| Model | Parameters | Image size | Patch size | Width | Layers |
|---|---|---|---|---|---|
| CLIP ViT-B/32 | 151M | 224 | 32 | 768 | 12 |
| CLIP ViT-L/14 | 428M | 224 | 14 | 1024 | 24 |
"""
LETTERS = "The BERT paper counts 110M parameters for the base model (L=12, H=768, A=12).\n"
TEXTS = {
    "maps": (MAPS, [("→ 9216 | up", "→ 9116 | up"), ("O proj: 2048", "O proj: 2084"), ("K proj: 2304", "K proj: 2204")]),
    "patches": (PATCHES, [("16x16 pixel p", "16x18 pixel p"), ("224x224", "242x224"), (": 16x16", ": 26x16")]),
    "words": (WORDS, [("30k", "80k"), ("30,522", "30,252")]),
    "towers": (TOWERS, [("4096", "4906"), ("24 layers", "34 layers"), ("3072", "3172")]),
    "printed": (PRINTED, [("3072", "8072")]),
    "adapters": (ADAPTERS, [("262,144 |\n| layers", "252,144 |\n| layers")]),
    "pictures": (PICTURES, [("| 14 |", "| 15 |"), ("| 224 | 32", "| 229 | 32")]),
    "letters": (LETTERS, [("H=768", "H=786"), ("L=12", "L=13")]),
}


@pytest.mark.parametrize("text", [text for text, _ in TEXTS.values()], ids=TEXTS)
def test_true_sizes_are_no_slips(text: str) -> None:
    found = audit(text.encode(), name="x.md")
    assert [claim.text for claim in found.wrong] == []
    assert found.judged


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [pytest.param(text, *pair, id=f"{name}-{place}") for name, (text, pairs) in TEXTS.items() for place, pair in enumerate(pairs)],
)
def test_a_digit_changed_is_found_and_nothing_else(text: str, right: str, wrong: str) -> None:
    assert text.count(right) == 1
    changed = text.replace(right, wrong)
    found = audit(changed.encode(), name="x.md")
    assert [claim.line for claim in found.wrong] == [changed[: changed.index(wrong)].count("\n") + 1]


@pytest.mark.parametrize(
    "text",
    [
        "# vit-base-patch16-224\n\nTuned at 384x384 resolution with 32x32 patches of its own.\n",
        "Gemma 2 2B beside a smaller network: gate_proj: 512 → 2048, up_proj: 512 → 2048, down_proj: 2048 → 512.\n",
        "Our tokenizer extends that of bert-base-uncased to a vocabulary of 50k entries.\n",
        "BERT with letters of its own: a grid of L=2, L=4, L=12 and H=128, H=768.\n",
    ],
    ids=["other resolution", "other network", "other vocabulary", "grid"],
)
def test_sizes_of_something_else_are_no_slips(text: str) -> None:
    assert [claim.text for claim in audit(text.encode(), name="x.md").wrong] == []


def test_columns_by_the_short_names_of_a_paper() -> None:
    table = "# T5\n\n| Model | nl (el/dl) | ff | dm | kv | nh |\n|---|---|---|---|---|---|\n| Small | 6/6 | 2048 | 512 | 64 | 8 |\n| Base | 12/12 | 3072 | 768 | 64 | 12 |\n"
    assert audit(table.encode(), name="x.md").wrong == ()
    changed = table.replace("3072", "3702").replace("12/12", "12/13")
    assert [claim.text for claim in audit(changed.encode(), name="x.md").wrong] == ["13", "3702"]


def test_a_vocabulary_padded_to_rows_of_another_file_is_no_slip() -> None:
    text = "Gemma 2B: 18 layers, d_model 2048, 8 heads, 1 KV head, head dim 256, feed-forward 16384, vocab 256128.\n"
    assert audit(text.encode(), name="x.md").wrong == ()


def test_projections_of_towers_and_the_experts_that_a_router_picks() -> None:
    towers = "CLIP ViT-L/14:\n\n- Visual projection (1024 → 768)\n- Text projection (768 → 768)\n"
    mixture = "# Mixtral 8x7B\n\nThe router picks 2 of its 8 experts; it has 46.7B parameters, 32 layers and 32 heads.\n"
    for text, right, wrong in ((towers, "1024", "1042"), (mixture, "picks 2", "picks 3")):
        assert audit(text.encode(), name="x.md").wrong == ()
        assert len(audit(text.replace(right, wrong).encode(), name="x.md").wrong) == 1


def test_elements_printed_behind_a_shape_and_labels_in_tex() -> None:
    tensor = "layers.0.q_proj.lora_A.weight: requires_grad=True, shape=torch.Size([128, 2048]), numel=262,144\n"
    card = "# GPT-J 6B\n\n| Hyperparameter | Value |\n|---|---|\n| \\\\(n_{layers}\\\\) | 28 |\n| \\\\(d_{model}\\\\) | 4096 |\n| \\\\(n_{heads}\\\\) | 16 |\n| \\\\(d_{ff}\\\\) | 16384 |\n"
    for text, right, wrong in ((tensor, "262,144", "262,244"), (card, "16384", "16834")):
        assert audit(text.encode(), name="x.md").wrong == ()
        assert [claim.text for claim in audit(text.replace(right, wrong).encode(), name="x.md").wrong] == [wrong]
