"""The figures that authors gave for their models, which everybody repeats."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.rounding import scales
from weighbridge.auditing.text.tokens import tokens
from weighbridge.presets import Preset

_ALSO = {
    "gpt2": ("117M",), "gpt2-medium": ("345M",), "gpt2-large": ("762M",), "gpt2-xl": ("1542M", "1.54B"), "llama-30b": ("33B",),
    "whisper-tiny": ("39M",), "whisper-base": ("74M",), "whisper-small": ("244M",), "whisper-medium": ("769M",), "whisper-large": ("1550M",), "whisper-large-v2": ("1550M",), "whisper-large-v3": ("1550M",),
    "flan-t5-small": ("80M",), "albert-xxlarge-v1": ("233M",), "albert-xxlarge-v2": ("233M",), "deberta-base": ("134M", "140M"),
    "deberta-large": ("350M", "390M"), "deberta-v3-base": ("86M",), "deberta-v3-large": ("304M",), "deberta-v3-small": ("44M",),
    "deberta-v3-xsmall": ("22M",), "mdeberta-v3-base": ("86M",), "embeddinggemma-300m": ("308M",), "bert-base-multilingual-cased": ("172M",),
    "vit-large-patch16-224": ("307M",), "vit-large-patch16-384": ("307M",),
    "vit-large-patch32-384": ("307M",), "beit-large-patch16-224": ("307M",), "sam-vit-huge": ("636M",), "sam-vit-base": ("91M",), "sam-vit-large": ("308M",),
    "deepseek-v3": ("685B",), "deepseek-r1": ("685B",), "vit-huge-patch14-224-in21k": ("632M",), "gpt-j-6b": ("6,053,381,344",), "gpt-neox-20b": ("20,556,201,984",),
    "xlm-roberta-base": ("270M",), "xlm-roberta-large": ("550M",), "layoutlmv3-base": ("133M",), "layoutlmv3-large": ("368M",),
}  # fmt: skip
"""Figures that the authors gave and later corrected, or that count more than the class does (DeepSeek's file with its
multi-token prediction layer; GPT-NeoX's the norms and row-wise biases of its two tensor-parallel ranks twice): everybody repeats them."""


_SIZE_IN_NAME = pattern(r"(?<![\w.])\d+(?:\.\d+)?[mb](?![a-z0-9])|(?<=[a-z]_)\d+(?:\.\d+)?[mb](?![a-z0-9])")
"""The size by which a model is called, ``m2m100_418M``: nobody who says it says anything wrong."""


def figures(found: Preset) -> Iterator[tuple[Fraction, bool]]:
    """Yield each figure that was given for a model, and whether it is known to count something else than its class does, or is the one by which it is called."""
    also = _ALSO.get(found.name, ())
    for written in (*found.published.split(", "), *also):
        figure = _figure(written)
        if figure is not None:
            yield figure, written in also
    called = {written for name in (found.name, found.hub) for written in _SIZE_IN_NAME.findall(name.lower())}
    if len(called) == 1 and (figure := _figure(called.pop().upper())) is not None:
        yield figure, True


def _figure(written: str) -> Fraction | None:
    found = tokens(written.split()[0] if written.split() else "", 0)
    return found[0].value * scales(found[0])[0] if len(found) == 1 and found[0].value is not None else None
