"""Gemma 3n's audio encoder: kernels and strides in pairs, and spectrograms with a mask."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw pairs, and how far frames look."""
    raw["sscp_conv_channel_size"] = [rng.randint(1, 9), rng.randint(1, 9)]
    raw["sscp_conv_kernel_size"] = [[rng.randint(1, 4), rng.randint(1, 4)] for _ in range(2)]
    raw["sscp_conv_stride_size"] = [[rng.randint(1, 3), rng.randint(1, 3)] for _ in range(2)]
    raw |= {"conf_attention_chunk_size": rng.randint(2, 8), "conf_attention_context_left": rng.randint(0, 9)}
    return raw | {"conf_attention_context_right": rng.randint(0, 3), "input_feat_size": rng.randint(8, 40)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a spectrogram of which nothing is masked."""
    torch = import_module("torch")
    mask = torch.zeros(lengths.batch, lengths.seq, dtype=torch.bool)
    return {"audio_mel": torch.zeros(lengths.batch, lengths.seq, model.config.input_feat_size), "audio_mel_mask": mask}
