"""All architectures of llama.cpp that a description stands behind, by the name that files give."""

from __future__ import annotations

from weighbridge.readers.gguf_architectures import ARCHITECTURES, Architecture
from weighbridge.readers.gguf_hybrids import HYBRIDS
from weighbridge.readers.gguf_mixtures import MIXTURES, TWINS

KNOWN: dict[str, Architecture] = {**ARCHITECTURES, **HYBRIDS, **MIXTURES, **TWINS}
"""By ``general.architecture``; names with a space are variants, which a file does not give."""

BORROWED = frozenset((*TWINS, "qwen2vl", "qwen3vl", "qwen3vlmoe", "dream", "gemma-embedding"))
"""Those that are held to be a class of another family, or a part of one, since its tensors are the same."""
