"""Random configs and inputs of transformers over time series: values with what is known of each step, past and future."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lengths, lags and categories; the sides alone read up to sixteen steps."""
    raw |= {"prediction_length": rng.randint(8, 20), "distribution_output": rng.choice(("student_t", "normal", "negative_binomial"))}
    if rng.random() < 0.6:
        raw["context_length"] = rng.randint(10, 20)
    if rng.random() < 0.6:
        raw["lags_sequence"] = sorted(rng.sample(range(1, 9), rng.randint(1, 4)))
    if rng.random() < 0.6:
        count = raw["num_static_categorical_features"] = rng.randint(1, 3)
        raw["cardinality"] = [rng.randint(2, 120) for _ in range(count)]
        if rng.random() < 0.6:
            raw["embedding_dimension"] = [rng.randint(1, 6) for _ in range(count)]
    if raw["model_type"] == "informer":
        raw |= {"attention_type": rng.choice(("prob", "full")), "encoder_layers": rng.randint(1, 4)}
    if raw["model_type"] == "autoformer":
        raw["label_length"] = rng.randint(1, 8)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make values, features of time and categories; a side alone takes what they are made into."""
    torch, config, batch = import_module("torch"), model.config, lengths.batch
    if type(model).__name__.endswith(("Encoder", "Decoder")):
        made = {"inputs_embeds": torch.zeros(batch, lengths.seq, config.feature_size)}
        return made | (
            {"trend": torch.zeros(batch, lengths.seq, config.feature_size)} if type(model).__name__ == "AutoformerDecoder" else {}
        )
    past, ahead = config.context_length + max(config.lags_sequence), config.prediction_length
    wide = () if config.input_size == 1 else (config.input_size,)
    timed = config.num_time_features + config.num_dynamic_real_features
    made = {
        "past_values": torch.ones(batch, past, *wide),
        "past_time_features": torch.rand(batch, past, timed),
        "past_observed_mask": torch.ones(batch, past, *wide),
        "future_values": torch.ones(batch, ahead, *wide),
        "future_time_features": torch.rand(batch, ahead, timed),
    }
    if config.num_static_categorical_features:
        made["static_categorical_features"] = torch.zeros(batch, config.num_static_categorical_features, dtype=torch.long)
    if config.num_static_real_features:
        made["static_real_features"] = torch.rand(batch, config.num_static_real_features)
    return made
