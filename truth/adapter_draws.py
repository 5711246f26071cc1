"""Random adapter configs: for each method of the library what is drawn of it, over the modules that a base has."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

Draw = Callable[[random.Random, dict[str, str], dict[str, Any]], dict[str, Any]]

LINEAR = ("Linear", "Conv1D", "NonDynamicallyQuantizableLinear", "FalconLinear", "PhimoeTopKRouter")


def linear_names(names: dict[str, str], kinds: tuple[str, ...] = LINEAR) -> list[str]:
    """Return the last names of the linear layers."""
    return sorted({name.rpartition(".")[2] for name, kind in names.items() if kind in kinds})


def targets(rng: random.Random, names: dict[str, str], config: dict[str, Any], kinds: tuple[str, ...] = LINEAR) -> dict[str, Any]:
    """Draw what is adapted: a list, a pattern, all linear layers, or the type's own default."""
    leaves = linear_names(names, kinds) or ["query"]
    some = rng.sample(leaves, rng.randint(1, min(4, len(leaves))))
    full = sorted(name for name, kind in names.items() if kind in kinds)
    drawn: dict[str, Any] = {}
    way = rng.random()
    if way < 0.15:
        pass
    elif way < 0.35:
        drawn["target_modules"] = "all-linear"
    elif way < 0.5:
        drawn["target_modules"] = rf".*\.({'|'.join(some)})"
    elif way < 0.6 and full:
        drawn["target_modules"] = rng.sample(full, rng.randint(1, len(full)))
    else:
        drawn["target_modules"] = some
        if rng.random() < 0.3:
            drawn["layers_to_transform"] = rng.choice((0, [0], [0, 1], [1]))
            if rng.random() < 0.5:
                drawn["layers_pattern"] = rng.choice(("layers", "layer", "h", ["block", "layers", "layer", "h"]))
    return drawn


def saved_modules(rng: random.Random, names: dict[str, str]) -> dict[str, Any]:
    """Draw whole modules that are trained beside."""
    if rng.random() > 0.3:
        return {}
    known = [name for name in ("classifier", "score", "lm_head", "embed_tokens", "qa_outputs", "pooler", "cls", "wte", "shared", "final_layer_norm", "ln_f")
             if any(other == name or other.endswith(f".{name}") for other in names)]  # fmt: skip
    return {"modules_to_save": rng.sample(known, min(len(known), rng.randint(1, 2)))} if known else {}


def exclusions(rng: random.Random, names: dict[str, str]) -> dict[str, Any]:
    """Draw modules that are left out."""
    if rng.random() > 0.2:
        return {}
    leaf = rng.choice(linear_names(names) or ["query"])
    return {"exclude_modules": rng.choice(([leaf], rf".*\.0\..*{leaf}", ["lm_head"]))}


def biases(rng: random.Random, only: str = "lora_only") -> dict[str, Any]:
    """Draw which biases of the base are trained."""
    return {"bias": rng.choice(("none", "all", only))} if rng.random() < 0.4 else {}


