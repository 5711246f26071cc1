"""Random configs of ESMFold2: widths that fit each other, and a small ESM C."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    out, kinds = rng.randint(4, 20), rng.randint(5, 20)
    raw |= {"num_res_types": kinds, "single_inputs_size": out + 2 * kinds + 1, "atom_encoder": _atoms(rng, out), "atom_feature_dim": None}
    raw |= {"folding_trunk_num_hidden_layers": rng.randint(1, 3), "parcae_num_coda_layers": rng.randint(1, 2)}
    heads = rng.choice((1, 2, 4))
    diffusion = {"hidden_size": heads * rng.randint(2, 6), "num_attention_heads": heads, "num_hidden_layers": rng.randint(1, 3)}
    diffusion |= {"fourier_dim": rng.randint(2, 9), "intermediate_size": rng.randint(2, 9), "pair_intermediate_size": rng.randint(2, 9)}
    raw["structure_head"] = {"diffusion_module": diffusion | {"atom_encoder": _atoms(rng, diffusion["hidden_size"])}}
    raw["structure_head"]["num_distogram_bins"] = rng.randint(3, 9)
    raw["confidence_head"] = {f"num_{name}_bins": rng.randint(3, 9) for name in ("plddt", "pde", "pae")} | {"num_hidden_layers": 1}
    raw["confidence_head"]["distogram_bins"] = rng.randint(3, 9)
    raw["msa_encoder"] = {"hidden_size": rng.randint(3, 9), "num_hidden_layers": rng.randint(1, 3), "enabled": rng.random() < 0.7}
    raw["msa_encoder"] |= {"outer_hidden_size": rng.randint(2, 5), "num_attention_heads": rng.randint(1, 3), "head_dim": rng.randint(2, 5)}
    raw["lm_encoder"] = {"num_hidden_layers": rng.randint(1, 3)}
    raw["esmc_config"] = {"model_type": "esmc", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": rng.randint(1, 3)}
    raw["esmc_config"] |= {"intermediate_size": rng.randint(4, 20), "vocab_size": 64}
    return raw


def _atoms(rng: random.Random, out: int) -> dict[str, Any]:
    heads = rng.choice((1, 2))
    found = {"hidden_size": heads * 8, "num_attention_heads": heads, "output_dim": out, "num_hidden_layers": rng.randint(1, 3)}
    return found | {"intermediate_size": rng.randint(2, 9), "num_spatial_rope_pairs_per_axis": 1, "num_uid_rope_pairs": 1}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: a protein has as many atoms as its residues say."""
    raise RefusedError("a protein has as many atoms as its residues say")
