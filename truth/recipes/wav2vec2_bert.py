"""W2v-BERT's random configs and inputs: conformers over mel frames."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.recipes import wav2vec2_conformer

WAVES = (
    "conv_dim",
    "conv_kernel",
    "conv_stride",
    "feat_extract_norm",
    "num_conv_pos_embedding_groups",
    "num_codevector_groups",
    "codevector_dim",
)


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Leave out what belongs to waves, and draw the kind of positions."""
    raw = {key: value for key, value in wav2vec2_conformer.draw(rng, raw).items() if key not in WAVES}
    raw["position_embeddings_type"] = rng.choice(("relative", "rotary", "relative_key", None))
    return raw | {
        "adapter_stride": rng.randint(1, 4),
        "use_intermediate_ffn_before_adapter": bool(raw.get("add_adapter")) and rng.random() < 0.5,
    }


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make mel frames."""
    torch = import_module("torch")
    return {"input_features": torch.rand(lengths.batch, lengths.seq, model.config.feature_projection_input_dim)}
