"""ESM's random configs: a vocabulary, which has no default, and both kinds of positions."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Give every config a vocabulary with its special tokens inside."""
    raw.setdefault("vocab_size", 33)
    raw |= {"pad_token_id": 1, "mask_token_id": 5}
    if rng.random() < 0.5:
        raw["position_embedding_type"] = rng.choice(["rotary", "absolute"])
    raw.pop("esmfold_config", None)
    if rng.random() < 0.8:
        raw |= {"is_folding_model": True, "esmfold_config": fold(rng)}
    return raw


def fold(rng: random.Random) -> dict[str, Any]:
    """Draw a trunk whose widths are whole heads, and a structure module; over heads of width 1 torch multiplies without a product of matrices."""
    head, pair_head = rng.randint(2, 5), 2 * rng.randint(1, 3)
    trunk: dict[str, Any] = {"num_blocks": rng.randint(0, 3), "position_bins": rng.randint(1, 9), "max_recycles": rng.randint(1, 3)}
    trunk |= {"sequence_head_width": head, "sequence_state_dim": head * rng.randint(1, 4)}
    trunk |= {"pairwise_head_width": pair_head, "pairwise_state_dim": pair_head * rng.randint(1, 3)}
    names = "sequence_dim pairwise_dim ipa_dim resnet_dim num_heads_ipa num_qk_points num_v_points num_blocks num_transition_layers num_resnet_blocks"
    trunk["structure_module"] = {name: rng.randint(1, 6) for name in names.split()}
    return {"trunk": trunk, "lddt_head_hid_dim": rng.randint(1, 9), "embed_aa": rng.random() < 0.7, "fp16_esm": rng.random() < 0.5}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make amino acids alone for the class that folds."""
    if type(model).__name__ == "EsmForProteinFolding":
        return {"input_ids": import_module("torch").zeros(lengths.batch, lengths.seq, dtype=import_module("torch").long)}
    return plain(model, lengths)
