"""The methods of the adapter library: what each adds to a module, what its modules share, and its defaults.

Source: huggingface/peft 0.21.2, tuners/*/config.py and tuners/*/layer.py
"""

from __future__ import annotations

from weighbridge.accounts.adapters import banks, defaults, low_rank, lycoris, rotations, tokens, vectors
from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.lora import lora
from weighbridge.accounts.adapters.shadow import shadow, shadow_model
from weighbridge.accounts.adapters.sites import AddedTensor, Site
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    Config = Mapping[str, Any]
    Targets = Mapping[str, "tuple[str, ...] | str"]


class Method(NamedTuple):
    """One method of adapting modules.

    Attributes:
        add: What it adds to one module.
        kinds: The kinds of modules it adapts.
        targets: Its target modules by model type, where the config names none.
        given: Its defaults, where a config leaves a field out.
        formula: What it adds to one linear layer, in words of its own fields.
        share: What its modules share, given all of them.
        at_most: Why the figures are the most there can be, where the values of the weights decide.
    """

    add: Callable[[Site, Config], Iterable[AddedTensor]]
    kinds: tuple[str, ...]
    targets: Targets
    given: Config
    formula: str
    share: Callable[[list[Site], Config, Base], Iterable[AddedTensor]] | None = None
    at_most: Callable[[list[Site], Config], str] | None = None


LINEAR_ONLY, LINEAR = ("linear",), ("linear", "conv1d")
CONVOLUTIONS = ("linear", "conv1d", "embedding", "convolution")
ANY = ("linear", "conv1d", "embedding", "convolution", "multihead_attention", "norm", "container", "other")
THIN = "r*(inputs + outputs)"

