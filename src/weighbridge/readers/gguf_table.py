"""All architectures of llama.cpp that have a blueprint, by their ``general.architecture``."""

from __future__ import annotations

from weighbridge.core.messages import Text, mark
from weighbridge.readers.gguf_architectures import ARCHITECTURES, Architecture
from weighbridge.readers.gguf_hybrids import HYBRIDS
from weighbridge.readers.gguf_mixtures import MIXTURES, TWINS
from weighbridge.readers.gguf_relatives import FAMILY, RELATIVES
from weighbridge.readers.gguf_remote import REMOTE

KNOWN: dict[str, Architecture] = {**ARCHITECTURES, **HYBRIDS, **MIXTURES, **TWINS, **RELATIVES, **REMOTE}
"""By ``general.architecture``; names with a space are variants, which a file does not give."""

UNJUDGED: dict[str, str] = {
    "arwkv7": mark("Qwen 2 with RWKV-7 in the place of attention"),
    "clip": mark("the vision or audio encoder of a multimodal model, with its projector"),
    "cogvlm": mark("CogVLM's language model, with a second set of matrices for images"),
    "rwkv6qwen2": mark("Qwen 2 with RWKV-6 in the place of attention"),
    "wavtokenizer-dec": mark("the decoder of WavTokenizer, a speech codec"),
}
"""Architectures that no description stands behind, and what they are: their tensors are counted, and their shapes not judged."""

BORROWED = frozenset((*TWINS, *FAMILY, "qwen2vl", "qwen3vl", "qwen3vlmoe", "dream", "gemma-embedding"))
"""Those that are held to be a class of another family, or a part of one, since its tensors are the same."""


def explain_no_description(name: str) -> Text:
    """Say what an undescribed architecture is, and that its shapes are not checked."""
    what = Text(UNJUDGED[name])
    return Text(
        "the architecture {name!r} ({what}) is not described: its tensors are counted, their shapes not judged", name=name, what=what
    )
