"""Published layouts against presets: what lies on the Hub and differs from the class, reproduced name by name."""

from __future__ import annotations

import weighbridge
from weighbridge.core.tree import Row
from weighbridge.readers import Listing, StoredTensor
from weighbridge.verification.verify import verify


def stored_tensor(row: Row, name: str | None = None) -> StoredTensor:
    shape = tuple(size for size in row.shape if isinstance(size, int))
    return StoredTensor(name or row.name, "F32", shape, 0)


def test_gpt2_with_its_masks_and_without_its_head() -> None:
    """The published gpt2 names no ``transformer.``, holds 12 masks of 1024 x 1024, and no tied head."""
    model = weighbridge.model({"model_type": "gpt2"}, "GPT2LMHeadModel")
    tensors = [stored_tensor(row, row.name.removeprefix("transformer.")) for row in model.tensors() if row.tied_to is None]
    masks = [StoredTensor(f"h.{n}.attn.bias", "F32", (1, 1, 1024, 1024), 0) for n in range(12)]
    found = verify(model, Listing("safetensors", (*tensors, *masks)))
    assert found.holds
    assert (found.expected, found.found) == (124_439_808, 137_022_720)
    assert sum(finding.elements for finding in found.explained) == 12 * 1024 * 1024


def test_the_published_bert_base_uncased() -> None:
    """Pre-training tensors, ``gamma`` and ``beta``, under a config that says BertForMaskedLM."""
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    tensors = []
    for row in weighbridge.model("bert-base-uncased", "BertForPreTraining").tensors():
        name = row.name
        for new, was in old.items():
            name = name.replace(new, was)
        if row.tied_to is None:
            tensors.append(stored_tensor(row, name))
    found = verify(weighbridge.model("bert-base-uncased", "BertForMaskedLM"), Listing("safetensors", tuple(tensors)))
    assert found.holds
    assert (found.found, found.expected) == (110_106_428, 109_514_298)
    assert {finding.reason for finding in found.explained} == {"of BertForPreTraining, not of BertForMaskedLM"}


def test_mixtral_with_its_experts_one_by_one() -> None:
    """``block_sparse_moe.experts.N.w1`` in the file, fused tensors in the class."""
    config = {
        "model_type": "mixtral",
        "num_hidden_layers": 2,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 100,
        "num_local_experts": 4,
    }
    model = weighbridge.model(config, "MixtralForCausalLM")
    tensors = []
    for row in model.tensors():
        name = row.name.replace(".mlp.", ".block_sparse_moe.")
        if name.endswith("experts.gate_up_proj"):
            parent = name.removesuffix("gate_up_proj")
            tensors += [StoredTensor(f"{parent}{n}.{w}.weight", "BF16", (96, 64), 0) for n in range(4) for w in ("w1", "w3")]
        elif name.endswith("experts.down_proj"):
            tensors += [StoredTensor(f"{name.removesuffix('down_proj')}{n}.w2.weight", "BF16", (64, 96), 0) for n in range(4)]
        else:
            tensors.append(stored_tensor(row, name))
    found = verify(model, Listing("safetensors", tuple(tensors)))
    assert found.holds
    assert found.matched == len(model.tensors())
    assert not verify(model, Listing("safetensors", tuple(tensors[:-4]))).holds
