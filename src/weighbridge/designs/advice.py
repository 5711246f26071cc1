"""What builders advise on sizes, each with its source, and whether a design follows it; and how many tokens fits suggest.

Advice is a custom, not a law: it is shown beside a design and never used to leave one out.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import NamedTuple

from weighbridge.core.messages import mark


class Advice(NamedTuple):
    """One piece of advice as it applies to one design.

    Attributes:
        key: Its name.
        follows: Whether the design follows it.
        text: What it says, as a template.
        values: What stands in the template's places.
        source: Where it comes from.
    """

    key: str
    follows: bool
    text: str
    values: dict[str, int | str]
    source: str


VOCABULARY = mark("the vocabulary should be a multiple of 64 ({value:,} here)")
HEAD = mark("heads should be 64 or 128 wide, where attention kernels are fastest ({value} here)")
WIDTH = mark("the hidden size should be a multiple of 128, for tensor cores ({value:,} here)")
GATED = mark("a gated MLP should be about 8/3 hidden sizes wide, which costs as much as a plain one of 4 ({ratio} here)")
FITTED = 96
"""Layers up to which the fit of width to depth is asked: it was made on networks of up to 48, and read by its authors up to about twice that."""
DEPTH = mark("a depth of {layers} goes with a hidden size of about {value:,}")


def advise(sizes: Mapping[str, int]) -> tuple[Advice, ...]:
    """Return the advice that applies to a design.

    Args:
        sizes: By our words: ``hidden``, ``layers``, ``mlp``, ``heads``, ``head_dim``, ``vocab``; what is absent is not judged.

    >>> [entry.key for entry in advise({"vocab": 50257}) if not entry.follows]
    ['vocabulary']
    """
    found = []
    hidden, layers = sizes.get("hidden"), sizes.get("layers")
    if vocab := sizes.get("vocab"):
        source = "Karpathy, nanoGPT: vocab_size padded from 50257 to 50304 for efficiency"
        found.append(Advice("vocabulary", vocab % 64 == 0, VOCABULARY, {"value": vocab}, source))
    head_dim = sizes.get("head_dim") or (hidden // sizes["heads"] if hidden and sizes.get("heads") else 0)
    if head_dim:
        found.append(Advice("head", head_dim in (64, 128), HEAD, {"value": head_dim}, "Dao et al. 2022, FlashAttention, and its kernels"))
    if hidden:
        source = "NVIDIA, Deep Learning Performance Guide: Matrix Multiplication, tensor core requirements"
        found.append(Advice("width", hidden % 128 == 0, WIDTH, {"value": hidden}, source))
    if hidden and (mlp := sizes.get("mlp")):
        ratio = mlp / hidden
        source = "Shazeer 2020, GLU Variants Improve Transformer; Touvron et al. 2023, LLaMA, section 2.2"
        found.append(Advice("mlp", 2.5 <= ratio <= 4.0, GATED, {"ratio": f"{ratio:.2f}"}, source))
    if hidden and layers and layers <= FITTED:
        # ln(width) = 5.039 + 0.0555 * depth; within a factor of two is taken as following it.
        fitting = exp(5.039 + 0.0555 * layers)
        source = "Levine et al. 2020, The Depth-to-Width Interplay in Self-Attention"
        found.append(Advice("depth", fitting / 2 <= hidden <= fitting * 2, DEPTH, {"layers": layers, "value": round(fitting)}, source))
    return tuple(found)


class Tokens(NamedTuple):
    """How many training tokens one fit suggests for a model: an estimate.

    Attributes:
        fit: Whose it is.
        tokens: Their number.
        counts: Which N the fit means.
    """

    fit: str
    tokens: int
    counts: str


ALL = mark("all parameters")
NON_EMBEDDING = mark("parameters without embeddings")
FLOPS = mark("non-embedding FLOPs a token, forward and backward")


def compute_optimal_tokens(parameters: int, non_embedding: int, flops_per_token: int) -> tuple[Tokens, ...]:
    """Return how many tokens published fits suggest; they differ by an order of magnitude, and so does what they call N.

    Args:
        parameters: Unique parameters.
        non_embedding: Those that are in no embedding.
        flops_per_token: Of forward and backward pass, without embeddings and head.

    >>> [entry.tokens for entry in compute_optimal_tokens(70_000_000_000, 69_000_000_000, 0)][1]
    1400000000000
    """
    found = []
    # Kaplan et al. 2020, section 6.1: N = 1.3e9 * C^0.73 and D = 2e10 * C^0.27, C in PF-days.
    compute = (max(non_embedding, 1) / 1.3e9) ** (1 / 0.73)
    found.append(Tokens("Kaplan et al. 2020", round(2e10 * compute**0.27), NON_EMBEDDING))
    # Hoffmann et al. 2022, table 3: twenty tokens to a parameter.
    found.append(Tokens("Hoffmann et al. 2022", 20 * parameters, ALL))
    if flops_per_token > 0:
        # DeepSeek LLM 2024, equation 4: M = 0.1715 * C^0.5243 and D = 5.8316 * C^0.4757.
        compute = (flops_per_token / 0.1715) ** (1 / 0.5243)
        found.append(Tokens("DeepSeek LLM 2024", round(5.8316 * compute**0.4757), FLOPS))
    # MiniCPM 2024, section 4.5: 192 tokens to a parameter on average.
    found.append(Tokens("MiniCPM 2024", 192 * non_embedding, NON_EMBEDDING))
    return tuple(found)
