"""Buffers are told from parameters by the names the reference library registers."""

from __future__ import annotations

import pytest

from weighbridge.accounts.parameters import tally_of
from weighbridge.readers import Listing, StoredTensor, as_model
from weighbridge.readers.roles import role_of


def stored_tensor(name: str, *shape: int, dtype: str = "F32") -> StoredTensor:
    return StoredTensor(name, dtype, shape, 0)


def gpt2() -> Listing:
    """Return the layout of the published gpt2 file: its masks are in it, and its tied head is not."""
    tensors = [stored_tensor("wte.weight", 50257, 768), stored_tensor("wpe.weight", 1024, 768)]
    for n in range(12):
        h = f"h.{n}"
        tensors += [
            stored_tensor(f"{h}.ln_1.weight", 768),
            stored_tensor(f"{h}.ln_1.bias", 768),
            stored_tensor(f"{h}.attn.bias", 1, 1, 1024, 1024),
            stored_tensor(f"{h}.attn.c_attn.weight", 768, 2304),
            stored_tensor(f"{h}.attn.c_attn.bias", 2304),
            stored_tensor(f"{h}.attn.c_proj.weight", 768, 768),
            stored_tensor(f"{h}.attn.c_proj.bias", 768),
            stored_tensor(f"{h}.ln_2.weight", 768),
            stored_tensor(f"{h}.ln_2.bias", 768),
            stored_tensor(f"{h}.mlp.c_fc.weight", 768, 3072),
            stored_tensor(f"{h}.mlp.c_fc.bias", 3072),
            stored_tensor(f"{h}.mlp.c_proj.weight", 3072, 768),
            stored_tensor(f"{h}.mlp.c_proj.bias", 768),
        ]
    return Listing("safetensors", (*tensors, stored_tensor("ln_f.weight", 768), stored_tensor("ln_f.bias", 768)))


def test_gpt2_without_its_masks() -> None:
    counts = tally_of(as_model(gpt2(), "gpt2"))
    assert (counts.unique, counts.buffers, counts.stored) == (124_439_808, 12 * 1024 * 1024, 137_022_720)


@pytest.mark.parametrize(
    ("name", "shape", "dtype", "role"),
    [
        ("embeddings.position_ids", (1, 512), "I64", "buffer"),
        ("h.0.attn.masked_bias", (), "F32", "buffer"),
        ("h.0.attn.bias", (1, 1, 8, 8), "U8", "buffer"),
        ("h.0.attn.bias", (8,), "F32", "bias"),
        ("model.layers.0.self_attn.rotary_emb.inv_freq", (64,), "F32", "buffer"),
        ("rope_freqs.weight", (64,), "F32", "buffer"),
        ("model.layers.3.mlp.gate.e_score_correction_bias", (256,), "F32", "buffer"),
        ("model.layers.3.mlp.moe_statics.e_score_correction_bias", (1, 64), "F32", "weight"),
        ("bn.running_mean", (8,), "F32", "buffer"),
        ("bn.num_batches_tracked", (), "I64", "buffer"),
        ("final_logits_bias", (1, 50265), "F32", "buffer"),
        ("wte.weight", (50257, 768), "F32", "embedding"),
        ("lm_head.weight", (50257, 768), "F32", "weight"),
        ("h.0.ln_1.weight", (768,), "F32", "gain"),
        ("bert.LayerNorm.gamma", (768,), "F32", "gain"),
        ("bert.LayerNorm.beta", (768,), "F32", "bias"),
        ("vit.embeddings.cls_token", (1, 1, 768), "F32", "embedding"),
        ("attn.in_proj_bias", (2304,), "F32", "bias"),
    ],
)
def test_roles(name: str, shape: tuple[int, ...], dtype: str, role: str) -> None:
    assert role_of(name, shape, dtype) == role


def test_a_bias_beside_a_gain_is_a_shift() -> None:
    siblings = frozenset(("a.LayerNorm.gamma", "b.norm.weight"))
    assert [role_of(name, (8,), "F32", siblings) for name in ("a.LayerNorm.beta", "b.norm.bias", "c.bias")] == ["shift", "shift", "bias"]
