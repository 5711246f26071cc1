"""A model in atoms: what each holds is what the tensors of its module hold."""

from __future__ import annotations

import pytest

from weighbridge import model
from weighbridge.conventions.atoms import parts


@pytest.mark.parametrize(
    ("name", "class_name"), [("bert-base-uncased", "BertForPreTraining"), ("mixtral-8x7b", None), ("vit-base-patch16-224", None)]
)
def test_only_tables_and_heads_have_rows(name: str, class_name: str | None) -> None:
    shapes = {row.name: row.shape for row in model(name, class_name).tensors()}
    found = parts(model(name, class_name).tree).atoms
    assert {atom.component for atom in found if atom.rows} <= {
        "word",
        "position",
        "type",
        *(atom.component for atom in found if ":" in atom.component),
    }
    for atom in found:
        if atom.component in ("word", "position", "type") and f"{atom.path}.weight" in shapes:
            assert atom.rows == shapes[f"{atom.path}.weight"][-2]
        elif atom.component.startswith("head:"):
            kind = {"weight": "weight", "bias": "bias", "gain": "weight", "shift": "bias"}[atom.role]
            name_of = f"{atom.path}.{kind}"
            assert name_of not in shapes or atom.rows == shapes[name_of][0]
        elif atom.component not in ("position",):
            assert atom.rows == 0, atom


def test_outputs_and_blocks_of_all_layers() -> None:
    """Llama-2-7B: q, k, v, o of 4096 and gate, up of 11,008, down of 4096 outputs in 32 layers, a head of 32,000; blocks of 128 x 128 cover them."""
    found = parts(model("llama-2-7b").tree).atoms
    assert sum(atom.outputs for atom in found) == 32 * (5 * 4096 + 2 * 11_008) + 32_000
    assert sum(atom.blocks for atom in found) == 32 * (4 * 32 * 32 + 3 * 32 * 86) + 250 * 32
    assert not [atom for atom in found if atom.blocks and atom.role != "weight"]