METHODS: dict[str, Method] = {
    "LORA": Method(lora, (*CONVOLUTIONS, "multihead_attention", "parameter"), defaults.LORA, {"r": 8}, THIN),
    "ADALORA": Method(
        low_rank.adalora, ("linear", "conv1d", "convolution"), defaults.ADALORA, {"init_r": 12}, "init_r*(inputs + outputs + 1)"
    ),
    "ADAMSS": Method(
        low_rank.adamss,
        LINEAR_ONLY,
        defaults.ADAMSS,
        {"r": 100, "num_subspaces": 5, "subspace_rank": 1},
        "subspace_rank*(num_subspaces*r + outputs)",
        at_most=low_rank.adamss_at_most,
    ),
    "BEFT": Method(vectors.beft, LINEAR_ONLY, defaults.BEFT, {}, "outputs"),
    "BOFT": Method(
        rotations.boft, ("linear", "convolution"), defaults.LORA, {"boft_block_size": 4, "boft_block_num": 0}, "inputs*block_size + outputs"
    ),
    "C3A": Method(vectors.c3a, LINEAR_ONLY, defaults.C3A, {"block_size": 256}, "inputs*outputs/block_size"),
    "DEFT": Method(low_rank.deft, LINEAR, defaults.LORA, {"r": 8, "para": False}, THIN),
    "DELORA": Method(low_rank.delora, LINEAR_ONLY, defaults.LORA, {"r": 8}, "r*(inputs + outputs) + 1"),
    "FOURIERFT": Method(vectors.fourierft, LINEAR, defaults.FOURIERFT, {"n_frequency": 1000}, "n_frequency"),
    "FROD": Method(
        banks.frod,
        LINEAR,
        defaults.FROD,
        {"sparse_rate": 0.01, "save_projection": True},
        "inputs + sparse_rate*inputs^2",
        banks.frod_projections,
    ),
    "GLORA": Method(
        low_rank.glora,
        LINEAR_ONLY,
        defaults.LORA,
        {"r": 8, "config_A_B": "lora", "config_C": "lora", "config_D_E": "constant"},
        "2*r*(inputs + outputs), and r*(inputs + 1) + 2 where it has a bias",
    ),
    "GRALORA": Method(low_rank.gralora, LINEAR, defaults.LORA, {"r": 32, "hybrid_r": 0, "gralora_k": 2}, THIN),
    "HIRA": Method(low_rank.hira, CONVOLUTIONS, defaults.LORA, {"r": 32}, THIN),
    "HRA": Method(rotations.hra, ("linear", "convolution"), defaults.LORA, {"r": 8}, "r*inputs"),
    "IA3": Method(vectors.ia3, ("linear", "conv1d", "convolution"), defaults.IA3, {}, "outputs, or inputs of a feed-forward module"),
    "LILY": Method(
        banks.lily,
        LINEAR_ONLY,
        defaults.LORA,
        {"r": 32, "stride_A": 1, "num_B": 2},
        "r*num_B, and its share of A and B",
        banks.lily_matrices,
    ),
    "LN_TUNING": Method(lambda site, config: (), ANY, defaults.LN_TUNING, {}, "a copy of the module", vectors.ln_copies),
    "LOHA": Method(
        lycoris.loha, ("linear", "convolution"), defaults.LORA, {"r": 8, "use_effective_conv2d": False}, "2*r*(inputs + outputs)"
    ),
    "LOKR": Method(
        lycoris.lokr,
        ("linear", "convolution"),
        defaults.LORA,
        {"r": 8, "decompose_both": False, "decompose_factor": -1, "use_effective_conv2d": False},
        "two Kronecker factors",
    ),
    "MISS": Method(vectors.miss, LINEAR_ONLY, defaults.LORA, {"r": 64, "mini_r": 1, "init_weights": True}, "r*outputs"),
    "OFT": Method(
        rotations.oft,
        ("linear", "convolution", "embedding"),
        defaults.LORA,
        {"r": 0, "oft_block_size": 32, "block_share": False},
        "inputs*(block_size - 1)/2",
    ),
    "OSF": Method(low_rank.osf, ANY, defaults.OSF, {}, "low*(inputs + outputs + 1)"),
    "PEANUT": Method(low_rank.peanut, LINEAR_ONLY, defaults.LORA, {"r": 32, "depth": 0}, "2*r*outputs + 2*depth*r^2"),
    "POLY": Method(
        low_rank.poly,
        LINEAR_ONLY,
        defaults.LORA,
        {"r": 8, "n_tasks": 1, "n_skills": 4, "n_splits": 1},
        "n_skills*r*(inputs + outputs) + n_tasks*n_splits*n_skills",
    ),
    "PSOFT": Method(
        low_rank.psoft,
        LINEAR_ONLY,
        defaults.LORA,
        {"r": 32, "psoft_orth": True, "psoft_mag_b": True, "psoft_mag_a": True},
        "r*(r - 1)/2 + 2*r",
    ),
    "PVERA": Method(banks.pvera, LINEAR, defaults.PVERA, {"r": 256, "save_projection": True}, "outputs + 2*r", banks.pvera_projections),
    "RANDLORA": Method(
        banks.randlora,
        LINEAR,
        defaults.LORA,
        {"r": 32, "save_projection": True},
        "bases*(r + min(inputs, outputs))",
        banks.randlora_projections,
    ),
    "ROAD": Method(rotations.road, LINEAR_ONLY, defaults.LORA, {"variant": "road_1", "group_size": 64}, "outputs"),
    "SHADOW": Method(shadow, ANY, {}, {"r": 8}, "2*r*hidden + 4*update*hidden + 2*(update + hidden) a block, and the shadow", shadow_model),
    "SHIRA": Method(vectors.shira, LINEAR_ONLY, defaults.SHIRA, {"r": 32}, THIN),
    "SUPERTUNING": Method(
        low_rank.supertuning,
        LINEAR_ONLY,
        defaults.LORA,
        {"sparsity": 0.99, "save_precomputed_indices": True},
        "(1 - sparsity)*inputs*outputs",
    ),
    "TINYLORA": Method(
        banks.tinylora,
        ("linear", "conv1d", "embedding"),
        defaults.LORA,
        {"r": 2, "u": 64, "weight_tying": 0.0, "save_projection": True},
        "u for each group of modules",
        banks.tinylora_vectors,
    ),
    "TRAINABLE_TOKENS": Method(lambda site, config: (), ("linear", "embedding"), {}, {"token_indices": []}, "tokens*width", tokens.tokens),
    "UNILORA": Method(
        banks.unilora,
        LINEAR,
        defaults.LORA,
        {"r": 4, "theta_d_length": 256, "save_indices": False},
        "theta_d_length for all",
        banks.unilora_vector,
    ),
    "VBLORA": Method(
        banks.vblora,
        LINEAR,
        defaults.VBLORA,
        {"r": 4, "num_vectors": 256, "vector_length": 256, "topk": 2, "save_only_topk_weights": False},
        "r*num_vectors*(inputs + outputs)/vector_length, and the bank",
        banks.vblora_bank,
    ),
    "VERA": Method(banks.vera, LINEAR, defaults.VERA, {"r": 256, "save_projection": True}, "outputs + r", banks.vera_projections),
    "WAVEFT": Method(vectors.waveft, LINEAR, defaults.WAVEFT, {"n_frequency": 2592, "proportional_parameters": False}, "n_frequency"),
}
"""By ``peft_type``: methods that adapt modules. Prompts stand in :mod:`~weighbridge.accounts.adapters.prompts`."""