def lora(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw a LoRA of any kind."""
    drawn = {
        "r": rng.choice((1, 2, 4, 8, 16)),
        **targets(rng, names, config),
        **saved_modules(rng, names),
        **exclusions(rng, names),
        **biases(rng),
    }
    leaves = linear_names(names)
    if rng.random() < 0.3 and leaves:
        drawn["rank_pattern"] = {
            rng.choice((leaf, rf"0\..*\.{leaf}", rf"^.*\.1\..*{leaf}")): rng.choice((3, 5)) for leaf in rng.sample(leaves, 1)
        }
        drawn["alpha_pattern"] = {leaves[0]: 4}
    extra = rng.random()
    if extra < 0.25:
        drawn["use_dora"] = True
    elif extra < 0.3:
        drawn["use_rslora"] = True
    elif extra < 0.35:
        drawn["lora_bias"] = True
    elif extra < 0.38:
        drawn["init_lora_weights"] = rng.choice(("pissa", "olora", "mica", "gaussian", "orthogonal"))
    if isinstance(drawn.get("target_modules"), list) and rng.random() < 0.25:
        tables = [
            name
            for name in ("embed_tokens", "lm_head", "wte", "word_embeddings", "shared", "conv1", "projection")
            if any(other.endswith(f".{name}") or other == name for other in names)
        ]
        drawn["target_modules"] = [*drawn["target_modules"], *rng.sample(tables, min(len(tables), rng.randint(1, 2)))]
    if rng.random() < 0.15:
        drawn["ensure_weight_tying"] = True
    if rng.random() < 0.12:
        drawn["trainable_token_indices"] = rng.choice(
            ([0, 1, 5], {"embed_tokens": [1, 2]}, {"embed_tokens": [1, 2], "lm_head": [1, 2]}, {"embed_tokens": [1, 2], "lm_head": [3]})
        )
    if any(name.endswith("experts") for name in names) and rng.random() < 0.5:
        drawn["target_parameters"] = rng.sample(
            ["experts.gate_up_proj", "experts.down_proj", "gate.weight", "router.weight"], rng.randint(1, 2)
        )
    return drawn


def _plain(bias: bool = True, exclude: bool = True, kinds: tuple[str, ...] = LINEAR, layers: bool = True, **fields: Any) -> Draw:
    """Return a draw of targets, whole modules, exclusions and biases, and a value for each of *fields*."""

    def draw_config(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
        found = {**targets(rng, names, config, kinds), **saved_modules(rng, names)}
        if not layers:
            found.pop("layers_to_transform", None)
            found.pop("layers_pattern", None)
        if exclude:
            found |= exclusions(rng, names)
        if bias and rng.random() < 0.3:
            found["bias"] = rng.choice(("none", "all"))
        return {**found, **{key: rng.choice(values) for key, values in fields.items() if rng.random() < 0.7}}

    return draw_config


def ia3(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw IA3, with its own feed-forward modules or the type's."""
    drawn = _plain(bias=False, layers=False)(rng, names, config)
    chosen = drawn.get("target_modules")
    if isinstance(chosen, list) and rng.random() < 0.8:
        drawn["feedforward_modules"] = rng.sample(chosen, rng.randint(0, len(chosen)))
    elif rng.random() < 0.5:
        drawn["feedforward_modules"] = []
    return drawn


def ln_tuning(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw norms, or the type's own."""
    norms = sorted({name.rpartition(".")[2] for name, kind in names.items() if "Norm" in kind})
    drawn = {**saved_modules(rng, names)}
    if norms and rng.random() < 0.8:
        drawn["target_modules"] = rng.sample(norms, rng.randint(1, min(3, len(norms))))
    return drawn


def oft(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw blocks by their size or their number."""
    drawn = _plain()(rng, names, config)
    drawn |= rng.choice(({"oft_block_size": rng.choice((2, 4, 5, 8, 32)), "r": 0}, {"r": rng.choice((1, 2, 3, 4, 7)), "oft_block_size": 0}))
    return {**drawn, "block_share": rng.random() < 0.3}


def boft(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw blocks by their size or their number."""
    drawn = _plain()(rng, names, config)
    return drawn | rng.choice(
        ({"boft_block_size": rng.choice((2, 4, 8)), "boft_block_num": 0}, {"boft_block_num": rng.choice((1, 2, 4)), "boft_block_size": 0})
    )


def tokens(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw rows of a table."""
    drawn: dict[str, Any] = {"token_indices": rng.sample(range(20), rng.randint(1, 6))}
    tables = [name for name, kind in names.items() if kind == "Embedding"]
    if rng.random() < 0.4 and tables:
        drawn["target_modules"] = [rng.choice(tables)]
    return drawn


def prompt(**fields: Any) -> Draw:
    """Return a draw of virtual tokens and a value for each of *fields*."""

    def draw_config(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
        found = {
            "num_virtual_tokens": rng.randint(1, 9),
            **{key: rng.choice(values) for key, values in fields.items() if rng.random() < 0.6},
        }
        if rng.random() < 0.2:
            found |= saved_modules(rng, names)
        return found

    return draw_config


def cpt(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw a context."""
    return {"cpt_token_ids": rng.sample(range(20), rng.randint(1, 5)), "task_type": "CAUSAL_LM"}


def shadow(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw a shadow of other depth and sizes, now and then over some blocks alone."""
    blocks = sorted(name for name in names if re.search(r"(layers|h)\.\d+$", name))
    drawn: dict[str, Any] = {"r": rng.choice(RANKS), **saved_modules(rng, names)}
    if blocks and rng.random() < 0.3:
        drawn["target_modules"] = rng.sample(blocks, rng.randint(1, len(blocks)))
    fields = {
        "shadow_num_hidden_layers": (1, 2, 3),
        "shadow_hidden_size": (16, 24, 48),
        "shadow_intermediate_size": (20, 32),
        "shadow_num_attention_heads": (1, 2, 4),
        "update_hidden_size": (3, 7),
        "share_embeddings": (True, False),
    }
    return {**drawn, **{key: rng.choice(values) for key, values in fields.items() if rng.random() < 0.3}}


def mixture(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw some LoRAs and the classifier that mixes them."""
    leaves = [*linear_names(names), *(name for name in ("embed_tokens", "wte") if any(other.endswith(name) for other in names))]
    adapters = {}
    for index in range(rng.randint(1, 4)):
        chosen = rng.sample(leaves, rng.randint(1, min(3, len(leaves))))
        adapters[str(index) if rng.random() < 0.5 else f"adapter_{index}"] = {
            "peft_type": "LORA",
            "r": rng.choice(RANKS),
            "target_modules": chosen,
        }
    fields = {
        "xlora_depth": (1, 2, 3, 4),
        "xlora_size": (5, 8),
        "hidden_size": (12, 32),
        "layerwise_scalings": (True, False),
        "use_trainable_adapters": (True, False),
        "xlora_dropout_p": (0.0, 0.2),
    }
    return {"adapters": adapters, **{key: rng.choice(values) for key, values in fields.items() if rng.random() < 0.7}}


def adaption(rng: random.Random, names: dict[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """Draw prompts in the last layers' attention."""
    return {"adapter_len": rng.randint(1, 9), "adapter_layers": rng.randint(1, 2), "task_type": "CAUSAL_LM"}


RANKS = (1, 2, 3, 4, 8)
DRAWS: dict[str, Draw] = {
    "LORA": lora,
    "ADALORA": _plain(init_r=(2, 4, 6), target_r=(2,)),
    "ADAMSS": _plain(bias=False, exclude=False, r=(2, 8, 100), num_subspaces=(1, 3, 5, 90), use_dynamic_rank=(True, False)),
    "ADAPTION_PROMPT": adaption,
    "BEFT": _plain(bias=False, exclude=False, layers=False),
    "BOFT": boft,
    "C3A": _plain(exclude=False, block_size=(2, 3, 4, 6, 12)),
    "CARTRIDGE": prompt(num_frozen_tokens=(0, 1, 2)),
    "CPT": cpt,
    "DEFT": _plain(r=RANKS, para=(True, False), decomposition_method=("qr", "relu")),
    "DELORA": _plain(r=RANKS),
    "FOURIERFT": _plain(n_frequency=(5, 20, 60)),
    "FROD": _plain(exclude=False, sparse_rate=(0.01, 0.1, 0.0), save_projection=(True, False), progressbar=(False,)),
    "GLORA": _plain(
        exclude=False,
        layers=False,
        r=RANKS,
        config_A_B=("lora", "vector", "constant", "none"),
        config_C=("lora", "vector", "none"),
        config_D_E=("vector", "constant", "none"),
    ),
    "GRALORA": _plain(exclude=False, r=(4, 8), gralora_k=(1, 2, 4), hybrid_r=(0, 2)),
    "HIRA": _plain(bias=False, r=RANKS),
    "HRA": _plain(r=RANKS, apply_GS=(True, False)),
    "IA3": ia3,
    "LILY": _plain(bias=False, r=RANKS, stride_A=(1, 2, 3), num_B=(1, 2, 3)),
    "LN_TUNING": ln_tuning,
    "LOHA": _plain(bias=False, r=RANKS, kinds=(*LINEAR, "Conv2d", "Conv1d"), use_effective_conv2d=(True, False)),
    "LOKR": _plain(
        bias=False,
        r=RANKS,
        kinds=(*LINEAR, "Conv2d", "Conv1d"),
        use_effective_conv2d=(True, False),
        decompose_both=(True, False),
        decompose_factor=(-1, 2, 4),
    ),
    "MISS": _plain(r=RANKS, mini_r=(1, 2), init_weights=(True, "bat", "mini")),
    "MULTITASK_PROMPT_TUNING": prompt(num_ranks=(1, 2), num_tasks=(1, 3)),
    "OFT": oft,
    "OSF": _plain(bias=False, exclude=False, layers=False, effective_rank=(None, 1, 3, 0.5)),
    "PEANUT": _plain(bias=False, r=RANKS, depth=(0, 1, 2)),
    "POLY": _plain(bias=False, layers=False, r=RANKS, n_tasks=(1, 3), n_skills=(2, 4), n_splits=(1, 2)),
    "PREFIX_TUNING": prompt(prefix_projection=(True, False), encoder_hidden_size=(7, 12)),
    "PROMPT_TUNING": prompt(),
    "PSOFT": _plain(bias=False, r=(1, 2, 4), psoft_orth=(True, False), psoft_mag_a=(True, False), psoft_mag_b=(True, False)),
    "PVERA": _plain(exclude=False, r=RANKS, save_projection=(True, False)),
    "P_TUNING": prompt(encoder_reparameterization_type=("MLP", "LSTM"), encoder_hidden_size=(6, 12), encoder_num_layers=(1, 2, 3)),
    "RANDLORA": _plain(exclude=False, r=RANKS, save_projection=(True, False)),
    "ROAD": _plain(bias=False, exclude=False, layers=False, variant=("road_1", "road_2", "road_4"), group_size=(2, 4)),
    "SHADOW": shadow,
    "SHIRA": _plain(bias=False, exclude=False, layers=False, r=(1, 2)),
    "SUPERTUNING": _plain(bias=False, exclude=False, layers=False, sparsity=(0.5, 0.9, 0.99), save_precomputed_indices=(True, False)),
    "TINYLORA": _plain(exclude=False, r=(1, 2), u=(4, 8), weight_tying=(0.0, 0.5, 1.0), save_projection=(True, False)),
    "TRAINABLE_TOKENS": tokens,
    "UNILORA": _plain(exclude=False, r=RANKS, theta_d_length=(16, 64), save_indices=(True, False)),
    "VBLORA": _plain(r=(1, 2), num_vectors=(8, 300), vector_length=(2, 4, 6), topk=(2, 3), save_only_topk_weights=(True, False)),
    "VERA": _plain(exclude=False, r=RANKS, save_projection=(True, False)),
    "WAVEFT": _plain(n_frequency=(5, 20, 60), proportional_parameters=(True, False)),
    "XLORA": mixture,
}
WITHOUT_TASK = frozenset(("CPT", "ADAPTION_PROMPT"))
ALWAYS_TASK = frozenset(("CARTRIDGE", "MULTITASK_PROMPT_TUNING", "PREFIX_TUNING", "PROMPT_TUNING", "P_TUNING"))
